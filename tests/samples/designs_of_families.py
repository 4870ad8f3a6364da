"""A small solved design of every family and of every kind of case, for tests that change single facts of a design."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.floor import test_appliances
from tests.problem import test_separation
from tests.samples import growth_samples, random_cases, random_growth, small
from tests.samples.bare import with_equal_groups
from tests.samples.lengths import RACKS
from tests.samples.resilience import without_redundancy
from tests.samples.shipped import in_run
from tests.topology import test_direct, test_dragonfly_plus, test_server_torus
from tests.workload import test_workload_designs

ANY_SLOT = {"slot-speed": False}

Json = dict[str, Any]
# A catalog (None: the case's own) and a case.
Pair = tuple[Json | None, Json]


def _with_offers() -> Pair:
    """Breaks of both sorts, stock, supply, packs, lead times and vendors; spares, approved parts, a calendar."""
    parts = small.catalog()
    breaks = [{"from": 1, "usd": 700}, {"from": 20, "usd": 600.5}]
    small.product(parts, "dr4").update(price_usd=breaks, price_breaks="incremental", vendor="Acme", supply=90)
    small.product(parts, "nic-400").update(lead_time_weeks=12, stock=2, price_usd=breaks, part_number="N-400")
    small.product(parts, "mpo")["lengths"][1].update(stock=3, pack_size=4, part_number="M-50")
    keys: Json = {
        "stages": [{"name": "go-live", "month": 9, "servers": 6}],
        "start": "2026-01",
        "finance": {"discount_rate": 0.08, "price_decline": {"switch": 0.05}},
        "objective": "tco_usd",
        "include_servers": True,
        "procurement": {
            "spares": {"switch": {"minimum": 1}, "transceiver": {"fraction": 0.02, "minimum": 2}},
            "max_part_numbers": {"switch": 1}, "forbidden_vendors": ["Bolt"],
        },
    }  # fmt: skip
    parts["switches"][0]["vendor"] = "Bolt"
    return parts, small.case({"resilience": {"survive": "1 spine", "min_gbps_per_gpu": 50}}, **keys)


def _uncertain() -> Pair:
    """Growth that may end, charges of three kinds, terms of payment, and who may supply what."""
    parts = growth_samples.eight()
    for product in (product for kind in parts.values() if isinstance(kind, list) for product in kind):
        product["vendor"] = "Acme"
    charges = [
        {"name": "licence", "usd": 7.5, "per": "unit", "kinds": ["switch"]},
        {"name": "support", "percent": 4, "yearly": True},
        {"name": "tax", "percent": 19},
    ]
    keys: Json = {
        "finance": {"discount_rate": 0.06, "payment": {"on_order": 0.3, "on_delivery": 0.7}, "residual": 0.1},
        "objective": "tco_usd", "start": "2027-01", "charges": charges,
        "procurement": {"approved_vendors": {"switch": ["Acme"]}, "max_vendors": {"switch": 1}},
    }  # fmt: skip
    case = growth_samples.grown(4, 8, **keys)
    case["stages"][-1]["probability"] = 0.5
    return parts, case


def _on_a_floor() -> Pair:
    storage = test_appliances.STORES | {"boxes": 1, "ports": 2, "buys": "both"} | test_appliances.PORT
    return test_appliances.parts(), test_appliances.case(storage, floor={"rows": 1}, rules=dict.fromkeys(RACKS, False))


MAKERS: dict[str, Callable[[], Pair]] = {
    "clos, one tier": lambda: (small.catalog(), small.case({"tiers": 1}, servers=3)),
    "clos, two tiers": _with_offers,
    "clos, three tiers": partial(random_cases.generate, "three_tier", 9),
    "rail-only": partial(random_cases.generate, "rails", 1),
    "planes": partial(random_cases.generate, "planes", 2),
    "attachments": partial(random_cases.generate, "attached", 1),
    "hyperx": partial(test_direct.generate, "hyperx", 6),
    "torus": partial(test_direct.generate, "torus", 3),
    "dragonfly": partial(test_direct.generate, "dragonfly", 2),
    "dragonfly+": partial(test_dragonfly_plus.generate, 2),
    "torus of servers": lambda: (test_server_torus.catalog(), test_server_torus.case(9) | {"rules": ANY_SLOT}),
    "growth": lambda: (growth_samples.eight(), growth_samples.cheaper_later("allow")),
    "growth with attachments": partial(random_growth.generate, "staged_attached", 2),
    "uncertain growth": _uncertain,
    "floor": _on_a_floor,
    "logical": lambda: (test_separation.parts(), test_separation.case()),
    "several fabrics": lambda: (test_separation.parts(), test_separation.case("physical")),
    "procurement": partial(random_cases.generate, "ruled", 12),
    "model": lambda: (None, test_workload_designs.case()),
}  # fmt: skip


# Whose rows of what else there is take seconds and say what those of other kinds do.
UNCOMPARED = ("torus", "hyperx", "logical", "several fabrics", "procurement")


@cache
def designed(kind: str) -> Design:
    """The design of a kind of case, with its alternatives if they are soon found; without redundancy where it says
    nothing of it.
    """
    catalog, case = MAKERS[kind]()
    content = case if catalog is None else {key: value for key, value in case.items() if key != "catalog"}
    given = inputs_from_objects(without_redundancy(with_equal_groups(content)), catalog)
    seconds = {"alternatives_s": 0} if kind in UNCOMPARED else {}
    return in_run(lambda: optimize.solve(given, **seconds), f"family {kind}")
