"""Labour, computed again from the case and from what every stage installs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from fabopt.schema.catalog import Cable, Fibre
from fabopt.schema.labour import AT_ENDS, JUMPER, LABOUR, MINUTES_PER_HOUR, MOVED, VISIT, VISIT_WORDS, work_words
from fabopt.schema.passive import Trunk
from fabopt.units import CENTS_PER_USD, cents, exact, rounded, some, summed, usd
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.purchases import CABLE_MOVE, MOVES, NO_FABRIC, BilledItem, item_of, items_in_use, product_of, sold


class Owed(NamedTuple):
    """Labour on equal units that a stage installs in a fabric. ``unit_cents``: of one of them."""

    stage: int
    fabric: str
    name: str
    words: str
    unit_cents: int
    units: int


class Installed(NamedTuple):
    """Equal units that a stage installs in a fabric, each with so many ends."""

    stage: int
    fabric: str
    kind: str
    ends: int
    units: int


def has_labour(evidence: Evidence) -> bool:
    """Whether the case has labour, or the bill a line of any."""
    return evidence.case.site.labour is not None or any(row.id.startswith(LABOUR) for row in evidence.design.bom)


@since("0.3.0", "case.content.site.labour")
@where(has_labour)
def labour_is_counted(proof: Proof, evidence: Evidence) -> None:
    """The bill has the labour on everything that a stage installs, whoever bought it, and one visit of each such stage;
    none on what is in service.

    Of a kind: sum over units of round(usd_per_hour / 60 x sum of minutes of its tasks, times its ends where a task is
    at ends), to the cent, in the fabric and at the stage that installs them; spares owe none. Units are those of tiers,
    NICs, rows of links and the wiring. Source: case file, ``site.labour``; docs/buying.md.
    """
    used = ((stage, fabric, item, units) for (stage, fabric, item), units in items_in_use(evidence).items())
    expected = summed(
        ((evidence.stage_names[owed.stage], owed.fabric, owed.name), owed.unit_cents * owed.units)
        for owed in labour_owed(evidence, used)
    )
    labour = (row for row in evidence.design.bom if row.id.startswith(LABOUR))
    claimed = summed(((row.stage, row.fabric, row.id), cents(row.total_usd)) for row in labour)
    for stage, fabric, name in sorted({*expected, *claimed}):
        key = stage, fabric, name
        proof.equal(f"{name} of {stage} in {fabric or 'all'}", usd(claimed[key]), usd(expected[key]))
    proof.note(f"{usd(expected.total())} USD of labour on {some(len(expected), 'line')}")


def labour_of_bill(evidence: Evidence) -> Iterator[Owed]:
    """The labour on what the lines of the bill put to use."""
    return labour_owed(evidence, used_on_bill(evidence))


def used_on_bill(evidence: Evidence) -> Iterator[tuple[int, str, BilledItem, int]]:
    """Units in use by stage, fabric and item, as the lines of the bill have them."""
    for row in evidence.goods:
        yield evidence.stage_names.index(row.stage), row.fabric, item_of(row), row.in_use


def labour_owed(evidence: Evidence, used: Iterable[tuple[int, str, BilledItem, int]]) -> Iterator[Owed]:
    """The labour on units in use, on servers, and visits, in cents; what costs nothing is left out."""
    labour = evidence.case.site.labour
    for stage, fabric, kind, ends, units in installed(evidence, used) if labour is not None else ():
        assert labour is not None
        if kind == VISIT:
            name, words, unit_cents = VISIT, VISIT_WORDS, cents(labour.visit_usd)
        else:
            tasks = labour.minutes.tasks_of(kind, ends)
            minutes = sum((task.minutes * _times(task.task, kind, ends) for task in tasks), Fraction(0))
            name, words = f"{LABOUR}{kind}", work_words(tasks, kind)
            unit_cents = rounded(exact(labour.usd_per_hour) * CENTS_PER_USD * minutes / MINUTES_PER_HOUR)
        if unit_cents:
            yield Owed(stage, fabric, name, words, unit_cents, units)


def installed(evidence: Evidence, used: Iterable[tuple[int, str, BilledItem, int]]) -> Iterator[Installed]:
    """What is worked on at every stage: units in use, servers as the case counts them, and a visit if there are any;
    nothing in service is, and where that may move all beyond it at the first stage.
    """
    moving = evidence.case.moving
    first = int(evidence.case.base is not None and moving is None)
    there, before = (moving.in_use, sold(evidence.server, moving.servers)) if moving is not None else (Counter(), 0)
    counts = [sold(evidence.server, servers) for servers in evidence.servers_by_stage]
    added = [now - before for before, now in pairwise([before, *counts])]
    busy = {stage for stage, more in enumerate(added) if more and stage >= first}
    of_items = summed(((stage, fabric, item), units) for stage, fabric, item, units in used)
    for (stage, fabric, item), in_use in of_items.items():
        units = max(0, in_use - (0 if stage else there[fabric, item.id, item.length_m]))
        if units and stage >= first and item.kind != "server":
            busy.add(stage)
            kind = MOVED if item == CABLE_MOVE else JUMPER if _is_jumper(evidence, item) else item.kind
            yield Installed(stage, fabric, kind, _ends(evidence, item), units)
    for stage in sorted(busy):
        if added[stage]:
            yield Installed(stage, NO_FABRIC, "server", 1, added[stage])
        yield Installed(stage, NO_FABRIC, VISIT, 1, 1)


def _times(task: str, kind: str, ends: int) -> int:
    """How often a unit has a task: at each end, for each leg of a trunk that is tested, else once."""
    return ends if task in AT_ENDS else ends // 2 if (task, kind) == ("test", "trunk") else 1


def _is_jumper(evidence: Evidence, item: BilledItem) -> bool:
    """Whether a fibre on a floor is no longer than the shortest listed that covers any run within a rack."""
    run_m = evidence.case.jumper_run_m
    if run_m is None or item.kind != "fibre":
        return False
    lengths = evidence.part(item.id, Fibre).lengths
    covers = [length.m for length in lengths if length.m >= run_m]
    return not covers or (item.length_m or 0.0) <= min(covers)


def _ends(evidence: Evidence, item: BilledItem) -> int:
    """Ends of a cable or fibre, each leg of a splitter one, of a trunk those of its legs; 1 of all else."""
    product = None if item in MOVES else product_of(evidence, item)
    if isinstance(product, Cable):
        return sum(end.count for end in product.ends)
    if isinstance(product, Trunk):
        return 2 * product.legs
    return sum(end.count for end in product.both_ends) if isinstance(product, Fibre) else 1
