"""What stands at each stage of a growing Clos whose cables are never moved.

The candidate is the fabric of the last stage. A group's leaves come with its first server, a pod's spines with its
first leaf. Every leaf is joined to each spine that is there by all the links that it will ever have to it, so nothing
moves when spines are added; the same holds for spines and cores. A stage has the fewest spines and cores with which its
own oversubscription holds, and none where a single leaf (a single pod) joins all servers: whatever is added later is
never dearer to have later. See docs/formulation.md, "Growth".
"""

from __future__ import annotations

from dataclasses import replace

from fabopt.installed import StageNumbers
from fabopt.problem import FabricProblem, Problem
from fabopt.topology.clos.bounds import uplinks_needed
from fabopt.topology.clos.shape import Parts, Shape, most_endpoints
from fabopt.topology.needs import ceil_of


def stages_of(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape) -> tuple[StageNumbers, ...] | None:
    """What stands at each stage; None if an early stage needs more than the last one has."""
    spines = cores = 0
    stages: list[StageNumbers] = []
    for stage in problem.stages:
        leaf_most, spine_most = stage.oversubscription[fabric.name]
        now = replace(shape, servers=stage.servers)
        if parts.spine is not None and now.leaves > 1:
            down = most_endpoints(now, fabric.attachment_ports)
            assert parts.leaf_up is not None
            needed = int(uplinks_needed(down, parts.leaf_down, parts.leaf_up, leaf_most))
            spines = max(spines, _spines_for(shape, needed))
        if parts.core is not None and now.pods > 1:
            assert parts.spine_down is not None and parts.spine_up is not None
            down = (
                min(int(now.groups), int(shape.groups_per_pod)) * leaves_of_a_group(shape) * int(shape.links_per_pair)
            )
            needed = int(uplinks_needed(down, parts.spine_down, parts.spine_up, spine_most))
            cores = max(cores, int(ceil_of(needed, int(shape.m2))))
        stages.append(StageNumbers(stage.servers, spines, cores))
    last = StageNumbers(int(shape.servers), int(shape.spines), _cores(parts, shape))
    if spines > last.spines or cores > last.group_cores:
        return None
    return (*stages[:-1], last)


def leaves_of_a_group(shape: Shape) -> int:
    """Leaves that a group has in one pod."""
    return 1 if shape.rail_pods else int(shape.rails)


def at_stage(parts: Parts, shape: Shape, stage: StageNumbers) -> tuple[Parts, Shape]:
    """Hardware and numbers of a stage, as of a fabric that stays as it is then."""
    tall = parts.core is not None and stage.group_cores > 0
    if parts.spine is None or stage.spines == 0:
        alone = Parts(parts.protocol, parts.nic, parts.leaf, parts.leaf_down)
        return alone, replace(
            shape, servers=stage.servers, u=0, spines=0, groups_per_pod=0, rail_pods=False, x=0, q=0, m2=0
        )
    now = replace(shape, servers=stage.servers, spines=stage.spines, u=_uplinks(shape, stage.spines))
    if tall:
        return parts, replace(now, x=stage.group_cores * shape.m2)
    flat = replace(parts, spine_up=None, core=None, core_down=None)
    return flat, replace(now, groups_per_pod=now.groups, rail_pods=False, x=0, q=0, m2=0)


def _uplinks(shape: Shape, spines: int) -> int:
    """Links of a leaf to so many of its spines."""
    return int(shape.u) if spines == shape.spines else spines * int(shape.links_per_pair)


def _spines_for(shape: Shape, uplinks: int) -> int:
    """Fewest spines of a pod that give a leaf so many links; whole core groups of them, and all if they differ."""
    if shape.u % shape.spines:
        return int(shape.spines)
    spines = int(ceil_of(uplinks, int(shape.links_per_pair)))
    return int(ceil_of(spines, int(shape.q)) * shape.q) if shape.q else spines


def _cores(parts: Parts, shape: Shape) -> int:
    return int(shape.cores_per_group) if parts.core is not None else 0
