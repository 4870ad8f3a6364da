"""What fewer part numbers would cost: the devices of an answer, joined by parts of which there are fewer kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabopt.parts.link_table import LinkTable
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.formulation import PART_KINDS
from fabopt.program.lexicographic import Optimum, optimum_of
from fabopt.program.orders import Picked, all_uses
from fabopt.program.settings import Clock, Settings
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.network import clos_of
from fabopt.topology.ways import in_every_way


def part_numbers_of(problem: Problem, picked: Sequence[Picked]) -> int:
    """Part numbers of a design: products, or lengths of one, servers aside."""
    return len({item for _, item in all_uses(problem, picked) if item.kind in PART_KINDS})


def with_fewer_part_numbers(
    problem: Problem, picked: Sequence[Picked], settings: Settings, clock: Clock
) -> Optimum | None:
    """The cheapest way to join the same devices with fewer part numbers; None if there is none.

    Of a Clos at one stage, without a floor: elsewhere that is not looked at.
    """
    links = LinkTable(problem.offering.offered, problem.item_table, prune=False)
    whole = replace(problem, links=links)
    candidates = list(_with_all_parts(whole, picked))
    if len(candidates) < len(problem.fabrics):
        return None
    most = part_numbers_of(problem, picked) - 1
    optimum = optimum_of(whole, candidates, replace(settings, prune=False), clock, most_part_numbers=most)
    return optimum if optimum.picked else None


def _with_all_parts(problem: Problem, picked: Sequence[Picked]) -> Iterator[Candidate]:
    """The candidates of a design with every way to make their links, dear ones too."""
    for fabric, (candidate, _) in zip(problem.fabrics, picked, strict=True):
        design = candidate.design
        if isinstance(design, ClosDesign) and problem.site.runs_are_alike and not problem.first_servers:
            equipped = _as_designed(fabric, candidate, design)
            clos = clos_of(equipped, design.network.parts, design.network.shape)
            variants = in_every_way(problem, equipped, candidates_of(problem, equipped, clos, False))
            yield from [one for one in variants if one.devices == candidate.devices][:1]


def _as_designed(fabric: FabricProblem, candidate: Candidate, design: ClosDesign) -> FabricProblem:
    """The fabric with the ports that a design has counted and the runs that its groups have."""
    fabric = fabric.with_switches(candidate.counted)
    runs_m = fabric.runs_m if fabric.groups is None else fabric.groups.of(design.file_part().structure)
    return replace(fabric, attachments=(*fabric.attachments, *candidate.equipment), runs_m=runs_m, groups=None)
