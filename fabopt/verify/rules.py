"""The rules by subject, and those that hold for a fabric of each family.

Each rule is a function whose name is the check's name, the constraint's name in the integer program and the line's name
in docs/formulation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fabopt.verify.airflow import airflows_agree
from fabopt.verify.appliances import attachments_stand_apart, hosts_stand_with_switches
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
from fabopt.verify.free_ports import attachments_take_free_ports
from fabopt.verify.futures import futures_are_recounted
from fabopt.verify.generations import generations_agree
from fabopt.verify.graph import figures_hold_on_graph
from fabopt.verify.graph_failures import failures_leave_flow
from fabopt.verify.growth import stage_counts_close, stages_are_fabrics, stages_only_add
from fabopt.verify.homing import homing_is_cabled, homing_is_kept
from fabopt.verify.interchangeable import nics_are_of_one_product, switches_are_interchangeable
from fabopt.verify.last_group import last_group_may_differ
from fabopt.verify.left_out import left_out_rules_are_broken, left_out_spread_is_broken
from fabopt.verify.lengths import runs_follow_from_groups
from fabopt.verify.links import attachments_are_placed, bundles_join_boxes, cages_close, links_close, parts_cover_links
from fabopt.verify.mixed_spines import spines_may_differ
from fabopt.verify.nic_rules import (
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
from fabopt.verify.pools import pools_hold_headroom
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
from fabopt.verify.rack_losses import feeds_carry_racks, racks_leave_bandwidth
from fabopt.verify.racks import devices_are_spread, named_racks_are_kept, racks_keep_rules
from fabopt.verify.rails import rails_never_meet, scale_up_carries_rails
from fabopt.verify.recount import statements_are_true
from fabopt.verify.redundancy import redundancy_is_cabled, redundancy_is_kept
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
from fabopt.verify.subnet_manager import subnets_are_cabled, subnets_are_managed
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
FILE_RULES: tuple[DesignRule, ...] = (
    content_matches_hash, status_is_honest, rules_are_named, case_is_resolved,
)  # fmt: skip
DESIGN_RULES: tuple[DesignRule, ...] = (
    parts_are_known, facts_match_hash, prices_match_hash, one_candidate_per_fabric, nics_fit_slots,
    oob_covers_boxes,
    isolation_is_kept,
    shared_ports_are_told,
)  # fmt: skip
# of the NICs that a logical fabric has on the switches of another
LOGICAL_RULES: tuple[Callable[[Proof, LogicalEvidence], None], ...] = (
    logical_cards_are_allowed, protocols_agree, ports_fit_nics, injection_meets_demand,
    nics_are_tested,
    slots_carry_ports,
    one_port_serves_gpu,
    nics_pair_with_gpus,
)  # fmt: skip
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
    scale_up_carries_rails,
    homing_is_kept,
    leaves_split_pairs,
    pairs_are_joined,
    attachments_take_free_ports,
    redundancy_is_kept,
    nics_are_tested,
    slots_carry_ports,
    one_port_serves_gpu,
    nics_pair_with_gpus,
    generations_agree,
    airflows_agree,
    pairs_are_qualified,
    pools_hold_headroom,
    runs_follow_from_groups,
    subnets_are_managed,
    last_group_may_differ,
    switches_are_interchangeable,
    nics_are_of_one_product,
    spines_may_differ,
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
    rails_never_meet,
    homing_is_cabled,
    ports_reach_two_leaves,
    pairs_are_cabled,
    redundancy_is_cabled,
    subnets_are_cabled,
    racks_leave_bandwidth,
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
# Of the wiring of all fabrics together.
CABLED_RULES: tuple[FloorRule, ...] = (single_points_are_listed,)
# Rules of a file's statements about all fabrics; on the wiring, where it is listed.
STATEMENT_RULES: tuple[FloorRule, ...] = (statements_are_true,)
FLOOR_RULES: tuple[FloorRule, ...] = (
    servers_fill_racks,
    boxes_fit_racks,
    racks_keep_rules,
    devices_are_spread,
    left_out_spread_is_broken,
    named_racks_are_kept,
    feeds_carry_racks,
    attachments_stand_apart,
    hosts_stand_with_switches,
)
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
    vendors_are_kept,
    quarterly_supply_lasts,
    charges_are_counted,
    payments_keep_budgets,
    futures_are_recounted,
)
WORKLOAD_RULES: tuple[DesignRule, ...] = (
    workload_needs_are_met,
    workload_is_recomputed,
    robust_choice_is_recounted,
)

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
    """The rules of a fabric's numbers: those of a Clos, or the family's in their place."""
    instead = INSTEAD[fabric.designed.structure.kind]
    return (proven for rule in FABRIC_RULES for proven in instead.get(rule, (rule,)))


def wiring_rules(fabric: FabricEvidence) -> Iterator[WiringRule]:
    """The rules of a fabric's wiring: those of a Clos, or the family's in their place."""
    instead = INSTEAD_WIRING[fabric.designed.structure.kind]
    return (proven for rule in WIRING_RULES for proven in instead.get(rule, (rule,)))
