"""``fabopt.inspect.decisions``: each side is the best design of its own case, and what would tip it is what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from fabopt.errors import NoAnswerError
from fabopt.inspect.decisions.decide import Decision, Decisions, Wanted, _sized, decided, questions_of
from fabopt.inspect.decisions.rent import HOURS_PER_MONTH, compared_rent, rents_of
from fabopt.io.case import Inputs, inputs_from_objects, read_inputs
from fabopt.io.keys import with_change
from fabopt.output.decisions import differences_of
from fabopt.output.statements import growth_rows
from fabopt.output.terminal.decide import rent_lines
from fabopt.schema.catalog import Rent
from fabopt.schema.design import Design
from fabopt.schema.in_service import IN_SERVICE
from fabopt.schema.product import Source
from fabopt.solution import optimize
from tests.paths import ROOT
from tests.samples.bases import designed, saved
from tests.samples.cli_samples import Run
from tests.samples.growth_samples import eight
from tests.samples.shipped import shipped, solved_in_run
from tests.solution.test_in_service import in_stages
from tests.solution.test_rows import random_inputs

CASE = {"name": "choices", "server": "generic-hgx-h100", "stages": [
    {"name": "day-1", "servers": 4}, {"name": "later", "month": 12, "servers": 8}]}  # fmt: skip
SERVER_USD, RENT_USD = 250_000, 3


def solve(inputs: Inputs) -> Design:
    return optimize.solve(inputs, alternatives_s=0)


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return inputs_from_objects(CASE)


@pytest.fixture(scope="module")
def decisions(inputs: Inputs) -> Decisions:
    """Of the case of docs/decide.md, whose sides are solved once in a run."""

    def solved(asked: Inputs) -> Design:
        return solved_in_run(asked, engine="cp-sat", alternatives_s=0)

    return decided(inputs, solved, Wanted((), RENT_USD, SERVER_USD))


@pytest.fixture(scope="module")
def by_question(decisions: Decisions) -> Mapping[str, Decision]:
    return {decision.question: decision for decision in decisions.decisions}


def test_all_questions_are_asked(by_question: Mapping[str, Decision]) -> None:
    assert list(by_question) == ["protocol", "tiers", "servers to leaves", "speed", "buying"]


def test_sides_are_what_they_are_called(by_question: Mapping[str, Decision]) -> None:
    first, second = by_question["protocol"].sides
    assert first.design is not None and second.design is not None
    assert (first.design.fabrics[0].protocol, second.design.fabrics[0].protocol) == ("infiniband", "ethernet")
    for side, tiers in zip(by_question["tiers"].sides, (2, 3), strict=True):
        assert side.design is None or len(side.design.fabrics[0].tiers) == tiers
    _, at_once = by_question["buying"].sides
    assert at_once.design is not None and len(at_once.design.stages) == 1


def hold(inputs: Inputs, decision: Decision) -> None:
    """Solve both sides again as their keys say: figures, status and which is better follow from that alone."""
    values = {}
    for side in decision.sides:
        if side.design is None:
            continue
        again = solve(with_change(inputs, side.change))
        assert (again.status, again.totals) == (side.status, side.design.totals), side.change
        assert again.objective.model_copy(update={"solve_s": 0}) == side.design.objective.model_copy(
            update={"solve_s": 0}
        )
        assert (again.workload, again.rules_left_out) == (side.design.workload, side.design.rules_left_out)
        values[side.name] = again.objective.value or 0
    assert decision.better == (min(values, key=lambda name: values[name]) if values else "")
    if len(values) > 1:
        assert decision.by == pytest.approx(max(values.values()) - min(values.values()))


@pytest.mark.long
def test_sides_are_their_cases_solved(by_question: Mapping[str, Decision], inputs: Inputs) -> None:
    for question in ("protocol", "buying"):
        hold(inputs, by_question[question])
    assert by_question["protocol"].by == by_question["protocol"].by_usd


def test_the_best_design_is_no_dearer_than_any_side_that_keeps_its_case(decisions: Decisions) -> None:
    assert decisions.best.totals is not None
    best = float(decisions.best.totals.capex_usd)
    kept = [decision for decision in decisions.decisions if decision.question in ("protocol", "tiers", "speed")]
    assert all(side.capex_usd is None or side.capex_usd >= best for decision in kept for side in decision.sides)


@pytest.mark.long("10")
@pytest.mark.parametrize("seed", [pytest.param(s, marks=[] if s in (0, 10) else [pytest.mark.long]) for s in range(40)])
def test_sides_of_random_cases_are_their_cases_solved(seed: int) -> None:
    given = random_inputs(seed)
    for decision in decided(given, solve, Wanted()).decisions:
        hold(given, decision)


@pytest.mark.long
def test_what_a_working_gpu_costs_decides_where_that_is_minimized() -> None:
    """Mixtral on 512 GPUs: three tiers cost less to buy, and more for what they do."""
    given = read_inputs(str(ROOT / "tests" / "solution" / "answers" / "decide-mixtral.yaml"))
    decisions = decided(given, solve, Wanted())
    for decision in decisions.decisions:
        hold(given, decision)
        rows = {what: sides for what, *sides in differences_of(decision)}
        if all(side.design is not None for side in decision.sides):
            assert "-" not in rows["step"] + rows["utilization"] + rows["cost per effective GPU"]
    tiers = next(decision for decision in decisions.decisions if decision.question == "tiers")
    assert tiers.metric == "usd_per_effective_gpu"


def test_tips_make_both_sides_cost_the_same(by_question: Mapping[str, Decision]) -> None:
    """By hand: the share that a tip names, of what the side pays for that kind, is the difference."""
    looked_at = 0
    for decision in by_question.values():
        for tip in decision.tips:
            match = re.match(r"(\w+) prices of (.+) (fall|rise) by (\d+)%", tip)
            if match is None:
                continue
            side = next(side for side in decision.sides if side.name == match[2])
            assert side.design is not None and decision.by_usd is not None
            paid = sum(float(row.total_usd) for row in side.design.bom if row.kind == match[1])
            assert paid * int(match[4]) / 100 == pytest.approx(decision.by_usd, abs=paid * 0.006)
            assert (match[3] == "rise") == (side.name == decision.better)
            looked_at += 1
    assert looked_at


def test_break_even(decisions: Decisions) -> None:
    """By hand: 64 GPUs at $3 an hour for 730 hours, against eight servers at $250,000, the network, and energy."""
    rent, best = decisions.rent, decisions.best
    assert rent is not None and best.totals is not None
    (offer,) = rent.offers
    assert offer.usd_per_month == 64 * RENT_USD * HOURS_PER_MONTH
    assert rent.build_usd == pytest.approx(8 * SERVER_USD + float(best.totals.capex_usd))
    power = float(best.totals.cluster_power_w or 0)
    assert rent.energy_usd_per_month == pytest.approx(power / 1000 * HOURS_PER_MONTH * 1.4 * 0.10, abs=0.01)
    saved = offer.usd_per_month - (rent.energy_usd_per_month or 0)
    assert offer.break_even_months == pytest.approx((rent.build_usd or 0) / saved, abs=0.05)
    assert rent.network_gbps_per_gpu == best.fabrics[0].metrics.injection_gbps_per_gpu


def test_offers_of_the_catalog_are_those_for_the_gpu(inputs: Inputs, decisions: Decisions) -> None:
    """Every offer names its source and date; dearer ones are sooner dearer than building; other GPUs' are left out."""
    rents = rents_of(decisions.best, inputs.catalog.facts.rents, None)
    assert {rent.gpu for rent in rents} == {"H100"}
    assert all(rent.source.url and rent.source.date and rent.source.confidence for rent in inputs.catalog.facts.rents)
    compared = compared_rent(decisions.best, inputs.case, rents, SERVER_USD)
    assert len(compared.offers) == len(rents) > 3
    months = [offer.break_even_months for offer in compared.offers]
    assert None not in months and months == sorted(months, key=lambda value: -(value or 0))
    lines = list(rent_lines(compared))
    assert any("AWS p5.48xlarge, on demand; 400 Gb/s per GPU, EFA" in line for line in lines)
    assert any("oversubscribed: ask" in line for line in lines)


def test_a_price_that_falls_is_refused() -> None:
    with pytest.raises(ValueError, match="`low_usd` is above `high_usd`: 3 > 2"):
        Rent(gpu="H100", provider="someone", low_usd=3, high_usd=2, source=Source())


def test_other_sizes_are_asked_again(inputs: Inputs) -> None:
    """With designs of no matter what price, one question at twice the servers."""
    asked: list[int] = []

    def noted(other: Inputs) -> Design:
        stages = other.case.stages
        asked.append(stages[-1].servers or 0 if stages is not None else other.case.servers or 0)
        return shipped("dgx-superpod-32")

    decisions = decided(inputs, noted, Wanted((2,)))
    assert set(asked) == {8, 16}
    assert all([size.servers for size in decision.sizes] == [16] for decision in decisions.decisions)
    assert all(decision.by_usd == 0 for decision in decisions.decisions if decision.by is not None)
    (sides,) = [decision.sizes for decision in decisions.decisions if decision.question == "buying"]
    assert [stage["servers"] for change in sides[0].changes for stage in change["stages"]] == [8, 16, 16]


def test_a_side_that_cannot_be_says_why() -> None:
    """Servers with 400G NICs built in have no side of 800G."""
    built_in = inputs_from_objects({"name": "dgx", "server": "nvidia-dgx-h100", "servers": 4})
    (speed,) = [question for question in questions_of(built_in) if question.name == "speed"]
    assert speed.sides[0].change == {"fabrics.compute.nics": ["nvidia-mcx75310aas-neat"]}
    assert speed.sides[1].why_not == "the NICs built into nvidia-dgx-h100 are not of 800 Gb/s a port"


@pytest.mark.long
def test_command(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.json").write_text(json.dumps({"name": "small", "server": "nvidia-dgx-h100", "servers": 4}))
    Path("case.yaml").write_text(Path("case.json").read_text())
    ran = run("decide", "case.yaml", "--json", "out.json", "--html", "out.html", "--rent", "3")
    assert ran.code == 0
    content, page = json.loads(Path("out.json").read_text()), Path("out.html").read_text()
    asked = [decision["question"] for decision in content["decisions"]]
    assert asked == ["protocol", "tiers", "servers to leaves", "speed"]
    assert all(side["name"] in page for decision in content["decisions"] for side in decision["sides"])
    assert content["rent"]["gpus"] == 32
    designed = [side for decision in content["decisions"] for side in decision["sides"] if side["status"] == "optimal"]
    assert all(side["change"] and side["objective"]["metric"] == "capex_usd" for side in designed)
    for words, message in (
        (("--rent", "-1"), "not a price; found -1"),
        (("--size", "0"), "not factors of the servers"),
        (("--html", "x.txt"), "a page is not written like this"),
    ):
        ran = run("decide", "case.yaml", *words)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err


@pytest.mark.long("0-4", "2-0")
@pytest.mark.parametrize(("known", "code"), [(0, 4), (1, 0), (2, 0)])
def test_questions_that_time_leaves_open_are_said(
    known: int, code: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a question of which one side was answered neither is better."""
    monkeypatch.chdir(tmp_path)
    Path("case.yaml").write_text(json.dumps({"name": "small", "server": "nvidia-dgx-h100", "servers": 4}))
    answers = iter([solve(inputs_from_objects(json.loads(Path("case.yaml").read_text())))] * known)

    def cut_off(*_: object, **__: object) -> Design:
        design = next(answers, None)
        if design is None:
            raise NoAnswerError("the time limit was over")
        return design

    monkeypatch.setattr(optimize, "solve", cut_off)
    ran = run("decide", "case.yaml", "--json", "out.json", "--html", "out.html")
    content = json.loads(Path("out.json").read_text())
    assert ran.code == code and not content["complete"] and "not answered in time" in ran.out
    assert [decision["better"] for decision in content["decisions"]] == [""] * 4
    statuses = [side["status"] for decision in content["decisions"] for side in decision["sides"]]
    assert statuses.count("optimal") == max(0, known - 1)


def test_beside_what_is_in_service_what_is_added_is_decided(tmp_path: Path) -> None:
    """One stage of its own leaves no question of when to buy; what is in service stays, at any size, and is no cost."""
    planned = designed(eight(), in_stages(5, 8))
    file = f"{saved(planned, tmp_path)}@stage-1"
    one, two = (inputs_from_objects({**in_stages(*sizes), "base": {"file": file}}, eight()) for sizes in ((8,), (6, 8)))
    best = solve(one)
    (offer,) = rents_of(best, (), RENT_USD)
    rent = compared_rent(best, one.case, [offer], SERVER_USD)
    before, after = planned.stages
    assert (rent.gpus, rent.build_usd) == (after.gpus - before.gpus, 3 * SERVER_USD + after.capex_usd)
    server_w = next(server for server in one.catalog.servers if server.id == one.case.server_id).power_w or 0
    drawn_w = 3 * server_w + after.power_w - before.power_w
    assert rent.energy_usd_per_month == pytest.approx(drawn_w / 1000 * HOURS_PER_MONTH * 1.4 * 0.10, abs=0.01)
    assert "5 servers in service, and what they draw, are on neither side" in rent.notes
    assert next(row[6] for row in growth_rows(best)) == "0"
    assert "buying" not in [question.name for question in questions_of(one)]
    buying = next(question for question in questions_of(two) if question.name == "buying")
    at_once = with_change(two, buying.sides[1].change)
    assert [(stage.name, stage.servers) for stage in at_once.case.stages or ()] == [(IN_SERVICE, 5), ("stage-2", 8)]
    at_sizes = [_sized(two, {}, factor)["stages"] for factor in (0.25, 2)]
    assert [[stage["servers"] for stage in stages] for stages in at_sizes] == [[5, 5, 5], [5, 12, 16]]
