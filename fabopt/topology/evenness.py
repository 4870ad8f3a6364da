"""How even a network is: the order of preference among designs of equal cost (docs/formulation/search.md)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from fabopt.network.clos_shape import ClosShape
from fabopt.problem.problem import Problem
from fabopt.problem.site import servers_per_rack


class Evenness(NamedTuple):
    """``lacking_mbps``: negated Mb/s per GPU left after the worst loss of one switch, where planes are open;
    ``own_last``: 1 where the last leaf group differs from the others, 2 where its leaves are of a type of their own;
    ``spread``: servers by which the largest leaf group exceeds the smallest; ``cut_racks``: racks in which there are
    servers of two groups or more.
    """

    lacking_mbps: int
    own_last: int
    spread: int
    cut_racks: int


EVEN: Final = Evenness(0, 0, 0, 0)


def evenness_of(problem: Problem, shape: ClosShape[Any], own_leaf: bool = False, lacking_mbps: int = 0) -> Evenness:
    """Evenness of a network's groups at its last stage, its servers filling racks in order.

    ``shape``: of one row; ``own_leaf``: whether the last group has a type of leaf of its own. Without a number of
    servers per rack none is cut.
    """
    g, groups, per_rack = int(shape.g), int(shape.groups), servers_per_rack(problem.case, problem.site)
    spread = min(g, problem.servers) - int(shape.last_group)
    cut_racks = 0 if per_rack is None else _cut_racks(g, groups, per_rack)
    return Evenness(lacking_mbps, int(shape.has_own_last) + own_leaf, spread, cut_racks)


def _cut_racks(g: int, groups: int, per_rack: int) -> int:
    firsts = g * np.arange(1, groups)
    return len(np.unique(firsts[firsts % per_rack > 0] // per_rack))
