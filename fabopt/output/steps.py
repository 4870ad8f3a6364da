"""The extra cost of a point of a sweep or front over the one before: parts bought more, and less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabopt.output.words import count, listed, signed_money
from fabopt.schema.design import BomRow, Front, FrontPoint
from fabopt.schema.losses import PLACES
from fabopt.units import cents, summed, usd

# The most parts of changed quantity that are named: those that cost most.
MOST_NAMED = 4


def marginal_unit(front: Front) -> str:
    """The unit of the marginal cost of a front: ``server``, ``Gb/s per GPU``; empty without a maximized objective."""
    metric = next((objective.metric for objective in front.objectives if objective.sense == "maximize"), "")
    names = {
        "servers": "server",
        "headroom_servers": "server that could still join",
        "gbps_per_gpu": "Gb/s per GPU",
        "bisection_gbps_per_gpu": "Gb/s of bisection per GPU",
    }
    return names.get(metric, metric)


def budget_of(front: Front) -> int | float | None:
    """The budget of a front's case in US dollars; None without one."""
    budget = (front.case.content.get("limits") or {}).get("budget_usd")
    return budget if isinstance(budget, int | float) else None


def gpus_of(point: FrontPoint) -> int | None:
    """GPUs at the last stage of a point; None where there is no design."""
    return point.stages[-1].gpus if point.stages else None


def ratio_of(point: FrontPoint) -> str:
    """Oversubscription of the first fabric by boundary: ``2:1``, ``1:1 and 7:1``; empty where there is none."""
    ratios = point.fabrics[0].oversubscription.values() if point.fabrics else ()
    return " and ".join(dict.fromkeys(f"{ratio:g}:1" for ratio in ratios))


def step_of(front: Front, number: int) -> str:
    """The extra cost of a point (from 1) over the last one before it with a design; empty for the first.

    What it is due to, in dollars, and the parts whose change of quantity changes the bill most.
    """
    before = _before(front, number)
    if before is None:
        return ""
    parts = "; ".join(_parts(front.points[before - 1], front.points[number - 1]))
    return "; ".join(
        text for text in (causes_of(front, number) or f"costs the same against point {before}", parts) if text
    )


def causes_of(front: Front, number: int) -> str:
    """What the extra cost of a point (from 1) over the last one before it is due to, the most dollars first.

    Empty where nothing is; what the design adds is named by the kind of its parts.
    """
    before = _before(front, number)
    if before is None:
        return ""
    from fabopt.design.points import design_at
    from fabopt.inspect.differences.compare import waterfall
    from fabopt.inspect.differences.sides import whole
    from fabopt.output.differences import step_words

    reasons = waterfall(*(whole("", design_at(front, place)) for place in (before, number)))
    told = [
        f"{step_words(reason).removeprefix('design: ')} {signed_money(usd(reason.cents))}"
        for reason in sorted(reasons, key=lambda reason: -abs(reason.cents))
    ]
    more = sum(reason.cents for reason in reasons)
    words = signed_money(usd(more)) if more else "costs the same"
    return f"{words} against point {before}: {listed(told)}" if told else ""


def _before(front: Front, number: int) -> int | None:
    """The last point with a bill before one that has a bill."""
    if not front.points[number - 1].bom:
        return None
    return next((other for other in reversed(range(1, number)) if front.points[other - 1].bom), None)


def _parts(before: FrontPoint, after: FrontPoint) -> Iterator[str]:
    """Parts of changed quantity, the largest changes in dollars first."""
    earlier, later = _bought(before.bom), _bought(after.bom)
    spent = _spent(after.bom)
    spent.subtract(_spent(before.bom))
    changed = [part for part in dict.fromkeys([*earlier, *later]) if earlier[part] != later[part]]
    for part in sorted(changed, key=lambda part: -abs(spent[part]))[:MOST_NAMED]:
        yield f"{count(later[part])} x {part} in the place of {count(earlier[part])}"


def _bought(rows: tuple[BomRow, ...]) -> Counter[str]:
    return summed((row.id, row.quantity) for row in rows)


def _spent(rows: tuple[BomRow, ...]) -> Counter[str]:
    return summed((row.id, cents(row.total_usd)) for row in rows)


# -- servers cut off by the worst switch of a point -------------------------------------------------------------------


COLUMN = "cut off"
EVERY_PATH = "every path"


def cut_off(point: FrontPoint) -> int | None:
    """The most servers that lose every path of a fabric with one switch; None where the file does not state it."""
    points = point.single_points_of_failure
    if points is None:
        return None
    switches = (
        point
        for point in points
        if point.device not in PLACES and not point.degraded and point.loses.startswith(EVERY_PATH)
    )
    return max((switch.servers for switch in switches), default=0)


def cut_off_cell(point: FrontPoint) -> str:
    """The number in words; ``-`` where there is no design, or the file does not say."""
    servers = cut_off(point)
    return "-" if servers is None or point.totals is None else count(servers)


def tells_cut_off(front: Front) -> bool:
    """Whether some switch of some point cuts servers off, so that a table has the column."""
    return any(cut_off(point) for point in front.points)
