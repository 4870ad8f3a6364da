"""Who is joined to whom where switches are joined to each other: arithmetic on arrays, one row a link, one plane.

Switches are numbered from 0. In a HyperX or torus the first coordinate of a switch runs fastest; in a dragonfly the
switches of a group are next to each other, in a dragonfly+ its leaves are, and after those of all groups its spines.
Scopes name the kinds of links: ``dim-1`` and so on, ``local``, ``leaf-spine``, ``global``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.symmetry import box_moves, group_moves
from fabopt.schema.structure import (
    DirectStructure,
    DragonflyPlusStructure,
    DragonflyStructure,
    HyperxStructure,
    TorusStructure,
)

Ints = NDArray[np.int64]


class Pairs(NamedTuple):
    """Links of one scope: the switches at both ends. Parallel links are rows of their own, next to each other."""

    a: Ints
    b: Ints


class Mesh(Protocol):
    """A network of equal switches, one plane of it."""

    def __hash__(self) -> int:
        """By its numbers."""

    @property
    def switches(self) -> int:
        """How many there are."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """The kinds of links."""

    def pairs(self, scope: str) -> Pairs:
        """The links of a kind; raises ``LookupError`` for another family's."""


class Slots(NamedTuple):
    """Places of a scope's links among all ports of that scope at each of their switches, from 0."""

    a: Ints
    b: Ints


def slots_of(pairs: Pairs) -> Slots:
    """Number the ports of every switch by the peer that they lead to, parallel links in a row."""
    size = len(pairs.a)
    switch, peer = np.concatenate([pairs.a, pairs.b]), np.concatenate([pairs.b, pairs.a])
    link = np.tile(np.arange(size), 2)
    order = np.lexsort((link, peer, switch))
    first = np.searchsorted(switch[order], switch[order], side="left")
    slot = np.empty(2 * size, dtype=np.int64)
    slot[order] = np.arange(2 * size) - first
    return Slots(slot[:size], slot[size:])


def _repeated(a: Ints, b: Ints, times: int) -> Pairs:
    return Pairs(np.repeat(a, times), np.repeat(b, times))


class _Line(NamedTuple):
    """A dimension of a box: all switches, the place of each in its line, the step to the next one, links of a pair."""

    switch: Ints
    place: Ints
    side: int
    stride: int
    links: int


@dataclass(frozen=True)
class _Box:
    """Switches at the points of a box of some ``sides``, joined along its lines by ``links`` a pair and dimension."""

    sides: tuple[int, ...]
    links: tuple[int, ...]

    @property
    def switches(self) -> int:
        """The product of the sides."""
        return prod(self.sides)

    @property
    def scopes(self) -> tuple[str, ...]:
        """One for each dimension."""
        return tuple(f"dim-{number + 1}" for number in range(len(self.sides)))

    @cached_property
    def coordinates(self) -> Ints:
        """Of every box: shape (boxes, dimensions), from 0."""
        return np.column_stack([line.place for line in map(self._line, self.scopes)])

    def _line(self, scope: str) -> _Line:
        if scope not in self.scopes:
            raise LookupError(f"{scope} is none of {', '.join(self.scopes)}")
        at = self.scopes.index(scope)
        side, stride, switch = self.sides[at], prod(self.sides[:at]), np.arange(self.switches)
        return _Line(switch, switch // stride % side, side, stride, self.links[at])


class HyperX(_Box):
    """All switches that differ in one coordinate are joined, those of dimension i by ``links[i]`` links."""

    def pairs(self, scope: str) -> Pairs:
        """Every two switches of a line of the dimension."""
        line = self._line(scope)
        a, step = (one.ravel() for one in np.meshgrid(line.switch, np.arange(1, line.side), indexing="ij"))
        inside = line.place[a] + step < line.side
        return _repeated(a[inside], (a + step * line.stride)[inside], line.links)


class Torus(_Box):
    """A ring along every line of every dimension, of ``links[i]`` parallel links in dimension i; sides from 3 on."""

    def pairs(self, scope: str) -> Pairs:
        """Every switch and the next one of its ring."""
        line = self._line(scope)
        ahead = (line.place + 1) % line.side - line.place
        return _repeated(line.switch, line.switch + ahead * line.stride, line.links)

    @cached_property
    def places(self) -> Ints:
        """Where every box stands along each dimension, from 0, so that neighbours are two places apart at the most.

        A ring is folded: out on every other place, back on those between.
        """
        return np.column_stack([folded(side)[line] for side, line in zip(self.sides, self.coordinates.T, strict=True)])


def folded(side: int) -> Ints:
    """The place of every box of a ring in a row, from 0: 0, 2, 4 ... on the way out, ... 3, 1 on the way back."""
    number = np.arange(side)
    return np.asarray(np.minimum(2 * number, 2 * (side - number) - 1), dtype=np.int64)


@dataclass(frozen=True)
class Dragonfly:
    """``groups`` of ``group`` switches, fully joined by ``local`` links a pair, each with ``outside`` global links.

    Any two groups have ``outside // (groups - 1)`` global links, or one more: those whose numbers differ by least (in a
    ring) have it. Global links of a group go round its switches, groups in the order of their distance.
    """

    group: int
    groups: int
    local: int
    outside: int

    @property
    def switches(self) -> int:
        """Over all groups."""
        return self.group * self.groups

    @property
    def scopes(self) -> tuple[str, ...]:
        """Links within groups and between them."""
        return ("local", "global")

    @cached_property
    def links_at(self) -> Ints:
        """Global links between a group and the one that is so far behind it, by distance from 0."""
        return links_by_distance(self.groups, self.outside)

    def pairs(self, scope: str) -> Pairs:
        """The links of one scope."""
        if scope == "local":
            return self._local()
        if scope == "global":
            return global_pairs(self.links_at, self.group, self.group)
        raise LookupError(f"{scope} is neither local nor global")

    def _local(self) -> Pairs:
        one, other = np.triu_indices(self.group, 1)
        start = np.repeat(np.arange(self.groups) * self.group, len(one))
        return _repeated(start + np.tile(one, self.groups), start + np.tile(other, self.groups), self.local)


@dataclass(frozen=True)
class Spines:
    """The spines of a dragonfly+ among themselves: global links as those of a dragonfly's groups."""

    group: int
    groups: int
    outside: int

    scopes = ("global",)

    @property
    def switches(self) -> int:
        """Over all groups."""
        return self.group * self.groups

    def pairs(self, scope: str) -> Pairs:
        """The links of the only scope."""
        if scope not in self.scopes:
            raise LookupError(f"{scope} is not global")
        return global_pairs(links_by_distance(self.groups, self.outside), self.group, self.group)


@dataclass(frozen=True)
class DragonflyPlus:
    """``groups`` of ``group`` leaves, each joined to every one of the group's spines by ``up`` links."""

    group: int
    up: int
    spines: Spines

    scopes = ("leaf-spine", "global")

    @property
    def leaves(self) -> int:
        """Over all groups."""
        return self.group * self.spines.groups

    @property
    def switches(self) -> int:
        """Leaves and spines."""
        return self.leaves + self.spines.switches

    def pairs(self, scope: str) -> Pairs:
        """The links of one scope."""
        if scope == "leaf-spine":
            leaf, place = (one.ravel() for one in np.indices((self.leaves, self.spines.group)))
            return _repeated(leaf, self.leaves + leaf // self.group * self.spines.group + place, self.up)
        a, b = self.spines.pairs(scope)
        return Pairs(a + self.leaves, b + self.leaves)


def links_by_distance(groups: int, outside: int) -> Ints:
    """Global links to the group so far ahead in the ring of groups, which has ``outside`` in all; 0 to itself.

    Raises ``ValueError`` where an odd number of extra links in each of an odd number of groups cannot be paired.
    """
    base, extra = divmod(outside, groups - 1)
    distance = np.arange(groups)
    ring = np.minimum(distance, groups - distance)
    links = np.where(distance > 0, base + (ring <= extra // 2), 0)
    if extra % 2:
        if groups % 2:
            raise ValueError(f"{groups} groups of {outside} global links each cannot be joined evenly")
        links = links + (distance == groups // 2)
    return np.asarray(links, dtype=np.int64)


def global_pairs(links_at: Ints, holders: int, stride: int) -> Pairs:
    """Global links between groups whose first ``holders`` of every ``stride`` switches take them, in turn."""
    groups = len(links_at)
    start = np.cumsum(links_at) - links_at
    a, b = [], []
    for distance in range(1, groups // 2 + 1):
        at = np.arange(links_at[distance])
        near, far = (start[distance] + at) % holders, (start[groups - distance] + at) % holders
        first = np.arange(groups // 2 if 2 * distance == groups else groups)
        a.append((first[:, None] * stride + near[None, :]).ravel())
        b.append(((first + distance)[:, None] % groups * stride + far[None, :]).ravel())
    return Pairs(np.concatenate(a), np.concatenate(b))


def moves_of(mesh: Mesh) -> list[Ints]:
    """Renumberings of the switches that are symmetries of the family's networks, as far as their links are even."""
    if isinstance(mesh, HyperX | Torus):
        return box_moves(mesh.sides, any_order=isinstance(mesh, HyperX))
    if isinstance(mesh, DragonflyPlus):
        return _plus_moves(mesh)
    return group_moves(mesh.groups, mesh.group) if isinstance(mesh, Dragonfly) else []


def _plus_moves(mesh: DragonflyPlus) -> list[Ints]:
    """Groups as those of a dragonfly, leaves with their spines; and the next leaf of its group for each."""
    spines, spine = mesh.spines, np.arange(mesh.leaves, mesh.switches)
    together = zip(group_moves(spines.groups, mesh.group), group_moves(spines.groups, spines.group), strict=True)
    of_groups = [np.concatenate([leaves, mesh.leaves + others]) for leaves, others in together]
    leaves = np.roll(np.arange(mesh.leaves).reshape(-1, mesh.group), -1, axis=1).ravel()
    return [*of_groups, np.concatenate([leaves, spine])]


def mesh_of(structure: DirectStructure) -> Mesh:
    """How switches of one type are joined in the network that a design file describes: in a dragonfly+ its spines.

    Raises ``ValueError`` where its numbers make none.
    """
    if isinstance(structure, HyperxStructure):
        _require(structure.sides, structure.links_per_pair, 2)
        return HyperX(structure.sides, structure.links_per_pair)
    if isinstance(structure, TorusStructure):
        _require(structure.sides, structure.links_per_pair, 3)
        return Torus(structure.sides, structure.links_per_pair)
    if isinstance(structure, DragonflyStructure):
        numbers = (structure.switches_per_group, structure.switch_groups, structure.links_per_local_pair)
        _require_groups(min(numbers[0] - 1, numbers[2]), numbers[1], structure.global_links_per_group)
        return Dragonfly(*numbers, structure.global_links_per_group)
    if isinstance(structure, DragonflyPlusStructure):
        counts = (structure.leaves_per_group - 1, structure.spines_per_group, structure.links_per_pair)
        _require_groups(min(counts), structure.switch_groups, structure.global_links_per_group)
        return Spines(structure.spines_per_group, structure.switch_groups, structure.global_links_per_group)
    raise ValueError(f"{type(structure).__name__} is no network of equal switches")


def _require_groups(inside: int, groups: int, outside: int) -> None:
    if inside < 1 or groups < 2 or outside < groups - 1:
        raise ValueError(f"{outside} global links a group join no {groups} groups")


def _require(sides: Sequence[int], links: Sequence[int], shortest: int) -> None:
    if not sides or len(sides) != len(links) or min(sides) < shortest or min(links) < 1:
        raise ValueError(f"sides {list(sides)} with {list(links)} links a pair; sides are {shortest} or more")
