"""A Clos recounted from its few free choices: its leaves and spines one by one, with the ports of attachments.

The design file is not read here: the choices go in, every count comes out. Links are counted at each device, as
``fabopt.network.clos_links`` deals them, and ports of attachments as ``fabopt.network.attached_ports`` does; what the
explicit wiring has is compared with it, and with what is demanded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from fabopt.network.attached_ports import dealt_over_leaves
from fabopt.network.clos_links import ClosNumbers, Ints, downlinks_of_spines
from fabopt.schema.attachment import HostPort
from fabopt.wiring.design_file import divide

# Far more leaves or spines than any fabric has; a damaged file may state any number.
_MOST_SWITCHES = 10**7


@dataclass(frozen=True)
class EqualLeaves:
    """``count`` leaves over all planes, each with ``ports`` of servers and ``attached[i]`` ports of attachment i.

    ``per_leaf``: ports of each of its servers; ``uplinks``: of the leaf; ``is_of_last``: of a last group unlike others.
    """

    count: int
    ports: int
    attached: tuple[int, ...]
    per_leaf: int
    uplinks: int
    is_of_last: bool


@dataclass(frozen=True, kw_only=True)
class ClosCounts(ClosNumbers):
    """The free choices of one fabric; one tier has no spines, two have no cores.

    ``adds``: ports of every attachment that each stage adds, empty if all are there at first. ``attached``: ports of
    every attachment that are dealt over all leaves; ``free``: switches of attachments on free ports; ``counted``:
    whether each counts in oversubscription, empty if all do. ``leaf_racks``: of every leaf, where ports of attachments
    are spread over racks; ``paired``: whether every server is on two leaves.
    """

    tiers: int
    attached: tuple[int, ...]
    adds: tuple[tuple[int, ...], ...] = ()
    free: tuple[tuple[HostPort, ...], ...] = ()
    counted: tuple[bool, ...] = ()
    leaf_racks: tuple[str, ...] = ()
    paired: bool = False

    @cached_property
    def leaf_ports(self) -> Ints:
        """Server ports of every leaf, plane by plane, shape (leaves,)."""
        return np.asarray(self._servers[-1] * np.where(self._of_last, self.own_k, self.k), dtype=np.int64)

    @cached_property
    def _servers(self) -> Ints:
        """Servers of every leaf at each stage, shape (stages, leaves)."""
        group = self.group_of_leaf(_numbered(self.planes * self.leaves))
        return np.array([self.servers_of_groups(group, servers) for servers in self.sizes or (self.servers,)])

    @cached_property
    def _of_last(self) -> list[bool]:
        of_last: list[bool] = self.is_of_last(_numbered(self.planes * self.leaves)).tolist()
        return of_last

    @cached_property
    def leaf_classes(self) -> tuple[EqualLeaves, ...]:
        """Leaves by their links."""
        on_free = [Counter(number for tier, number in places if tier == "leaf") for places in self.free]
        on_free += [Counter()] * (len(self.attached) - len(on_free))
        kinds: Counter[tuple[int, tuple[int, ...], bool]] = Counter()
        for number, ((ports, attached), of_last) in enumerate(zip(self.dealt_leaves, self._of_last, strict=True)):
            hosted = tuple(dealt + free[number] for dealt, free in zip(attached, on_free, strict=True))
            kinds[ports, hosted, of_last] += 1
        own = {False: (self.k, self.u), True: (self.own_k, self.own_u)}
        return tuple(
            EqualLeaves(count, ports, attached, *own[of_last], of_last)
            for (ports, attached, of_last), count in kinds.items()
        )

    @cached_property
    def dealt_leaves(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Server ports of every leaf, plane by plane, and the ports of every attachment dealt to it."""
        later, stages = self.adds + ((),) * (len(self.attached) - len(self.adds)), max(1, len(self.sizes))
        adds = [own[:stages] or (ports,) for own, ports in zip(later, self.attached, strict=True)]
        hosted = np.zeros((len(self.leaf_ports), len(adds)), dtype=np.int64)
        for port in dealt_over_leaves(self, adds, self.leaf_racks, self.paired):
            hosted[port.leaf, port.owner] += 1
        return tuple(zip(self.leaf_ports.tolist(), map(tuple, hosted.tolist()), strict=True))

    @property
    def dealt_ports(self) -> list[int]:
        """Ports of every leaf, plane by plane: of servers, and of attachments dealt over all leaves."""
        return [ports + sum(attached) for ports, attached in self.dealt_leaves]

    @cached_property
    def most_endpoints(self) -> int:
        """d: the most server and attachment ports on any leaf that count in its oversubscription.

        Leaves of a last group unlike the others have ``last_endpoints``.
        """
        return self.most_occupied(False, self._counts)

    @cached_property
    def last_endpoints(self) -> int:
        """d': the same for the leaves of a last group unlike the others; 0 where there is none."""
        return self.most_occupied(True, self._counts)

    def most_occupied(self, of_last: bool, counts: tuple[bool, ...] = ()) -> int:
        """Most ports of servers, and of attachments that count (empty: all), on leaves of the last group or of the
        others.
        """
        return max(
            (
                leaf.ports + sum(compress(leaf.attached, counts or (True,) * len(leaf.attached)))
                for leaf in self.leaf_classes
                if leaf.is_of_last == of_last
            ),
            default=0,
        )

    def most_dealt(self, of_last: bool) -> int:
        """The most of ``most_occupied`` without attachments on free ports."""
        return max(compress(self.dealt_ports, (own == of_last for own in self._of_last)), default=0)

    @property
    def _counts(self) -> tuple[bool, ...]:
        return self.counted or (True,) * len(self.attached)

    @cached_property
    def pod_ports(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Of every pod of a plane: (server ports of a leaf, leaves that have as many)."""
        pods: dict[int, Counter[int]] = {}
        leaf = _numbered(self.leaves)
        for pod, ports in zip(self.pod_of_leaf(leaf).tolist(), self.leaf_ports[: self.leaves].tolist(), strict=True):
            pods.setdefault(pod, Counter())[ports] += 1
        return tuple(tuple(sorted(of_pod.items())) for of_pod in pods.values())

    @property
    def links_per_pair(self) -> int:
        """m: the fewest links between a leaf and a spine of its pod; 0 for one tier."""
        return int(self.links_to_each(self.u).min()) if self.tiers > 1 else 0

    def links_to_most(self, uplinks: int, spines: int) -> int:
        """Links of a leaf with ``uplinks`` uplinks to the ``spines`` spines with most of them."""
        return int(np.sort(self.links_to_each(uplinks))[::-1][:spines].sum())

    @cached_property
    def spine_downlinks(self) -> Ints:
        """Down links of every spine, plane by plane and pod by pod, shape (spines,)."""
        _numbered(self.planes * self.pods * self.spines)
        return downlinks_of_spines(self)

    @property
    def most_spine_downlinks(self) -> int:
        """Down links of the busiest spine."""
        return int(self.spine_downlinks.max())

    @cached_property
    def most_spine_ports(self) -> int:
        """d_S: the most down links and attachment ports on any spine that count in its oversubscription."""
        most = self.spine_downlinks.copy()
        for places in compress(self.free, self._counts):
            np.add.at(most, [number for tier, number in places if tier == "spine" and 0 <= number < len(most)], 1)
        return int(most.max())

    @property
    def cores_per_group(self) -> int:
        """C = x / m2."""
        return divide(self.x, self.m2, "a spine's uplinks meet its cores evenly")

    @property
    def core_groups(self) -> int:
        """S / q: core groups of one plane."""
        return divide(self.spines, self.q, "core groups share a pod's spines evenly")

    def switches(self) -> list[int]:
        """Switches of each tier over all planes."""
        cores = self.cores_per_group * self.core_groups if self.tiers > 2 else 0
        return [self.planes * count for count in (self.leaves, self.pods * self.spines, cores)][: self.tiers]


def _numbered(switches: int) -> Ints:
    """Numbers of switches from 0, shape (switches,); raises ``ValueError`` for more than a fabric can have."""
    if switches > _MOST_SWITCHES:
        raise ValueError(f"{switches} switches of a tier, {_MOST_SWITCHES} are counted at the most")
    return np.arange(switches)
