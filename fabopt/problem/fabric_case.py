"""Resolution of a fabric of a case: its demand computed, its products looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from fabopt.floor.rack_rules import servers_in_group
from fabopt.parts.latency import latency_limit
from fabopt.parts.nic_offers import of_all_vendors
from fabopt.parts.nics import NicOption, Refusals, nic_options
from fabopt.parts.offering import Offering
from fabopt.parts.switches import switches_of
from fabopt.problem.attachments import attachment_demand, logical_fabric_of, subnet_managers, switch_ports
from fabopt.problem.default_rules import DefaultRules
from fabopt.problem.demand import (
    Demand,
    case_service,
    case_workload,
    computing,
    demand_of,
    longest_step_s,
    mix_of,
    most_open_ratio,
    needs_beside,
    stages_of,
)
from fabopt.problem.fabric import FabricProblem, FigureDemands, Survival
from fabopt.problem.generations import Switches, generations_of
from fabopt.problem.in_service import with_those_in_service
from fabopt.problem.interchangeable import interchangeable_switches
from fabopt.problem.link_runs import LinkRuns
from fabopt.problem.nic_rules import OtherNics, by_rules, rules_on_nics
from fabopt.problem.on_floor import OnFloor
from fabopt.problem.pairing import Unpaired, in_pairs, is_empty, pairs_of
from fabopt.problem.shapes import EQUAL_GROUPS, NODES, LastGroups, LeafGroups, Shapes
from fabopt.problem.site import Site
from fabopt.rules.defaults import NO_RULES, PAIRING
from fabopt.schema.case import Case, Fabric, Oversubscription
from fabopt.schema.last_group import last_group_may_differ, last_leaf_may_differ, tiers_of_last_groups
from fabopt.schema.prediction import WorkloadNeeds
from fabopt.schema.product import PROTOCOLS, Protocol
from fabopt.schema.resilience import NO_RULE, RACK, rules_of_fabric
from fabopt.schema.server import Server
from fabopt.schema.topologies import can_be_asked, families_of
from fabopt.units import exact, gbps, mbps
from fabopt.workload.deadline import Deadline
from fabopt.workload.jobs import needed_mbps
from fabopt.workload.needs import Reach, demanding
from fabopt.workload.pace import Pace, pace_of_run
from fabopt.workload.served import FIGURES, figure_gbps, least_of, needs_of, service_needs


def fabric_of(
    fabric: Fabric,
    case: Case,
    offering: Offering,
    server: Server,
    servers: int,
    pcie: Mapping[int, float],
    site: Site,
) -> FabricProblem:
    """The resolved fabric of a case. ``servers``: at the last stage; ``pcie``: usable Gb/s by generation."""
    kept_rules = rules_of_fabric(case.rules, fabric.resilience, fabric.asked_of(servers * server.gpus))
    demand = demand_of(fabric, case, stages_of(case, server)[-1])
    protocols = PROTOCOLS if fabric.protocol == "any" else (fabric.protocol,)
    refusals = Refusals(rules_on_nics(case.rules))
    pairs = pairs_of(fabric, case, kept_rules)
    homed = fabric.model_copy(update={"homing": "pair"}) if pairs.are_wanted else fabric
    able = _nics(homed, protocols, demand, offering, server, pcie, refusals)
    nics = by_rules(able if _may_be_rails(fabric, case) else _in_numbers(able), case.rules)
    switches: Switches = {one: switches_of(with_those_in_service(fabric, case), one, offering) for one in protocols}
    managers = subnet_managers(case, fabric, offering)
    # Rule ``tiers_match_case``: nothing but the families, tiers, protocols, rails and striping that the case allows
    problem = FabricProblem(
        name=fabric.name, role=fabric.role, protocols=protocols, shapes=_shapes(fabric, case),
        figure_demands=_figure_demands(demand), resilience=tuple(_survivals(fabric, servers, site)),
        rules=DefaultRules(kept_rules, (), managers, generations_of(case, fabric, switches)),
        leaf_groups=_leaf_groups(fabric, case, server, servers, last_groups_of(fabric, case, protocols)),
        gpu_mbps=demand.gpu_mbps,
        ratios=demand.ratios, reserve=exact(fabric.reserve_ports),
        attachments=tuple(attachment_demand(attachment, offering.ports) for attachment in fabric.attachments),
        nics=nics.kept, other_nics=OtherNics(nics.left_out, tuple(refusals.told.values())),
        switches=switches,
        roce=fabric.roce, leaf_pairs=pairs,
        runs=LinkRuns(site.runs_m(offering.item_table.lengths_m, fabric), site.groups),
        on_floor=OnFloor(pins=fabric.pinned),
        interchangeable=interchangeable_switches(case, fabric, switches, offering),
        per_switch=switch_ports(fabric, offering, server),
        logical_fabrics=tuple(logical_fabric_of(nic, offering, server, pcie, case.rules) for nic in fabric.on_own_nics),
    )  # fmt: skip
    return _with_pairs(problem.within(latency_limit(fabric.max_latency_us, offering.links.limits.delays)))


def _may_be_rails(fabric: Fabric, case: Case) -> bool:
    """Whether planes may be rails; where they are open the bare space has numbers of planes only."""
    return fabric.planes != "any" or case.rules != NO_RULES


def _in_numbers(nics: dict[str, tuple[NicOption, ...]]) -> dict[str, tuple[NicOption, ...]]:
    return {protocol: tuple(one for one in of if not one.own_rails) for protocol, of in nics.items()}


def _with_pairs(fabric: FabricProblem) -> FabricProblem:
    """The fabric in the space that its rules allow; without that of pairing where no switch can be in a pair, unless
    the case asks for it.
    """
    space = in_pairs(Unpaired(fabric.shapes.topologies, fabric.switches), None)
    if PAIRING in fabric.rules.kept and not fabric.leaf_pairs.asked and is_empty(space):
        others = tuple(rule for rule in fabric.rules.kept if rule != PAIRING)
        fabric = fabric.keeping(others, (PAIRING,))
    return fabric.with_pairs()


def last_groups_of(fabric: Fabric, case: Case, protocols: Sequence[Protocol]) -> LastGroups:
    """Whether a case lets the last leaf group be unlike the others. Rule ``last_group_may_differ``."""
    if not last_group_may_differ(case, fabric):
        return EQUAL_GROUPS
    kind: Literal["any", "spread"] = "any" if case.resilience_of(fabric) == NO_RULE else "spread"
    own_leaf = tuple(protocol for protocol in protocols if last_leaf_may_differ(case, fabric, protocol))
    return LastGroups(kind, tiers_of_last_groups(case), own_leaf)


def _leaf_groups(fabric: Fabric, case: Case, server: Server, servers: int, last: LastGroups) -> LeafGroups:
    per_group = servers_in_group(fabric, case, server)
    given = None if per_group is None else min(per_group, servers)
    return LeafGroups(given, fabric.rails == "aligned", fabric.striping, last)


def _survivals(fabric: Fabric, servers: int, site: Site) -> Iterator[Survival]:
    for loss in fabric.survived:
        failed, count = loss.failures
        outlived = failed == RACK and site.servers_per_rack is not None and servers > site.servers_per_rack
        yield Survival(failed, count, mbps(loss.least_gbps), outlived)


def _nics(
    fabric: Fabric,
    protocols: Sequence[Protocol],
    demand: Demand,
    offering: Offering,
    server: Server,
    pcie: Mapping[int, float],
    refusals: Refusals,
) -> dict[str, tuple[NicOption, ...]]:
    """The NICs that meet the demand per GPU, by protocol; ``refusals`` collects why other NICs do not."""
    return {
        protocol: tuple(
            one
            for one in of_all_vendors(
                nic_options(fabric, protocol, offering, server, pcie, demand.gpu_mbps, refusals), offering
            )
            if one.injection >= demand.least_injection and one.crosses_any_cut >= demand.bisection_mbps
        )
        for protocol in protocols
    }


def _shapes(fabric: Fabric, case: Case) -> Shapes:
    """The networks that the case allows: in a Clos a path over t tiers has up to 2t - 1 switches."""
    tiers = fabric.tiers
    allowed = (1, 2, 3) if tiers == "any" else (tiers,) if isinstance(tiers, int) else tuple(sorted(set(tiers)))
    most = fabric.max_switch_hops
    low = allowed if most is None else tuple(tiers for tiers in allowed if 2 * tiers - 1 <= most)
    nodes = NODES if fabric.torus_nodes == "any" else (fabric.torus_nodes,)
    return Shapes(families_of(case, fabric), low, most, nodes)


def _figure_demands(demand: Demand) -> FigureDemands | None:
    """The figures that a case asks for; None where it asks for none."""
    if not any((demand.bisection_mbps, demand.alltoall_mbps, demand.allreduce_mbps)):
        return None
    return FigureDemands(
        demand.ratios.leaf,
        bisection=Fraction(demand.bisection_mbps),
        alltoall=Fraction(demand.alltoall_mbps),
        allreduce=Fraction(demand.allreduce_mbps),
    )


# -- the needs of a model of the compute fabric, filled in where the case leaves them out -----------------------------
# The needed bandwidth is one number. The tolerated oversubscription depends on the bandwidth of the NICs: it is
# computed for the least injection of NICs on sale, so that every faster NIC does at least as well.


def with_needs(
    case: Case, offering: Offering, server: Server, pcie: Mapping[int, float]
) -> tuple[Case, WorkloadNeeds | None]:
    """The case with its model's needs of the compute fabric, and these needs; the same case and None without a model.

    Rules ``workload_needs_are_met`` and ``service_needs_are_met``.
    """
    fabric, workload = computing(case), case_workload(case, server)
    service = case_service(case, server)
    if fabric is None or case.workload is None or (workload is None and service is None):
        return case, None
    reach = _reach(fabric, case, offering, server)
    figures = [name for name in FIGURES if can_be_asked(case, fabric, **{name: 1.0})]
    if service is not None:
        enough = least_of(service, reach)
        asked = mbps(fabric.min_gbps_per_gpu) if fabric.min_gbps_per_gpu is not None else max(1, enough)
        offered = _least_offered(fabric, offering, server, pcie, asked)
        needs = service_needs(service, fabric, reach, enough, offered, figures)
        return _filled(case, fabric, asked, needs), needs
    assert workload is not None
    limit = exact(case.workload.max_exposed_communication)
    least = max([needed_mbps(workload, limit, reach), *needs_beside(case, server)])
    workload, most_open = demanding(workload), most_open_ratio(case, workload)
    asked = max(1, least)
    if fabric.min_gbps_per_gpu is not None:
        asked = mbps(fabric.min_gbps_per_gpu)
    offered = _least_offered(fabric, offering, server, pcie, asked)
    needs = needs_of(workload, fabric, limit, reach, least, offered, figures, most_open)
    return _filled(case, fabric, asked, needs), needs


def timed(
    fabrics: tuple[FabricProblem, ...], case: Case, needs: WorkloadNeeds | None, pace: Pace | None
) -> tuple[FabricProblem, ...]:
    """The fabrics, with a deadline (seconds per step) on the computing one where designs are timed."""
    deadline = None if pace is None or needs is None else _deadline(case, needs, pace)
    if deadline is None or needs is None:
        return fabrics
    return tuple(
        replace(fabric, figure_demands=replace(fabric.demanded, deadline=deadline))
        if fabric.name == needs.fabric
        else fabric
        for fabric in fabrics
    )


def _deadline(case: Case, needs: WorkloadNeeds, pace: Pace) -> Deadline | None:
    """What a design of the case is timed by; None where its demands are enough."""
    mixed = mix_of(case, needs, pace.workload)
    if mixed is not None:
        return Deadline(mixed, Fraction(1))
    most_s = longest_step_s(case, needs, pace)
    return None if most_s is None else Deadline(pace_of_run(demanding(pace.workload)), most_s)


def _filled(case: Case, fabric: Fabric, asked_mbps: int, needs: WorkloadNeeds) -> Case:
    ratios = needs.max_oversubscription
    changed = fabric.model_copy(
        update={
            "min_gbps_per_gpu": gbps(asked_mbps),
            "max_oversubscription": Oversubscription(
                leaf=ratios["leaf"], spine=ratios["spine"], hall=fabric.hall_ratio
            ),
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
