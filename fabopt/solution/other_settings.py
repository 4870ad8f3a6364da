"""Other settings of a fabric than the case has, each with the problem that asks for it: what they would save is looked
at beside the answer. See docs/design-file.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike, taken_up
from fabopt.schema.case import Fabric
from fabopt.schema.default_rules import SUBNET_MANAGER
from fabopt.schema.resilience import DEFAULT_RULE, DUAL_HOMED, Resilience, keeps_default, losses_of
from fabopt.schema.structure import AnyStructure, Structure
from fabopt.schema.topologies import refused
from fabopt.solution.subnet_hosts import HOST
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.design import NetworkDesign
from fabopt.topology.family import ANYTHING, Restriction
from fabopt.units import MBPS_PER_GBPS, gbps, plain_fraction, some

# A ratio a little higher than the one that is asked for.
LITTLE_HIGHER = Fraction(21, 20)
RAIL_ONLY = "rail-only"
RAILS = "rails"


class OtherSettings(NamedTuple):
    """What is another than in the case, which, and the problem with the part of its space that is looked at."""

    what: str
    value: str
    problem: Problem
    restriction: Restriction = ANYTHING


def set_free(problem: Problem, index: int) -> Iterator[OtherSettings]:
    """The settings that a Clos fabric may have another of, one by one: a ratio a little higher, rail-only, stripes,
    planes, and rails, of which there are the most designs.
    """
    asked = problem.case.fabrics[index]
    ratio = problem.fabrics[index].oversubscription_leaf * LITTLE_HIGHER
    if may_have_other_ratio(problem, index):
        yield at_ratio(problem, index, ratio)
    if asked.topologies == ("clos",) and not any(refused(problem.case, asked, RAIL_ONLY)):
        other = with_setting(problem, index, asked.model_copy(update={"topologies": (RAIL_ONLY,)}))
        # servers may have no rails, or nothing that carries traffic from one to another
        if any(other.fabrics[index].nics.values()):
            yield OtherSettings("topologies", RAIL_ONLY, other)
    if asked.striping == "even":
        yield OtherSettings(
            "striping", "any", with_setting(problem, index, asked.model_copy(update={"striping": "any"}))
        )
    if asked.planes == 1:
        yield OtherSettings("planes", "any", with_setting(problem, index, asked.model_copy(update={"planes": "any"})))
    if asked.rails == "aligned":
        yield OtherSettings(RAILS, "any", with_setting(problem, index, asked.model_copy(update={"rails": "any"})))


def without_its_only_switch(problem: Problem, index: int, design: NetworkDesign) -> OtherSettings | None:
    """A fabric of storage or in-band whose only switch takes every server with it, asked for half its bandwidth without
    that switch, in any number of planes; None for other fabrics, and where each server has a port alone.
    """
    asked, fabric = problem.case.fabrics[index], problem.fabrics[index]
    if fabric.role not in DUAL_HOMED or not isinstance(design, ClosDesign) or design.tiers > 1:
        return None
    if design.nic.planes > 1 or int(design.network.shape.leaves) > 1 or design.nic.ports_in_all < 2:
        return None
    if not keeps_default(problem.case.resilience_of(asked)):
        return None
    half = Resilience(survive="1 leaf", min_gbps_per_gpu=gbps(fabric.gpu_mbps) / 2)
    resilience = (DEFAULT_RULE, *losses_of(problem.case.resilience_of(asked)), half)
    planes = "any" if asked.planes == 1 else asked.planes
    other = with_setting(problem, index, asked.model_copy(update={"resilience": resilience, "planes": planes}))
    return OtherSettings("resilience", "1 leaf", other)


def may_have_other_ratio(problem: Problem, index: int) -> bool:
    """Whether the ratio of a fabric is that of its leaves alone, with nothing on them that has its own."""
    fabric = problem.fabrics[index]
    return not fabric.networked and fabric.attachment_oversubscription is None


def at_ratio(problem: Problem, index: int, ratio: Fraction, part: Restriction = ANYTHING) -> OtherSettings:
    """Another ratio at the leaves of a fabric, and at the spines where it is the same; of all stages that have it."""
    fabric = problem.fabrics[index]
    before = fabric.oversubscription_leaf, fabric.oversubscription_spine
    alike = fabric.oversubscription_spine == fabric.oversubscription_leaf
    spine = ratio if alike else fabric.oversubscription_spine
    other = replace(fabric, oversubscription_leaf=ratio, oversubscription_spine=spine)
    fabrics = (*problem.fabrics[:index], other, *problem.fabrics[index + 1 :])
    stages = tuple(
        replace(stage, oversubscription={**stage.oversubscription, fabric.name: (ratio, spine)})
        if stage.oversubscription[fabric.name] == before
        else stage
        for stage in problem.stages
    )
    freed = replace(problem, fabrics=fabrics, stages=stages)
    return OtherSettings("oversubscription", f"{plain_fraction(ratio)}:1", freed, part)


def with_setting(problem: Problem, index: int, fabric: Fabric) -> Problem:
    """The problem with another fabric in its case, bound to as much of the rules; all other fabrics are the same ones.

    Its subnets may be others: they are managed by switches, and hosts that were attached for one are not there.
    """
    fabrics = problem.case.fabrics
    attached = tuple(one for one in fabric.attachments if one.name != HOST)
    bare = fabric.model_copy(update={"attachments": attached})
    case = problem.case.model_copy(update={"fabrics": (*fabrics[:index], bare, *fabrics[index + 1 :])})
    other = bound_alike(problem_of(case, problem.catalog, offering=problem.offering), problem)
    if attached != fabric.attachments:
        other = taken_up(other, index, SUBNET_MANAGER)
    changed = other.fabrics[index]
    # a host has a rack of its own on a floor
    site = problem.site if attached == fabric.attachments else other.site
    return replace(other, fabrics=(*problem.fabrics[:index], changed, *problem.fabrics[index + 1 :]), site=site)


def service_beside(other: NetworkDesign, design: ClosDesign, problem: Problem) -> str:
    """What a Clos gives in service beside another one, in words: same-rail pairs on one leaf, bandwidth without a leaf,
    the worst traffic of leaves with leaves where that differs, and what rails have that meet in no switch; empty if it
    is no Clos.
    """
    if not isinstance(other, ClosDesign):
        return ""
    near, own_near = (f"{100 * _pairs_on_a_leaf(one):.3g}" for one in (other, design))
    words = f"; same-rail pairs on one leaf {near} % (here {own_near} %)"
    left, own_left = (_without_a_leaf(one, problem.server.gpus) for one in (other, design))
    if None not in (left, own_left):
        words += f", without a leaf {left} Gb/s per GPU (here {own_left})"
    worst, own_worst = (_worst_between_leaves(one, problem.gpus) for one in (other, design))
    if worst != own_worst and None not in (worst, own_worst):
        words += f", worst traffic of leaves with leaves {worst} Gb/s per GPU (here {own_worst})"
    if other.nic.topology == RAIL_ONLY and other.nic.scale_up is not None:
        words += f", between rails inside servers alone, at {_gbps(other.nic.scale_up)} Gb/s per GPU"
    return words


def _pairs_on_a_leaf(design: ClosDesign) -> float:
    """The share of all pairs of servers whose ports of a rail are on one leaf: those of a group."""
    shape = design.network.shape
    servers, group, last = int(shape.servers), int(shape.g), int(shape.last_group)
    return ((servers - last) * (group - 1) + last * (last - 1)) / (servers * max(1, servers - 1))


def _without_a_leaf(design: ClosDesign, server_gpus: int) -> int | float | None:
    """Gb/s per GPU that are left without a leaf; None where that is not known."""
    failures = design.failures(server_gpus)
    if "leaf" not in failures.kinds():
        return None
    return _gbps(failures.bandwidth_left("leaf", 1))


def _worst_between_leaves(design: ClosDesign, gpus: int) -> int | float | None:
    """Gb/s per GPU in the worst permutation; None where that is not known."""
    worst = design.figures(gpus).permutation
    return None if worst is None else _gbps(worst)


def _gbps(rate_mbps: Fraction) -> int | float:
    return plain_fraction(rate_mbps / MBPS_PER_GBPS, 1)


def last_group_words(structure: AnyStructure) -> str:
    """What the last leaf group has of its own, and what the loss of a leaf of it takes, in words."""
    last = structure.last_group if isinstance(structure, Structure) else None
    if last is None:
        return ""
    ports = last.ports_per_server_per_leaf
    lost = ", lost with it" if last.leaves == 1 else f", each with {ports} of a server's ports" if ports > 1 else ""
    return f"; the last {some(last.servers, 'server')} on {some(last.leaves, 'leaf')}{lost}"
