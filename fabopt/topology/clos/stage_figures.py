"""A fabric as it is at each stage of a growing cluster: counts, free ports, ratios and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fabopt.network import clos_stages
from fabopt.network.clos_links import Ints
from fabopt.network.clos_stages import StageNumbers
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import StageStructure
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.devices import moved_cables
from fabopt.topology.clos.figures import figures_of
from fabopt.topology.clos.growth import at_stage
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import most_down, most_endpoints, usable_ports


def growth_of(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, cables: Sequence[int]
) -> tuple[StageStructure, ...]:
    """The structure of each stage; ``cables``: number that each stage adds. Empty where there is one stage."""
    moved = moved_cables(clos)
    return tuple(
        _stage_structure(problem, fabric, clos, number, stage, (sum(cables[: number + 1]), moved[number]))
        for number, stage in enumerate(clos.stages)
    )


def stage_clos(fabric: FabricProblem, clos: ClosNetwork, number: int) -> ClosNetwork:
    """A stage as a Clos that does not grow."""
    parts, shape = at_stage(clos.parts, clos.shape, clos.stages, number)
    most, above = int(most_endpoints(shape, fabric.attached)), int(shape.spine_down) if shape.spines else 0
    return ClosNetwork(parts, shape, most, most, 0, above)


def _stage_structure(
    problem: Problem,
    fabric: FabricProblem,
    clos: ClosNetwork,
    number: int,
    stage: StageNumbers,
    cables: tuple[int, int],
) -> StageStructure:
    stage_network = stage_clos(fabric, clos, number)
    figures = figures_of(stage_network, stage.servers * problem.server.gpus)
    leaves, spines, cores = (int((when <= number).sum()) for when in _device_stages(clos))
    free_leaf, free_spine = _free_ports(fabric, clos, stage_network, leaves, spines)
    return StageStructure(
        stage=problem.stages[number].name,
        groups=int(stage_network.shape.groups),
        pods=int(stage_network.shape.pods) if stage_network.tiers > 2 else 1,
        spines_per_pod=stage.spines,
        links_per_pair=int(stage_network.shape.links_per_pair) if stage_network.tiers > 1 else 0,
        cores_per_group=stage.group_cores,
        links_per_core_pair=int(stage_network.shape.m2),
        leaves=leaves,
        spines=spines,
        cores=cores,
        cables=cables[0],
        moved_cables=cables[1],
        free_leaf_ports=free_leaf,
        free_spine_ports=free_spine,
        oversubscription=figures.ratios(),
        metrics=figures.metrics(),
    )


def _device_stages(clos: ClosNetwork) -> list[Ints]:
    """Stages of all leaves, spines and cores."""
    n, none = numbers_of(clos.parts.nic, clos.shape), np.array([], dtype=np.int64)
    spines = np.arange(n.planes * n.pods * n.spines) if clos.tiers > 1 else none
    cores = np.arange(n.planes * n.cores) if clos.tiers > 2 else none
    return [
        clos_stages.of_leaves(n, clos.stages, np.arange(n.planes * n.leaves)),
        clos_stages.of_spines(n, clos.stages, spines) if clos.tiers > 1 else none,
        clos_stages.of_cores(n, clos.stages, cores) if clos.tiers > 2 else none,
    ]


def _free_ports(
    fabric: FabricProblem, clos: ClosNetwork, stage_network: ClosNetwork, leaves: int, spines: int
) -> tuple[int, int]:
    """Free down ports of all leaves and of all spines at a stage, beside the uplinks of the last stage."""
    parts, shape = clos.parts, clos.shape
    of_leaf = usable_ports(parts.leaf_down, parts.leaf)
    if parts.leaf_up is not None:
        of_leaf = most_down(parts.leaf, parts.leaf_down, parts.leaf_up, int(shape.u))
    endpoints = int(stage_network.shape.servers) * stage_network.shape.ports * shape.planes + sum(
        fabric.attached[: len(stage_network.shape.sizes)]
    )
    on_free = Counter(tier for places in clos.free for tier, _ in places)
    endpoints += on_free["leaf"]
    if parts.spine is None or parts.spine_down is None:
        return leaves * of_leaf - endpoints, 0
    of_spine = usable_ports(parts.spine_down, parts.spine)
    if parts.spine_up is not None:
        of_spine = most_down(parts.spine, parts.spine_down, parts.spine_up, int(shape.x))
    uplinks = leaves * int(stage_network.shape.u) if stage_network.tiers > 1 else 0
    return leaves * of_leaf - endpoints, spines * of_spine - uplinks - on_free["spine"]
