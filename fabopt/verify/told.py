"""The default rules that a file states as left out."""

from __future__ import annotations

from fabopt.rules.defaults import is_asked_for
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, has_rules_of

# Files from this version on list the rules left out; earlier ones tell them in notes.
LISTED_SINCE = "0.3.0"


def left_out_is_told(proof: Proof, fabric: FabricEvidence, rule: str, how: str) -> None:
    """A rule that a fabric breaks (``how``) was not asked for by name, and the file lists or notes it as left out."""
    design, name = fabric.evidence.design, fabric.designed.name
    told = any((row.rule, row.fabric) == (rule, name) for row in design.rules_left_out)
    if not has_rules_of(design, LISTED_SINCE):
        told = any(note.startswith(f"{name}: rule `{rule}` is not kept") for note in design.notes)
    proof.holds(not is_asked_for(fabric.evidence.case.rules, rule), f"{how}, and the rule is asked for")
    proof.holds(told, f"{how}, and the file does not say that rule {rule} is left out")
