"""The default rules that a file states as left out."""

from __future__ import annotations

from typing import Final

from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import has_rules_of

# Files from this version on list the rules left out; earlier ones tell them in notes.
LISTED_SINCE: Final = "0.3.0"


def is_told(fabric: FabricEvidence, rule: str) -> bool:
    """Whether a file states that a fabric leaves a rule out: in its list, or in a note of an earlier version."""
    design, name = fabric.evidence.design, fabric.designed.name
    if has_rules_of(design, LISTED_SINCE):
        return any((row.rule, row.fabric) == (rule, name) for row in design.rules_left_out)
    return any(note.startswith(f"{name}: rule `{rule}` is not kept") for note in design.notes)
