"""How even a network is: what an architect prefers among designs that cost the same (docs/formulation/search.md)."""

from __future__ import annotations

from typing import Final, NamedTuple

from fabopt.network.clos_shape import ClosShape
from fabopt.problem.problem import Problem
from fabopt.problem.site import servers_per_rack
from fabopt.units import ceil_of


class Evenness(NamedTuple):
    """``missing``: servers that leaf groups and pods lack to be as large as the largest; ``splits_racks``: whether
    groups share racks.
    """

    missing: int
    splits_racks: bool


EVEN: Final = Evenness(0, False)


def evenness_of(problem: Problem, shape: ClosShape, groups_per_pod: int = 1) -> Evenness:
    """How even the groups of a network are at its last stage. ``shape``: of one row; pods: of so many groups."""
    g, groups, per_rack = int(shape.g), int(shape.groups), servers_per_rack(problem.case, problem.site)
    places = g * groups_per_pod * int(ceil_of(groups, groups_per_pod))
    splits = per_rack is not None and groups > 1 and g % per_rack > 0
    return Evenness(places - problem.servers, splits)
