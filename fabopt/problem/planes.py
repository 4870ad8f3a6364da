"""Fabrics with a choice of numbers of planes: among designs of equal cost the loss of a switch decides."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.resilience import keeps_default
from fabopt.schema.topologies import OWN_RAILS, TIERED
from fabopt.units import some

# In the place of a number of planes: the planes are rails.
RAILS: Final = 0


def planes_of(nic: NicOption) -> int:
    """Planes as the key of a case counts them: the rails of a rail-only fabric are one; ``RAILS`` for planes that are
    rails.
    """
    return RAILS if nic.own_rails else nic.planes // nic.rails_per_plane


def planes_words(choices: Collection[int]) -> str:
    """Choices of planes in words: ``1 and 2 planes and planes that are rails``."""
    numbers = sorted(set(choices) - {RAILS})
    words = [" and ".join(map(str, numbers[:-1])), some(numbers[-1], "plane")] if numbers else []
    return " and ".join(filter(None, [*words, OWN_RAILS.words * (RAILS in choices)]))


def weighs_planes(problem: Problem, fabric: FabricProblem) -> bool:
    """Whether designs of equal cost are compared by the bandwidth left after the loss of a switch: where the fabric has
    a choice of numbers of planes, all its families are Clos, and the case does not turn ``resilience: default`` off.
    """
    if len({planes_of(option) for options in fabric.nics.values() for option in options}) < 2:
        return False
    asked = next((one for one in problem.case.fabrics if one.name == fabric.name), None)
    is_kept = asked is not None and keeps_default(problem.case.resilience_of(asked))
    return is_kept and set(fabric.shapes.topologies) <= set(TIERED)
