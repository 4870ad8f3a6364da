"""The forms of a fabric that are searched on a floor: in every layout that is worth looking at, or anywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.layouts import anywhere, in_layouts, in_places, switch_sums
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.family import Restriction

# The search of a fabric as it is given.
SpaceOf = Callable[[FabricProblem], ClosSpace]
# What is known of fabrics, which is added to.
Variants = dict[FabricProblem, tuple[FabricProblem, ...]]


def wanted_variants(
    problem: Problem, known: Variants, fabric: FabricProblem, part: Restriction, free: SpaceOf
) -> list[FabricProblem]:
    """The fabric in the forms that are in a part of the space. ``free``: searches of the whole space."""
    return [
        variant
        for number, variant in enumerate(variants_of(problem, known, fabric, free))
        if part.layout in (None, number) and (part.policy is None or part.policy == _policy(variant))
    ]


def _policy(variant: FabricProblem) -> str:
    return variant.places[0].policy if variant.layout is None else variant.layout.policy


def variants_of(problem: Problem, known: Variants, fabric: FabricProblem, free: SpaceOf) -> tuple[FabricProblem, ...]:
    """The fabric on a small floor; else in layouts with room for the switches that all fabrics would have anywhere."""
    if fabric not in known:
        known[fabric] = in_places(problem, fabric) if problem.stands_anywhere else _in_layouts(problem, fabric, free)
    return known[fabric]


def _in_layouts(problem: Problem, fabric: FabricProblem, free: SpaceOf) -> tuple[FabricProblem, ...]:
    sketches = [_sketch(problem, one, free) for one in problem.fabrics]
    sums = [switch_sums(*one) for one in sketches if one is not None]
    if len(sums) < len(sketches):
        return ()
    units, power_mw = (sum(column) for column in zip(*sums, strict=True))
    return in_layouts(problem, fabric, units, power_mw)


def _sketch(problem: Problem, fabric: FabricProblem, free: SpaceOf) -> tuple[Parts, Shape] | None:
    """What a fabric would be made of if its switches could stand anywhere; None if nothing joins its servers."""
    found = free(anywhere(problem, fabric)).search()
    if not found.batches:
        return None
    batch = min(found.batches, key=lambda one: float(one.cost[0].min()))
    return batch.parts, batch.shape.row(int(np.argmin(batch.cost[0])))
