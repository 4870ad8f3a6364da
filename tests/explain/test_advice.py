"""Advice that works: every value that is told gives a design, and a thousandth less of it gives none."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
import yaml

from fabopt.cli import main
from fabopt.errors import EXIT_INFEASIBLE
from fabopt.explain import conflicts, what_if
from fabopt.explain.what_if import Inquiry
from fabopt.io.case import read_inputs
from fabopt.output.terminal.answer import infeasible_lines
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import parts_that_yield
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Conflict, Design
from fabopt.solution import optimize
from tests.samples.infeasible import MAKERS, ONE_CARD, Sample, changes_of, faults_of, faults_of_all, followed, verdict
from tests.samples.small import Json, case, catalog, inputs, product, solved
from tests.solution.test_redundancy import three_ports

ANSWERS = Path(__file__).parents[1] / "solution" / "answers"
SWITCHES = ("large", "lean", "small")
# Of the random cases of a limit, so many are looked at; ``python -m tests.samples.infeasible 300`` looks at more.
SEEDS = range(2)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is least does not depend on how busy the machine is: questions are counted, seconds are not."""
    monkeypatch.setattr(conflicts, "MOST_SECONDS", 60.0)


def design_of(sample: Sample) -> Design:
    return optimize.solve(sample.inputs, alternatives_s=0)


def advised(design: Design) -> list[Conflict]:
    assert design.status == "infeasible"
    return [conflict for conflict in design.conflicts if isinstance(conflict.needed, int | float)]


@pytest.mark.long(but=("bisection-0", "part numbers-0", "ratio-0"))
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MAKERS)
def test_random_cases_of_every_limit(name: str, seed: int) -> None:
    sample = MAKERS[name](random.Random(100 + seed))
    if verdict(sample.inputs) != "infeasible":
        return
    design = design_of(sample)
    assert list(faults_of_all(sample, design)) == []
    for conflict in design.conflicts:
        if conflict.needed is not None:
            assert list(faults_of(sample, conflict)) == []


def test_every_limit_has_advice_that_is_minimal() -> None:
    """A case of each limit that is known to have no design."""
    for name in ("budget", "late switches", "bandwidth", "budgets of stages", "run", "servers"):
        sample = next(
            made for seed in range(9) if verdict((made := MAKERS[name](random.Random(seed))).inputs) == "infeasible"
        )
        assert any(conflict.minimal for conflict in advised(design_of(sample))), name


def late(weeks: float, *ids: str, month: int = 8) -> Sample:
    parts = catalog()
    for part in ids:
        product(parts, part)["lead_time_weeks"] = weeks
    stages = [{"name": "go", "month": month, "servers": 4}]
    return Sample(case({"nics": ["nic-400"], "nics_per_server": 2}, stages=stages), parts)


def test_weeks_are_rounded_down() -> None:
    """Eight months are 34 2/3 weeks; levers are orders two months earlier, and going live two months later."""
    told = {one.limit: (one.value, one.needed, one.direction) for one in advised(design_of(late(40, *SWITCHES)))}
    assert told["catalog.small.lead_time_weeks"] == (40, 34.666, "down")
    assert told["procurement.order_from_month"] == (0, -2, "down")
    assert told["stages.go.month"] == (8, 10, "up")


def test_a_lead_time_is_advised_with_the_weeks_that_expediting_saves() -> None:
    """Of 34 2/3 weeks to the stage 40 are too many with 2 saved; with 36 2/3 the switch comes, expedited."""
    sample = late(40, *SWITCHES)
    for part in SWITCHES:
        product(sample.parts, part)["expedite"] = {"weeks": 2, "price_usd": 100}
    conflicts = advised(design_of(sample))
    told = {one.limit: (one.value, one.needed, one.direction) for one in conflicts}
    assert told["catalog.small.lead_time_weeks"] == (40, 36.666, "down")
    assert told["procurement.order_from_month"] == (0, -1, "down")
    assert any("even expedited" in one.detail for one in conflicts)
    product(sample.parts, "small")["lead_time_weeks"] = 36.666
    assert design_of(sample).status == "optimal"


def test_parts_that_are_late_together_are_one_item() -> None:
    """Switches and NICs are late: no one of them alone helps, a switch and the NIC do."""
    sample = late(40, *SWITCHES, "nic-400")
    joint = next(conflict for conflict in advised(design_of(sample)) if conflict.together)
    changes = changes_of(joint)
    assert len(changes) == 2 and "catalog.nic-400.lead_time_weeks" in changes and joint.minimal
    assert verdict(followed(sample, changes)) == "optimal"
    for limit in changes:
        assert verdict(followed(sample, {limit: changes[limit]})) == "infeasible"


def test_stages_behind_go_live_later_too() -> None:
    sample = late(40, *SWITCHES)
    sample.content["stages"].append({"name": "more", "month": 9, "servers": 6})
    told = next(one for one in advised(design_of(sample)) if one.limit == "stages.go.month")
    assert changes_of(told) == {"stages.go.month": 10, "stages.more.month": 10}


@pytest.mark.long
def test_a_ratio_is_one_that_every_stage_keeps() -> None:
    """The last stage of the design that is met has 2.5:1, the one before 4:1: at 2.5:1 there is no design."""
    sample = MAKERS["power of stages"](random.Random(65))
    told = next(one for one in advised(design_of(sample)) if one.limit.endswith("max_oversubscription.leaf"))
    assert isinstance(told.needed, float) and 4 <= told.needed < 4.01
    assert list(faults_of(sample, told)) == []


@pytest.mark.long
def test_the_budget_of_a_stage_is_the_least() -> None:
    """What the cheapest first stage costs, with the second one's budget kept; not what some design spends there."""
    stages: list[Json] = [{"name": "one", "servers": 2}, {"name": "two", "month": 12, "servers": 3}]
    stages[0]["limits"] = {"budget_usd": 20_000}
    sample = Sample(case(ONE_CARD, stages=stages), catalog())
    told = next(one for one in advised(design_of(sample)) if one.limit.startswith("stages.one"))
    cheapest = optimize.solve(followed(sample, {"stages.one.limits.budget_usd": 1_000_000}), alternatives_s=0)
    assert isinstance(told.needed, int | float) and told.needed <= cheapest.stages[0].capex_usd
    assert list(faults_of(sample, told)) == []


def test_a_budget_of_which_nothing_is_to_spare_is_settled_by_two_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """All is paid in one quarter, so that the cheapest design takes the least there is: it is found, and no less is."""
    monkeypatch.setattr(conflicts, "MOST_QUESTIONS", 2)
    stages = [{"name": "one", "month": 9, "servers": 3}]
    sample = Sample(case(ONE_CARD, stages=stages, limits={"quarterly_budget_usd": 20_000}), catalog())
    (told,) = (one for one in advised(design_of(sample)) if one.limit == "limits.quarterly_budget_usd")
    assert told.minimal and list(faults_of(sample, told)) == []


def test_supply_is_what_a_design_takes_at_least() -> None:
    """A large switch as leaf and spine takes three; some designs without limits of supply take more."""
    parts = catalog()
    for part in SWITCHES:
        product(parts, part)["supply"] = 0
    sample = Sample(case(), parts)
    told = next(one for one in advised(design_of(sample)) if one.limit == "catalog.large.supply")
    assert (told.value, told.needed, told.minimal) == (0, 3, True)
    assert list(faults_of(sample, told)) == []


def test_a_vendor_that_would_be_enough_is_named() -> None:
    parts = catalog()
    for part, vendor in zip(SWITCHES, ("Alpha", "Beta", "Gamma"), strict=True):
        product(parts, part)["vendor"] = vendor
    forbidden = ["Alpha", "Beta", "Gamma"]
    design = solved(case(procurement={"forbidden_vendors": forbidden}), parts)
    told = next(one for one in design.conflicts if one.limit == "procurement.forbidden_vendors")
    assert "to allow Alpha or Beta or Gamma would be enough" in told.detail


def test_the_message_comes_first_and_all_is_told_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sample = late(40, *SWITCHES)
    (tmp_path / "parts.yaml").write_text(yaml.safe_dump(sample.parts))
    file, written = tmp_path / "case.yaml", tmp_path / "design.json"
    file.write_text(yaml.safe_dump({**sample.content, "rules": "none", "catalog": ["./parts.yaml"]}))
    assert main(["solve", str(file), "--json", str(written), "--full"]) == EXIT_INFEASIBLE
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "small: no design meets this case (proven)."
    conflicts = json.loads(written.read_text())["conflicts"]
    for conflict in conflicts:
        assert sum(line.startswith(f"  {conflict['limit']}: is ") for line in lines) == 1
        assert {"direction", "minimal", "together"} <= set(conflict)
    assert any(line.endswith("Changing any one of them as above would do.") for line in lines)


def test_news_are_told_before_the_answer() -> None:
    news: list[Conflict | None] = []
    sample = late(40, *SWITCHES)
    design = optimize.solve(sample.inputs, alternatives_s=0, told=news.append)
    assert news[0] is None
    assert [one.limit for one in news[1:] if one is not None] == [one.limit for one in design.conflicts]


# -- what is said of what is not settled, lacks a figure, or takes several keys ------------------------------------


def test_a_search_under_all_rules_that_is_stopped_loses_no_lever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3 ports a switch no design has two spines, whatever else is asked: that is known without that search."""
    parts, wanted = three_ports(fabric={"max_oversubscription": 1})
    limit = "fabrics.compute.max_oversubscription.leaf"
    expected = {one.limit: one.needed for one in optimize.solve(inputs(wanted, parts), alternatives_s=0).conflicts}
    search = Inquiry._design_of

    def stopped(inquiry: Inquiry, problem: Problem, in_reach: bool) -> Optimum | None:
        if any(part.path == "rules.two-spines" for part in parts_that_yield(problem)):
            raise StoppedError
        return search(inquiry, problem, in_reach)

    monkeypatch.setattr(Inquiry, "_design_of", stopped)
    design = optimize.solve(inputs(wanted, parts), alternatives_s=0)
    assert design.status == "infeasible"
    told = {one.limit: one.needed for one in design.conflicts if one.needed is not None}
    assert told[limit] == expected[limit] == 2


def test_a_key_that_takes_more_work_than_a_question_may_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search with any tiers is stopped: that is said of this key, and other keys are still asked."""
    sample = Sample(case({"tiers": 1}, servers=30), catalog())
    search = Inquiry._design_of

    def stopped(inquiry: Inquiry, problem: Problem, in_reach: bool) -> Optimum | None:
        if len(problem.fabrics[0].shapes.tiers) > 1:
            raise StoppedError
        return search(inquiry, problem, in_reach)

    monkeypatch.setattr(Inquiry, "_design_of", stopped)
    design = design_of(sample)
    told = {one.limit: one for one in design.conflicts}
    tiers = told["fabrics.compute.tiers"]
    assert (tiers.value, tiers.needed, tiers.minimal) == (1, None, False) and "more work" in tiers.detail
    assert "fabrics.compute.tiers: is 1; not settled (whether" in "\n".join(infeasible_lines(design))
    assert told["servers"].needed == 6


@pytest.mark.long("power_w-None-huge has no power figure")
@pytest.mark.parametrize(
    ("key", "value", "words"),
    (
        ("power_w", None, "huge has no power figure"),
        ("price_usd", None, "huge has no price"),
        ("cages", ["1x800"], "huge lists no such split"),
    ),
)
def test_a_product_that_lacks_one_figure_is_named(key: str, value: object, words: str) -> None:
    """A switch of 64 ports would do for 60 servers on two tiers; it is listed without one of its figures."""
    parts = catalog()
    huge = {**copy.deepcopy(product(parts, "large")), "id": "huge"}
    huge["cages"][0] |= {"count": 64, "splits": ["1x800", "1x400", "2x200"]}
    parts["switches"] += [{**huge, "id": "other", "cages": [{**huge["cages"][0], "count": 1}]}, huge]
    assert designed_at(parts, 60) == "optimal"
    if key == "cages":
        huge["cages"] = [{**huge["cages"][0], "splits": value}]
    else:
        huge[key] = value
    sample = Sample(case({"tiers": 2}, servers=60), parts)
    (told,) = (one for one in design_of(sample).conflicts if one.limit == f"catalog.huge.{key}")
    assert words in told.detail and told.capex_usd is None


def designed_at(parts: Json, servers: int) -> str:
    return design_of(Sample(case({"tiers": 2}, servers=servers), parts)).status


def test_three_keys_of_which_two_do_are_told_as_two() -> None:
    """Without any one of many keys there is a design of other ones: the fewest are told, each needed."""
    only = {"leaf": ["small"], "spine": ["small"]}
    fabric = {"tiers": 1, "planes": 3, "rails": "aligned", "switches": only, "nics_per_server": 4}
    sample = Sample(case({**fabric, "min_gbps_per_gpu": 400}, servers=30), catalog())
    (told,) = design_of(sample).conflicts
    assert changes_of(told) == {"fabrics.compute.tiers": "any", "fabrics.compute.planes": "any"}
    assert told.minimal and list(faults_of(sample, told)) == []


@pytest.mark.long
def test_a_budget_of_a_stage_is_settled_with_any_tiers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """NICs and leaves of its first stage alone are past the budget: no networks of three tiers are looked at."""
    monkeypatch.setattr(what_if, "MOST_WORK", 10_000)
    design = optimize.solve(read_inputs(ANSWERS / "stage-budget.yaml"), alternatives_s=0)
    assert all(conflict.minimal for conflict in design.conflicts)
    told = {conflict.limit: conflict.needed for conflict in design.conflicts}
    assert told == {"stages.s2.servers": 4, "stages.s1.limits.budget_usd": 245_024}


def sized(servers: int) -> Json:
    return case({"tiers": "any"}, servers=servers, limits={"budget_usd": 150_000})


@pytest.mark.long
def test_the_servers_advised_are_those_of_which_one_more_has_no_design(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of servers under a budget, solved; where the work of a question ends, the words claim no more."""
    solves = [number for number in range(1, 20) if verdict(inputs(sized(number), catalog())) != "infeasible"]
    assert solves == list(range(1, max(solves) + 1)) and max(solves) < 19
    sample = Sample(sized(19), catalog())
    (told,) = (one for one in design_of(sample).conflicts if one.limit == "servers")
    assert (told.needed, told.minimal) == (max(solves), True)
    assert told.detail == f"with {max(solves)} servers there is a design; with one more there is none"
    ask = Inquiry.design_of

    def stopped(inquiry: Inquiry, problem: Problem, in_reach: bool = False) -> Optimum | None:
        if in_reach and problem.servers > max(solves) - 2:
            raise StoppedError
        return ask(inquiry, problem, in_reach)

    monkeypatch.setattr(Inquiry, "design_of", stopped)
    for one in design_of(sample).conflicts:
        if one.limit == "servers":
            assert not one.minimal and isinstance(one.needed, int) and one.needed <= max(solves) - 2
            assert "in time" in one.detail and "one more" not in one.detail
