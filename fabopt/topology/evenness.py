"""How even a network is: what an architect prefers among designs that cost the same (docs/formulation/search.md)."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fabopt.network.clos_shape import ClosShape
from fabopt.problem.problem import Problem
from fabopt.problem.site import servers_per_rack


class Evenness(NamedTuple):
    """``lacking_mbps``: less, the more is left per GPU without the worst single switch, where planes are open;
    ``own_last``: 1 where the last leaf group is unlike the others, 2 where its leaves are of a type of their own;
    ``spread``: servers by which the largest leaf group exceeds the smallest; ``cut_racks``: racks in which there are
    servers of two groups or more.
    """

    lacking_mbps: int
    own_last: int
    spread: int
    cut_racks: int


EVEN: Final = Evenness(0, 0, 0, 0)


def evenness_of(problem: Problem, shape: ClosShape, own_leaf: bool = False, lacking_mbps: int = 0) -> Evenness:
    """How even the groups of a network are at its last stage, its servers filling racks in order.

    ``shape``: of one row; ``own_leaf``: whether the last group has a type of leaf of its own. Where nothing says how
    many servers a rack has, none is cut.
    """
    g, groups, per_rack = int(shape.g), int(shape.groups), servers_per_rack(problem.case, problem.site)
    spread = min(g, problem.servers) - int(shape.last_group)
    cut_racks = 0 if per_rack is None else _cut_racks(g, groups, per_rack)
    return Evenness(lacking_mbps, int(shape.is_odd) + own_leaf, spread, cut_racks)


def _cut_racks(g: int, groups: int, per_rack: int) -> int:
    firsts = g * np.arange(1, groups)
    return len(np.unique(firsts[firsts % per_rack > 0] // per_rack))
