"""Which devices of a Clos in service serve as which of a planned one, and how many of its links stay where they are.

Devices of a tier keep their role in the order of their numbers; servers in service fill the groups of their own leaves
first, spines the pods of their own leaves. A link stays where both its ends do. Of parallel links of a pair the first
ones stay. docs/formulation/growth.md has the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from fabopt.network.clos_links import Ints
from fabopt.schema.base import parse_split
from fabopt.schema.design import FabricDesign, NicUse
from fabopt.schema.resilience import CABLES_OF_PEER_LINK
from fabopt.schema.structure import Structure
from fabopt.schema.subnet_manager import TwinUse, twins_of
from fabopt.schema.tiers import PortUse
from fabopt.units import ceil_div, summed

NOTHING = -1
# Links between the two leaves of a pair, the one of an even number and the next.
PEERS: Final = "leaf-leaf"
# Cages of a device: their group and split.
Cages = tuple[int, str]


class StandingTier(NamedTuple):
    """A tier; ``types``: switches by product, those with managed ``twins`` as what these are twins of. Switches are of
    all planes, ``up_ports`` of a switch.
    """

    types: Mapping[str, int]
    twins: tuple[TwinUse, ...]
    down: Cages
    up: Cages | None
    up_ports: int

    @property
    def switches(self) -> int:
        """Switches of all products."""
        return sum(self.types.values())

    def has(self, there: StandingTier) -> bool:
        """Whether it has the switches of another one: all, or as many as it has of those that are of its product."""
        if self.types.keys() != there.types.keys() or len(there.types) > 1:
            return all(self.types.get(id_, 0) >= count for id_, count in there.types.items())
        return True


class StandingClos(NamedTuple):
    """What of a Clos decides which of its cables another one keeps. ``nic``: all that tells two ways to equip servers
    apart, its id and its number first; ``family``: topology and protocol; ``tiers`` by role; ``peers``: as ``down``.
    """

    family: tuple[str, str]
    planes: int
    servers: int
    nic: tuple[Hashable, ...]
    structure: Structure
    tiers: Mapping[str, StandingTier]
    peers: Cages | None = None

    @property
    def rails(self) -> int:
        """Leaves of a group in a plane."""
        return self.structure.ports_per_server // self.structure.ports_per_server_per_leaf

    @property
    def like_groups(self) -> int:
        """Groups without a last one of its own."""
        return self.structure.groups - (self.structure.last_group is not None)

    @property
    def servers_of_groups(self) -> Ints:
        """Servers of every group that is like the others, shape (like groups,)."""
        g = self.structure.servers_per_group
        return np.minimum(g, self.servers - g * np.arange(self.like_groups))

    def of_plane(self, role: str) -> int:
        """Switches of a tier in a plane; 0 without the tier."""
        return self.tiers[role].switches // self.planes if role in self.tiers else 0

    @property
    def pod_of_leaves(self) -> Ints:
        """Pod of every leaf of like groups in a plane, shape (leaves,)."""
        leaf, structure = np.arange(self.like_groups * self.rails), self.structure
        if structure.tiers < 3:
            return np.zeros_like(leaf)
        block = leaf // self.rails // structure.groups_per_pod
        return block * self.rails + leaf % self.rails if structure.pod_of == "rail" else block

    @property
    def is_even(self) -> bool:
        """Whether every leaf has as many links to each of its spines."""
        structure = self.structure
        return self.tiers["leaf"].up_ports == structure.spines_per_pod * structure.links_per_pair


def standing_of(fabric: FabricDesign, servers: int) -> StandingClos:
    """A fabric of a design file with ``servers`` servers; raises ``ValueError`` where it is no Clos."""
    nic = fabric.nic
    tiers: dict[str, StandingTier] = {
        tier.role: StandingTier(
            dict(summed((own.id, own.count) for own in tier.types)), twins_of(fabric.subnet_manager, tier.role),
            _cages(tier.down), None if tier.up is None else _cages(tier.up), tier.up_ports,
        )
        for tier in fabric.tiers
    }  # fmt: skip
    equipped = equipped_with(nic, fabric.own_rails, fabric.homing == "dual")
    family, use = (fabric.topology, fabric.protocol), fabric.peer_links
    peers = None if use is None else (use.cage_group, use.split)
    return StandingClos(family, fabric.planes, servers, equipped, fabric.clos, tiers, peers)


def equipped_with(nic: NicUse, own_rails: bool, dual: bool) -> tuple[Hashable, ...]:
    """All that tells two ways to equip servers apart; ``dual``: whether ports are dealt NIC by NIC."""
    ports = nic.ports_per_nic, nic.cage_group, nic.split
    return nic.id, nic.per_server, nic.built_in, *ports, own_rails, dual


def _cages(use: PortUse) -> Cages:
    return use.cage_group, use.split


@dataclass(frozen=True)
class Staying:
    """What stays of a Clos in ``service`` in a ``planned`` one of at least as many servers.

    Arrays have shape (devices of a plane,): the number in service of every planned one, ``NOTHING`` of new ones.
    ``gone``: roles of which none stays; ``alone``: without other fabrics, for which servers keep their order.
    """

    service: StandingClos
    planned: StandingClos
    gone: frozenset[str] = frozenset()
    alone: bool = True

    def _keeps(self, role: str) -> bool:
        """Whether devices of a tier keep their role."""
        old, new = self.service, self.planned
        both = role in old.tiers and role in new.tiers and role not in self.gone
        same = (old.family, old.planes) == (new.family, new.planes)
        twins = both and old.tiers[role].twins == new.tiers[role].twins
        return same and twins and new.tiers[role].has(old.tiers[role])

    @cached_property
    def leaves(self) -> Ints:
        """Leaves in service, one after the other."""
        rows = np.full(self.planned.of_plane("leaf"), NOTHING)
        like, there = self.planned.like_groups * self.planned.rails, self.service.of_plane("leaf")
        if not self._keeps("leaf"):
            return rows
        if self._has_other_rails and self._spreads:
            # leaves with most ports of a server in common, group by group
            new, old = self.planned.rails, self.service.rails
            groups, rails = min(self.planned.like_groups, self.service.structure.groups), min(new, old)
            group, rail = np.repeat(np.arange(groups), rails), np.tile(np.arange(rails), groups)
            rows[group * new + rail * new // rails] = group * old + rail * old // rails
            rows[:like] = _filled(rows[:like], np.setdiff1d(np.arange(there), rows).tolist())
        else:
            rows[: min(like, there)] = np.arange(min(like, there))
        return rows

    @property
    def _has_other_rails(self) -> bool:
        """Whether a server has another number of ports on a leaf than in service."""
        return self.service.structure.ports_per_server_per_leaf != self.planned.structure.ports_per_server_per_leaf

    @cached_property
    def servers(self) -> Ints:
        """Servers in service by server: first those of a leaf's own group, then the others where there is room."""
        rows = np.full(self.planned.servers, NOTHING)
        old, new = self.service.structure.servers_per_group, self.planned.structure.servers_per_group
        for group, kept in enumerate(self._servers_kept.tolist() if self.may_stay("server-leaf") else ()):
            rows[group * new : group * new + kept] = group * old + np.arange(kept)
        rest = np.setdiff1d(np.arange(self.service.servers), rows)
        rows[np.flatnonzero(rows == NOTHING)[: len(rest)]] = rest
        return rows

    @cached_property
    def _servers_kept(self) -> Ints:
        """Servers of every group that find their own leaves in the group of the same number."""
        old, new = self.service.servers_of_groups, self.planned.servers_of_groups
        both = min(len(old), len(new))
        return np.minimum(old[:both], new[:both])

    @cached_property
    def spines(self) -> Ints:
        """Spines in service: in every pod those of the pods that its leaves come from, then any others."""
        rows = np.full(self.planned.of_plane("spine"), NOTHING)
        if not self._keeps("spine"):
            return rows
        new, old = self.planned.structure.spines_per_pod, self.service.structure.spines_per_pod
        left = {pod: list(range(pod * old, (pod + 1) * old)) for pod in range(self.service.of_plane("spine") // old)}
        for pod, own in sorted(self._common_leaves):
            taken = int((rows[pod * new : (pod + 1) * new] != NOTHING).sum())
            more = left[own][: new - taken]
            rows[pod * new + taken : pod * new + taken + len(more)] = more
            del left[own][: len(more)]
        return _filled(rows, (spine for rest in left.values() for spine in rest))

    @cached_property
    def cores(self) -> Ints:
        """Cores in service: those of the same group first, then any others."""
        rows = np.full(self.planned.of_plane("core"), NOTHING)
        if not self._keeps("core"):
            return rows
        of_group, own = self.planned.structure.cores_per_group, self.service.structure.cores_per_group
        group, index = np.divmod(np.arange(len(rows)), of_group)
        there = self.service.of_plane("core")
        same = (index < own) & (group < there // own)
        rows[same] = (group * own + index)[same]
        return _filled(rows, np.setdiff1d(np.arange(there), rows).tolist())

    @cached_property
    def _common_leaves(self) -> Counter[tuple[int, int]]:
        """Leaves that stay, by their pods: planned, and in service."""
        number = np.flatnonzero(self.leaves != NOTHING)
        pods = self.planned.pod_of_leaves[number], self.service.pod_of_leaves[self.leaves[number]]
        return Counter(zip(*(of.tolist() for of in pods), strict=True))

    def of_role(self, role: str) -> Ints:
        """The device in service by device of a role."""
        if role == "server":
            return self.servers
        return {"leaf": self.leaves, "spine": self.spines, "core": self.cores}[role]

    @property
    def keeps_order(self) -> bool:
        """Whether every server in service has its number."""
        number = np.flatnonzero(self.servers != NOTHING)
        return bool((self.servers[number] == number).all())

    def devices(self, role: str) -> int:
        """Switches in service that keep their role, over all planes."""
        own = self.of_role(role)
        return int((own != NOTHING).sum()) * self.planned.planes

    @property
    def nics(self) -> int:
        """NICs in service that stay in their servers."""
        old, new = self.service.nic, self.planned.nic
        return self.service.servers * min(int(str(old[1])), int(str(new[1]))) if old[0] == new[0] else 0

    def may_stay(self, kind: str) -> bool:
        """Whether links of a kind join the same cages of the same products as in service."""
        near, far = kind.split("-")
        if near == "attachment":
            return self._keeps(far) and self.service.tiers[far].down == self.planned.tiers[far].down
        if near == "server":
            same = self.service.nic == self.planned.nic and self._keeps(far)
            same = same and self.service.tiers[far].down == self.planned.tiers[far].down
            return same and (not self._has_other_rails or self._spreads)
        if near == far:
            return self._keeps(far) and self.service.peers == self.planned.peers is not None
        if not (self._keeps(near) and self._keeps(far)):
            return False
        old, new = self.service.tiers, self.planned.tiers
        return (old[near].up, old[far].down) == (new[near].up, new[far].down)

    @cached_property
    def _spreads(self) -> bool:
        """Whether leaves of as many groups serve as others with a part or a multiple of their ports of every server, at
        ports that are the same on all leaves, in no more cages than planned.
        """
        before, own = (one.structure.ports_per_server_per_leaf for one in (self.service, self.planned))
        lanes = parse_split(self.planned.tiers["leaf"].down[1]).ports
        alike = self.planned.structure.tiers == 1 or self.planned.is_even
        same = self.service.structure.groups == self.planned.like_groups == self.planned.structure.groups
        if max(before, own) % min(before, own) or not (alike and same) or self.planned.tiers["leaf"].twins:
            return False
        sizes = [one.servers_of_groups.tolist() for one in (self.service, self.planned)]
        is_one = len(sizes[0]) == 1 and own < before
        if not self.alone and len(sizes[0]) > 1:
            return False
        return not min(before, own) % lanes or (is_one and sizes[0][0] <= ceil_div(sizes[1][0] * own, lanes))

    @property
    def _ports_that_stay(self) -> int:
        """Ports of all servers in a plane that lead to the leaf in service to which they did."""
        old, new = self.service.structure, self.planned.structure
        k, own_k = old.ports_per_server_per_leaf, new.ports_per_server_per_leaf
        rails, own_rails = self.service.rails, self.planned.rails
        server = np.flatnonzero(self.servers != NOTHING)
        server = server[server < self.planned.like_groups * new.servers_per_group]
        leaf = self.leaves[(server // new.servers_per_group * own_rails)[:, None] + np.arange(own_rails)]
        group = (self.servers[server] // old.servers_per_group)[:, None]
        first = np.maximum(np.arange(own_rails) * own_k, leaf % rails * k)
        end = np.minimum(np.arange(1, own_rails + 1) * own_k, (leaf % rails + 1) * k)
        is_own = (leaf != NOTHING) & (leaf // rails == group)
        return int((np.maximum(end - first, 0) * is_own).sum())

    def links(self, kind: str) -> int:
        """Links of a kind in service that stay, over all planes."""
        if not self.may_stay(kind):
            return 0
        planes, new = self.planned.planes, self.planned.structure
        if kind == "server-leaf":
            return planes * self._ports_that_stay
        if kind == PEERS:
            first, second = self.leaves.reshape(-1, 2).T
            both = (first != NOTHING) & (first % 2 == 0) & (second == first + 1)
            return planes * CABLES_OF_PEER_LINK * int(both.sum())
        number = np.flatnonzero(self.spines != NOTHING)
        there = self.spines[number]
        if kind == "leaf-spine":
            pods = number // new.spines_per_pod, there // self.service.structure.spines_per_pod
            common = (self._common_leaves[pod] for pod in zip(*(of.tolist() for of in pods), strict=True))
            return planes * self.of_pair(kind) * sum(common)
        own, group = number % new.spines_per_pod, there % self.service.structure.spines_per_pod
        same = int((own // new.spines_per_core_group == group // new.spines_per_core_group).sum())
        cores = min(new.cores_per_group, self.service.structure.cores_per_group)
        return planes * self.of_pair(kind) * same * cores

    def of_pair(self, kind: str) -> int:
        """Links of a kind between two switches that stay: no more of them than lie in as many cages as planned."""
        if kind == PEERS:
            return CABLES_OF_PEER_LINK
        old, new = self.service.structure, self.planned.structure
        if kind == "spine-core":
            own, planned = old.links_per_core_pair, new.links_per_core_pair
            ends = [(new.cores_per_group, old.cores_per_group), (new.pods, old.pods)]
            if old.spines_per_core_group != new.spines_per_core_group:
                return 0
        else:
            own, planned = old.links_per_pair, new.links_per_pair
            leaves = self._leaves_in_pods
            ends = [(new.spines_per_pod, old.spines_per_pod), *leaves]
            if not (self.service.is_even and self.planned.is_even):
                return own if self._is_unchanged else 0
        lanes, three = self.lanes(kind), max(old.tiers, new.tiers) == 3
        if three and self._has_other_rails and any(count % ports for count in (own, planned) for ports in lanes):
            return 0
        if max(lanes) == 1 or (planned == own and not self._has_other_rails):
            return min(own, planned)
        if three and old.groups_per_pod != new.groups_per_pod:
            return 0
        peers: list[tuple[int, Sequence[int]]] = [(count, range(min(count, before))) for count, before in ends]
        if kind == "leaf-spine" and not three:
            peers[1:] = [(ends[1][0], self.leaves[self.leaves != NOTHING].tolist())]
        sides = [(peers[0], lanes[0]), *((peer, lanes[1]) for peer in peers[1:])]
        fitting = (
            kept for kept in range(min(own, planned), 0, -1) if all(_lie_in(side, own, planned, kept) for side in sides)
        )
        return next(fitting, 0)

    @property
    def _leaves_in_pods(self) -> list[tuple[int, int]]:
        """Numbers of leaves of pods, planned and in service, once each."""
        new, old = (np.bincount(one.pod_of_leaves).tolist() for one in (self.planned, self.service))
        return sorted(set(zip(new, old, strict=False)))

    @property
    def _is_unchanged(self) -> bool:
        old, new = self.service, self.planned
        shapes = (
            (one.structure.links_per_pair, one.structure.spines_per_pod, one.structure.groups_per_pod,
             one.structure.pods, one.of_plane("leaf"), one.tiers["leaf"].up_ports, one.structure.last_group)
            for one in (old, new)
        )  # fmt: skip
        return len(set(shapes)) == 1

    def links_of_pairs(self, kind: str) -> tuple[int, ...]:
        """Links of a kind between two switches, in service and as planned; none between servers and leaves."""
        if kind == "server-leaf":
            return ()
        both = self.service.structure, self.planned.structure
        return tuple(one.links_per_core_pair if kind == "spine-core" else one.links_per_pair for one in both)

    def lanes(self, kind: str) -> tuple[int, int]:
        """Ports of the cages at both ends of links between switches."""
        near, far = kind.split("-")
        up = self.planned.tiers[near].up
        assert up is not None
        return parse_split(up[1]).ports, parse_split(self.planned.tiers[far].down[1]).ports


def _lie_in(side: tuple[tuple[int, Sequence[int]], int], own: int, planned: int, kept: int) -> bool:
    """Whether the first ``kept`` of ``own`` links to every peer lie in no more cages of a device than ``planned`` ones.

    ``side``: number of planned peers of the device, its peers in service that stay, and ports of its cages.
    """
    (peers, staying), lanes = side
    cages = {(peer * own + link) // lanes for peer in staying for link in range(kept)}
    return len(cages) <= ceil_div(peers * planned, lanes)


def _filled(rows: Ints, others: Iterable[int]) -> Ints:
    """Rows with others in the free places, as far as there are any."""
    for place, other in zip(np.flatnonzero(rows == NOTHING).tolist(), others, strict=False):
        rows[place] = other
    return rows
