"""A fair rival: what an expert writes in a day to size a Clos from a catalog. ``python -m tests.rival`` compares.

Leaves, splits, servers of a group, spines, cores and the parts of each kind of link are enumerated at list prices and
flat runs; rails are aligned, stripes even, groups equal, of one plane. It proves nothing, and knows no stock, breaks,
limits, growth, floors or failures. Both sides get the same case of the bare space; ours also has to prove its answer.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from math import ceil, inf

from fabopt.io.case import inputs_from_objects
from fabopt.io.catalog import named_catalogs
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Nic, Switch
from fabopt.schema.product import Cage, Purchasable
from fabopt.solution import optimize

RUNS = {"server-leaf": 3.0, "leaf-spine": 30.0, "spine-core": 50.0}
CATALOG = named_catalogs(["reference"])
NICS_PER_SERVER, GBPS = 8, 400
# Processor seconds after which the rival gives the best that it has met.
MOST_S = 120.0
SIZES = (64, 512, 1024, 8192, 16384, 100_000)


@dataclass
class _Clock:
    """Processor time at which the rival stops."""

    ends: float = inf


CLOCK = _Clock()


@dataclass(frozen=True)
class End:
    """Cages of a device as one split: what fits, whose it is, and how many ports a cage has."""

    fits: frozenset[str]
    split: str
    vendor: str | None

    @property
    def ports(self) -> int:
        return parse_split(self.split).ports

    @property
    def gbps(self) -> float:
        return parse_split(self.split).port_mbps / 1000

    def takes(self, form_factor: str, works_with: tuple[str, ...]) -> bool:
        return form_factor in self.fits and (not works_with or self.vendor in works_with)


@dataclass(frozen=True)
class Side:
    """One group of a switch's cages in use."""

    end: End
    group: int
    cages: int


def usd(product: Purchasable) -> float:
    price = product.price_usd
    return float(price) if isinstance(price, int | float) else inf


def fits_of(cage: Cage) -> frozenset[str]:
    names = {cage.form_factor, *cage.accepts}
    return frozenset(names | ({"OSFP"} if names & {"OSFP-IHS", "OSFP-RHS"} else set()))


def sides(switch: Switch) -> list[Side]:
    return _sides(switch.id)


@cache
def _sides(id_: str) -> list[Side]:
    switch = next(one for one in CATALOG.switches if one.id == id_)
    return [
        Side(End(fits_of(cage), split, switch.vendor), group, cage.count_at(split))
        for group, cage in enumerate(switch.cages)
        for split in cage.splits_of(switch.protocol)
    ]


@cache
def switches(protocol: str) -> list[Switch]:
    sold = [one for one in CATALOG.switches if one.protocol == protocol and not one.end_of_life]
    return [one for one in sold if one.price_usd is not None and one.power_w is not None]


# -- links ----------------------------------------------------------------------------------------------------------


@cache
def link_usd(near: End, far: End, metres: float, protocol: str, links: int = 1) -> float:
    """The least cost of one link between two cages, every cage full, where two boxes have so many links."""
    return min((*cable_usd(near, far, metres, links), *optics_usd(near, far, metres, protocol, links)), default=inf)


def cable_usd(near: End, far: End, metres: float, links: int) -> Iterator[float]:
    for cable in CATALOG.cables:
        prices = [usd(one) for one in cable.lengths if one.m >= metres]
        for one, other in (cable.ends, cable.ends[::-1]):
            split = {one.split, other.split} == {near.split, far.split} and one.split == near.split
            if prices and split and near.takes(one.form_factor, ()) and far.takes(other.form_factor, ()):
                # heads with several ports join two boxes only, which may have fewer links
                each = near.ports if one.count >= other.count else far.ports
                yield min(prices) / (near.ports * one.count) * each * ceil(links / each) / links


def optics_usd(near: End, far: End, metres: float, protocol: str, links: int) -> Iterator[float]:
    modules = [
        one for one in CATALOG.transceivers
        if one.price_usd is not None and one.power_w is not None and one.reach_m >= metres
    ]  # fmt: skip
    ends = [
        [one for one in modules if end.split in one.standard_by_split and one.runs(end.split, protocol)
         and end.takes(one.form_factor, one.works_with)]
        for end in (near, far)
    ]  # fmt: skip
    for one, other in product(*ends):
        if (one.fibre, one.standard_by_split[near.split]) != (other.fibre, other.standard_by_split[far.split]):
            continue
        together = one.ports_per_connector(near.split), other.ports_per_connector(far.split)
        fibre = fibre_usd(one.fibre, one.connector_of(near.split), other.connector_of(far.split), together, metres)
        each = min(together)
        yield (usd(one) / near.ports + usd(other) / far.ports + fibre) * each * ceil(links / each) / links


@cache
def fibre_usd(kind: str, near: str, far: str, together: tuple[int, int], metres: float) -> float:
    """Of one link: a straight fibre, or one that breaks out a connector with several ports."""
    least = inf
    for fibre in CATALOG.fibres:
        prices = [usd(one) for one in fibre.lengths if one.m >= metres]
        for one, other in (fibre.both_ends, fibre.both_ends[::-1]):
            links = together[0] * one.count
            joined = (one.connector, other.connector) == (near, far) and links == together[1] * other.count
            if prices and joined and fibre.fibre == kind and min(one.count, other.count) == 1:
                least = min(least, min(prices) / links)
    return least


# -- networks -------------------------------------------------------------------------------------------------------


def cheapest(gpus: int) -> float:
    """Dollars of the cheapest Clos met, NICs included."""
    servers, best = gpus // NICS_PER_SERVER, inf
    for protocol in ("ethernet", "infiniband"):
        for nic, end in cards(protocol):
            for leaf in switches(protocol):
                for down in sides(leaf):
                    if down.end.gbps == end.gbps:
                        link = link_usd(end, down.end, RUNS["server-leaf"], protocol)
                        fixed = servers * NICS_PER_SERVER * (usd(nic) + link)
                        if fixed < best:
                            best = min(best, fixed + above(servers, protocol, leaf, down, best - fixed))
    return best


def cards(protocol: str) -> Iterator[tuple[Nic, End]]:
    """Cards with one port that is fast enough, the cheapest of each kind of cage."""
    kinds: dict[End, Nic] = {}
    for nic in CATALOG.nics:
        sold = nic.price_usd is not None and nic.power_w is not None and not nic.end_of_life
        for cage in nic.cages if sold and protocol in nic.protocols else ():
            for split in cage.splits_of(protocol):
                end = End(fits_of(cage), split, nic.vendor)
                if end.ports == 1 and end.gbps == GBPS and (nic.pcie is None or nic.pcie.generation >= 5):
                    other = kinds.get(end)
                    if other is None or usd(nic) < usd(other):
                        kinds[end] = nic
    yield from ((nic, end) for end, nic in kinds.items())


def above(servers: int, protocol: str, leaf: Switch, down: Side, limit: float) -> float:
    """The least cost of leaves and of all above them; of one tier, two or three."""
    price, least = usd(leaf), inf
    most = min(down.cages * down.end.ports, leaf.max_ports or down.cages * down.end.ports)
    if servers * NICS_PER_SERVER <= most:
        least = price
    for up in sides(leaf):
        for group in range(most - 1, 0, -1):  # large groups are the cheap ones: what is met first cuts the rest
            uplinks = ceil(group * GBPS / up.end.gbps)
            if not holds(leaf, down, group, up, uplinks):
                continue
            if time.process_time() > CLOCK.ends:
                return least
            leaves = ceil(servers / group) * NICS_PER_SERVER
            if leaves * price < min(least, limit):
                rest = spines(protocol, leaf, up, leaves, uplinks, min(least, limit) - leaves * price)
                least = min(least, leaves * price + rest)
    return least


def holds(switch: Switch, down: Side, downlinks: int, up: Side, uplinks: int) -> bool:
    cages = ceil(downlinks / down.end.ports), ceil(uplinks / up.end.ports)
    if downlinks + uplinks > (switch.max_ports or inf):
        return False
    if down.group == up.group:
        return sum(cages) <= min(down.cages, up.cages)
    return cages[0] <= down.cages and cages[1] <= up.cages


def spines(protocol: str, leaf: Switch, up: Side, leaves: int, needed: int, limit: float) -> float:
    """Spines, their links, and cores; a leaf may have a few uplinks more than it needs, so that stripes are even."""
    least = inf
    for spine in switches(protocol):
        for side in sides(spine):
            if side.end.gbps != up.end.gbps:
                continue
            link = link_usd(up.end, side.end, RUNS["leaf-spine"], protocol, 64)
            ports = min(side.cages * side.end.ports, spine.max_ports or side.cages * side.end.ports)
            if leaves * needed * link >= min(least, limit):
                continue
            for links in range(1, max(1, min(needed, int(ports // leaves))) + 1):
                number = ceil(needed / links)
                if leaves * links <= ports:
                    each = link_usd(up.end, side.end, RUNS["leaf-spine"], protocol, links)
                    cost = leaves * number * links * each + number * usd(spine)
                    least = min(least, cost)
                for top in sides(spine) if links == 1 and leaves > ports else ():
                    least = min(least, three_tiers(protocol, spine, (side, top), leaves, needed, link, least))
    return least


def three_tiers(
    protocol: str, spine: Switch, uses: tuple[Side, Side], leaves: int, uplinks: int, link: float, limit: float
) -> float:
    """Pods of as many leaves as spines take at one to one, below cores that join each place of a spine."""
    side, top = uses
    pod = leaves_of_pod(spine.id, side, top)
    if not pod:
        return inf
    pods, ups = ceil(leaves / pod), ceil(pod * side.end.gbps / top.end.gbps)
    number, least = pods * uplinks, inf
    fixed = leaves * uplinks * link + number * usd(spine)
    if fixed >= limit:
        return inf
    for ports, price, far in cores_below(protocol, top.end):
        if pods <= ports:
            cores = uplinks * ups // links_of_core(uplinks, ups, int(ports // pods))
            least = min(least, fixed + number * ups * far + cores * price)
    return least


@cache
def links_of_core(spines_of_pod: int, ups: int, most: int) -> int:
    """Links of a core to each pod: as many to each of some spines, so that stripes are even; at most ``most``."""
    both = product(divisors(spines_of_pod), divisors(ups))
    return max(one * other for one, other in both if one * other <= most)


@cache
def divisors(number: int) -> list[int]:
    return [one for one in range(1, number + 1) if number % one == 0]


@cache
def leaves_of_pod(spine_id: str, side: Side, top: Side) -> int:
    spine = next(one for one in CATALOG.switches if one.id == spine_id)
    sizes = range(1, side.cages * side.end.ports)
    return max((size for size in sizes if holds(spine, side, size, top, ceil(size * side.end.gbps / top.end.gbps))),
               default=0)  # fmt: skip


@cache
def cores_below(protocol: str, end: End) -> list[tuple[float, float, float]]:
    """Ports, price and cost of a link of each way to use a switch as a core."""
    return [
        (min(use.cages * use.end.ports, core.max_ports or inf), usd(core),
         link_usd(end, use.end, RUNS["spine-core"], protocol))
        for core in switches(protocol) for use in sides(core) if use.end.gbps == end.gbps
    ]  # fmt: skip


# -- both -----------------------------------------------------------------------------------------------------------


def ours(gpus: int) -> tuple[float, str]:
    """Dollars and status of our answer in the same space."""
    fabric = {"name": "compute", "min_gbps_per_gpu": GBPS, "max_oversubscription": 1, "groups": "equal",
              "nics_per_server": NICS_PER_SERVER}  # fmt: skip
    case = {"name": "rival", "server": "generic-hgx-h100", "gpus": gpus, "fabrics": [fabric], "rules": "none",
            "resilience": "none", "site": {"distances_m": RUNS}}  # fmt: skip
    design = optimize.solve(inputs_from_objects(case), alternatives_s=0)
    return (inf if design.totals is None else design.totals.capex_usd), design.status


def main(sizes: list[int]) -> None:
    """Print cost and processor time of both."""
    print(f"| {'GPUs':>7} | {'rival, $':>14} | {'s':>6} | {'ours, $':>14} | {'s':>6} | status  |")
    for gpus in sizes or SIZES:
        for cached in (link_usd, fibre_usd, leaves_of_pod, cores_below, switches, _sides):
            cached.cache_clear()
        times, costs = [time.process_time()], []
        CLOCK.ends = times[0] + MOST_S
        costs.append(cheapest(gpus))
        times.append(time.process_time())
        found, status = ours(gpus)
        times.append(time.process_time())
        spent = [after - before for before, after in pairwise(times)]
        both = [f"{cost:>14,.0f} | {seconds:>6.1f}" for cost, seconds in zip((*costs, found), spent, strict=True)]
        told = status if spent[0] < MOST_S else f"{status}; rival stopped"
        print(f"| {gpus:>7} | {' | '.join(both)} | {told:<7} |", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
