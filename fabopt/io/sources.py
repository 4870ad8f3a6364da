"""Cross checks of a case's vendors and ASICs against its catalog and its fabrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.schema.asics import FAMILIES, asic_is
from fabopt.schema.catalog import Catalog
from fabopt.schema.procurement import Procurement, SourceWord, VendorsByPlace, lists_at
from fabopt.units import first_of

# So many names are listed, more are counted.
MOST_NAMED = 30


def check_sources(
    rules: Procurement, fabrics: Sequence[str], catalog: Catalog, file: str, vendors: Sequence[str]
) -> Iterator[Fault]:
    """Yield faults: unknown vendors, ASICs and places, and names both approved and forbidden."""
    asics = sorted({switch.asic for switch in catalog.switches if switch.asic})
    places = [*get_args(SourceWord), *fabrics, *asics]
    for key in ("approved_vendors", "forbidden_vendors"):
        value: VendorsByPlace | None = getattr(rules, key)
        by_place = value if isinstance(value, dict) else {} if value is None else {"": value}
        for place, names in by_place.items():
            path = f"procurement.{key}.{place}" if place else f"procurement.{key}"
            if place and place not in places:
                what = "this is no kind, tier, fabric or ASIC"
                yield fault(
                    file, path, what, place, allowed=", ".join(places[:MOST_NAMED]), hint=did_you_mean(place, places)
                )
            for number, name in enumerate(names):
                if name not in vendors:
                    hint = did_you_mean(name, vendors) or _has(vendors)
                    yield fault(file, f"{path}[{number}]", "the catalog has no such vendor", name, hint=hint)
                forbidden = lists_at(rules.forbidden_vendors, place) if key == "approved_vendors" else []
                if any(name in others for others in forbidden):
                    yield fault(file, f"{path}[{number}]", "is in forbidden_vendors too", name)
    for key in ("approved_asics", "forbidden_asics"):
        for number, name in enumerate(getattr(rules, key) or ()):
            if not any(asic_is(asic, name) for asic in asics):
                known = [*FAMILIES, *asics]
                hint = did_you_mean(name, known) or _has(known)
                path = f"procurement.{key}[{number}]"
                yield fault(file, path, "no switch of the catalog has such an ASIC", name, hint=hint)
    for name in rules.quarterly_supply:
        if name not in vendors:
            hint = did_you_mean(name, vendors) or _has(vendors)
            yield fault(file, f"procurement.quarterly_supply.{name}", "the catalog has no such vendor", name, hint=hint)
    for name in rules.single_vendor:
        if name not in fabrics:
            path = f"procurement.single_vendor.{name}"
            yield fault(file, path, "the case has no such fabric", name, hint=did_you_mean(name, fabrics))


def _has(known: Sequence[str]) -> str:
    return f"it has {first_of(known, MOST_NAMED)}" if known else ""
