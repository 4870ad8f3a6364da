"""Rule P5 of docs/catalog.md: switches without a public price have one by the Tb/s of priced ones, worked out again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import log

import pytest

from fabopt.io.catalog import named_catalogs
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Catalog, Switch

WHITE_BOX = ("Celestica", "Edgecore", "FS", "Micas", "Nexthop", "UfiSpace")
# Optics of a co-packaged box: what the dearest module of its ports costs, NVIDIA's 2x 400G-DR4, for every 800 Gb/s.
OPTICS = "nvidia-mms4x00-nm"
OPTICS_TBPS = 0.8


@cache
def reference() -> Catalog:
    return named_catalogs(["reference"])


def tbps(switch: Switch, form_factor: str = "") -> float:
    """Tb/s of a switch's cages, or of those whose form factor begins with a word."""
    most = ((cage, max(ports * mbps for ports, mbps in map(parse_split, cage.splits))) for cage in switch.cages)
    return sum(cage.count * each for cage, each in most if cage.form_factor.startswith(form_factor)) / 1e6


def class_of(switch: Switch) -> tuple[str, bool]:
    """The class in which prices are compared, and whether it is a switch for management."""
    maker = "NVIDIA" if switch.vendor == "NVIDIA" else "white" if switch.vendor in WHITE_BOX else "branded"
    return f"{maker} {switch.protocol}", any(cage.form_factor == "RJ45" for cage in switch.cages)


def is_by_rule(switch: Switch) -> bool:
    source = switch.provenance.get("price_usd")
    return source is not None and source.kind == "derived" and (source.note or "").startswith("rule P5")


def usd_per_tbps(catalog: Catalog, switch: Switch) -> float:
    """The most that a switch of the nearest generation costs for a Tb/s, in the catalog or on the street."""
    street = next(book.prices for book in catalog.prices if book.name == "street-2026")
    own = tbps(switch)

    def priced() -> Iterator[tuple[float, float]]:
        for other in catalog.switches:
            if other.price_usd is not None and not is_by_rule(other) and not other.end_of_life:
                assert isinstance(other.price_usd, float)
                paid = street.get(other.id, 0.0)
                assert isinstance(paid, float)
                if class_of(other) == class_of(switch):
                    yield tbps(other), max(other.price_usd, paid) / tbps(other)

    nearest = min((abs(log(size / own)), size) for size, _ in priced())[1]
    return max(usd for size, usd in priced() if size == nearest)


def by_rule(catalog: Catalog, switch: Switch) -> float:
    """The price by the rule, in USD, rounded as the page says."""
    optics = next(module.price_usd for module in catalog.transceivers if module.id == OPTICS)
    assert isinstance(optics, float)
    usd = usd_per_tbps(catalog, switch) * tbps(switch) + optics * tbps(switch, "CPO") / OPTICS_TBPS
    step = 100 if usd >= 10_000 else 10
    return float(step * round(usd / step))


@pytest.mark.parametrize("id_", [switch.id for switch in reference().switches if is_by_rule(switch)])
def test_a_price_by_rule_is_the_upper_end_of_what_priced_switches_give(id_: str) -> None:
    switch = next(switch for switch in reference().switches if switch.id == id_)
    source = switch.provenance["price_usd"]
    assert switch.price_usd == by_rule(reference(), switch)
    assert source.confidence == "low" and f"{usd_per_tbps(reference(), switch):,.0f} USD" in (source.note or "")


def test_every_switch_has_a_price() -> None:
    """Those that nobody publishes a price of have one by the rule, as many as the page says."""
    assert [switch.id for switch in reference().switches if switch.price_usd is None] == []


def test_a_price_by_rule_is_no_bargain() -> None:
    """For a Tb/s no switch of its class and size with a public price costs more."""
    public = {
        switch.id: (class_of(switch), tbps(switch), switch.price_usd)
        for switch in reference().switches
        if not is_by_rule(switch) and not switch.end_of_life and isinstance(switch.price_usd, float)
    }
    ruled = [switch for switch in reference().switches if is_by_rule(switch)]
    for switch in ruled:
        assert isinstance(switch.price_usd, float)
        alike = [usd for of_class, size, usd in public.values() if (of_class, size) == (class_of(switch), tbps(switch))]
        assert switch.price_usd >= max(alike, default=0.0) - 50
    assert len(ruled) > 40
