"""The arithmetic of a Clos: its switches from a handful of numbers, the same for sizing, cabling and floors.

Every formula takes integers or integer arrays. Symbols are those of docs/formulation.md: N servers, R ports of a
server per plane, P planes, g servers and k ports of each on a leaf, u uplinks of a leaf, S spines, m links of a pair,
T groups in a pod, x uplinks of a spine, q spine indices of a core group, m2 links of a spine-core pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabopt.units import Number, ceil_of


@dataclass(frozen=True)
class ClosShape:
    """The numbers of a Clos (or of many, as arrays). Zero where a tier does not exist.

    ``pods`` are per plane; ``groups_per_pod`` is T; ``rail_pods``: a pod has the leaves of one rail only. ``sizes``:
    servers at each stage up to this one, whose leaves take the attachments that it adds; empty where there is one.
    ``by_rail``: the leaves of a rail have their extra links to the same spines, else these go round over all leaves.
    ``own_k``, ``own_u``: k and u of a last group that differs from the others, of which there is one at least; in
    arrays all candidates have such a group, or none (0).
    """

    servers: Number
    ports: int
    planes: int
    k: Number
    g: Number
    u: Number = 0
    spines: Number = 0
    groups_per_pod: Number = 0
    rail_pods: Number = False
    x: Number = 0
    q: Number = 0
    m2: Number = 0
    sizes: tuple[int, ...] = ()
    by_rail: bool = False
    own_k: Number = 0
    own_u: Number = 0

    @property
    def has_own_last(self) -> bool:
        """Whether the last group differs from the others."""
        return bool(self.own_k if isinstance(self.own_k, int) else np.any(self.own_k))

    @property
    def last_k(self) -> Number:
        """k': ports of a server on each leaf of the last group."""
        return self.own_k if self.has_own_last else self.k

    @property
    def last_u(self) -> Number:
        """u': uplinks of a leaf of the last group."""
        return self.own_u if self.has_own_last else self.u

    @property
    def last_rails(self) -> Number:
        """r': leaves of the last group in a plane."""
        return self.ports // self.last_k

    @cached_property
    def groups(self) -> Number:
        """G: server groups, which hold all servers. Rule ``groups_cover_servers``."""
        return ceil_of(self.servers, self.g)

    @property
    def last_group(self) -> Number:
        """Servers of the last group."""
        return self.servers - (self.groups - 1) * self.g

    @property
    def rails(self) -> Number:
        """r: leaves of a group in a plane."""
        return self.ports // self.k

    @cached_property
    def leaves(self) -> Number:
        """Leaves of a plane."""
        return (self.groups - 1) * self.rails + self.last_rails if self.has_own_last else self.groups * self.rails

    @cached_property
    def uplinks(self) -> Number:
        """Links from all leaves of a plane to spines."""
        if self.has_own_last:
            return (self.groups - 1) * self.rails * self.u + self.last_rails * self.own_u
        return self.leaves * self.u

    @cached_property
    def pods(self) -> Number:
        """n: pods of a plane, which hold all groups. Rule ``pods_cover_groups``."""
        per_rail = ceil_of(self.groups, self.groups_per_pod)
        return per_rail * (1 + self.rail_pods * (self.rails - 1))

    @property
    def last_pod_groups(self) -> Number:
        """Groups in the last pod (of each rail)."""
        return self.groups - (ceil_of(self.groups, self.groups_per_pod) - 1) * self.groups_per_pod

    @property
    def leaves_per_pod(self) -> Number:
        """Leaves of a full pod; of two tiers, all."""
        return np.minimum(self.groups_per_pod, self.groups - self.has_own_last) * self.leaves_of_a_group + (
            (self.groups_per_pod >= self.groups) * self.leaves_of_last_group
        )

    @property
    def leaves_of_last_group(self) -> Number:
        """Leaves of a differing last group in one pod; 0 without such a group."""
        return np.where(self.rail_pods, 1, self.last_rails) if self.has_own_last else 0

    @property
    def leaves_of_a_group(self) -> Number:
        """Leaves that a group has in one pod."""
        return 1 + (1 - self.rail_pods) * (self.rails - 1)

    @property
    def links_per_pair(self) -> Number:
        """m: fewest links between a leaf and a spine of its pod."""
        return self.u // self.spines

    @property
    def last_links_per_pair(self) -> Number:
        """m': fewest links between a leaf of the last group and a spine."""
        return self.last_u // self.spines

    @property
    def is_uneven(self) -> Number:
        """Whether a leaf has more links to some spines than to others."""
        return self.links_per_pair * self.spines != self.u

    def links_to_spines(self, count: int) -> Number:
        """Most links of a leaf to ``count`` spines."""
        fewest = self.links_per_pair
        return count * fewest + np.minimum(count, self.u - fewest * self.spines)

    @property
    def shared_links(self) -> Number:
        """Fewest links that two leaves of a pod have to the same spines: u where stripes are even."""
        links = self.links_per_pair * self.spines
        return np.where(links == self.u, self.u, links + np.maximum(0, 2 * (self.u - links) - self.spines))

    @cached_property
    def spine_down(self) -> Number:
        """Most down links of any spine to its pod's leaves. Rule ``spines_serve_pods``."""
        if self.has_own_last:
            full = np.minimum(self.groups_per_pod, self.groups - 1) * self.leaves_of_a_group * self.links_per_pair
            return np.maximum(full, self.last_spine_down)
        alike = self.groups_per_pod if self.by_rail else 1
        return alike * ceil_of(self.leaves_per_pod // alike * self.u, self.spines)

    @property
    def last_spine_down(self) -> Number:
        """Down links of a spine in the last pod (of each rail), with a differing last group."""
        others = (self.last_pod_groups - 1) * self.leaves_of_a_group * self.links_per_pair
        return others + self.leaves_of_last_group * self.last_links_per_pair

    @property
    def cores_per_group(self) -> Number:
        """Cores of a group (C)."""
        return self.x // self.m2

    @property
    def cores(self) -> Number:
        """Cores of a plane."""
        return self.cores_per_group * (self.spines // self.q) if np.any(self.q) else 0

    @property
    def core_down(self) -> Number:
        """Down links of a core."""
        return self.pods * self.q * self.m2
