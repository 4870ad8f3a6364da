"""A search for a lower objective alone: it finds the optimum where that is lower, and nothing where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from tests.samples.growth_samples import eight, grown
from tests.samples.small import case, catalog
from tests.search import test_floor_search, test_out_of_band
from tests.solution.test_brute_force import generate

Json = dict[str, Any]
SAMPLES: dict[str, tuple[Json, Json]] = {
    "clos": (case(), catalog()),
    "limits": (case(limits={"power_w": 30_000}), catalog()),
    "floor": (test_floor_search.on_floor({"rows": 2, "racks_per_row": 4}), test_floor_search.parts()),
    "growth": (grown(2, 4), eight()),
    "out-of-band": (test_out_of_band.case(test_out_of_band.COMPUTE, test_out_of_band.OOB), test_out_of_band.parts()),
    **{f"{kind}-{seed}": generate(kind, seed)[::-1] for kind in ("linear", "attached", "rails") for seed in range(3)},
}


def optimum(problem: Problem, below: int | None) -> int | None:
    """The objective of the best design that is wanted; None if there is none."""
    found = search_of(problem, Settings(), Clock(None), lower_than=below).run(ties=False)
    assert found.verdict != "unknown"
    return found.value if below is None or found.value is None or found.value < below else None


@pytest.mark.long("attached-0", "attached-1", "linear-0", "linear-2", "rails-1", "rails-2")
@pytest.mark.long("floor")
@pytest.mark.parametrize("name", SAMPLES)
def test_only_what_is_lower_is_found(name: str) -> None:
    content, parts = SAMPLES[name]
    inputs = inputs_from_objects(content, parts)
    problem = problem_of(inputs.case, inputs.catalog)
    best = optimum(problem, None)
    if best is None:
        assert optimum(problem, 10**12) is None
        return
    assert optimum(problem, best) is None
    assert optimum(problem, best + 1) == best
    assert optimum(problem, 2 * best) == best
