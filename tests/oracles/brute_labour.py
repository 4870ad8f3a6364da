"""Labour of a case, worked out from its own words in decimals: the truth that bills with labour are tested against.

Nothing of fabopt is imported.
"""

from __future__ import annotations

import copy
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

Json = dict[str, Any]
KINDS = {"switches": "switch", "nics": "nic", "transceivers": "transceiver", "cables": "cable", "fibres": "fibre"}
# Kinds of a plain number, and whether it is for each end.
TASKS: dict[str, tuple[tuple[str, ...], bool]] = {
    "rack": (("switch", "server"), False),
    "pull": (("cable", "fibre", "moved"), False),
    "dress": (("cable", "fibre"), False),
    "label": (("cable", "fibre", "moved"), True),
    "clean": (("fibre",), True),
    "inspect": (("fibre",), True),
    "test": (("cable", "fibre", "moved"), False),
    "plug": (("transceiver", "cable", "fibre", "moved"), True),
}


def unit_usd(labour: Json, kind: str, ends: int = 1) -> Decimal:
    """Dollars of the labour on one unit, to the cent, half up."""
    minutes = Decimal(0)
    for task, given in labour["minutes"].items():
        kinds, at_ends = TASKS[task]
        each = given.get(kind, 0) if isinstance(given, dict) else given if kind in kinds else 0
        minutes += Decimal(str(each)) * (ends if at_ends else 1)
    return (minutes * Decimal(str(labour["usd_per_hour"])) / 60).quantize(Decimal("0.01"), ROUND_HALF_UP)


def ends_of(part: Json) -> int:
    """Ends of a cable or fibre, each leg of a splitter one; 1 of all else."""
    if "connectors" in part and isinstance(part["connectors"], list):
        return 2
    return sum(end.get("count", 1) for end in part["ends"]) if "ends" in part else 1


def folded(parts: Json, labour: Json) -> Json:
    """The catalog at prices that have the labour in them."""
    parts = copy.deepcopy(parts)
    for word, kind in KINDS.items():
        for part in parts.get(word, ()):
            of_unit = unit_usd(labour, kind, ends_of(part))
            for sold in part.get("lengths", [part]):
                price = sold.get("price_usd")
                if isinstance(price, list):
                    sold["price_usd"] = [{**step, "usd": float(Decimal(str(step["usd"])) + of_unit)} for step in price]
                elif price is not None:
                    sold["price_usd"] = float(Decimal(str(price)) + of_unit)
    return parts
