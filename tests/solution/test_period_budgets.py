"""Budgets by quarter and year: what is paid in each, by hand and against designs without them, and advice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from fabopt.explain import relaxation
from fabopt.output.cash import ORDERS, cash_flow
from fabopt.output.terminal.answer import proof_line
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Design
from fabopt.schema.stages import QUARTER, YEAR
from fabopt.search.search import Search
from fabopt.topology.candidate import Candidate
from fabopt.verify.checks import verify
from tests.samples import small
from tests.samples.growth_samples import eight, grown, solved
from tests.samples.small import Json, case, catalog, comparable, product

TERMS = {"on_order": 0.3, "on_delivery": 0.6, "on_acceptance": 0.1}
FINANCE = {"energy_usd_per_kwh": 0, "payment": TERMS}


def failed(design: Design) -> set[str]:
    """Names of the checks that a design does not pass."""
    return {check.name for check in verify(design) if not check.ok}


def paid(design: Design, months: int = YEAR) -> list[int]:
    """Cents that are paid for orders in every period in which any are."""
    sums = [sum(period.paid[kind] for kind in ORDERS) for period in cash_flow(design, months)]
    return [cents for cents in sums if cents]


def growing(limits: Json, **keys: Any) -> Design:
    """4 servers for $1,440, and a year later 8 for $2,600 more."""
    return solved(eight(), grown(4, 8, **{"finance": FINANCE, "limits": limits, **keys}))


def test_what_is_needed_later_is_bought_earlier() -> None:
    # servers' cards cost $100: one of the second year's is bought a year before
    assert paid(growing({})) == paid(growing({"yearly_budget_usd": 2600})) == [144000, 260000]
    design = growing({"yearly_budget_usd": 2500})
    assert paid(design) == [154000, 250000] and not failed(design)
    # without terms of payment each stage pays at once
    design = growing({"quarterly_budget_usd": [None, 2500]}, finance={})
    assert [stage.capex_usd for stage in design.stages] == [1540, 2500]


def test_a_file_over_its_budget_is_refused() -> None:
    design = growing({"yearly_budget_usd": 2500})
    assert design.case is not None
    content = {**design.case.content, "limits": {**design.case.content["limits"], "yearly_budget_usd": 2499.99}}
    changed = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    assert "payments_keep_budgets" in failed(changed)


@pytest.mark.long
@pytest.mark.parametrize("limits", [{"yearly_budget_usd": 1500}, {"quarterly_budget_usd": 1900}])
def test_advice_is_what_would_do(limits: Json) -> None:
    (key,) = limits
    design = growing(limits)
    (found,) = [conflict for conflict in design.conflicts if conflict.limit == f"limits.{key}"]
    assert found.value == limits[key] and isinstance(found.needed, int | float) and found.minimal
    assert growing({key: found.needed}).totals is not None
    assert found.detail.endswith("a thousandth less would not do")
    assert growing({key: found.needed * 0.999 - 0.01}).totals is None


def test_advice_that_was_not_settled_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise StoppedError

    # the first design that is found is all that there is time for
    monkeypatch.setattr(relaxation, "nearest", stopped)
    (found,) = [one for one in growing({"yearly_budget_usd": 1500}).conflicts if "budget" in one.limit]
    assert not found.minimal and "not settled in time" in found.detail and "thousandth" not in found.detail


def test_a_clock_that_ends_the_first_program_leaves_the_bound_that_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    best, solve = growing({"yearly_budget_usd": 2500}), Search._solve

    def ended(search: Search, candidates: Sequence[Candidate]) -> Optimum:
        solve(search, candidates)
        raise StoppedError

    monkeypatch.setattr(Search, "_solve", ended)
    cut = growing({"yearly_budget_usd": 2500}).objective
    assert cut.bound is not None and best.objective.value is not None
    assert 0 < cut.bound <= best.objective.value


def test_a_gap_that_the_file_rounds_away_is_not_nothing() -> None:
    design = growing({})
    value = design.objective.value
    assert value is not None
    assert "gap 0 " in proof_line(design)
    near = design.objective.model_copy(update={"bound": value - 0.001, "gap": 0})
    assert "gap <0.01 %" in proof_line(design.model_copy(update={"status": "feasible", "objective": near}))


def slow_or_dear(**changes: Any) -> Json:
    """The small switch comes after 30 weeks; ``quick``, its like at once, costs a dollar more."""
    parts = catalog()
    parts["switches"] = [product(parts, "small")]
    parts["switches"][0]["lead_time_weeks"] = 30
    quick = {key: value for key, value in parts["switches"][0].items() if key != "lead_time_weeks"}
    parts["switches"].append({**quick, "id": "quick", "price_usd": 16001} | changes)
    return parts


def staged(limits: Json, **keys: Any) -> Json:
    """Six servers in month 6: an order with a lead time of 30 weeks is placed in the month before month 0."""
    stages = [{"name": "all", "month": 6, "servers": 6}]
    rules = {"order_from_month": -12}
    return case(stages=stages, limits=limits, procurement=rules, **{"finance": FINANCE, **keys})


def test_a_part_without_a_deposit_early_wins_where_no_money_is_there_then() -> None:
    # 30 weeks are 6.9 months: nothing may be paid up to month 2, so that the dearer switch is bought.
    free = small.solved(staged({}), slow_or_dear())
    tight = small.solved(staged({"quarterly_budget_usd": [0, 10**9]}), slow_or_dear())
    whole = small.solved(staged({"quarterly_budget_usd": [0, 10**9]}), slow_or_dear(), prune=False)
    assert {row.id for row in free.bom if row.kind == "switch"} == {"small"}
    assert {row.id for row in tight.bom if row.kind == "switch"} == {"quick"}
    assert comparable(tight) == comparable(whole) and not failed(tight)
    assert free.totals is not None and tight.totals is not None
    switches = sum(row.quantity for row in free.bom if row.kind == "switch")
    assert tight.totals.capex_usd == free.totals.capex_usd + switches


def test_what_is_expedited_pays_its_deposit_when_it_is_ordered() -> None:
    # 40 weeks would be too long, 20 are 4.6 months: ordered in month 1 of 6 with its surcharge, all else in month 6
    parts = slow_or_dear()
    parts["switches"] = parts["switches"][:1]
    parts["switches"][0] |= {"lead_time_weeks": 40, "expedite": {"weeks": 20, "price_usd": 500}}
    keys: Json = {"finance": {"energy_usd_per_kwh": 0, "payment": {"on_order": 1}}}
    wanted = staged({}, **keys) | {"procurement": {"order_from_month": 0}}
    free = small.solved(wanted, parts)
    switches = sum(row.quantity for row in free.bom if row.kind == "switch")
    assert paid(free, QUARTER)[0] == 1650000 * switches
    kept = small.solved(wanted | {"limits": {"quarterly_budget_usd": [16500 * switches, None]}}, parts)
    assert kept.totals == free.totals and not failed(kept)
    assert kept.case is not None
    content = kept.case.content | {"limits": {"quarterly_budget_usd": [16500 * switches - 0.01, None]}}
    changed = kept.model_copy(update={"case": kept.case.model_copy(update={"content": content})})
    assert "payments_keep_budgets" in failed(changed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_a_tighter_budget_is_never_cheaper(seed: int) -> None:
    """Lead times, charges and terms at random: every budget is kept, pruned or not, and relaxing one costs nothing."""
    dice = random.Random(f"quarters-{seed}")
    parts = slow_or_dear(price_usd=dice.choice([16001, 17000, 15999]))
    for one in (*parts["transceivers"], *parts["nics"]):
        one["lead_time_weeks"] = dice.choice([0, 4, 11, 26])
    keys: Json = {"finance": {"energy_usd_per_kwh": 0, "payment": dice.choice([TERMS, {"on_order": 1}])}}
    if dice.random() < 0.5:
        keys["charges"] = [{"name": "freight", "what": "freight", "percent": 3.3}]
    free = small.solved(staged({}, **keys), parts)
    assert free.totals is not None
    highest = max(paid(free, QUARTER)) / 100
    before = free.totals.capex_usd
    for share in (1, 0.97, 0.7):
        wanted = staged({"quarterly_budget_usd": round(highest * share, 2)}, **keys)
        design = small.solved(wanted, parts)
        assert comparable(design) == comparable(small.solved(wanted, parts, prune=False)) or design.totals is None
        if design.totals is None:
            assert small.solved(wanted, parts, prune=False).totals is None
            break
        assert not failed(design) and design.totals.capex_usd >= before
        assert max(paid(design, QUARTER)) <= round(100 * highest * share)
        before = design.totals.capex_usd
