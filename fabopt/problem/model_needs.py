"""The needs of a model of the compute fabric, filled in where the case leaves them out.

The needed bandwidth is one number. The tolerated oversubscription depends on the bandwidth of the NICs: it is computed
for the least injection of NICs on sale, so that every faster NIC does at least as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from fabopt.floor.rack_rules import servers_in_group
from fabopt.parts.nics import Refusals, nic_options
from fabopt.parts.offering import Offering
from fabopt.parts.switches import switches_of
from fabopt.problem.demand import case_workload, computing, longest_step_s, stages_of
from fabopt.problem.fabric import FabricProblem, FigureDemands
from fabopt.schema.case import Case, Fabric, Oversubscription
from fabopt.schema.prediction import WorkloadNeeds
from fabopt.schema.product import PROTOCOLS, Protocol
from fabopt.schema.server import Server
from fabopt.schema.topologies import can_be_asked
from fabopt.units import exact, gbps, mbps
from fabopt.workload.allowance import FIGURES, figure_gbps, needs_of
from fabopt.workload.deadline import Deadline, Pace, pace_of_run
from fabopt.workload.needs import MOST_MBPS, Reach, least_mbps


def with_needs(
    case: Case, offering: Offering, server: Server, pcie: Mapping[int, float]
) -> tuple[Case, WorkloadNeeds | None]:
    """The case with its model's needs of the compute fabric, and these needs; the same case and None without a model.

    Rule ``workload_needs_are_met``.
    """
    fabric, workload = computing(case), case_workload(case, server)
    if fabric is None or workload is None or case.workload is None:
        return case, None
    reach = _reach(fabric, case, offering, server)
    limit = exact(case.workload.max_exposed_communication)
    least = least_mbps(workload, limit, reach)
    asked = max(1, MOST_MBPS if least is None else least)
    if fabric.min_gbps_per_gpu is not None:
        asked = mbps(fabric.min_gbps_per_gpu)
    offered = _least_offered(fabric, offering, server, pcie, asked)
    figures = [name for name in FIGURES if can_be_asked(case, fabric, **{name: 1.0})]
    needs = needs_of(workload, fabric, limit, reach, MOST_MBPS if least is None else least, offered, figures)
    return _filled(case, fabric, asked, needs), needs


def timed(
    fabrics: tuple[FabricProblem, ...], case: Case, needs: WorkloadNeeds | None, pace: Pace | None
) -> tuple[FabricProblem, ...]:
    """The fabrics, with a deadline (seconds per step) on the computing one where designs are timed."""
    most_s = longest_step_s(case, needs, pace)
    if most_s is None or pace is None or needs is None:
        return fabrics
    deadline = Deadline(pace_of_run(pace.workload), most_s)
    return tuple(
        replace(fabric, figure_demands=replace(_demands(fabric), deadline=deadline))
        if fabric.name == needs.fabric
        else fabric
        for fabric in fabrics
    )


def _demands(fabric: FabricProblem) -> FigureDemands:
    return fabric.figure_demands or FigureDemands(fabric.oversubscription_leaf)


def _filled(case: Case, fabric: Fabric, asked_mbps: int, needs: WorkloadNeeds) -> Case:
    ratios = needs.max_oversubscription
    changed = fabric.model_copy(
        update={
            "min_gbps_per_gpu": gbps(asked_mbps),
            "max_oversubscription": Oversubscription(leaf=ratios["leaf"], spine=ratios["spine"]),
            **{name: figure_gbps(needs) for name in FIGURES if name in needs.sets},
        }
    )
    return case.model_copy(
        update={"fabrics": tuple(changed if one.name == fabric.name else one for one in case.fabrics)}
    )


def _reach(fabric: Fabric, case: Case, offering: Offering, server: Server) -> Reach:
    """Facts of every design: GPUs that surely share their leaves, and whether every switch reduces."""
    servers = servers_in_group(fabric, case, server)
    last = stages_of(case, server)[-1].servers or 1
    switches = [
        kind.product
        for protocol in _protocols(fabric)
        for kinds in switches_of(fabric, protocol, offering).values()
        for kind in kinds
    ]
    reduces = bool(switches) and all(switch.reduces for switch in switches)
    return Reach(min(servers or 1, last) * server.gpus, reduces)


def _protocols(fabric: Fabric) -> tuple[Protocol, ...]:
    return PROTOCOLS if fabric.protocol == "any" else (fabric.protocol,)


def _least_offered(
    fabric: Fabric, offering: Offering, server: Server, pcie: Mapping[int, float], asked: int
) -> Fraction:
    """The least injection, in whole Mb/s, of a NIC of the fabric that meets ``asked``; ``asked`` if there is none."""
    offers = [
        option.injection
        for protocol in _protocols(fabric)
        for option in nic_options(fabric, protocol, offering, server, pcie, asked, Refusals())
    ]
    return Fraction(int(min(offers, default=Fraction(asked))))
