"""Small solved designs that have the sections of a design file which those of the families lack."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.paths import INPUTS
from tests.problem import test_separation
from tests.samples import small
from tests.samples.growth_samples import eight, grown
from tests.samples.small import case, catalog, product
from tests.solution import (
    test_brute_force,
    test_expedite,
    test_free_ports,
    test_futures,
    test_interchangeable,
    test_last_group,
    test_offers,
    test_pairing,
    test_rack_losses,
    test_subnet_manager,
)
from tests.workload import test_workload_designs

Json = dict[str, Any]


def _inputs(parts: Json | None, content: Json) -> Design:
    return optimize.solve(inputs_from_objects(content, parts), alternatives_s=0)


def _orders() -> Design:
    """Stock, packs, spares, lead times and vendors over two stages."""
    parts = catalog()
    product(parts, "dr4-hot").update(stock=3, pack_size=4, vendor="Optic")
    for length in product(parts, "mpo")["lengths"]:
        length["pack_size"] = 7
    stages = [{"name": "day-1", "month": 7, "servers": 3}, {"name": "later", "month": 18, "servers": 6}]
    content = case({"nics": ["nic-400"], "nics_per_server": 2}, stages=stages, start="2026-03")
    return small.solved({**content, "procurement": {"spares": {"transceiver": {"fraction": 0.1}}}}, parts)


def _offers() -> Design:
    """Two vendors for one card, of which the cheaper one has too few."""
    content = test_brute_force.case(8, site=test_offers.DISTANCES)
    made, _ = test_offers.both(test_brute_force.catalog(), test_offers.CARDS, content)
    return Design.model_validate_json(json.dumps(made))


def _regret() -> Design:
    content = test_futures.uncertain(0.2, 4, 16, fabric={"tiers": [1, 2]}, growth={"decide_by": "regret"})
    return _inputs(test_brute_force.catalog(**test_futures.TWO_SIZES), content)


def _scenarios() -> Design:
    content = grown(4, 8, objective="tco_usd", finance=test_futures.NO_ENERGY)
    content["scenarios"] = [{"name": name, "probability": 0.5, "months": {"stage-2": 12}} for name in ("one", "two")]
    return _inputs(eight(), content)


def _at_work() -> Design:
    """A model with groups that share, in scenarios of its use."""
    plan = test_workload_designs.MODEL["plan"] | {"zero_stage": 1, "shard_group": 8, "reduce_gradients": "step"}
    scenarios = [{"weight": 0.6, "placement": "packed"}, {"weight": 0.4, "lost": "1 spine"}]
    use = {"model": test_workload_designs.MODEL | {"plan": plan}, "scenarios": scenarios}
    content = test_workload_designs.case(use) | {"objective": "usd_per_effective_gpu"}
    return optimize.solve(inputs_from_objects(content), alternatives_s=0)


def _peers(**keys: Any) -> Design:
    return small.designed(*test_pairing.in_band(test_pairing.parts_of("mlag"), **keys))


MAKERS: dict[str, Callable[[], Design]] = {
    "last group": lambda: test_last_group.odd(5),
    "subnet managers": lambda: test_subnet_manager.designed(test_subnet_manager.parts(), resilience="default"),
    "peer links": _peers,
    "a rule left out": lambda: small.designed(*test_pairing.in_band(test_pairing.parts_of())),
    "shared": lambda: _inputs(test_separation.parts(), test_separation.case("shared")),
    "free ports": lambda: small.solved(test_free_ports.wanted(test_free_ports.manager(2)), test_free_ports.PARTS),
    "offers": _offers,
    "orders": _orders,
    "sooner": lambda: test_expedite.designed(**test_expedite.LATE, expedite=test_expedite.SOONER),
    "stand-ins": lambda: test_interchangeable.solved(
        test_interchangeable.wanted(8),
        test_interchangeable.parts_with(
            test_interchangeable.switch("a", 1000, supply=3), test_interchangeable.switch("b", 1500)
        ),
    ),
    "regret": _regret,
    "scenarios": _scenarios,
    "losses of racks": lambda: test_rack_losses.solved(
        test_rack_losses.rack_case([test_rack_losses.without_rack(1)]),
    ),
    "at work": _at_work,
    "two spine products": lambda: Design.model_validate_json(
        (INPUTS / "spines-of-two-types" / "one-model.json").read_text()
    ),
    "no design": lambda: small.solved(case(limits={"budget_usd": 1000})),
}


@cache
def designed(kind: str) -> Design:
    """The design of a kind of section."""
    return MAKERS[kind]()
