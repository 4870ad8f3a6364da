"""Links of a plane of switches that are joined to each other: arithmetic on arrays, one row a link.

Switches are numbered from 0. In a HyperX or torus the first coordinate of a switch runs fastest; in a dragonfly the
switches of a group are next to each other, in a dragonfly+ its leaves are, and after those of all groups its spines.
Scopes name the kinds of links: ``dim-1`` and so on, ``local``, ``leaf-spine``, ``global``. Arrays by switch have shape
(switches,): a renumbering (``moves``) holds the new number of each, ``groups_of`` takes numbers and returns groups of
the same shape. Global links by distance have shape (groups,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import NO_GROUP, ClosNumbers, Ints
from fabopt.network.graph.symmetry import group_moves, lattice_moves, place_moves
from fabopt.units import some


class LinkEnds(NamedTuple):
    """Links of one scope: the switches at both ends, each of shape (links,).

    Parallel links are rows of their own, next to each other.
    """

    a: Ints
    b: Ints


class Mesh(ABC):
    """Switches (or servers) that are joined to each other, one plane of them."""

    @property
    @abstractmethod
    def switches(self) -> int:
        """Number of switches."""

    @property
    @abstractmethod
    def scopes(self) -> tuple[str, ...]:
        """The kinds of links."""

    @abstractmethod
    def pairs(self, scope: str) -> LinkEnds:
        """The links of a kind; raises ``LookupError`` for another family's."""

    def all_pairs(self) -> tuple[LinkEnds, Ints]:
        """Both ends of the links of all scopes, and the place of each link's scope in ``scopes``."""
        pairs = [self.pairs(scope) for scope in self.scopes]
        ends = LinkEnds(*map(np.concatenate, zip(*pairs, strict=True)))
        return ends, np.repeat(np.arange(len(pairs)), [len(of_scope.a) for of_scope in pairs])

    @property
    @abstractmethod
    def moves(self) -> list[Ints]:
        """Renumberings of the switches that are symmetries of the network, as far as its links are even."""

    @property
    def equals(self) -> Mesh:
        """The part of the mesh whose switches are of one type."""
        return self

    def groups_of(self, role: str, number: Ints) -> Ints:
        """The group of switches of a tier by their numbers, all from 0; ``NO_GROUP`` in a family without groups."""
        return np.full(len(number), NO_GROUP)

    def tree(self, planes: int) -> ClosNumbers:
        """A Clos with the same links between tiers; raises ``LookupError`` in a family of one tier."""
        raise LookupError(f"{type(self).__name__} has one tier of switches")


class LinkSlots(NamedTuple):
    """Ports of a scope's links at both ends, each of shape (links,): places among all ports of that scope, from 0."""

    a: Ints
    b: Ints


def slots_of(pairs: LinkEnds) -> LinkSlots:
    """Slots of links at both ends: ports of a switch in the order of the peers that they lead to, parallel links in a
    row.
    """
    size = len(pairs.a)
    switch, peer = np.concatenate([pairs.a, pairs.b]), np.concatenate([pairs.b, pairs.a])
    link = np.tile(np.arange(size), 2)
    order = np.lexsort((link, peer, switch))
    first = np.searchsorted(switch[order], switch[order], side="left")
    slot = np.empty(2 * size, dtype=np.int64)
    slot[order] = np.arange(2 * size) - first
    return LinkSlots(slot[:size], slot[size:])


def _repeated(a: Ints, b: Ints, times: int) -> LinkEnds:
    return LinkEnds(np.repeat(a, times), np.repeat(b, times))


class _LatticeLine(NamedTuple):
    """A dimension of a lattice: its switches, the place of each in its line, the step to the next one, links a pair."""

    switch: Ints
    place: Ints
    side: int
    stride: int
    links: int


@dataclass(frozen=True)
class Lattice(Mesh):
    """Switches at the points of a lattice of some ``sides``, joined along its lines: ``links`` a pair and dimension."""

    sides: tuple[int, ...]
    links: tuple[int, ...]

    @property
    def switches(self) -> int:
        """The product of the sides."""
        return prod(self.sides)

    @property
    def scopes(self) -> tuple[str, ...]:
        """The kinds of links: one for each dimension."""
        return tuple(f"dim-{number + 1}" for number in range(len(self.sides)))

    @cached_property
    def coordinates(self) -> Ints:
        """Coordinates of every switch, from 0, shape (switches, dimensions)."""
        return np.column_stack([line.place for line in map(self._line, self.scopes)])

    def _line(self, scope: str) -> _LatticeLine:
        if scope not in self.scopes:
            raise LookupError(f"{scope} is none of {', '.join(self.scopes)}")
        dimension = self.scopes.index(scope)
        side, stride, switch = self.sides[dimension], prod(self.sides[:dimension]), np.arange(self.switches)
        return _LatticeLine(switch, switch // stride % side, side, stride, self.links[dimension])


class HyperX(Lattice):
    """A lattice in which all switches of a line are joined, those of dimension i by ``links[i]`` links."""

    @property
    def moves(self) -> list[Ints]:
        """Renumberings of a lattice whose lines have no order (``lattice_moves``)."""
        return lattice_moves(self.sides, any_order=True)

    def pairs(self, scope: str) -> LinkEnds:
        """Every two switches of a line of the dimension."""
        line = self._line(scope)
        a, step = (axis.ravel() for axis in np.meshgrid(line.switch, np.arange(1, line.side), indexing="ij"))
        inside = line.place[a] + step < line.side
        return _repeated(a[inside], (a + step * line.stride)[inside], line.links)


class Torus(Lattice):
    """A ring along every line of every dimension, of ``links[i]`` parallel links in dimension i; sides from 3 on."""

    @property
    def moves(self) -> list[Ints]:
        """Renumberings of a lattice whose lines are rings (``lattice_moves``)."""
        return lattice_moves(self.sides, any_order=False)

    def pairs(self, scope: str) -> LinkEnds:
        """Every switch and the next one of its ring."""
        line = self._line(scope)
        ahead = (line.place + 1) % line.side - line.place
        return _repeated(line.switch, line.switch + ahead * line.stride, line.links)

    @cached_property
    def places(self) -> Ints:
        """The place of every switch along each dimension, from 0, such that neighbours are at most two apart.

        Shape (switches, dimensions).

        A ring is folded: out on every other place, back on those between.
        """
        return np.column_stack([folded(side)[line] for side, line in zip(self.sides, self.coordinates.T, strict=True)])


def folded(side: int) -> Ints:
    """The place of every switch of a ring in a row: 0, 2, 4 ... on the way out, ... 3, 1 on the way back.

    Shape (switches,).
    """
    number = np.arange(side)
    return np.asarray(np.minimum(2 * number, 2 * (side - number) - 1), dtype=np.int64)


@dataclass(frozen=True)
class _Groups(Mesh):
    """``groups`` of ``group`` switches, alike."""

    group: int
    groups: int

    @property
    def switches(self) -> int:
        """Number of switches over all groups."""
        return self.group * self.groups

    @property
    def moves(self) -> list[Ints]:
        """Renumberings of groups (``group_moves``), and of places within all of them (``place_moves``)."""
        return group_moves(self.groups, self.group) + place_moves(self.groups, self.group)


@dataclass(frozen=True)
class Dragonfly(_Groups):
    """``groups`` of ``group`` switches, fully joined by ``local`` links a pair, each group with ``outside`` global
    links.

    Any two groups have ``outside // (groups - 1)`` global links, or one more: those whose numbers differ by least (in a
    ring) have it. Global links of a group go round its switches, groups in the order of their distance.
    """

    local: int
    outside: int

    @property
    def scopes(self) -> tuple[str, ...]:
        """Links within groups and between them."""
        return ("local", "global")

    def groups_of(self, role: str, number: Ints) -> Ints:
        """The group of switches by their numbers, both from 0."""
        return number // self.group

    @cached_property
    def links_at(self) -> Ints:
        """Global links between two groups by their distance ahead in the ring, from 0, shape (groups,)."""
        return links_by_distance(self.groups, self.outside)

    def pairs(self, scope: str) -> LinkEnds:
        """The links of one scope."""
        if scope == "local":
            return self._local()
        if scope == "global":
            return global_pairs(self.links_at, self.group, self.group)
        raise LookupError(f"{scope} is neither local nor global")

    def _local(self) -> LinkEnds:
        a, b = np.triu_indices(self.group, 1)
        start = np.repeat(np.arange(self.groups) * self.group, len(a))
        return _repeated(start + np.tile(a, self.groups), start + np.tile(b, self.groups), self.local)


@dataclass(frozen=True)
class SpineMesh(_Groups):
    """The spines of a dragonfly+: global links as those of a dragonfly's groups."""

    outside: int

    scopes = ("global",)

    def pairs(self, scope: str) -> LinkEnds:
        """The links of the only scope."""
        if scope not in self.scopes:
            raise LookupError(f"{scope} is not global")
        return global_pairs(links_by_distance(self.groups, self.outside), self.group, self.group)


@dataclass(frozen=True)
class DragonflyPlus(Mesh):
    """``groups`` of ``group`` leaves, each joined to every one of the group's spines by ``up`` links."""

    group: int
    up: int
    spines: SpineMesh

    scopes = ("leaf-spine", "global")

    @property
    def leaves(self) -> int:
        """Number of leaves over all groups."""
        return self.group * self.spines.groups

    @property
    def switches(self) -> int:
        """Number of leaves and spines."""
        return self.leaves + self.spines.switches

    @property
    def equals(self) -> Mesh:
        """The spines."""
        return self.spines

    @property
    def moves(self) -> list[Ints]:
        """Renumberings of groups and of spines as in a dragonfly; and of every leaf by the next one of its group."""
        leaves, spines = np.arange(self.leaves), self.spines.moves
        of_groups = group_moves(self.spines.groups, self.group)
        of_leaves = [*of_groups, *[leaves] * (len(spines) - len(of_groups))]
        together = [np.concatenate([own, self.leaves + above]) for own, above in zip(of_leaves, spines, strict=True)]
        next_leaf = np.roll(leaves.reshape(-1, self.group), -1, axis=1).ravel()
        return [*together, np.concatenate([next_leaf, np.arange(self.leaves, self.switches)])]

    def groups_of(self, role: str, number: Ints) -> Ints:
        """The group of leaves, or of spines, by their numbers."""
        return number // (self.group if role == "leaf" else self.spines.group)

    def tree(self, planes: int) -> ClosNumbers:
        """Leaf-spine links as those of a Clos in which a group with all its leaves is a pod."""
        return ClosNumbers(
            servers=self.leaves,
            ports=1,
            planes=planes,
            k=1,
            g=1,
            u=self.spines.group * self.up,
            spines=self.spines.group,
            groups_per_pod=self.group,
            nics=1,
            ports_per_nic=planes,
            shared_cages=False,
        )

    def pairs(self, scope: str) -> LinkEnds:
        """The links of one scope."""
        if scope == "leaf-spine":
            leaf, place = (axis.ravel() for axis in np.indices((self.leaves, self.spines.group)))
            return _repeated(leaf, self.leaves + leaf // self.group * self.spines.group + place, self.up)
        a, b = self.spines.pairs(scope)
        return LinkEnds(a + self.leaves, b + self.leaves)


def links_by_distance(groups: int, outside: int) -> Ints:
    """Global links to a group by its distance ahead in the ring, ``outside`` in all, shape (groups,).

    A group has 0 to itself. Raises ``ValueError`` where an odd number of extra links in each of an odd number of groups
    cannot be paired.
    """
    base, extra = divmod(outside, groups - 1)
    distance = np.arange(groups)
    ring = np.minimum(distance, groups - distance)
    links = np.where(distance > 0, base + (ring <= extra // 2), 0)
    if extra % 2:
        if groups % 2:
            raise ValueError(f"{groups} groups of {some(outside, 'global link')} each cannot be joined evenly")
        links = links + (distance == groups // 2)
    return np.asarray(links, dtype=np.int64)


def global_pairs(links_at: Ints, holders: int, stride: int) -> LinkEnds:
    """Global links between groups of ``stride`` switches, in turn over the first ``holders`` of each.

    ``links_at``: links to a group by its distance ahead in the ring, shape (groups,).
    """
    groups = len(links_at)
    start = np.cumsum(links_at) - links_at
    a, b = [], []
    for distance in range(1, groups // 2 + 1):
        link = np.arange(links_at[distance])
        near, far = (start[distance] + link) % holders, (start[groups - distance] + link) % holders
        first = np.arange(groups // 2 if 2 * distance == groups else groups)
        a.append((first[:, None] * stride + near[None, :]).ravel())
        b.append(((first + distance)[:, None] % groups * stride + far[None, :]).ravel())
    return LinkEnds(np.concatenate(a), np.concatenate(b))
