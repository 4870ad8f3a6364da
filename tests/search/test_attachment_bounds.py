"""What the links of attachments are said to cost at least is never more than they cost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from fabopt.errors import InputError
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.coefficients import least_of
from fabopt.search.expansion import Expansion
from fabopt.topology.clos.attachment_bounds import least_of_attachments
from tests.samples.random_cases import generate
from tests.samples.small import Json, inputs

# Of every random case so many candidates; most have cages of several ports.
MOST = 150


def bounds_and_costs(content: Json, parts: Json) -> Iterator[tuple[float, float]]:
    """Of every candidate of a case: its bound, that of attachments included, and the least that its parts cost."""
    try:
        given = inputs(content, parts)
        problem: Problem = problem_of(given.case, given.catalog)
    except InputError:
        return
    expansion = Expansion(problem, Settings(prune=False), Clock(None), {})
    expanded = expansion.expand(np.zeros(len(expansion.caps) - 1), slack=1e15)
    costs = expansion.costs_of(0)
    attached = least_of_attachments(expansion.space(problem.fabrics[0], costs).bounds)
    for batch in expanded.sizings[0].batches:
        for index in range(len(batch)):
            for candidate in expansion.candidates_at(batch, index):
                yield float(batch.cost[0][index]) + attached, least_of(candidate, costs.table[0])


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 12), marks=pytest.mark.long)], ids=["few", "more"])
def test_no_bound_is_above_its_candidate(seeds: range) -> None:
    exact = 0
    for family in ("attached", "hosted"):
        for seed in seeds:
            catalog, case = generate(family, seed)
            for bound, cost in islice(bounds_and_costs(case, catalog), MOST):
                assert bound <= cost * (1 + 1e-9), (family, seed)
                exact += bound == cost
    # many are exact
    assert exact > 8 * len(seeds)
