"""Links of a Clos, with their slots at both devices: arithmetic on arrays, one row a link.

Numbering is such that a cluster that grows by whole groups keeps every cable where it is: groups, leaves, pods and
spines are counted in the order in which they are added, and the port of a link depends on the place of its device in
its group or pod only. Parallel links are next to each other; leaf j of a group is its j-th rail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.clos_shape import ClosShape, N
from fabopt.schema.resilience import CABLES_OF_PEER_LINK

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
NO_GROUP = -1


class TierLinks(NamedTuple):
    """Links of one kind, in arrays of shape (links,).

    ``a``, ``b``: number of the device in its role, from 0. Slots count its ports on that side from 0; where cables
    carry several links of a pair, every pair starts at a multiple of that.
    """

    a: Ints
    a_slot: Ints
    b: Ints
    b_slot: Ints


class ServerLinks(NamedTuple):
    """Links of servers, in arrays of shape (links,).

    ``nic`` and ``port`` (of the NIC) count from 0; ``a_slot`` of the links counts within the NIC, or within the server
    where its NICs share cages.
    """

    links: TierLinks
    nic: Ints
    port: Ints


@dataclass(frozen=True, kw_only=True)
class ClosNumbers(ClosShape[int]):
    """The numbers of a Clos, and how its servers' ports are dealt to planes and leaves; all are whole numbers.

    ``groups_per_pod`` is that of all groups below three tiers. ``nics`` of a server, ``ports_per_nic`` over all planes.
    ``shared_cages``: a server's NICs share its cages. ``apart``: each of the planes is of one NIC (its rail) only; NIC
    j of c has its first ports in plane j, its next ones in plane c + j. ``dual``: the first ports of all NICs in a
    plane come before the second ones, so that no leaf has both of one NIC. ``to_spines``: links of a leaf with u
    uplinks to each spine where a file of 0.2 has spines of two types, others having theirs in proportion.

    Raises ``ValueError`` where planes and leaves do not share a server's ports evenly.
    """

    nics: int
    ports_per_nic: int
    shared_cages: bool
    apart: bool = False
    dual: bool = False
    to_spines: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Divide a server's ports."""
        if self.apart:
            _require_even(self.planes, self.nics, "rails have planes of their own")
        _require_even(self.ports_per_nic, self.nic_planes, "planes share a NIC's ports evenly")
        _require_even(self.ports, self.k, "leaves of a group take a server's ports evenly")
        _require_even(self.ports, self.own_k or self.ports, "leaves of the last group take a server's ports evenly")

    @property
    def nic_planes(self) -> int:
        """Planes that one NIC has ports in."""
        return self.planes // self.nics if self.apart else self.planes

    @property
    def plane_ports(self) -> int:
        """Ports of a NIC in each plane that it has ports in."""
        return self.ports_per_nic // self.nic_planes

    @property
    def together(self) -> int:
        """Ports of a server that one cable may carry to a leaf: of one NIC (of any, where they share cages)."""
        return self._together(self.k)

    def _together(self, k: int) -> int:
        """Ports of a server that one cable may carry to a leaf with ``k`` ports of the server."""
        if self.dual:
            return 1
        if self.shared_cages:
            return k if self.nic_planes == 1 else 1
        if k % self.plane_ports == 0:
            return self.plane_ports
        return k if self.plane_ports % k == 0 else 1

    def ports_of_servers(self, server: Ints) -> tuple[Ints, Ints]:
        """k and ``together`` of servers, of shape (servers asked,)."""
        last = (self.group_of_server(server) == self.before_own) & self.has_own_last
        together = self.together, self._together(self.last_k)
        return np.where(last, self.own_k, self.k), np.where(last, together[1], together[0])

    def group_of_server(self, server: Ints) -> Ints:
        """Group, from 0, of servers; both arrays have shape (servers asked,)."""
        group = server // self.g
        if not self.own_end:
            return group
        later = self.before_own + 1 + (server - self.own_end) // self.g
        return np.where(server < self.own_end, group, later)

    def first_servers(self, group: Ints) -> Ints:
        """The first server of groups; both arrays have shape (groups asked,)."""
        later = (group > self.before_own) & bool(self.own_end)
        return np.where(later, self.own_end + (group - self.before_own - 1) * self.g, group * self.g)

    def places_in_groups(self, server: Ints) -> Ints:
        """Place of servers in their groups, from 0; both arrays have shape (servers asked,)."""
        return np.asarray(server - self.first_servers(self.group_of_server(server)))

    def servers_of_groups(self, group: Ints, servers: int) -> Ints:
        """Servers of groups when there are ``servers`` in all; both arrays have shape (groups asked,)."""
        most = np.where((group == self.before_own) & bool(self.own_end), self.last_group, self.g)
        return np.clip(servers - self.first_servers(group), 0, most)

    def first_leaves(self, group: Ints) -> Ints:
        """The first leaf of groups in a plane; both arrays have shape (groups asked,)."""
        return np.asarray(group * self.rails + (group > self.before_own) * (self.last_rails - self.rails))

    def group_of_leaf(self, leaf: Ints) -> Ints:
        """Group, from 0 in its plane, of leaves that count over all planes; both arrays have shape (leaves asked,)."""
        within, own = leaf % self.leaves, self.before_own
        if not self.own_end:
            return np.asarray(np.minimum(within // self.rails, own))
        later = own + 1 + (within - own * self.rails - self.last_rails) // self.rails
        return np.where(within // self.rails < own, within // self.rails, np.maximum(own, later))

    def rail_of_leaf(self, leaf: Ints) -> Ints:
        """Rail, from 0, of leaves that count over all planes; both arrays have shape (leaves asked,)."""
        return np.asarray(leaf % self.leaves - self.first_leaves(self.group_of_leaf(leaf)))

    def uplinks_of_leaf(self, leaf: Ints) -> Ints:
        """u of leaves that count over all planes; both arrays have shape (leaves asked,)."""
        return np.asarray(np.where(self.is_of_last(leaf), self.own_u, self.u))

    def is_of_last(self, leaf: Ints) -> Mask:
        """Whether leaves, counting over all planes, are of a differing last group; both of shape (leaves asked,)."""
        return np.asarray(self.has_own_last & (self.group_of_leaf(leaf) == self.before_own))

    def pod_of_leaf(self, leaf: Ints) -> Ints:
        """Pod, from 0 in its plane, of leaves that count over all planes; both arrays have shape (leaves asked,)."""
        group, rail = self.group_of_leaf(leaf), self.rail_of_leaf(leaf)
        block = group // self.groups_per_pod
        return np.asarray(block * self.rails + rail if self.rail_pods else block)

    def links_to_each(self, uplinks: int) -> Ints:
        """Links to every spine of its pod of the pod's first leaf, which has ``uplinks`` uplinks; shape (spines,)."""
        return np.asarray(_links_of_pairs(self, np.array([uplinks]))[0])

    def pods_of(self, role: str, number: Ints) -> Ints:
        """Pod, from 0, of switches of a plane by their numbers; both arrays have shape (switches asked,).

        Cores, and switches below three tiers, have ``NO_GROUP``.
        """
        if not self.q or role == "core":
            return np.full(len(number), NO_GROUP)
        return self.pod_of_leaf(number) if role == "leaf" else number // self.spines


def _require_even(number: int, divisor: int, rule: str) -> None:
    if divisor < 1 or number < 1 or number % divisor:
        raise ValueError(f"{rule}: {divisor} does not divide {number}")


def padded(links: N, per_cable: int) -> N:
    """Slots of ``links`` links of a pair when a cable carries ``per_cable`` of them."""
    return -(-links // per_cable) * per_cable


def server_leaf(n: ClosNumbers, per_cable: int) -> ServerLinks:
    """Every used port of every server to its group's leaves; sorted by server, NIC and port."""
    server = np.repeat(np.arange(n.servers), n.nics * n.ports_per_nic)
    nic = np.tile(np.repeat(np.arange(n.nics), n.ports_per_nic), n.servers)
    port = np.tile(np.arange(n.ports_per_nic), n.servers * n.nics)
    plane, place = port // n.plane_ports, port % n.plane_ports
    if n.apart:
        plane = plane * n.nics + nic
    else:
        place = place * n.nics + nic if n.dual else nic * n.plane_ports + place
    k, together = n.ports_of_servers(server)
    leaf = plane * n.leaves + n.first_leaves(n.group_of_server(server)) + place // k
    slots, within = padded(together, per_cable), place % k
    sets = n.places_in_groups(server) * (k // together) + within // together
    of_holder = nic * n.ports_per_nic + port if n.shared_cages else port
    a_slot = of_holder // together * slots + of_holder % together
    return ServerLinks(TierLinks(server, a_slot, leaf, sets * slots + within % together), nic, port)


def leaf_leaf(n: ClosNumbers, lanes: int) -> TierLinks:
    """The links between the two leaves of each pair in a group; ``lanes``: ports of each link's cage."""
    leaf = np.arange(n.planes * n.leaves)
    first = np.repeat(leaf[n.rail_of_leaf(leaf) % 2 == 0], CABLES_OF_PEER_LINK)
    slot = np.tile(np.arange(CABLES_OF_PEER_LINK) * lanes, len(first) // CABLES_OF_PEER_LINK)
    return TierLinks(first, slot, first + 1, slot)


def leaf_spine(n: ClosNumbers, per_cable: int, crosses: int = 1) -> TierLinks:
    """Every uplink of every leaf; where u links do not divide over S spines, some spines get one more, in rotation from
    leaf to leaf.

    Where stripes are by rail, every group begins anew. ``crosses``: leaves that a shuffle joins, whose links to a spine
    are side by side there, one of each (``_crossed``).
    """
    kinds: dict[bytes, TierLinks] = {}
    links = []
    for plane in range(n.planes):
        for pod in range(n.pods):
            leaf = _leaves_of_pod(n, pod)
            uplinks, is_last = n.uplinks_of_leaf(leaf), n.is_of_last(leaf)
            key = uplinks.tobytes() + is_last.tobytes()
            if key not in kinds:
                kinds[key] = _links_in_pod(_links_of_pairs(n, uplinks), per_cable)
                if crosses > 1:
                    kinds[key] = _crossed(kinds[key], uplinks // n.spines, is_last, crosses)
            below, up, spine, down = kinds[key]
            above = (plane * n.pods + pod) * n.spines
            links.append(TierLinks(plane * n.leaves + leaf[below], up, above + spine, down))
    return _sorted(links)


def _links_in_pod(counts: Ints, per_cable: int) -> TierLinks:
    """Links of the leaves of a pod to its spines, both by their places in the pod; ``counts``: shape (leaves,
    spines).
    """
    slots = -(-counts // per_cable) * per_cable
    up_start, down_start = (np.cumsum(slots, axis=axis) - slots for axis in (1, 0))
    below, spine = (axis.ravel() for axis in np.indices(counts.shape))
    pair = np.repeat(np.arange(counts.size), counts.ravel())
    within = np.arange(len(pair)) - np.repeat(np.cumsum(counts.ravel()) - counts.ravel(), counts.ravel())
    return TierLinks(below[pair], up_start.ravel()[pair] + within, spine[pair], down_start.ravel()[pair] + within)


def _crossed(links: TierLinks, to_spine: Ints, is_last: Mask, size: int) -> TierLinks:
    """The links of a pod where shuffles make them: on every spine ``size`` leaves have connectors of their own, on
    which a leaf's place among them is its port; leaves of a differing last group have others.

    ``to_spine``: links of a leaf to every spine, ``is_last``: whether it is of that group; both of shape (leaves,).
    """
    leaf, first, own = np.arange(len(to_spine)), int(np.argmax(is_last)), int(is_last.sum())
    place = np.where(is_last, leaf - first, np.where(leaf < first + own, leaf, leaf - own)) % size
    begins = np.where(place == 0, to_spine, 0)
    connector = (np.cumsum(begins) - begins)[leaf - place]
    within = links.a_slot % to_spine[links.a]
    return links._replace(b_slot=(connector[links.a] + within) * size + place[links.a])


def shuffles(near: Ints, far: Ints, lane: Ints) -> Ints:
    """Number of the shuffle of every link, from 0 in the order of first links: that of its near connector's first port.

    ``near``, ``far``: codes of the connectors at both ends; ``lane``: port within the near one. All shape (links,).
    """
    order = np.lexsort((lane, near))
    _, first, place = np.unique(near[order], return_index=True, return_inverse=True)
    by_far = far[order][first][place.ravel()][np.argsort(order)]
    _, first, code = np.unique(by_far, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code.ravel()])


def _links_of_pairs(n: ClosNumbers, uplinks: Ints) -> Ints:
    """Links of the leaves of a pod to every spine, shape (leaves, spines); ``uplinks``: of each, shape (leaves,).

    Raises ``ValueError`` where there is no spine.
    """
    if n.spines < 1:
        raise ValueError(f"uplinks lead to {n.spines} spines")
    place, uplinks, index = np.arange(len(uplinks))[:, None], uplinks[:, None], np.arange(n.spines)
    if n.to_spines:
        return np.asarray(np.array(n.to_spines) * uplinks // n.u)
    base, extra = np.divmod(uplinks, n.spines)
    if n.by_rail:
        place = place % n.leaves_of_a_group
    return np.asarray(base + ((index - place * extra) % n.spines < extra))


def _leaves_of_pod(n: ClosNumbers, pod: int) -> Ints:
    block, rail = divmod(pod, n.rails) if n.rail_pods else (pod, 0)
    first, last = block * n.groups_per_pod, min((block + 1) * n.groups_per_pod, n.groups)
    if n.rail_pods:
        return np.asarray(np.arange(first, last) * n.rails + rail)
    begin, end = n.first_leaves(np.array([first, last])).tolist()
    return np.arange(begin, n.leaves if last == n.groups else end)


def downlinks_of_spines(n: ClosNumbers) -> Ints:
    """Links of every spine to leaves, plane by plane and pod by pod, shape (spines,)."""
    if n.to_spines or n.has_own_last:
        pods = (n.uplinks_of_leaf(_leaves_of_pod(n, pod)) for pod in range(n.pods))
        return np.tile(np.concatenate([_links_of_pairs(n, pod).sum(axis=0) for pod in pods]), n.planes)
    base, extra = divmod(n.u, n.spines)
    index = np.arange(n.spines)
    links = []
    for pod in range(n.pods):
        leaves = len(_leaves_of_pod(n, pod))
        alike = leaves // n.leaves_of_a_group if n.by_rail else 1
        # the extra links of one leaf after the other go round the spines
        rounds, rest = divmod(leaves // alike * extra, n.spines)
        links.append(leaves * base + alike * (rounds + (index < rest)))
    return np.tile(np.concatenate(links), n.planes)


def spine_core(n: ClosNumbers, per_cable: int, crosses: int = 1) -> TierLinks:
    """Every uplink of every spine, to the cores of its group; ``crosses``: as of ``leaf_spine``, of spines."""
    slots, uplinks = padded(n.m2, per_cable), n.cores_per_group * n.m2
    spine = np.repeat(np.arange(n.planes * n.pods * n.spines), uplinks)
    up = np.tile(np.arange(uplinks), n.planes * n.pods * n.spines)
    plane, pod, index = spine // (n.pods * n.spines), spine // n.spines % n.pods, spine % n.spines
    core, within = up // n.m2, up % n.m2
    b = plane * n.cores + index // n.q * n.cores_per_group + core
    block, of_block = np.divmod(pod * n.q + index % n.q, crosses)
    b_slot = (block * slots + within) * crosses + of_block
    return _sorted([TierLinks(spine, core * slots + within, b, b_slot)])


def _sorted(links: list[TierLinks]) -> TierLinks:
    whole = TierLinks(*(np.concatenate(column) for column in zip(*links, strict=True)))
    order = np.lexsort((whole.a_slot, whole.a))
    return TierLinks(*(column[order] for column in whole))
