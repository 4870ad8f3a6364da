"""The mesh that the structure in a design file describes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from fabopt.network.direct_links import Dragonfly, DragonflyPlus, HyperX, Mesh, SpineMesh, Torus
from fabopt.schema.structure import (
    DirectStructure,
    DragonflyPlusStructure,
    DragonflyStructure,
    HyperxStructure,
    Structure,
    TorusStructure,
)
from fabopt.units import some


@singledispatch
def mesh_of(structure: Structure | DirectStructure) -> Mesh:
    """The mesh that a design file describes.

    Raises ``ValueError`` for a Clos, which is none, and where the numbers make none.
    """
    raise ValueError(f"no switches are joined to each other in a {structure.kind}")


@mesh_of.register
def _(structure: HyperxStructure) -> Mesh:
    _require_lattice(structure.sides, structure.links_per_pair, 2)
    return HyperX(structure.sides, structure.links_per_pair)


@mesh_of.register
def _(structure: TorusStructure) -> Mesh:
    _require_lattice(structure.sides, structure.links_per_pair, 3)
    return Torus(structure.sides, structure.links_per_pair)


@mesh_of.register
def _(structure: DragonflyStructure) -> Mesh:
    inside = min(structure.switches_per_group - 1, structure.links_per_local_pair)
    _require_groups(inside, structure.switch_groups, structure.global_links_per_group)
    return Dragonfly(
        structure.switches_per_group,
        structure.switch_groups,
        structure.links_per_local_pair,
        structure.global_links_per_group,
    )


@mesh_of.register
def _(structure: DragonflyPlusStructure) -> Mesh:
    inside = min(structure.leaves_per_group - 1, structure.spines_per_group, structure.links_per_pair)
    _require_groups(inside, structure.switch_groups, structure.global_links_per_group)
    spines = SpineMesh(structure.spines_per_group, structure.switch_groups, structure.global_links_per_group)
    return DragonflyPlus(structure.leaves_per_group, structure.links_per_pair, spines)


@singledispatch
def tori_of(structure: Structure | DirectStructure) -> Sequence[Torus]:
    """The torus that a design file describes; empty for another family."""
    return ()


@tori_of.register
def _(structure: TorusStructure) -> Sequence[Torus]:
    return (Torus(structure.sides, structure.links_per_pair),)


def _require_groups(inside: int, groups: int, outside: int) -> None:
    if inside < 1 or groups < 2 or outside < groups - 1:
        raise ValueError(f"{some(outside, 'global link')} a group: too few to join {some(groups, 'group')}")


def _require_lattice(sides: Sequence[int], links: Sequence[int], shortest: int) -> None:
    if not sides or len(sides) != len(links) or min(sides) < shortest or min(links) < 1:
        raise ValueError(f"sides {list(sides)} with {list(links)} links a pair; sides are {shortest} or more")
