"""Default rules that a file lists as left out: each is broken. That all others are kept is in their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fabopt.rules.defaults import (
    NIC_RULES,
    ONE_GENERATION,
    RACK_SPREAD,
    REDUNDANCY,
    SUBNET_MANAGER,
    YIELDING,
    is_asked_for,
)
from fabopt.schema.rack_rules import SPREAD
from fabopt.units import grouped
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.generations import mixed_tiers
from fabopt.verify.nic_rules import breaks_nic_rule
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.racks import spread_sets
from fabopt.verify.redundancy import breaks_part
from fabopt.verify.separation import logical_fabrics
from fabopt.verify.subnet_manager import lacks_manager
from fabopt.verify.wiring import CabledDesign

# Whether a fabric breaks a rule, by the rule's name: counted anew from the numbers of the file.
BREAKS: Mapping[str, Callable[[FabricEvidence, str], bool]] = {
    **dict.fromkeys(REDUNDANCY, breaks_part),
    **dict.fromkeys(NIC_RULES, breaks_nic_rule),
    ONE_GENERATION: lambda fabric, rule: bool(mixed_tiers(fabric)),
    SUBNET_MANAGER: lambda fabric, rule: lacks_manager(fabric),
}
# Tiers that a key of rule ``rack-spread`` is about.
SPREAD_TIERS: Mapping[str, tuple[str, ...]] = {"spread_spines": ("spine", "core"), "spread_leaves": ("leaf",)}
RACK_PART = "site.rack_rules."


@since("0.3.0", "rules_left_out")
def left_out_rules_are_broken(proof: Proof, evidence: Evidence) -> None:
    """Every rule that the file lists as left out can yield, is not asked for by name, and is broken.

    Each part of a fabric is listed once, with the key that turns it off, in the order in which rules yield. Source:
    design file, ``rules_left_out``; docs/rules.md.
    """
    rows, fabrics = evidence.design.rules_left_out, dict(_fabrics(evidence))
    places = [(row.part, row.fabric) for row in rows]
    proof.equal("parts that are listed", places, list(dict.fromkeys(places)))
    order = [YIELDING.index(row.rule) if row.rule in YIELDING else -1 for row in rows]
    proof.equal("order of what is left out", order, sorted(order))
    for row in rows:
        proof.holds(row.rule in YIELDING, f"rule {row.rule} never yields")
        proof.holds(not is_asked_for(evidence.case.rules, row.rule), f"rule {row.rule} is asked for")
        if row.rule == RACK_SPREAD:
            key = row.part.removeprefix(RACK_PART)
            is_key = row.part == RACK_PART + key and key in SPREAD
            proof.holds(is_key, f"{row.part} is no key of {row.rule}")
            proof.holds(getattr(evidence.case.site.rack_rules, key) is False, f"{row.part} is listed, and holds")
            continue
        proof.equal(f"part of rule {row.rule}", row.part, f"rules.{row.rule}")
        proof.holds(BREAKS[row.rule](fabrics[row.fabric or ""], row.rule), f"{row.part} is listed, and kept")
    proof.note(", ".join(row.name for row in rows) or "no rule is left out")


@since("0.3.0", "rules_left_out")
@where(lambda evidence: bool(evidence.design.rules_left_out))
def left_out_spread_is_broken(proof: Proof, cabled: CabledDesign) -> None:
    """For every key of rule ``rack-spread`` listed as left out, some devices are in one rack.

    Spines of a pod, cores, leaves of a group that has servers elsewhere, or the devices of an attachment or the
    switches that they are linked to. Source: design file, ``rules_left_out``.
    """
    for row in cabled.evidence.design.rules_left_out:
        if row.rule == RACK_SPREAD:
            key = row.part.removeprefix(RACK_PART)
            tiers = SPREAD_TIERS.get(key)
            sets = _of_attachments(cabled) if tiers is None else (
                racks for tier, racks in spread_sets(cabled) if tier in tiers
            )  # fmt: skip
            together = [racks for racks in sets if len(set(racks)) == 1]
            proof.holds(bool(together), f"{row.part} is listed, and kept")
            proof.note(f"{key}: {len(together)} in one rack")


def _fabrics(evidence: Evidence) -> Iterator[tuple[str, FabricEvidence]]:
    yield from ((fabric.designed.name, fabric) for fabric in evidence.fabrics)
    yield from ((fabric.designed.name, fabric) for fabric in logical_fabrics(evidence))


def _of_attachments(cabled: CabledDesign) -> Iterator[list[str]]:
    """For each attachment, the racks of its devices, and of the switches that they are linked to; only lists of
    several.
    """
    devices, links = cabled.wiring.devices, cabled.wiring.links
    own = grouped(
        ((fabric, product), rack)
        for fabric, product, role, rack in zip(devices.fabric, devices.product, devices.role, devices.rack, strict=True)
        if role == "attachment" and rack
    )
    ends = grouped(
        ((devices.fabric[a], devices.product[a]), devices.rack[b])
        for a, b in zip(links.a.tolist(), links.b.tolist(), strict=True)
        if devices.role[a] == "attachment"
    )
    yield from (racks for racks in (*own.values(), *ends.values()) if len(racks) > 1)
