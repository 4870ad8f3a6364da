"""Fronts that are cut short: what they were answered is on disk, and not asked again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fabopt.design.points import spread
from fabopt.errors import InputError, NoAnswerError
from fabopt.io.case import Inputs
from fabopt.output.export.front import front_bytes
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Front
from fabopt.study.front.finder import Finder, GradedDesign
from fabopt.study.front.fronts import empty_front, pareto_front
from fabopt.study.front.journal import journaled
from fabopt.study.front.measures import MEASURES
from tests.samples.cli_samples import Run
from tests.samples.kills import kill_until_done, unbroken
from tests.samples.small import case, inputs

PART, JOURNAL = Path("part.json"), Path("part.json.journal")
# Point by point: climbed, filled between two ends, spread over a grid; and listed at once.
FRONTS = [
    (("capex_usd", "bisection_gbps_per_gpu"), None),
    (("capex_usd", "power_w"), 4),
    (("capex_usd", "power_w", "gbps_per_gpu"), 4),
    (("capex_usd", "power_w"), None),
]
Metrics = tuple[str, ...]


@pytest.fixture
def content(folder: Path) -> Inputs:
    nics = {"nics_per_server": [2, 4], "max_oversubscription": 2}
    return inputs(case({**nics, "switches": {"leaf": ["lean", "small"], "spine": ["small"]}}, servers=3))


def ignore(designs: Sequence[GradedDesign]) -> None:
    """What has been found so far is not looked at."""


def kept_front(
    content: Inputs, metrics: Metrics, points: int | None, resume: str | None = None, clock: Clock | None = None,
    report: Callable[[Sequence[GradedDesign]], None] = ignore,
) -> Front:  # fmt: skip
    """A front with its journal, which stays."""
    measures = [MEASURES[name] for name in metrics]
    with journaled(PART, resume, empty_front(content, measures)) as journal:
        return pareto_front(content, measures, points, Settings(), clock or Clock(None), report, journal)


@pytest.mark.long("metrics1-4", "metrics2-4", "metrics3-None")
@pytest.mark.parametrize(("metrics", "points"), FRONTS)
def test_a_resumed_front_asks_only_what_is_left(content: Inputs, metrics: Metrics, points: int | None) -> None:
    measures = [MEASURES[name] for name in metrics]
    whole = kept_front(content, metrics, points)
    assert whole.complete and whole == pareto_front(content, measures, points, Settings(), Clock(None), ignore)
    journal = JOURNAL.read_bytes()
    lines = journal.splitlines(keepends=True)
    assert len(lines) > len(whole.points) > 2
    for known in range(1, len(lines) + 1, len(lines) // 5):
        JOURNAL.write_bytes(b"".join(lines[:known]))
        assert front_bytes(kept_front(content, metrics, points, "part.json")) == front_bytes(whole)
        assert JOURNAL.read_bytes() == journal


def test_what_was_answered_is_not_searched_again(content: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, points = FRONTS[1]
    whole = kept_front(content, metrics, points)

    def never(*question: object) -> None:
        raise AssertionError("all of this has been answered")

    monkeypatch.setattr(Finder, "best", never)
    assert kept_front(content, metrics, points, "part.json") == whole


@pytest.mark.long
@pytest.mark.parametrize(("metrics", "points"), FRONTS[:3])
def test_the_file_of_a_stopped_front_is_taken_up(content: Inputs, metrics: Metrics, points: int | None) -> None:
    """Its answers are in it, as its journal is gone."""
    clock = Clock(None)

    def stop(designs: Sequence[GradedDesign]) -> None:
        if len(designs) == 2:
            clock.stop()

    part = kept_front(content, metrics, points, clock=clock, report=stop)
    assert not part.complete and len(part.answers) >= 2
    assert sum(answer.number is not None and answer.point is None for answer in part.answers) >= len(part.points)
    JOURNAL.unlink()
    PART.write_bytes(front_bytes(part))
    asked: list[GradedDesign] = []
    whole = kept_front(content, metrics, points, "part.json", report=lambda designs: asked.append(designs[-1]))
    assert [graded.point for graded in asked[: len(part.answers)]] == [answer.point for answer in spread(part).answers]
    JOURNAL.unlink()
    assert whole == kept_front(content, metrics, points) and b"answers" not in front_bytes(whole)


def test_other_metrics_do_not_go_on_with_a_front(content: Inputs) -> None:
    kept_front(content, ("capex_usd", "power_w"), 4)
    with pytest.raises(InputError) as caught:
        kept_front(content, ("capex_usd", "cables"), 4, "part.json")
    assert str(caught.value) == (
        "part.json.journal: objectives: other metrics were traded; "
        "found 'minimize capex_usd, minimize power_w'; allowed: minimize capex_usd, minimize cables; "
        "start again without --resume"
    )


def test_what_stops_a_front_says_what_is_kept(content: Inputs) -> None:
    def fail(designs: Sequence[GradedDesign]) -> None:
        if len(designs) == 2:
            raise NoAnswerError("the engine gave up")

    with pytest.raises(NoAnswerError) as caught:
        kept_front(content, *FRONTS[0], report=fail)
    kept = "2 points kept in part.json.journal; --resume part.json.journal goes on from there"
    assert str(caught.value) == f"the engine gave up; {kept}"


def test_a_front_is_no_sweep(folder: Path, run: Run) -> None:
    assert run("sweep", "case.yaml", "--over", "servers=1,2", "--json", "part.json").code == 0
    code, _, err = run("pareto", "case.yaml", "--minimize", "capex_usd", "--minimize", "power_w",
                       "--resume", "part.json")  # fmt: skip
    assert code == 2 and err.startswith("part.json: kind: this is not a front; found 'sweep'; allowed: pareto")


@pytest.mark.long
@pytest.mark.slow
def test_a_front_survives_being_killed(folder: Path) -> None:
    words = ["pareto", "case.yaml", "--minimize", "capex_usd", "--maximize", "gbps_per_gpu"]
    tally = kill_until_done(words, folder, 3, *unbroken(words, folder))
    assert tally.kills == 3 and tally.lost == 0
