"""Switches and NICs that each stage of a Clos adds, and the cables that it moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabopt.network import clos_stages
from fabopt.parts.items import Item
from fabopt.parts.switches import TIER_ROLES
from fabopt.problem.problem import Problem
from fabopt.schema.design import MOVED_CABLE
from fabopt.topology.candidate import Uses
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.network import ClosNetwork


def devices_of(problem: Problem, clos: ClosNetwork) -> Uses:
    """NICs, switches and moved cables by (stage number, item)."""
    parts = clos.parts
    switches = (None if switch is None else switch.item for switch in (parts.leaf, parts.spine, parts.core))
    totals: list[tuple[Item | None, int]] = [
        (parts.nic.item, problem.servers * parts.nic.nics_per_server),
        *zip(switches, _num_switches(clos), strict=True),
    ]
    counts: dict[tuple[int, Item], int] = {}
    for (item, total), added in zip(totals, _added(clos), strict=False):
        for stage, count in enumerate(added or (int(total),)):
            if item is not None and count:
                counts[stage, item] = counts.get((stage, item), 0) + int(count)
    if parts.last_leaf is not None:
        own = parts.nic.planes * int(clos.shape.last_rails)
        counts[0, parts.leaf.item] -= own
        counts[0, parts.last_leaf.switch.item] = counts.get((0, parts.last_leaf.switch.item), 0) + own
    move = problem.item_table.item(MOVED_CABLE)
    for stage, count in enumerate(moved_cables(clos)):
        if count and move is not None:
            counts[stage, move] = count
    return counts


def switches_added(clos: ClosNetwork, role: str) -> Sequence[int]:
    """Switches of a tier that each stage adds; one entry where there is one stage."""
    tier = TIER_ROLES.index(role)
    return _added(clos)[1 + tier] if clos.stages else (_num_switches(clos)[tier],)


def _num_switches(clos: ClosNetwork) -> tuple[int, int, int]:
    """Leaves, spines and cores over all planes."""
    parts, shape = clos.parts, clos.shape
    planes = parts.nic.planes
    spines = planes * shape.pods * shape.spines if parts.spine is not None else 0
    return int(planes * shape.leaves), int(spines), int(planes * shape.cores) if parts.core is not None else 0


def moved_cables(clos: ClosNetwork) -> list[int]:
    """Cables that each stage moves: uplinks of leaves that an earlier stage installed."""
    if not any(stage.pair_links for stage in clos.stages):
        return [0] * max(1, len(clos.stages))
    n = numbers_of(clos.parts.nic, clos.shape)
    leaves = np.bincount(
        clos_stages.of_leaves(n, clos.stages, np.arange(n.planes * n.leaves)), minlength=len(clos.stages)
    ).cumsum()
    moves = clos_stages.moves_of_a_leaf(n, clos.stages)
    return [0, *(int(before) * cables for before, cables in zip(leaves[:-1], moves[1:], strict=True))]


def _added(clos: ClosNetwork) -> Sequence[Sequence[int]]:
    """NICs, leaves, spines and cores by stage; empty where there is one stage."""
    if not clos.stages:
        return ((), (), (), ())
    n = numbers_of(clos.parts.nic, clos.shape)
    servers = clos_stages.of_servers(clos.stages, np.arange(n.servers))
    when = [np.repeat(servers, n.nics), clos_stages.of_leaves(n, clos.stages, np.arange(n.planes * n.leaves))]
    if clos.tiers > 1:
        when.append(clos_stages.of_spines(n, clos.stages, np.arange(n.planes * n.pods * n.spines)))
    if clos.tiers > 2:
        when.append(clos_stages.of_cores(n, clos.stages, np.arange(n.planes * n.cores)))
    return [np.bincount(stages_of_tier, minlength=len(clos.stages)).tolist() for stages_of_tier in when]
