"""A search that leaves each block after some batches of its sizes proves no more than it has looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from tests.samples.random_cases import generate

PATIENCE = (0, 1, 2, 4, 8, 1_000)


def optimum(seed: int, patience: float | None) -> Optimum:
    """The best design met of a random case; ``patience``: None has no end."""
    parts, content = generate("linear", seed)
    given = inputs_from_objects(content, parts)
    settings = Settings() if patience is None else replace(Settings(), patience=patience)
    return search_of(problem_of(given.case, given.catalog), settings, Clock(None)).run()


@pytest.mark.parametrize("seed", range(8))
def test_what_a_hasty_search_says_is_true(seed: int) -> None:
    best = optimum(seed, None)
    hasty = [optimum(seed, patience) for patience in PATIENCE]
    for one in hasty:
        if one.value is not None:
            assert best.value is not None and one.value >= best.value
        if one.bound is not None:
            assert best.value is None or one.bound <= best.value
        if one.verdict in ("optimal", "infeasible"):
            assert (one.verdict, one.value) == (best.verdict, best.value)
    assert (hasty[-1].verdict, hasty[-1].value) == (best.verdict, best.value)


def test_without_patience_little_is_met() -> None:
    """Of all seeds some differ: what is left out matters."""
    verdicts = {(optimum(seed, 0).verdict, optimum(seed, None).verdict) for seed in range(8)}
    assert ("unknown", "optimal") in verdicts
