"""A clock that ends a search: the best design met is the answer, proven like any other; what was left out is said."""

from __future__ import annotations

import pytest

from fabopt.errors import NoAnswerError
from fabopt.io.case import Inputs, read_inputs
from fabopt.program import lexicographic
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock
from fabopt.program.solvers import Solution
from fabopt.search.search import Search
from fabopt.solution import optimize
from fabopt.solution.designs import NO_BOUND
from fabopt.topology.family import AnyBatch, Cutoff
from tests.paths import ROOT
from tests.samples.small import case, inputs

PLACES = ROOT / "tests" / "samples" / "slow" / "places.yaml"


@pytest.mark.long("floor", "small0")
@pytest.mark.parametrize(
    "asked",
    [inputs(case()), inputs(case(limits={"power_w": 6000})), read_inputs(str(PLACES))],
    ids=lambda one: one.case.name,
)
def test_what_was_met_is_the_answer(asked: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, meet = Clock(None), Search._meet

    def stop(self: Search, outcome: Optimum) -> Optimum:
        """Somebody stops it as soon as there is a design; nothing looks at the clock."""
        kept = meet(self, outcome)
        if outcome.value is not None and not clock.is_stopped:
            clock.stop()
            while True:
                pass
        return kept

    monkeypatch.setattr(Search, "_meet", stop)
    design = optimize.solve(asked, clock=clock)
    # what the first expansion bounds may be proven by then
    is_proven = design.objective.value == design.objective.bound
    assert design.status == ("optimal" if is_proven else "feasible") and design.fabrics
    assert all(check.ok for check in design.checks)
    assert not design.alternatives_complete and design.notes[-1].endswith("stopped by a signal")


def test_what_was_met_within_a_block_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of three tiers may take longer than there is time: nothing more is looked at once one candidate is met."""
    clock, offer, late = Clock(None), Cutoff.offer, []

    def stop(self: Cutoff, batch: AnyBatch) -> None:
        late.append(clock.is_stopped)
        offer(self, batch)
        if self.sizing.batches:
            clock.stop()

    monkeypatch.setattr(Cutoff, "offer", stop)
    design = optimize.solve(inputs(case({"tiers": 3, "max_oversubscription": 2}, servers=8)), clock=clock)
    is_proven = design.objective.value == design.objective.bound
    assert design.status == ("optimal" if is_proven else "feasible") and design.fabrics and not any(late)
    assert all(check.ok for check in design.checks)


def test_nothing_was_met() -> None:
    clock = Clock(None)
    clock.stop()
    clock._stopped_at = 0.0
    design = optimize.solve(inputs(case()), clock=clock)
    assert (design.status, design.fabrics) == ("unknown", ())
    assert design.objective.bound is not None or any(note.startswith(NO_BOUND) for note in design.notes)


def test_the_file_says_so_only_where_something_is_missing() -> None:
    assert "alternatives_complete" not in optimize.solve(inputs(case())).model_dump()


@pytest.mark.parametrize(("spent", "fails"), [(0.1, True), (0.85, False)])
def test_an_engine_that_ends_a_little_early_was_short_of_time(
    spent: float, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CP-SAT ends before its limit where its next step may take longer; one that ends at once has failed."""

    def early(lp: object, engine: str, clock: Clock, hint: object, effort_left: float) -> Solution:
        left = clock.left()
        assert left is not None and clock._end is not None
        clock._end -= spent * left  # so much time goes by
        return Solution("unknown", {}, None, 0.0)

    monkeypatch.setattr(lexicographic, "solve", early)
    if fails:
        with pytest.raises(NoAnswerError, match="no usable answer"):
            optimize.solve(inputs(case()), time_limit_s=6, alternatives_s=0)
        return
    assert optimize.solve(inputs(case()), time_limit_s=6, alternatives_s=0).status == "unknown"


def test_a_bound_below_nothing_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stock may be worth more than a design costs; that none costs less than nothing tells nobody anything."""
    finish = Search._finished

    def below_nothing(self: Search, outcome: Optimum, bound: float, complete: bool) -> Optimum:
        return finish(self, outcome, -5.0, complete=False)

    monkeypatch.setattr(Search, "_finished", below_nothing)
    design = optimize.solve(inputs(case()), alternatives_s=0)
    assert design.status == "feasible"
    assert (design.objective.bound, design.objective.gap) == (None, None)
