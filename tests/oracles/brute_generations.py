"""Rule ``one-generation`` by hand: the ASICs of a structure's switches. Nothing of fabopt is imported.

``structure``: of ``tests.oracles.brute_force``, one point of the space.
"""

from __future__ import annotations

from typing import Any

RULE = "one-generation"


def is_of_one_generation(structure: Any, switches: Any) -> bool:
    """Whether no two tiers have ASICs that are known to differ, unless the case names both (``switches``)."""
    tiers = {"leaf": structure.leaf, "spine": structure.spine, "core": structure.core}
    known = {
        role: box.product["asic"].split()[-1]
        for role, box in tiers.items()
        if box is not None and box.product["protocol"] == "infiniband" and "asic" in box.product
    }
    named = {role for role in known if (switches or {}).get(role, "any") != "any"}
    return all(known[low] == known[high] or {low, high} <= named for low in known for high in known if low != high)
