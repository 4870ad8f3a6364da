"""What cases of tests say, so that what is derived by hand from 3, 30 and 50 m and from whole racks stays: one place
for all.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
# Default rules that hold on floors.
RACKS = ("rack-rules", "rack-spread")
USUAL = {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}


def with_lengths(case: Json) -> Json:
    """A case that says all its lengths or, on a floor, is without rules of racks; unless it says something of rules."""
    site = dict(case.get("site") or {})
    if "rules" in case:
        return case
    if "floor" in site:
        return {**case, "rules": dict.fromkeys(RACKS, False)}
    site["distances_m"] = {**USUAL, **(site.get("distances_m") or {})}
    return {**case, "site": site}
