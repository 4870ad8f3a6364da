"""Trunks or leads, whichever is cheaper, on the small floors of brute force; and limits of trunks that are relaxed."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fabopt.output.labour import work_rows
from fabopt.schema.design import Design
from tests.oracles.brute_floor import toy
from tests.oracles.brute_labour import ends_of
from tests.samples.small import Json, usd
from tests.samples.trunked import (
    LABOUR,
    STRAIGHT,
    UNIVERSAL,
    cassettes,
    hall,
    panel,
    parts,
    random_parts,
    solved,
    trunk,
)
from tests.search.test_floor_search import SEEDS
from tests.solution.test_trunks import lossy_parts
from tests.solution.test_trunks_enumerated import least_of_all
from tests.solution.test_trunks_in_growth import failed


def toy_with_trunks(seed: int, word: str) -> tuple[Json, Json]:
    """A small floor whose optics reach through two panels, with trunks and panels at random prices, and labour that
    makes leads dear.
    """
    (content, products), dice = toy(seed), random.Random(f"trunks {seed}")
    for one in products["transceivers"]:
        one["reach_m"] = 100
    legs, ports = dice.sample([1, 2, 3, 4, 6], 2), dice.sample([2, 4, 6, 12], 2)
    lengths = [5, 20, 60]
    said = {"connector": "LC", "fibre": "smf"}
    products["trunks"] = [
        trunk(f"t{number}", number, 1, **said,
              lengths=[{"m": m, "price_usd": dice.randint(5, 30) * number + m} for m in lengths])
        for number in legs
    ]  # fmt: skip
    products["panels"] = [panel(f"p{number}", number, dice.randint(2, 40), connector="LC") for number in ports]
    minutes = {"cable": dice.choice([60, 120]), "fibre": 60, "trunk": 30, "jumper": 5}
    content["site"] |= {"labour": {"usd_per_hour": 100, "minutes": {"pull": minutes}}, "cabling": word}
    return content, products


def toy_with_cassettes(seed: int, word: str) -> tuple[Json, Json]:
    """The same with trunks of MPO and cassettes of two, three and six ports in front of a leg, alike in pairs."""
    (content, products), dice = toy_with_trunks(seed, word), random.Random(f"cassettes {seed}")
    for one in products["trunks"]:
        one |= {"connector": "MPO-12-APC", "fibres": 12 * one["legs"]}
    tables = dice.sample([UNIVERSAL[:2], UNIVERSAL[1:], STRAIGHT], 2)
    products["panels"] = [
        cassettes(f"c{legs}-{len(table)}", legs, dice.randint(2, 20) * legs, connector="LC", back={"positions": table})
        for table in tables for legs in dice.sample([1, 2, 4], 2)
    ]  # fmt: skip
    return content, products


def has_design(design: Design) -> bool:
    """Whether there is a design, of which every check holds."""
    assert failed(design) == []
    return design.totals is not None


@pytest.mark.long(but=("26-toy_with_cassettes", "28-toy_with_trunks"))
@pytest.mark.parametrize("made", [toy_with_trunks, toy_with_cassettes])
@pytest.mark.parametrize("seed", SEEDS)
def test_either_is_the_cheaper_of_both(
    seed: int, made: Callable[[int, str], tuple[Json, Json]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leads in every place, which brute force counts without labour, and trunks of every set in every layout."""
    content, products = made(seed, "structured")
    leads, through, either = (solved(*made(seed, word)) for word in ("direct", "structured", "any"))
    costs = [usd(one) for one in (leads, through) if has_design(one)]
    assert has_design(either) == bool(costs) and (not costs or usd(either) == min(costs))
    if through.status == "optimal":
        assert round(100 * usd(through)) == least_of_all(content, products, monkeypatch)
    # racks without units for panels, and rules of racks off: neither is said to be proven
    assert either.status in (leads.status, through.status, "feasible")


RELAXED: dict[str, tuple[Json, Json]] = {
    "spare legs": ({"leaf-spine": "structured", "spare_legs": 0.5}, {"leaf-spine": "structured", "spare_legs": 0.25}),
    "no spare legs": ({"leaf-spine": "structured", "spare_legs": 0.25}, {"leaf-spine": "structured"}),
    "leads too": ({"leaf-spine": "structured", "spare_legs": 0.1}, {"leaf-spine": "any", "spare_legs": 0.1}),
    "trunks for servers": ({"leaf-spine": "any"}, {"leaf-spine": "any", "server-leaf": "any"}),
}


@pytest.mark.long(but=("leads too-0",))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", RELAXED)
def test_what_is_relaxed_costs_no_more(name: str, seed: int) -> None:
    products, words = random_parts(seed), RELAXED[name]
    given, relaxed = (solved(hall(word, LABOUR), products) for word in words)
    assert failed(given) == failed(relaxed) == []
    assert (given.status, relaxed.status) == ("optimal", "optimal")
    assert usd(relaxed) <= usd(given)


@pytest.mark.long(but=("1-panels",))
@pytest.mark.parametrize("kind", ["trunks", "panels"])
@pytest.mark.parametrize("seed", range(3))
def test_more_on_sale_costs_no_more(kind: str, seed: int) -> None:
    """Each trunk or panel fewer costs as much or more."""
    products = random_parts(seed)
    least = usd(solved(hall(), products))
    for one in products[kind]:
        fewer = solved(hall(), {**products, kind: [other for other in products[kind] if other is not one]})
        assert failed(fewer) == [] and usd(fewer) >= least


@pytest.mark.long
def test_a_smaller_margin_costs_no_more() -> None:
    """Modules that stand 0.2 dB more than others cost more, and are needed with a margin of 0.3 dB alone."""
    products = lossy_parts(0.7)
    products["transceivers"].append(
        {**next(one for one in products["transceivers"] if one["id"] == "dr4"), "id": "dr4-plus", "loss_budget_db": 3.5}
    )
    products["transceivers"].append(
        {**next(one for one in products["transceivers"] if one["id"] == "dr4-hot"), "id": "hot-plus",
         "loss_budget_db": 3.5}
    )  # fmt: skip
    for one in products["transceivers"][-2:]:
        one["price_usd"] += 100
    costs = [usd(solved(hall(site={"optical_margin_db": margin_db}), products)) for margin_db in (0.3, 0.1, 0.0)]
    assert costs == sorted(costs, reverse=True) and costs[0] > costs[-1]


@pytest.mark.parametrize("word", ["direct", "structured", "any"])
def test_a_fibre_inside_a_rack_takes_as_long_whatever_the_word(word: str) -> None:
    """Fibres of 3 m, the shortest that covers any run in a rack, are not pulled; longer ones are."""
    products = parts()
    products["cables"] = []
    design = solved(hall(word, LABOUR, servers=4, site={"servers_per_rack": 2}), products)
    assert failed(design) == []
    known = {one["id"]: one for one in products["fibres"]}
    ends: dict[str, int] = {"labour-jumper": 0, "labour-fibre": 0}
    units = dict(ends)
    for row in design.bom:
        if row.kind == "fibre":
            line = "labour-jumper" if row.length_m == 3 else "labour-fibre"
            units[line] += row.in_use
            ends[line] += row.in_use * ends_of(known[row.id])
    said = {row.id: row.total_usd for row in design.bom if row.id in units}
    pulled = {"labour-jumper": 2, "labour-fibre": 20}
    for line, number in units.items():
        assert said.get(line, 0) == pytest.approx((number * pulled[line] + ends[line]) * 100 / 60, abs=0.01 * number)
    assert units["labour-jumper"] > 0
    tasks = {(row.kind, row.task): row.times for row in work_rows(design)}
    assert tasks[("jumper", "pull")] == units["labour-jumper"]
