"""The families that are designed, by name: every one is a line here and one in ``fabopt.schema.topologies``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from fabopt.network.clos_links import Ints
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.family import ClosFamily, RailOnlyFamily
from fabopt.topology.cutoff import Batch, Found
from fabopt.topology.direct.dragonfly import DragonflyTopology
from fabopt.topology.direct.family import DirectFamily
from fabopt.topology.direct.hyperx import HyperxTopology
from fabopt.topology.direct.torus import TorusTopology
from fabopt.topology.dragonfly_plus.family import DragonflyPlusFamily
from fabopt.topology.family import Family, Quest, Space
from fabopt.topology.server_torus.family import TorusFamily

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        ClosFamily(),
        RailOnlyFamily(),
        DirectFamily(HyperxTopology()),
        TorusFamily(TorusTopology()),
        DirectFamily(DragonflyTopology()),
        DragonflyPlusFamily(),
    )
}


def spaces_of(problem: Problem, fabric: FabricProblem, quest: Quest) -> Iterator[Space]:
    """The spaces of all families of a fabric that have a part in what is wanted."""
    for name in fabric.topologies:
        if quest.restriction.allows(name):
            yield FAMILIES[name].space(problem, fabric, quest)


def found_in_families(
    problem: Problem, fabric: FabricProblem, quest: Quest, slack: float, first: bool = False
) -> Found:
    """What every family has; what one has found cuts the next. ``first``: until something is found."""
    found = Found()
    for space in spaces_of(problem, fabric, quest):
        if not first:
            space.search(slack, found)
        elif not found.batches and not found.stopped:
            found = space.any_candidate()
    return found


def switches_of(batch: Batch) -> Ints:
    """Switches of every candidate of a batch, over all planes."""
    return np.broadcast_to(np.asarray(FAMILIES[batch.family].switches(batch), dtype=np.int64), batch.cost.shape[1:])


def candidates_in(problem: Problem, batch: Batch, index: int, prune: bool) -> tuple[Candidate, ...]:
    """One of a batch with its exact needs; of equals, the families of a fabric win in their order."""
    fabric = batch.fabric
    assert fabric is not None
    made = FAMILIES[batch.family].candidates(problem, fabric, batch, index, prune)
    if len(fabric.topologies) == 1:
        return made
    rank = fabric.topologies.index(batch.family)
    return tuple(replace(one, order=(rank, *one.order)) for one in made)


def most_servers(problem: Problem) -> int:
    """No design of a problem, with its number of servers or fewer, has more servers than this, whatever it costs."""
    return min(
        max(FAMILIES[name].most_servers(problem, fabric) for name in fabric.topologies) for fabric in problem.fabrics
    )
