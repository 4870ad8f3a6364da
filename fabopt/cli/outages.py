"""The options of `check` about random failures, and the table of their results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from fabopt.errors import Fault, fault, refusal
from fabopt.io.faults import refuse_any
from fabopt.schema.resilience import PLURALS, SURVIVED, Failing

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from fabopt.schema.design import Design
    from fabopt.verify.outages import Grounds

KINDS: tuple[Failing, ...] = ("leaf", "spine", "core", "switch", "plane", "cable")
USUAL_SAMPLES = 200
MOST_SAMPLES = 100_000
MOST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Draws:
    """Failures to draw: ``count`` at once of each kind, ``samples`` times; ``text``: as given."""

    text: str
    count: int
    kinds: tuple[Failing, ...]
    samples: int
    seed: int


def draws_of(failures: str | None, samples: int | None, seed: int | None) -> Draws | None:
    """Read the options; None where there are none. Raises ``InputError`` with all faults of the options."""
    faults: list[Fault] = []
    if failures is None:
        for name, given in (("--samples", samples), ("--seed", seed)):
            if given is not None:
                faults.append(fault(name, "", "there are no failures to draw", given, hint="add `--failures`"))
    elif re.fullmatch(r"[1-9][0-9]{0,3}", failures) is None and SURVIVED.fullmatch(failures) is None:
        allowed = f"a number up to 9999, or one and what fails, as in `3` or `2 leaves`: {', '.join(KINDS)}"
        faults.append(fault("--failures", "", "not a number of failures", failures, allowed=allowed))
    for name, given, least, most in (("--samples", samples, 1, MOST_SAMPLES), ("--seed", seed, 0, MOST_SEED)):
        if given is not None and not least <= given <= most:
            faults.append(fault(name, "", "out of range", given, allowed=f"{least} to {most}"))
    refuse_any(faults)
    if failures is None:
        return None
    number, _, word = failures.partition(" ")
    kinds = (cast(Failing, PLURALS.get(word, word)),) if word else KINDS
    return Draws(failures, int(number), kinds, USUAL_SAMPLES if samples is None else samples, seed or 0)


def what_is_left(path: str, design: Design, draws: Draws, progress: Callable[[str], None]) -> RenderableType:
    """A table of the bandwidth of a design after random failures.

    Raises ``InputError`` for more failures than devices.
    """
    from fabopt.output.terminal.outages import outage_report
    from fabopt.verify.outages import Grounds

    progress("wiring the design")
    _require_links(path, design)
    grounds = Grounds(design)
    _require_enough(path, grounds, draws)
    kinds = (grounds.sample(failed, draws.count, draws.samples, draws.seed, progress) for failed in draws.kinds)
    return outage_report([outages for of_kind in kinds for outages in of_kind], draws.seed)


def _require_links(path: str, design: Design) -> None:
    from fabopt.verify.wiring import MOST_LINKS

    for number, fabric in enumerate(design.fabrics):
        if not fabric.tiers:
            raise refusal(
                path,
                f"fabrics[{number}].tiers",
                "failures are not drawn where servers are joined to each other",
                "none",
                allowed="fabrics with switches",
            )
    links = sum(row.count for fabric in design.fabrics for row in fabric.links)
    if links > MOST_LINKS:
        raise refusal(
            path,
            "fabrics",
            "failures are drawn link by link, of fewer links",
            links,
            allowed=f"{MOST_LINKS:,} links at most",
        )


def _require_enough(path: str, grounds: Grounds, draws: Draws) -> None:
    most = {failed: max(grounds.numbers(failed).values(), default=0) for failed in draws.kinds}
    if max(most.values()) < draws.count:
        there = ", ".join(f"{number} {failed}" for failed, number in most.items())
        raise refusal(
            "--failures", "", f"no fabric of {path} has so many", draws.text, allowed=f"at most what there is: {there}"
        )
