"""The default rule of resilience, as far as it decides which sizes of a Clos are candidates.

Rule ``redundancy_is_kept``: two spines above every leaf, two cores, and two leaves for every server whose NICs have two
ports (storage, in-band), counted over all planes and rails of their own. A single switch, or one for each rail, is
none of these tiers. See docs/bandwidth.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.resilience import TWO_CORES, TWO_LEAVES, TWO_SPINES
from fabopt.topology.clos.shape import Shape
from fabopt.units import ceil_div

TWO = 2


def fewest_spines(fabric: FabricProblem, planes: int) -> int:
    """Fewest spines above a leaf, and so fewest uplinks of one, in each of so many planes."""
    return ceil_div(TWO, planes) if TWO_SPINES in fabric.kept_rules else 1


def fewest_cores(fabric: FabricProblem, planes: int, core_groups: int) -> int:
    """Fewest cores in each of so many core groups of each plane; as many groups of so many cores are as good."""
    return ceil_div(TWO, planes * core_groups) if TWO_CORES in fabric.kept_rules else 1


def enough_cores(fabric: FabricProblem, shape: Shape) -> NDArray[np.bool_]:
    """Which rows have as many cores as the rule asks for, shape (rows,)."""
    wanted = TWO if TWO_CORES in fabric.kept_rules else 1
    return np.asarray(shape.planes * shape.cores >= wanted)


def leaves_suffice(fabric: FabricProblem, nic: NicOption, k: int) -> bool:
    """Whether servers with ``k`` ports on each leaf are on as many leaves as the rule asks for; tiers are above one."""
    if TWO_LEAVES not in fabric.kept_rules or nic.ports_in_all < TWO:
        return True
    return nic.planes * (nic.ports_per_plane // k) >= TWO
