"""Cables in service as they were found: in other ports of the same devices than the design has them.

The network is the design's as long as every port of a server is on its leaf, and every two switches have as many cables
as designed. Then only ports of switches have other numbers, and so have those that are free: what is planned beside
what is in service takes the ports that are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.io.faults import refuse_any
from fabopt.io.tables import COLUMNS, rows_of
from fabopt.units import grouped, some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, NOTHING, Wiring, port_name

# A cage and a port in it, and both ends of a link.
Port = tuple[int, int]
Ports = tuple[Port, Port]
_RANKS = {"server": 0, "attachment": 0, "leaf": 1, "spine": 2, "core": 3}
_MEND = "mend it first, as `fabopt as-built` of what is in service says, or leave `found` out"


class _CageUse(NamedTuple):
    """What makes cages of a switch equal: side of their links, ports, module, and the first cage of their group."""

    side: str
    lanes: int
    module: str
    group: int


class _Pair(NamedTuple):
    """What links are equal by: both switches; of a server, or attachment, its port and the leaf."""

    near: int
    far: int
    port: str


class _Place(NamedTuple):
    """A port, and into how many its cage may be split."""

    port: Port
    lanes: frozenset[int]


class _FoundLink(NamedTuple):
    """A row of the table: its line; devices as rows of the wiring, the lower tier first; names of their ports."""

    line: int
    ends: tuple[int, int]
    names: tuple[str, str]


@dataclass(frozen=True)
class OtherPorts:
    """Ports and cages of switches as found, by name and product of the switch and where the design has them."""

    ports: Mapping[tuple[str, str], Mapping[Port, Port]]
    cages: Mapping[tuple[str, str], Mapping[int, int]]

    def of(self, wiring: Wiring) -> Wiring:
        """The wiring with these ports."""
        if not self.ports:
            return wiring
        links, modules = wiring.links, wiring.modules
        keys = list(zip(wiring.devices.name, wiring.devices.product, strict=True))
        changed: dict[str, Any] = {}
        for end in "ab":
            columns = (getattr(links, f"{end}{column}").tolist() for column in ("", "_cage", "_lane"))
            ports = [self._port(keys[device], (cage, lane)) for device, cage, lane in zip(*columns, strict=True)]
            both = np.array(ports, dtype=np.int64).reshape(-1, 2)
            changed |= {f"{end}_cage": both[:, 0], f"{end}_lane": both[:, 1]}
        holders = zip(modules.device.tolist(), modules.cage.tolist(), strict=True)
        held = [self.cages.get(keys[device], {}).get(cage, cage) for device, cage in holders]
        cages = np.array(held, dtype=np.int64)
        return replace(wiring, links=replace(links, **changed), modules=replace(modules, cage=cages))

    def _port(self, device: tuple[str, str], port: Port) -> Port:
        cage = self.cages.get(device, {}).get(port[0], port[0])
        return self.ports.get(device, {}).get(port, (cage, port[1]))


def as_found(embedded: Embedded, base: Wiring, text: str, file: str) -> OtherPorts:
    """Where the ports of a wiring in service are by a table of its cables.

    Raises ``InputError`` with all faults where the network found is not that of the design.
    """
    return _Found(embedded, base, text, file).other_ports()


class _Found:
    """A table of cables while it is held against the wiring in service."""

    def __init__(self, embedded: Embedded, base: Wiring, text: str, file: str) -> None:
        self.embedded, self.base, self.text, self.file = embedded, base, text, file
        self.faults: list[Fault] = []
        self.row_of = {name.lower(): row for row, name in enumerate(base.devices.name)}
        links = base.links
        cages = (links.a_cage, links.a_lane, links.b_cage, links.b_lane)
        self.designed: list[Ports] = [
            ((a, a_lane), (b, b_lane)) for a, a_lane, b, b_lane in zip(*(of.tolist() for of in cages), strict=True)
        ]
        self.line_of: dict[int, int] = {}

    def other_ports(self) -> OtherPorts:
        there = self._paired(list(self._links()))
        self._refuse()
        cages = {device: self._cages(device, there) for device in self.uses}
        self._refuse()
        self._require_whole_cables(there)
        self._refuse()
        ports = {device: self._ports(device, there, cages[device]) for device in self.uses}
        keys = list(zip(self.base.devices.name, self.base.devices.product, strict=True))
        moved = {
            keys[device]: of_device
            for device, of_device in ports.items()
            if any(port != other for port, other in of_device.items())
        }
        return OtherPorts(moved, {keys[device]: of for device, of in cages.items() if keys[device] in moved})

    def _refuse(self) -> None:
        refuse_any(self.faults)

    def _fault(self, line: int | None, problem: str, *value: str, allowed: str, hint: str = _MEND) -> None:
        where = "" if line is None else f"line {line}"
        self.faults.append(fault(self.file, where, problem, *value, allowed=allowed, hint=hint))

    # -- the rows of the table --------------------------------------------------------------------------------------

    def _links(self) -> Iterator[_FoundLink]:
        """Links between ports of devices in service; a port is in one of them."""
        seen: dict[tuple[int, str], int] = {}
        for line, cells in rows_of(self.text, self.file, COLUMNS):
            ends = [self._end(line, *cells[start : start + 2]) for start in (0, 2)]
            known = [end for end in ends if end is not None]
            for device, port in known:
                first = seen.setdefault((device, port), line)
                if first != line:
                    name = f"{self.base.devices.name[device]} {port}"
                    self._fault(line, f"this port is in line {first} too", name, allowed="one cable a port")
            if len(known) == len(ends):
                (a, a_port), (b, b_port) = sorted(known, key=lambda end: _RANKS[self.base.devices.role[end[0]]])
                yield _FoundLink(line, (a, b), (a_port, b_port))

    def _end(self, line: int, device: str, port: str) -> tuple[int, str] | None:
        names = self.base.devices.name
        row = self.row_of.get(device.lower())
        if row is None:
            hint = did_you_mean(device, names) or "`fabopt as-built --found FILE` writes cables by names of the design"
            self._fault(line, "no such device is in service", device, allowed=", ".join(names[-2:]), hint=hint)
            return None
        known = self.places.get(row, {})
        if port not in known:
            allowed = f"ports of {names[row]} such as {', '.join(list(known)[:2])}"
            self._fault(line, "no such port", f"{device} {port}", allowed=allowed, hint=did_you_mean(port, known))
            return None
        return row, port

    @cached_property
    def places(self) -> dict[int, dict[str, _Place]]:
        """Places by name of every port that links of a device may be in."""
        links, places = self.base.links, dict[int, dict[str, _Place]]()
        splits: dict[int, dict[int, str]] = {}
        for end, names in (("a", self.base.a_port), ("b", self.base.b_port)):
            columns = (getattr(links, f"{end}{column}").tolist() for column in ("", "_cage", "_lane", "_lanes"))
            for device, cage, lane, lanes, fabric, name in zip(*columns, links.fabric.tolist(), names, strict=True):
                places.setdefault(device, {})[name] = _Place((cage, lane), frozenset({lanes}))
                if self._is_switch(device):
                    splits.setdefault(device, {})[lanes] = self.base.protocols[fabric]
        for device, of_device in splits.items():
            part = self.embedded.switch_there(self.base.devices.product[device])
            for cage in range(1, sum(group.count for group in part.cages) + 1):
                for lanes, protocol in of_device.items():
                    for lane in range(lanes):
                        name = port_name(protocol, len(KINDS), cage, lane, lanes)
                        other = places[device].get(name)
                        into = frozenset({lanes}) if other is None else other.lanes | {lanes}
                        places[device][name] = _Place((cage, lane), into)
        return places

    def _is_switch(self, device: int) -> bool:
        return _RANKS[self.base.devices.role[device]] > 0

    # -- which link of the design each row is -----------------------------------------------------------------------

    def _paired(self, listed: Sequence[_FoundLink]) -> dict[int, Ports]:
        """Where the links of the design are found, by their rows."""
        base, links = self.base, self.base.links
        names = list(zip(base.a_port, base.b_port, strict=True))
        ends = zip(links.a.tolist(), links.b.tolist(), names, strict=True)
        designed = grouped((self._pair((a, b), of), row) for row, (a, b, of) in enumerate(ends))
        there = grouped((self._pair(link.ends, link.names), link) for link in listed)
        self._count(designed, there)
        paired: dict[int, Ports] = {}
        for pair, rows in designed.items():
            for row, link in self._alike(rows, there.get(pair, []), names):
                a, b = (self.places[device][name] for device, name in zip(link.ends, link.names, strict=True))
                paired[row], self.line_of[row] = (a.port, b.port), link.line
                lanes = int(links.a_lanes[row]), int(links.b_lanes[row])
                for place, split, name in zip((a, b), lanes, link.names, strict=True):
                    if split not in place.lanes:
                        allowed = f"a port of a cage that is split into {split}"
                        self._fault(link.line, "a port of a cage that is split otherwise", name, allowed=allowed)
        return paired

    def _pair(self, ends: tuple[int, int], names: tuple[str, str]) -> _Pair:
        return _Pair(*ends, "" if self._is_switch(ends[0]) else names[0])

    def _count(self, designed: Mapping[_Pair, Sequence[int]], there: Mapping[_Pair, Sequence[_FoundLink]]) -> None:
        """Note the links that are missing, or join devices that the design does not join so often."""
        name = self.base.devices.name
        leaf_of = {(pair.near, pair.port): name[pair.far] for pair in designed if pair.port}
        elsewhere = set[tuple[int, str]]()
        for pair, links in there.items():
            most, port = len(designed.get(pair, ())), (pair.near, pair.port)
            for link in links[most:]:
                a, b = (f"{name[row]} {end}" for row, end in zip(link.ends, link.names, strict=True))
                allowed = (
                    f"a port of {leaf_of[port]}" if port in leaf_of else f"{some(most, 'cable')} between these two"
                )
                elsewhere.add(port)
                self._fault(link.line, "a cable that is not of the design in service", f"{a} - {b}", allowed=allowed)
        for pair, rows in designed.items():
            lacking = len(rows) - len(there.get(pair, ()))
            if lacking > 0 and (not pair.port or (pair.near, pair.port) not in elsewhere):
                ends = f"{f'{name[pair.near]} {pair.port}'.strip()} to {name[pair.far]}"
                what = f"{len(rows) - lacking} of {some(len(rows), 'cable')} from {ends}"
                self._fault(None, what, allowed="all cables of the design in service")

    def _alike(
        self, rows: Sequence[int], listed: Sequence[_FoundLink], names: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[int, _FoundLink]]:
        """Pairs of links of the design and found ones: those in the same ports, then at one end, before others.

        The end that goes first is that which a cable shares among its links, as that tells the cable.
        """
        left, open_ = list(listed), list(rows)
        for step in range(4):
            for row in tuple(open_):
                near = int(row in self.shared["b"] and row not in self.shared["a"])
                ends = ((0, 1), (near,), (1 - near,), ())[step]
                same = next((link for link in left if all(link.names[end] == names[row][end] for end in ends)), None)
                if same is not None:
                    left.remove(same)
                    open_.remove(row)
                    yield row, same

    @cached_property
    def of_cables(self) -> list[list[int]]:
        """Rows of the links of every cable that has several."""
        cables = grouped((cable, row) for row, cable in enumerate(self.base.links.cable.tolist()) if cable != NOTHING)
        return [rows for rows in cables.values() if len(rows) > 1]

    @cached_property
    def shared(self) -> dict[str, set[int]]:
        """Rows of links by the end at which others of their cable are in the same cage."""
        return {
            end: {row for rows in self.of_cables for own in self._by_cage(rows, side) for row in own}
            for side, end in enumerate("ab")
        }

    def _by_cage(self, rows: Sequence[int], side: int) -> list[list[int]]:
        device = getattr(self.base.links, "ab"[side])
        cages = grouped(((int(device[row]), self.designed[row][side][0]), row) for row in rows)
        return [own for own in cages.values() if len(own) > 1]

    # -- cages and ports of every switch ----------------------------------------------------------------------------

    @cached_property
    def ends_of(self) -> dict[int, list[tuple[int, int]]]:
        """By switch its links, each with the side that it is on."""
        links = self.base.links
        ends = (
            (device, (row, side))
            for side, of in enumerate((links.a, links.b))
            for row, device in enumerate(of.tolist())
        )
        return grouped((device, end) for device, end in ends if self._is_switch(device))

    @cached_property
    def uses(self) -> dict[int, dict[int, _CageUse]]:
        """By switch its cages in use."""
        base, links = self.base, self.base.links
        held = zip(base.modules.device.tolist(), base.modules.cage.tolist(), base.modules.part, strict=True)
        module = {(device, cage): part for device, cage, part in held}
        lanes = (links.a_lanes.tolist(), links.b_lanes.tolist())
        return {
            device: {
                cage: _CageUse(
                    "ab"[side], lanes[side][row], module.get((device, cage), ""), self._group(device, cage)[0]
                )
                for row, side in ends
                for cage in (self.designed[row][side][0],)
            }
            for device, ends in self.ends_of.items()
        }

    def _group(self, device: int, cage: int) -> tuple[int, bool]:
        """The first cage of the group of a cage, and whether each of the group may be used as any other."""
        first = 1
        for group in self.embedded.switch_there(self.base.devices.product[device]).cages:
            if cage < first + group.count:
                return first, not group.every_second
            first += group.count
        return first, False

    def _cages(self, device: int, there: Mapping[int, Ports]) -> dict[int, int]:
        """Cages of a switch where they are found: one that is entered changes places with one that is left."""
        uses, entered = self.uses[device], dict[int, list[int]]()
        for row, side in self.ends_of[device]:
            cage, other = self.designed[row][side][0], there[row][side][0]
            if other not in uses:
                entered.setdefault(other, []).append(row)
            elif uses[other] != uses[cage]:
                self._misplaced(device, row, side, there)
        left = set(uses) - {there[row][side][0] for row, side in self.ends_of[device]}
        side_of = dict(self.ends_of[device])
        cages: dict[int, int] = {}
        for other, rows in sorted(entered.items()):
            wanted = {uses[self.designed[row][side_of[row]][0]] for row in rows}
            own = [self.designed[row][side_of[row]][0] for row in rows]
            free = sorted((cage for cage in left if {uses[cage]} == wanted), key=lambda cage: (cage not in own, cage))
            first, is_any = self._group(device, other)
            if not free or not is_any or first != uses[free[0]].group:
                for row in rows:
                    self._misplaced(device, row, side_of[row], there)
                continue
            left.remove(free[0])
            cages |= {free[0]: other, other: free[0]}
        return cages

    def _misplaced(self, device: int, row: int, side: int, there: Mapping[int, Ports]) -> None:
        uses, cage, other = self.uses[device], self.designed[row][side][0], there[row][side][0]
        equal = [str(number) for number, use in sorted(uses.items()) if use == uses[cage]]
        has = f"has {uses[other].module or 'another use'}" if other in uses else "has nothing in it in the design"
        problem = f"cage {other} of {self.base.devices.name[device]} {has}, and the cable is for cage {cage}"
        allowed = f"cages {', '.join(equal[:8])}{' ...' if len(equal) > 8 else ''}"
        self._fault(self.line_of[row], problem, allowed=allowed)

    def _ports(self, device: int, there: Mapping[int, Ports], cages: Mapping[int, int]) -> dict[Port, Port]:
        """Ports of a switch where they are found; those that are free in the design are those that are left."""
        ports = {self.designed[row][side]: there[row][side] for row, side in self.ends_of[device]}
        taken = set(ports.values())
        for use, own in grouped((use, cage) for cage, use in self.uses[device].items()).items():
            lanes = range(use.lanes)
            free = [(cage, lane) for cage in own for lane in lanes if (cage, lane) not in ports]
            left = [port for cage in own for lane in lanes if (port := (cages.get(cage, cage), lane)) not in taken]
            same = {port: to for port in free if (to := (cages.get(port[0], port[0]), port[1])) in left}
            others = (port for port in left if port not in same.values())
            ports |= same | dict(zip((port for port in free if port not in same), others, strict=True))
        return ports

    def _require_whole_cables(self, there: Mapping[int, Ports]) -> None:
        """Note cables with several links of which a connector would be in two cages, or turned round."""
        for rows in self.of_cables:
            ends = [self._by_cage(rows, side) for side in (0, 1)]
            whole = all(
                len({there[row][side][0] for row in own}) == 1
                and sorted(there[row][side][1] for row in own) == sorted(self.designed[row][side][1] for row in own)
                for side, groups in enumerate(ends)
                for own in groups
            )
            fixed = not all(ends) or all(
                there[row][side][1] == self.designed[row][side][1] for row in rows for side in (0, 1)
            )
            if not whole or not fixed:
                label = self.base.cables.name[int(self.base.links.cable[rows[0]])]
                problem = f"links of the connectors of cable {label} are apart, or not in the order of the connector"
                self._fault(
                    min(self.line_of[row] for row in rows), problem, allowed="a connector of several links in one cage"
                )
