"""Lower bounds of what it costs to move a Clos in service, tier by tier as candidates are sized.

A cable stays only between devices that stay, each of which takes the place of one other. So no more links of a kind
stay than such pairs of devices have in common, however those of the candidate are numbered. docs/formulation/growth.md
has the rule ``base_stays``.
"""

from __future__ import annotations

import numpy as np

from fabopt.network.clos_shape import greater, lesser
from fabopt.network.staying import StandingClos, standing_of
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.live import InService
from fabopt.problem.problem import Problem
from fabopt.schema.design import MOVED_CABLE, MOVED_DEVICE
from fabopt.schema.in_service import CableKind
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.link_parts import Costs, Floats
from fabopt.units import Number, ceil_div

# Kinds of links, by the tier at their far end.
_BELOW: dict[str, CableKind] = {"leaf": "server-leaf", "spine": "leaf-spine", "core": "spine-core"}


class MoveBounds:
    """Least cost of moves, 0 where nothing may move. Arrays have shape (metrics, rows)."""

    def __init__(self, problem: Problem, fabric: FabricProblem, costs: Costs) -> None:
        self.may_move = fabric.live.moving is not None
        items = (problem.item_table.item(name) for name in (MOVED_CABLE, MOVED_DEVICE))
        self._cable, self._device = map(costs.of, items)
        self._none, self._none_of_rows = np.zeros_like(self._cable), np.zeros((len(self._cable), 1))
        self._fabric = fabric
        # stages may have other uplinks
        self._is_staged = len(problem.stages) > 1
        if fabric.live.moving is not None:
            self._moving: InService = fabric.live.moving
            self._there: StandingClos = standing_of(fabric.live.moving.fabric, fabric.live.moving.servers)

    def of_block(self, block: Block) -> Floats:
        """Least cost of the NICs, leaves, links of servers and tiers that no size of a block keeps, shape (metrics,);
        0 of what some size may keep.
        """
        if not self.may_move:
            return self._none
        leaves = 0 if self._is_role("leaf", block.leaf, block.last and block.last.switch) else self._count("leaf")
        links = 0 if self._joins_servers(block) else self._cables("server-leaf", 0)
        return self._without_tiers(block) + self._cable * links + self._device * leaves

    def of_leaves(self, block: Block, shape: Shape) -> Floats:
        """Least cost of NICs, leaves, links of servers, and tiers that a block has no more."""
        if not self.may_move:
            return self._none_of_rows
        kept = 0 * shape.g
        if self._is_role("leaf", block.leaf, block.last and block.last.switch):
            kept = lesser(self._count("leaf"), block.nic.planes * shape.leaves)
        moved = self._cost(self._cables("server-leaf", self._server_links(block, shape)), self._count("leaf") - kept)
        return np.asarray(moved.T + self._without_tiers(block)).T

    def of_uplinks(self, block: Block, shape: Shape) -> Floats:
        """Least cost of links between leaves and spines, whose number may be left open."""
        if not self.may_move or "spine" not in self._there.tiers:
            return self._none_of_rows
        return self._cost(self._cables("leaf-spine", self._uplinks(block.parts, shape)), 0 * shape.g)

    def of_spines(self, parts: Parts, shape: Shape) -> Floats:
        """Least cost of spines and the links below them."""
        if not self.may_move or "spine" not in self._there.tiers:
            return self._none_of_rows
        assert parts.spine is not None and parts.spine_down is not None
        planned = parts.nic.planes * shape.spines * (shape.pods if parts.spine_up is not None else 1)
        is_role = self._is_role("spine", parts.spine)
        links = self._uplinks(parts, shape) if is_role and self._is_down("spine", parts.spine_down) else 0 * shape.g
        kept = lesser(self._count("spine"), planned) if is_role else 0 * planned
        return self._cost(self._cables("leaf-spine", links), self._count("spine") - kept)

    def of_cores(self, parts: Parts, shape: Shape) -> Floats:
        """Least cost of cores and the links below them."""
        if not self.may_move or "core" not in self._there.tiers:
            return self._none_of_rows
        assert parts.core is not None and parts.spine is not None and parts.core_down is not None
        is_role = self._is_role("core", parts.core)
        kept = lesser(self._count("core"), parts.nic.planes * shape.cores) if is_role else 0 * shape.g
        may_stay = is_role and self._is_down("core", parts.core_down)
        may_stay = may_stay and self._may_join("spine", parts.spine, parts.spine_up)
        links = self._core_links(parts, shape) if may_stay else 0 * shape.g
        return self._cost(self._cables("spine-core", links), self._count("core") - kept)

    # -- devices ----------------------------------------------------------------------------------------------------

    def _cost(self, cables: Number, devices: Number) -> Floats:
        return np.asarray(np.multiply.outer(self._cable, cables) + np.multiply.outer(self._device, devices))

    def _without_tiers(self, block: Block) -> Floats:
        """The cost of NICs that go, and of tiers that a block has no more, shape (metrics,)."""
        gone = list(self._there.tiers)[block.tiers :]
        cables = sum(int(self._cables(_BELOW[role], 0)) for role in gone)
        devices = sum(map(self._count, gone)) + self._nics(block.nic)
        return np.asarray(self._cable * cables + self._device * devices)

    def _nics(self, nic: NicOption) -> int:
        there, servers = self._moving.fabric.nic, self._moving.servers
        if there.built_in:
            return 0
        kept = min(there.per_server, nic.nics_per_server) if there.id == nic.nic_id else 0
        return servers * (there.per_server - kept)

    def _count(self, role: str) -> int:
        return self._there.tiers[role].switches

    def _is_role(self, role: str, *switches: SwitchType | None) -> bool:
        """Whether devices of a tier may keep their role where they are of one of these types."""
        there = next((tier for tier in self._moving.fabric.tiers if tier.role == role), None)
        own = [switch for switch in switches if switch is not None]
        return there is not None and any(self._fabric.may_stay(there, switch) for switch in own)

    def _is_down(self, role: str, use: CageUse) -> bool:
        return self._there.tiers[role].down == (use.group, use.split)

    def _may_join(self, role: str, switch: SwitchType, up: CageUse | None, last: SwitchType | None = None) -> bool:
        """Whether links above a tier may stay in the cages of its switches."""
        return (
            up is not None and self._there.tiers[role].up == (up.group, up.split) and self._is_role(role, switch, last)
        )

    # -- links ------------------------------------------------------------------------------------------------------

    def _cables(self, kind: CableKind, links: Number) -> Number:
        """Fewest cables that move where so many links stay at most: a cable that stays has one of them at least."""
        there = self._moving.cables.get(kind)
        return 0 * links if there is None else there.cables - lesser(there.cables, links)

    def _joins_servers(self, block: Block) -> bool:
        nic, there = block.nic, self._moving.fabric
        of_nic = (there.nic.id, there.nic.per_server, there.nic.ports_per_nic, there.nic.cage_group, there.nic.split)
        return (
            of_nic == (nic.nic_id, nic.nics_per_server, nic.ports_per_nic, nic.group, nic.split)
            and (there.planes, there.protocol) == (nic.planes, block.protocol)
            and self._is_role("leaf", block.leaf, block.last and block.last.switch)
            and (self._is_down("leaf", block.down) or block.last is not None)
        )

    def _server_links(self, block: Block, shape: Shape) -> Number:
        """Most links between servers and leaves that stay.

        Each leaf in service takes the place of one that has its servers, or fewer; largest with largest is most.
        """
        there, servers = self._moving.fabric.clos, self._moving.servers
        of_all: Number = there.ports_per_server * servers + 0 * shape.g
        if not self._joins_servers(block):
            return 0 * of_all
        if there.last_group is not None:
            return block.nic.planes * of_all
        g, k = min(there.servers_per_group, servers), there.ports_per_server_per_leaf
        last, rails, own = servers - (there.groups - 1) * g, there.ports_per_server // k, bool(shape.has_own_last)
        ends = (there.groups - 1) * rails, there.groups * rails
        alike, full = shape.groups - own, lesser(shape.g, shape.servers)
        new_ends = (alike - 1 + own) * shape.rails, alike * shape.rails
        rest = shape.last_group
        in_common = lesser(g, full) * lesser(ends[0], new_ends[0])
        in_common += lesser(g, rest) * greater(0, lesser(ends[0], new_ends[1]) - new_ends[0])
        in_common += lesser(last, full) * greater(0, lesser(ends[1], new_ends[0]) - ends[0])
        in_common += lesser(last, rest) * greater(0, lesser(ends[1], new_ends[1]) - greater(ends[0], new_ends[0]))
        kept = in_common * lesser(k, shape.k)
        if own:
            of_last = lesser(g, shape.last_group) * lesser(k, shape.last_k)
            most = _most_of(ends[1], (new_ends[1], lesser(g, full) * lesser(k, shape.k)), (shape.last_rails, of_last))
            kept = lesser(kept + shape.last_rails * of_last, most)
        return block.nic.planes * lesser(of_all, kept)

    def _uplinks(self, parts: Parts, shape: Shape) -> Number:
        """Most links between leaves and spines that stay; ``spines`` of the shape are 0 where they are open."""
        last = None if parts.last_leaf is None else parts.last_leaf.switch
        same = (self._moving.fabric.planes, self._moving.fabric.protocol) == (parts.nic.planes, parts.protocol)
        none: Number = 0 * shape.g
        if not same or not self._may_join("leaf", parts.leaf, parts.leaf_up, last):
            return none
        there, of_leaf = self._moving.fabric.clos, self._there.tiers["leaf"].up_ports
        last_pair = 0 if there.last_group is None else there.last_group.links_per_pair
        most = max(of_leaf, last_pair * there.spines_per_pod)
        pair = max(last_pair, ceil_div(of_leaf, there.spines_per_pod))
        leaves, planes = self._count("leaf"), parts.nic.planes
        if self._is_staged:
            return lesser(leaves, planes * shape.leaves) * most
        of_last = planes * shape.last_rails * shape.has_own_last
        of_others = planes * shape.leaves - of_last
        own, of_own_last = lesser(most, shape.u), lesser(most, shape.last_u)
        if np.all(shape.spines):
            spines = lesser(there.spines_per_pod, shape.spines)
            own = lesser(own, spines * lesser(pair, shape.links_per_pair + shape.is_uneven))
            of_own_last = lesser(of_own_last, spines * lesser(pair, shape.last_links_per_pair + shape.is_uneven))
        kept = _most_of(leaves, (of_others, own), (of_last, of_own_last))
        return lesser(kept, self._on_spines(parts, shape, pair)) if np.all(shape.groups_per_pod) else kept

    def _on_spines(self, parts: Parts, shape: Shape, pair: int) -> Number:
        """Most links of spines that stay, as many as pods of both have leaves, and ``pair`` of a leaf at most."""
        there, of_pod = self._moving.fabric.clos, shape.leaves_per_pod
        if shape.has_own_last:
            in_last = (shape.last_pod_groups - 1) * shape.leaves_of_a_group + shape.leaves_of_last_group
            of_pod = greater(of_pod, in_last)
        if there.last_group is None:
            of_pod = lesser(of_pod, there.leaves_per_pod)
        in_common = lesser(pair, greater(shape.links_per_pair + shape.is_uneven, shape.last_links_per_pair))
        spines = lesser(self._count("spine"), parts.nic.planes * shape.spines * shape.pods)
        kept: Number = spines * in_common * of_pod
        return kept

    def _core_links(self, parts: Parts, shape: Shape) -> Number:
        """Most links between spines and cores that stay: of a spine, and of a core, as many as to peers of both."""
        there, planes = self._moving.fabric.clos, parts.nic.planes
        spines: Number = lesser(self._count("spine"), planes * shape.pods * shape.spines)
        if self._is_staged:
            return spines * self._there.tiers["spine"].up_ports
        cores = lesser(self._count("core"), planes * shape.cores)
        below = lesser(there.pods * there.spines_per_core_group, shape.pods * shape.q)
        of_pairs = lesser(spines * lesser(there.cores_per_group, shape.cores_per_group), cores * below)
        return of_pairs * lesser(there.links_per_core_pair, shape.m2)


def _most_of(places: Number, *kinds: tuple[Number, Number]) -> Number:
    """Most that ``places`` are worth, each taken by one of two kinds, of which there are so many with such a worth."""
    (count, worth), (others, their_worth) = kinds
    first, last = lesser(places, count), lesser(places, others)
    in_turn = first * worth + lesser(places - first, others) * their_worth
    return greater(in_turn, last * their_worth + lesser(places - last, count) * worth)
