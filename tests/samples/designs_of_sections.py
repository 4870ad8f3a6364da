"""Small solved designs that have the sections of a design file which those of the families lack."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.output import test_orders
from tests.paths import ERRORS, INPUTS
from tests.problem import test_separation
from tests.samples import random_cases, small
from tests.samples.growth_samples import eight, grown
from tests.samples.lengths import RACKS
from tests.samples.shipped import in_run
from tests.samples.small import case, catalog, product
from tests.search import test_decision
from tests.solution import (
    test_brute_force,
    test_expedite,
    test_free_ports,
    test_futures,
    test_interchangeable,
    test_last_group,
    test_offers,
    test_open_planes,
    test_pairing,
    test_rack_losses,
    test_redundancy,
    test_servers,
    test_subnet_manager,
)
from tests.workload import test_jobs, test_rack_scale, test_service, test_serving_beside, test_workload_designs

Json = dict[str, Any]


def _solved(parts: Json, content: Json) -> Design:
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
    return _solved(test_brute_force.catalog(**test_futures.TWO_SIZES), content)


def _scenarios() -> Design:
    content = grown(4, 8, objective="tco_usd", finance=test_futures.NO_ENERGY)
    content["scenarios"] = [{"name": name, "probability": 0.5, "months": {"stage-2": 12}} for name in ("one", "two")]
    return _solved(eight(), content)


def _at_work() -> Design:
    """A model with groups that share and Muon, in scenarios of its use."""
    hidden = {"data": [0.5, 1], "tensor": 0.5, "context": 0.5, "gather": 0.5}
    own = {"overlap": hidden, "zero_stage": 1, "shard_group": 8, "reduce_gradients": "step", "optimizer": "muon"}
    plan = test_workload_designs.MODEL["plan"] | own
    scenarios = [{"weight": 0.6, "placement": "packed"}, {"weight": 0.4, "lost": "1 spine"}]
    use = {"model": test_workload_designs.MODEL | {"plan": plan}, "scenarios": scenarios}
    content = test_workload_designs.case(use) | {"objective": "usd_per_effective_gpu"}
    return optimize.solve(inputs_from_objects(content), alternatives_s=0)


def _stand_ins() -> Design:
    """Leaves of two products, as there are too few of the cheaper one."""
    switches = test_interchangeable.switch("a", 1000, supply=3), test_interchangeable.switch("b", 1500)
    return test_interchangeable.solved(test_interchangeable.wanted(8), test_interchangeable.parts_with(*switches))


def _on_offer() -> Design:
    """Rows of what else there is that leave a rule out, of which not all were looked at."""
    parts, content = test_redundancy.three_ports()
    rows = optimize.solve(inputs_from_objects(content, parts), alternatives_s=60)
    return rows.model_copy(update={"alternatives_complete": False})


def _decided() -> Design:
    """By regret among designs of three tiers that the model cannot tell apart, with ranks within pods."""
    said = {"scenarios": test_decision.SCENARIOS, "decide_by": "regret", **test_decision.IN_PODS}
    parts, content = test_decision.given("three_tier", 6, **said)
    return _solved(parts, {**content, "rules": {**content["rules"], "robust-designs": True}})


def _in_memory() -> Design:
    parts = yaml.safe_load((ERRORS / "_fast.yaml").read_text())
    parts["servers"][0]["gpu_memory_gb"] = 80
    plan = test_workload_designs.MODEL["plan"] | {"overlap": {"data": [0, 1]}}
    use = {"model": test_workload_designs.MODEL | {"plan": plan}}
    content = {key: value for key, value in test_workload_designs.case(use).items() if key != "catalog"}
    return _solved(parts, content)


def _served() -> Design:
    """A model that is served, whose prompts are read on GPUs of their own, and what else its users may wait for."""
    return optimize.solve(inputs_from_objects(test_service.case_of()), alternatives_s=60)


def _in_racks() -> Design:
    """Three tiers on a floor, whose switches leave no unit of their rack free."""
    parts, content = random_cases.generate("three_tier", 6)
    rules = {**content.get("rules", {}), **dict.fromkeys(RACKS, False)}
    for device in (*parts["servers"], *parts["switches"]):
        device.update(rack_units=1, power_w=100)
    return _solved(
        parts, {**content, "site": {"floor": {"rows": 1, "racks_per_row": 9, "rack_units": 6}}, "rules": rules}
    )


# By kind, the keys that its design is there for, as ``tests.mutations.name_of`` has them, and the design.
def _in_planes() -> tuple[Json, Json]:
    """Two planes of two tiers, and switches of sixteen ports."""
    parts = test_brute_force.catalog(
        switches=[test_brute_force.switch("switch", test_brute_force.cage(16, "1x100"))],
        nics=[test_brute_force.card("card", test_brute_force.cage(2, "1x100"))],
    )
    wanted = {"min_gbps_per_gpu": 200, "nics_per_server": 1, "tiers": 2, "planes": 2}
    return test_brute_force.case(17, wanted), parts


MAKERS: dict[str, tuple[str, Callable[[], Design]]] = {
    "last group": ("fabrics.#.structure.last_group", lambda: test_last_group.odd(13)),
    "subnet managers": (
        "fabrics.#.(subnet_manager|redundancy)",
        lambda: test_subnet_manager.designed(test_subnet_manager.parts(), resilience="default"),
    ),
    "peer links": (
        "fabrics.#.(homing|pairing|peer_links|redundancy)",
        lambda: small.designed(*test_pairing.in_band(test_pairing.parts_of("mlag"))),
    ),
    "a rule left out": ("rules_left_out", lambda: small.designed(*test_pairing.in_band(test_pairing.parts_of()))),
    "shared": ("fabrics.#.carries", lambda: _solved(test_separation.parts(), test_separation.case("shared"))),
    "free ports": (
        "fabrics.#.free_ports",
        lambda: small.solved(test_free_ports.wanted(test_free_ports.manager(2)), test_free_ports.PARTS),
    ),
    "offers": ("bom.#.sold_by|fabrics.#.nic.stand_ins", _offers),
    "orders": ("bom.#.(from_stock|beyond_need)", _orders),
    "sooner": (
        "bom.#.(expedite_usd|order_by)",
        lambda: test_expedite.designed(**test_expedite.LATE, expedite=test_expedite.SOONER),
    ),
    "stand-ins": ("fabrics.#.tiers.#.stand_ins", _stand_ins),
    "regret": ("objective.decision|futures", _regret),
    "scenarios": ("futures", _scenarios),
    "losses of racks": (
        "fabrics.#.failures",
        lambda: test_rack_losses.solved(test_rack_losses.rack_case([test_rack_losses.without_rack(1)])),
    ),
    "at work": ("objective.decision|workload.(scenarios|plan.(shard_group|reduce_gradients|optimizer))", _at_work),
    "what else": (r"alternatives\.#\.rules_left_out|alternatives_complete", _on_offer),
    "decided": ("objective.decision|workload.(placement|tapers|scenarios)", _decided),
    "memory": ("workload.(memory|needs)", _in_memory),
    "served": (r"serving|alternatives\.#\.(ttft_s|tpot_s)", _served),
    "jobs": (
        r"workload\.(jobs|services|demanded_gbps_per_gpu)",
        lambda: _solved(test_serving_beside.parts(), test_serving_beside.MIX),
    ),
    "jobs that train": (
        r"workload\.jobs|alternatives\.#\.jobs",
        lambda: optimize.solve(inputs_from_objects(test_jobs.MIX), alternatives_s=60),
    ),
    "racks of spares": ("servers_compared", test_rack_scale.listed),
    "racks of cores": ("fabrics.#.placement", _in_racks),
    "left over": ("bom.#.from_earlier", test_orders.shared_orders),
    "planes": ("fabrics.#.failures", lambda: small.solved(*_in_planes())),
    "rails as planes": ("fabrics.#.(planes|own_rails)", test_open_planes.made),
    "two servers": ("servers_compared", lambda: test_servers.solved(test_servers.of_both(), test_servers.parts())),
    "two spine products": (
        "fabrics.#.(structure.mixed_spines|tiers.#.other)",
        lambda: Design.model_validate_json((INPUTS / "spines-of-two-types" / "one-model.json").read_text()),
    ),
}


@cache
def designed(kind: str) -> Design:
    """The design of a kind of section."""
    return in_run(MAKERS[kind][1], f"section {kind}")
