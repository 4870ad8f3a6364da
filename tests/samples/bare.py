"""Cases of tests that are about something else are of the bare space: one place for what they say for that."""

from __future__ import annotations

from typing import Any

from tests.samples.lengths import with_lengths
from tests.samples.resilience import without_redundancy

Json = dict[str, Any]


def bare(case: Json) -> Json:
    """A case that says its lengths, wants no redundancy and has equal leaf groups, where it says nothing of these."""
    return without_redundancy(with_lengths(with_equal_groups(case)))


def with_equal_groups(case: Json) -> Json:
    """A case whose leaf groups are all alike, unless a fabric says something of them."""
    fabrics = case.get("fabrics")
    if not isinstance(fabrics, list) or not all(isinstance(fabric, dict) for fabric in fabrics):
        return case
    return {**case, "fabrics": [{"groups": "equal", **fabric} for fabric in fabrics]}
