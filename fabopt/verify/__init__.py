"""Proves a saved design again: every rule, from scratch, on explicit counts, with no solver.

Only the design file is read: its case, its embedded parts, its claims. Each rule is a function whose name is the
check's name, the constraint's name in the integer program and the line's name in docs/formulation.md. Counts run over
classes of equal boxes, so a fabric of a hundred thousand GPUs takes as long as one of a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabopt.schema.design import Check, Design
from fabopt.verify.bandwidth import metrics_are_recomputed, uplinks_carry_demand
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
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.fit import (
    assemblies_are_complete,
    cables_fit_reach,
    cage_groups_come_first,
    optics_speak_alike,
    parts_are_offered,
    parts_fit_cages,
)
from fabopt.verify.links import (
    attachments_are_placed,
    bundles_join_boxes,
    cages_close,
    links_close,
    parts_cover_links,
)
from fabopt.verify.proof import Proof, as_check, prove
from fabopt.verify.purchases import (
    bom_covers_parts,
    bom_names_products,
    power_adds_up,
    prices_are_applied,
    purchases_cover_use,
    supply_lasts,
)
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
from fabopt.verify.totals import (
    energy_is_paid,
    limits_hold,
    objective_matches_totals,
    stages_add_up,
    status_is_honest,
    totals_add_up,
)

FabricRule = Callable[[Proof, FabricEvidence], None]
DesignRule = Callable[[Proof, Evidence], None]

FILE_RULES: tuple[DesignRule, ...] = (content_matches_hash, status_is_honest)
DESIGN_RULES: tuple[DesignRule, ...] = (parts_are_known, one_candidate_per_fabric, nics_fit_slots)
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
)
MONEY_RULES: tuple[DesignRule, ...] = (
    bom_covers_parts,
    purchases_cover_use,
    supply_lasts,
    prices_are_applied,
    bom_names_products,
    power_adds_up,
    totals_add_up,
    energy_is_paid,
    stages_add_up,
    limits_hold,
    objective_matches_totals,
)


def verify(design: Design) -> tuple[Check, ...]:
    """Return one check for each rule (for each rule and fabric, where a rule is about a fabric).

    A file without a design (infeasible, unknown) has only the rules of the file. Never raises: what cannot be
    evaluated is a check that fails.
    """
    return tuple(_checks(Evidence(design)))


def _checks(evidence: Evidence) -> Iterator[Check]:
    for rule in FILE_RULES:
        yield as_check(rule.__name__, prove(rule, evidence))
    if evidence.design.status in ("infeasible", "unknown"):
        return
    for rule in DESIGN_RULES:
        yield as_check(rule.__name__, prove(rule, evidence))
    for fabric in evidence.fabrics:
        for fabric_rule in FABRIC_RULES:
            yield as_check(fabric_rule.__name__, prove(fabric_rule, fabric), fabric.made.name)
    for rule in MONEY_RULES:
        yield as_check(rule.__name__, prove(rule, evidence))
