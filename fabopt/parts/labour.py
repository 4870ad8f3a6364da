"""Labour as charges: what one person's minutes on a unit come to, once for each unit that is installed."""

from __future__ import annotations

from fractions import Fraction

from fabopt.parts.finance import BorneCharge
from fabopt.schema.catalog import Cable, Fibre
from fabopt.schema.labour import LABOUR, VISIT, VISIT_WORDS, Labour, work_words
from fabopt.schema.passive import Trunk
from fabopt.units import cents


def ends_of(part: Cable | Fibre | Trunk) -> int:
    """The ends of a cable or fibre, those of a splitter, and of the legs of a trunk, counted one by one."""
    if isinstance(part, Trunk):
        return 2 * part.legs
    ends = part.ends if isinstance(part, Cable) else part.both_ends
    return sum(end.count for end in ends)


def work_on(labour: Labour, kind: str, ends: int, since: int = 0) -> BorneCharge | None:
    """The labour on a unit of a kind with so many ends, in cents; None: no task is known, or it costs nothing.

    ``since``: the first stage that pays it.
    """
    tasks = labour.minutes.tasks_of(kind, ends)
    usd_cents = labour.cents_of(tasks)
    return _charge(f"{LABOUR}{kind}", work_words(tasks, kind), usd_cents, since) if usd_cents else None


def visit_of(labour: Labour, since: int) -> BorneCharge | None:
    """What a stage pays for the crew to come, from the stage ``since`` on; None: nothing."""
    return _charge(VISIT, VISIT_WORDS, cents(labour.visit_usd), since) if cents(labour.visit_usd) else None


def _charge(name: str, words: str, usd_cents: int, since: int) -> BorneCharge:
    return BorneCharge(name, "installation", words, usd_cents, Fraction(0), frozenset(), False, since)
