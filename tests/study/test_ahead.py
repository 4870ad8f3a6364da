"""A front in several processes asks all that one process asks, in whatever order answers come, and little more."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from fabopt.io.case import read_inputs
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Front, FrontPoint, Objective
from fabopt.study.front import ahead
from fabopt.study.front.ahead import Ahead
from fabopt.study.front.finder import PRICE, Demands, Finder, GradedDesign, climb
from fabopt.study.front.fronts import empty_front, objectives_of, pareto_front
from fabopt.study.front.journal import PointJournal, journaled
from fabopt.study.front.measures import MEASURES, OVERSUBSCRIPTION, PER_RATIO, Measure
from fabopt.study.front.points import KeptAnswers
from tests.paths import ROOT

POINT = FrontPoint(status="optimal", objective=Objective(metric="capex_usd", engine="none"))
SPEED, POWER, RATIO, SWITCHES = (MEASURES[name] for name in ("gbps_per_gpu", "power_w", OVERSUBSCRIPTION, "switches"))


@dataclass
class Points(Finder):
    """Designs by price and a second grade in place of a search."""

    there: list[tuple[int, int]]
    second: Measure
    clock: Clock = field(default_factory=lambda: Clock(None))
    settings: Settings = field(default_factory=Settings)
    asked: int = 0

    def best(self, measures: Any, demands: Demands) -> GradedDesign | None:
        self.asked += 1
        least = demands.get(self.second.name)
        meets = [
            {PRICE.name: price, self.second.name: grade}
            for price, grade in self.there
            if least is None or self.second.worth(grade) <= self.second.worth(least)
        ]
        own = min(meets, key=lambda grades: [one.worth(grades[one.name]) for one in measures], default=None)
        return None if own is None else GradedDesign(Optimum("optimal"), own)


class Lines:
    known = None

    def keep(self, new: Any) -> None:
        pass


def in_any_order(dice: random.Random) -> Any:
    """Questions answered here, whichever first."""

    def answered(processes: int, start: Any, given: Any, work: Any, more: Any, take: Any, clock: Any) -> bool:
        pending: list[tuple[Any, Any]] = []
        while (tasks := more(len(pending))) is not None:
            pending += [(task, given.answered(task)) for task in tasks]
            assert 0 < len(pending) <= processes
            take(*pending.pop(dice.randrange(len(pending))))
        return True

    return answered


@pytest.mark.parametrize("second", [SPEED, POWER, RATIO, SWITCHES], ids=lambda measure: measure.name)
def test_all_that_is_climbed_is_answered(second: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    lowest = PER_RATIO if second is RATIO else 0
    for seed in range(100):
        dice = random.Random(seed)
        fine = dice.choice((1, 10**6))
        best = second.worth(lowest if second.sense == "minimize" else lowest + 80 * fine)
        designs = [(dice.randint(1, 60), lowest + fine * dice.randint(0, 80)) for _ in range(dice.randint(0, 40))]
        finder = Points(designs, second)
        measures = (PRICE, second) if second.sense == "minimize" else (PRICE,)
        answers = KeptAnswers(finder, cast(PointJournal, Lines()), lambda graded: POINT)
        monkeypatch.setattr(ahead, "in_processes", in_any_order(dice))
        bound = dice.choice([best, None])
        monkeypatch.setattr(ahead, "_best_worth", lambda finder, second, bound=bound: bound)
        assert Ahead(finder, answers, measures, second).answer(dice.randint(2, 5))
        asked = finder.asked
        climbed = list(climb(answers.best, measures, second))
        # what lies beyond the last point may be left to the climb
        assert finder.asked - asked <= 1
        assert [one.grades for one in climbed] == [one.grades for one in climb(finder.best, measures, second)]
        assert asked <= 3 * len(climbed) + 6


def front(case: Path, metric: str, target: Path, clock: Clock, processes: int, heard: Any) -> Front:
    inputs = read_inputs(case)
    objectives = objectives_of(["capex_usd"], [metric], None)
    empty = empty_front(inputs, objectives)
    journal = target.with_name(f"{target.name}.journal")
    with journaled(target, str(journal) if journal.is_file() else None, empty, heard) as kept:
        return pareto_front(inputs, objectives, None, Settings(), clock, lambda designs: None, kept, processes)


@pytest.mark.long
def test_front_in_processes_is_that_of_one(tmp_path: Path) -> None:
    """Stopped after its first point, and gone on with, it is byte for byte the front of one process."""
    case = ROOT / "cases" / "l40s-inference-256.yaml"
    clock, told = Clock(None), list[Any]()

    def stop(new: Any) -> None:
        told.extend(new)
        if told:
            clock.stop()

    target = tmp_path / "front.json"
    cut = front(case, "gbps_per_gpu", target, clock, 2, stop)
    assert not cut.complete
    assert cut.points
    told.clear()
    whole = front(case, "gbps_per_gpu", target, Clock(None), 2, told.extend)
    assert whole.complete
    assert len(told) >= len(whole.points)
    alone = front(case, "gbps_per_gpu", tmp_path / "alone.json", Clock(None), 1, lambda new: None)
    assert whole.model_dump_json() == alone.model_dump_json()
