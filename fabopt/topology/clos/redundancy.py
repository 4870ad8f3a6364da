"""The default rule of resilience, as far as it decides sizes of a Clos.

Rule ``redundancy_is_kept``: two spines above every leaf, two cores, and two switches for every server (storage,
in-band), counted over all planes and rails of their own. It does not apply to a single switch, or one for each rail.
See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.rules.defaults import TWO_CORES, TWO_LEAVES, TWO_SPINES, TWO_SWITCHES
from fabopt.schema.resilience import PAIRED_ROLES
from fabopt.topology.clos.shape import Shape
from fabopt.units import ceil_div

TWO = 2


def fewest_spines(fabric: FabricProblem, planes: int) -> int:
    """Fewest spines above a leaf, and so fewest uplinks of a leaf, in each of ``planes`` planes."""
    return ceil_div(TWO, planes) if TWO_SPINES in fabric.rules.kept else 1


def fewest_cores(fabric: FabricProblem, planes: int, core_groups: int) -> int:
    """Fewest cores of a core group for two cores over all ``planes * core_groups`` groups; 1 without the rule."""
    return ceil_div(TWO, planes * core_groups) if TWO_CORES in fabric.rules.kept else 1


def enough_cores(fabric: FabricProblem, shape: Shape) -> NDArray[np.bool_]:
    """Rows that have the cores that the rule asks for, shape (rows,)."""
    wanted = TWO if TWO_CORES in fabric.rules.kept else 1
    return np.asarray(shape.planes * shape.cores >= wanted)


def leaves_suffice(fabric: FabricProblem, nic: NicOption, k: int) -> bool:
    """Whether servers with ``k`` ports on each leaf are on the leaves that the rules ask for, on two tiers or more."""
    two_leaves = TWO_LEAVES in fabric.rules.kept and nic.ports_in_all >= TWO
    return keeps_homing(fabric, nic, k) and (not two_leaves or leaves_of_server(nic, k) >= TWO)


def keeps_homing(fabric: FabricProblem, nic: NicOption, k: int) -> bool:
    """Whether servers may have ``k`` ports on each switch: two switches, or one in a plane, as the case asks; an even
    number of leaves in every plane where these are in pairs.

    Rules ``homing_is_kept`` and ``pairs_are_joined``.
    """
    if fabric.leaf_pairs.are_joined and (nic.apart or nic.ports_per_plane // k % TWO):
        return False
    if fabric.leaf_pairs.homing == "single" and k != nic.ports_per_plane:
        return False
    return not fabric.leaf_pairs.are_wanted or leaves_of_server(nic, k) >= TWO


def leaves_of_server(nic: NicOption, k: int) -> int:
    """Leaves that a server has ``k`` ports on each of, over all planes."""
    return nic.planes * (nic.ports_per_plane // k)


def ports_on_switch(fabric: FabricProblem, nic: NicOption) -> Iterator[int]:
    """Ports of a server on each switch of a plane of one tier: all, or half of them on each of two switches.

    No link joins these two: where GPUs send to each other from NICs of their own, every NIC has ports on both.
    """
    ports, nics = nic.ports_per_plane, 1 if nic.apart else nic.nics_per_server
    if keeps_homing(fabric, nic, ports) and (TWO_SWITCHES not in fabric.rules.kept or nic.planes >= TWO):
        yield ports
    if fabric.leaf_pairs.may_be_apart and ports % TWO == 0 and (nics == 1 or fabric.role in PAIRED_ROLES):
        yield ports // TWO
