"""Equipment installed at each stage of a growing Clos.

The candidate is the fabric of the last stage. A group's leaves come with its first server, a pod's spines with its
first leaf. A stage has no spines where a single leaf joins all servers, and no cores where a single pod does.

*Nothing moves*: every leaf is joined to each spine that is there by all the links that it will ever have to it, every
spine likewise to each core. A stage has the fewest spines and cores with which its own oversubscription holds: what is
added later is never dearer to have later, so there is one such plan.

*Cables move* (where the case allows it): a stage may have fewer spines, with more links to each; when more spines come,
links move to them. What is plugged in stays plugged in: no stage has fewer spines, or fewer uplinks of a leaf, than the
one before. Each stage may have the fewest spines for any number of links to each, so there are many such plans. See
docs/formulation/growth.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabopt.network.clos_stages import StageNumbers, modules_suffice
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.rules.defaults import MOST_ON_ONE_SWITCH, TWO_SWITCHES
from fabopt.schema.fabric_design import FabricDesign
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.classes import leaf_uplinks
from fabopt.topology.clos.in_service import first_stage, most_above, most_at
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.redundancy import fewest_cores, fewest_spines
from fabopt.topology.clos.shape import (
    Parts,
    Shape,
    down_cage_limit,
    most_down,
    uplinks_needed,
    usable_ports,
)
from fabopt.units import ceil_div, ceil_of

Plan = tuple[StageNumbers, ...]


def plans_of(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> tuple[Plan, ...]:
    """Plans of growth: the structure of each stage; empty if an early stage needs more than the last one has.

    Rules ``stages_are_fabrics`` and ``stages_only_add``.
    """
    parts, shape = clos.parts, clos.shape
    if fabric.live.joined is not None:
        # all switches that are joined, and all spines of a pod below cores, are there from the first stage on
        whole = _still(problem, fabric, clos, int(shape.spines), _cores(parts, shape))
        return () if whole is None or _begins_with_a_leaf(problem, fabric, shape) else (whole,)
    still = _still(problem, fabric, clos)
    if still is None or _stands_on_one(problem, fabric, shape):
        return ()
    if fabric.live.moving is not None:
        return tuple(_keeping(problem, fabric, clos, still, fabric.live.moving.fabric))
    if problem.case.growth.recabling == "forbid" or not _lends(parts, shape):
        return (still,)
    plans = _lending(problem, fabric, clos, still, (StageNumbers(0),))
    moving = sorted({plan for plan in plans if plan != still and _modules_suffice(parts, shape, plan)})
    return (still, *moving)


def _begins_with_a_leaf(problem: Problem, fabric: FabricProblem, shape: Shape) -> bool:
    """Whether a pod has one leaf at a stage, which no spine joins to others of it."""
    sizes = (stage.servers for stage in problem.stages[fabric.live.in_service is not None :])
    return any(replace(shape, servers=servers).leaves < 2 for servers in sizes)


def _stands_on_one(problem: Problem, fabric: FabricProblem, shape: Shape) -> bool:
    """Whether a stage of many GPUs has one leaf and so no spine, where rule ``two-switches`` asks for two switches."""
    planned = problem.stages[fabric.live.in_service is not None :]
    large = (stage.servers for stage in planned if stage.servers * problem.server.gpus > MOST_ON_ONE_SWITCH)
    smallest = min(large, default=0)
    return (
        TWO_SWITCHES in fabric.rules.kept
        and smallest > 0
        and shape.planes * replace(shape, servers=smallest).leaves < 2
    )


def _modules_suffice(parts: Parts, shape: Shape, plan: Plan) -> bool:
    """Whether the spine modules bought by each stage fill all spine cages that have links at that stage.

    Modules move with their cables. Where a cage has one port every plan does; where it has several, links may lie in
    more cages than later.
    """
    use = parts.spine_down
    if use is None or use.lane.ports == 1:
        return True
    cages = use.cages if parts.spine_up is None else int(down_cage_limit(use, parts.spine_up, shape.x))
    return modules_suffice(numbers_of(parts.nic, shape), plan, cages, use.lane.ports)


def _keeping(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, still: Plan, there: FabricDesign
) -> Iterator[Plan]:
    """The plan in which nothing moves, and those whose first stage has more spines or cores, up to as many as are in
    service: what stays need not move.
    """
    shape, (servers, spines, cores, _) = clos.shape, still[0]
    count = {tier.role: ceil_div(tier.count, there.planes) for tier in there.tiers}
    pods = int(replace(shape, servers=servers).pods) if clos.tiers > 2 else 1
    step = max(1, int(shape.q))
    most = ceil_div(count.get("spine", 0), pods * step) * step if spines else 0
    for more in range(spines, max(spines, min(int(shape.spines), most)) + 1, step):
        of_group = ceil_div(count.get("core", 0), ceil_div(more, step)) if cores else 0
        for group in range(cores, max(cores, min(_cores(clos.parts, shape), of_group)) + 1):
            plan = _still(problem, fabric, clos, more, group)
            if plan is not None and plan[0][1:3] == (more, group):
                yield plan


def _still(problem: Problem, fabric: FabricProblem, clos: ClosNetwork, spines: int = 0, cores: int = 0) -> Plan | None:
    """The plan in which nothing moves; ``spines``, ``cores``: of a pod and a group, the fewest of its first stage."""
    parts, shape = clos.parts, clos.shape
    stages: list[StageNumbers] = []
    for number, stage in enumerate(problem.stages):
        if number == 0 and fabric.live.in_service is not None:
            stages.append(first_stage(fabric.live.in_service.fabric, stage.servers))
            _, spines, cores, _ = stages[0]
            continue
        stage_shape = replace(shape, servers=stage.servers)
        if parts.spine is not None and stage_shape.leaves > 1:
            needed = _spines_for(shape, _uplinks_needed(problem, fabric, clos, number))
            if shape.has_own_last:
                of_last = _uplinks_needed(problem, fabric, clos, number, of_last=True)
                needed = max(needed, _spines_for(shape.of_last, of_last))
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
    """Cores of a group at a stage with ``spines`` spines of a pod; 0 for a single pod.

    ``pair_links``: links of a leaf to a spine, if more than at the last stage.
    """
    stage_shape = replace(shape, servers=problem.stages[number].servers)
    if parts.core is None or stage_shape.pods <= 1:
        return 0
    assert parts.spine_down is not None and parts.spine_up is not None
    most = problem.stages[number].oversubscription[fabric.name][1]
    leaves = _leaves_of_a_pod(stage_shape, shape)
    in_pod = replace(stage_shape, groups_per_pod=min(stage_shape.groups, shape.groups_per_pod))
    down = leaves * pair_links or most_above(fabric, in_pod, parts.nic)
    needed = int(uplinks_needed(down, parts.spine_down, parts.spine_up, most))
    core_groups = ceil_div(spines, int(shape.q))
    return max(int(ceil_of(needed, int(shape.m2))), fewest_cores(fabric, shape.planes, core_groups))


def _uplinks_needed(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, number: int, of_last: bool = False
) -> int:
    """Fewest uplinks of a leaf at a stage; ``of_last``: of one of a group unlike the others."""
    stage, parts, shape = problem.stages[number], clos.parts, clos.shape
    stage_shape = replace(shape, servers=stage.servers, sizes=shape.sizes[: number + 1])
    down = most_at(fabric, stage_shape, clos, of_last)
    most = stage.oversubscription[fabric.name][0]
    of_classes = int(leaf_uplinks(fabric, parts, stage_shape, most))
    return max(of_classes, int(uplinks_needed(down, parts.leaf_down, parts.uplink, most)))


def _leaves_of_a_pod(stage_shape: Shape, shape: Shape) -> int:
    """Most leaves of any pod at a stage."""
    return min(int(stage_shape.groups), int(shape.groups_per_pod)) * int(shape.leaves_of_a_group)


def _lends(parts: Parts, shape: Shape) -> bool:
    """Whether links can be lent to other spines one by one: even striping over the spines."""
    return parts.spine_down is not None and int(shape.u) % int(shape.spines) == 0


def _lending(problem: Problem, fabric: FabricProblem, clos: ClosNetwork, still: Plan, before: Plan) -> Iterator[Plan]:
    """Every plan that continues the stages ``before``, the first of which is empty."""
    number = len(before) - 1
    if number == len(still):
        yield before[1:]
        return
    for stage in _ways_of(problem, fabric, clos, still[number], before[-1], number):
        yield from _lending(problem, fabric, clos, still, (*before, stage))


def _ways_of(
    problem: Problem,
    fabric: FabricProblem,
    clos: ClosNetwork,
    still: StageNumbers,
    before: StageNumbers,
    number: int,
) -> Iterator[StageNumbers]:
    """Ways to build a stage: with the spines of the plan in which nothing moves, or with the fewest for each higher
    number of links of a leaf to a spine. Links of earlier stages stay.
    """
    parts, shape = clos.parts, clos.shape
    links, cores = int(shape.links_per_pair), max(before.group_cores, still.group_cores)
    most = max(still.spines, _spines_for(shape, _uplinks(shape, before)))
    yield still._replace(spines=most, group_cores=cores)
    stage_shape = replace(shape, servers=problem.stages[number].servers)
    if number == len(problem.stages) - 1 or stage_shape.leaves <= 1:
        return
    needed = max(_uplinks_needed(problem, fabric, clos, number), _uplinks(shape, before))
    step, fewest = max(1, int(shape.q)), _fewest_spines(fabric, parts, shape, stage_shape)
    ports, fewer = _spine_ports(parts, shape) // _leaves_of_a_pod(stage_shape, shape), 0
    for spines in range(max(step, before.spines, fewest), most, step):
        of_pair = int(ceil_of(needed, spines))
        if of_pair == fewer or not links < of_pair <= min(ports, int(shape.u) // spines):
            continue
        enough = max(cores, _cores_needed(problem, fabric, parts, shape, number, spines, of_pair))
        if enough <= _cores(parts, shape):
            fewer = of_pair
            yield StageNumbers(still.servers, spines, enough, of_pair)


def _spine_ports(parts: Parts, shape: Shape) -> int:
    """Down ports of a spine beside its uplinks of the last stage."""
    assert parts.spine is not None and parts.spine_down is not None
    if parts.spine_up is None:
        return usable_ports(parts.spine_down, parts.spine)
    return most_down(parts.spine, parts.spine_down, parts.spine_up, int(shape.x))


def at_stage(parts: Parts, shape: Shape, stages: Plan, number: int) -> tuple[Parts, Shape]:
    """Hardware and shape of a stage, as of a fabric that does not grow."""
    stage, shape = stages[number], replace(shape, sizes=shape.sizes[: number + 1])
    tall = parts.core is not None and stage.group_cores > 0
    if parts.spine is None or stage.spines == 0:
        alone = Parts(parts.protocol, parts.nic, parts.leaf, parts.leaf_down)
        return alone, replace(
            shape, servers=stage.servers, u=0, spines=0, groups_per_pod=0, rail_pods=False, x=0, q=0, m2=0
        )
    own_u = int(shape.last_links_per_pair) * stage.spines if shape.has_own_last else 0
    stage_shape = replace(shape, servers=stage.servers, spines=stage.spines, u=_uplinks(shape, stage), own_u=own_u)
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
    """Fewest spines of a pod that give a leaf ``uplinks`` links, one more than there are if none do: whole core groups
    of them, and all where they differ in links.
    """
    if shape.u % shape.spines:
        return int(shape.spines) + int(uplinks > shape.u)
    spines = int(ceil_of(uplinks, int(shape.links_per_pair)))
    return int(ceil_of(spines, int(shape.q)) * shape.q) if shape.q else spines


def _fewest_spines(fabric: FabricProblem, parts: Parts, shape: Shape, stage_shape: Shape) -> int:
    """Fewest spines of a pod that the rule of redundancy allows at a stage; all if there are fewer.

    Of three tiers whole core groups of them, with several pods enough for the fewest cores.
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
