"""Default rules yield to structure and never to a limit: inputs in which a rule gave way to a budget, then random ones.

The inputs are in ``answers/``. Each has a limit that only a design without some default rule meets.
"""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from fabopt.io.case import inputs_from_objects
from fabopt.output.export.front import front_csv
from fabopt.output.html.build import page_bytes
from fabopt.output.terminal.answer import headline, infeasible_lines
from fabopt.output.terminal.summary import summary
from fabopt.output.words import TITLE
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design, Front
from fabopt.solution import optimize, rule_levers
from fabopt.study.sweep import sweep as sweeps
from tests.samples import random_networks, small
from tests.samples.random_cases import generate
from tests.samples.small import designed, usd
from tests.solution.test_redundancy import ONE_SPINE, ONE_UPLINK, pair, three_ports

Json = dict[str, Any]
ANSWERS = Path(__file__).parent / "answers"
SPREAD, LEAVES = "rules.rack-spread", "site.rack_rules.spread_leaves"


def given(name: str) -> Json:
    content: Json = yaml.safe_load((ANSWERS / f"{name}.yaml").read_text())
    return content


def solved(content: Json) -> Design:
    return optimize.solve(inputs_from_objects(content), alternatives_s=0)


# -- budgets -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "needed", "levers"),
    (
        ("racks-budget", 1_057_720, {LEAVES: 1_015_445, SPREAD: 938_530}),
        ("growth-2m", 2_224_260, {}),
        ("managers-budget", 1_407_040, {"rules.subnet-manager": 1_399_040}),
        # with cards that its server is tested with
        ("lengths-budget", 1_149_470, {}),
    ),
    ids=("racks-budget", "growth-2m", "managers-budget", "lengths-budget"),
)
def test_a_budget_that_only_a_broken_rule_meets_leaves_no_design(
    name: str, needed: int, levers: dict[str, int]
) -> None:
    design = solved(given(name))
    assert design.status == "infeasible"
    conflicts = {conflict.limit: conflict for conflict in design.conflicts}
    assert conflicts["limits.budget_usd"].needed == needed
    assert design.nearest is not None and design.nearest.capex_usd == needed
    priced = {limit: one.capex_usd for limit, one in conflicts.items() if limit.startswith(("rules.", "site."))}
    assert priced == levers and list(priced.values()) == sorted(priced.values())
    text = "\n".join(infeasible_lines(design))
    assert f"${needed:,}" in text and "keeps every rule" in text
    for limit, price in levers.items():
        written = f"{limit}: false" if limit == LEAVES else f"rules: {{{limit.removeprefix('rules.')}: false}}"
        assert f"`{written}`: ${price:,}" in text


@pytest.mark.long
@pytest.mark.parametrize("seed", (5, 8, 10, 14, 16, 20))
def test_the_budget_that_is_needed_is_what_the_nearest_design_costs(seed: int) -> None:
    """Of several fabrics too, whatever was asked of them before."""
    parts, content = random_networks.generate(seed)
    content["site"].pop("floor", None)
    least = optimize.solve(inputs_from_objects(content, parts), alternatives_s=0).totals.capex_usd
    content["limits"] = {"budget_usd": least - 1}
    design = optimize.solve(inputs_from_objects(content, parts), alternatives_s=0)
    (told,) = (conflict for conflict in design.conflicts if conflict.limit == "limits.budget_usd")
    assert design.nearest is not None and told.minimal
    assert design.nearest.capex_usd == told.needed == least


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "price"),
    (
        ({"rules": {"rack-spread": False}}, 938_530),
        ({"site": {**given("racks-budget")["site"], "rack_rules": {"spread_leaves": False}}}, 1_015_445),
        ({"limits": {"budget_usd": 1_057_720}}, 1_057_720),
    ),
)
def test_what_is_advised_gives_its_figure(changes: Json, price: int) -> None:
    design = solved(given("racks-budget") | changes)
    small.assert_proven(design)
    assert usd(design) == price and design.rules_left_out == ()


def test_a_part_of_redundancy_is_priced_by_its_name() -> None:
    parts, wanted = pair(limits={"budget_usd": ONE_SPINE})
    design = optimize.solve(small.inputs(wanted, parts), alternatives_s=0)
    (lever,) = [one for one in design.conflicts if one.limit.startswith("rules.")]
    assert (lever.limit, lever.value, lever.needed, lever.capex_usd) == ("rules.two-spines", "true", "false", ONE_SPINE)
    wanted["rules"] = {"lengths": False, "two-spines": False}
    assert usd(designed(parts, wanted)) == ONE_SPINE


# -- what is said ------------------------------------------------------------------------------------------------------


def test_what_is_left_out_stands_in_the_headline_below_it_and_on_the_page() -> None:
    design = designed(*three_ports())
    assert headline(design).endswith("proven, 1 rule left out.")
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(summary(design))
    text = console.export_text()
    line = "rules.two-spines of compute: 1 spine above every leaf; no design of the case keeps it, whatever its limits"
    assert text.index(TITLE) < text.index(line) < text.index("Single points of failure")
    shown = page_bytes(design, design.checks).decode()
    assert 'class="left-out"' in shown and line in shown
    whole = designed(*pair())
    assert "left out" not in headline(whole) and 'class="left-out"' not in page_bytes(whole, ()).decode()


def swept(parts: Json, wanted: Json, budgets: str) -> Front:
    inputs = small.inputs(wanted, parts)
    grid = sweeps.grid_of(inputs, budgets, [])
    return sweeps.sweep(inputs, grid, sweeps.Execution(), None, Settings(), Clock(None), lambda *told: None)


def test_points_of_a_sweep_say_it_in_a_column() -> None:
    front = swept(*three_ports(), f"{ONE_UPLINK - 1},{ONE_UPLINK}")
    heads, below, bare = front_csv(front).decode().splitlines()
    column = heads.split(",").index("rules_left_out")
    assert "rules.two-spines of compute" in bare and below.split(",")[column] == ""


def test_a_point_below_the_least_says_who_prices_the_rules() -> None:
    """As solving it does: what would do without a rule is not a design of the case."""
    parts, wanted = pair()
    least = usd(designed(parts, wanted))
    (point,) = swept(parts, wanted, f"{least - 0.01}").points
    (told,) = point.conflicts
    assert point.nearest is not None and point.nearest.capex_usd == told.needed == least
    assert "default rules are kept" in told.detail and "`fabopt solve`" in told.detail


# -- random limits -----------------------------------------------------------------------------------------------------


FAMILIES = ("linear", "limited", "ruled", "attached", "three_tier", "planes")


def random_case(seed: int) -> tuple[Json, Json]:
    """Parts and a case of small switches under its default rules, with no limit of its own."""
    dice = random.Random(f"limits {seed}")
    parts, wanted = generate(dice.choice(FAMILIES), seed)
    wanted = {key: value for key, value in wanted.items() if key not in ("limits", "rules", "catalog")}
    wanted["resilience"] = "default"
    if dice.random() < 0.5 and not any(server.get("nics") for server in parts["servers"]):
        wanted["fabrics"][0]["role"] = dice.choice(("storage", "in-band"))
    return parts, wanted


@pytest.mark.long(but_every=2)
@pytest.mark.long(*(str(seed) for seed in range(8, 200)))
@pytest.mark.long("7", "0", "6", "2")
@pytest.mark.parametrize("seed", range(200), ids=str)
def test_under_any_limit_the_answer_keeps_what_it_keeps_without(seed: int) -> None:
    """At the figure of the least design there is one, just below it none: no rule gives way to money or power. Each
    rule that is named then gives its figure.
    """
    parts, wanted = random_case(seed)
    metric, limit = random.Random(seed).choice((("capex_usd", "budget_usd"), ("power_w", "power_w")))
    free = optimize.solve(small.inputs(wanted | {"objective": metric}, parts), alternatives_s=0)
    if free.totals is None:
        assert free.status == "infeasible"
        return
    totals = free.totals
    # a limit on power holds for servers too, where they count
    power = totals.cluster_power_w if wanted.get("include_servers") else totals.power_w
    value = totals.capex_usd if metric == "capex_usd" else power
    at, below = (
        optimize.solve(small.inputs(wanted | {"limits": {limit: most}}, parts), alternatives_s=0)
        for most in (value, round(value - 0.01, 2))
    )
    assert at.status == "optimal" and at.rules_left_out == free.rules_left_out
    assert [check for check in at.checks if not check.ok] == []
    assert below.status == "infeasible" and below.rules_left_out == ()
    assert {one.limit: one.needed for one in below.conflicts}[f"limits.{limit}"] == value
    rules = dict(small.inputs(wanted, parts).case.rules)
    for lever in below.conflicts:
        if lever.limit.startswith("rules."):
            keys = [one.limit for one in lever.together] or [lever.limit]
            off = rules | {key.removeprefix("rules."): False for key in keys}
            limited = wanted | {"rules": off, "limits": {limit: round(value - 0.01, 2)}}
            design = optimize.solve(small.inputs(limited, parts), alternatives_s=0)
            assert design.status == "optimal" and usd(design) == lever.capex_usd


def test_rules_whose_cost_takes_too_much_work_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that was not proven is named as the nearest design, and what was not settled is said."""
    parts, wanted = pair(limits={"budget_usd": ONE_SPINE})
    whole = optimize.solve(small.inputs(wanted, parts), alternatives_s=0)
    assert whole.nearest is not None and not any(rule_levers.UNSETTLED in note for note in whole.notes)
    monkeypatch.setattr(rule_levers, "MOST_WORK", 0)
    design = optimize.solve(small.inputs(wanted, parts), alternatives_s=0)
    assert design.status == "infeasible" and design.nearest is None and not design.alternatives_complete
    assert any(note.endswith(rule_levers.UNSETTLED) for note in design.notes)
