"""What a design with half the switches costs, where it is little more."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from fabopt.solution import row_searches
from tests.oracles import brute_force
from tests.oracles.brute_proportional import Parts, Switch
from tests.samples.adapter import run
from tests.samples.prices import catalog_of

Json = dict[str, Any]


def told(catalog: Json, case: Json) -> tuple[Json, list[Json]]:
    """The answer and its lines of fewer switches."""
    design = run(catalog, case, alternatives_s=60)
    assert all(check["ok"] for check in design["checks"])
    return design, [row for row in design["alternatives"] if row["what"] == "switches"]


def prices(large_usd: int) -> tuple[Json, Json]:
    """Switches of four ports at 1,000 USD and of eight; eight servers of one port, no ratio above one."""
    catalog = catalog_of(Parts((Switch(4, 1000), Switch(8, large_usd)), 50, 10))
    fabric = {"name": "compute", "tiers": 2, "nics_per_server": 1, "min_gbps_per_gpu": 1, "max_oversubscription": 1}
    site = {"distances_m": {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}}
    whole = {"groups": "equal", "spines": "one-type", "rails": "aligned"}
    return catalog, {"name": "c", "server": "box", "servers": 8, "fabrics": [fabric | whole], "site": site}


def test_by_hand() -> None:
    """Four leaves of 2 + 2 ports and two spines of 4 are 6 switches; two leaves of 4 + 4 and one spine of 8 are 3."""
    parts_usd = 8 * 50 + 8 * 10
    _, rows = told(*prices(2100))
    assert [(row["value"], row["capex_usd"], row["capex_delta_usd"]) for row in rows] == [
        ("3", 3 * 2100 + parts_usd, 3 * 100)
    ]
    assert rows[0]["summary"] == (
        "2 x switch-8 + 1 x switch-8, 1 x 400G a server, ethernet; 3 switches (here 6), 3 rack units (here 6)"
    )


def test_of_the_likeliest_designs_alone_the_best_is_not_called_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the answer took much, only equal groups are looked at: another last group may be cheaper."""
    monkeypatch.setattr(row_searches, "MUCH", -1)
    catalog, case = prices(2100)
    del case["fabrics"][0]["groups"]
    (row,) = told(catalog, case)[1]
    assert "(the best found)" in row["summary"]


def test_a_tenth_more_is_the_most_that_is_told() -> None:
    """The answer is 6,480 USD: 648 more are told, and a cent above is not."""
    assert [row["capex_delta_usd"] for row in told(*prices(2216))[1]] == [648]
    assert not told(*prices(2217))[1]


def random_prices(seed: int) -> tuple[Json, Json]:
    """Switches of three sizes, each at about the same price a port, and up to a dozen servers."""
    draw = random.Random(seed)
    ports = draw.randint(3, 5), draw.randint(6, 8), draw.randint(9, 16)
    switches = tuple(Switch(one, one * (240 + 2 * one + draw.randint(0, 8))) for one in ports)
    catalog = catalog_of(Parts(switches, 50, 10))
    case = prices(0)[1] | {"servers": draw.randint(6, 14)}
    case["fabrics"][0] |= {"tiers": draw.choice(([2, 3], 2)), "max_oversubscription": draw.choice((1, 1, 1.5))}
    return catalog, case


# of both kinds: with such a design, and where every one costs more or there is none
@pytest.mark.parametrize("seed", (0, 1, 4, 10, 11, 17, 18, 19, 33, 38))
def test_brute_force_agrees(seed: int) -> None:
    """The cheapest of all designs with half the answer's switches, by plain loops."""
    catalog, case = random_prices(seed)
    design, rows = told(catalog, case)
    best = design["totals"]

    def few(space: brute_force.Space) -> Iterator[Any]:
        return ((one, way) for one, way in brute_force.structures(space) if 2 * one.switches <= best["switches"])

    rival = brute_force.solve(catalog, case, walk=few) if best["switches"] >= 4 else None
    is_near = rival is not None and 10 * rival.capex_cents <= 11 * 100 * best["capex_usd"]
    expected = [(str(rival.switches), rival.capex_cents / 100)] if rival is not None and is_near else []
    assert [(row["value"], row["capex_usd"]) for row in rows] == expected
