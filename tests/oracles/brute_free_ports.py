"""Attachments on free ports, port by port: the part of the brute force that says where they are and what they take.

Written from the rules alone; nothing of fabopt is imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from tests.oracles.brute_endpoints import LeafLoad, attachment_cage, attachment_ways
from tests.oracles.brute_parts import Json, Kind, Mode, ceil_div, mixed


def tier_of(attachment: Json) -> str:
    return attachment.get("tier") or ("any" if attachment.get("kind") == "management" else "leaf")


def on_each_tier(case: Json) -> Iterator[tuple[tuple[int, ...], Json]]:
    """The case with its attachments of any tier on free ports of both, on spines and dealt over leaves, in each
    combination; with the rank of that among equals.
    """
    fabric = (case.get("fabrics") or [{}])[0]
    attachments = fabric.get("attachments", [])
    all_ = ("any", "spine", "leaf")
    for tiers in product(*(all_ if tier_of(one) == "any" else (tier_of(one),) for one in attachments)):
        placed = [one | {"tier": tier} for one, tier in zip(attachments, tiers, strict=True)]
        rank = tuple(map(all_.index, tiers))
        yield rank, (case | {"fabrics": [fabric | {"attachments": placed}]} if attachments else case)


def counts(attachment: Json) -> bool:
    given = attachment.get("counts_in_ratio")
    return bool(attachment.get("kind") != "management" if given is None else given)


class Host:
    """A leaf or a spine: what is on it, and what it could still take."""

    def __init__(self, tier: str, number: int, box: Any, used: int, up_ports: int) -> None:
        self.tier, self.number = tier, number
        self.lanes = box.down.cage.ports
        cages = box.product["cages"][box.down.group]["count"]
        if box.up is not None and box.up.group == box.down.group:
            cages -= ceil_div(up_ports, box.up.cage.ports)
        self.cages = cages - ceil_div(used, self.lanes)
        self.ports = box.max_ports - used - up_ports
        self.free = max(0, min(self.cages * self.lanes, self.ports))
        self.speed = box.down.cage.speed
        # what the uplinks carry at the ratio that is allowed, in Mb/s of ports below, and how much of it is taken
        self.most: Fraction | None = None
        self.below = 0
        self.own: Counter[int] = Counter()

    def takes(self, at: int, counted: bool) -> bool:
        if self.ports < 1 or (self.own[at] % self.lanes == 0 and self.cages < 1):
            return False
        return not counted or self.most is None or self.below + self.speed <= self.most

    def take(self, at: int, counted: bool) -> None:
        self.cages -= self.own[at] % self.lanes == 0
        self.ports -= 1
        self.below += self.speed if counted else 0
        self.own[at] += 1


def leaf_hosts(space: Any, structure: Any) -> list[Host]:
    """The leaves, plane by plane, with the attachments that are dealt round all of them."""
    per_group = structure.leaves // structure.groups
    servers = []
    for group in range(structure.groups):
        servers += [min(structure.g, space.servers - group * structure.g)] * per_group
    servers *= structure.planes
    dealt: list[Counter[int]] = [Counter() for _ in servers]
    order = sorted(range(len(servers)), key=lambda leaf: servers[leaf])
    place = 0
    for at, attachment in enumerate(space.attachments):
        for _ in range(attachment["ports"] if tier_of(attachment) == "leaf" else 0):
            dealt[order[place % len(order)]][at] += 1
            place += 1
    hosts = []
    for number, own in enumerate(servers):
        used = own * structure.k + sum(dealt[number].values())
        host = Host("leaf", number, structure.leaf, used + structure.reserved, structure.u)
        host.below = host.speed * own * structure.k
        host.below += host.speed * sum(n for at, n in dealt[number].items() if counts(space.attachments[at]))
        if structure.u:
            host.most = space.leaf_ratio * structure.u * structure.leaf.up.cage.speed
        hosts.append(host)
    return hosts


def spine_hosts(space: Any, structure: Any) -> list[Host]:
    """The spines, plane by plane and pod by pod."""
    if structure.spine is None:
        return []
    hosts: list[Host] = []
    for _ in range(structure.planes):
        for links in spine_links(structure):
            host = Host("spine", len(hosts), structure.spine, links, structure.x)
            host.below = host.speed * links
            if structure.x:
                host.most = space.spine_ratio * structure.x * structure.spine.up.cage.speed
            hosts.append(host)
    return hosts


def spine_links(structure: Any) -> Iterator[int]:
    """Links of each spine of a plane: every leaf of a pod has some to each, and one more to some of them in turn."""
    per_group = structure.leaves // structure.groups
    size = structure.groups_per_pod or structure.groups
    by_rail = structure.pod_of == "rail" and structure.tiers == 3
    more = structure.u - structure.m * structure.spines_per_pod
    for first in range(0, structure.groups, size):
        groups = min(size, structure.groups - first)
        for _ in range(per_group if by_rail else 1):
            leaves = groups if by_rail else groups * per_group
            loads = [leaves * structure.m] * structure.spines_per_pod
            for link in range(leaves * more):
                loads[link % structure.spines_per_pod] += 1
            yield from loads


class Placed(NamedTuple):
    """Where all attachments are: leaves by their load, spines, and the most endpoints of a leaf."""

    loads: list[LeafLoad]
    spines: list[Host]
    occupied: int
    counted: int


def placed(space: Any, structure: Any) -> Placed | None:
    """The switches of all attachments on free ports; None if there are too few free ports."""
    hosts = space.hosts(structure)
    return None if hosts is None else summed(space, structure, *hosts)


def hosts_of(space: Any, structure: Any) -> tuple[list[Host], list[Host]] | None:
    """The leaves and spines with all attachments on free ports; None if there are too few free ports."""
    leaves, spines = leaf_hosts(space, structure), spine_hosts(space, structure)
    taken: Counter[tuple[str, int]] = Counter()
    for at, attachment in enumerate(space.attachments):
        wanted = tier_of(attachment)
        if wanted == "leaf":
            continue
        hosts = [host for host in (*leaves, *spines) if wanted in ("any", host.tier) and joins(space, attachment, host)]
        for _ in range(attachment["ports"]):
            open_ = [host for host in hosts if host.takes(at, counts(attachment))]
            if not open_:
                return None
            best = min(open_, key=lambda one: (taken[one.tier, one.number], -one.free, one.tier, one.number))
            best.take(at, counts(attachment))
            taken[best.tier, best.number] += 1
    return leaves, spines


def joins(space: Any, attachment: Json, host: Host) -> bool:
    box = space.placing.leaf if host.tier == "leaf" else space.placing.spine
    if box.down.cage.speed != space.placing.leaf.down.cage.speed:
        return False
    run = space.run("attachment-leaf" if host.tier == "leaf" else "attachment-spine")
    return bool(attachment_ways(box.down.cage, attachment, run, space.joiner))


def summed(space: Any, structure: Any, leaves: list[Host], spines: list[Host]) -> Placed:
    found: Counter[tuple[int, tuple[int, ...]]] = Counter()
    occupied = counted = 0
    plain = space.leaf_by_leaf(structure)
    for host, (servers, dealt) in zip(leaves, plain, strict=True):
        attached = tuple(dealt[at] + host.own[at] for at in range(len(space.attachments)))
        found[servers, attached] += 1
        occupied = max(occupied, servers * structure.k + sum(attached))
        own = sum(n for at, n in enumerate(attached) if counts(space.attachments[at]))
        counted = max(counted, servers * structure.k + own)
    loads = [LeafLoad(count, servers, attached) for (servers, attached), count in sorted(found.items())]
    return Placed(loads, spines, occupied, counted)


def spine_mode(space: Any, structure: Any, mode: Mode, spines: list[Host]) -> Mode | None:
    """The uplinks' mode with what attachments take on spines; None if something cannot be joined."""
    lanes = structure.spine.down.cage.ports
    attached = own_classes(space, structure.spine.down.cage, spines, space.run("attachment-spine"))
    if attached is None:
        return None
    own_cages = cages_of_attachments(spines)
    links = list(spine_links(structure)) * structure.planes
    filled = [ceil_div(load, lanes) for load in links]
    most = max(a + b for a, b in zip(filled, own_cages, strict=True))
    if mode.far_cages > max(filled):  # cables of several ports: room is kept on every spine
        most = max(most, mode.far_cages + max(own_cages))
    return Mode(mode.near_cages, max(most, mode.far_cages), (*mode.classes, *attached))


def cages_of_attachments(hosts: list[Host]) -> list[int]:
    """Cages that attachments have on every host, none of which two of them share."""
    return [sum(ceil_div(ports, host.lanes) for ports in host.own.values()) for host in hosts]


def own_classes(space: Any, cage: Any, hosts: list[Host], run: Any) -> tuple[Any, ...] | None:
    """What joins attachments to cages of hosts that they do not share; None if something cannot be joined."""
    classes: tuple[Any, ...] = ()
    for at, attachment in enumerate(space.attachments):
        ports = [host.own[at] for host in hosts if host.own[at]]
        if not ports or attachment.get("buys", "both") == "none":
            continue
        far = attachment_cage(attachment)
        ways = [one for one in attachment_ways(cage, attachment, run, space.joiner) if one]
        cages: Counter[int] = Counter()
        for own in ports:
            cages[cage.ports] += own // cage.ports
            cages[own % cage.ports] += own % cage.ports > 0
        units = [(number, filled) for filled, number in cages.items() if number and filled]
        kind = Kind(cage, far or cage, run, (), ())
        mode = mixed(kind, units, ways, "near" if cage.ports > 1 else "", attachment.get("buys", "both"))
        if mode is None:
            return None
        classes += mode.classes
    return classes


def on_equals(space: Any, box: Any, servers: list[int], reserved: int, up: tuple[int, int]) -> list[Host] | None:
    """Switches that are joined to each other with the attachments that they have; None if too few ports are free.

    ``servers``: ports of servers on each; ``up``: ports and cages of the busiest for links to others.
    """
    hosts = []
    for number, ports in enumerate(servers):
        host = Host("leaf", number, box, ports + reserved, up[0])
        shares = box.up.group == box.down.group
        host.cages += shares * (ceil_div(up[0], box.up.cage.ports) - up[1])
        host.free = max(0, min(host.cages * host.lanes, host.ports))
        hosts.append(host)
    taken: Counter[int] = Counter()
    for at, attachment in enumerate(space.attachments):
        if not attachment_ways(box.down.cage, attachment, space.run("attachment-leaf"), space.joiner):
            return None
        for _ in range(attachment["ports"]):
            open_ = [host for host in hosts if host.takes(at, False)]
            if not open_:
                return None
            best = min(open_, key=lambda host: (taken[host.number], -host.free, host.number))
            best.take(at, False)
            taken[best.number] += 1
    return hosts
