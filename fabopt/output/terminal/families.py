"""The network of each family in words: its shape, and the links between servers and switches."""

from __future__ import annotations

from functools import singledispatch

from fabopt.output.words import count
from fabopt.parts.names import name_in, named_switches
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.structure import (
    DirectStructure,
    DragonflyPlusStructure,
    DragonflyStructure,
    LastGroup,
    LatticeStructure,
    MixedSpines,
    Structure,
    SwitchlessStructure,
)
from fabopt.units import grouped, some

_TIERS = {1: "one switch tier", 2: "two switch tiers", 3: "three switch tiers"}


@singledispatch
def shape_of(structure: Structure | DirectStructure) -> str:
    """``two switch tiers``, ``4 x 4 switches``, ``9 groups of 4 switches``."""
    raise LookupError(f"no words for a {structure.kind}")


@singledispatch
def links_of(structure: Structure | DirectStructure, fabric: FabricDesign) -> str:
    """Links between servers and their leaves, then links between switches."""
    raise LookupError(f"no words for a {structure.kind}")


def _groups(structure: Structure | DirectStructure, leaf: str) -> list[str]:
    """Groups of servers and the leaves that they are on."""
    leaves = structure.ports_per_server // structure.ports_per_server_per_leaf
    return [
        f"{some(structure.groups, 'group')} of up to {some(structure.servers_per_group, 'server')}",
        f"each on {some(leaves, leaf)}, {some(structure.ports_per_server_per_leaf, 'port')} of a server on one",
    ]


def _dimensions(structure: LatticeStructure, between: str) -> list[str]:
    return [
        f"{some(links, 'link')} {between} of dimension {number}"
        for number, links in enumerate(structure.links_per_pair, 1)
    ]


def _sides(structure: LatticeStructure) -> str:
    return " x ".join(map(count, structure.sides))


# -- Clos -------------------------------------------------------------------------------------------------------------


@shape_of.register
def _(structure: Structure) -> str:
    return _TIERS[structure.tiers]


@links_of.register
def _(structure: Structure, fabric: FabricDesign) -> str:
    own_rails = fabric.topology == "rail-only"
    if structure.tiers > 1:
        return "; ".join(_tiered(structure, own_rails, fabric.tiers[0].up_ports))
    if own_rails:
        ports = some(structure.ports_per_server_per_leaf, "port")
        return f"{some(fabric.rails, 'rail')} that never meet, a switch each with {ports} of every server"
    if structure.ports_per_server_per_leaf < structure.ports_per_server:
        ports = some(structure.ports_per_server_per_leaf, "port")
        joined = "linked to each other" if fabric.peer_links else "with no link between them"
        return f"two switches per plane, each with {ports} of every server: a pair, {joined}"
    return f"one switch per plane holds all {some(structure.ports_per_server, 'port')} of every server"


def _tiered(structure: Structure, own_rails: bool, uplinks: int) -> list[str]:
    parts = _groups(structure, "leaf")
    if structure.tiers == 3:
        of = "of one rail" if structure.pod_of == "rail" else f"({some(structure.groups_per_pod, 'group')})"
        leaves = some(structure.leaves_per_pod, "leaf")
        parts.append(f"{some(structure.pods, 'pod')} of {leaves} {of}")
    spines = some(structure.spines_per_pod, "spine") + (" of its rail" if own_rails else "")
    if structure.mixed_spines is None:
        fewest = structure.links_per_pair
        uneven = fewest * structure.spines_per_pod != uplinks
        links = f"{fewest} or {fewest + 1} links" if uneven else some(fewest, "link")
        parts.append(f"{links} from each leaf to each of {spines}")
    else:
        parts.append(_two_types(structure.mixed_spines, spines))
    if structure.last_group is not None:
        parts.append(_last_group(structure.last_group))
    if structure.tiers == 3:
        links, cores = some(structure.links_per_core_pair, "link"), some(structure.cores_per_group, "core")
        parts.append(f"{links} from each spine to each of {cores}")
    return parts


def _two_types(mixed: MixedSpines, spines: str) -> str:
    """Links of leaves to spines of two types; ``spines``: all of them, in words."""
    (own, other), (own_links, other_links) = mixed.spines, mixed.links_per_pair
    links = some(own_links, "link")
    return f"{links} from each leaf to each of {own}, {other_links} to each of the other {other} of {spines}"


def _last_group(last: LastGroup) -> str:
    leaves, ports = some(last.leaves, "leaf"), some(last.ports_per_server_per_leaf, "port")
    links = some(last.links_per_pair, "link")
    return f"the last group of {some(last.servers, 'server')} on {leaves}, {ports} of a server on one, {links} to each"


# -- HyperX and torus -------------------------------------------------------------------------------------------------


@shape_of.register
def _(structure: LatticeStructure) -> str:
    return f"{_sides(structure)} switches"


@links_of.register
def _(structure: LatticeStructure, fabric: FabricDesign) -> str:
    between = "between neighbours" if structure.has_rings else "between two switches"
    return "; ".join([*_groups(structure, "switch"), *_dimensions(structure, between)])


@shape_of.register
def _(structure: SwitchlessStructure) -> str:
    return f"{_sides(structure)} servers"


@links_of.register
def _(structure: SwitchlessStructure, fabric: FabricDesign) -> str:
    passing = "servers pass on what is for others, without switches"
    return "; ".join([passing, *_dimensions(structure, "to each neighbour")])


# -- Dragonflies ------------------------------------------------------------------------------------------------------


@shape_of.register
def _(structure: DragonflyStructure) -> str:
    return f"{some(structure.switch_groups, 'group')} of {some(structure.switches_per_group, 'switch')}"


@links_of.register
def _(structure: DragonflyStructure, fabric: FabricDesign) -> str:
    local = f"{some(structure.links_per_local_pair, 'link')} between two switches of a group"
    outside = f"{some(structure.global_links_per_group, 'link')} from each group to the others"
    return "; ".join([*_groups(structure, "switch"), local, outside])


@shape_of.register
def _(structure: DragonflyPlusStructure) -> str:
    leaves, spines = some(structure.leaves_per_group, "leaf"), some(structure.spines_per_group, "spine")
    return f"{some(structure.switch_groups, 'group')} of {leaves} and {spines}"


@links_of.register
def _(structure: DragonflyPlusStructure, fabric: FabricDesign) -> str:
    links, spines = some(structure.links_per_pair, "link"), some(structure.spines_per_group, "spine")
    inside = f"{links} from each leaf to each of {spines} of its group"
    outside = f"{some(structure.global_links_per_group, 'link')} from the spines of each group to other groups"
    return "; ".join([*_groups(structure, "switch"), inside, outside])


# -- the first screen -------------------------------------------------------------------------------------------------

_CLOS = {1: "single tier", 2: "leaf-spine", 3: "leaf-spine-core"}
# Families by their kinds, where these are not their names.
_NAMED = {"hyperx": "HyperX", "server-torus": "switchless torus"}


def made_of(design: Design, fabric: FabricDesign, is_named: bool) -> str:
    """The family of a fabric with its switches by tier: ``leaf-spine, 18 leaves + 2 spines of FS N8650-32OD``.

    ``is_named``: whether the products of switches are named.
    """
    structure = fabric.structure
    if isinstance(structure, Structure):
        family = "rail-only" if fabric.topology == "rail-only" else _CLOS[structure.tiers]
        rails = "rail-optimized " if fabric.rails > 1 < structure.tiers and fabric.role == "compute" else ""
        words = f"{rails}{family}"
    else:
        shape = shape_of(structure)
        shape = shape.removesuffix(" switches") if isinstance(structure, LatticeStructure) else shape
        words = f"{_NAMED.get(structure.kind, structure.kind)} of {shape}"
    planes = f" in {fabric.planes} planes" if fabric.planes > 1 else ""
    return ", ".join(part for part in (words + planes, switches_of(design, fabric, is_named)) if part)


def switches_of(design: Design, fabric: FabricDesign, is_named: bool) -> str:
    """Counts of every tier, and its products if they are named; the product once where all are alike."""
    # a long list names part numbers alone
    has_maker = len(design.fabrics) == 1 or len({tier.id for tier in fabric.switches}) == 1
    tiers = grouped(
        (switch_noun(fabric, tier.role), (tier.count, name_in(design.parts, tier.id, has_maker)))
        for tier in fabric.switches
    )
    if not is_named:
        return " + ".join(some(sum(number for number, _ in rows), noun) for noun, rows in tiers.items())
    return named_switches(tiers)


def switch_noun(fabric: FabricDesign, role: str) -> str:
    """What a switch of a tier is called: its role where there are several tiers."""
    is_clos = isinstance(fabric.structure, Structure | DragonflyPlusStructure)
    return role if is_clos and len(fabric.tiers) > 1 else "switch"
