"""What is installed at each stage of a growing Clos.

The candidate is the fabric of the last stage. A group's leaves come with its first server, a pod's spines with its
first leaf. A stage has no spines where a single leaf joins all servers, and no cores where a single pod does.

*Nothing moves*: every leaf is joined to each spine that is there by all the links that it will ever have to it, every
spine likewise to each core. A stage has the fewest spines and cores with which its own oversubscription holds: what is
added later is never dearer to have later, so there is one such plan.

*Cables move* (where the case allows it): stages before one of them have the fewest spines that have the ports, with
more links to each; when more spines come, links move to them. What is plugged in stays plugged in: no stage has fewer
spines, or fewer uplinks of a leaf, than the one before. See docs/formulation/growth.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from fabopt.network.clos_stages import StageNumbers
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.classes import leaf_uplinks
from fabopt.topology.clos.redundancy import fewest_cores, fewest_spines
from fabopt.topology.clos.shape import Parts, Shape, most_down, most_endpoints, uplinks_needed, usable_ports
from fabopt.units import ceil_div, ceil_of

Plan = tuple[StageNumbers, ...]


def plans_of(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape) -> tuple[Plan, ...]:
    """What is installed at each stage; none if an early stage needs more than the last one has.

    Rules ``stages_are_fabrics`` and ``stages_only_add``.
    """
    still = _still(problem, fabric, parts, shape)
    if still is None:
        return ()
    if problem.case.growth.recabling == "forbid" or not _lends(parts, shape):
        return (still,)
    plans = (_until(problem, fabric, parts, shape, still, number) for number in range(len(still)))
    return tuple(dict.fromkeys(plans))


def _still(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape) -> Plan | None:
    """The plan in which nothing moves."""
    spines = cores = 0
    stages: list[StageNumbers] = []
    for number, stage in enumerate(problem.stages):
        stage_shape = replace(shape, servers=stage.servers)
        if parts.spine is not None and stage_shape.leaves > 1:
            needed = _spines_for(shape, _uplinks_needed(problem, fabric, parts, shape, number))
            spines = max(spines, needed, _fewest_spines(fabric, parts, shape, stage_shape))
        cores = max(cores, _cores_needed(problem, fabric, parts, shape, number, spines))
        stages.append(StageNumbers(stage.servers, spines, cores))
    last = StageNumbers(int(shape.servers), int(shape.spines), _cores(parts, shape))
    if spines > last.spines or cores > last.group_cores:
        return None
    return (*stages[:-1], last)


def _cores_needed(
    problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape, number: int, spines: int, pair_links: int = 0
) -> int:
    """Cores of a group that a stage needs with so many spines; none for a single pod.

    ``pair_links``: if more than at the last stage.
    """
    stage_shape = replace(shape, servers=problem.stages[number].servers)
    if parts.core is None or stage_shape.pods <= 1:
        return 0
    assert parts.spine_down is not None and parts.spine_up is not None
    most = problem.stages[number].oversubscription[fabric.name][1]
    leaves = _leaves_of_a_pod(stage_shape, shape)
    down = leaves * pair_links or int(ceil_of(leaves * shape.u, shape.spines))
    needed = int(uplinks_needed(down, parts.spine_down, parts.spine_up, most))
    core_groups = ceil_div(spines, int(shape.q))
    return max(int(ceil_of(needed, int(shape.m2))), fewest_cores(fabric, shape.planes, core_groups))


def _uplinks_needed(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape, number: int) -> int:
    """Uplinks that a leaf must have at a stage."""
    stage = problem.stages[number]
    stage_shape = replace(shape, servers=stage.servers, sizes=shape.sizes[: number + 1])
    down = most_endpoints(stage_shape, fabric.attached)
    assert parts.leaf_up is not None
    most = stage.oversubscription[fabric.name][0]
    of_classes = int(leaf_uplinks(fabric, parts, stage_shape, most))
    return max(of_classes, int(uplinks_needed(down, parts.leaf_down, parts.leaf_up, most)))


def _leaves_of_a_pod(stage_shape: Shape, shape: Shape) -> int:
    """Most leaves of any pod at a stage."""
    return min(int(stage_shape.groups), int(shape.groups_per_pod)) * int(shape.leaves_of_a_group)


def _lends(parts: Parts, shape: Shape) -> bool:
    """Whether links can be lent to other spines one by one: even striping, and spine cages of one port."""
    return parts.spine_down is not None and parts.spine_down.lane.ports == 1 and shape.u % shape.spines == 0


class _Fewest(NamedTuple):
    """Fewest spines of a pod at a stage, links of a leaf to each, and the cores of a group that they need."""

    spines: int
    pair_links: int
    cores: int


def _fewest(
    problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape, before: StageNumbers, number: int
) -> _Fewest | None:
    """The fewest spines that take a stage's uplinks; None where there are none, or no fewer than at last."""
    stage_shape = replace(shape, servers=problem.stages[number].servers)
    if stage_shape.leaves <= 1:
        return None
    assert parts.spine is not None and parts.spine_down is not None
    ports = usable_ports(parts.spine_down, parts.spine)
    if parts.spine_up is not None:
        ports = most_down(parts.spine, parts.spine_down, parts.spine_up, int(shape.x))
    needed = max(_uplinks_needed(problem, fabric, parts, shape, number), _uplinks(shape, before))
    step = max(1, int(shape.q))
    fewest = _fewest_spines(fabric, parts, shape, stage_shape)
    for spines in range(max(step, before.spines, fewest), int(shape.spines), step):
        links = max(int(shape.links_per_pair), int(ceil_of(needed, spines)))
        if spines * links <= shape.u and _leaves_of_a_pod(stage_shape, shape) * links <= ports:
            cores = _cores_needed(problem, fabric, parts, shape, number, spines, links)
            if cores <= _cores(parts, shape):
                return _Fewest(spines, links, cores)
    return None


def _until(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape, still: Plan, until: int) -> Plan:
    """The plan with the fewest spines before stage ``until`` and that in which nothing moves from then on."""
    links, before = int(shape.links_per_pair), StageNumbers(0)
    stages: list[StageNumbers] = []
    for number, stage in enumerate(still):
        few = _fewest(problem, fabric, parts, shape, before, number) if number < until else None
        cores = max(before.group_cores, stage.group_cores)
        if few is not None and few.spines < stage.spines:
            more = few.pair_links if few.pair_links > links else 0
            stage = StageNumbers(stage.servers, few.spines, max(cores, few.cores), more)
        else:
            plugged_in = _spines_for(shape, _uplinks(shape, before))
            stage = stage._replace(spines=max(stage.spines, plugged_in), group_cores=cores)
        stages.append(stage)
        before = stage
    return tuple(stages)


def at_stage(parts: Parts, shape: Shape, stages: Plan, number: int) -> tuple[Parts, Shape]:
    """Hardware and numbers of a stage, as of a fabric that stays as it is then."""
    stage, shape = stages[number], replace(shape, sizes=shape.sizes[: number + 1])
    tall = parts.core is not None and stage.group_cores > 0
    if parts.spine is None or stage.spines == 0:
        alone = Parts(parts.protocol, parts.nic, parts.leaf, parts.leaf_down)
        return alone, replace(
            shape, servers=stage.servers, u=0, spines=0, groups_per_pod=0, rail_pods=False, x=0, q=0, m2=0
        )
    stage_shape = replace(shape, servers=stage.servers, spines=stage.spines, u=_uplinks(shape, stage))
    if tall:
        # pods of one rail that are not full yet have fewer leaves, so their spines have fewer links below
        return parts, replace(
            stage_shape, x=stage.group_cores * shape.m2, groups_per_pod=min(stage_shape.groups, shape.groups_per_pod)
        )
    flat = replace(parts, spine_up=None, core=None, core_down=None)
    return flat, replace(stage_shape, groups_per_pod=stage_shape.groups, rail_pods=False, x=0, q=0, m2=0)


def _uplinks(shape: Shape, stage: StageNumbers) -> int:
    """Links of a leaf at a stage."""
    if stage.spines == shape.spines:
        return int(shape.u)
    return stage.spines * (stage.pair_links or int(shape.links_per_pair))


def _spines_for(shape: Shape, uplinks: int) -> int:
    """Fewest spines of a pod that give a leaf so many links, more than there are if none do: whole core groups of them,
    and all where they differ in links.
    """
    if shape.u % shape.spines:
        return int(shape.spines) + int(uplinks > shape.u)
    spines = int(ceil_of(uplinks, int(shape.links_per_pair)))
    return int(ceil_of(spines, int(shape.q)) * shape.q) if shape.q else spines


def _fewest_spines(fabric: FabricProblem, parts: Parts, shape: Shape, stage_shape: Shape) -> int:
    """Fewest spines of a pod that the rule of redundancy allows at a stage; all if there are fewer.

    Of three tiers whole core groups of them, with several pods so many that there can be enough cores.
    """
    spines = fewest_spines(fabric, shape.planes)
    if parts.core is not None:
        groups = ceil_div(spines, int(shape.q))
        if stage_shape.pods > 1:
            groups = max(groups, fewest_cores(fabric, shape.planes, _cores(parts, shape)))
        spines = groups * int(shape.q)
    return min(spines, int(shape.spines))


def _cores(parts: Parts, shape: Shape) -> int:
    return int(shape.cores_per_group) if parts.core is not None else 0
