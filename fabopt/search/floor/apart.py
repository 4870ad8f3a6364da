"""Floors with racks farther apart than any cable: proofs before switches are placed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.arrangements import InLayout
from fabopt.floor.layouts import Layout, reachable
from fabopt.floor.racks import Floats, height_m, racks_needed
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.site import RUNS_ON_FLOOR
from fabopt.topology.clos.cabling import links_of
from fabopt.topology.clos.devices_in_racks import with_hosts
from fabopt.topology.clos.free_ports import with_free_ports
from fabopt.topology.clos.network import clos_of
from fabopt.topology.clos.placement import in_racks
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.stage_links import all_kinds_of
from fabopt.topology.family import Batch

_ENDS = {"server-leaf": (None, "leaf"), "leaf-spine": ("leaf", "spine"), "spine-core": ("spine", "core")}


class TooFar(NamedTuple):
    """Links of a kind that have to run ``run_m`` at least, as between two racks, and the longest part for them."""

    fabric: str
    kind: str
    run_m: float
    reach_m: float
    racks: tuple[str, str]


def too_far_apart(problem: Problem) -> TooFar | None:
    """A kind of links longer than any part, wherever servers and switches are; None if not proven.

    Every server is joined over a leaf (and a spine, and a core) to one switch, so all racks of servers are within the
    reach of one kind of links after the other from that switch's rack. If no rack has enough racks within that reach,
    there is no design. Fabrics without a NIC or tiers are skipped.
    """
    for fabric in (one for one in problem.fabrics if any(one.nics.values()) and one.shapes.tiers):
        reach_m = {kind: _reach_m(problem, fabric, kind) for kind in RUNS_ON_FLOOR}
        runs = _least_runs(problem)
        wanted = racks_needed(problem.servers, problem.floor.servers_per_rack)
        if not any(_most_around(runs, reach_m, tiers) >= wanted for tiers in fabric.shapes.tiers):
            return _nearest_miss(problem, fabric, runs, reach_m, wanted)
    return None


def _reach_m(problem: Problem, fabric: FabricProblem, kind: str) -> float:
    """The longest part for links of a kind."""
    return max(
        (problem.links.longest_m(near, far, protocol) for near, far, protocol in _ends(fabric, kind)), default=0.0
    )


def _ends(fabric: FabricProblem, kind: str) -> Iterator[tuple[PortType, PortType, str]]:
    low, high = _ENDS[kind]
    for protocol in fabric.protocols:
        roles = fabric.switches[protocol]
        below = (
            {nic.port for nic in fabric.nics.get(protocol, ())}
            if low is None
            else {use.port for switch in roles[low] for use in switch.uses}
        )
        above = {use.port for switch in roles[str(high)] for use in switch.uses}
        yield from ((near, far, protocol) for near in below for far in above)


def _least_runs(problem: Problem) -> dict[str, Floats]:
    """By kind of links the least run between two racks that trays join, shape (racks, racks)."""
    plan, per_rack = problem.floor.plan, problem.floor.servers_per_rack
    racks, floor = reachable(plan), plan.floor
    units = float(problem.server.rack_units or 1)
    top = floor.tray_height_m - float(height_m(floor.rack_units, 1))
    server = floor.tray_height_m - float(height_m(max(problem.server.units_in_rack(per_rack)), units))
    between = plan.tray_m(racks[:, None], racks) + top + 2 * floor.drop_m
    same, inside = np.eye(len(racks), dtype=bool), plan.least_in_rack_m
    above = np.where(same, inside, plan.spared_m(between + top))
    below = np.where(same, inside, plan.spared_m(between + server))
    return {"server-leaf": below, "leaf-spine": above, "spine-core": above}


def _most_around(runs: dict[str, Floats], reach_m: dict[str, float], tiers: int) -> int:
    """The most racks of servers within reach of one rack of switches over ``tiers`` tiers."""
    joined: NDArray[np.float32] | None = None
    for kind in RUNS_ON_FLOOR[:tiers]:
        step = (runs[kind] <= reach_m[kind] + 1e-9).astype(np.float32)
        joined = step if joined is None else (joined @ step > 0).astype(np.float32)
    assert joined is not None
    return int((joined > 0).sum(axis=0).max(initial=0))


def _nearest_miss(
    problem: Problem, fabric: FabricProblem, runs: dict[str, Floats], reach_m: dict[str, float], wanted: int
) -> TooFar:
    """The kind of links that needs the relatively smallest increase of reach, all others unchanged;
    or else all kinds.
    """
    misses: list[tuple[float, TooFar]] = []
    for tiers in fabric.shapes.tiers:
        for kind in RUNS_ON_FLOOR[:tiers]:
            needed = _least_reach(runs, reach_m, (kind,), tiers, wanted)
            if needed is not None:
                misses.append((needed / max(reach_m[kind], 0.1), _miss(problem, fabric, runs, reach_m, kind, needed)))
    if not misses:
        tiers = max(fabric.shapes.tiers, default=1)
        kinds = RUNS_ON_FLOOR[:tiers]
        needed = _least_reach(runs, reach_m, kinds, tiers, wanted) or float(np.max(runs[kinds[-1]]))
        misses.append((0.0, _miss(problem, fabric, runs, reach_m, kinds[-1], needed)))
    return min(misses, key=lambda pair: pair[0])[1]


def _least_reach(
    runs: dict[str, Floats], reach_m: dict[str, float], kinds: tuple[str, ...], tiers: int, wanted: int
) -> float | None:
    """The least reach in metres of ``kinds`` that joins enough racks; None if none does."""
    lengths = np.unique(np.concatenate([runs[kind].ravel() for kind in kinds]))
    lengths = lengths[np.isfinite(lengths)]
    low, high = -1, len(lengths)
    while high - low > 1:
        middle = (low + high) // 2
        longer = {**reach_m, **{kind: max(reach_m[kind], float(lengths[middle])) for kind in kinds}}
        low, high = (low, middle) if _most_around(runs, longer, tiers) >= wanted else (middle, high)
    return float(lengths[high]) if high < len(lengths) else None


def _miss(
    problem: Problem,
    fabric: FabricProblem,
    runs: dict[str, Floats],
    reach_m: dict[str, float],
    kind: str,
    needed: float,
) -> TooFar:
    plan = problem.floor.plan
    racks = reachable(plan)
    near, far = np.unravel_index(int(np.argmax(runs[kind] == needed)), runs[kind].shape)
    return TooFar(fabric.name, kind, needed, reach_m[kind], (plan.ids[racks[near]], plan.ids[racks[far]]))


def obstacle(problem: Problem, fabric: FabricProblem, batch: Batch[Parts, Shape], index: int) -> str:
    """Words on the obstacle of a candidate in the fabric's layout: full racks, or a run beyond any part."""
    clos, layout = clos_of(fabric, batch.parts, batch.shape.row(index)), layout_of(fabric)
    placement = in_racks(problem, fabric, layout, clos.parts, clos.shape)
    if placement is None:
        tiers = (clos.parts.leaf, clos.parts.spine, clos.parts.core)
        switches = " + ".join(switch.id for switch in tiers if switch is not None)
        why = f"the racks have too few units or too little power for {switches}, or its air goes the other way"
        return f"{fabric.name}, {layout.policy}: {why}"
    hosts = with_free_ports(problem, fabric, clos._replace(placement=placement))
    if hosts is not None and with_hosts(problem, fabric, hosts) is None:
        return f"{fabric.name}, {layout.policy}: its switches fit there, but the hosts that stand with them do not"
    for kind in all_kinds_of(clos):
        links = links_of(placement.numbers, kind, 1)[0]
        run_m, reach_m = placement.runs_m(kind.name, links), problem.links.longest_m(*kind.ports, clos.parts.protocol)
        worst = int(np.argmax(run_m))
        if run_m[worst] > reach_m:
            below, above = placement.ends(kind.name)
            near, far = (layout.plan.ids[rack] for rack in (below.rack[links.a[worst]], above.rack[links.b[worst]]))
            return (
                f"{fabric.name}, {layout.policy}: a {kind.name} link from {near} to {far} runs {run_m[worst]:.1f} m, "
                f"and the longest part for it is {reach_m:g} m"
            )
    return f"{fabric.name}, {layout.policy}: it fits there, but the limits of the case do not allow it"


def nothing_joins(fabric: FabricProblem) -> str:
    """Words on why the fabric's layout has no size to place."""
    layout = layout_of(fabric)
    racks = np.unique(np.concatenate([layout.switch_racks, layout.server_racks, *layout.pins.values()]))
    if not layout.free_units[racks].any():
        return f"{fabric.name}, {layout.policy}: servers leave no unit of their racks for switches, and no rack is free"
    runs = ", ".join(
        f"{kind} {fabric.runs.m[kind]:.1f} m" for kind in RUNS_ON_FLOOR if np.isfinite(fabric.runs.m[kind])
    )
    return f"{fabric.name}, {layout.policy}: nothing on sale joins switches over the runs that are usual there: {runs}"


def layout_of(fabric: FabricProblem) -> Layout:
    """The layout that a fabric is looked at in."""
    assert isinstance(fabric.on_floor.arrangement, InLayout)
    return fabric.on_floor.arrangement.layout
