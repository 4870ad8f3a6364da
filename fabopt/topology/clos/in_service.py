"""Rule ``base_stays``: the candidates of a Clos whose first stage is what is in service, and that keep its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabopt.network.clos_stages import StageNumbers
from fabopt.parts.switches import CageUse
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.fabric_design import FabricDesign
from fabopt.schema.structure import Structure
from fabopt.schema.tiers import PortUse
from fabopt.topology.candidate import Candidate, Choice, Option
from fabopt.topology.clos.shape import Parts, Shape


def first_stage(there: FabricDesign, servers: int) -> StageNumbers:
    """The stage that is in service."""
    structure = there.clos
    spines = structure.spines_per_pod if structure.tiers > 1 else 0
    return StageNumbers(servers, spines, structure.cores_per_group if structure.tiers > 2 else 0)


def goes_on(there: FabricDesign, parts: Parts, shape: Shape, servers: int) -> NDArray[np.bool_]:
    """Mask of the sizes of which ``servers`` servers have the network in service, shape (rows,)."""
    rows = np.zeros(np.size(shape.g), dtype=np.bool_)
    return rows | _same_sizes(there.clos, shape, servers) if _same_hardware(there, parts) else rows


def _same_hardware(there: FabricDesign, parts: Parts) -> bool:
    nic, used = parts.nic, there.nic
    same = (
        parts.protocol == there.protocol
        and parts.last_leaf is None
        and (nic.nic_id, nic.nics_per_server, nic.ports_per_nic) == (used.id, used.per_server, used.ports_per_nic)
        and (nic.group, nic.split, nic.planes) == (used.cage_group, used.split, there.planes)
        and (nic.own_rails, nic.item is None) == (there.own_rails, used.built_in)
    )
    uses = (
        (parts.leaf, parts.leaf_down, parts.leaf_up),
        (parts.spine, parts.spine_down, parts.spine_up),
        (parts.core, parts.core_down, None),
    )
    for tier, (switch, down, up) in zip(there.tiers, uses, strict=False):
        same &= switch is not None and switch.item.id == tier.id and _is_same(tier.down, down)
        same &= tier.up is None or _is_same(tier.up, up)
    return same


def _is_same(there: PortUse, use: CageUse | None) -> bool:
    return use is not None and (use.group, use.split) == (there.cage_group, there.split)


def _same_sizes(there: Structure, shape: Shape, servers: int) -> NDArray[np.bool_]:
    g, is_one = np.asarray(shape.g), there.groups == 1
    same = (g >= servers if is_one else g == there.servers_per_group) & (shape.k == there.ports_per_server_per_leaf)
    if there.tiers > 1:
        # where stripes are even a leaf has as many links to each new spine
        same &= (shape.spines >= there.spines_per_pod) & (shape.links_per_pair == there.links_per_pair)
    if there.tiers == 2:
        same &= (shape.groups_per_pod >= there.groups) & (np.asarray(shape.rail_pods) == 0)
    if there.tiers == 3:
        few = there.groups <= there.groups_per_pod
        same &= shape.groups_per_pod >= there.groups if few else shape.groups_per_pod == there.groups_per_pod
        same &= (shape.rail_pods == (there.pod_of == "rail")) & (shape.q == there.spines_per_core_group)
        same &= (shape.m2 == there.links_per_core_pair) & (shape.cores_per_group >= there.cores_per_group)
    return np.asarray(same)


def with_parts_in_service(there: FabricDesign, choices: Sequence[Choice]) -> tuple[Choice, ...] | None:
    """Choices with the options that leave the parts in service where they are; None where one has none."""
    kept = tuple(
        replace(choice, options=tuple(option for option in choice.options if _keeps(there, option)))
        for choice in choices
    )
    return kept if all(choice.options for choice in kept) else None


def _keeps(there: FabricDesign, option: Option) -> bool:
    """Whether the parts of the first stage are those in service."""
    for row in option.rows:
        if row.stage == 0 and row.links:
            own = {(part.item.id, part.item.length_m, part.end) for part in row.parts}
            rows = [used for used in there.links if (used.from_, used.to, used.scope) == (row.near, row.far, row.scope)]
            if not any(own == {(part.id, part.length_m, part.end) for part in used.parts} for used in rows):
                return False
    return True


def with_switches_in_service(fabric: FabricProblem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates whose managed twins are those in service; unchanged without a base."""
    if fabric.in_service is None:
        return tuple(candidates)
    managers = fabric.in_service.fabric.subnet_manager
    twins = () if managers is None else managers.twins
    return tuple(candidate for candidate in candidates if candidate.twins == twins)
