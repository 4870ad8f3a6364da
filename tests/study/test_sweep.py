"""Sweeps: what is asked for, what comes back, in whatever way it is worked out."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from fabopt.design.points import spread
from fabopt.errors import InputError
from fabopt.io.case import Inputs
from fabopt.output.export.front import front_bytes, front_csv
from fabopt.output.terminal.front import front_summary
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Front, FrontPoint
from fabopt.solution.optimize import interrupts
from fabopt.study.front.journal import resumed
from fabopt.study.sweep import workers
from fabopt.study.sweep.sweep import (
    BUDGET_FORM,
    RANGE_FORM,
    Execution,
    Grid,
    budget_range,
    empty_front,
    grid_of,
    sweep,
    value_range,
)
from tests.samples import trunked
from tests.samples.bases import saved as base_file
from tests.samples.front_samples import unlabelled
from tests.samples.small import Json, case, catalog, inputs, product, solved, usd

ONE_CARD = {"nics": ["nic-400"], "nics_per_server": 2}
CASE = case(ONE_CARD)
HERE = Execution()
RATIO = "fabrics.compute.max_oversubscription=1,2,3"
SERVERS = "servers=2:6:3"
FEW = {"nics": ["nic-400"], "tiers": [1, 2], "switches": {"leaf": ["small"], "spine": ["small"]}}


def swept(
    content: Json, budget: str | None = None, *over: str, parts: Json | None = None, before: Front | None = None,
    execution: Execution = HERE, clock: Clock | None = None, engine: str = "cp-sat",
) -> Front:  # fmt: skip
    found = inputs(content, parts)
    grid = grid_of(found, budget, over)
    return sweep(found, grid, execution, before, Settings(engine), clock or Clock(None), lambda *new: None)


def refusal(content: Json, budget: str | None, *over: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        grid_of(inputs(content), budget, over)
    return str(caught.value).splitlines()


def costs(front: Front) -> list[float | None]:
    return [None if point.totals is None else point.totals.capex_usd for point in front.points]


# -- ranges -----------------------------------------------------------------------------------------------------------

FORM = f"allowed: {RANGE_FORM}"
MONEY = f"allowed: {BUDGET_FORM}"


def test_a_range_goes_from_start_to_stop() -> None:
    assert budget_range("2M:10M:9") == [m * 1_000_000 for m in range(2, 11)]
    assert value_range("x", "1:2:4") == [1, 1.333333, 1.666667, 2]


def test_a_list_keeps_its_order_and_each_value_once() -> None:
    assert budget_range("4.5M, 800K,4.5M,2000000") == [4_500_000, 800_000, 2_000_000]
    assert value_range("x", "3,1,.5") == [3, 1, 0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"--budget: there are no values; found ''; {MONEY}"),
        ("2M:10M", f"--budget: a range has three parts; found '2M:10M'; {MONEY}"),
        ("2M:10M:0", f"--budget: the range is empty; found '2M:10M:0'; {MONEY}"),
        ("10M:2M:5", f"--budget: the range is reversed: it starts above its end; found '10M:2M:5'; {MONEY}"),
        (
            "2M:5000:5",
            f"--budget: the range is reversed: it starts above its end; found '2M:5000:5'; {MONEY}; "
            "did you mean `5000M`?",
        ),
        (
            "2:10:9",
            f"--budget: `2` has no unit; found '2:10:9'; {MONEY}; write 2M or 2K; dollars are written in full: 2000000",
        ),
        ("2M:10M:x", f"--budget: how many values is a whole number; found '2M:10M:x'; {MONEY}"),
        ("2M:10M:1", f"--budget: a range of one value has the same start and end; found '2M:10M:1'; {MONEY}"),
        ("2M:10M:999999999", f"--budget: a range has at most 100,000 values; found '2M:10M:999999999'; {MONEY}"),
        ("2M,,4M", f"--budget: a value is missing; found '2M,,4M'; {MONEY}"),
        ("2G", f"--budget: `2G` is not a number; found '2G'; {MONEY}"),
        ("-2M", f"--budget: `-2M` is not a number; found '-2M'; {MONEY}"),
    ],
)
def test_wrong_budgets_are_refused(text: str, message: str) -> None:
    assert refusal(CASE, text) == [message]


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("servers", f"--over: not a key with values; found 'servers'; allowed: KEY={RANGE_FORM}"),
        ("servers=", f"--over: there are no values; found 'servers='; {FORM}"),
        (
            "limits.powr_w=1,2",
            "--over: limits.powr_w: no such key of the case: `limits.powr_w`; "
            "allowed: budget_usd, power_w, rack_units, quarterly_budget_usd, yearly_budget_usd; "
            "did you mean `limits.power_w`?",
        ),
        (
            "fabrics.compue.planes=1,2",
            "--over: fabrics.compue.planes: no such key of the case: `fabrics.compue`; allowed: compute; "
            "did you mean `fabrics.compute`?",
        ),
        (
            "servers.x=1",
            "--over: servers.x: the case has nothing below `servers`; a key leads to one number",
        ),
        (
            "stages.0.servers=1",
            "--over: stages.0.servers: the case has nothing below `stages`; without stages its key is `servers`",
        ),
        ("servers=1.5", "--over: servers: this value is not allowed; found 1.5; allowed: a whole number"),
        ("name=3", "--over: name: this value is not allowed; found 3; allowed: text; put it in quotes"),
    ],
)  # fmt: skip
def test_wrong_keys_are_refused(over: str, message: str) -> None:
    assert refusal(CASE, None, over) == [message]


def test_all_faults_are_told_at_once() -> None:
    found = refusal(CASE, "5:1:2", "limits.x=1", "servers=3:1:2")
    assert [line.split(":")[0] for line in found] == ["--budget", "--over", "--over"]


def test_sweeps_that_make_no_sense_are_refused() -> None:
    assert refusal(CASE, None) == ["sweep: nothing to sweep; give --budget, --over, or both"]
    assert refusal(CASE, None, "servers=1", "servers=2") == ["--over: servers: this key is swept twice"]
    assert refusal(CASE, "2M", "limits.budget_usd=2M") == [
        "--over: limits.budget_usd: --budget sweeps this key already"
    ]
    assert refusal(CASE, None, "servers=1:100000:100000", "limits.power_w=1:2:2") == [
        "--over: too many points; found 200000; allowed: up to 100,000"
    ]


def test_every_case_of_a_grid_is_checked_before_work() -> None:
    """The small server has 4 GPUs: 10 are two and a half servers."""
    found = refusal(case(ONE_CARD, gpus=8), None, "gpus=8,10")
    assert len(found) == 1 and "gpus" in found[0] and "10" in found[0]


# -- points -----------------------------------------------------------------------------------------------------------


def test_a_grid_runs_its_last_key_fastest() -> None:
    front = swept(CASE, None, RATIO, SERVERS)
    assert front.keys == ("fabrics.compute.max_oversubscription", "servers")
    assert [tuple(point.over.values()) for point in front.points] == [(r, n) for r in (1, 2, 3) for n in (2, 4, 6)]


@pytest.mark.long
def test_every_point_is_what_the_case_with_these_values_gives() -> None:
    front = swept(CASE, None, RATIO, SERVERS)
    for point in front.points:
        ratio, servers = point.over.values()
        alone = solved(case({**ONE_CARD, "max_oversubscription": ratio}, servers=servers))
        assert (point.status, point.totals) == ("optimal", alone.totals)
        assert point.objective.value == point.objective.bound == alone.objective.value
        assert point.fabrics == alone.fabrics


LEGS = {"leaf-spine": "structured"}


def test_a_sweep_of_keys_has_trunks() -> None:
    content = trunked.hall({**LEGS, "spare_legs": 0.5})
    front = swept(content, None, "site.cabling.spare_legs=0,0.5", parts=trunked.parts())
    alone = [solved(trunked.hall({**LEGS, "spare_legs": share}), trunked.parts()) for share in (0, 0.5)]
    assert [point.status for point in front.points] == ["optimal", "optimal"]
    assert costs(front) == [usd(design) for design in alone]


def test_a_point_without_design_says_why() -> None:
    front = swept(case({**ONE_CARD, "tiers": 1}), None, "servers=2,9")
    assert [point.status for point in front.points] == ["optimal", "infeasible"]
    assert front.points[1].conflicts and front.points[1].totals is None


def test_a_key_below_one_ratio_for_both_boundaries_keeps_the_other() -> None:
    """3 leaves room for 3 at the spines; setting the leaves' own must not put the profile's there."""
    front = swept(case({**ONE_CARD, "max_oversubscription": 3}), None, "fabrics.compute.max_oversubscription.leaf=1,3")
    assert costs(front) == costs(swept(CASE, None, "fabrics.compute.max_oversubscription=1,3"))


def test_servers_in_the_place_of_gpus() -> None:
    assert costs(swept(case(ONE_CARD, gpus=24), None, SERVERS)) == costs(swept(CASE, None, SERVERS))


@pytest.mark.long("servers")
@pytest.mark.parametrize("maximize", ["gbps_per_gpu", "bisection", "servers"])
def test_budgets_buy_the_most_and_never_less_than_smaller_ones(maximize: str) -> None:
    """No point is beaten by another point's design at its own budget, and each is the cheapest of its worth."""
    front = swept(
        case({**FEW, "max_oversubscription": 2, "min_gbps_per_gpu": 100}, servers=4, maximize=maximize), "10K:200K:12"
    )
    metric = front.objectives[1].metric
    done = [point for point in front.points if point.totals is not None]
    assert len({point.values[metric] for point in done}) > 2
    for point in done:
        assert point.budget_usd is not None and point.totals is not None
        for other in done:
            assert other.totals is not None
            if other.totals.capex_usd <= point.budget_usd:
                assert other.values[metric] <= point.values[metric]
                if other.values[metric] == point.values[metric]:
                    assert other.totals.capex_usd == point.totals.capex_usd
    worths = [point.values[metric] for point in done]
    assert worths == sorted(worths) and front.points[: len(front.points) - len(done)] == tuple(
        point for point in front.points if point.totals is None
    )


def test_a_budget_that_is_too_small_says_what_is_needed() -> None:
    front = swept(CASE, "1000,1M")
    least = solved(CASE)
    assert least.totals is not None
    conflict = front.points[0].conflicts[0]
    assert (conflict.limit, conflict.value, conflict.needed) == ("limits.budget_usd", 1000, least.totals.capex_usd)
    assert conflict.detail == f"the cheapest design costs ${least.totals.capex_usd:,}; the limit is $1,000"


def test_what_a_limit_needs_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    """In a table of points too: three digits of 2,330.4 W, 2.33 kW, would not do."""
    front = swept(case(ONE_CARD, limits={"power_w": 100}), None, RATIO)
    Console(width=200).print(front_summary(front))
    assert "limits.power_w needs 2,330.4 W" in capsys.readouterr().out


@pytest.mark.long(but=("105", "85"))
@pytest.mark.parametrize("width", range(40, 121, 5))
def test_nothing_is_cut_inside_a_word_at_any_width(width: int) -> None:
    """The words of a narrow table, beside it or below it, are those of a wide one."""

    def words(width: int, front: Front) -> set[str]:
        with (console := Console(width=width)).capture() as shown:
            console.print(front_summary(front))
        lines = shown.get().splitlines()
        assert all(len(line) <= width for line in lines)
        return {word.strip(";:") for line in lines for word in line.split()}

    for front in fronts_of_words():
        numbers = {str(number) for number in range(1, len(front.points) + 1)}
        rules = {"\u2500" * length for length in range(width + 1)}
        assert words(width, front) - numbers - rules - {"point"} <= words(400, front)


@cache
def fronts_of_words() -> list[Front]:
    """Two points with designs of two, long ids and a marginal cost; one without a design, twice."""
    found = swept(CASE, "500K,750K,1000,2000", RATIO)
    long = [
        point.model_copy(
            update={"summary": f"{number} x a-maker-with-a-long-name-{number}, ethernet", "marginal": 1234.5}
        )
        if point.totals
        else point
        for number, point in enumerate(found.points)
    ]
    return [found, found.model_copy(update={"points": tuple(long)})]


def test_budgets_that_nothing_can_meet_share_the_reason() -> None:
    front = swept(case({**ONE_CARD, "tiers": 1}, servers=40), "1M,2M")
    assert [point.status for point in front.points] == ["infeasible", "infeasible"]
    assert front.points[0].conflicts == front.points[1].conflicts != ()


def test_budgets_keep_the_order_given() -> None:
    front = swept(CASE, "1M,500K,750K")
    assert [point.budget_usd for point in front.points] == [1_000_000, 500_000, 750_000]


def test_budgets_over_a_key_are_told_apart() -> None:
    front = swept(CASE, "300K,1M", RATIO)
    assert front.keys == ("fabrics.compute.max_oversubscription", "limits.budget_usd")
    assert [(point.over[front.keys[0]], point.budget_usd) for point in front.points] == [
        (ratio, usd) for ratio in (1, 2, 3) for usd in (300_000, 1_000_000)
    ]
    assert front.points[1].label == "fabrics.compute.max_oversubscription=1, limits.budget_usd=1000000"
    assert len({point.label for point in front.points}) == 6


def test_a_table_has_a_row_for_each_point() -> None:
    text = front_csv(swept(CASE, "1000,1M")).decode()
    header, poor, rich = text.splitlines()
    assert header.startswith("label,limits.budget_usd,status,summary") and header.endswith(",conflicts")
    assert poor.startswith("limits.budget_usd=1000,1000,infeasible")
    assert rich.startswith("limits.budget_usd=1000000,1000000,optimal")


# -- ways to work it out ----------------------------------------------------------------------------------------------


WHOLE = (RATIO, SERVERS)


@pytest.mark.parametrize(
    ("fresh", "over"),
    [(False, (RATIO,)), *(pytest.param(fresh, WHOLE, marks=pytest.mark.long) for fresh in (False, True))],
)
def test_processes_give_the_same_bytes(fresh: bool, over: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of this process, where they can be, and processes that read for themselves."""
    if fresh:
        monkeypatch.setattr(workers, "can_fork", lambda: False)
    alone, shared = swept(CASE, None, *over), swept(CASE, None, *over, execution=Execution(jobs=2))
    assert front_bytes(alone) == front_bytes(shared)


def test_a_case_that_grows_is_swept_over_its_stages() -> None:
    # 2 servers at first; 4 or 6 in the end
    stages = [{"name": "day-1", "servers": 2}, {"name": "later", "month": 12, "servers": 4}]
    grown = case(ONE_CARD, stages=stages)
    front = swept(grown, None, "stages.1.servers=4,6", "stages.later.month=6")
    more = case(ONE_CARD, stages=[stages[0], {"name": "later", "month": 6, "servers": 6}])
    last = solved(more).totals
    assert last is not None and [point.values["servers"] for point in front.points] == [4, 6]
    assert costs(front)[1] == last.capex_usd


def test_another_engine_gives_the_same_points() -> None:
    first, second = swept(CASE, "300K:1M:3"), swept(CASE, "300K:1M:3", engine="highs")
    assert [point.values for point in first.points] == [point.values for point in second.points]


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stopped_sweep_keeps_what_is_done(jobs: int) -> None:
    clock = Clock(None)
    found = inputs(CASE)
    grid = grid_of(found, None, [RATIO, SERVERS])

    def stop(points: Sequence[FrontPoint], done: int, new: int) -> None:
        if done >= 2:
            clock.stop()

    front = sweep(found, grid, Execution(jobs=jobs), None, Settings(), clock, stop)
    whole = swept(CASE, None, RATIO, SERVERS)
    assert 2 <= len(front.points) < 9 and not front.complete
    assert all(point in whole.points for point in front.points)


def test_the_first_interrupt_stops_with_what_is_done() -> None:
    clock, found = Clock(None), inputs(CASE)
    grid = grid_of(found, None, [RATIO, SERVERS])

    def interrupt(points: Sequence[FrontPoint], done: int, new: int) -> None:
        if done == 1:
            signal.raise_signal(signal.SIGINT)

    with interrupts(clock):
        front = sweep(found, grid, Execution(), None, Settings(), clock, interrupt)
    assert len(front.points) == 1 and not front.complete


def saved(front: Front, path: Path) -> str:
    path.write_bytes(front_bytes(front))
    return str(path)


def test_a_resumed_sweep_solves_only_what_is_left(tmp_path: Path) -> None:
    found = inputs(CASE)
    whole = swept(CASE, None, RATIO, SERVERS)
    part = whole.model_copy(update={"points": whole.points[:4], "complete": False})
    grid = grid_of(found, None, [RATIO, SERVERS])
    before = resumed(saved(part, tmp_path / "part.json"), empty_front(found, grid))
    new: list[FrontPoint] = []
    front = sweep(found, grid, Execution(), before, Settings(), Clock(None), lambda points, *more: new.extend(points))
    assert front_bytes(front) == front_bytes(whole) and unlabelled(new) == unlabelled(spread(whole).points[4:])


def test_a_sweep_that_was_done_is_read_back(tmp_path: Path) -> None:
    found, whole = inputs(CASE), swept(CASE, "300K:1M:4")
    grid = grid_of(found, "300K:1M:4", [])
    before = resumed(saved(whole, tmp_path / "whole.json"), empty_front(found, grid))
    assert sweep(found, grid, Execution(), before, Settings(), Clock(None), lambda *new: None) == whole


def test_other_inputs_do_not_go_on_with_a_sweep(tmp_path: Path) -> None:
    path = saved(swept(CASE, "1M"), tmp_path / "one.json")
    dear = catalog()
    product(dear, "small")["price_usd"] = 17000
    for content, parts, budget, over, where in (
        (case(ONE_CARD, servers=7), None, "1M", [], "case.sha256: another case, or the case has changed"),
        (CASE, dear, "1M", [], "catalog_sha256: other products or prices"),
        (CASE, None, "1M", ["servers=2"], "keys: other keys were swept"),
    ):
        found = inputs(content, parts)
        with pytest.raises(InputError) as caught:
            resumed(path, empty_front(found, grid_of(found, budget, over)))
        assert str(caught.value).startswith(f"{path}: {where}")
        assert str(caught.value).endswith("start again without --resume")


def test_what_is_no_sweep_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    path.write_text(json.dumps(solved(CASE).model_dump(mode="json", by_alias=True)))
    found = inputs(CASE)
    with pytest.raises(InputError) as caught:
        resumed(str(path), empty_front(found, grid_of(found, "1M", [])))
    assert "this is not a sweep or front" in str(caught.value)


# -- a cluster --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_address_that_nobody_answers_is_refused() -> None:
    pytest.importorskip("distributed")
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        swept(CASE, "1M", execution=Execution(dask="tcp://127.0.0.1:9"))
    assert str(caught.value) == (
        "--dask: no Dask scheduler answered within 5 seconds; found 'tcp://127.0.0.1:9'; "
        "allowed: the address of a running scheduler, such as tcp://host:8786"
    )
    assert time.monotonic() - started < 30


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_bytes_though_a_worker_dies() -> None:
    """96 points on two workers, one of which is killed in the middle."""
    distributed = pytest.importorskip("distributed")
    tiny = case({**FEW, "tiers": 1}, servers=2)
    over = ["servers=1:4:4", "finance.years=1:5:24"]
    content: Inputs = inputs(tiny)
    grid: Grid = grid_of(content, None, over)
    assert grid.size == 96
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        killed = threading.Event()

        def kill(points: Sequence[FrontPoint], done: int, new: int) -> None:
            if done >= 32 and not killed.is_set():
                killed.set()
                os.kill(victim, signal.SIGKILL)

        execution = Execution(dask=cluster.scheduler_address)
        there = sweep(content, grid, execution, None, Settings(), Clock(None), kill)
    assert killed.is_set() and there.complete and len(there.points) == 96
    assert front_bytes(there) == front_bytes(swept(tiny, None, *over))


def test_the_size_of_a_case_with_a_base_is_swept_as_it_is_written(tmp_path: Path) -> None:
    base = solved(case(ONE_CARD, servers=2))
    content = {**case(ONE_CARD, servers=3), "base": {"file": str(base_file(base, tmp_path))}}
    front = swept(content, None, "servers=2,3,4")
    alone = [solved({**content, "servers": servers}) for servers in (2, 3, 4)]
    assert [point.totals and point.totals.capex_usd for point in front.points] == [
        design.totals and design.totals.capex_usd for design in alone
    ]
    assert alone[0].sums.capex_usd == 0 < alone[2].sums.capex_usd
