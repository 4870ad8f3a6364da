"""A case without limits: what is spent, what makers supply and when, and counts of what is bought. Plain dictionaries;
nothing of fabopt is imported.
"""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]
COUNTS = (
    "max_part_numbers", "max_vendors", "min_sources", "single_vendor", "quarterly_supply", "order_from_month"
)  # fmt: skip


def lifted(parts: Json, wanted: Json) -> tuple[Json, Json]:
    """The catalog and the case with every limit lifted."""
    parts, wanted = copy.deepcopy(parts), copy.deepcopy(wanted)
    for products in parts.values():
        for product in products if isinstance(products, list) else ():
            for sold in (product, *(product.get("lengths") or ())):
                sold.pop("supply", None)
                sold.pop("lead_time_weeks", None)
    wanted.pop("limits", None)
    for stage in wanted.get("stages") or ():
        stage.pop("limits", None)
    for key in COUNTS:
        wanted.get("procurement", {}).pop(key, None)
    return parts, wanted
