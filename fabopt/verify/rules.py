"""The rules by what they are about, and which of them hold for a fabric of each family.

Each rule is a function whose name is the check's name, the constraint's name in the integer program and the line's name
in docs/formulation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fabopt.verify.airflow import airflows_agree, wants_airflow
from fabopt.verify.appliances import attachments_stand_apart
from fabopt.verify.bandwidth import figures_meet_demand, metrics_are_recomputed, uplinks_carry_demand
from fabopt.verify.cables import (
    modules_fill_cages,
    schedule_matches_bill,
    wires_are_listed,
    wires_cover_runs,
    wires_fit_cages,
    wires_join_cages,
)
from fabopt.verify.charges import charges_are_counted
from fabopt.verify.choices import (
    content_matches_hash,
    injection_meets_demand,
    nics_fit_slots,
    one_candidate_per_fabric,
    parts_are_known,
    planes_are_disjoint,
    ports_fit_nics,
    products_are_offered,
    protocols_agree,
    tiers_match_case,
)
from fabopt.verify.claims import (
    alternatives_add_up,
    case_is_resolved,
    facts_match_hash,
    nothing_is_left_out,
    prices_match_hash,
)
from fabopt.verify.direct import figures_are_recomputed, flow_carries_demand, switches_form_network
from fabopt.verify.direct_wiring import (
    cages_keep_one_kind,
    cuts_carry_claim,
    paths_are_as_long,
    switches_are_joined,
    switches_are_numbered,
)
from fabopt.verify.dual_homing import leaves_split_pairs, ports_reach_two_leaves
from fabopt.verify.editions import rules_are_named
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.failures import failures_leave_bandwidth
from fabopt.verify.fit import (
    assemblies_are_complete,
    cables_fit_reach,
    cage_groups_come_first,
    optics_speak_alike,
    parts_are_offered,
    parts_fit_cages,
)
from fabopt.verify.floor import boxes_fit_racks, servers_fill_racks
from fabopt.verify.free_ports import attachments_take_free_ports, takes_free_ports
from fabopt.verify.futures import futures_are_recounted
from fabopt.verify.generations import generations_agree, judges_generations
from fabopt.verify.graph import figures_hold_on_graph
from fabopt.verify.graph_failures import failures_leave_flow
from fabopt.verify.growth import stage_counts_close, stages_are_fabrics, stages_only_add
from fabopt.verify.homing import homing_is_cabled, homing_is_kept, judges_homing
from fabopt.verify.interchangeable import has_stand_ins, switches_are_interchangeable
from fabopt.verify.last_group import has_odd_group, last_group_may_differ
from fabopt.verify.left_out import left_out_rules_are_broken, left_out_spread_is_broken
from fabopt.verify.lengths import follows_from_groups, runs_follow_from_groups
from fabopt.verify.links import attachments_are_placed, bundles_join_boxes, cages_close, links_close, parts_cover_links
from fabopt.verify.mixed_spines import has_mixed_spines, spines_may_differ
from fabopt.verify.nic_rules import (
    judges_nics,
    nics_are_tested,
    nics_pair_with_gpus,
    one_port_serves_gpu,
    slots_carry_ports,
)
from fabopt.verify.orders import (
    orders_are_whole,
    orders_arrive_in_time,
    part_numbers_are_few,
    parts_are_approved,
    purchases_cover_use,
    spares_are_kept,
    supply_lasts,
)
from fabopt.verify.out_of_band import oob_covers_boxes
from fabopt.verify.pairing import pairs_are_cabled, pairs_are_joined
from fabopt.verify.paths import (
    bisection_carries_claim,
    leaves_reach_spines,
    planes_are_connected,
    rails_reach_leaves,
    rails_use_same_ports,
    spines_reach_cores,
)
from fabopt.verify.payments import payments_keep_budgets
from fabopt.verify.pools import pools_hold_headroom, weighs_pools
from fabopt.verify.ports import (
    boxes_are_listed,
    boxes_are_numbered,
    cages_keep_one_use,
    endpoints_are_cabled,
    ends_run_at_one_speed,
    links_join_tiers,
    planes_stay_apart,
    ports_are_used_once,
)
from fabopt.verify.proof import Proof
from fabopt.verify.purchases import bom_covers_parts, bom_names_products, power_adds_up, prices_are_applied
from fabopt.verify.qualified import pairs_are_qualified
from fabopt.verify.rack_losses import feeds_carry_racks, names_racks, racks_leave_bandwidth
from fabopt.verify.racks import devices_are_spread, named_racks_are_kept, racks_keep_rules
from fabopt.verify.rails import has_own_rails, rails_never_meet, scale_up_carries_rails
from fabopt.verify.redundancy import names_redundancy, redundancy_is_cabled, redundancy_is_kept
from fabopt.verify.separation import (
    LogicalEvidence,
    isolation_is_kept,
    logical_cards_are_allowed,
    shared_ports_are_told,
)
from fabopt.verify.server_torus import (
    cards_pass_on,
    halves_carry_claim,
    server_ports_are_joined,
    servers_form_torus,
    wires_join_neighbours,
)
from fabopt.verify.single_points import single_points_are_listed
from fabopt.verify.sourcing import quarterly_supply_lasts, vendors_are_kept
from fabopt.verify.structure import (
    cores_join_pods,
    groups_cover_servers,
    pods_cover_groups,
    ports_fit_radix,
    rails_are_aligned,
    reserve_is_kept,
    speeds_agree,
    spines_serve_pods,
    striping_is_even,
    switch_counts_close,
)
from fabopt.verify.subnet_manager import names_managers, subnets_are_cabled, subnets_are_managed
from fabopt.verify.totals import (
    energy_is_paid,
    limits_hold,
    objective_matches_totals,
    stages_add_up,
    status_is_honest,
    totals_add_up,
)
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.verify.workload import robust_choice_is_recounted, workload_is_recomputed, workload_needs_are_met

FabricRule = Callable[[Proof, FabricEvidence], None]
WiringRule = Callable[[Proof, FabricCabling], None]
FloorRule = Callable[[Proof, CabledDesign], None]
DesignRule = Callable[[Proof, Evidence], None]

# What a file says it is without, and of its racks.
LEFT_OUT_RULES: tuple[DesignRule, ...] = (left_out_rules_are_broken,)
LEFT_OUT_FLOOR_RULES: tuple[FloorRule, ...] = (left_out_spread_is_broken,)
FILE_RULES: tuple[DesignRule, ...] = (
    content_matches_hash, status_is_honest, rules_are_named, case_is_resolved,
)  # fmt: skip
DESIGN_RULES: tuple[DesignRule, ...] = (
    parts_are_known, facts_match_hash, prices_match_hash, one_candidate_per_fabric, nics_fit_slots,
)  # fmt: skip
SEPARATION_RULES: tuple[DesignRule, ...] = (isolation_is_kept, shared_ports_are_told)
# of the NICs that a logical fabric has on the switches of another
LOGICAL_RULES: tuple[Callable[[Proof, LogicalEvidence], None], ...] = (
    logical_cards_are_allowed, protocols_agree, ports_fit_nics, injection_meets_demand,
)  # fmt: skip
MANAGEMENT_RULES: tuple[DesignRule, ...] = (oob_covers_boxes,)
FABRIC_RULES: tuple[FabricRule, ...] = (
    tiers_match_case,
    products_are_offered,
    protocols_agree,
    ports_fit_nics,
    planes_are_disjoint,
    injection_meets_demand,
    groups_cover_servers,
    rails_are_aligned,
    attachments_are_placed,
    reserve_is_kept,
    pods_cover_groups,
    striping_is_even,
    spines_serve_pods,
    cores_join_pods,
    switch_counts_close,
    speeds_agree,
    ports_fit_radix,
    uplinks_carry_demand,
    links_close,
    cages_close,
    assemblies_are_complete,
    parts_are_offered,
    parts_fit_cages,
    optics_speak_alike,
    cables_fit_reach,
    bundles_join_boxes,
    parts_cover_links,
    cage_groups_come_first,
    metrics_are_recomputed,
    figures_meet_demand,
    failures_leave_bandwidth,
)
WIRING_RULES: tuple[WiringRule, ...] = (
    boxes_are_listed,
    boxes_are_numbered,
    links_join_tiers,
    ports_are_used_once,
    cages_keep_one_use,
    ends_run_at_one_speed,
    endpoints_are_cabled,
    planes_stay_apart,
    rails_reach_leaves,
    rails_use_same_ports,
    leaves_reach_spines,
    spines_reach_cores,
    planes_are_connected,
    bisection_carries_claim,
    figures_hold_on_graph,
    wires_are_listed,
    wires_fit_cages,
    wires_join_cages,
    wires_cover_runs,
    modules_fill_cages,
    schedule_matches_bill,
    stages_are_fabrics,
    stages_only_add,
    stage_counts_close,
)
# What takes the place of a rule of the Clos where switches are joined to each other.
DIRECT: Mapping[FabricRule, tuple[FabricRule, ...]] = {
    pods_cover_groups: (switches_form_network,),
    striping_is_even: (),
    spines_serve_pods: (),
    cores_join_pods: (),
    switch_counts_close: (),
    uplinks_carry_demand: (flow_carries_demand,),
    metrics_are_recomputed: (figures_are_recomputed,),
    failures_leave_bandwidth: (),
}
DIRECT_WIRING: Mapping[WiringRule, tuple[WiringRule, ...]] = {
    boxes_are_numbered: (switches_are_numbered,),
    cages_keep_one_use: (cages_keep_one_use, cages_keep_one_kind),
    leaves_reach_spines: (switches_are_joined,),
    spines_reach_cores: (),
    bisection_carries_claim: (bisection_carries_claim, cuts_carry_claim, paths_are_as_long, failures_leave_flow),
}
SWITCHLESS: Mapping[FabricRule, tuple[FabricRule, ...]] = {
    rails_are_aligned: (),
    attachments_are_placed: (),
    reserve_is_kept: (),
    pods_cover_groups: (servers_form_torus,),
    ports_fit_radix: (cards_pass_on,),
    bundles_join_boxes: (wires_join_neighbours,),
    failures_leave_bandwidth: (),
}
SWITCHLESS_WIRING: Mapping[WiringRule, tuple[WiringRule, ...]] = {
    boxes_are_numbered: (),
    endpoints_are_cabled: (server_ports_are_joined,),
    planes_stay_apart: (),
    rails_reach_leaves: (),
    rails_use_same_ports: (),
    planes_are_connected: (),
    bisection_carries_claim: (halves_carry_claim, cuts_carry_claim, paths_are_as_long, failures_leave_flow),
}
# Of fabrics whose rails are networks of their own.
RAIL_RULES: tuple[FabricRule, ...] = (scale_up_carries_rails,)
RAIL_WIRING_RULES: tuple[WiringRule, ...] = (rails_never_meet,)
# Of fabrics whose case or file says how ports of servers lie on leaves, and what joins these.
HOMING_RULES: tuple[FabricRule, ...] = (homing_is_kept, leaves_split_pairs, pairs_are_joined)
HOMING_WIRING_RULES: tuple[WiringRule, ...] = (homing_is_cabled, ports_reach_two_leaves, pairs_are_cabled)
# Of fabrics with attachments on ports that are free.
FREE_PORT_RULES: tuple[FabricRule, ...] = (attachments_take_free_ports,)
# Of fabrics whose case asks for the default rule of resilience, or whose file says that they keep it.
REDUNDANCY_RULES: tuple[FabricRule, ...] = (redundancy_is_kept,)
REDUNDANCY_WIRING_RULES: tuple[WiringRule, ...] = (redundancy_is_cabled,)
# Of fabrics that are to have something left without a rack, or whose file says what is.
RACK_LOSS_WIRING_RULES: tuple[WiringRule, ...] = (racks_leave_bandwidth,)
# Of fabrics whose NICs are chosen, each where the case leaves open what it is about.
NIC_RULES: tuple[FabricRule, ...] = (nics_are_tested, slots_carry_ports, one_port_serves_gpu, nics_pair_with_gpus)
# Of InfiniBand fabrics of several tiers.
GENERATION_RULES: tuple[FabricRule, ...] = (generations_agree,)
# Of fabrics whose switches have to hold headroom.
POOL_RULES: tuple[FabricRule, ...] = (pools_hold_headroom,)
# Of cases that say which parts go with which devices.
PAIR_RULES: tuple[FabricRule, ...] = (pairs_are_qualified,)
# Of cases that say which way air flows.
AIRFLOW_RULES: tuple[FabricRule, ...] = (airflows_agree,)
# Of fabrics whose runs nothing else says.
LENGTH_RULES: tuple[FabricRule, ...] = (runs_follow_from_groups,)
# Of fabrics whose last server group is unlike the others.
LAST_GROUP_RULES: tuple[FabricRule, ...] = (last_group_may_differ,)
# Of fabrics whose spines are of two types.
MIXED_SPINE_RULES: tuple[FabricRule, ...] = (spines_may_differ,)
# Of fabrics in which switches of other products stand in for some of a tier.
STAND_IN_RULES: tuple[FabricRule, ...] = (switches_are_interchangeable,)
# Of fabrics whose switches say whether they run a subnet manager.
MANAGER_RULES: tuple[FabricRule, ...] = (subnets_are_managed,)
MANAGER_WIRING_RULES: tuple[WiringRule, ...] = (subnets_are_cabled,)
# Of the wiring of all fabrics together.
CABLED_RULES: tuple[FloorRule, ...] = (single_points_are_listed,)
FLOOR_RULES: tuple[FloorRule, ...] = (servers_fill_racks, boxes_fit_racks)
RACK_RULES: tuple[FloorRule, ...] = (racks_keep_rules,)
SPREAD_RULES: tuple[FloorRule, ...] = (devices_are_spread,)
# Of floors of which the case names racks for servers or switches.
NAMED_RACK_RULES: tuple[FloorRule, ...] = (named_racks_are_kept,)
# Of floors on which a rack has to do with one of its feeds.
FEED_RULES: tuple[FloorRule, ...] = (feeds_carry_racks,)
# Of floors on which attachments fill racks.
APPLIANCE_RULES: tuple[FloorRule, ...] = (attachments_stand_apart,)
MONEY_RULES: tuple[DesignRule, ...] = (
    bom_covers_parts,
    purchases_cover_use,
    orders_are_whole,
    supply_lasts,
    orders_arrive_in_time,
    spares_are_kept,
    part_numbers_are_few,
    parts_are_approved,
    prices_are_applied,
    bom_names_products,
    power_adds_up,
    totals_add_up,
    energy_is_paid,
    stages_add_up,
    limits_hold,
    objective_matches_totals,
    nothing_is_left_out,
    alternatives_add_up,
)
# Of cases that say how many vendors there are.
VENDOR_RULES: tuple[DesignRule, ...] = (vendors_are_kept,)
# Of cases that say what makers supply in a quarter.
QUOTA_RULES: tuple[DesignRule, ...] = (quarterly_supply_lasts,)
# Of bills with charges, and of cases and parts that have some.
CHARGE_RULES: tuple[DesignRule, ...] = (charges_are_counted,)
# Of cases with budgets of quarters or years.
PAYMENT_RULES: tuple[DesignRule, ...] = (payments_keep_budgets,)
# Of growth that may end before its last stage.
FUTURE_RULES: tuple[DesignRule, ...] = (futures_are_recounted,)
WORKLOAD_RULES: tuple[DesignRule, ...] = (workload_needs_are_met, workload_is_recomputed)
# Of designs that were picked for their robustness.
ROBUST_RULES: tuple[DesignRule, ...] = (robust_choice_is_recounted,)

# What takes the place of rules of a Clos, by the kind of structure.
INSTEAD: Mapping[str, Mapping[FabricRule, tuple[FabricRule, ...]]] = {
    "clos": {}, "hyperx": DIRECT, "torus": DIRECT, "dragonfly": DIRECT, "dragonfly+": DIRECT,
    "server-torus": {**DIRECT, **SWITCHLESS},
}  # fmt: skip
INSTEAD_WIRING: Mapping[str, Mapping[WiringRule, tuple[WiringRule, ...]]] = {
    "clos": {}, "hyperx": DIRECT_WIRING, "torus": DIRECT_WIRING, "dragonfly": DIRECT_WIRING,
    "dragonfly+": DIRECT_WIRING, "server-torus": {**DIRECT_WIRING, **SWITCHLESS_WIRING},
}  # fmt: skip


def fabric_rules(fabric: FabricEvidence) -> Iterator[FabricRule]:
    """The rules of a fabric's numbers: those of a Clos, or what takes their place."""
    instead = INSTEAD[fabric.designed.structure.kind]
    yield from (proven for rule in FABRIC_RULES for proven in instead.get(rule, (rule,)))
    yield from RAIL_RULES if has_own_rails(fabric) else ()
    yield from (rule for rule in HOMING_RULES if judges_homing(fabric, rule))
    yield from FREE_PORT_RULES if takes_free_ports(fabric) else ()
    yield from REDUNDANCY_RULES if names_redundancy(fabric) else ()
    yield from (rule for rule in NIC_RULES if judges_nics(fabric, rule))
    yield from GENERATION_RULES if judges_generations(fabric) else ()
    yield from AIRFLOW_RULES if wants_airflow(fabric) else ()
    yield from PAIR_RULES if fabric.evidence.case.procurement.qualified is not None else ()
    yield from POOL_RULES if weighs_pools(fabric) else ()
    yield from LENGTH_RULES if follows_from_groups(fabric) else ()
    yield from MANAGER_RULES if names_managers(fabric) else ()
    yield from LAST_GROUP_RULES if has_odd_group(fabric) else ()
    yield from STAND_IN_RULES if has_stand_ins(fabric) else ()
    yield from MIXED_SPINE_RULES if has_mixed_spines(fabric) else ()


def logical_rules(fabric: LogicalEvidence) -> Iterator[Callable[[Proof, LogicalEvidence], None]]:
    """The rules of the NICs of a logical fabric."""
    yield from LOGICAL_RULES
    yield from (rule for rule in NIC_RULES if judges_nics(fabric, rule))


def wiring_rules(fabric: FabricEvidence) -> Iterator[WiringRule]:
    """The rules of a fabric's wiring: those of a Clos, or what takes their place."""
    instead = INSTEAD_WIRING[fabric.designed.structure.kind]
    yield from (proven for rule in WIRING_RULES for proven in instead.get(rule, (rule,)))
    yield from RAIL_WIRING_RULES if has_own_rails(fabric) else ()
    yield from (rule for rule in HOMING_WIRING_RULES if judges_homing(fabric, rule))
    yield from REDUNDANCY_WIRING_RULES if names_redundancy(fabric) else ()
    yield from MANAGER_WIRING_RULES if names_managers(fabric) else ()
    yield from RACK_LOSS_WIRING_RULES if names_racks(fabric) else ()
