"""Addresses of links: two for a link, or a subnet for a leaf. Given in the order of stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import NamedTuple

from fabopt.errors import Fault, fault
from fabopt.operate.model import PoolUse
from fabopt.schema.operate import Operate, span
from fabopt.units import some

# Of a subnet of a leaf: its own address, the leaf's, and the last one.
_KEPT = 3
_FIRST_HOST = 2
PAIR = 31


class RoutedLink(NamedTuple):
    """A link with addresses: its row, the rows of its ends, whether its near end is a host, the most ports of its far
    end. ``network``: a leaf with hosts of several networks has a subnet for each.
    """

    row: int
    a: int
    b: int
    of_host: bool
    ports: int
    network: str


class LinkAddresses(NamedTuple):
    """A link's subnet, as in ``10.0.0.0/31``, and the address of each end with its prefix length."""

    subnet: str
    a: str
    b: str


NONE = LinkAddresses("", "", "")
# A network, and the row of a leaf.
LeafOfNetwork = tuple[str, int]


@dataclass(frozen=True)
class Addressed:
    """Addresses by row of the link, subnets of leaves, and use of the pools."""

    links: Mapping[int, LinkAddresses]
    subnets: Mapping[LeafOfNetwork, str]
    pools: Sequence[PoolUse]


def link_addresses(case: str, operate: Operate, links: Iterable[RoutedLink], faults: list[Fault]) -> Addressed:
    """Assign addresses to links, which come in the order of stages.

    Pools that are too small are added to ``faults``.
    """
    of_hosts: list[RoutedLink] = []
    of_switches: list[RoutedLink] = []
    for link in links:
        (of_hosts if link.of_host else of_switches).append(link)
    given: dict[int, LinkAddresses] = {}
    subnets: dict[LeafOfNetwork, str] = {}
    pools: list[PoolUse] = []
    if operate.links != "unnumbered":
        given |= _pairs(case, "links", operate.links, of_switches, faults, pools)
    if operate.host_addresses == "routed":
        given |= _pairs(case, "hosts", operate.hosts, of_hosts, faults, pools)
    else:
        given |= _in_subnets(case, operate.hosts, of_hosts, subnets, faults, pools)
    return Addressed(given, subnets, pools)


def _pairs(
    case: str, key: str, pool: str, links: Sequence[RoutedLink], faults: list[Fault], pools: list[PoolUse]
) -> dict[int, LinkAddresses]:
    """Two addresses for each link: the even one for the end farther from the servers."""
    pairs = Addresses(key, pool, PAIR)
    faults += pairs.lack(case, len(links), "link")
    pools.append(PoolUse(key, pool, len(links), pairs.size))
    return {
        link.row: LinkAddresses(f"{dotted(start)}/{PAIR}", f"{dotted(start + 1)}/{PAIR}", f"{dotted(start)}/{PAIR}")
        for link, start in zip(links, pairs.starts(len(links)), strict=True)
    }


def _in_subnets(
    case: str, pool: str, links: Sequence[RoutedLink], subnets: dict[LeafOfNetwork, str], faults: list[Fault],
    pools: list[PoolUse],
) -> dict[int, LinkAddresses]:  # fmt: skip
    """A subnet for each leaf, large enough for its ports: hosts in the order of their links."""
    rings = sorted({link.network for link in links if link.ports == 1})
    if rings:
        problem = f"a subnet for each leaf needs leaves; the servers of {', '.join(rings)} are joined to each other"
        faults.append(fault(case, "operate.host_addresses", problem, "rails", allowed="routed"))
    leaves = list(dict.fromkeys((link.network, link.b) for link in links))
    prefix = min((_prefix(link.ports) for link in links), default=PAIR)
    blocks = Addresses("hosts", pool, prefix)
    faults += blocks.lack(case, len(leaves), "leaf subnet")
    pools.append(PoolUse("hosts", pool, len(leaves), blocks.size))
    start = dict(zip(leaves, blocks.starts(len(leaves)), strict=True))
    subnets |= {leaf: f"{dotted(first)}/{prefix}" for leaf, first in start.items()}
    given, joined = {}, Counter[LeafOfNetwork]()
    for link in links:
        leaf = link.network, link.b
        own = dotted(start[leaf] + _FIRST_HOST + joined[leaf])
        given[link.row] = LinkAddresses(subnets[leaf], f"{own}/{prefix}", f"{dotted(start[leaf] + 1)}/{prefix}")
        joined[leaf] += 1
    return given


def _prefix(ports: int) -> int:
    """Prefix length of a subnet with room for ``ports`` ports."""
    return BITS - (ports + _KEPT - 1).bit_length()


# -- pools of addresses and numbers, assigned by index, so that later stages never move earlier ones ------------------


BITS = 32


def dotted(number: int) -> str:
    """An address as text."""
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@dataclass(frozen=True)
class Addresses:
    """A pool that is dealt out in subnets of ``prefix`` bits, the ``skipped`` first ones left out."""

    key: str
    pool: str
    prefix: int
    skipped: int = 0

    @property
    def _network(self) -> IPv4Network:
        return IPv4Network(self.pool)

    @property
    def size(self) -> int:
        """Count of subnets in the pool."""
        kept_last = 1 if self.prefix == BITS else 0
        return max(0, (1 << max(0, self.prefix - self._network.prefixlen)) * (self.prefix >= self._network.prefixlen)
                   - self.skipped - kept_last)  # fmt: skip

    def starts(self, number: int) -> list[int]:
        """The first address of each of the first ``number`` subnets, as integers."""
        first, width = int(self._network.network_address), 1 << (BITS - self.prefix)
        return [first + (self.skipped + index) * width for index in range(number)]

    def lack(self, case: str, needed: int, what: str) -> list[Fault]:
        """The fault where the pool has fewer than ``needed`` subnets: one, or none."""
        if needed <= self.size:
            return []
        allowed = f"a pool with {needed:,} of /{self.prefix}"
        problem = f"too small: it has {some(self.size, 'place')} for {some(needed, what)}"
        return [fault(case, f"operate.{self.key}", problem, self.pool, allowed=allowed)]


@dataclass(frozen=True)
class NumberRange:
    """A pool of numbers as ``FIRST-LAST``."""

    key: str
    pool: str

    @property
    def first(self) -> int:
        """The first number."""
        return span(self.pool)[0]

    @property
    def size(self) -> int:
        """Count of numbers in the pool."""
        first, last = span(self.pool)
        return last - first + 1

    def lack(self, case: str, needed: int, what: str) -> list[Fault]:
        """The fault where the pool has fewer than ``needed`` numbers: one, or none."""
        if needed <= self.size:
            return []
        problem = f"too small: it has {some(self.size, 'number')} for {some(needed, what)}"
        return [fault(case, f"operate.{self.key}", problem, self.pool, allowed=f"a range of {needed:,}")]
