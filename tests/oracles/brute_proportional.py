"""The least cost of a Clos whose leaves have links to their spines in proportion, by plain loops.

Everything has one price: NICs of one port, switches of equal ports, a cable a link. The last group may have leaves,
ports on a leaf and uplinks of its own; of three tiers pods are counted one by one. Nothing of fabopt is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class Switch(NamedTuple):
    """A switch by its ports and dollars."""

    ports: int
    usd: int


@dataclass(frozen=True)
class Parts:
    """Switches, and dollars of a NIC with its cable, of a cable to a spine, and of one to a core."""

    switches: tuple[Switch, ...]
    nic: int
    uplink: int
    to_core: int = 0


@dataclass(frozen=True)
class Asked:
    """Servers of so many ports, the most oversubscription, and what may be."""

    servers: int
    ports: int
    ratio: Fraction
    any_rails: bool = False
    any_last: bool = False
    tiers: int = 2

    @property
    def divisors(self) -> list[int]:
        return [k for k in range(1, self.ports + 1) if self.ports % k == 0]

    def uplinks(self, down: int) -> int:
        """Fewest uplinks for so many ports down."""
        return -(-down * self.ratio.denominator // self.ratio.numerator)


class Spines(NamedTuple):
    """Spines, and the links of a leaf to each of them."""

    switch: Switch
    count: int
    links: int


class Leaves(NamedTuple):
    """Leaves of one kind, of which a group has so many, their uplinks each."""

    switch: Switch
    count: int
    u: int
    rails: int = 1


def least_usd(parts: Parts, asked: Asked) -> int | None:
    """The least cost of any network; None if there is none."""
    least = None
    for g in range(1, asked.servers + 1):
        for full, per_server in _full(parts, asked, g):
            for spines in _stripes(parts, full.u):
                for last in _last(parts, asked, g, full, per_server, spines):
                    usd = _usd if asked.tiers == 2 else _usd_with_cores
                    cost = usd(parts, asked, full, last, spines)
                    if cost is not None and (least is None or cost < least):
                        least = cost
    return least


def _full(parts: Parts, asked: Asked, g: int) -> Iterator[tuple[Leaves, int]]:
    """Leaves of all groups but the last, and ports of a server on each."""
    groups = -(-asked.servers // g)
    for k in asked.divisors:
        if k == 1 or groups == 1 or asked.any_rails:
            for switch in parts.switches:
                for u in range(asked.uplinks(g * k), switch.ports - g * k + 1):
                    yield Leaves(switch, (groups - 1) * (asked.ports // k), u, asked.ports // k), k


def _last(parts: Parts, asked: Asked, g: int, full: Leaves, per_server: int, spines: Spines) -> Iterator[Leaves]:
    """Leaves of the last group: like the others, or with what is their own."""
    yield Leaves(full.switch, asked.ports // per_server, full.u)
    if not asked.any_last or not full.count:
        return
    servers = asked.servers - (-(-asked.servers // g) - 1) * g
    for k in asked.divisors:
        u = -(-asked.uplinks(servers * k) // spines.count) * spines.count
        for switch in parts.switches:
            if servers * k + u <= switch.ports:
                yield Leaves(switch, asked.ports // k, u)


def _stripes(parts: Parts, u: int) -> Iterator[Spines]:
    """Every way to deal the uplinks of a leaf to spines."""
    for switch in parts.switches:
        yield from (Spines(switch, count, u // count) for count in range(1, u + 1) if u % count == 0)


def _usd(parts: Parts, asked: Asked, full: Leaves, last: Leaves, spines: Spines) -> int | None:
    """What a network costs; None if it is one leaf, or some spine has too few ports."""
    if full.count + last.count < 2:
        return None
    if full.count * spines.links + last.count * last.u // spines.count > spines.switch.ports:
        return None
    switches = [(own.switch, own.count) for own in (full, last, spines)]
    uplinks = full.count * full.u + last.count * last.u
    return (
        asked.servers * asked.ports * parts.nic
        + sum(switch.usd * count for switch, count in switches)
        + uplinks * parts.uplink
    )


def _usd_with_cores(parts: Parts, asked: Asked, full: Leaves, last: Leaves, spine: Spines) -> int | None:
    """What three tiers cost at the least, over all pods and cores."""
    own = (
        asked.servers * asked.ports * parts.nic
        + sum(leaves.switch.usd * leaves.count + leaves.count * leaves.u * parts.uplink for leaves in (full, last))
    )  # fmt: skip
    least = None
    for down, pods in _pods(full, last, spine):
        for x in range(asked.uplinks(down), spine.switch.ports - down + 1):
            above = pods * spine.count * (spine.switch.usd + x * parts.to_core)
            cores = _cores_usd(parts, spine.count, pods, x)
            if cores is not None and (least is None or own + above + cores < least):
                least = own + above + cores
    return least


def _pods(full: Leaves, last: Leaves, spine: Spines) -> Iterator[tuple[int, int]]:
    """(Down links of the busiest spine, pods) for every way to put groups, or their leaves of one rail, into pods."""
    own, others = last.count * (last.u // spine.count), full.rails * spine.links
    groups = full.count // full.rails + 1
    for size in range(1, groups + 1):
        pods = [[others] * min(size, groups - first) for first in range(0, groups, size)]
        pods[-1][-1] = own
        if len(pods) > 1:
            yield max(map(sum, pods)), len(pods)
        if 1 < full.rails == last.count:
            yield max(sum(pod) for pod in pods) // full.rails, len(pods) * full.rails


def _cores_usd(parts: Parts, spines: int, pods: int, x: int) -> int | None:
    """What the cheapest cores cost."""
    least = None
    for core in parts.switches:
        for together in (one for one in range(1, x + 1) if x % one == 0):
            for indices in (one for one in range(1, spines + 1) if spines % one == 0):
                usd = x // together * (spines // indices) * core.usd
                if pods * indices * together <= core.ports and (least is None or usd < least):
                    least = usd
    return least
