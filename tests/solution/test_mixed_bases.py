"""Networks in service whose tiers are of several products: each device stays of its own, whatever comes beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.schema.installed import nics_at
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples import random_cases
from tests.samples.bases import assert_stays, designed, gone_on, gone_on_if_it_may, live, saved
from tests.samples.once import once
from tests.samples.random_cases import Dice
from tests.solution.test_beside import OWN, in_stages, models, of_one, types
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_in_service import least_after

Json = dict[str, Any]
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
FAMILIES = ("linear", "attached", "hosted", "three_tier", "rails", "planes")


def two_makers(other_usd: float = 900, **keys: Any) -> Json:
    """Leaves of eight ports by two makers, at 1,000 USD and at another price, and a spine of 32 ports."""
    parts = models(other_usd, **keys)
    return {**parts, "switches": [*parts["switches"], switch("big", cage(32, "1x100"), usd=3000)]}


def of_servers(*servers: int, leaf: tuple[str, ...] = ("own",), **keys: Any) -> Json:
    """A case of so many servers whose new leaves are of some makers."""
    return in_stages(*servers, switches={"leaf": list(leaf), "spine": ["big"]}, **keys)


def mixed_base(folder: Path) -> Design:
    """A leaf of one maker with four servers, and one of another that came with four more, below a spine."""

    def work() -> Design:
        day_1 = designed(two_makers(), of_servers(4, 12))
        return gone_on(two_makers(), of_servers(8, leaf=("other",)), day_1, folder, "stage-1")

    return once(work, "mixed base")


def capex(design: Design) -> float:
    assert design.totals is not None
    return design.totals.capex_usd


def makers(design: Design) -> dict[str, str]:
    """The product of each switch, by its name."""
    devices = wiring_of(design).devices
    switches = zip(devices.name, devices.product, devices.role, strict=True)
    return {name: product for name, product, role in switches if role in ("leaf", "spine", "core")}


def test_it_is_gone_on_from_switch_by_switch(tmp_path: Path) -> None:
    base = mixed_base(tmp_path)
    assert types(base)["leaf"] == {"other": 1, "own": 1}
    same = gone_on(two_makers(1), of_servers(8), base, tmp_path)
    assert capex(same) == 0 and live(wiring_of(same)) == live(wiring_of(base))
    # two leaves more of the first maker, so that most are: names and products of those in service stay as they are
    design = gone_on(two_makers(), of_servers(16), base, tmp_path)
    assert_stays(design, base, 1)
    assert types(design)["leaf"] == {"own": 3, "other": 1}
    assert {name: makers(design)[name] for name in makers(base)} == makers(base)


@pytest.mark.long
def test_an_earlier_stage_has_what_was_there_then(tmp_path: Path) -> None:
    base = mixed_base(tmp_path)
    design = gone_on(two_makers(), of_servers(16), base, tmp_path)
    early = gone_on(two_makers(1), of_servers(8), design, tmp_path, "in-service")
    assert capex(early) == 0 and live(wiring_of(early)) == live(wiring_of(base))


def test_what_a_stage_still_plans_is_not_there(tmp_path: Path) -> None:
    """A plan whose first stage has one maker's leaf, and whose second has more of the other's."""
    parts = two_makers()
    parts["switches"][1]["lead_time_weeks"] = 30
    content = of_servers(4, 12, leaf=("own", "other"))
    content["stages"] = [{**stage, "month": month} for stage, month in zip(content["stages"], (6, 12), strict=True)]
    planned = designed(parts, content | {"start": "2027-01"})
    leaf = planned.fabrics[0].tiers[0]
    assert (leaf.id, [(one.stage, one.id) for one in leaf.stand_ins]) == ("other", [("stage-1", "own")])
    design = gone_on(two_makers(1), of_servers(4, tiers=[1, 2]), planned, tmp_path, "stage-1")
    assert_stays(design, planned, 0)
    assert types(design) == {"leaf": {"own": 1}}


def of_two_vendors(first_usd: float, second_usd: float, **terms: Any) -> Json:
    """Two makers of leaves, and a card that two vendors offer, the first of them on some terms."""
    parts = two_makers()
    (card,) = parts["nics"]
    second = {**card, "id": "card.b", "offer_of": card["id"], "sold_by": "B", "price_usd": second_usd}
    return {**parts, "nics": [{**card, "sold_by": "A", "price_usd": first_usd, **terms}, second]}


@pytest.mark.long("parts0-there0")
@pytest.mark.parametrize(
    ("parts", "there"),
    [(of_two_vendors(100, 90), {"card.b": 8}), (of_two_vendors(90, 100, supply=3), {"card": 3, "card.b": 5})],
)
def test_each_card_stays_of_its_vendor(parts: Json, there: dict[str, int], tmp_path: Path) -> None:
    """The second vendor's are cheaper; or the first's are, who has three of them, and three more for what comes."""
    base = designed(parts, of_servers(8))
    same = gone_on(parts, of_servers(8), base, tmp_path)
    assert capex(same) == 0
    design = gone_on(parts, of_servers(12), base, tmp_path)
    assert_stays(design, base, 0)
    assert capex(design) == 4 * (90 + 10) + (1000 + 4 * 20) + (0 if there == {"card.b": 8} else 10)
    for one in (same, design):
        assert nics_at(one.fabrics[0], ["in-service"], 8) == there
    (fabric,) = design.fabrics
    other = "card" if fabric.nic.id == "card.b" else "card.b"
    forged = fabric.model_copy(update={"nic": fabric.nic.model_copy(update={"id": other})})
    failed = {check.name for check in verify(design.model_copy(update={"fabrics": (forged,)})) if not check.ok}
    assert "base_stays" in failed


# -- what does not go with it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"max_latency_us": 50}, "fabrics[0].max_latency_us"),
        ({"procurement": {"max_vendors": {"leaf": 2}}}, "procurement.max_vendors.leaf"),
        ({"procurement": {"min_sources": {"leaf": 1}}}, "procurement.min_sources.leaf"),
    ],
)
def test_keys_that_tell_switches_apart_are_refused(keys: Json, path: str, tmp_path: Path) -> None:
    base = {"file": str(saved(mixed_base(tmp_path), tmp_path))}
    fabric = {key: value for key, value in keys.items() if key == "max_latency_us"}
    rest = {key: value for key, value in keys.items() if key == "procurement"}
    with pytest.raises(InputError) as refusal:
        inputs_from_objects({**of_servers(8, **fabric), **rest, "base": base}, two_makers())
    (told,) = refusal.value.faults
    assert told.path == path and "leaf tier of several products" in told.problem and told.value == "other and own"


def test_products_that_a_catalog_tells_apart_are_not_gone_on_from(tmp_path: Path) -> None:
    base = mixed_base(tmp_path)
    design = gone_on(two_makers(features=["mlag"]), of_servers(8), base, tmp_path)
    assert design.status == "infeasible"


def test_without_the_rule_new_switches_are_of_one_product_in_service(tmp_path: Path) -> None:
    parts, base = two_makers(), mixed_base(tmp_path)
    parts["switches"].append({**parts["switches"][1], "id": "third", "price_usd": 100})
    content = of_servers(12, leaf=("own", "other", "third"))
    for case, leaves in ((content, {"third": 1}), (of_one(content), {"other": 2})):
        design = gone_on(parts, case, base, tmp_path)
        assert_stays(design, base, 1)
        assert types(design)["leaf"] == {"other": 1, "own": 1} | leaves


def swapped(content: Json) -> None:
    """The leaves in service change their products."""
    leaf = content["fabrics"][0]["tiers"][0]
    leaf["stand_ins"] = [{**leaf["stand_ins"][0], "count": leaf["stand_ins"][0]["count"] + 1}]


def renamed(content: Json) -> None:
    """What is in service is said to be of the other product, and as much of what is new."""
    for one in content["fabrics"][0]["tiers"][0]["stand_ins"]:
        one["stage"] = "all"


@pytest.mark.long("swapped")
@pytest.mark.parametrize("forge", [swapped, renamed])
def test_a_forged_design_is_refused(forge: Callable[[Json], None], tmp_path: Path) -> None:
    design = gone_on(two_makers(), of_servers(16), mixed_base(tmp_path), tmp_path)
    content = json.loads(design.model_dump_json(by_alias=True))
    forge(content)
    checks = verify(Design.model_validate_json(json.dumps(content)))
    assert "base_stays" in {check.name for check in checks if not check.ok}


# -- random bases -----------------------------------------------------------------------------------------------------


def as_if_of_one(design: Design) -> Design:
    """The design with all its switches of the first maker, as a count of every design has them."""
    (fabric,) = design.fabrics
    tiers = tuple(tier.model_copy(update={"id": "own", "stand_ins": ()}) for tier in fabric.tiers)
    return design.model_copy(update={"fabrics": (fabric.model_copy(update={"tiers": tiers}),)})


@pytest.mark.long(but=("3",))
@pytest.mark.parametrize("seed", range(30 * MORE_SEEDS))
def test_nothing_that_goes_on_again_and_again_is_cheaper(seed: int, tmp_path: Path) -> None:
    """Three times, each with other makers named: what is new costs the least that any of them asks."""
    dice = Dice(f"again-{seed}")
    usd = {id_: dice.number(600, 1200) for id_ in ("own", "other", "third")}
    ports, tiers, servers = dice.number(6, 10), dice.one([[1, 2], 2, 2]), dice.number(2, 5)

    def parts(own_usd: float) -> Json:
        alike = [switch(id_, cage(ports, "1x100"), usd=usd[id_]) for id_ in usd]
        return catalog(switches=[alike[0] | {"price_usd": own_usd}, *alike[1:]])

    whole = parts(usd["own"])
    base = designed(whole, in_stages(servers, tiers=tiers, max_oversubscription=dice.one([1, 2, 3]), switches=OWN))
    for _ in range(3):
        if base.status != "optimal":
            return
        new = dice.one([["other"], ["third"], ["own", "other"], ["own", "third"], ["own"]])
        before, servers = servers, servers + dice.number(1, 4)
        asked = {"tiers": [1, 2], "max_oversubscription": dice.one([1, 2, 3, 4])}
        content = in_stages(servers, switches={"leaf": new, "spine": new}, **asked)
        least = least_after(
            parts(min(usd[id_] for id_ in new)), in_stages(servers, switches=OWN, **asked), as_if_of_one(base), before
        )
        design = gone_on(whole, content, base, tmp_path)
        if least is None:
            assert design.status == "infeasible"
            return
        assert (design.status, Fraction(round(capex(design) * 100))) == ("optimal", least)
        assert_stays(design, base, len(base.stages) - 1)
        base = design
    same = gone_on(whole, in_stages(servers, tiers=[1, 2], max_oversubscription=100), base, tmp_path)
    assert capex(same) == 0 and live(wiring_of(same)) == live(wiring_of(base))


def with_second_makers(parts: Json, dice: Dice) -> Json:
    """A catalog in which each switch is made by another maker too, for less."""
    others = [
        {**one, "id": f"{one['id']}-too", "price_usd": one["price_usd"] * dice.one([0.5, 0.9])}
        for one in parts["switches"]
        if isinstance(one["price_usd"], (int, float))
    ]
    return {**parts, "switches": [*parts["switches"], *others]}


def widened(fabric: Json) -> Json:
    """A fabric that may grow on any tiers, with up to twelve times the servers that its uplinks carry."""
    return {**fabric, "tiers": "any", "max_oversubscription": 12}


@pytest.mark.long(but=("30",))
@pytest.mark.parametrize("seed", range(60 * MORE_SEEDS))
def test_what_is_live_stays_whoever_made_it(seed: int, tmp_path: Path) -> None:
    """Of one maker, then with another's switches beside it, then with either's."""
    dice = Dice(f"makers-{seed}")
    parts, before = random_cases.generate(FAMILIES[seed % len(FAMILIES)], seed)
    before = {key: value for key, value in before.items() if key not in ("catalog", "finance")}
    before |= {"objective": "capex_usd", "include_servers": False}
    both, base = with_second_makers(parts, dice), designed(parts, before)
    before |= {"fabrics": [widened(fabric) for fabric in before["fabrics"]]}
    for more in (dice.number(1, 6), dice.number(0, 3), 0):
        after = {**before, "servers": before["servers"] + more}
        design = gone_on_if_it_may(both, after, base, tmp_path)
        if design is None:
            return
        if design.status == "infeasible":
            assert more, "with nothing new the base is a design"
            continue
        assert_stays(design, base, len(base.stages) - 1)
        if not more:
            assert capex(design) == 0 and live(wiring_of(design)) == live(wiring_of(base))
        before, base = after, design
