"""Who is joined to whom in a Clos, and at which place of each box: arithmetic on arrays, one row a link.

Numbering is such that a cluster that grows by whole groups keeps every cable where it is: groups, leaves, pods and
spines are counted in the order in which they are added, and the port of a link depends on the place of its box in its
group or pod only. Parallel links are next to each other; leaf j of a group is its j-th rail.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fabopt.embedded import Embedded, divide
from fabopt.schema.case import Attachment, Fabric
from fabopt.schema.catalog import Nic
from fabopt.schema.design import FabricDesign
from fabopt.units import ceil_div
from fabopt.wiring.model import Ints


class Joints(NamedTuple):
    """Links of one kind. ``a``, ``b``: number of the box in its role, from 0. Slots count the ports of a box on that
    side from 0; where wires carry several links of a pair, every pair starts at a multiple of that.
    """

    a: Ints
    a_slot: Ints
    b: Ints
    b_slot: Ints


class ServerJoints(NamedTuple):
    """Links of servers: ``card`` and ``port`` (of the card) from 0; ``a_slot`` within the card, or the server."""

    joints: Joints
    card: Ints
    port: Ints


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of a Clos in a design file; symbols as in docs/formulation.md."""

    embedded: Embedded
    made: FabricDesign

    @property
    def servers(self) -> int:
        """N."""
        return self.embedded.servers

    @property
    def planes(self) -> int:
        """P."""
        return self.made.planes

    @cached_property
    def group(self) -> int:
        """g."""
        return self.made.structure.servers_per_group

    @cached_property
    def groups(self) -> int:
        """G."""
        return ceil_div(self.servers, self.group)

    @cached_property
    def per_leaf(self) -> int:
        """k."""
        return self.made.structure.ports_per_server_per_leaf

    @cached_property
    def card_ports(self) -> int:
        """Ports of a card in one plane."""
        return divide(self.made.nic.ports_per_nic, self.planes, "planes share a card's ports evenly")

    @cached_property
    def rails(self) -> int:
        """r: leaves of a group in a plane."""
        ports = self.made.nic.per_server * self.card_ports
        return divide(ports, self.per_leaf, "leaves of a group take a server's ports evenly")

    @cached_property
    def leaves(self) -> int:
        """Leaves of one plane."""
        return self.groups * self.rails

    @cached_property
    def shared_cages(self) -> bool:
        """True if the cards share cages of the server."""
        built_in = [one for one in self.embedded.server.nics if one.role == self.made.role]
        return any(one.cages is not None for one in built_in)

    @cached_property
    def together(self) -> int:
        """Ports of a server that one wire may carry to a leaf: of one card (of any, where they share cages)."""
        if self.shared_cages:
            return self.per_leaf if self.planes == 1 else 1
        if self.per_leaf % self.card_ports == 0:
            return self.card_ports
        return self.per_leaf if self.card_ports % self.per_leaf == 0 else 1

    @cached_property
    def wanted(self) -> Fabric:
        """The case's entry of the same name."""
        for fabric in self.embedded.case.fabrics:
            if fabric.name == self.made.name:
                return fabric
        raise LookupError(f"the case has no fabric {self.made.name!r}")

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """Other endpoints on the leaves."""
        return self.wanted.attachments

    @property
    def uplinks(self) -> int:
        """u."""
        return self.made.tiers[0].up_ports

    @property
    def spines(self) -> int:
        """S: spines of a pod."""
        return self.made.structure.spines_per_pod

    @cached_property
    def pod_groups(self) -> int:
        """T: groups in a pod; all of them below three tiers."""
        return self.made.structure.groups_per_pod if len(self.made.tiers) > 2 else self.groups

    @cached_property
    def rail_pods(self) -> bool:
        """True if a pod has the leaves of one rail."""
        return len(self.made.tiers) > 2 and self.made.structure.pod_of == "rail"

    @cached_property
    def pods(self) -> int:
        """Pods of one plane."""
        return ceil_div(self.groups, self.pod_groups) * (self.rails if self.rail_pods else 1)

    @property
    def nic(self) -> Nic:
        """The card."""
        return self.embedded.part(self.made.nic.id, Nic)

    def pod_of_leaf(self, leaf: Ints) -> Ints:
        """Pod, from 0 in its plane, of leaves counted over all planes."""
        group, rail = leaf % self.leaves // self.rails, leaf % self.rails
        block = group // self.pod_groups
        return np.asarray(block * self.rails + rail if self.rail_pods else block)

    @property
    def cores_per_plane(self) -> int:
        """Cores of one plane."""
        structure = self.made.structure
        return structure.cores_per_group * (structure.spines_per_pod // structure.spines_per_core_group)


def padded(links: int, per_wire: int) -> int:
    """Slots of so many links of a pair when wires carry several."""
    return ceil_div(links, per_wire) * per_wire


def server_leaf(numbers: Numbers, per_wire: int) -> ServerJoints:
    """Every used port of every server to its group's leaves; sorted by server, card and port."""
    n, ports = numbers, numbers.made.nic.ports_per_nic
    server = np.repeat(np.arange(n.servers), n.made.nic.per_server * ports)
    card = np.tile(np.repeat(np.arange(n.made.nic.per_server), ports), n.servers)
    port = np.tile(np.arange(ports), n.servers * n.made.nic.per_server)
    plane, place = port // n.card_ports, card * n.card_ports + port % n.card_ports
    leaf = plane * n.leaves + server // n.group * n.rails + place // n.per_leaf
    each, within = padded(n.together, per_wire), place % n.per_leaf
    sets = server % n.group * (n.per_leaf // n.together) + within // n.together
    mine = card * ports + port if n.shared_cages else port
    a_slot = mine // n.together * each + mine % n.together
    return ServerJoints(Joints(server, a_slot, leaf, sets * each + within % n.together), card, port)


def leaf_spine(numbers: Numbers, per_wire: int) -> Joints:
    """Every uplink of every leaf; of u links to S spines some get one more, in rotation from leaf to leaf."""
    n = numbers
    base, extra = divmod(n.uplinks, n.spines)
    place = np.arange(n.pod_groups * (1 if n.rail_pods else n.rails))
    more = (np.arange(n.spines)[None, :] - place[:, None] * extra) % n.spines < extra
    counts = base + more
    slots = -(-counts // per_wire) * per_wire
    up_start, down_start = (np.cumsum(slots, axis=axis) - slots for axis in (1, 0))
    at, spine = (one.ravel() for one in np.indices(counts.shape))
    pair = np.repeat(np.arange(counts.size), counts.ravel())
    within = np.arange(len(pair)) - np.repeat(np.cumsum(counts.ravel()) - counts.ravel(), counts.ravel())
    up, down = up_start.ravel()[pair] + within, down_start.ravel()[pair] + within
    joints = []
    for plane in range(n.planes):
        for pod in range(n.pods):
            leaf = plane * n.leaves + _leaves_of_pod(n, pod)
            inside = at[pair] < len(leaf)
            a = leaf[at[pair][inside]]
            b = (plane * n.pods + pod) * n.spines + spine[pair][inside]
            joints.append(Joints(a, up[inside], b, down[inside]))
    return _sorted(joints)


def _leaves_of_pod(n: Numbers, pod: int) -> Ints:
    block, rail = divmod(pod, n.rails) if n.rail_pods else (pod, 0)
    first, last = block * n.pod_groups, min((block + 1) * n.pod_groups, n.groups)
    if n.rail_pods:
        return np.arange(first, last) * n.rails + rail
    return np.arange(first * n.rails, last * n.rails)


def spine_core(numbers: Numbers, per_wire: int) -> Joints:
    """Every uplink of every spine, to the cores of its group."""
    n, structure = numbers, numbers.made.structure
    spines_per_group, links = structure.spines_per_core_group, structure.links_per_core_pair
    each, uplinks = padded(links, per_wire), structure.cores_per_group * links
    spine = np.repeat(np.arange(n.planes * n.pods * n.spines), uplinks)
    up = np.tile(np.arange(uplinks), n.planes * n.pods * n.spines)
    plane, pod, index = spine // (n.pods * n.spines), spine // n.spines % n.pods, spine % n.spines
    core, within = up // links, up % links
    b = plane * n.cores_per_plane + index // spines_per_group * structure.cores_per_group + core
    b_slot = (pod * spines_per_group + index % spines_per_group) * each + within
    return _sorted([Joints(spine, core * each + within, b, b_slot)])


def _sorted(joints: list[Joints]) -> Joints:
    whole = Joints(*(np.concatenate(column) for column in zip(*joints, strict=True)))
    order = np.lexsort((whole.a_slot, whole.a))
    return Joints(*(column[order] for column in whole))


def attached_leaves(numbers: Numbers, ports: int) -> list[int]:
    """The leaf of every attachment port, dealt one a leaf and round, leaves with the fewest servers first."""
    n = numbers
    ragged = n.servers - (n.groups - 1) * n.group < n.group
    last = [plane * n.leaves + (n.groups - 1) * n.rails + rail for plane in range(n.planes) for rail in range(n.rails)]
    first = last if ragged else []
    rest = [leaf for leaf in range(n.planes * n.leaves) if leaf not in set(first)]
    order = first + rest
    return [order[place % len(order)] for place in range(ports)]
