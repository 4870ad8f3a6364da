"""Addresses of links: two for a link, or a subnet for a leaf. Given in the order of stages."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple, TypeVar

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
class Live:
    """What is in service has: addresses by row of the link, subnets of leaves; and all that were given.

    ``links``, ``subnets``: of what stays; ``given``: subnets of links and leaves, of what is taken out too.
    """

    links: Mapping[int, LinkAddresses] = field(default_factory=dict)
    subnets: Mapping[LeafOfNetwork, str] = field(default_factory=dict)
    given: Collection[str] = ()

    def starts(self, pool: str) -> set[int]:
        """The first address of each subnet that was given of a pool."""
        network = IPv4Network(pool)
        return {first_of(subnet) for subnet in self.given if IPv4Network(subnet).overlaps(network)}


@dataclass(frozen=True)
class Addressed:
    """Addresses by row of the link, subnets of leaves, and use of the pools."""

    links: Mapping[int, LinkAddresses]
    subnets: Mapping[LeafOfNetwork, str]
    pools: Sequence[PoolUse]


def link_addresses(
    case: str, operate: Operate, links: Iterable[RoutedLink], live: Live, faults: list[Fault]
) -> Addressed:
    """Assign addresses to links, which come in the order of stages; those in service keep theirs.

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
        given |= _pairs(case, "links", operate.links, of_switches, live, faults, pools)
    if operate.host_addresses == "routed":
        given |= _pairs(case, "hosts", operate.hosts, of_hosts, live, faults, pools)
    else:
        given |= _in_subnets(case, operate.hosts, of_hosts, live, subnets, faults, pools)
    return Addressed(given, subnets, pools)


def _pairs(
    case: str, key: str, pool: str, links: Sequence[RoutedLink], live: Live, faults: list[Fault], pools: list[PoolUse]
) -> dict[int, LinkAddresses]:
    """Two addresses for each link: the even one for the end farther from the servers."""
    pairs = Addresses(key, pool, PAIR)
    there = {row: first_of(own.subnet) for row, own in live.links.items()}
    start, used = dealt(pairs, [link.row for link in links], there, live.starts(pool))
    faults += pairs.lack(case, used, "link")
    pools.append(PoolUse(key, pool, used, pairs.size))
    return {
        row: LinkAddresses(f"{dotted(first)}/{PAIR}", f"{dotted(first + 1)}/{PAIR}", f"{dotted(first)}/{PAIR}")
        for row, first in start.items()
    }


def _in_subnets(
    case: str, pool: str, links: Sequence[RoutedLink], live: Live, subnets: dict[LeafOfNetwork, str],
    faults: list[Fault], pools: list[PoolUse],
) -> dict[int, LinkAddresses]:  # fmt: skip
    """A subnet for each leaf, large enough for its ports: hosts in the order of their links."""
    rings = sorted({link.network for link in links if link.ports == 1})
    if rings:
        problem = f"a subnet for each leaf needs leaves; the servers of {', '.join(rings)} are joined to each other"
        faults.append(fault(case, "operate.host_addresses", problem, "rails", allowed="routed"))
    leaves = list(dict.fromkeys((link.network, link.b) for link in links))
    least = min((_prefix(link.ports) for link in links), default=PAIR)
    prefix = min([least, *(int(subnet.partition("/")[2]) for subnet in live.subnets.values())])
    blocks = Addresses("hosts", pool, prefix)
    there = {leaf: first_of(subnet) for leaf, subnet in live.subnets.items()}
    # a block that holds any of a leaf in service is its own
    taken = {first >> (BITS - prefix) << (BITS - prefix) for first in live.starts(pool)}
    start, used = dealt(blocks, leaves, there, taken)
    faults += blocks.lack(case, used, "leaf subnet")
    pools.append(PoolUse("hosts", pool, used, blocks.size))
    subnets |= {leaf: live.subnets.get(leaf, f"{dotted(first)}/{prefix}") for leaf, first in start.items()}
    given, joined = dict[int, LinkAddresses](), dict.fromkeys(leaves, _FIRST_HOST)
    for link in sorted(links, key=lambda link: link.row not in live.links):
        leaf = link.network, link.b
        bits = subnets[leaf].partition("/")[2]
        own = f"{dotted(start[leaf] + joined[leaf])}/{bits}"
        new = LinkAddresses(subnets[leaf], own, f"{dotted(start[leaf] + 1)}/{bits}")
        given[link.row] = live.links.get(link.row, new)
        joined[leaf] = max(joined[leaf], first_of(given[link.row].a) - start[leaf] + 1)
    return given


def _prefix(ports: int) -> int:
    """Prefix length of a subnet with room for ``ports`` ports."""
    return BITS - (ports + _KEPT - 1).bit_length()


# -- pools of addresses and numbers, assigned by index, so that later stages never move earlier ones ------------------


BITS = 32


def dotted(number: int) -> str:
    """An address as text."""
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def first_of(subnet: str) -> int:
    """The address before the prefix length, as an integer."""
    return int(IPv4Address(subnet.partition("/")[0]))


Key = TypeVar("Key", bound=Hashable)


def dealt(
    pool: Addresses | NumberRange, wanted: Sequence[Key], there: Mapping[Key, int], taken: Collection[int]
) -> tuple[dict[Key, int], int]:
    """The number of each key, and how many of the pool are used: those ``there`` keep theirs, others have the first
    that are not ``taken``.
    """
    new = [key for key in dict.fromkeys(wanted) if key not in there]
    free = (number for number in pool.starts(len(taken) + len(new)) if number not in taken)
    numbers = dict(zip(new, free, strict=False))
    return {key: there.get(key, numbers.get(key, 0)) for key in wanted}, len(taken) + len(new)


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

    def starts(self, number: int) -> range:
        """The first ``number`` numbers."""
        return range(self.first, self.first + number)

    def lack(self, case: str, needed: int, what: str) -> list[Fault]:
        """The fault where the pool has fewer than ``needed`` numbers: one, or none."""
        if needed <= self.size:
            return []
        problem = f"too small: it has {some(self.size, 'number')} for {some(needed, what)}"
        return [fault(case, f"operate.{self.key}", problem, self.pool, allowed=f"a range of {needed:,}")]
