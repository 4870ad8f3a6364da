"""The arithmetic of a Clos: its switches from a handful of numbers, the same for sizing, cabling and floors.

Every formula takes integers or integer arrays. Symbols are those of docs/formulation.md: N servers, R ports of a
server per plane, P planes, g servers and k ports of each on a leaf, u uplinks of a leaf, S spines, m links of a pair,
T groups in a pod, x uplinks of a spine, q spine indices of a core group, m2 links of a spine-core pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabopt.units import Number

# One Clos, or many; in one shape of the search numbers are of both kinds, which ``Any`` lets through.
N = TypeVar("N", int, NDArray[np.int64])
NONE: Any = 0
# The lesser, and the greater, of two numbers or of the rows of arrays: NumPy states no type where one is given none.
lesser: Callable[[Number, Number], Number] = np.minimum
greater: Callable[[Number, Number], Number] = np.maximum


@dataclass(frozen=True)
class ClosShape(Generic[N]):
    """The numbers of a Clos (or of many, as arrays). Zero where a tier does not exist.

    ``pods`` are per plane; ``groups_per_pod`` is T; ``rail_pods``: a pod has the leaves of one rail only. ``sizes``:
    servers at each stage up to this one, whose leaves take the attachments that it adds; empty where there is one.
    ``by_rail``: the leaves of a rail have their extra links to the same spines, else these go round over all leaves.
    ``own_k``, ``own_u``: k and u of a last group that differs from the others, of which there is one at least; in
    arrays all candidates have such a group, or none (0). ``own_end``: servers up to its end where it is the last one of
    what is in service, and other groups come after it; 0: it is the last of all.
    """

    servers: N
    ports: int
    planes: int
    k: N
    g: N
    u: N = NONE
    spines: N = NONE
    groups_per_pod: N = NONE
    rail_pods: N = NONE
    x: N = NONE
    q: N = NONE
    m2: N = NONE
    sizes: tuple[int, ...] = ()
    by_rail: bool = False
    own_k: N = NONE
    own_u: N = NONE
    own_end: int = 0

    @property
    def has_own_last(self) -> bool:
        """Whether the last group differs from the others."""
        return bool(self.own_k if isinstance(self.own_k, int) else np.any(self.own_k))

    @property
    def last_k(self) -> N:
        """k': ports of a server on each leaf of the last group."""
        return self.own_k if self.has_own_last else self.k

    @property
    def last_u(self) -> N:
        """u': uplinks of a leaf of the last group."""
        return self.own_u if self.has_own_last else self.u

    @property
    def last_rails(self) -> N:
        """r': leaves of the last group in a plane."""
        return self.ports // self.last_k

    @cached_property
    def groups(self) -> N:
        """G: server groups, which hold all servers. Rule ``groups_cover_servers``."""
        before = -(-self.own_end // self.g) if self.own_end else 0
        return before - (self.own_end - self.servers) // self.g

    @property
    def before_own(self) -> N:
        """Groups before a differing one."""
        return -(-self.own_end // self.g) - 1 if self.own_end else self.groups - 1

    @property
    def last_group(self) -> N:
        """Servers of the last group, or of a differing one that others come after."""
        there = _least(self.servers * 0 + self.own_end, self.servers) if self.own_end else self.servers
        return there - self.before_own * self.g

    @property
    def rest_group(self) -> N:
        """Servers of the last group where it comes after a differing one; else 0."""
        after = self.groups - self.before_own - 1
        return (self.servers - self.own_end - (after - 1) * self.g) * (after > 0)

    @property
    def rails(self) -> N:
        """r: leaves of a group in a plane."""
        return self.ports // self.k

    @cached_property
    def leaves(self) -> N:
        """Leaves of a plane."""
        return (self.groups - 1) * self.rails + self.last_rails if self.has_own_last else self.groups * self.rails

    @cached_property
    def uplinks(self) -> N:
        """Links from all leaves of a plane to spines."""
        if self.has_own_last:
            return (self.groups - 1) * self.rails * self.u + self.last_rails * self.own_u
        return self.leaves * self.u

    @cached_property
    def pods(self) -> N:
        """n: pods of a plane, which hold all groups. Rule ``pods_cover_groups``."""
        return self.pods_per_rail * (1 + self.rail_pods * (self.rails - 1))

    @property
    def pods_per_rail(self) -> N:
        """Pods of a plane that hold all groups once."""
        return -(-self.groups // self.groups_per_pod)

    @property
    def last_pod_groups(self) -> N:
        """Groups in the last pod (of each rail)."""
        return self.groups - (self.pods_per_rail - 1) * self.groups_per_pod

    @property
    def leaves_per_pod(self) -> N:
        """Leaves of a full pod; of two tiers, all."""
        full = _least(self.groups_per_pod, self.groups - self.has_own_last) * self.leaves_of_a_group
        return full + (self.groups_per_pod >= self.groups) * self.leaves_of_last_group

    @property
    def leaves_of_last_group(self) -> N:
        """Leaves of a differing last group in one pod; 0 without such a group."""
        return (1 + (1 - self.rail_pods) * (self.last_rails - 1)) * self.has_own_last

    @property
    def leaves_of_a_group(self) -> N:
        """Leaves that a group has in one pod."""
        return 1 + (1 - self.rail_pods) * (self.rails - 1)

    @property
    def links_per_pair(self) -> N:
        """m: fewest links between a leaf and a spine of its pod."""
        return self.u // self.spines

    @property
    def last_links_per_pair(self) -> N:
        """m': fewest links between a leaf of the last group and a spine."""
        return self.last_u // self.spines

    @property
    def is_uneven(self) -> Any:
        """Whether a leaf has more links to some spines than to others."""
        return self.links_per_pair * self.spines != self.u

    def links_to_spines(self, count: int) -> N:
        """Most links of a leaf to ``count`` spines."""
        fewest = self.links_per_pair
        return count * fewest + _least(fewest * 0 + count, self.u - fewest * self.spines)

    @property
    def shared_links(self) -> N:
        """Fewest links that two leaves of a pod have to the same spines: u where stripes are even."""
        links = self.links_per_pair * self.spines
        met = 2 * (self.u - links) - self.spines
        return links + met * (met > 0)

    @cached_property
    def spine_down(self) -> N:
        """Most down links of any spine to its pod's leaves. Rule ``spines_serve_pods``."""
        if self.has_own_last:
            full = _least(self.groups_per_pod, self.groups - 1) * self.leaves_of_a_group * self.links_per_pair
            return -_least(-full, -self.last_spine_down)
        alike = self.groups_per_pod if self.by_rail else self.groups_per_pod * 0 + 1
        return -(-(self.leaves_per_pod // alike * self.u) // self.spines) * alike

    @property
    def last_spine_down(self) -> N:
        """Down links of a spine in the last pod (of each rail), with a differing last group."""
        others = (self.last_pod_groups - 1) * self.leaves_of_a_group * self.links_per_pair
        return others + self.leaves_of_last_group * self.last_links_per_pair

    @property
    def cores_per_group(self) -> N:
        """Cores of a group (C)."""
        return self.x // self.m2

    @property
    def cores(self) -> N:
        """Cores of a plane."""
        return self.cores_per_group * (self.spines // self.q) if np.any(self.q) else self.q

    @property
    def core_down(self) -> N:
        """Down links of a core."""
        return self.pods * self.q * self.m2


def _least(number: N, other: N) -> N:
    """The lesser number, or the lesser ones of arrays."""
    both = isinstance(number, int) and isinstance(other, int)
    lesser: N = min(number, other) if both else np.minimum(number, other)
    return lesser
