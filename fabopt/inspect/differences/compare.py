"""Sides held against the first: differences of all, and what separates each from the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fabopt.inspect.differences.cables import Changes, cable_changes
from fabopt.inspect.differences.figures import Difference, Fact, Name, differences
from fabopt.inspect.differences.sides import Compared
from fabopt.inspect.differences.waterfall import BillChange, Reason, bill_changes, waterfall
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.model import Wiring
from fabopt.wiring.staged import wiring_at


@dataclass(frozen=True)
class Against:
    """A side against the first one: causes of its price, lines of the bill, and cables by place.

    ``cables`` is None where they cannot be listed: of a quote, or of a fabric with too many links.
    """

    side: Compared
    steps: tuple[Reason, ...]
    bill: tuple[BillChange, ...]
    cables: Mapping[str, Changes] | None


@dataclass(frozen=True)
class Contrast:
    """Two to four sides; ``rows``: what is not the same on all."""

    sides: tuple[Compared, ...]
    rows: tuple[Difference, ...]
    against: tuple[Against, ...]

    @property
    def is_equal(self) -> bool:
        """Whether no two sides differ."""
        return not self.rows and not any(other.steps or other.bill for other in self.against)


def contrast(sides: Sequence[Compared], wired: Callable[[Compared], Wiring | None]) -> Contrast:
    """Compare sides with the first of them. ``wired``: the wiring of all stages of a side; None of a file that
    does not hold together.
    """
    first = sides[0]
    against = tuple(
        Against(side, waterfall(first, side), bill_changes(first, side), _cables(first, side, wired))
        for side in sides[1:]
    )
    result = Contrast(tuple(sides), differences(sides), against)
    others = _of_wiring(sides) if result.is_equal else None
    return result if others is None else Contrast(result.sides, (others,), against)


def _cables(a: Compared, b: Compared, wired: Callable[[Compared], Wiring | None]) -> Mapping[str, Changes] | None:
    if a.offer is not None or b.offer is not None or not all(map(_can_be_listed, (a, b))):
        return None
    before, after = wired(a), wired(b)
    if before is None or after is None:
        return None
    return cable_changes(wiring_at(before, a.stage), wiring_at(after, b.stage))


def _can_be_listed(side: Compared) -> bool:
    return sum(row.count for fabric in side.design.fabrics for row in fabric.links) <= MOST_LINKS


def _of_wiring(sides: Sequence[Compared]) -> Difference | None:
    """What no figure tells: other links or places at equal figures, of files by the same rules."""
    if len({side.design.rules for side in sides}) > 1:
        return None
    facts = [side.design.model_dump(mode="json", include={"fabrics", "floor", "single_points_of_failure"})
             for side in sides]  # fmt: skip
    alike = [facts.index(own) for own in facts]
    figures = tuple(Fact("as in A" if number == 0 else "others", "text", "") for number in alike)
    return Difference(Name("network", "", "links and places"), figures, ()) if any(alike) else None
