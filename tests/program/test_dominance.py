"""Parts that others outbid at every size of an order are not in the program; one size at which they win keeps them."""

from __future__ import annotations

import pytest

from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from tests.samples.small import Json, assert_proven, bought, case, catalog, comparable, inputs, product, solved

ONE_CARD = {"nics": ["nic-400"], "nics_per_server": 2}
TWINS = {
    # the cheapest for few; its break is out of reach
    "few": [{"from": 1, "usd": 550}, {"from": 10000, "usd": 549}],
    # 590 > 550 for few; 560 > 550 from six on; 510 > 500 from twenty on: outbid by two others, by neither alone
    "between": [{"from": 1, "usd": 590}, {"from": 6, "usd": 560}, {"from": 20, "usd": 510}],
}


def market(**changes: object) -> Json:
    """Three modules that fit alike: ``dr4-hot`` at 600, at 500 from twelve on, and its twins."""
    parts = catalog()
    hot = product(parts, "dr4-hot")
    hot["price_usd"] = [{"from": 1, "usd": 600}, {"from": 12, "usd": 500}]
    for name, price in TWINS.items():
        parts["transceivers"].append({**hot, "id": name, "price_usd": price})
    product(parts, "between").update(changes)
    parts["cables"] = [one for one in parts["cables"] if one["id"] != "aoc"]
    return parts


def in_program(content: Json, parts: Json) -> set[str]:
    """What options of links in the program are made of."""
    given = inputs(content, parts)
    found = search_of(problem_of(given.case, given.catalog), Settings(), Clock(None)).run()
    assert found.program is not None
    return {item.id for many in found.program.options.values() for one in many for item in one.items}


def grown(servers: int = 8) -> Json:
    stages = [{"name": "one", "month": 0, "servers": 4}, {"name": "two", "month": 6, "servers": servers}]
    content = case(ONE_CARD, stages=stages)
    content.pop("servers", None)
    return content


@pytest.mark.parametrize("content", [case(ONE_CARD, servers=8), grown()], ids=["one stage", "two stages"])
def test_a_part_that_two_others_dominated_is_left_out(content: Json) -> None:
    found = in_program(content, market())
    assert {"few", "dr4-hot"} <= found
    assert "between" not in found


@pytest.mark.parametrize(
    "changes",
    [
        # 540 < 550 from six on
        {"price_usd": [{"from": 1, "usd": 590}, {"from": 6, "usd": 540}, {"from": 20, "usd": 510}]},
        # 545 < 550 for one
        {"price_usd": 545},
        {"stock": 1},
    ],
    ids=["at six", "at one", "in stock"],
)
def test_a_part_that_wins_at_some_size_stays(changes: Json) -> None:
    assert "between" in in_program(case(ONE_CARD, servers=8), market(**changes))


def test_a_part_that_draws_less_stays_where_power_is_limited() -> None:
    """A stand-in must draw no more: with less power the part may be needed under a limit."""
    parts = market(power_w=product(market(), "dr4-hot")["power_w"] - 1)
    assert "between" in in_program(case(ONE_CARD, servers=8), parts)


@pytest.mark.long("capex_usd-8", "capex_usd-4")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("servers", [4, 6, 8])
@pytest.mark.parametrize("objective", ["capex_usd", "tco_usd"])
def test_leaving_out_changes_no_answer(servers: int, objective: str) -> None:
    content = {**grown(servers), "objective": objective}
    pruned, whole = solved(content, market()), solved(content, market(), prune=False)
    assert_proven(pruned)
    assert comparable(pruned) == comparable(whole)
    assert "between" not in bought(whole)
