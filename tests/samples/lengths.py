"""Lengths that cases of tests say, so that what is derived by hand from 3, 30 and 50 m stays: one place for all."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
USUAL = {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}


def with_lengths(case: Json) -> Json:
    """A case that says all its lengths, unless it has a floor or says something of the default rules."""
    site = dict(case.get("site") or {})
    if "floor" in site or "rules" in case:
        return case
    site["distances_m"] = {**USUAL, **(site.get("distances_m") or {})}
    return {**case, "site": site}
