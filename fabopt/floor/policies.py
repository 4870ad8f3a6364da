"""Policies of layouts: the racks that they keep for switches. See docs/formulation/floor.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import Ints
from fabopt.units import ceil_div

Policy = Literal["top-of-rack", "middle-of-row", "end-of-row", "network-row", "listed-racks", "anywhere"]
# Layouts with a rule for every switch; ``anywhere`` has none.
POLICIES: tuple[Policy, ...] = ("top-of-rack", "middle-of-row", "end-of-row", "network-row", "listed-racks")


def switch_racks_of(plan: FloorPlan, needed: int, wanted: int, free: int) -> Iterator[tuple[Policy, Ints]]:
    """Policies with the racks that they keep for switches, as ``network_racks`` allows; of shape (racks kept,).

    ``needed``: racks of servers; ``wanted``: racks that the switches fill; ``free``: racks that servers leave.
    """
    if plan.server_racks is None:
        yield from _by_rule(plan, needed, wanted, free)
        return
    for policy, racks in _beside(plan, plan.server_racks):
        others = racks[~np.isin(racks, plan.server_racks)]
        if others.size or policy == "top-of-rack":
            yield policy, others[:wanted]


def _beside(plan: FloorPlan, servers: Ints) -> Iterator[tuple[Policy, Ints]]:
    """Policies where the case names the racks of servers, with racks for switches in order of preference.

    Racks of servers are among them. All have shape (racks listed,).
    """
    allowed, nearest = plan.floor.network_racks, plan.from_centre(servers)
    if isinstance(allowed, tuple):
        yield from (("listed-racks", plan.network_racks()), ("top-of-rack", plan.network_racks()))
        return
    own_rows = nearest[~np.isin(plan.row[nearest], plan.row[servers])]
    ways: dict[str, tuple[Policy, Ints]] = {
        "row": ("network-row", own_rows), "middle": ("middle-of-row", plan.middle()), "end": ("end-of-row", plan.ends())
    }  # fmt: skip
    yield from ways.values() if allowed == "any" else (ways[allowed],)
    yield "top-of-rack", nearest if allowed == "any" else ways[allowed][1]


def _by_rule(plan: FloorPlan, needed: int, wanted: int, free: int) -> Iterator[tuple[Policy, Ints]]:
    """Policies where servers are in any racks."""
    allowed = plan.floor.network_racks
    if isinstance(allowed, tuple):
        listed = plan.network_racks()
        yield from (("listed-racks", listed), ("top-of-rack", listed))
    elif allowed in ("middle", "end"):
        in_rows = [
            (policy, racks) for policy, racks in _in_every_row(plan, needed, wanted) if policy.startswith(allowed)
        ]
        yield from in_rows
        yield from (("top-of-rack", racks) for _, racks in in_rows)
    else:
        yield from (("network-row", racks) for racks in _own_rows(plan, needed, wanted))
        if allowed == "any":
            yield from _in_every_row(plan, needed, wanted)
        counts = sorted({min(free, count) for count in (wanted, 2 * wanted) if free})
        yield from (("top-of-rack", plan.from_centre()[:count]) for count in counts)
    if free < wanted:
        yield "top-of-rack", np.array([], dtype=np.int64)


def _own_rows(plan: FloorPlan, needed: int, wanted: int) -> Iterator[Ints]:
    """Racks of rows without servers: the middle row of those in use, and rows around it if it is too short."""
    for used in range(2, plan.floor.rows + 1):
        middle = (used - 1) / 2
        network_rows: list[int] = []
        racks = np.empty(0, dtype=np.int64)
        for row in sorted(range(used), key=lambda row: (abs(row - middle), row)):
            network_rows.append(row)
            racks = np.concatenate([plan.racks_of(own) for own in network_rows])
            if len(racks) >= wanted:
                break
        for_servers = sum(len(plan.racks_of(row)) for row in range(used) if row not in network_rows)
        if len(racks) >= wanted and for_servers >= needed:
            from_centre = plan.from_centre()
            yield from_centre[np.isin(from_centre, racks)]
            return


def _in_every_row(plan: FloorPlan, needed: int, wanted: int) -> Iterator[tuple[Policy, Ints]]:
    """Racks in the middle or at the end of every row in use."""
    for used in range(1, plan.floor.rows + 1):
        per_row = ceil_div(wanted, used)
        for_servers = sum(max(0, len(plan.racks_of(row)) - per_row) for row in range(used))
        if for_servers >= needed:
            yield "middle-of-row", np.concatenate([plan.middle([row])[:per_row] for row in range(used)])
            yield "end-of-row", np.concatenate([plan.ends([row])[:per_row] for row in range(used)])
            return
