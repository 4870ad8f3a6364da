"""Rule ``one-generation``: the InfiniBand switches of a fabric are of one generation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from fabopt.rules.defaults import ONE_GENERATION, is_kept
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.told import left_out_is_told

INFINIBAND = "infiniband"


def judges_generations(fabric: FabricEvidence) -> bool:
    """Whether the rule applies to a fabric: it is InfiniBand, with tiers that the case does not all name."""
    is_infiniband = fabric.designed.protocol == INFINIBAND
    return is_infiniband and is_kept(fabric.evidence.case.rules, ONE_GENERATION) and any(_judged(fabric))


@since("0.2.0")
@where(judges_generations)
def generations_agree(proof: Proof, fabric: FabricEvidence) -> None:
    """Switches of two tiers have the same ASIC, or the file states that no design has that.

    Of every two tiers, unless the case names the switches of both: equal but for their number in a switch (``4x
    Quantum-3``), or not known of one. Source: case file, ``rules``; docs/rules.md, generations of InfiniBand.
    """
    known: dict[str, str | None] = {tier.role: fabric.switch(tier.role).generation for tier in fabric.designed.tiers}
    mixed = mixed_tiers(fabric)
    if mixed:
        left_out_is_told(proof, fabric, ONE_GENERATION, mixed[0])
    proof.note(", ".join(mixed or [f"{role}: {generation or 'not known'}" for role, generation in known.items()]))


def _judged(fabric: FabricEvidence) -> Iterator[tuple[str, str]]:
    roles = [tier.role for tier in fabric.designed.tiers]
    named = {role for role in roles if getattr(fabric.wanted.switches, role) != "any"}
    return (pair for pair in combinations(roles, 2) if not named.issuperset(pair))


def _clash(known: dict[str, str | None], low: str, high: str) -> bool:
    return None not in (known[low], known[high]) and known[low] != known[high]


def mixed_tiers(fabric: FabricEvidence) -> list[str]:
    """Every two tiers under the rule whose switches are known to have different ASICs."""
    known: dict[str, str | None] = {tier.role: fabric.switch(tier.role).generation for tier in fabric.designed.tiers}
    return [
        f"{known[low]} ({low}) and {known[high]} ({high})" for low, high in _judged(fabric) if _clash(known, low, high)
    ]
