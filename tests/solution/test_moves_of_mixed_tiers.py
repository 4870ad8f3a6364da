"""Tiers in service of several products that may be taken apart: each switch stays of its own, or goes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from tests.oracles.brute_parts import Json
from tests.samples.bases import designed, gone_on
from tests.samples.moves import FREE, anew_with_what_is_owned, assert_costs, assert_costs_the_same, given, moved, usd
from tests.samples.random_cases import Dice
from tests.solution.test_beside import in_stages, types
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_mixed_bases import makers, mixed_base, of_servers, two_makers
from tests.solution.test_moves import least_with_moves, prices

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
BOTH = ("own", "other")


def test_with_nothing_new_nothing_moves(tmp_path: Path) -> None:
    base = mixed_base(tmp_path)
    design = moved(two_makers(1), of_servers(8, leaf=BOTH), base, tmp_path, {"cable": 1, "device": 1})
    assert usd(design) == 0 and makers(design) == makers(base)


def test_new_switches_are_of_the_cheaper_product_beside_those_that_stay(tmp_path: Path) -> None:
    """A leaf of each maker is there; two more come of the other one, so that most are its own."""
    base = mixed_base(tmp_path)
    design = moved(two_makers(), of_servers(16, leaf=BOTH), base, tmp_path, {"cable": 1000, "device": 1000})
    assert usd(design) == 2 * 900 + 8 * (100 + 10) + 8 * 20
    assert types(design)["leaf"] == {"own": 1, "other": 3}
    assert {name: makers(design)[name] for name in makers(base)} == makers(base)


def test_without_the_rule_it_is_refused(tmp_path: Path) -> None:
    content = of_servers(8) | {"rules": {"interchangeable": False}}
    with pytest.raises(InputError, match="without the rule `interchangeable`"):
        given(two_makers(), content, mixed_base(tmp_path), tmp_path, FREE)


# -- every design of small bases --------------------------------------------------------------------------------------


def as_of_one(design: Design) -> Design:
    """The design with all its switches named for the first maker, on the bill too; it still says which stood in."""
    (fabric,) = design.fabrics
    tiers = tuple(tier.model_copy(update={"id": "own"}) for tier in fabric.tiers)
    bom = tuple(row.model_copy(update={"id": "own"}) if row.kind == "switch" else row for row in design.bom)
    return design.model_copy(update={"fabrics": (fabric.model_copy(update={"tiers": tiers}),), "bom": bom})


def makers_of(usd_of: Mapping[str, float], ports: int) -> Json:
    return catalog(switches=[switch(id_, cage(ports, "1x100"), usd=price) for id_, price in usd_of.items()])


def a_mixed_base(dice: Dice, folder: Path) -> tuple[dict[str, float], int, Design, int]:
    """What three makers ask for a switch of so many ports, and a base whose tiers grew by the second's."""
    usd_of = {id_: float(dice.number(600, 1200)) for id_ in ("own", "other", "third")}
    ports, tiers, servers, ratio = dice.number(5, 8), dice.one([[1, 2], 2, 2]), dice.number(2, 5), dice.one([1, 2, 3])
    first, new = {"leaf": ["own"], "spine": ["own"]}, {"leaf": ["other"], "spine": ["other"]}
    parts = makers_of(usd_of, ports)
    base = designed(parts, in_stages(servers, tiers=tiers, max_oversubscription=ratio, switches=first))
    if base.status == "optimal":
        servers += dice.number(1, 4)
        content = in_stages(servers, tiers=[1, 2], max_oversubscription=ratio, switches=new)
        base = gone_on(parts, content, base, folder)
    return usd_of, ports, base, servers


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(40 * MORE_SEEDS))
def test_no_design_with_moves_of_a_mixed_base_is_cheaper(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"moves-of-mixed-{seed}")
    usd_of, ports, base, before = a_mixed_base(dice, tmp_path)
    if base.status != "optimal":
        return
    move, asked = prices(dice), {"tiers": [1, 2], "max_oversubscription": dice.one([1, 2, 3])}
    new = dice.one([["own", "other", "third"], ["own", "other"]])
    servers = dice.number(before, 12)
    one_price = makers_of({"own": min(usd_of[id_] for id_ in new)}, ports)
    least = least_with_moves(one_price, in_stages(servers, **asked), as_of_one(base), move)
    content = in_stages(servers, switches={"leaf": new, "spine": new}, **asked)
    design = moved(makers_of(usd_of, ports), content, base, tmp_path, move)
    assert_costs(design, least)


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(24 * MORE_SEEDS))
def test_dearer_moves_cost_no_less_and_free_ones_what_the_green_field_does(seed: int, tmp_path: Path) -> None:
    """In one stage and in two; the second adds servers to those of the first."""
    dice = Dice(f"dearer-moves-of-mixed-{seed}")
    usd_of, ports, base, before = a_mixed_base(dice, tmp_path)
    if base.status != "optimal":
        return
    parts, new = makers_of(usd_of, ports), ["own", "other", "third"]
    sizes = sorted(dice.number(before, 12) for _ in range(dice.number(1, 2)))
    asked = {"tiers": [1, 2], "max_oversubscription": dice.one([1, 2, 3]), "switches": {"leaf": new, "spine": new}}
    content: dict[str, Any] = in_stages(*sizes, **asked)
    costs = [moved(parts, content, base, tmp_path, {"cable": usd_, "device": usd_}) for usd_ in (0, 40, 900)]
    anew = anew_with_what_is_owned(parts, content, base, tmp_path)
    assert_costs_the_same(costs[0], anew)
    assert {design.status for design in costs} == {anew.status}
    if anew.status == "optimal":
        assert [*map(usd, costs)] == sorted(map(usd, costs))
