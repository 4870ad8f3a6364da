"""What searches work out is kept beside a problem, which they do not change; and it is kept no longer than needed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.parts.lookup import Lookup
from fabopt.problem.problem import Problem, problem_of, with_objective
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import RatioSearch
from tests.paths import ROOT
from tests.samples import random_networks
from tests.samples.fingerprints import fingerprint, mutable_parts
from tests.samples.growth_samples import eight, grown
from tests.samples.small import case, catalog
from tests.search import test_cost_per_gpu, test_floor_search, test_out_of_band
from tests.solution.test_brute_force import generate

Json = dict[str, Any]
ROWS = {"rows": 2, "racks_per_row": 4}


def timed() -> tuple[Json, Json]:
    parts, content = test_cost_per_gpu.trains(*generate("linear", 0), 0)
    return content, parts


SAMPLES: dict[str, tuple[Any, Any]] = {
    "clos": (case(), catalog()),
    "limits": (case(limits={"budget_usd": 600_000, "power_w": 30_000}), catalog()),
    "floor": (test_floor_search.on_floor(ROWS), test_floor_search.parts()),
    "growth": (grown(2, 4), eight()),
    "out-of-band": (test_out_of_band.case(test_out_of_band.COMPUTE, test_out_of_band.OOB), test_out_of_band.parts()),
    "model": timed(),
    "torus of servers": (ROOT / "cases" / "torus-216-gpus.yaml", None),
    "terms of sale": (ROOT / "cases" / "procurement-128-gpus.yaml", None),
}


def resolved(content: Any, parts: Any) -> Problem:
    read = inputs_from_objects(content, parts)
    return problem_of(read.case, read.catalog)


def searched(problem: Problem, context: Context) -> int | None:
    if problem.case.objective == "usd_per_effective_gpu":
        return RatioSearch(problem, Settings(), Clock(None), context=context).run().optimum.value
    return search_of(problem, Settings(), Clock(None), context=context).run().value


@pytest.mark.long("model", "torus of servers")
@pytest.mark.long("terms of sale")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_search_changes_nothing_in_its_problem(name: str) -> None:
    problem, context = resolved(*SAMPLES[name]), Context()
    before = fingerprint(problem)
    first = searched(problem, context)
    assert first is not None
    assert fingerprint(problem) == before
    assert searched(problem, context) == searched(problem, Context()) == first
    assert fingerprint(problem) == before


@pytest.mark.parametrize("name", SAMPLES)
def test_a_problem_holds_nothing_that_can_be_changed_in_place(name: str) -> None:
    assert mutable_parts(resolved(*SAMPLES[name])) == []


def test_a_fingerprint_sees_a_change_far_down() -> None:
    """Or the tests above could not fail."""
    problem = resolved(*SAMPLES["clos"])
    before = fingerprint(problem)
    object.__setattr__(problem.fabrics[0].switches["ethernet"]["leaf"][0].item, "power_mw", 1)
    assert fingerprint(problem) != before


Owners = Callable[[], int]


@pytest.fixture(scope="module")
def known_owners() -> Iterator[Owners]:
    """How many owners lookups know something of; what was there before these tests is not walked through again."""
    gc.unfreeze()  # what was left out of searches as tests were collected is looked through once
    gc.collect()
    before = [kept for kept in gc.get_objects() if isinstance(kept, Lookup)]
    gc.freeze()

    def counted() -> int:
        gc.collect()
        return sum(map(len, (*before, *(kept for kept in gc.get_objects() if isinstance(kept, Lookup)))))

    yield counted
    gc.unfreeze()


@pytest.mark.long("limits")
@pytest.mark.long("clos", "terms of sale")
@pytest.mark.parametrize("name", SAMPLES)
def test_what_was_worked_out_goes_with_the_problem(name: str, known_owners: Owners) -> None:
    before = known_owners()
    problem, context = resolved(*SAMPLES[name]), Context()
    searched(problem, context)
    assert known_owners() > before
    del problem, context
    assert known_owners() == before


def test_problems_of_one_offering_share_costs() -> None:
    """Another budget asks for other limits, and for the same weights."""
    read = inputs_from_objects(case(), catalog())
    problem, context = problem_of(read.case, read.catalog), Context()
    searched(problem, context)
    larger = inputs_from_objects(case(servers=8), catalog()).case
    other, beside = problem_of(larger, read.catalog, offering=problem.offering), context.beside()
    count = len(context.costs)
    searched(other, beside)
    assert len(context.costs) == count
    assert beside.candidates is not context.candidates


def test_other_offerings_share_none() -> None:
    problem, other, context = resolved(*SAMPLES["clos"]), resolved(*SAMPLES["clos"]), Context()
    searched(problem, context)
    count = len(context.costs)
    searched(other, context)
    assert len(context.costs) == 2 * count


@pytest.mark.long(but=("10",))
@pytest.mark.parametrize("seed", [5, 8, 10, 14, 15, 16])
def test_no_answer_depends_on_earlier_questions(seed: int) -> None:
    """Neither on whether any design was asked for, nor on limits or another objective."""
    parts, content = random_networks.generate(seed)
    content["site"].pop("floor", None)
    problem, context = resolved(content, parts), Context()
    of_power = with_objective(problem, "power_w", problem.limits)
    answers = [searched(one, Context()) for one in (problem, of_power)]
    for one in (problem, of_power):
        search_of(one, Settings(), Clock(None), context=context).any_design()
        limited = replace(one, limits=replace(one.limits, capex_cents=1))
        assert searched(limited, context) is None
    assert [searched(one, context) for one in (problem, of_power)] == answers
