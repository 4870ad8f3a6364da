"""Assemblies of each kind of link of a Clos. Run lengths enter here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fabopt.parts.assemblies import Assembly, Mode, whole_only
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem


def run_of(fabric: FabricProblem, kind: str) -> float:
    """Run in metres of a kind of links: ``server-leaf``, ``attachment-leaf``, ``leaf-spine``, ..."""
    return fabric.runs.m[kind]


def runs_differ(problem: Problem, fabric: FabricProblem, kind: str) -> bool:
    """Whether the run of a kind is the least that its links can have: on a floor, and where sizes of any run are
    searched.

    Runs of attachments are such where they are measured, until their switches are in racks.
    """
    if kind.startswith("attachment-"):
        return problem.site.measures_attachments and not fabric.on_floor.attachments_measured
    pods_differ = kind == "leaf-spine" and fabric.runs.span is not None and not fabric.runs.span.alike
    return fabric.runs.are_open or pods_differ or not problem.site.runs_are_alike


def joins_of(
    problem: Problem,
    fabric: FabricProblem,
    kind: str,
    near: PortType,
    far: PortType,
    protocol: str,
    all_: bool = False,
) -> tuple[Assembly, ...]:
    """Assemblies of a kind of link over its run; ``all_``: with dominated ones.

    Where runs differ that of a fabric is the least that a link can have, so longer assemblies count too; attachments
    have theirs.
    """
    longer = runs_differ(problem, fabric, kind)
    return problem.links.assemblies(near, far, run_of(fabric, kind), protocol, all_, longer)


def common(joins: Sequence[Sequence[Assembly]]) -> tuple[Assembly, ...]:
    """Assemblies that are in every one of ``joins``, in the order of the first."""
    first, *others = joins
    return tuple(assembly for assembly in first if all(assembly in other for other in others))


def server_joins(
    problem: Problem, fabric: FabricProblem, nic: NicOption, down: PortType, k: int, protocol: str, all_: bool = False
) -> tuple[Assembly, ...]:
    """Assemblies between servers and leaves that suit ``k`` ports on one leaf."""
    return server_assemblies(joins_of(problem, fabric, "server-leaf", nic.port, down, protocol, all_), nic, k)


def attachment_joins(
    problem: Problem,
    fabric: FabricProblem,
    demand: AttachmentDemand,
    port: PortType,
    protocol: str,
    tier: str = "leaf",
) -> tuple[Assembly, ...]:
    """Assemblies between an attachment (near) and a leaf or spine (far), reduced to the parts that the case buys.

    Rule ``assemblies_are_complete``: all that a link needs and the case buys.
    """
    run_m = demand.run_m(fabric.runs.m, tier)
    if demand.port is None:
        alone = problem.links.near_only(port, run_m, protocol)
        return tuple(join._replace(near=None, far=join.near) for join in alone)
    longer = runs_differ(problem, fabric, demand.run_to(tier))
    every = problem.links.assemblies(demand.port, port, run_m, protocol, True, longer)
    joins = tuple(join for join in every if join.mode is not Mode.CROSS)
    if demand.buys == "both":
        return joins
    return tuple(join._replace(near=None) for join in joins)


def attaches(
    problem: Problem,
    fabric: FabricProblem,
    demand: AttachmentDemand,
    hosts: Mapping[str, Iterable[PortType]],
    protocol: str,
) -> bool:
    """Whether an attachment that buys parts is joined by some to one of ``hosts``: cages of tiers, by tier."""
    return demand.buys == "none" or any(
        attachment_joins(problem, fabric, demand, port, protocol, tier)
        for tier, ports in hosts.items()
        if demand.takes(tier)
        for port in ports
    )


def server_assemblies(joins: Sequence[Assembly], nic: NicOption, k: int) -> tuple[Assembly, ...]:
    """The assemblies that suit ``k`` ports on one leaf: a splitter's single connector needs ports that all go there."""
    if not any(whole_only(join).mode is Mode.WHOLE for join in joins):
        return tuple(joins)
    together = nic.bundle(k)
    whole = (whole_only(join) for join in joins)
    return tuple(join for join in whole if join.mode is not Mode.WHOLE or together % join.ports_per_cable == 0)


def fewest_together(
    problem: Problem, fabric: FabricProblem, kind: str, near: PortType, far: PortType, protocol: str
) -> int:
    """Fewest ports of a device that one peer takes: all of a cable's, where cables join pairs of devices only.

    0 if no assembly joins them over the run, or (where runs differ) over any longer one.
    """
    return problem.links.fewest_together(near, far, run_of(fabric, kind), protocol)
