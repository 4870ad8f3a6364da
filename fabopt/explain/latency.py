"""Conflicts of the longest round trip that a case allows: the shortest that some design has, or what has no figure."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from fabopt.explain.demands import changed
from fabopt.explain.levers import Lever, halfway_to_precision, move_each_alone
from fabopt.explain.what_if import Inquiry, Supposition
from fabopt.parts.latency import without_figure
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.rules.demands import LATENCY
from fabopt.schema.case import Fabric
from fabopt.schema.design import Conflict, Number
from fabopt.schema.fabric import MOST_US
from fabopt.topology.latency import farthest
from fabopt.units import NS_PER_US, exact, plain_fraction

PS_PER_NS = 1000


def latency_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of the longest round trips of fabrics."""
    for index, fabric, _ in inquiry.fabrics:
        told = [*move_each_alone(inquiry, latency_levers(inquiry, index))]
        yield from told
        if fabric.max_latency_us is not None and not told:
            limit, questions = _key(fabric), _without_figures(inquiry, fabric, index)
            yield from inquiry.of_limit(limit, fabric.max_latency_us, questions)


def latency_levers(inquiry: Inquiry, index: int) -> list[Lever]:
    """The lever of a fabric's longest round trip, in whole picoseconds; lifted, parts still need figures."""
    fabric = inquiry.fabric(index)
    most_us = fabric.max_latency_us
    if most_us is None:
        return []
    value = floor(exact(most_us) * NS_PER_US * PS_PER_NS)

    def applied(asked: Supposition, most: Number | None) -> Supposition:
        longest = MOST_US if most is None else shown(most)
        return asked._replace(case=changed(asked.case, fabric, max_latency_us=longest))

    def shown(most: Number) -> Number:
        return plain_fraction(Fraction(most) / (NS_PER_US * PS_PER_NS))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        limit, (candidate, units) = problem.fabrics[index].latency, optimum.picked[index]
        path = None if limit is None else farthest(limit, candidate, problem.gpus)
        ns = None if path is None else path.round_trip_ns([option for option, count in units if count])
        assert ns is not None, "what has no figure is not chosen"
        return max(value, ceil(ns * PS_PER_NS))

    words = f"{LATENCY.words} in us with which there is a design"
    return [Lever(_key(fabric), value, words, applied, taken, halfway_to_precision, shown)]


def _key(fabric: Fabric) -> str:
    return f"fabrics.{fabric.name}.{LATENCY.key}"


def _without_figures(inquiry: Inquiry, fabric: Fabric, index: int) -> Iterator[Conflict]:
    """The conflict where a design needs parts whose time is not known."""
    limit, optimum = (
        inquiry.problem.fabrics[index].latency,
        inquiry.design(changed(inquiry.case, fabric, max_latency_us=None)),
    )
    if optimum is None or limit is None:
        return
    candidate, units = optimum.picked[index]
    path = farthest(limit, candidate, inquiry.problem.gpus)
    steps = [] if path is None else list(path.devices)
    for row in (row for option, count in units if count and path is not None for row in option.rows if path.kind(row)):
        assert row.assembly is not None
        near, cable, far = row.assembly.near, row.assembly.cable, row.assembly.far
        steps += limit.delays.link_of(inquiry.catalog, cable.id, (near, far)).steps(row.longest_m)
    unknown = without_figure(steps)
    what = ", ".join(unknown) or "servers that pass traffic on"
    detail = f"no figure for {what}: give `latency_ns` of the switch or a row of `facts.latency` in the catalog"
    yield Conflict(limit=_key(fabric), value=fabric.max_latency_us, needed=None, detail=f"{detail}, or leave this out")
