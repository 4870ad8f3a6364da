"""A default rule that is turned off is never dearer: what rules ask for is in the space without them too.

But for rule ``lengths``, without which runs are others, and may be longer.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.rules.defaults import DEFAULT_RULES, LENGTHS, PAIR, PAIRING
from fabopt.solution import optimize
from tests.samples.once import once
from tests.samples.small import Json, catalog, product

ROLES = ("compute", "storage", "in-band")
# What is said beside: of a fabric, of the case.
SETTINGS: dict[str, tuple[Json, Json]] = {
    "few": ({}, {"servers": 6}),
    "of one switch": ({}, {"servers": 3}),
    "two tiers": ({"tiers": 2}, {"servers": 6}),
    "no peers": ({}, {"servers": 6, "rules": {PAIRING: False}}),
    "any homing": ({"homing": "any"}, {"servers": 6}),
    "attached": ({"attachments": [{"name": "nodes", "ports": 4, "buys": "none"}]}, {"servers": 4}),
}


def parts() -> Json:
    """The small catalog with a NIC of two ports, and switches that can be in pairs."""
    content = catalog()
    two = {**product(content, "nic-200"), "id": "nic-2x200", "price_usd": 1300}
    content["nics"].append({**two, "cages": [{"count": 2, "form_factor": "QSFP56", "splits": ["1x200"]}]})
    for switch in content["switches"]:
        switch["features"] = ["mlag"]
    return content


def case_of(role: str, setting: str) -> Json:
    of_fabric, of_case = SETTINGS[setting]
    fabric = {"name": "one", "role": role, "min_gbps_per_gpu": 50, "max_oversubscription": 2, **of_fabric}
    return {"name": "rules-off", "server": "gpu-4", "fabrics": [fabric], **of_case}


def cost(content: Json) -> float:
    """The objective, proven; infinite without a design. All checks of a design hold."""

    def work() -> Any:
        return optimize.solve(inputs_from_objects(content, parts()), alternatives_s=0)

    design = once(work, content, "rules off")
    assert design.status in ("optimal", "infeasible")
    assert [check for check in design.checks if not check.ok] == []
    return math.inf if design.status == "infeasible" else float(design.objective.value)


def without(content: Json, rule: str) -> Json:
    return {**content, "rules": {**content.get("rules", {}), rule: False}}


@pytest.mark.long
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("role", ROLES)
def test_a_rule_that_is_turned_off_is_never_dearer(role: str, setting: str) -> None:
    content = case_of(role, setting)
    kept = cost(content)
    costs = {rule: cost(without(content, rule)) for rule in DEFAULT_RULES.keys() - {LENGTHS}}
    assert {rule: usd for rule, usd in costs.items() if usd > kept} == {}
    assert cost({**content, "resilience": "none"}) <= kept


@pytest.mark.parametrize("role", ["storage", "in-band"])
def test_two_switches_without_a_link_stay_where_no_rule_asks_for_them(role: str) -> None:
    """What a rule or `homing: pair` asks for is in the space of `homing: any` too."""
    content = without(case_of(role, "no peers"), PAIR)
    paired = case_of(role, "no peers")
    assert cost(content) <= cost(paired) < math.inf
    free = {**paired, "fabrics": [{**paired["fabrics"][0], "homing": "any"}]}
    asked = {**paired, "fabrics": [{**paired["fabrics"][0], "homing": "pair"}]}
    assert cost(free) <= cost(asked)
