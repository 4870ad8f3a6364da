"""The rules that a file is judged by: those of the version that it names, and later ones whose subject is in it.

A rule that came later than the file is not asked where its subject is not in the file, and its name is told: rules of
defaults, which designs of earlier versions did not have to keep. A file with keys that came later than the version that
it names was not written by that version.

Keys of design files by the version that brought them, and keys of the case in them: no earlier version wrote them.

What rules of a version are about is marked beside them (``fabopt.verify.proof.since``). Of keys with keys below,
only the outer one is here. A key of every file of a version is enough to tell that an earlier version did not write it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel

from fabopt.schema.design import Design
from fabopt.schema.version import VERSION
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import BROUGHT, EDITIONS, SUBJECTS, Proof, named_edition, number_of

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
        "case.content.workload.gpus_per_domain", "case.content.workload.measured_gpus",
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


# Subjects of later rules that the first version had.
EARLIER_SUBJECTS = frozenset({"case.content.resilience"})


def edition_of(version: str) -> str:
    """The newest of ``EDITIONS`` that is no later than a version."""
    return max((edition for edition in EDITIONS if number_of(edition) <= number_of(version)), key=number_of)


def rules_off(design: Design) -> frozenset[str]:
    """Names of the rules that the file's version did not have and whose subjects are not in it.

    None are off in a file that names an unknown version.
    """
    named = named_edition(design)
    if named not in EDITIONS:
        return frozenset()
    later = [names for version, names in BROUGHT.items() if number_of(version) > number_of(named)]
    off = frozenset[str]().union(*later)
    return frozenset(name for name in off if not any(has_key(design, key) for key in SUBJECTS[name]))


def later_keys(design: Design) -> list[str]:
    """Keys of the file that came with a later version than it names."""
    named = named_edition(design)
    if named not in EDITIONS:
        return []
    later = frozenset[str]().union(
        *(new_keys(version) for version in NEW_KEYS if number_of(version) > number_of(named))
    )
    return sorted(key for key in later if has_key(design, key))


def new_keys(version: str) -> frozenset[str]:
    """Keys that a version brought: those of ``NEW_KEYS``, and the subjects of its rules."""
    subjects = (key for name in BROUGHT[version] for key in SUBJECTS[name])
    return frozenset((*NEW_KEYS[version], *subjects)) - EARLIER_SUBJECTS


def has_key(design: Design, key: str) -> bool:
    """Whether a file has a key, dotted, in any entry of the lists on the way; below ``case.content`` of the case."""
    return _has(design, key.split("."))


def _has(value: object, steps: Sequence[str]) -> bool:
    if isinstance(value, list | tuple):
        return any(_has(entry, steps) for entry in value)
    step, *rest = steps
    if isinstance(value, BaseModel):
        return step in value.model_fields_set and (not rest or _has(getattr(value, step), rest))
    return isinstance(value, dict) and step in value and (not rest or _has(value[step], rest))


def rules_are_named(proof: Proof, evidence: Evidence) -> None:
    """The file names the rules of the version that wrote it, which are known here, and has no keys that came later.

    rules = the newest rules up to ``fabopt``, which is no later than this version. Source: design file, ``rules``.
    """
    written, named = evidence.design.fabopt, named_edition(evidence.design)
    proof.holds(number_of(written) <= number_of(VERSION), f"written by fabopt {written}, this is {VERSION}")
    proof.equal(f"rules of a file of fabopt {written}", named, edition_of(written))
    off = sorted(rules_off(evidence.design))
    for key in later_keys(evidence.design):
        proof.holds(False, f"`{key}` is no key of fabopt {named}")
    proof.note(f"rules of {named}; not asked are: {', '.join(off)}" if off else f"rules of {named}")
