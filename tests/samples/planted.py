"""Faults that are planted among the cables of a plan, one or two at a time, each with what is to be found of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fabopt.inspect.planned import CablePlan, PortName, plan_of
from fabopt.operate.model import SWITCHES, NamedPort, OperationPlan
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, port_name
from fabopt.wiring.port_names import most_lanes, namer_of, splits_of
from tests.samples.round_trips import CabledEnds, as_planned

SWAPS = frozenset({"swapped", "swapped-in-cage", "crossed-rail"})


class Planted(NamedTuple):
    """``ports``: those that are not as planned; ``kinds``: of which the one finding of each fault is; ``moves``."""

    what: str
    cables: list[CabledEnds]
    ports: frozenset[PortName]
    kinds: Sequence[frozenset[str]]
    moves: int


class Planter:
    """Plants faults among the cables of a fabric of a design."""

    def __init__(self, design: Design, plan: OperationPlan, fabric: str, draw: random.Random) -> None:
        self.design, self.plan, self.draw = design, plan, draw
        wiring = wiring_of(design)
        self.planned: CablePlan = plan_of(wiring, len(design.stages) - 1)
        self._most = most_lanes(wiring)
        self.others = [cable for cable in as_planned(plan) if cable.fabric != fabric]
        self.cables = [cable for cable in as_planned(plan) if cable.fabric == fabric]

    def name(self, port: NamedPort) -> PortName:
        return PortName(self.plan.device_at[port.device].device, port.port)

    def _is_alone(self, port: NamedPort) -> bool:
        """Whether the connector at a port has no other link, so that it can be moved by itself."""
        return len(self.planned.slot(self.name(port))) == 1

    def _is_switch(self, port: NamedPort) -> bool:
        return self.plan.device_at[port.device].role in SWITCHES

    def free(self, row: int) -> list[NamedPort]:
        """A port of each cage of a switch in which nothing is planned, as its system calls it."""
        device = self.plan.device_at[row]
        switch = Embedded(self.design).part(device.product, Switch)
        used = {port.cage for port, _ in self.plan.ports_at[row]}
        namer = namer_of(device.system, switch, self._most[row]) or namer_of("", switch, 1)
        assert namer is not None
        protocol = "infiniband" if device.system == "infiniband" else "ethernet"
        ports = []
        for cage, splits in splits_of(switch, self.planned.devices[device.device].lanes).items():
            if cage not in used:
                name, own = namer(cage, 0, splits[0]), port_name(protocol, len(KINDS), cage, 0, splits[0])
                ports.append(NamedPort(row, own, name.name, cage, 0, splits[0], "", name.alias))
        return ports

    # -- faults -----------------------------------------------------------------------------------------------------

    def _pair(self, cables: Sequence[CabledEnds], fits: Callable[[CabledEnds, CabledEnds], bool]) -> list[CabledEnds]:
        """Two cables that fit; none where there are no such."""
        for first in self.draw.sample(cables, len(cables)):
            others = [second for second in cables if second is not first and fits(first, second)]
            if others:
                return [first, self.draw.choice(others)]
        return []

    def swap(self, cables: list[CabledEnds]) -> Planted | None:
        """The far ends of two cables of one kind are exchanged."""
        pair = self._pair(
            cables, lambda first, second: self._alike(first, second) and self._cage(first) != self._cage(second)
        )
        return self._swapped("swap", cables, pair, SWAPS)

    def swap_in_cage(self, cables: list[CabledEnds]) -> Planted | None:
        """The same of two cables that are in one cage."""
        pair = self._pair(
            cables, lambda first, second: self._alike(first, second) and self._cage(first) == self._cage(second)
        )
        return self._swapped("swap in a cage", cables, pair, frozenset({"swapped-in-cage", "crossed-rail"}))

    def _alike(self, first: CabledEnds, second: CabledEnds) -> bool:
        is_alone = self._is_alone(first.b) and self._is_alone(second.b)
        return is_alone and self._is_switch(first.a) == self._is_switch(second.a) and first.gbps == second.gbps

    def _cage(self, cable: CabledEnds) -> object:
        return self.planned.cage(self.name(cable.b))

    def _swapped(
        self, what: str, cables: list[CabledEnds], pair: list[CabledEnds], kinds: frozenset[str]
    ) -> Planted | None:
        if not pair:
            return None
        first, second = pair
        rest = [cable for cable in cables if cable not in pair]
        there = [*rest, first._replace(b=second.b), second._replace(b=first.b)]
        return Planted(what, there, frozenset(map(self.name, (first.a, first.b, second.a, second.b))), [kinds], 2)

    def missing(self, cables: list[CabledEnds]) -> Planted | None:
        """A cable is gone; of a host that is seen elsewhere, as else nobody knows whether it is on."""
        ends = Counter(end.device for cable in cables for end in cable[:2])
        seen = [cable for cable in cables if all(ends[end.device] > 1 for end in cable[:2])]
        if not seen:
            return None
        gone = self.draw.choice(seen)
        there = [cable for cable in cables if cable != gone]
        return Planted("missing", there, frozenset(map(self.name, gone[:2])), [frozenset({"missing"})], 1)

    def extra(self, cables: list[CabledEnds]) -> Planted | None:
        rows = sorted({end.device for cable in cables for end in cable[:2] if self._is_switch(end)})
        ports = [port for row in rows for port in self.free(row)]
        if len(ports) < 2:
            return None
        a, b = self.draw.sample(ports, 2)
        there = [*cables, CabledEnds(a, b, cables[0].gbps, cables[0].fabric)]
        return Planted("extra", there, frozenset(map(self.name, (a, b))), [frozenset({"unexpected"})], 1)

    def wrong_port(self, cables: list[CabledEnds]) -> Planted | None:
        return self._moved("wrong port", cables, frozenset({"wrong-port"}), lambda own, row: own == row)

    def wrong_end(self, cables: list[CabledEnds]) -> Planted | None:
        kinds = frozenset({"wrong-peer", "crossed-rail"})
        return self._moved("wrong far end", cables, kinds, lambda own, row: own != row)

    def _moved(
        self, what: str, cables: list[CabledEnds], kinds: frozenset[str], fits: Callable[[int, int], bool]
    ) -> Planted | None:
        ends = Counter(end.device for cable in cables for end in cable[:2])
        alone = [
            cable
            for cable in cables
            if self._is_alone(cable.b) and self._is_switch(cable.b) and ends[cable.a.device] > 1
        ]
        self.draw.shuffle(alone)
        rows = sorted({cable.b.device for cable in alone})
        for cable in alone:
            role = self.plan.device_at[cable.b.device].role
            free = [
                port for row in rows if fits(cable.b.device, row) and self.plan.device_at[row].role == role
                for port in self.free(row)
            ]  # fmt: skip
            if free:
                there = [other for other in cables if other != cable]
                port = self.draw.choice(free)
                ports = frozenset(map(self.name, (cable.a, cable.b, port)))
                return Planted(what, [*there, cable._replace(b=port)], ports, [kinds], 1)
        return None

    @property
    def single(self) -> list[Callable[[list[CabledEnds]], Planted | None]]:
        return [self.swap, self.swap_in_cage, self.missing, self.extra, self.wrong_port, self.wrong_end]

    def two(self) -> Planted | None:
        """Two faults at once that touch no port in common."""
        first = self.draw.choice(self.single)(self.cables)
        if first is None:
            return None
        is_whole = [cable for cable in first.cables if first.ports.isdisjoint(map(self.name, cable[:2]))]
        broken = [cable for cable in first.cables if cable not in is_whole]
        second = self.draw.choice(self.single)(is_whole)
        if second is None or not first.ports.isdisjoint(second.ports):
            return None
        return Planted(f"{first.what} and {second.what}", [*second.cables, *broken], first.ports | second.ports,
                       [*first.kinds, *second.kinds], first.moves + second.moves)  # fmt: skip

    def faults(self, number: int) -> Iterator[Planted]:
        """So many faults, kind after kind, every seventh two at once; fewer where a fabric cannot have a kind."""
        kinds = [*self.single, lambda _: self.two()]
        for index in range(number):
            planted = kinds[index % len(kinds)](self.cables)
            if planted is not None:
                yield planted._replace(cables=[*self.others, *planted.cables])
