"""From which stage on each box and each link of a growing Clos is there.

Boxes are counted in the order in which they are added (``fabopt.joints``), so what stands at a stage follows from a few
numbers; a link is there as soon as both its boxes are. Stages count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fabopt.joints import ClosNumbers, Ints
from fabopt.units import ceil_div


class StageNumbers(NamedTuple):
    """What stands at one stage: servers; spines of every pod that there is; cores of every core group that there is.

    No spines: a single leaf in every plane joins all servers. No cores: one pod, or no pods.
    """

    servers: int
    spines: int = 0
    group_cores: int = 0


Stages = Sequence[StageNumbers]


def _first_past(amounts: Sequence[int], index: Ints) -> Ints:
    """The first stage at which there are more than ``index``; ``amounts`` never fall."""
    return np.searchsorted(np.array(amounts), index, side="right")


def of_servers(stages: Stages, number: Ints) -> Ints:
    """Stage of each server, by its number."""
    return _first_past([one.servers for one in stages], number)


def of_leaves(n: ClosNumbers, stages: Stages, number: Ints) -> Ints:
    """Stage of each leaf: that of the first server of its group."""
    return of_servers(stages, number % n.leaves // n.rails * n.group)


def of_spines(n: ClosNumbers, stages: Stages, number: Ints) -> Ints:
    """Stage of each spine: there must be its pod, and as many spines in every pod."""
    pod, index = number // n.spines % n.pods, number % n.spines
    block = pod // n.rails if n.rail_pods else pod
    its_pod = of_servers(stages, block * n.pod_groups * n.group)
    return np.maximum(its_pod, _first_past([one.spines for one in stages], index))


def of_cores(n: ClosNumbers, stages: Stages, number: Ints) -> Ints:
    """Stage of each core: there must be spines of its group, and as many cores in every group."""
    group, index = number % n.cores // n.group_cores, number % n.group_cores
    groups = [ceil_div(one.spines, n.core_spines) if one.group_cores else 0 for one in stages]
    return np.maximum(_first_past(groups, group), _first_past([one.group_cores for one in stages], index))


def of_links(n: ClosNumbers, stages: Stages, kind: str, a: Ints, b: Ints) -> Ints:
    """Stage of each link of a kind between boxes ``a`` and ``b``: the later of theirs."""
    if kind == "server-leaf":
        return np.asarray(np.maximum(of_servers(stages, a), of_leaves(n, stages, b)))
    if kind == "leaf-spine":
        return np.asarray(np.maximum(of_leaves(n, stages, a), of_spines(n, stages, b)))
    return np.asarray(np.maximum(of_spines(n, stages, a), of_cores(n, stages, b)))
