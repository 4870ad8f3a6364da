"""The counts of every family of direct networks."""

from __future__ import annotations

from collections.abc import Mapping

from fabopt.schema.structure import DirectStructure
from fabopt.verify.dragonfly_counts import DragonflyCounts, DragonflyPlusCounts
from fabopt.verify.lattice_counts import HyperxCounts, ServerTorusCounts, TorusCounts
from fabopt.verify.mesh_counts import MeshCounts

COUNTS: Mapping[str, type[MeshCounts]] = {
    "hyperx": HyperxCounts,
    "torus": TorusCounts,
    "server-torus": ServerTorusCounts,
    "dragonfly": DragonflyCounts,
    "dragonfly+": DragonflyPlusCounts,
}


def counts_of(structure: DirectStructure) -> MeshCounts:
    """The counts of a structure, by its kind."""
    return COUNTS[structure.kind](structure)
