"""How far prices can move: ends derived by hand, then against answers at changed prices and the exhaustive search.

The catalog of ``test_brute_force`` unless a test says otherwise: 4 servers on one switch of four ports are one switch
of 1000 USD, four cards of 100 and four cables of 10: 1440 USD.
"""

from __future__ import annotations

import copy

import pytest

from fabopt.errors import InputError, NoAnswerError
from fabopt.io.case import inputs_from_objects
from fabopt.problem import site as sites
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.schema.sensitivity import PriceRange, Sensitivity, Takeover
from fabopt.solution import optimize
from fabopt.study.sensitivity.ranges import FLOOR_NOTE, NOTHING_FITS, POWER_NOTE, Asked, check_asked, sensitivity
from tests.oracles.brute_floor import cheapest, toy
from tests.oracles.brute_force import solve as brute_solve
from tests.samples.lengths import with_lengths
from tests.samples.random_cases import generate
from tests.samples.small import assert_proven
from tests.solution.test_brute_force import Json, cable, cage, case, catalog, switch

FLOOR_SEED = 6
# Seeds of random cases that have a design.
WITH_A_DESIGN = {"linear": (0, 2, 5), "procurement": (1, 2, 3), "ruled": (0, 1, 2), "attached": (0, 1, 2)}
KINDS = {
    "switch": "switches", "nic": "nics", "transceiver": "transceivers", "cable": "cables", "fibre": "fibres",
    "server": "servers",
}  # fmt: skip


def ranges(parts: Json, wanted: Json, *, kinds: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> Sensitivity:
    inputs = inputs_from_objects(wanted, parts)
    asked = Asked(kinds, ids)
    check_asked(asked, inputs)
    return sensitivity(inputs, asked, Settings(), Clock(None))


def of_part(parts: Json, wanted: Json, part: str) -> PriceRange:
    [one] = ranges(parts, wanted, ids=(part,)).ranges
    return one


# -- ends by hand -----------------------------------------------------------------------------------------------


def test_every_kind_and_part_of_the_answer_has_a_range() -> None:
    """Nothing can stand in for the only switch, card and cable: at any price the answer stays."""
    found = ranges(catalog(), case(4))
    assert [one.kind or one.part for one in found.ranges] == ["switch", "nic", "cable", "switch", "card", "cable"]
    assert [one.unit_price_usd for one in found.ranges] == [None, None, None, 1000, 100, 10]
    assert all((one.factor_low, one.factor_high, one.low, one.high) == (0, None, None, None) for one in found.ranges)
    assert found.status == "optimal" and found.complete and all(one.proven for one in found.ranges)
    assert found.objective.value == 1440


def test_a_switch_is_replaced_where_another_costs_the_same() -> None:
    """1000 t = 1500 at t = 1.5, where both cost 1500 + 440; a step beyond, the answer costs 1501 + 440."""
    parts = catalog(switches=[switch("switch", cage(4, "1x100")), switch("dear", cage(4, "1x100"), usd=1500)])
    one = of_part(parts, case(4), "switch")
    assert (one.factor_low, one.factor_high, one.price_high_usd, one.proven) == (0, 1.5, 1500, True)
    assert one.high is not None
    assert one.high.changes == ("leaf: 1 x switch -> 1 x dear",)
    assert (one.high.factor, one.high.objective, one.high.answer_objective) == (1.501, 1940, 1941)
    assert one.high.summary == "1 x dear, 1 x 100G a server, ethernet"


def test_ends_between_steps_are_rounded_inward() -> None:
    """Four cables of 3 t against four of 7: t = 2.3333..., so 2.333 is inside and 2.334 is not; 6.999 USD is 6.99."""
    cables = [cable("cable", "1x100", "1x100", usd=(3, 20, 30)), cable("aoc", "1x100", "1x100", (7, 20, 30))]
    cables[1]["medium"] = "AOC"
    one = of_part(catalog(cables=cables), case(4), "cable")
    assert (one.factor_high, one.price_high_usd) == (2.333, 6.99)
    assert one.high is not None and one.high.factor == 2.334
    assert one.high.changes == ("server - leaf: DAC cable -> AOC aoc",)


def test_a_part_that_is_not_bought_comes_in_below_its_end() -> None:
    """The dear switch costs 1500 t: less than 1000 from t = 2/3 down, so 0.667 is the last step of the answer."""
    parts = catalog(switches=[switch("switch", cage(4, "1x100")), switch("dear", cage(4, "1x100"), usd=1500)])
    one = of_part(parts, case(4), "dear")
    assert (one.unit_price_usd, one.factor_low, one.factor_high) == (None, 0.667, None)
    assert one.low is not None and one.low.changes == ("leaf: 1 x switch -> 1 x dear",)


def test_a_kind_moves_all_its_products() -> None:
    """Six servers: one switch of eight ports, 2600 + 660, or two tiers of small ones, 5000 + 660 + six cables of 20.

    The big one alone: 2600 t + 660 = 5780 at t = 1.9692. All switches: 2600 t is below 5000 t at any t. All cables:
    60 t against 180 t, and the difference is the other way.
    """
    parts = catalog(switches=[switch("small", cage(4, "1x100")), switch("big", cage(8, "1x100"), usd=2600)])
    wanted = with_lengths(case(6, {"tiers": [1, 2]}))
    switches, cables, big = ranges(parts, wanted, kinds=("switch", "cable"), ids=("big",)).ranges
    assert big.factor_high == 1.969 and big.high is not None and big.high.objective == 5780
    assert big.high.changes[:2] == ("leaf: 1 x big -> 3 x small", "spine: none -> 2 x small")
    assert (switches.factor_low, switches.factor_high) == (0, None)
    assert (cables.factor_low, cables.factor_high) == (0, None)


def test_power_stays_where_energy_is_paid() -> None:
    """A watt for a year at 0.1 USD/kWh is 0.876 USD. 1000 t + 87.6 = 1100 + 43.8 at t = 1.0562."""
    parts = catalog(switches=[switch("switch", cage(4, "1x100")), switch("cool", cage(4, "1x100"), usd=1100, watts=50)])
    finance = {"energy_usd_per_kwh": 0.1, "pue": 1, "years": 1}
    one = of_part(parts, case(4, objective="tco_usd", finance=finance), "switch")
    assert one.factor_high == 1.056 and one.high is not None and one.high.factor == 1.057


def test_orders_at_breaks_are_weighed_at_every_price() -> None:
    """Four cables of 10, from six on at 6: six cost 36, and four others of 9.5 cost 38: 36 t = 38 at t = 1.0555."""
    cables = [cable("cable", "1x100", "1x100"), cable("other", "1x100", "1x100", (9.5, 20, 30))]
    cables[0]["lengths"][0]["price_usd"] = [{"from": 1, "usd": 10}, {"from": 6, "usd": 6}]
    one = of_part(catalog(cables=cables), case(4), "cable")
    assert (one.unit_price_usd, one.factor_high) == (6, 1.055)


def test_a_budget_ends_a_range() -> None:
    """1000 t + 440 = 1700 at t = 1.26; nothing else is cheaper."""
    one = of_part(catalog(), case(4, limits={"budget_usd": 1700}), "switch")
    assert (one.factor_high, one.price_high_usd) == (1.26, 1260)
    assert one.high == Takeover(factor=1.261, summary=NOTHING_FITS, answer_objective=1701)


def test_growth_moves_prices_at_all_stages() -> None:
    """Switches of month 0 at 1000 and 1500, cables added later: still 1000 t = 1500."""
    parts = catalog(switches=[switch("switch", cage(4, "1x100")), switch("dear", cage(4, "1x100"), usd=1500)])
    wanted = case(4)
    del wanted["servers"]
    wanted["stages"] = [{"name": "a", "month": 0, "servers": 2}, {"name": "b", "month": 12, "servers": 4}]
    one = of_part(parts, wanted, "switch")
    assert (one.factor_high, one.proven) == (1.5, True)


def test_changes_name_the_fabric_where_there_are_several() -> None:
    parts = catalog(switches=[switch("switch", cage(4, "1x100")), switch("dear", cage(4, "1x100"), usd=1500)])
    wanted = case(4)
    wanted["fabrics"] = [wanted["fabrics"][0], {**wanted["fabrics"][0], "name": "second"}]
    one = of_part(parts, wanted, "switch")
    assert one.factor_high == 1.5 and one.high is not None
    assert one.high.changes == ("compute leaf: 1 x switch -> 1 x dear", "second leaf: 1 x switch -> 1 x dear")


def test_power_as_objective_has_no_ends() -> None:
    found = ranges(catalog(), case(4, objective="power_w"))
    assert all((one.factor_low, one.factor_high) == (0, None) for one in found.ranges)
    assert POWER_NOTE in found.notes


def test_servers_have_a_range_where_they_count() -> None:
    found = ranges(catalog(), case(4, include_servers=True), kinds=("server",))
    assert [(one.factor_low, one.factor_high) for one in found.ranges] == [(0, None)]
    assert found.objective.value == 1440 + 4 * 5000


def test_what_is_already_the_same_price_has_no_room() -> None:
    """Two switches of 1000 USD: the one that draws less is the answer, and any more for it is too much."""
    parts = catalog(switches=[switch("hot", cage(4, "1x100"), watts=120), switch("switch", cage(4, "1x100"))])
    one = of_part(parts, case(4), "switch")
    assert (one.factor_low, one.factor_high) == (0, 1)


def test_a_stopped_clock_keeps_what_is_known() -> None:
    clock = Clock(None)
    told: list[str] = []

    def progress(text: str) -> None:
        told.append(text)
        if text.startswith("prices of card"):
            clock.stop()

    found = sensitivity(inputs_from_objects(case(4), catalog()), Asked(), Settings(progress=progress), clock)
    assert not found.complete
    assert [one.kind or one.part for one in found.ranges] == ["switch", "nic", "cable", "switch"]
    assert told[0] == "finding the answer at today's prices"


def test_a_stopped_clock_keeps_the_end_that_is_known() -> None:
    """The lower end of the first row is known when the upper one is looked at."""
    clock = Clock(None)

    def progress(text: str) -> None:
        if text.startswith("prices of switch") and text.endswith("1000 %"):
            clock.stop()

    given = inputs_from_objects(case(4), catalog())
    found = sensitivity(given, Asked(("switch",)), Settings(progress=progress), clock)
    whole = sensitivity(given, Asked(("switch",)), Settings(), Clock(None))
    assert not found.complete and whole.complete
    (one,), (all_of_it,) = found.ranges, whole.ranges
    assert (one.low_known, one.high_known, one.proven) == (True, False, False)
    assert (one.factor_low, one.low) == (all_of_it.factor_low, all_of_it.low)
    assert (one.factor_high, one.high) == (1, None)
    assert all_of_it.low_known and all_of_it.high_known


def test_an_engine_that_gives_nothing_leaves_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*args: object, **options: object) -> None:
        raise NoAnswerError("engine scip returned no usable answer")

    monkeypatch.setattr("fabopt.search.search.Search.run", nothing)
    found = sensitivity(inputs_from_objects(case(4), catalog()), Asked(), Settings("scip"), Clock(None))
    assert (found.status, found.complete, found.ranges) == ("unknown", False, ())
    assert "engine scip returned no usable answer" in found.notes


def test_no_answer_says_why() -> None:
    found = sensitivity(
        inputs_from_objects(case(4, limits={"budget_usd": 1000}), catalog()), Asked(), Settings(), Clock(None)
    )
    assert found.status == "infeasible" and found.ranges == ()
    assert [(one.limit, one.needed) for one in found.conflicts] == [("limits.budget_usd", 1440)]


# -- floors -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_ends_on_a_small_floor_equal_brute_force() -> None:
    """A step beyond an end the cheapest design in all places costs what is said to take over."""
    content, parts = toy(FLOOR_SEED)
    ends = [
        (one, end)
        for one in ranges(parts, content).ranges
        for end in (one.low, one.high)
        if end is not None and end.objective is not None
    ]
    assert ends
    for one, end in ends:
        beyond = cheapest(content, priced(parts, one, round(end.factor * 1000)))
        assert beyond is not None and beyond / 1e5 == pytest.approx(end.objective, abs=0.0051)


@pytest.mark.long
def test_large_floors_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in ("MOST_SERVERS_PROVEN_ON_FLOOR", "MOST_SERVERS_OF_SEVERAL_FABRICS", "MOST_SERVERS_ANYWHERE"):
        monkeypatch.setattr(sites, most, 0)
    # of others the bound is no less than what the answer costs
    content, parts = toy(8)
    found = ranges(parts, content, kinds=("switch",))
    assert FLOOR_NOTE in found.notes and [one.proven for one in found.ranges] == [False]


# -- bad input --------------------------------------------------------------------------------------------------


def refusal(wanted: Json, asked: Asked) -> list[str]:
    with pytest.raises(InputError) as caught:
        check_asked(asked, inputs_from_objects(wanted, catalog()))
    return str(caught.value).splitlines()


def test_unknown_words_are_told_together() -> None:
    lines = refusal(case(4), Asked(("swich",), ("cabel",)))
    assert lines[0].startswith("--kind: no such kind of product; found 'swich'; allowed: switch, nic, transceiver")
    assert lines[0].endswith("did you mean `switch`?")
    assert lines[1].startswith("--part: no such product of the catalog; found 'cabel'")
    assert lines[1].endswith("did you mean `cable`?")


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"limits": {"budget_usd": 9000}, "objective": "tco_usd"}, "limits.budget_usd"),
        ({"limits": {"budget_usd": 9000}, "objective": "power_w"}, "limits.budget_usd"),
        ({"stages": [{"name": "a", "month": 0, "servers": 4, "limits": {"budget_usd": 9000}}]}, "stages.0.limits"),
    ],
)
def test_budgets_that_come_and_go_are_refused(changes: Json, path: str) -> None:
    wanted = case(4, **changes)
    if "stages" in changes:
        del wanted["servers"]
    [line] = refusal(wanted, Asked())
    assert path in line and "not worked out under this limit" in line


# -- against answers at other prices ----------------------------------------------------------------------------


def priced(parts: Json, one: PriceRange, step: int) -> Json:
    """A catalog with the prices of a range times ``step`` and all others times 1000: whole cents, so exact."""
    moved = copy.deepcopy(parts)
    for kind in KINDS.values():
        for product in moved.get(kind, []):
            factor = step if one.part == product["id"] or (one.kind and KINDS[one.kind] == kind) else 1000
            for sold in product.get("lengths", [product]):
                if isinstance(sold.get("price_usd"), list):
                    for tier in sold["price_usd"]:
                        tier["usd"] = round(tier["usd"] * factor, 2)
                elif sold.get("price_usd") is not None:
                    sold["price_usd"] = round(sold["price_usd"] * factor, 2)
    return moved


def answer(parts: Json, wanted: Json) -> Design:
    return optimize.solve(inputs_from_objects(wanted, parts), alternatives_s=0)


def thousandfold(design: Design) -> float:
    assert design.totals is not None
    return design.totals.capex_usd / 1000


@pytest.mark.long(but_every=2)
@pytest.mark.long(
    "linear-0", "procurement-1", "procurement-3", "ruled-0", "ruled-1", "attached-1", "linear-5", "ruled-2"
)
@pytest.mark.parametrize(
    ("family", "seed"),
    [(family, seed) for family, seeds in WITH_A_DESIGN.items() for seed in seeds],
)
def test_answers_at_other_prices_agree(family: str, seed: int) -> None:
    """A step inside an end the answer is the same design; a step outside it is the one that is said to take over."""
    parts, wanted = generate(family, seed)
    wanted = {**wanted, "objective": "capex_usd", "limits": {}}
    today = answer(parts, wanted)
    assert today.fabrics
    found = ranges(parts, wanted)
    assert found.complete and all(one.proven for one in found.ranges)
    for one in found.ranges:
        for factor, direction, end in ((one.factor_low, 1, one.low), (one.factor_high, -1, one.high)):
            if end is None or factor is None:
                continue
            inside = round(factor * 1000) + direction
            if factor != 1:
                assert answer(parts=priced(parts, one, inside), wanted=wanted).fabrics == today.fabrics
            beyond = answer(priced(parts, one, inside - 2 * direction), wanted)
            assert_proven(beyond)
            assert end.objective is not None
            assert end.objective == pytest.approx(thousandfold(beyond), abs=0.0051)
            assert end.objective <= end.answer_objective
            assert any(tier.id in end.summary for tier in beyond.fabrics[0].tiers)


@pytest.mark.long
@pytest.mark.parametrize(("family", "seed"), [("linear", 0), ("linear", 2), ("ruled", 4), ("procurement", 3)])
def test_the_exhaustive_search_agrees(family: str, seed: int) -> None:
    """At an end the cheapest of all designs costs what the answer costs there; a step beyond, what is said."""
    parts, wanted = generate(family, seed)
    wanted = {**wanted, "objective": "capex_usd", "limits": {}}
    found = ranges(parts, wanted).ranges
    today = brute_solve(parts, wanted)
    assert found and today is not None
    for one in found:
        for factor, direction, end in ((one.factor_low, 1, one.low), (one.factor_high, -1, one.high)):
            if end is None or factor is None or end.objective is None:
                continue
            last = round(factor * 1000)
            at_end, beyond = (brute_solve(priced(parts, one, step), wanted) for step in (last, last - direction))
            assert at_end is not None and beyond is not None
            # the answer's line goes through what it costs today and what it costs a step beyond the end
            slope = (end.answer_objective - today.capex_cents / 100) / (end.factor - 1)
            assert at_end.capex_cents / 1e5 == pytest.approx(today.capex_cents / 100 + slope * (factor - 1), abs=0.02)
            assert beyond.capex_cents / 1e5 == pytest.approx(end.objective, abs=0.0051)
