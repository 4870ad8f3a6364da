"""Small floors: every permitted set of racks for servers, and the racks permitted for each tier of switches.

See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from fabopt.floor.airflow import ANY_AIR, HallAir
from fabopt.floor.layouts import Layout, Pins, ServerSize, leaves_kept_units
from fabopt.floor.loads import RackLoad
from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import WHOLE, Share
from fabopt.floor.racks import Ints
from fabopt.units import ceil_div

# Usable racks of a floor on which all places are looked at.
MOST_RACKS = 6


@dataclass(frozen=True, eq=False)
class OpenLayout(Layout):
    """Servers in place, and every switch in any rack that the case permits.

    ``switch_racks``: for spines and cores, ``leaf_racks``: for leaves, as indices in the order of the floor, each of
    shape (racks permitted,).
    """

    leaf_racks: Ints = field(kw_only=True)

    @cached_property
    def name(self) -> str:
        """The policy, and the racks of the servers."""
        return f"{self.policy}-{'-'.join(self.plan.ids[rack] for rack in self.server_racks.tolist())}{self._apart}"

    def racks_above(self, units: int, load: RackLoad, switches: int) -> Ints:
        """Racks for ``switches`` spines and cores with ``units`` and ``load`` in all, as indices, shape (racks
        permitted,).

        Racks of servers are among them if the others are too few.
        """
        free = self.switch_racks
        needed = units + int(self.plan.limits.managers(np.asarray(switches)))
        has_power = self.free_load[0, free].sum() >= load.power_mw
        has_room = self.free_units[free].sum() >= needed and has_power
        if has_room and self.most[0][free].sum() >= switches:
            return free
        return np.union1d(free, self.server_racks)


def open_layouts(
    plan: FloorPlan,
    servers: int,
    per_rack: int,
    server_size: ServerSize,
    share: Share = WHOLE,
    pins: Pins | None = None,
    airs: Sequence[HallAir] = (ANY_AIR,),
) -> tuple[OpenLayout, ...]:
    """Layouts of a small floor: one for every permitted set of racks of servers and each of ``airs``; none if there are
    too few racks, or servers leave them too few units to keep. ``pins``: as in ``Layout``, each of shape (racks
    named,).
    """
    if not leaves_kept_units(plan, server_size):
        return ()
    pinned, fixed = {tier: np.sort(racks) for tier, racks in (pins or {}).items()}, (servers, per_rack, server_size)
    return tuple(
        OpenLayout(
            plan, "anywhere", *fixed, racks, above, share, pins=pinned, air=air, leaf_racks=pinned.get(0, leaves)
        )
        for air in airs
        for racks in _sets_for_servers(plan, ceil_div(servers, per_rack))
        for leaves, above in (_permitted(plan, set(racks.tolist())),)
    )


def _sets_for_servers(plan: FloorPlan, needed: int) -> Iterator[Ints]:
    """Every permitted set of ``needed`` racks for servers, in the order of filling, shape (needed,)."""
    if plan.server_racks is not None:
        own = plan.server_racks[plan.usable[plan.server_racks]]
        yield from (own[:needed],) if len(own) >= needed else ()
        return
    listed = set(plan.network_racks().tolist()) if isinstance(plan.floor.network_racks, tuple) else set()
    allowed = [rack for rack in np.flatnonzero(plan.usable).tolist() if rack not in listed]
    yield from (np.array(racks) for racks in combinations(allowed, needed))


def _permitted(plan: FloorPlan, servers: set[int]) -> tuple[Ints, Ints]:
    """Racks for leaves, and for spines and cores, if the racks ``servers`` hold servers."""
    usable = np.flatnonzero(plan.usable)
    asked = plan.floor.network_racks
    if asked == "any":
        return usable, usable
    free = np.setdiff1d(usable, sorted(servers))
    if asked == "row":
        own = [rack for rack in free.tolist() if not servers & set(plan.racks_of(int(plan.row[rack])).tolist())]
        return np.union1d(own, sorted(servers)).astype(np.int64), free
    chosen = plan.network_racks() if isinstance(asked, tuple) else np.array(list(_in_turn(plan, servers)), np.int64)
    return np.union1d(chosen, sorted(servers)).astype(np.int64), np.sort(chosen)


def _in_turn(plan: FloorPlan, servers: set[int]) -> Iterator[int]:
    """Racks from the middle or the ends of every row up to the first one with servers."""
    order = plan.middle if plan.floor.network_racks == "middle" else plan.ends
    for row in range(plan.floor.rows):
        for rack in order([row]).tolist():
            if rack in servers:
                break
            yield rack
