"""Spans: every size is in one of them, and its runs count as that span says."""

from __future__ import annotations

import pytest

from fabopt.floor.group_runs import Sizes, counted_m
from fabopt.problem.problem import problem_of
from fabopt.solution import optimize
from fabopt.topology.spans import pods_together, spans_of
from tests.samples.length_samples import length_case, length_catalog
from tests.samples.small import inputs

SERVERS = 70


@pytest.mark.long(but=("dragonfly+",))
@pytest.mark.parametrize("family", ["clos", "rail-only", "hyperx", "torus", "dragonfly", "dragonfly+"])
def test_every_size_is_in_one_span_with_its_runs(family: str) -> None:
    given = inputs(length_case(servers=SERVERS), length_catalog())
    problem = problem_of(given.case, given.catalog)
    spans = spans_of(problem, problem.fabrics[0], family)
    assert spans is spans_of(problem, problem.fabrics[0], family)
    lengths_m, runs = problem.item_table.lengths_m, problem.site.groups
    assert runs is not None
    for tiers in (1, 2, 3):
        for g in range(1, 17):
            for pod in range(g, SERVERS + g, g):
                held = [
                    one for one in spans if (span := one.runs.span) is not None and tiers in one.shapes.tiers
                    and span.group[0] <= g <= span.group[1] and span.pod[0] <= pod <= span.pod[1]
                ]  # fmt: skip
                assert len(held) == 1, (tiers, g, pod)
                pods = {one.runs.span.pod for one in spans if one.runs.span is not None and tiers in one.shapes.tiers}
                has_pods = len(pods) > 1
                own = runs.runs_m(family, Sizes(g, pod if has_pods else SERVERS))
                assert held[0].runs.m == {kind: counted_m(lengths_m, float(run)) for kind, run in own.items()}


def test_fabric_with_said_lengths_has_one_span() -> None:
    given = inputs(length_case(rules="none"), length_catalog())
    problem = problem_of(given.case, given.catalog)
    assert spans_of(problem, problem.fabrics[0], "clos") == problem.fabrics


def test_pods_are_bounded_together_by_runs_that_are_no_longer() -> None:
    given = inputs(length_case(servers=SERVERS), length_catalog())
    problem = problem_of(given.case, given.catalog)
    [fabric] = problem.fabrics
    together = pods_together(problem, fabric, "clos")
    assert tuple(part for _, parts in together for part in parts) == spans_of(problem, fabric, "clos")
    shared = [(whole, parts) for whole, parts in together if len(parts) > 1]
    assert shared
    for whole, parts in shared:
        assert whole.runs.span is not None and not whole.runs.span.alike
        assert whole.runs.m["leaf-spine"] < max(part.runs.m["leaf-spine"] for part in parts)
        for part in parts:
            assert part.runs.span is not None and part.runs.span.group == whole.runs.span.group
            assert all(whole.runs.m[kind] <= run_m for kind, run_m in part.runs.m.items())
            assert {kind for kind, run_m in part.runs.m.items() if run_m != whole.runs.m[kind]} <= {"leaf-spine"}


@pytest.mark.long
def test_servers_without_number_are_answered() -> None:
    """Each of 10^10 racks had a length of its own, which took 78 GB."""
    given = inputs(length_case(servers=10**11), length_catalog())
    assert optimize.solve(given, time_limit_s=20, alternatives_s=0).status == "infeasible"
