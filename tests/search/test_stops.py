"""A clock that ends searches of several fabrics at many points: an answer, a word on the bound, no false proof."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fabopt.errors import NoAnswerError
from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.output.terminal.answer import search_line
from fabopt.problem.problem import Problem, alone, problem_of
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings, StoppedError, Work
from fabopt.schema.design import Design
from fabopt.search import decision, regret
from fabopt.search.choice import search_of
from fabopt.search.cost_per_gpu import Ratio, RatioSearch
from fabopt.search.expansion import Expansion
from fabopt.search.search import Search
from fabopt.solution import optimize, subnet_hosts
from fabopt.solution.designs import NO_BOUND
from tests.samples.random_cases import generate
from tests.samples.small import case, catalog, inputs
from tests.search.test_cost_per_gpu import trains
from tests.solution.test_brute_force import catalog as of_parts
from tests.solution.test_futures import TWO_SIZES, uncertain
from tests.solution.test_growth_regret import BY_REGRET

# Steps of a search after each of which the clock is over once.
STEPS = 6
# Shares of the work of a whole search after which a search has done what it may.
SHARES = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)


def stopped_after(asked: Inputs, steps: int, monkeypatch: pytest.MonkeyPatch) -> Design:
    """The design of a case where the clock is over after so many expansions and programs."""
    clock, left = Clock(None), [steps]

    def counted(method: Any) -> Any:
        def step(self: Any, *given: Any, **named: Any) -> Any:
            outcome = method(self, *given, **named)
            left[0] -= 1
            if left[0] == 0:
                clock.stop()
            return outcome

        return step

    with monkeypatch.context() as patched:
        patched.setattr(Expansion, "expand", counted(Expansion.expand))
        patched.setattr(Search, "_solve", counted(Search._solve))
        return optimize.solve(asked, clock=clock, alternatives_s=0)


def several(fabrics: int, servers: int, **more: Any) -> Inputs:
    """A case with so many fabrics, alike but for what they ask."""
    content = case(servers=servers, **more)
    first = content["fabrics"][0]
    asked = {**first, "nics_per_server": 1, "min_gbps_per_gpu": 50}
    content["fabrics"] = [
        {**asked, "name": f"fabric-{number}", "max_oversubscription": 1 + number} for number in range(fabrics)
    ]
    return inputs(content, catalog())


@pytest.mark.long("four", "three within power")
@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(several(2, 5), id="two"),
        pytest.param(several(3, 7, limits={"power_w": 4_000}), id="three within power"),
        pytest.param(several(4, 9), id="four"),
    ],
)
def test_every_stop_has_an_answer_or_a_bound_and_equal_ones_are_proofs(
    asked: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimum = optimize.solve(asked, alternatives_s=0)
    least = optimum.objective.value
    assert optimum.status == "optimal"
    for steps in range(1, STEPS + 1):
        design = stopped_after(asked, steps, monkeypatch)
        value, bound = design.objective.value, design.objective.bound
        assert least is not None and (value is None or value >= least) and (bound is None or bound <= least)
        assert bound is not None or value is None or design.status == "optimal"
        assert (design.status == "optimal") == (value is not None and value == bound), (steps, design.objective)


def test_what_lacks_a_manager_for_want_of_time_is_not_said_to_be_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """No design with one is below it, but it is none of those."""

    def over(*_: object) -> None:
        raise StoppedError

    content = {
        "name": "unmanaged",
        "server": "nvidia-dgx-b200",
        "servers": 320,
        "fabrics": [{"name": "compute", "protocol": "infiniband"}],
    }
    monkeypatch.setattr(subnet_hosts, "_managed", over)
    design = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    value, bound = design.objective.value, design.objective.bound
    assert design.status == "feasible" and value is not None and bound is not None
    assert bound < value and subnet_hosts.NOT_IN_TIME in design.notes


# -- kinds of stops ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [NoAnswerError("engine cbc returned no usable answer"), MemoryError()], ids=repr)
def test_what_fails_after_a_design_was_met_keeps_it(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*given: object) -> None:
        raise error

    least = optimize.solve(several(2, 5), alternatives_s=0).objective.value
    monkeypatch.setattr(Search, "_bound_of", failing)
    design = optimize.solve(several(2, 5), alternatives_s=0)
    value, bound = design.objective.value, design.objective.bound
    assert design.fabrics and least is not None and value is not None and bound is not None
    assert bound <= least <= value and (design.status == "optimal") == (value == bound)
    assert [
        one for one in design.notes if one == f"the search ended before it was done: {str(error) or 'memory ended'}"
    ]
    assert all(check.ok for check in design.checks)


@pytest.mark.parametrize("error", [NoAnswerError("engine cbc returned no usable answer"), MemoryError()], ids=repr)
def test_what_fails_before_any_design_was_met_is_told_as_such(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*given: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(Search, "_solve", failing)
    with pytest.raises(type(error)):
        optimize.solve(several(2, 5), alternatives_s=0)


def test_a_stop_within_the_first_expansion_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of leaves alone, which is known at once; also of a search in which no other bound was known."""
    least = optimize.solve(several(3, 7), alternatives_s=0).objective.value

    def over(*given: object, **named: object) -> None:
        raise StoppedError

    monkeypatch.setattr(Expansion, "expand", over)
    design = optimize.solve(several(3, 7), alternatives_s=0)
    assert design.status == "unknown" and design.objective.bound is not None and least is not None
    assert 0.1 * least < design.objective.bound <= least
    assert not [note for note in design.notes if note.startswith(NO_BOUND)]


def effective() -> Inputs:
    """A case that minimizes the cost of a working GPU, with the rule of robust designs."""
    parts, content = trains(*generate("linear", 0), 0)
    return inputs_from_objects({**content, "rules": {**content["rules"], "robust-designs": True}}, parts)


def test_a_ratio_that_is_stopped_before_any_design_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    least = optimize.solve(effective(), alternatives_s=0).objective.bound

    def over(*given: object) -> None:
        raise StoppedError

    monkeypatch.setattr(RatioSearch, "_run", over)
    design = optimize.solve(effective(), alternatives_s=0)
    assert design.status == "unknown" and design.objective.bound is not None and least is not None
    assert 0 < design.objective.bound <= least


def test_a_robust_choice_that_lacks_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision._Decider, "_below", lambda *given: Ratio(Optimum("unknown")))
    design = optimize.solve(effective(), alternatives_s=0)
    assert design.status == "optimal" and design.objective.decision is None
    assert [note for note in design.notes if "the robust choice was not finished in time" in note]


def test_a_regret_that_lacks_time_says_why_it_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def over(*given: object) -> None:
        raise StoppedError

    monkeypatch.setattr(regret._Regrets, "least", over)
    design = optimize.solve(
        inputs_from_objects(uncertain(0.2, 4, 16, fabric={"tiers": [1, 2]}, **BY_REGRET), of_parts(**TWO_SIZES)),
        alternatives_s=0,
    )
    assert design.status == "feasible" and design.objective.bound is None
    assert [note for note in design.notes if note.startswith(f"{NO_BOUND}: regrets")]
    assert "no lower bound is known" in search_line(design)


# -- never above the sum of what each fabric costs alone --------------------------------------------------------------


def drawn(seed: int) -> Problem:
    """Two to four random fabrics that share servers and nothing that is short."""
    dice = random.Random(f"sums {seed}")
    content = case(servers=dice.randint(3, 12))
    first = content["fabrics"][0]
    content["fabrics"] = [
        {
            **first,
            "name": f"fabric-{number}",
            "nics_per_server": 1,
            "min_gbps_per_gpu": dice.choice([50, 50, 100]),
            "tiers": dice.choice([[1, 2], 2, [1, 2, 3]]),
            "max_oversubscription": dice.choice([1, 1.5, 2, 3]),
            "striping": dice.choice(["even", "rail"]),
        }
        for number in range(dice.choice([2, 2, 3, 4]))
    ]
    read = inputs(content, catalog())
    return problem_of(read.case, read.catalog)


def sum_of_singles(problem: Problem) -> int:
    """The objective where each fabric is the best one that there is alone."""
    total = problem.fixed_objective
    for fabric in problem.fabrics:
        single = alone(problem, fabric)
        value = search_of(single, Settings(), Clock(None)).run(ties=False).value
        assert value is not None
        total += value - single.fixed_objective
    return total


@pytest.mark.long(but=("20", "40"))
@pytest.mark.parametrize("seed", range(60))
def test_no_stop_by_work_is_above_the_sum_of_single_answers_nor_has_a_false_bound(seed: int) -> None:
    problem = drawn(seed)
    most, whole = sum_of_singles(problem), Settings()
    least = search_of(problem, whole, Clock(None)).run(ties=False).value
    assert least is not None and least <= most
    for share in SHARES:
        work = Work(most=share * whole.work.in_all)
        stopped = search_of(problem, Settings(work=work), Clock(None)).run(ties=False)
        assert stopped.value is None or least <= stopped.value <= most
        assert stopped.bound is not None and stopped.bound <= least
        assert stopped.verdict != "infeasible"
