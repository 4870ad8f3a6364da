"""A fabric in every promising layout: with racks for the estimated switches of all fabrics.

Candidates on floors too large for proofs: the best by typical runs, with measured runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.search.coefficients import least_of
from fabopt.search.context import Context
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.layouts import Sketch, shared_layouts, switch_sums
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.family import AnyBatch, Sizing
from fabopt.topology.link_parts import Floats

# So often the number of switches of an out-of-band fabric is guessed, which has ports for its own too.
GUESSES = 2

# The search of a fabric as it is given.
SpaceOf = Callable[[FabricProblem], ClosSpace]


def layouts_for(problem: Problem, context: Context, space: SpaceOf) -> dict[str, list[Layout]]:
    """Layouts with space for the switches that all fabrics would have if these could be anywhere, by fabric.

    ``space``: of a whole fabric.
    """
    sketches = [_sketch(fabric, space) for fabric in problem.fabrics]
    known = [sketch for sketch in sketches if sketch is not None]
    if len(known) < len(sketches):
        return {fabric.name: [] for fabric in problem.fabrics}
    others = sum(
        switch_sums(*sketch).switches
        for fabric, sketch in zip(problem.fabrics, known, strict=True)
        if fabric.per_switch is None
    )
    counted = [
        sketch if fabric.per_switch is None else _counted(problem, context, fabric, sketch, others, space)
        for fabric, sketch in zip(problem.fabrics, known, strict=True)
    ]
    return {fabric.name: shared_layouts(problem, index, known, counted) for index, fabric in enumerate(problem.fabrics)}


def _counted(
    problem: Problem, context: Context, fabric: FabricProblem, sketch: Sketch, others: int, space: SpaceOf
) -> Sketch:
    """The sketch of an out-of-band fabric with ports for ``others`` switches and about its own number."""
    for _ in range(GUESSES):
        switches = (others + switch_sums(*sketch).switches,) * len(problem.stages)
        sketch = _sketch(context.numbered(fabric, switches), space) or sketch
    return sketch


def _sketch(fabric: FabricProblem, space: SpaceOf) -> Sketch | None:
    """The parts and shape of a fabric with switches anywhere; None if no parts join its servers."""
    sizing = space(fabric).search(ties=False)
    if not sizing.batches:
        return None
    batch = min(sizing.batches, key=lambda one: float(one.cost[0].min()))
    return batch.parts, batch.shape.row(int(np.argmin(batch.cost[0])))


# How far from the best estimate candidates are looked at, how many in a layout, and how many of them all are kept.
ESTIMATES_WITHIN = 0.02
MOST_MEASURED = 12
MOST_KEPT = 8


def likely(
    sizings: Iterable[Sizing], measure: Callable[[AnyBatch, int], tuple[Candidate, ...]], weights: Floats
) -> list[Candidate]:
    """The cheapest among the best candidates of every layout; ``weights``: of the items, shape (items,).

    ``measure``: the candidates of a size with switches in place.
    """
    measured: list[tuple[float, int, Candidate]] = []
    for sizing in sizings:
        places = [
            (batch.bound(index), number, index)
            for number, batch in enumerate(sizing.batches)
            for index in range(len(batch))
        ]
        for _, number, index in sorted(places)[:MOST_MEASURED]:
            for candidate in measure(sizing.batches[number], index):
                measured.append((least_of(candidate, weights), len(measured), candidate))
    return [candidate for *_, candidate in sorted(measured)[:MOST_KEPT]]
