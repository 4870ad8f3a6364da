"""New switches of another model than those in service, with the same ports: the cheapest way, and never dearer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_objects, inputs_from_text
from fabopt.problem.problem import problem_of
from fabopt.schema.design import Design
from fabopt.schema.hashes import sha256_of
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.paths import ROOT
from tests.samples.bases import assert_stays, designed, gone_on, saved
from tests.samples.growth_samples import grown
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_in_service import least_after

Json = dict[str, Any]
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
OWN = {"leaf": ["own"], "spine": ["own"]}
OTHER = {"leaf": ["other"]}


def in_stages(*sizes: int, **fabric: Any) -> Json:
    """A growing case, all at month 0."""
    content = grown(*sizes, fabric=fabric)
    return {**content, "stages": [{**stage, "month": 0} for stage in content["stages"]]}


def of_one(content: Json) -> Json:
    """A case in which a tier has one model."""
    return {**content, "rules": {**content["rules"], "interchangeable": False}}


def models(other_usd: float, own_usd: float = 1000, ports: int = 8, **keys: Any) -> Json:
    """A switch of eight ports by one maker, and one by another."""
    other = switch("other", cage(ports, "1x100"), usd=other_usd, vendor="B", **keys)
    return catalog(switches=[switch("own", cage(8, "1x100"), usd=own_usd, vendor="A"), other])


def types(design: Design) -> dict[str, dict[str, int]]:
    return {tier.role: {own.id: own.count for own in tier.types} for tier in design.fabrics[0].tiers}


def a_base() -> Design:
    """At its first stage one leaf of four servers; its other four ports are the uplinks of a second stage."""
    return designed(models(900), in_stages(4, 8, switches=OWN))


# A leaf and a spine come: at 1000 each, or at the other maker's price; four cards and eight cables of 10, eight of 20.
BESIDE_USD = 4 * 100 + 4 * 10 + 8 * 20


@pytest.mark.parametrize(
    ("other_usd", "switches", "there", "usd"),
    [
        (900, {}, {"leaf": {"own": 1, "other": 1}, "spine": {"other": 1}}, 1800),
        (1100, {}, {"leaf": {"own": 2}, "spine": {"own": 1}}, 2000),
        (1100, OTHER, {"leaf": {"own": 1, "other": 1}, "spine": {"own": 1}}, 2100),
        (900, OWN, {"leaf": {"own": 2}, "spine": {"own": 1}}, 2000),
    ],
)
def test_new_switches_are_of_the_cheapest_model_that_the_case_allows(
    other_usd: float, switches: Json, there: Json, usd: float, tmp_path: Path
) -> None:
    base = a_base()
    design = gone_on(models(other_usd), in_stages(8, switches=switches), base, tmp_path, "stage-1")
    assert_stays(design, base, 0)
    assert types(design) == there
    assert design.totals is not None and design.totals.capex_usd == usd + BESIDE_USD


def test_with_nothing_new_the_base_stays_whatever_is_cheaper_or_asked_for(tmp_path: Path) -> None:
    base = designed(models(900), in_stages(8, switches=OWN))
    for number, switches in enumerate(({}, OTHER)):
        design = gone_on(models(1), in_stages(8, switches=switches), base, tmp_path)
        assert_stays(design, base, 0)
        assert design.totals is not None and (number, design.totals.capex_usd) == (number, 0)


@pytest.mark.long("unlike1")
@pytest.mark.usefixtures("unadvised")
@pytest.mark.parametrize("unlike", [{"ports": 9}, {"power_supplies": 4}, {"features": ["mlag"]}])
def test_a_model_that_could_be_told_apart_does_not_stand_beside(unlike: Json, tmp_path: Path) -> None:
    base = a_base()
    for switches, status in (({}, "optimal"), (OTHER, "infeasible")):
        design = gone_on(
            models(1, **unlike), in_stages(8, switches={"spine": ["own"], **switches}), base, tmp_path, "stage-1"
        )
        assert design.status == status
        assert not design.fabrics or types(design)["leaf"] == {"own": 2}


def test_nothing_goes_on_with_another_protocol_that_a_study_asks_about(tmp_path: Path) -> None:
    content = {**in_stages(8), "base": {"file": str(saved(a_base(), tmp_path)) + "@stage-1"}}
    inputs = inputs_from_objects(content, models(900))
    other = tuple(fabric.model_copy(update={"protocol": "infiniband"}) for fabric in inputs.case.fabrics)
    problem = problem_of(inputs.case.model_copy(update={"fabrics": other}), inputs.catalog)
    assert [fabric.protocols for fabric in problem.fabrics] == [()]


def test_one_model_of_several_is_new(tmp_path: Path) -> None:
    """Two at one price: neither is mixed with the other, though orders of both would do."""
    parts = models(900)
    parts["switches"].append({**parts["switches"][1], "id": "third"})
    base = designed(parts, in_stages(4, 16, switches=OWN))
    design = gone_on(parts, in_stages(16), base, tmp_path, "stage-1")
    assert_stays(design, base, 0)
    assert sorted({*types(design)["leaf"], *types(design)["spine"]}) == ["other", "own"]


# -- every design of small bases --------------------------------------------------------------------------------------


@pytest.mark.long(but=("3",))
@pytest.mark.parametrize("seed", range(30 * MORE_SEEDS))
def test_nothing_that_goes_on_with_other_models_is_cheaper(seed: int, tmp_path: Path) -> None:
    """What stays is no cost, so the least is that of one model at the least price that new ones may have."""
    dice = Dice(f"beside-{seed}")
    usd = {"own": dice.number(600, 1200), "other": dice.number(600, 1200)}
    ratio, more = dice.one([1, 1.5, 2, 3]), dice.one([1, 1.5, 2, 3])
    before, after = dice.number(2, 9), dice.number(6, 12)
    ports, tiers = dice.number(6, 10), dice.one([[1, 2], 2, 2])

    def parts(own_usd: float) -> Json:
        own, other = (switch(id_, cage(ports, "1x100"), usd=usd[id_]) for id_ in usd)
        return catalog(switches=[own | {"price_usd": own_usd}, other])

    whole = parts(usd["own"])
    base = designed(whole, in_stages(before, tiers=tiers, max_oversubscription=ratio, switches=OWN))
    if base.status != "optimal":
        return
    named = dice.one(["both", "both", "other", "own"])
    new = {"both": ["own", "other"], "other": ["other"], "own": ["own"]}[named]
    content = in_stages(
        max(before, after), tiers=[1, 2], max_oversubscription=more, switches={"leaf": new, "spine": new}
    )
    alone = {**content, "fabrics": [{**content["fabrics"][0], "switches": OWN}]}
    least = least_after(parts(min(usd[one] for one in new)), alone, base, before)
    design, without = (gone_on(whole, one, base, tmp_path) for one in (content, of_one(content)))
    if least is None:
        assert (design.status, without.status) == ("infeasible", "infeasible")
        return
    assert design.totals is not None and design.status == "optimal"
    assert Fraction(round(design.totals.capex_usd * 100)) == least
    assert_stays(design, base, 0)
    assert without.totals is None or without.totals.capex_usd >= design.totals.capex_usd


# -- what is not so ---------------------------------------------------------------------------------------------------


def rather_own(content: Json) -> None:
    """One more of a model that the case does not name: the new leaf is said to be of it."""
    leaf = content["fabrics"][0]["tiers"][0]
    leaf["id"], leaf["stand_ins"] = "own", []


def test_sizes_of_which_some_have_cores_are_ranked_beside_what_is_in_service() -> None:
    content = yaml.safe_load((ROOT / "cases" / "live-two-makers-128.yaml").read_text())
    del content["servers"]
    content["stages"] = [{"name": "now", "servers": 128}, {"name": "later", "servers": 192, "month": 12}]
    design = optimize.solve(inputs_from_text(yaml.safe_dump(content), ROOT / "cases" / "x.yaml"), alternatives_s=0)
    assert design.status == "optimal" and [check for check in design.checks if not check.ok] == []


def in_service_too(content: Json) -> None:
    """The leaf in service is said to be of the other maker."""
    leaf = content["fabrics"][0]["tiers"][0]
    leaf["stand_ins"] = [{"stage": "in-service", "id": "other", "count": 1}]
    leaf["id"] = "own"


def one_product(content: Json) -> None:
    """The case is said to have one product a tier."""
    content["case"]["content"]["rules"]["interchangeable"] = False
    content["case"]["sha256"] = sha256_of(content["case"]["content"])


@pytest.mark.parametrize(
    ("forge", "failing"),
    [
        (rather_own, "products_are_offered"),
        (in_service_too, "base_stays"),
        (one_product, "switches_are_interchangeable"),
    ],
)
def test_a_forged_design_is_refused(forge: Callable[[Json], None], failing: str, tmp_path: Path) -> None:
    design = gone_on(models(1100), in_stages(8, switches=OTHER), a_base(), tmp_path, "stage-1")
    content = json.loads(design.model_dump_json(by_alias=True))
    forge(content)
    checks = verify(Design.model_validate_json(json.dumps(content)))
    assert failing in {check.name for check in checks if not check.ok}
