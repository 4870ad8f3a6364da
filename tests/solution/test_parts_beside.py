"""New links of other parts than those in service, where no cage has both: the cheapest, and what is there stays."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabopt.network.components import apart_from_first, components
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_stays, designed, gone_on
from tests.samples.random_cases import Dice
from tests.solution.test_beside import in_stages
from tests.solution.test_brute_force import cage, card, catalog, fibre, optic, switch
from tests.solution.test_floors_in_service import FLOOR

Json = dict[str, Any]
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def parts(own_usd: float | None = 10, other_usd: float = 4, cages: int = 4, ports: int = 2) -> Json:
    """Switches and cards of cages with several ports, and two modules that fit them, whose fibre is 2."""
    split = f"{ports}x100"
    prices = {"own": own_usd, "other": other_usd}
    found = catalog(
        switches=[switch("switch", cage(cages, split))],
        nics=[card("card", cage(1, split))],
        cables=[],
        transceivers=[optic(id_, split, 0, connectors=ports) | {"price_usd": usd} for id_, usd in prices.items()],
        fibres=[fibre("duplex", "LC", "LC", 2)],
    )
    found["servers"][0] |= {"nic_slots": 1, "rack_units": 4}
    return found


def alone(found: Json) -> Json:
    """A catalog without the other module."""
    return found | {"transceivers": found["transceivers"][:1]}


def on_rails(*sizes: int, ports: int = 2, **fabric: Any) -> Json:
    """Groups whose servers have one port on each of several leaves, so that cages at both ends have two neighbours."""
    keys = {"tiers": 2, "rails": "aligned", "min_gbps_per_gpu": ports * 100, "max_oversubscription": 1}
    return in_stages(*sizes, **{**keys, **fabric})


def rest(content: Json) -> Json:
    return {**content, "stages": content["stages"][1:]}


def bought(design: Design) -> Counter[str]:
    """Modules that are bought, by id."""
    counts = Counter[str]()
    for row in design.bom:
        counts[row.id] += row.quantity * (row.kind == "transceiver")
    return +counts


# Two of four groups of four servers on two leaves each are there: 16 new links to leaves, 16 to spines of four cages,
# so 32 modules; or all but one server of the second group, whose last cages have a module in service each.
@pytest.mark.parametrize(
    ("servers", "own_usd", "modules"),
    [
        (8, 10, {"other": 32}),
        (8, 50, {"other": 32}),
        (8, None, {"other": 32}),
        (8, 3, {"own": 32}),
        (5, 10, {"own": 1, "other": 36}),
    ],
)
def test_new_links_are_of_the_cheapest_module_but_in_cages_with_live_ones(
    servers: int, own_usd: float | None, modules: Json, tmp_path: Path
) -> None:
    whole = on_rails(servers, 16)
    base = designed(alone(parts()), whole)
    design = gone_on(parts(own_usd), rest(whole), base, tmp_path, "stage-1")
    assert_stays(design, base, 0)
    assert bought(design) == modules


def test_with_nothing_new_the_base_stays_whatever_is_sold(tmp_path: Path) -> None:
    base = designed(alone(parts()), on_rails(8))
    for own_usd in (50, None):
        design = gone_on(parts(own_usd), on_rails(8), base, tmp_path)
        assert_stays(design, base, 0)
        assert design.totals is not None and design.totals.capex_usd == 0


def test_where_a_part_is_sold_no_more_and_has_to_be_there_it_is_named(tmp_path: Path) -> None:
    whole = on_rails(5, 16)
    base = designed(alone(parts()), whole)
    design = gone_on(parts(None), rest(whole), base, tmp_path, "stage-1")
    assert design.status == "infeasible"
    assert any("own is in service, and there is no more of it" in conflict.detail for conflict in design.conflicts)


def test_on_a_floor_each_has_its_lengths(tmp_path: Path) -> None:
    def in_lengths(found: Json) -> Json:
        found["fibres"][0]["lengths"] = [{"m": 5, "price_usd": 1}, {"m": 50, "price_usd": 2}]
        return found

    whole = {**on_rails(8, 16), "site": {"floor": {**FLOOR, "rows": 3}}}
    base = designed(in_lengths(alone(parts())), whole)
    design = gone_on(in_lengths(parts()), rest(whole), base, tmp_path, "stage-1")
    assert_stays(design, base, 0)
    assert bought(design) == {"other": 32}


# -- every part of every set of cages ---------------------------------------------------------------------------------


def least_of_links(design: Design, usd: dict[str, float]) -> float:
    """The least that links of a design cost that are joined through no cage to those in service, and what the others
    cost that are new: counted from cages and links of its wiring alone.
    """
    wiring = wiring_of(design)
    links, names = wiring.links, wiring.devices.name
    ends = [
        ((names[a], int(a_cage)), (names[b], int(b_cage)))
        for a, a_cage, b, b_cage in zip(links.a.tolist(), links.a_cage, links.b.tolist(), links.b_cage, strict=True)
    ]
    cages = dict.fromkeys(end for both in ends for end in both)
    first = components(cages, ends)
    there = {end for both, stage in zip(ends, links.stage.tolist(), strict=True) if stage == 0 for end in both}
    live = {first[end] for end in there}
    own = sum(first[end] in live and end not in there for end in cages)
    new = sum(first[end] not in live for end in cages)
    fibres = int((links.stage > 0).sum())
    return own * usd["own"] + new * min(usd.values()) + 2 * fibres


@pytest.mark.long(but=("0", "7"))
@pytest.mark.parametrize("seed", range(24 * MORE_SEEDS))
def test_links_beside_those_in_service_cost_the_least_that_any_parts_do(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"parts-beside-{seed}")
    ports, cages, usd = dice.one([2, 2, 4]), dice.number(2, 4), {id_: dice.number(3, 40) for id_ in ("own", "other")}
    before = dice.number(2, 9)
    content = on_rails(before, dice.number(before, 20), ports=ports, max_oversubscription=dice.one([1, 2, 3]))
    base = designed(alone(parts(usd["own"], cages=cages, ports=ports)), content)
    if base.status != "optimal":
        return
    found = parts(usd["own"], usd["other"], cages, ports)
    design, without = (gone_on(one, rest(content), base, tmp_path, "stage-1") for one in (found, alone(found)))
    assert_stays(design, base, 0)
    assert design.totals is not None and without.totals is not None
    rows = [row for row in design.bom if row.kind in ("transceiver", "fibre")]
    assert sum(row.quantity * (usd | {"duplex": 2})[row.id] for row in rows) == least_of_links(design, usd)
    assert design.totals.capex_usd <= without.totals.capex_usd
    # no structure is cheaper with all modules at the least price
    cheapest = gone_on(
        alone(parts(min(usd.values()), cages=cages, ports=ports)), rest(content), base, tmp_path, "stage-1"
    )
    assert cheapest.totals is not None and cheapest.totals.capex_usd <= design.totals.capex_usd


def test_links_that_cages_join_to_the_first_stage() -> None:
    """Near cages 0, 0, 1, 2 to far cages 0, 1, 1, 2: of the first stage is the first link alone."""
    near, far, stage = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), np.array([0, 1, 1, 1])
    assert apart_from_first(near, far, stage).tolist() == [False, False, False, True]


# -- what is not so ---------------------------------------------------------------------------------------------------


def rows_of(content: Json) -> list[Json]:
    """Rows of links between leaves and spines."""
    return [row for row in content["fabrics"][0]["links"] if row["to"] == "spine"]


def swapped(content: Json) -> None:
    """The live links are said to have the new modules."""
    first, then = rows_of(content)
    first["parts"], then["parts"] = then["parts"], first["parts"]


def fewer(content: Json) -> None:
    """A cage of the new links is said to be one of the live ones."""
    first, then = rows_of(content)
    for row, sign in ((first, 1), (then, -1)):
        row["count"] += 2 * sign
        row["from_cages"] += sign
        row["to_cages"] += sign


@pytest.mark.parametrize("forge", [swapped, fewer])
def test_a_forged_row_is_refused(forge: Callable[[Json], None], tmp_path: Path) -> None:
    whole = on_rails(8, 16)
    design = gone_on(parts(), rest(whole), designed(alone(parts()), whole), tmp_path, "stage-1")
    content = json.loads(design.model_dump_json(by_alias=True))
    forge(content)
    assert {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
