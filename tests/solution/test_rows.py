"""Rows of *what else*: each is its case solved with the keys that it names changed; none of them loses the answer."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from fabopt.errors import NoAnswerError
from fabopt.io.case import Inputs, inputs_from_objects, read_inputs
from fabopt.io.keys import with_change
from fabopt.schema.design import Alternative, Design
from fabopt.solution import alternatives, changes, optimize
from fabopt.solution.changed import ChangedCases, Outcome
from fabopt.solution.rows import LONG, NOT_FINISHED, NOTHING_CHEAPER, NOTHING_LESS, QUICK, USUAL
from tests.paths import ROOT
from tests.samples.random_cases import FAMILIES, generate
from tests.samples.small import Json, case, catalog, inputs

ANSWERS = ROOT / "tests" / "solution" / "answers"
# Rows of a case that are solved again, so that those of many cases are.
MOST_OF_A_CASE = 3


def figures(row: Alternative) -> tuple[Any, ...]:
    """What a row says of a design."""
    return (
        row.status,
        row.objective,
        row.capex_usd,
        row.power_w,
        row.step_s,
        row.tokens_per_s,
        row.usd_per_effective_gpu,
        {name: job.tokens_per_s for name, job in row.jobs.items()},
    )


def solved_figures(design: Design) -> tuple[Any, ...]:
    """The same of a design."""
    assert design.totals is not None
    use = design.workload
    step = (None,) * 3 if use is None else (use.step_s, use.tokens_per_s, use.usd_per_effective_gpu)
    jobs = {} if use is None else {job.name: job.tokens_per_s for job in use.jobs}
    step = (None, None, step[2]) if jobs else step
    return design.status, design.objective.value, design.totals.capex_usd, design.totals.power_w, *step, jobs


def hold(given: Inputs, rows: int | None = None, seed: int = 0) -> int:
    """Solve some rows of a case again, and hold them against what they say; returns how many."""
    design = optimize.solve(given)
    if design.totals is None:
        return 0
    assert design.alternatives_complete
    finished = [row for row in design.alternatives if row.finished]
    for row in design.alternatives:
        assert row.change, f"{row.what} has no keys"
        assert row.finished or (row.summary, row.capex_usd) == (NOT_FINISHED, None)
        assert row.summary != NOTHING_CHEAPER or (row.capex_delta_usd, row.power_delta_w) == (0, 0)
        assert row.status == "optimal" or row.summary not in (NOTHING_CHEAPER, NOTHING_LESS)
        if row.what == "sourcing" and row.finished:
            assert row.objective_delta is not None and row.objective_delta <= 0, "a rule less is never dearer"
    picked = finished if rows is None else random.Random(seed).sample(finished, min(rows, len(finished)))
    for row in picked:
        other = optimize.solve(with_change(given, row.change), alternatives_s=0)
        assert other.totals is not None, f"{row.what} {row.value} has no design"
        assert figures(row) == solved_figures(other), f"{row.what} {row.value}: {row.change}"
    return len(picked)


def random_inputs(seed: int) -> Inputs:
    """A small random case of some family, with default rules in two of three."""
    parts, content = generate(FAMILIES[seed % len(FAMILIES)], 1000 + seed)
    if seed % 3:
        content = {key: value for key, value in content.items() if key not in ("rules", "resilience")}
    return inputs_from_objects(content, parts)


@pytest.mark.long(but=("6",))
@pytest.mark.parametrize("seed", range(10))
def test_rows_are_what_solving_gives(seed: int) -> None:
    hold(random_inputs(seed), MOST_OF_A_CASE, seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(10, 210, 20))
def test_three_hundred_rows_are_what_solving_gives(first: int) -> None:
    assert sum(hold(random_inputs(seed), MOST_OF_A_CASE, seed) for seed in range(first, first + 20)) >= 15


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("seed", [2, 7, 13])
def test_what_is_not_looked_at_would_be_no_row(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules about NICs that leave none out alone, looked at all the same: not a row more."""
    given = random_inputs(seed)
    rows = optimize.solve(given).alternatives
    monkeypatch.setattr(changes, "_leaves_out_alone", lambda rule, fabric: True)
    assert optimize.solve(given).alternatives == rows


def test_lanes_share_all_looks_about_equally() -> None:
    draw = random.Random(1)
    for _ in range(100):
        efforts = [draw.choice([QUICK, USUAL, LONG]) for _ in range(draw.randint(0, 30))]
        looks = [alternatives._RowLook(lambda rows: iter(()), effort, draw.choice([1, 1, 4])) for effort in efforts]
        lanes = alternatives._lanes(looks, all_take_long=False)
        assert sorted(place for lane in lanes for place in lane) == list(range(len(looks)))
        assert all(
            [looks[place].effort for place in lane] == sorted(looks[place].effort for place in lane) for lane in lanes
        )
        loads = [sum(looks[place].cases * (1 + looks[place].effort) for place in lane) for lane in lanes]
        assert max(loads) - min(loads) <= max((look.cases * (1 + look.effort) for look in looks), default=0)


@pytest.mark.long
def test_rows_of_several_fabrics_are_what_solving_gives() -> None:
    fabrics = [{"name": "compute", "tiers": "any"}, {"name": "store", "role": "storage", "min_gbps_per_gpu": 50}]
    content = case({}, servers=6)
    hold(inputs({**content, "fabrics": [{**content["fabrics"][0], **fabrics[0]}, fabrics[1]]}, catalog()), 4)


@pytest.mark.long
def test_rows_of_several_jobs_are_what_solving_gives() -> None:
    assert hold(read_inputs(str(ROOT / "cases" / "trainer-rollout-1024.yaml")), 2) > 0


@pytest.mark.long
def test_rows_of_a_service_are_what_solving_gives() -> None:
    """With each limit on what users wait for doubled, too."""
    given = read_inputs(str(ROOT / "cases" / "deepseek-v3-serving-256.yaml"))
    limits = [row for row in optimize.solve(given).alternatives if row.what in ("ttft_ms", "tpot_ms")]
    assert [row.change for row in limits] == [{"workload.ttft_ms": 4000}, {"workload.tpot_ms": 120}]
    for row in limits:
        other = optimize.solve(with_change(given, row.change), alternatives_s=0)
        assert other.totals is not None and other.serving is not None
        served = other.serving.ttft_s, other.serving.tpot_s, other.serving.tokens_per_s
        assert (row.capex_usd, row.ttft_s, row.tpot_s, row.tokens_per_s) == (other.totals.capex_usd, *served)


@pytest.mark.long
@pytest.mark.parametrize("name", ["effective-gpt3", "effective-deepseek", "effective-llama70b", "sourcing-rows"])
def test_rows_that_were_not_what_solving_gives(name: str) -> None:
    assert hold(read_inputs(str(ANSWERS / f"{name}.yaml"))) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["dgx-superpod-128", "rail-only-1024-gpus"])
def test_rows_are_alike_on_every_engine(name: str) -> None:
    """CBC gives nothing usable for programs of some rows: they are solved by the engine that is exact."""
    ours, theirs = (
        optimize.solve(read_inputs(str(ROOT / "cases" / f"{name}.yaml")), engine=engine) for engine in ("cp-sat", "cbc")
    )
    assert theirs.status == "optimal"
    assert ours.alternatives and ours.alternatives == theirs.alternatives


def fails(*asked: object) -> None:
    raise NoAnswerError("engine returned no usable answer")


def test_an_answer_outlives_what_fails_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = optimize.solve(inputs(case()), alternatives_s=0)
    monkeypatch.setattr(alternatives, "compare", fails)
    design = optimize.solve(inputs(case()))
    assert (design.status, design.totals, design.bom) == ("optimal", alone.totals, alone.bom)
    assert not design.alternatives_complete
    assert design.notes[-1] == (
        "not all alternatives were compared: a search failed (NoAnswerError: engine returned no usable answer)"
    )


def test_a_row_that_fails_says_so_and_has_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChangedCases, "solve", fails)
    design = optimize.solve(inputs(case({"tiers": "any"}, resilience="default")))
    assert design.status == "optimal" and all(check.ok for check in design.checks)
    assert {(row.finished, row.capex_usd, row.summary) for row in design.alternatives} == {(False, None, NOT_FINISHED)}


@pytest.mark.parametrize("share", [0, 0.05])
def test_where_work_ends_rows_say_so(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    monkeypatch.setattr(alternatives, "WORK_PER_S", int(share * alternatives.WORK_PER_S))
    design = optimize.solve(inputs(case({"tiers": "any"}, resilience="default")))
    assert design.alternatives_complete
    assert any(not row.finished for row in design.alternatives)
    for row in design.alternatives:
        assert row.finished == (row.capex_usd is not None)


@pytest.mark.long
@pytest.mark.parametrize("servers", [32, pytest.param(128, marks=pytest.mark.long)])
def test_longer_cables_are_in_the_space_where_part_numbers_are_few(servers: int) -> None:
    """Fibres of 10 m below leaves and of 20 m above: one length for all costs the difference and no other network."""
    content: Json = {"name": "lengths", "server": "nvidia-dgx-h100", "servers": servers}
    wanted = {**content, "fabrics": [{"name": "compute", "protocol": "infiniband"}]}
    design = optimize.solve(inputs_from_objects(wanted))
    (row,) = [row for row in design.alternatives if row.what == "part numbers"]
    other = optimize.solve(with_change(inputs_from_objects(wanted), row.change), alternatives_s=0)
    assert other.totals is not None and other.totals.capex_usd == row.capex_usd
    assert [tier.count for tier in other.fabrics[0].tiers] == [tier.count for tier in design.fabrics[0].tiers]
    lengths = {(line.id, line.length_m) for line in other.bom if line.kind == "fibre"}
    assert len(lengths) == row.change["procurement.max_part_numbers"]["fibre"]
    assert all(check.ok for check in other.checks)


def test_nothing_is_said_to_be_cheaper_without_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ChangedCases.solve

    def unproven(cases: ChangedCases, *args: Any) -> Outcome:
        outcome = whole(cases, *args)
        if outcome.answer is None:
            return outcome
        optimum = replace(outcome.answer.optimum, verdict="feasible")
        return replace(outcome, answer=replace(outcome.answer, optimum=optimum))

    monkeypatch.setattr(ChangedCases, "solve", unproven)
    told = [row for row in optimize.solve(inputs(case())).alternatives if row.summary.startswith("nothing")]
    assert any(row.status == "feasible" for row in told)
    assert all(row.summary.endswith(" was found") == (row.status == "feasible") for row in told)
