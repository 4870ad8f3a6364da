"""Cases of tests that are about something else are of the bare space: one place for what they say for that."""

from __future__ import annotations

from typing import Any

from tests.samples.lengths import with_lengths
from tests.samples.resilience import without_redundancy

Json = dict[str, Any]
# Default rules about which NICs there are; how many there are in a server is another one.
NICS = ("one-port", "slot-speed", "tested-nics")


def bare(case: Json) -> Json:
    """A case with lengths, without redundancy, with equal leaf groups and any NICs, where it says nothing of these."""
    return with_any_nics(without_redundancy(with_lengths(with_equal_groups(case))))


def with_any_nics(case: Json) -> Json:
    """A case without default rules about which NICs there are, unless it says something of one; and, unless it says
    something of rules, without subnet managers, of which most switches of tests say nothing.
    """
    rules = case.get("rules", {"subnet-manager": False})
    return case if isinstance(rules, str) else {**case, "rules": {**dict.fromkeys(NICS, False), **rules}}


def with_equal_groups(case: Json) -> Json:
    """A case whose leaf groups are all alike, unless a fabric says something of them."""
    fabrics = case.get("fabrics")
    if not isinstance(fabrics, list) or not all(isinstance(fabric, dict) for fabric in fabrics):
        return case
    return {**case, "fabrics": [{"groups": "equal", **fabric} for fabric in fabrics]}
