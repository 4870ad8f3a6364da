"""The extra cost of a point of a sweep or front over the one before: parts bought more, and less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabopt.output.words import KIND_NAMES, count, listed, signed_money
from fabopt.schema.design import BomRow
from fabopt.schema.front import Front, FrontPoint
from fabopt.units import cents, usd

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


def gpus_of(point: FrontPoint) -> int | None:
    """GPUs at the last stage of a point; None where there is no design."""
    return point.stages[-1].gpus if point.stages else None


def ratio_of(point: FrontPoint) -> str:
    """Oversubscription of the first fabric by boundary: ``2:1``, ``1:1 and 7:1``; empty where there is none."""
    ratios = point.fabrics[0].oversubscription.values() if point.fabrics else ()
    return " and ".join(dict.fromkeys(f"{ratio:g}:1" for ratio in ratios))


def step_of(front: Front, number: int) -> str:
    """The extra cost of a point (from 1) over the last one before it with a design; empty for the first.

    Dollars by kind of part, and the parts whose change of quantity changes the bill most.
    """
    point = front.points[number - 1]
    before = next((other for other in reversed(range(1, number)) if front.points[other - 1].bom), None)
    if before is None or not point.bom:
        return ""
    return _difference(front.points[before - 1], point, f"point {before}")


def _difference(before: FrontPoint, after: FrontPoint, name: str) -> str:
    assert before.totals is not None and after.totals is not None
    more = cents(after.totals.capex_usd) - cents(before.totals.capex_usd)
    kinds = listed(list(_kinds(before, after)))
    parts = "; ".join(_parts(before, after))
    words = "costs the same" if more == 0 else f"{signed_money(usd(more))}"
    return "; ".join(text for text in (f"{words} against {name}" + (f": {kinds}" if kinds else ""), parts) if text)


def _kinds(before: FrontPoint, after: FrontPoint) -> Iterator[str]:
    for kind, name in KIND_NAMES.items():
        change = cents(after.capex_by_kind.get(kind, 0)) - cents(before.capex_by_kind.get(kind, 0))
        if change:
            yield f"{name} {signed_money(usd(change))}"


def _parts(before: FrontPoint, after: FrontPoint) -> Iterator[str]:
    """Parts of changed quantity, the largest changes in dollars first."""
    earlier, later = _bought(before.bom), _bought(after.bom)
    spent = _spent(after.bom)
    spent.subtract(_spent(before.bom))
    changed = [part for part in dict.fromkeys([*earlier, *later]) if earlier[part] != later[part]]
    for part in sorted(changed, key=lambda part: -abs(spent[part]))[:MOST_NAMED]:
        yield f"{count(later[part])} x {part} in the place of {count(earlier[part])}"


def _bought(rows: tuple[BomRow, ...]) -> Counter[str]:
    bought: Counter[str] = Counter()
    for row in rows:
        bought[row.id] += row.quantity
    return bought


def _spent(rows: tuple[BomRow, ...]) -> Counter[str]:
    spent: Counter[str] = Counter()
    for row in rows:
        spent[row.id] += cents(row.total_usd)
    return spent
