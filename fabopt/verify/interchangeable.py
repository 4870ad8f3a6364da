"""Tiers in which switches of other products stand in for some, and NICs that several vendors sell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from fabopt.rules.defaults import INTERCHANGEABLE, is_kept
from fabopt.schema.catalog import Nic, Switch
from fabopt.schema.design import TierUse
from fabopt.schema.installed import switches_in_service
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.futures import ways_to_grow
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.terms_of_sale import is_late

# Properties that interchangeable switches share besides their cages; parts in these are proven link by link.
SAME = (
    "protocol", "max_ports", "ports_per_cage_pair", "rack_units", "power_supplies", "managed", "max_managed_nodes",
    "generation",
)  # fmt: skip


def has_stand_ins(fabric: FabricEvidence) -> bool:
    """Whether switches of other products stand in for some of a tier."""
    return any(tier.stand_ins for tier in fabric.designed.tiers)


@since("0.2.0", "fabrics.tiers.stand_ins")
@where(has_stand_ins)
def switches_are_interchangeable(proof: Proof, fabric: FabricEvidence) -> None:
    """Stand-in switches of a tier have the same ports, and are there because some product is short, or in service.

    Cages, their count and splits, ports, rack units, power supplies, airflows, features, management and generation are
    equal; at most one product of the tier can be had in any number at every stage: no supply, no stock, no limit of its
    maker, no order too late, not in service; offers of one product by several vendors count as one. The tier is named
    for its most frequent product. Source: docs/buying.md, interchangeable switches.
    """
    evidence = fabric.evidence
    of_one = all(_is_more_of_one(fabric, tier) for tier in fabric.designed.tiers if tier.stand_ins)
    is_open = of_one or is_kept(evidence.case.rules, INTERCHANGEABLE)
    proof.holds(is_open, f"rule `{INTERCHANGEABLE}` is off")
    live = {role for role, _ in switches_in_service(evidence.case, fabric.wanted.name)}
    mixed = {tier.role for tier in fabric.designed.tiers if tier.stand_ins}
    is_beside = not evidence.case.site.has_floor or mixed <= live
    proof.holds(is_beside, "on a floor switches are interchangeable beside those in service alone")
    proof.holds(fabric.wanted.roce is None, "switches are interchangeable with no `roce`")
    proof.holds(not fabric.is_direct, "switches are interchangeable in a Clos only")
    for tier in fabric.designed.tiers:
        if tier.stand_ins:
            _tier_is_mixed_as_allowed(proof, fabric, tier)


def has_nics_of_several_vendors(fabric: FabricEvidence) -> bool:
    """Whether NICs of a fabric are bought as offers of several vendors."""
    return bool(fabric.designed.nic.stand_ins)


@since("0.3.0", "fabrics.nic.stand_ins")
@where(has_nics_of_several_vendors)
def nics_are_of_one_product(proof: Proof, fabric: FabricEvidence) -> None:
    """NICs bought as several offers are of one product, and no more than each stage adds.

    All are offers of named vendors for one product; the NIC is named for the offer with most units. Source:
    docs/catalog.md, offers.
    """
    evidence, nic = fabric.evidence, fabric.designed.nic
    own = evidence.part(nic.id, Nic)
    proof.holds(not nic.built_in, f"{nic.id} comes with the server: nobody sells it")
    listed = Counter((offer.stage, offer.id) for offer in nic.stand_ins)
    proof.equal(f"stages that say twice which offers of {nic.id} they buy", len(nic.stand_ins) - len(listed), 0)
    counts: Counter[str] = Counter()
    for offer in nic.stand_ins:
        counts[offer.id] += offer.count
        proof.holds(offer.count > 0, f"{offer.count} x {offer.id} at {offer.stage}")
        other = evidence.part(offer.id, Nic)
        proof.equal(f"product of {offer.id}", other.base_id, own.base_id)
        proof.holds(None not in (own.sold_by, other.sold_by), f"{nic.id} and {offer.id} are offers of named vendors")
    servers = evidence.servers_by_stage if fabric.designed.growth else [evidence.servers]
    for stage, (before, now) in enumerate(pairwise([0, *servers])):
        bought = sum(offer.count for offer in nic.stand_ins if offer.stage == evidence.stage_names[stage])
        added = nic.per_server * (now - before)
        proof.holds(bought <= added, f"{bought} NICs at {evidence.stage_names[stage]} as other offers, {added} in all")
    counts[nic.id] = nic.per_server * evidence.servers - sum(counts.values())
    for id_, count in counts.items():
        proof.holds(count <= counts[nic.id], f"{count} x {id_} beside {counts[nic.id]} x {nic.id}")
    proof.note(" + ".join(f"{count} x {id_}" for id_, count in sorted(counts.items())))


def _tier_is_mixed_as_allowed(proof: Proof, fabric: FabricEvidence, tier: TierUse) -> None:
    evidence = fabric.evidence
    proof.holds(tier.other is None, f"{tier.role} switches have another type beside those that stand in")
    counted = evidence.case.procurement.max_vendors.keys() | evidence.case.procurement.min_sources.keys()
    proof.holds(tier.role not in counted, f"vendors of the {tier.role} tier are counted, which has one product then")
    own = evidence.part(tier.id, Switch)
    counts = {listed_type.id: listed_type.count for listed_type in tier.types}
    for id_, count in counts.items():
        proof.holds(0 < count <= counts[tier.id], f"{count} x {id_} among {counts[tier.id]} x {tier.id}")
        _is_alike(proof, own, evidence.part(id_, Switch))
    listed = Counter((stand_in.stage, stand_in.id) for stand_in in tier.stand_ins)
    proof.equal(f"stages that say twice what stands in for {tier.id}", len(tier.stand_ins) - len(listed), 0)
    proof.holds(all(stand_in.count > 0 for stand_in in tier.stand_ins), "no switch stands in at a stage that says so")
    parts = [evidence.part(id_, Switch) for id_ in counts]
    plentiful = sorted({part.base_id for part in parts if not _is_short(evidence, part)})
    proof.holds(len(plentiful) <= 1, f"{' and '.join(plentiful)} can be had in any number, each alone")
    proof.note(f"{tier.role}: " + " + ".join(f"{count} x {id_}" for id_, count in counts.items()))


def _is_more_of_one(fabric: FabricEvidence, tier: TierUse) -> bool:
    """Whether the switches of a tier are of one product, by whichever vendor; beside those in service, of one there."""
    there = switches_in_service(fabric.evidence.case, fabric.wanted.name)
    new = {own.id for own in tier.types if own.count > there[tier.role, own.id]}
    old = {own.id for own in tier.types if there[tier.role, own.id]}
    of_new, of_old = ({fabric.evidence.part(id_, Switch).base_id for id_ in ids} for ids in (new, old))
    return len(of_new) <= 1 and (not of_old or of_new <= of_old)


def _is_alike(proof: Proof, own: Switch, other: Switch) -> None:
    for key in SAME:
        proof.equal(f"{key} of {other.id}", getattr(other, key), getattr(own, key))
    proof.equal(f"features of {other.id}", sorted(other.features), sorted(own.features))
    proof.equal(f"airflows of {other.id}", sorted(other.airflows), sorted(own.airflows))
    proof.equal(f"cages of {other.id}", _cages_of(other), _cages_of(own))


def _cages_of(switch: Switch) -> list[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    return [(cage.count, cage.splits_of(switch.protocol), cage.every_second) for cage in switch.cages]


def _is_short(evidence: Evidence, switch: Switch) -> bool:
    """Whether a switch cannot be had in any number at every stage, in the case's plan or in any future."""
    rules, base = evidence.case.procurement, evidence.case.base
    is_there = base is not None and switch.id in base.owned
    if switch.supply is not None or switch.stock or is_there or _is_rationed(evidence, switch):
        return True
    ways: list[Sequence[int | None]] = [evidence.months, *ways_to_grow(evidence)]
    months = [month for way in ways for month in way if month is not None]
    return any(is_late(month, switch.lead_time_weeks, rules.order_from_month) for month in months)


def _is_rationed(evidence: Evidence, switch: Switch) -> bool:
    limits = evidence.case.procurement.quarterly_supply.get(switch.vendor or "")
    return limits is not None and (not isinstance(limits, dict) or "switch" in limits)
