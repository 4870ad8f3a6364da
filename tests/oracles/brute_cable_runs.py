"""Every link of one structure, one by one, with the stage from which on it is there: the cabling half of the oracle of
growth. Nothing of fabopt is imported.

Boxes are tuples that name them, slots count the ports of a box on one side from 0. Servers are cabled server by server
in order, leaves to spines leaf by leaf, spines to cores spine by spine; both ends fill their slots in that order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tests.oracles.brute_force import Structure
from tests.oracles.brute_parts import Item, Joining, ceil_div

BoxName = tuple[Any, ...]
# What is bought when: (item, stage) and how many.
Bought = Counter[tuple[Item, int]]


class Stage(NamedTuple):
    """What stands at one stage: spines of every pod, cores of every core group, and the most links of a leaf to each
    spine (more than at last where links are lent).
    """

    servers: int
    spines: int
    cores: int
    each: int


Plan = tuple[Stage, ...]


class Link(NamedTuple):
    """One link. ``bought``: whether a wire is; without one it only holds its place in the cages."""

    near: BoxName
    near_slot: int
    far: BoxName
    far_slot: int
    stage: int
    bought: bool = True


Pair = tuple[BoxName, BoxName, list[int]]  # two boxes, and the stages of the links between them


def laid(pairs: Iterable[Pair], padding: int) -> list[Link]:
    """Links with their slots; with a padding each pair of boxes starts at a multiple of it."""
    filled: Counter[tuple[str, BoxName]] = Counter()
    links = []
    for near, far, stages in pairs:
        ends = ("near", near), ("far", far)
        for end in ends:
            filled[end] = ceil_div(filled[end], padding) * padding
        for stage in stages:
            links.append(Link(near, filled[ends[0]], far, filled[ends[1]], stage))
            filled.update(ends)
    return links


def first_with(amounts: Iterable[int], least: int) -> int:
    """The first stage with at least so many."""
    return next(stage for stage, amount in enumerate(amounts) if amount >= least)


class Laying:
    """The boxes and links of a structure under a plan."""

    def __init__(self, structure: Structure, plan: Plan) -> None:
        self.s, self.plan = structure, plan
        self.rails = structure.leaves // structure.groups

    # -- when boxes come ----------------------------------------------------------------------------------------

    def of_server(self, number: int) -> int:
        return first_with((stage.servers for stage in self.plan), number + 1)

    def of_group(self, group: int) -> int:
        return self.of_server(group * self.s.g)

    def of_spine(self, pod: int, index: int) -> int:
        block = pod // self.rails if self.s.pod_of == "rail" else pod
        its_pod = 0 if self.s.tiers < 3 else self.of_group(block * self.s.groups_per_pod)
        return max(its_pod, first_with((stage.spines for stage in self.plan), index + 1))

    def of_core(self, group: int, index: int) -> int:
        """A core comes when a spine of its group does, once there are so many cores."""
        spines = first_with((stage.spines for stage in self.plan), group * self.s.q + 1)
        return max(spines, first_with((stage.cores for stage in self.plan), index + 1))

    def switches(self) -> list[list[int]]:
        """Stages of all leaves, spines, cores."""
        s = self.s
        found = [[self.of_group(group) for group in range(s.groups) for _ in range(self.rails * s.planes)]]
        if s.tiers > 1:
            spines = [(pod, index) for pod in range(s.pods) for index in range(s.spines_per_pod)]
            found.append([self.of_spine(*one) for one in spines] * s.planes)
        if s.tiers > 2:
            groups = s.spines_per_pod // s.q
            cores = [(group, index) for group in range(groups) for index in range(s.cores // groups)]
            found.append([self.of_core(*one) for one in cores] * s.planes)
        return found

    # -- who is joined to whom ------------------------------------------------------------------------------------

    def server_pairs(self) -> Iterator[Pair]:
        """Port by port; ports of a card (of a server whose cards share cages) to one leaf are one pair."""
        s, cards = self.s, self.s.cards
        in_plane = cards.ports // s.planes
        for server in range(self.plan[-1].servers):
            ends: dict[tuple[BoxName, BoxName], int] = {}
            for card in range(cards.number):
                near = ("server", server) if cards.shared else ("card", server, card)
                for port in range(cards.ports):
                    place = card * in_plane + port % in_plane
                    far = ("leaf", port // in_plane, server // s.g, place // s.k)
                    ends[near, far] = ends.get((near, far), 0) + 1
            for (near, far), links in ends.items():
                yield near, far, [self.of_server(server)] * links

    def leaves_of_pod(self, pod: int) -> list[tuple[int, int]]:
        """(group, rail) of the leaves of a pod in order."""
        s = self.s
        if s.tiers < 3:
            return [(group, rail) for group in range(s.groups) for rail in range(self.rails)]
        block, rail = divmod(pod, self.rails) if s.pod_of == "rail" else (pod, None)
        groups = range(block * s.groups_per_pod, min((block + 1) * s.groups_per_pod, s.groups))
        return [(group, one) for group in groups for one in range(self.rails) if rail in (None, one)]

    def leaf_pairs(self) -> Iterator[Pair]:
        s = self.s
        more = s.u - s.m * s.spines_per_pod
        for plane in range(s.planes):
            for pod in range(s.pods):
                for place, (group, rail) in enumerate(self.leaves_of_pod(pod)):
                    favoured = {(place * more + step) % s.spines_per_pod for step in range(more)}
                    uplink = 0
                    for index in range(s.spines_per_pod):
                        links = s.m + (index in favoured)
                        comes = self.of_spine(pod, index)
                        stages = [
                            max(self.of_group(group), min(comes, self.lit(at))) for at in range(uplink, uplink + links)
                        ]
                        uplink += links
                        yield ("leaf", plane, group, rail), ("spine", plane, pod, index), stages

    def lit(self, uplink: int) -> int:
        """The first stage whose spines take so many uplinks of a leaf, their own or lent ones."""
        if self.s.u % self.s.spines_per_pod:
            return len(self.plan)
        return first_with((stage.spines * stage.each for stage in self.plan), uplink + 1)

    def core_pairs(self) -> Iterator[Pair]:
        s = self.s
        per_group = s.x // s.m2
        for plane in range(s.planes):
            for pod in range(s.pods):
                for index in range(s.spines_per_pod):
                    for core in range(per_group):
                        group = index // s.q
                        stage = max(self.of_spine(pod, index), self.of_core(group, core))
                        yield ("spine", plane, pod, index), ("core", plane, group, core), [stage] * s.m2

    # -- moves ----------------------------------------------------------------------------------------------------

    def moves(self) -> list[int]:
        """Cables that each stage takes from the spine to which they led before; followed leaf by leaf."""
        found = [0] * len(self.plan)
        if self.s.tiers == 1 or self.s.u % self.s.spines_per_pod:
            return found
        before: dict[int, int] = {}
        for number, stage in enumerate(self.plan):
            now = self.led_to(stage, before)
            changed = sum(1 for uplink, host in before.items() if now.get(uplink) != host)
            if changed:
                old = sum(self.of_group(group) < number for group in range(self.s.groups)) * self.rails * self.s.planes
                found[number] = old * changed
            before = now
        return found

    def led_to(self, stage: Stage, before: dict[int, int]) -> dict[int, int]:
        """The spine of each uplink: its own if it is there; else the one where it is while that takes as many links,
        else the emptiest.
        """
        m = self.s.m
        now = {uplink: uplink // m for uplink in range(stage.spines * m)}
        load = Counter(now.values())
        lent = range(stage.spines * m, stage.spines * stage.each)
        for uplink in lent:
            host = before.get(uplink)
            if host is not None and load[host] < stage.each:
                now[uplink] = host
                load[host] += 1
        for uplink in lent:
            if uplink not in now:
                now[uplink] = min(range(stage.spines), key=lambda spine: (load[spine], spine))
                load[now[uplink]] += 1
        return now

    def filled(self, ports: int, lanes: int) -> Iterator[tuple[set[Any], set[Any]]]:
        """Of each stage but the last: (pod, spine, port) of every link of a plane, and the cages of links at last.

        Spines have so many ``ports`` below, of ``lanes`` a cage. Links that are lent take them from the last one down,
        those that stay longest first.
        """
        s = self.s
        at_last: list[tuple[int, int, int, int, int, int]] = []  # pod, leaf, uplink, spine, port, stage
        for pod in range(s.pods):
            ends: Counter[int] = Counter()
            for leaf, (group, _) in enumerate(self.leaves_of_pod(pod)):
                for uplink in range(s.u):
                    spine = uplink // s.m
                    stage = max(self.of_group(group), min(self.of_spine(pod, spine), self.lit(uplink)))
                    at_last.append((pod, leaf, uplink, spine, ends[spine], stage))
                    ends[spine] += 1
        lent = self.lent_ports(at_last, ports)
        for number in range(len(self.plan) - 1):
            there = [link for link in at_last if link[5] <= number]
            now = {(link[0], *lent.get((link[:3], number), link[3:5])) for link in there}
            assert len(now) == len(there)
            yield now, {(pod, spine, port // lanes) for pod, _, _, spine, port, _ in there}

    def lent_ports(self, at_last: list[Any], ports: int) -> dict[Any, tuple[int, int]]:
        """(spine, port) of links that are lent, by (pod, leaf, uplink) and stage."""
        times: list[tuple[int, int, tuple[int, int, int], int]] = []  # last (negative), first, link, spine
        for link in at_last:
            before: dict[int, int] = {}
            for number, stage in enumerate(self.plan):
                before = self.led_to(stage, before)
                host = before.get(link[2])
                if host is None or host == link[3] or link[5] > number:
                    continue
                if times and times[-1][2:] == (link[:3], host) and -times[-1][0] == number - 1:
                    times[-1] = -number, *times[-1][1:]
                else:
                    times.append((-number, number, link[:3], host))
        taken = set[Any]()
        found = {}
        for last, first, link, spine in sorted(times):
            stages = range(first, 1 - last)
            place = [(link[0], spine, port) for port in reversed(range(ports))]
            port = next(one for one in place if not any((one, number) in taken for number in stages))
            taken.update((port, number) for number in stages)
            found.update({(link, number): port[1:] for number in stages})
        return found


# -- what links take ----------------------------------------------------------------------------------------------


def padding_of(way: Joining, near_ports: int) -> int:
    """Links of one pair that a wire of this joining carries."""
    return near_ports if way.shape == "bundle" else way.per_fibre


def purchase(links: Iterable[Link], way: Joining, near_ports: int, far_ports: int) -> Bought:
    """What some links take under a joining, whole cages: wires with their first link, modules with their cage's."""
    cables: dict[Any, list[Link]] = defaultdict(list)
    cages: dict[Any, list[Link]] = defaultdict(list)
    for link in links:
        near_cage, far_cage = (link.near, link.near_slot // near_ports), (link.far, link.far_slot // far_ports)
        cables[cable_of(link, way, near_cage, far_cage)].append(link)
        cages["near", near_cage].append(link)
        cages["far", far_cage].append(link)
    bought: Bought = Counter()
    for carried in cables.values():
        stages = [link.stage for link in carried if link.bought]
        if stages:
            bought[way.line, min(stages)] += 1
    for (side, _), inside in cages.items():
        part = way.near if side == "near" else way.far
        if part is not None:
            bought[part, min(link.stage for link in inside)] += 1
    return bought


def cable_of(link: Link, way: Joining, near_cage: Any, far_cage: Any) -> Any:
    if way.shape in ("near", "bundle"):
        return near_cage
    if way.shape == "far":
        return far_cage
    if way.shape == "optics" and way.near_ports > 1:
        return link.near, link.near_slot // way.near_ports
    if way.shape == "optics" and way.far_ports > 1:
        return link.far, link.far_slot // way.far_ports
    return link


def units(links: Iterable[Link], near_ports: int, far_ports: int) -> list[list[Link]]:
    """Links that are chosen for together where they may be mixed: those of a cage with several ports."""
    found: dict[Any, list[Link]] = defaultdict(list)
    for link in links:
        key: Any = link
        if near_ports > 1:
            key = link.near, link.near_slot // near_ports
        elif far_ports > 1:
            key = link.far, link.far_slot // far_ports
        found[key].append(link)
    return list(found.values())
