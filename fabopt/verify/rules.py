"""The rules by subject, and those that hold for a fabric of each family.

Each rule is a function whose name is the check's name, the constraint's name in the integer program and the line's name
in docs/formulation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fabopt.rules import demands
from fabopt.verify import (
    airflow,
    appliances,
    bandwidth,
    cables,
    channels,
    charges,
    choices,
    claims,
    direct,
    direct_wiring,
    ducts,
    editions,
    failures,
    fit,
    floor,
    free_ports,
    futures,
    generations,
    graph,
    graph_failures,
    growth,
    hall_traffic,
    halls,
    homing,
    in_service,
    interchangeable,
    jobs,
    joins,
    labour,
    last_group,
    left_out,
    links,
    mixed_spines,
    nic_rules,
    orders,
    out_of_band,
    own_latency,
    paths,
    payments,
    pools,
    ports,
    purchases,
    rack_losses,
    racks,
    rails,
    recount,
    redundancy,
    separation,
    server_torus,
    servers,
    single_points,
    sourcing,
    structure,
    structured,
    subnet_manager,
    totals,
    trays,
    trunk_spread,
    workload,
)
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.proof import Proof
from fabopt.verify.separation import LogicalEvidence
from fabopt.verify.wiring import CabledDesign, FabricCabling

FabricRule = Callable[[Proof, FabricEvidence], None]
WiringRule = Callable[[Proof, FabricCabling], None]
FloorRule = Callable[[Proof, CabledDesign], None]
DesignRule = Callable[[Proof, Evidence], None]


def _named(check: str) -> FabricRule:
    """The rule that proves a demand of the case on a fabric."""
    rule: FabricRule = next(
        getattr(module, check) for module in (bandwidth, structure, links) if hasattr(module, check)
    )
    return rule


# What a file says it is without, and of its racks.
LEFT_OUT_RULES: tuple[DesignRule, ...] = (left_out.left_out_rules_are_broken,)
FILE_RULES: tuple[DesignRule, ...] = (
    choices.content_matches_hash,
    totals.status_is_honest,
    editions.rules_are_named,
    claims.case_is_resolved,
)
DESIGN_RULES: tuple[DesignRule, ...] = (
    choices.parts_are_known,
    claims.facts_match_hash,
    claims.prices_match_hash,
    choices.one_candidate_per_fabric,
    choices.nics_fit_slots,
    out_of_band.oob_covers_boxes,
    separation.isolation_is_kept,
    separation.shared_ports_are_told,
    servers.server_is_of_the_list,
    structured.polarity_crosses,
    structured.ends_mate,
)
# of the NICs that a logical fabric has on the switches of another
LOGICAL_RULES: tuple[Callable[[Proof, LogicalEvidence], None], ...] = (
    separation.logical_cards_are_allowed,
    choices.protocols_agree,
    choices.ports_fit_nics,
    choices.injection_meets_demand,
    nic_rules.nics_are_tested,
    nic_rules.slots_carry_ports,
    nic_rules.one_port_serves_gpu,
    nic_rules.nics_pair_with_gpus,
)
FABRIC_RULES: tuple[FabricRule, ...] = tuple(
    dict.fromkeys(
        (
            choices.tiers_match_case,
            choices.products_are_offered,
            choices.protocols_agree,
            choices.ports_fit_nics,
            choices.planes_are_disjoint,
            choices.injection_meets_demand,
            structure.groups_cover_servers,
            structure.rails_are_aligned,
            links.attachments_are_placed,
            structure.reserve_is_kept,
            structure.pods_cover_groups,
            structure.striping_is_even,
            structure.spines_serve_pods,
            structure.cores_join_pods,
            structure.switch_counts_close,
            structure.speeds_agree,
            bandwidth.uplinks_carry_demand,
            links.links_close,
            fit.assemblies_are_complete,
            fit.parts_are_offered,
            fit.parts_fit_cages,
            fit.optics_speak_alike,
            fit.cables_fit_reach,
            channels.channels_fit_budgets,
            bandwidth.metrics_are_recomputed,
            bandwidth.figures_meet_demand,
            failures.failures_leave_bandwidth,
            rails.scale_up_carries_rails,
            homing.homing_is_kept,
            homing.leaves_split_pairs,
            homing.pairs_are_joined,
            free_ports.attachments_take_free_ports,
            redundancy.redundancy_is_kept,
            nic_rules.nics_are_tested,
            nic_rules.slots_carry_ports,
            nic_rules.one_port_serves_gpu,
            nic_rules.nics_pair_with_gpus,
            generations.generations_agree,
            airflow.airflows_agree,
            links.pairs_are_qualified,
            pools.pools_hold_headroom,
            links.runs_follow_from_groups,
            subnet_manager.subnets_are_managed,
            last_group.last_group_may_differ,
            interchangeable.switches_are_interchangeable,
            interchangeable.nics_are_of_one_product,
            mixed_spines.spines_may_differ,
            *(_named(demand.check) for demand in demands.FABRIC_DEMANDS),
        )
    )
)
WIRING_RULES: tuple[WiringRule, ...] = (
    structure.ports_fit_radix,
    links.cages_close,
    links.bundles_join_boxes,
    links.parts_cover_links,
    fit.cage_groups_come_first,
    ports.boxes_are_listed,
    ports.boxes_are_numbered,
    ports.links_join_tiers,
    ports.ports_are_used_once,
    ports.cages_keep_one_use,
    ports.ends_run_at_one_speed,
    ports.endpoints_are_cabled,
    ports.planes_stay_apart,
    paths.rails_reach_leaves,
    paths.rails_use_same_ports,
    paths.leaves_reach_spines,
    paths.spines_reach_cores,
    paths.planes_are_connected,
    paths.bisection_carries_claim,
    graph.figures_hold_on_graph,
    cables.wires_are_listed,
    cables.wires_fit_cages,
    cables.wires_join_cages,
    links.shuffles_cross_lanes,
    cables.wires_cover_runs,
    cables.modules_fill_cages,
    cables.schedule_matches_bill,
    growth.stages_are_fabrics,
    growth.stages_only_add,
    growth.stage_counts_close,
    rails.rails_never_meet,
    homing.homing_is_cabled,
    homing.ports_reach_two_leaves,
    homing.pairs_are_cabled,
    redundancy.redundancy_is_cabled,
    subnet_manager.subnets_are_cabled,
    rack_losses.racks_leave_bandwidth,
)
# What takes the place of a rule of the Clos where switches are joined to each other.
DIRECT: Mapping[FabricRule, tuple[FabricRule, ...]] = {
    structure.pods_cover_groups: (direct.switches_form_network,),
    structure.striping_is_even: (),
    structure.spines_serve_pods: (),
    structure.cores_join_pods: (),
    structure.switch_counts_close: (),
    bandwidth.uplinks_carry_demand: (direct.flow_carries_demand,),
    bandwidth.metrics_are_recomputed: (direct.figures_are_recomputed,),
    failures.failures_leave_bandwidth: (),
}
DIRECT_WIRING: Mapping[WiringRule, tuple[WiringRule, ...]] = {
    ports.boxes_are_numbered: (direct_wiring.switches_are_numbered,),
    ports.cages_keep_one_use: (ports.cages_keep_one_use, direct_wiring.cages_keep_one_kind),
    paths.leaves_reach_spines: (direct_wiring.switches_are_joined,),
    paths.spines_reach_cores: (),
    paths.bisection_carries_claim: (
        paths.bisection_carries_claim,
        direct_wiring.cuts_carry_claim,
        direct_wiring.paths_are_as_long,
        graph_failures.failures_leave_flow,
    ),
}
SWITCHLESS: Mapping[FabricRule, tuple[FabricRule, ...]] = {
    structure.rails_are_aligned: (server_torus.cards_pass_on,),
    links.attachments_are_placed: (),
    structure.reserve_is_kept: (),
    structure.pods_cover_groups: (server_torus.servers_form_torus,),
    failures.failures_leave_bandwidth: (),
}
SWITCHLESS_WIRING: Mapping[WiringRule, tuple[WiringRule, ...]] = {
    structure.ports_fit_radix: (),
    links.bundles_join_boxes: (server_torus.wires_join_neighbours,),
    ports.boxes_are_numbered: (),
    ports.endpoints_are_cabled: (server_torus.server_ports_are_joined,),
    ports.planes_stay_apart: (),
    paths.rails_reach_leaves: (),
    paths.rails_use_same_ports: (),
    paths.planes_are_connected: (),
    paths.bisection_carries_claim: (
        server_torus.halves_carry_claim,
        direct_wiring.cuts_carry_claim,
        direct_wiring.paths_are_as_long,
        graph_failures.failures_leave_flow,
    ),
}
# Of the wiring of all fabrics together.
CABLED_RULES: tuple[FloorRule, ...] = (
    single_points.single_points_are_listed,
    in_service.base_stays,
    joins.pod_joins_spines,
)
# Rules of a file's statements about all fabrics; on the wiring, where it is listed.
STATEMENT_RULES: tuple[FloorRule, ...] = (recount.statements_are_true,)
FLOOR_RULES: tuple[FloorRule, ...] = (
    floor.servers_fill_racks,
    floor.boxes_fit_racks,
    racks.racks_keep_rules,
    racks.devices_are_spread,
    left_out.left_out_spread_is_broken,
    racks.named_racks_are_kept,
    rack_losses.feeds_carry_racks,
    floor.loads_fit_racks,
    airflow.racks_blow_one_way,
    halls.routes_join_halls,
    halls.routes_hold_fibres,
    ducts.ducts_share_links,
    halls.fabrics_keep_halls,
    halls.halls_carry_demand,
    hall_traffic.hall_traffic_is_counted,
    appliances.attachments_stand_apart,
    appliances.hosts_stand_with_switches,
    appliances.appliances_stand_with_switches,
    trays.trays_hold_cables,
    trays.managers_hold_cables,
    structured.trunks_hold_legs,
    trunk_spread.trunks_spread_leaves,
    trunk_spread.panels_spread_leaves,
    structured.panels_hold_trunks,
    structured.panels_fit_racks,
)
MONEY_RULES: tuple[DesignRule, ...] = (
    purchases.bom_covers_parts,
    orders.purchases_cover_use,
    orders.orders_are_whole,
    orders.supply_lasts,
    orders.orders_arrive_in_time,
    orders.spares_are_kept,
    orders.part_numbers_are_few,
    orders.lengths_are_few,
    orders.parts_are_approved,
    purchases.prices_are_applied,
    purchases.bom_names_products,
    airflow.airflow_follows_servers,
    purchases.power_adds_up,
    totals.totals_add_up,
    totals.energy_is_paid,
    totals.stages_add_up,
    totals.limits_hold,
    totals.objective_matches_totals,
    claims.nothing_is_left_out,
    claims.alternatives_add_up,
    sourcing.vendors_are_kept,
    sourcing.quarterly_supply_lasts,
    charges.charges_are_counted,
    labour.labour_is_counted,
    payments.payments_keep_budgets,
    futures.futures_are_recounted,
)
WORKLOAD_RULES: tuple[DesignRule, ...] = (
    workload.workload_needs_are_met,
    workload.workload_is_recomputed,
    workload.robust_choice_is_recounted,
    jobs.jobs_are_recounted,
    jobs.service_needs_are_met,
    jobs.service_is_recounted,
    own_latency.own_latency_is_recounted,
)


def fabric_rules(fabric: FabricEvidence) -> Iterator[FabricRule]:
    """The rules of a fabric's numbers: those of a Clos, or the family's in their place."""
    instead = {**(DIRECT if fabric.is_direct else {}), **({} if fabric.has_switches else SWITCHLESS)}
    return (proven for rule in FABRIC_RULES for proven in instead.get(rule, (rule,)))


def wiring_rules(fabric: FabricEvidence) -> Iterator[WiringRule]:
    """The rules of a fabric's wiring: those of a Clos, or the family's in their place."""
    instead = {**(DIRECT_WIRING if fabric.is_direct else {}), **({} if fabric.has_switches else SWITCHLESS_WIRING)}
    return (proven for rule in WIRING_RULES for proven in instead.get(rule, (rule,)))
