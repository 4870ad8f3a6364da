"""How even a network is: what an architect prefers among designs that cost the same (docs/formulation/search.md)."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fabopt.network.clos_shape import ClosShape
from fabopt.problem.problem import Problem
from fabopt.problem.site import servers_per_rack


class Evenness(NamedTuple):
    """``spread``: servers by which the largest leaf group exceeds the smallest; ``cut_racks``: racks in which there are
    servers of two groups or more.
    """

    spread: int
    cut_racks: int


EVEN: Final = Evenness(0, 0)


def evenness_of(problem: Problem, shape: ClosShape) -> Evenness:
    """How even the groups of a network are at its last stage, its servers filling racks in order.

    ``shape``: of one row. Where nothing says how many servers a rack has, none is cut.
    """
    g, groups, per_rack = int(shape.g), int(shape.groups), servers_per_rack(problem.case, problem.site)
    spread = min(g, problem.servers) - int(shape.last_group)
    return Evenness(spread, 0 if per_rack is None else _cut_racks(g, groups, per_rack))


def _cut_racks(g: int, groups: int, per_rack: int) -> int:
    firsts = g * np.arange(1, groups)
    return len(np.unique(firsts[firsts % per_rack > 0] // per_rack))
