"""Keys of design files by the version that brought them, and keys of the case in them: no earlier version wrote them.

What rules of a version are about is marked beside them (``fabopt.verify.editions.since``). Of keys with keys below,
only the outer one is here. A key of every file of a version is enough to tell that an earlier version did not write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NEW_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "0.2.0": (
        "bom.beyond_need", "bom.expedite_usd", "bom.yearly_usd", "conflicts.direction", "conflicts.minimal",
        "conflicts.together", "fabrics.free_ports", "fabrics.structure.last_group", "fabrics.structure.mixed_spines",
        "fabrics.tiers.other", "objective.decision", "objective.floor", "totals.expected_tco_usd",
        "workload.allowed_oversubscription", "workload.ends", "workload.memory", "workload.placement",
        "workload.plan.expert_tensor", "workload.plan.fused_attention", "workload.plan.reduce_gradients",
        "workload.plan.sequence_parallel", "workload.plan.shard_group", "workload.scenarios", "workload.software",
        "workload.step_band_s", "workload.tapers", "case.content.fabrics.attachments.counts_in_ratio",
        "case.content.fabrics.attachments.kind", "case.content.fabrics.attachments.tier",
        "case.content.fabrics.group_by.racks", "case.content.fabrics.oob.switch_racks", "case.content.fabrics.spines",
        "case.content.finance.currency", "case.content.finance.depreciation_years", "case.content.finance.payment",
        "case.content.finance.rates", "case.content.finance.residual", "case.content.growth.decide_by",
        "case.content.have", "case.content.only_priced_by", "case.content.operate", "case.content.price_basis",
        "case.content.procurement.approved_asics", "case.content.procurement.forbidden_asics",
        "case.content.site.distances_m.attachment-spine", "case.content.workload.decide_by",
        "case.content.workload.model.plan.expert_tensor", "case.content.workload.model.plan.fused_attention",
        "case.content.workload.model.plan.reduce_gradients", "case.content.workload.model.plan.sequence_parallel",
        "case.content.workload.model.plan.shard_group", "case.content.workload.other_jobs",
        "case.content.workload.gpus_per_domain",
        "case.content.workload.placement", "case.content.workload.plan.auto",
        "case.content.workload.plan.expert_tensor", "case.content.workload.plan.fused_attention",
        "case.content.workload.plan.reduce_gradients", "case.content.workload.plan.sequence_parallel",
        "case.content.workload.plan.shard_group", "case.content.workload.scenarios", "case.content.workload.software",
        "case.content.workload.spreading",
    ),
    "0.3.0": (
        "alternatives.in_names", "bom.sold_by", "case.asked", "fabrics.failures.made_up_gbps_per_gpu",
        "fabrics.failures.with_switch_gbps_per_gpu", "fabrics.own_rails", "nearest",
        "objective.decision.least_in_ratio_usd", "single_points_of_failure.attachment", "single_points_of_failure.lost",
        "single_points_of_failure.of", "case.content.only_orderable",
    ),
}  # fmt: skip
