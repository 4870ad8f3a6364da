"""Comparison of a fabric as built with its plan: right cables, findings and repairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.floor.racks import place_of
from fabopt.inspect.cabling import Names, cabling_of
from fabopt.inspect.findings import Comparison, Finding, findings_of
from fabopt.inspect.planned import NO_PORT, CablePlan, PlannedLink, PortName
from fabopt.inspect.repairs import Move, Pair, fewest_moves, renumbered
from fabopt.inspect.sightings import Discovery
from fabopt.inspect.to_do import CHANGES, Change, DeviceToDo, LinkToDo, WantedCables
from fabopt.io.faults import refuse_any
from fabopt.units import grouped, some
from fabopt.wiring.model import Wiring


@dataclass(frozen=True)
class AsBuilt:
    """The comparison of found cables with a plan.

    plan             the plan
    planned, right   numbers of cables of the networks in the files, and of those with planned ends and speed
    findings         in the order of kinds, then of the plan
    repairs          in walking order
    shares           whether repairs touch a connector of several links, as of splitters
    notes            on the files
    to_do            of a design that goes on from what is in service: links to be laid, moved or taken out; else None
    devices_to_do    devices to be brought in, moved or taken out
    cables           both ends of every cable, by planned names
    """

    plan: CablePlan
    planned: int
    right: int
    findings: Sequence[Finding]
    repairs: Sequence[Move]
    shares: bool
    notes: Sequence[str]
    to_do: Sequence[LinkToDo] | None = None
    devices_to_do: Sequence[DeviceToDo] = ()
    cables: Sequence[Pair] = ()

    @property
    def ok(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    @property
    def cables_to_do(self) -> dict[Change, int]:
        """Cables that are new, move and go, a link without a cable as one; none of those of which there are none."""
        cables = {(link.change, link.cable or str(link.a)) for link in self.to_do or ()}
        counts = Counter(change for change, _ in cables)
        return {change: counts[change] for change in CHANGES if counts[change]}


def as_built(wanted: WantedCables, discoveries: Iterable[Discovery], names: Names) -> AsBuilt:
    """Compare the cables in files with what should be cabled.

    Raises ``InputError`` where the files are of another fabric.
    """
    cabling = cabling_of(discoveries, wanted.plan, names, wanted.systems)
    now = wanted.until_now(cabling)
    comparison, walk = Comparison(now, cabling), Walk(wanted.whole, now)
    there = sorted(cabling.joined)
    if wanted.base is None:
        return replace(_verdict(walk, comparison, comparison.links), cables=there)
    left = frozenset(wanted.plan.links).difference(now.links)
    planned = [link for link in wanted.plan.links if link.network in cabling.networks or link in left]
    links, devices = wanted.links_to_do(now, cabling), wanted.devices_to_do(now, cabling)
    return replace(_verdict(walk, comparison, planned), to_do=links, devices_to_do=devices, cables=there)


def require_planned(names: Mapping[str, str], plan: CablePlan, file: str) -> None:
    """Raise ``InputError`` where a map names neither a device, nor a device's port, nor a port of the plan."""
    devices = plan.devices
    ports = {port for device in devices.values() for port in device.ports.values()}
    faults: list[Fault] = []
    for planned in dict.fromkeys(names.values()):
        device, _, port = planned.partition(" ")
        if planned not in ports and (device not in devices or (port and port not in ports)):
            hint = did_you_mean(device, devices)
            allowed = "a device of the design, `device port`, or a port"
            faults.append(fault(file, "", "this name is not in the design", planned, allowed=allowed, hint=hint))
    refuse_any(faults)


def _verdict(walk: Walk, comparison: Comparison, planned: Iterable[PlannedLink]) -> AsBuilt:
    """The result of a comparison; ``planned``: links whose cables count."""
    links, pairs = _open(comparison)
    slot = comparison.plan.slot
    moves = fewest_moves(links, pairs, slot, walk.steps)
    touched = {port for link in links for port in (link.a, link.b)}.union(*pairs)
    shares = any(len(slot(port)) > 1 for port in touched)
    ordered = sorted(moves, key=lambda move: (walk.key(move.source), walk.key(move.target)))
    cables = _by_cable(planned)
    right = sum(all(map(comparison.is_right, members)) for members in cables)
    findings = findings_of(comparison, _swaps(comparison))
    return AsBuilt(comparison.plan, len(cables), right, findings, renumbered(ordered), shares, notes_of(comparison))


def _by_cable(links: Iterable[PlannedLink]) -> list[list[PlannedLink]]:
    """Links by cable; a link without a cable by itself."""
    cables = grouped((link.cable or link, link) for link in links)
    return list(cables.values())


def _open(comparison: Comparison) -> tuple[list[PlannedLink], list[Pair]]:
    """Links and found pairs of all wrong cables, without undecidable ones."""
    crowded, joined, plan = comparison.crowded, comparison.cabling.joined, comparison.plan
    unclear = crowded | comparison.cabling.unnamed
    doubtful = {port for pair in joined if not unclear.isdisjoint(pair) for port in pair} | unclear
    pairs = [pair for pair in comparison.strange if unclear.isdisjoint(pair)]
    wrong = [link for link in comparison.wrong if doubtful.isdisjoint((link.a, link.b))]
    touched = {port for pair in pairs for own in pair for port in plan.slot(own)}
    labels = {link.cable for link in wrong} - {""}
    labels |= {link.cable for link in comparison.links if link.cable and not touched.isdisjoint((link.a, link.b))}
    held = [link for link in comparison.links if link.cable in labels and comparison.seen(link) is not None]
    return [*wrong, *held], [*pairs, *((min(link.a, link.b), max(link.a, link.b)) for link in held)]


def _swaps(comparison: Comparison) -> dict[PortName, tuple[object, ...]]:
    """A key of each pair of exchanged cables, by the near ends of their links.

    Two links are exchanged if found cables join each end of the one to an end of the other.
    """
    plan, there = comparison.plan, comparison.sole_peers
    swaps: dict[PortName, tuple[object, ...]] = {}
    for link in comparison.wrong:
        other = plan.link_at.get(there.get(link.a, NO_PORT))
        if other is None or (mate := plan.links[other]) == link:
            continue
        if there.get(link.b) == mate.other(there[link.a]):
            swaps[link.a] = tuple(sorted((link.cable or str(link.a), mate.cable or str(mate.a))))
    return swaps


# -- places of ports, and their order on a walk -----------------------------------------------------------------------


_NUMBER = re.compile(r"(\d{1,15})")
# Steps between ports: of a device, of a rack, of a row, of the floor.
_OF_DEVICE, _OF_RACK, _OF_ROW, _OF_FLOOR = range(4)


class RackPlace(NamedTuple):
    """The place of a device: rack, empty without a floor plan, and lowest unit, 0 without one."""

    rack: str
    unit: int


NOWHERE = RackPlace("", 0)
# Rack row and number, unit from the top down, device, name of the port with numbers as numbers.
WalkingKey = tuple[tuple[str, int], int, int, int, tuple[tuple[int, int, str], ...]]


class Walk:
    """The racks of a wiring in walking order: row by row, rack by rack, each from the top down."""

    def __init__(self, wiring: Wiring, plan: CablePlan) -> None:
        self._devices, self._plan = wiring.devices, plan

    def place(self, port: PortName) -> RackPlace:
        """The rack and unit of the device of a port; ``NOWHERE`` for a device that is not planned."""
        device = self._plan.devices.get(port.device)
        if device is None or device.row < 0:
            return NOWHERE
        return RackPlace(self._devices.rack[device.row], int(self._devices.unit[device.row]))

    def key(self, port: PortName) -> WalkingKey:
        """The sort key of a port in walking order; devices without a place come last, in the order of the plan."""
        device = self._plan.devices.get(port.device)
        row = len(self._devices) if device is None or device.row < 0 else device.row
        rack, unit = self.place(port)
        name = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in _NUMBER.split(port.port))
        return (*rack_key(rack), -unit, row, name)

    def steps(self, x: PortName, y: PortName) -> int:
        """The distance of two ports: 0 on one device, 1 in a rack, 2 in a row, 3 elsewhere."""
        if x.device == y.device:
            return _OF_DEVICE
        racks = self.place(x).rack, self.place(y).rack
        if not all(racks):
            return _OF_FLOOR
        if racks[0] == racks[1]:
            return _OF_RACK
        return _OF_ROW if rack_key(racks[0])[0] == rack_key(racks[1])[0] else _OF_FLOOR


def rack_key(rack: str) -> tuple[tuple[str, int], int]:
    """Row and number of a rack; beyond all of them for none."""
    return place_of(rack) if rack else (("~", 0), 0)


# -- notes on the files of a comparison -------------------------------------------------------------------------------
# Notes on the files of a comparison: cables not looked at, unknown ports, speeds not compared.


# Of devices with other names, so many are named.
MOST_NAMES = 10


def notes_of(comparison: Comparison) -> list[str]:
    """Sentences without a full stop; none where there is nothing to say."""
    return [
        *_strange_reports(comparison),
        *_not_looked_at(comparison),
        *_speeds(comparison),
        *_host_ports(comparison),
        *_by_place(comparison),
        *_unseen(comparison),
        *_dark_hosts(comparison),
        *_other_names(comparison),
    ]


def _strange_reports(comparison: Comparison) -> Iterator[str]:
    names = comparison.cabling.strangers
    if names:
        shown = ", ".join(sorted(names)[:MOST_NAMES])
        what = f"{some(len(names), 'report')} of LLDP of devices that are not planned ({shown})"
        yield f"{what}; a file is called after its device, compute-leaf-001.json"


def _not_looked_at(comparison: Comparison) -> Iterator[str]:
    looked_at = comparison.cabling.networks
    others = Counter(link.fabric for link in comparison.plan.links if link.network not in looked_at)
    for fabric, links in others.items():
        yield f"not looked at, for no file names a switch of theirs: {some(links, 'link')} of {fabric}"


def _speeds(comparison: Comparison) -> Iterator[str]:
    if comparison.simulated_gbps is not None:
        rate = f"{comparison.simulated_gbps:g} Gb/s"
        yield f"no link is faster than {rate}, as in a simulator: speeds are compared with that, not with the plan"


def _host_ports(comparison: Comparison) -> Iterator[str]:
    number = comparison.cabling.unresolved_host_ports
    if number:
        what = some(number, "end")
        told = "not the name of a planned port but a MAC or an interface"
        yield f"{what} of cables at hosts: {told}, so the host is checked, not the port; --names or --guids tell it"


def _by_place(comparison: Comparison) -> Iterator[str]:
    shared = comparison.cabling.shared_names
    if shared:
        yield f"several devices are called {', '.join(shared[:MOST_NAMES])}, so that the name tells none of them"
    number = comparison.cabling.ends_by_place
    if number:
        what = f"{some(number, 'end')} of devices that give no name of their own"
        yield f"{what}: taken for the planned ones, as their ports are called; name these devices to be sure"


def _unseen(comparison: Comparison) -> Iterator[str]:
    number = comparison.cabling.mates_unseen
    if number:
        what = f"{some(number, 'cable')} that no file sees: taken for the other one of an exchange"
        yield f"{what}, of which a file sees one; look at both before a move"


def _dark_hosts(comparison: Comparison) -> Iterator[str]:
    """A note on hosts with all of several cables missing, which are more likely off."""
    links: Counter[str] = Counter()
    dark: Counter[str] = Counter()
    peers = comparison.cabling.peers
    absent = {link for link in comparison.wrong if not peers(link.a) and not peers(link.b)}
    for link in comparison.links:
        if comparison.plan.devices[link.a.device].is_host:
            links[link.a.device] += 1
            dark[link.a.device] += link in absent
    off = [host for host, number in dark.items() if number == links[host] > 1]
    for host in off[:MOST_NAMES]:
        yield f"{host}: none of its {some(links[host], 'cable')} is seen; is it on?"
    if len(off) > MOST_NAMES:
        yield f"and {some(len(off) - MOST_NAMES, 'host')} more of which no cable is seen"


def _other_names(comparison: Comparison) -> Iterator[str]:
    """A note on unplanned names of devices in the places of planned ones."""
    places: Counter[tuple[str, str]] = Counter()
    for link in comparison.links:
        stranger = None if comparison.seen(link) is not None else comparison.presumed(link)
        if stranger is not None and stranger not in comparison.cabling.unnamed:
            own = link.b if comparison.sole_peers.get(link.a) == stranger else link.a
            places[stranger.device, own.device] += 1
    shown = places.most_common(MOST_NAMES)
    for (name, planned), links in shown:
        yield f"{name} is where {planned} is planned, at {some(links, 'port')}; if that is its name, --names maps it"
    if len(places) > len(shown):
        yield f"and {some(len(places) - len(shown), 'device')} more of other names in planned places"
