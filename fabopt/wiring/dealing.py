"""Dealing of links to the trunks of a route, or of legs to the panels of a rack, with those of one device spread."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple


class TrunkRoom(NamedTuple):
    """Legs of a trunk, or ports of a panel, and the stage from which on it is there; ``later``: stages at which there
    is more room, and how much.
    """

    legs: int
    stage: int = 0
    later: tuple[tuple[int, int], ...] = ()

    def at(self, stage: int) -> int:
        """What there is at a stage."""
        return sum(room for since, room in ((self.stage, self.legs), *self.later) if since <= stage)


def dealt(
    devices: Sequence[int], stages: Sequence[int], trunks: Sequence[TrunkRoom], together: Sequence[int] | None = None
) -> list[tuple[int, int]]:
    """Trunk (index) and leg (from 1) of every link, whose near devices and stages are given in the order of dealing;
    or panel and port.

    In turn, over trunks that are there at the stage; of the u links of a device at most ceil(u x legs of a trunk / legs
    of all) on one, and fewer than u > 1 where the others have room. Rule ``trunks_spread_leaves``; of panels
    rule ``panels_spread_leaves``. What earlier stages have stays. ``together``: a number for each link; those of one
    are where the one before is, if they may. ``ValueError``: a link has no leg.
    """
    dealing, home = _Dealing(devices, stages, trunks), dict[int, int]()
    for link in range(len(devices)):
        if together is not None:
            dealing.turn = home.get(together[link], len(home))
        dealing.deal(link)
        if together is not None:
            home[together[link]] = dealing.trunk_of[link]
    used = [0] * len(trunks)
    places = list[tuple[int, int]]()
    for trunk in dealing.trunk_of:
        used[trunk] += 1
        places.append((trunk, used[trunk]))
    return places


def dealt_together(
    devices: Sequence[int], stages: Sequence[int], trunks: Sequence[TrunkRoom], per_leg: int, legs: int = 0
) -> dict[tuple[int, int], tuple[int | None, ...]]:
    """Legs in use, as trunk (index) and leg (from 1), each with its links (indices) by place, of which it has some.

    As few as links fill by each stage, dealt to trunks in turn; links to trunks as ``dealt`` does by legs in use, and
    one leg after another; behind them spare ones, up to ``legs`` in all. ``ValueError``: a link has no leg.
    """
    since = list(stages[::per_leg])  # a leg is needed by its first link
    since += [max((*stages, *(trunk.stage for trunk in trunks)), default=0) + 1] * (legs - len(since))
    in_use = dealt([-1 - number for number in range(len(since))], since, trunks)
    added: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (trunk, _), stage in zip(in_use, since, strict=True):
        added[trunk].append((stage, per_leg))
    rooms = [TrunkRoom(0, trunk.stage, tuple(added[index])) for index, trunk in enumerate(trunks)]
    links: dict[tuple[int, int], list[int | None]] = {leg: [None] * per_leg for leg in in_use}
    for link, (trunk, number) in enumerate(dealt(devices, stages, rooms)):
        leg, place = divmod(number - 1, per_leg)
        links[trunk, leg + 1][place] = link
    return {leg: tuple(own) for leg, own in links.items()}


def _most_of(numbers: Mapping[int, int], rooms: Sequence[int]) -> dict[int, list[int]]:
    """Most links of each device in each of some rooms, by the number of its links in all."""
    whole = max(1, sum(rooms))
    most = {device: [-(-number * room // whole) for room in rooms] for device, number in numbers.items()}
    several = [device for device, number in numbers.items() if number > 1]
    for index, room in enumerate(rooms):
        # with one of each device elsewhere, and all that its share leaves there
        if sum(max(1, numbers[device] - most[device][index]) for device in several) <= whole - room:
            for device in several:
                most[device][index] = min(most[device][index], numbers[device] - 1)
    return most


class _Dealing:
    """Links dealt to the trunks of a route. A link that finds no trunk with room for its device moves others of its
    stage to other trunks, which succeeds wherever a dealing exists (augmenting paths).
    """

    def __init__(self, devices: Sequence[int], stages: Sequence[int], trunks: Sequence[TrunkRoom]) -> None:
        self.devices, self.stages, self.trunks, self.turn = devices, stages, trunks, 0
        self.trunk_of = list[int]()
        # links of each trunk in order, and of each device on it
        self.links: list[list[int]] = [[] for _ in trunks]
        self.on: Counter[tuple[int, int]] = Counter()
        self.most: dict[int, list[int]] = {}
        self.stage, self.there = -1, [0] * len(trunks)

    def deal(self, link: int) -> None:
        """Give the next link its trunk."""
        if self.stages[link] != self.stage:
            self.stage = self.stages[link]
            self.there = [trunk.at(self.stage) for trunk in self.trunks]
            self.most = _most_of(Counter(self.devices[: bisect_right(self.stages, self.stage)]), self.there)
        self.trunk_of.append(-1)
        if not self._finds(link, set()) and not self._takes_any(link):
            raise ValueError(f"no trunk or panel has room for link {link + 1}")
        self.turn = self.trunk_of[link] + 1

    def _finds(self, link: int, seen: set[int]) -> bool:
        """Whether a trunk takes a link, when others move where they may; ``seen``: trunks that were asked."""
        device, most = self.devices[link], self.most[self.devices[link]]
        open_to = (one for one in self._in_turn() if one not in seen and self.on[device, one] < most[one])
        for trunk in open_to:
            if len(self.links[trunk]) < self.there[trunk]:
                self._put(link, trunk)
                return True
        for trunk in self._in_turn():
            if trunk in seen or self.on[device, trunk] >= most[trunk]:
                continue
            seen.add(trunk)
            for other in list(self.links[trunk]):
                if self.stages[other] == self.stage and self.devices[other] != device:
                    self._take(other, trunk)
                    if self._finds(other, seen):
                        self._put(link, trunk)
                        return True
                    self._put(other, trunk)
        return False

    def _takes_any(self, link: int) -> bool:
        """Whether a trunk takes a link that is one too many of its device, as legs of earlier stages are taken."""
        for trunk in self._in_turn():
            if len(self.links[trunk]) < self.there[trunk]:
                self._put(link, trunk)
                return True
        return False

    def _in_turn(self) -> Iterator[int]:
        turn = self.turn % max(1, len(self.trunks))
        return chain(range(turn, len(self.trunks)), range(turn))

    def _put(self, link: int, trunk: int) -> None:
        self.links[trunk].append(link)
        self.on[self.devices[link], trunk] += 1
        self.trunk_of[link] = trunk

    def _take(self, link: int, trunk: int) -> None:
        self.links[trunk].remove(link)
        self.on[self.devices[link], trunk] -= 1
