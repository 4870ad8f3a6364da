"""Found cables in the plan's names: every sighting with both ends resolved, as far as known.

Proposed planned names for devices with other names, by their neighbours.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from fabopt.errors import refusal
from fabopt.inspect.planned import (
    NO_PORT,
    AdapterOrder,
    CablePlan,
    HostPorts,
    NamedPorts,
    PlannedDevice,
    PortName,
    SystemNames,
    adapter_order,
    switch_port,
)
from fabopt.inspect.sightings import Discovery, Joined, SeenEnd, Sighting, is_unnamed, mates_unseen, with_ports
from fabopt.units import grouped

# One name of so many must be planned: with less a file is of another fabric.
LEAST_SHARE = 10
# Ports of switches that are no part of a fabric.
_MANAGEMENT = re.compile(
    r"(?:eth|mgmt|ma|fxp|em|me|bmc|lo|Management|usb|docker|bond|bridge|vlan|Vlan|Loopback)[\d/.]*"
)


@dataclass(frozen=True)
class Names:
    """Maps that users give: names that are found to those of the plan, and GUIDs or MACs to ``device port``.

    Names are in small letters, addresses are digits; a port is named by ``device port``, or alone for all devices.
    """

    planned: Mapping[str, str] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)

    def of_address(self, end: SeenEnd) -> str:
        """The mapped name of an end's GUID or MAC; empty without one."""
        for digits in filter(None, (end.guid, end.node)):
            mapped = self.ends.get(digits) or self.planned.get(digits)
            if mapped:
                return mapped
        return ""


@dataclass(frozen=True)
class FoundCabling:
    """All found cables.

    joined      by both ends, in order; a port may be in several
    unnamed     ends of devices that have no name of their own, by what stands for it
    reporters   planned devices that say all that they see
    networks    numbers of the planned networks that files are of; whole: those of which a file has all cables
    strangers   names that reports of LLDP are called after, of devices that are not planned
    shared_names   names that are not planned and that several devices have
    mates_unseen   cables that no file sees, taken for the other one of an exchange
    ends_by_place  ends of devices without a name that are taken for the planned ones, as their ports are called so
    """

    joined: Mapping[tuple[PortName, PortName], Joined]
    unnamed: frozenset[PortName]
    reporters: frozenset[str]
    networks: frozenset[int]
    whole: frozenset[int]
    strangers: tuple[str, ...]
    unresolved_host_ports: int
    ends_by_place: int = 0
    shared_names: tuple[str, ...] = ()
    mates_unseen: int = 0

    @cached_property
    def joined_at(self) -> dict[PortName, list[Joined]]:
        """Joined ends by port."""
        return grouped((port, joined) for joined in self.joined.values() for port in (joined.x, joined.y))

    @cached_property
    def devices(self) -> frozenset[str]:
        """Devices that are seen at an end of something."""
        return frozenset(port.device for port in self.joined_at)

    def peers(self, port: PortName) -> list[PortName]:
        """Ends seen at a port."""
        return [joined.other(port) for joined in self.joined_at.get(port, ())]


def cabling_of(discoveries: Iterable[Discovery], plan: CablePlan, names: Names, systems: SystemNames) -> FoundCabling:
    """Put what files say into the plan's names; ``InputError`` where hardly any name is planned."""
    return _Resolution(plan, names, list(discoveries), systems).cabling()


class _End(NamedTuple):
    """An end as resolved; a port without a name is one that nobody knows. ``is_dropped``: no part of a fabric."""

    port: PortName
    is_unnamed: bool = False
    is_dropped: bool = False


def _names_of_port(end: SeenEnd) -> tuple[str, ...]:
    """What a port is called; of a switch of InfiniBand its number."""
    return end.ports if end.number is None else (str(end.number),)


class _Resolution:
    """One reading of files against a plan."""

    def __init__(self, plan: CablePlan, names: Names, reports: Sequence[Discovery], systems: SystemNames) -> None:
        self.plan, self.names, self.reports, self.systems = plan, names, reports, systems
        self._unnamed: set[PortName] = set()
        # far ends of devices without a name that are taken for planned ones
        self.by_place = 0
        self._ports: dict[tuple[str, str], HostPorts] = {}
        self._known: dict[str, str] = {}
        self._shared = self._names_of_several()
        self._of_files: frozenset[int] = frozenset().union(*map(self._networks, reports))
        self._order: AdapterOrder = self._adapters()
        self._switch_ports: dict[str, NamedPorts] = self._ports_of_switches()

    def cabling(self) -> FoundCabling:
        self._require_names(*self._matched())
        joined = self._joined()
        told = with_ports(joined, self.plan)
        whole = frozenset[int]().union(*(self._networks(report) for report in self.reports if report.is_whole))
        named = {self._device(name) for report in self.reports for name in report.reporters}
        reporters = frozenset(named & set(self.plan.devices))
        mates = mates_unseen(told, self.plan, reporters, whole)
        return FoundCabling(
            told | {(mate.x, mate.y): mate for mate in mates},
            frozenset(self._unnamed),
            reporters,
            self._of_files,
            whole,
            tuple(name for name in self._reporters() if name not in self.plan.devices),
            sum(not port.port for pair in joined for port in pair if port.device in self.plan.devices),
            self.by_place,
            tuple(sorted(self._shared)),
            len(mates),
        )  # fmt: skip

    # -- devices ----------------------------------------------------------------------------------------------------

    def _device(self, name: str) -> str:
        """The planned name of a device by what it is called; its own where it is not planned."""
        if name not in self._known:
            text = " ".join(name.split())
            tables, spelled = self.names.planned, self.plan.spelled
            mapped = tables.get(text.lower()) or tables.get(text.lower().partition(".")[0]) or text
            short = mapped.lower().partition(".")[0]
            self._known[name] = spelled.get(mapped.lower()) or spelled.get(short) or mapped
        return self._known[name]

    def _names_of_several(self) -> frozenset[str]:
        """Names that are not planned, of which one port is seen at several ports: several devices have them."""
        seen: dict[tuple[str, str], set[tuple[object, ...]]] = {}
        for report in self.reports:
            for sighting in report.sightings:
                far, near = sighting.far, sighting.near
                port = next(iter(far.ports), "") or ("" if far.number is None else str(far.number))
                if port and not far.node:
                    seen.setdefault((far.device, port), set()).add((near.device, near.ports, near.number))
        several = {device for (device, _), places in seen.items() if len(places) > 1}
        return frozenset(device for device in several if self._device(device) not in self.plan.devices)

    def _is_nameless(self, device: str) -> bool:
        """Whether a name tells no device: none that somebody gave, or one of several."""
        return is_unnamed(device) or device in self._shared

    def _ends(self) -> Iterator[SeenEnd]:
        for report in self.reports:
            for sighting in report.sightings:
                yield from (sighting.near, sighting.far)

    def _matched(self) -> tuple[int, int]:
        """The number of planned names of devices, and of all names; defaults and addresses do not count."""
        seen = {end.device for end in self._ends()} | {name for report in self.reports for name in report.reporters}
        resolved = {name: self._device(name) for name in seen}
        counted = {
            device for name, device in resolved.items() if device in self.plan.devices or not self._is_nameless(name)
        }
        return sum(device in self.plan.devices for device in counted), len(counted)

    def _reporters(self) -> list[str]:
        """Devices, by their planned names where they have one, of which there are reports of LLDP."""
        return [self._device(name) for report in self.reports if not report.is_whole for name in report.reporters]

    def _require_names(self, known: int, all_: int) -> None:
        if known and LEAST_SHARE * known >= all_:
            return
        strange = next((end.device for end in self._ends() if self._device(end.device) not in self.plan.devices), "")
        file = self.reports[0].file if self.reports else ""
        if not all_:
            raise refusal(
                file,
                "",
                "nothing is joined to anything here, as far as its devices have names",
            )
        raise refusal(
            file,
            "",
            f"{known} of {all_} names match: this is of another fabric, or its devices have other names",
            strange,
            allowed=f"names of the design, such as {', '.join(list(self.plan.devices)[-2:])}",
            hint="`--names FILE` maps names that are found to planned ones",
        )

    def _networks(self, report: Discovery) -> frozenset[int]:
        """Networks whose switches (or, where there are none, whose hosts) a file names."""
        seen = {self._device(name) for name in report.reporters}
        seen |= {self._device(end.device) for sighting in report.sightings for end in (sighting.near, sighting.far)}
        return frozenset(
            link.network for link in (*self.plan.links, *self.plan.was)
            if (link.b.device in seen and not self.plan.devices[link.b.device].is_host)
            or {link.a.device, link.b.device} <= seen
        )  # fmt: skip

    # -- ports ------------------------------------------------------------------------------------------------------

    def _ports_of(self, host: str, end: SeenEnd) -> HostPorts:
        """Planned ports of a host that an end may be; only ``ibnetdiscover`` tells the GUIDs of nodes."""
        protocol = "infiniband" if end.node else "ethernet"
        if (host, protocol) not in self._ports:
            ports = self.plan.devices[host].ports
            named = [(port, self.plan.links_of(PortName(host, port))) for _, port in sorted(ports.items())]
            rows = [(port, links[0]) for port, links in named if links]
            own = tuple(port for port, link in rows if link.protocol == protocol) or tuple(port for port, _ in rows)
            hcas = self.systems.hcas(host) if self.plan.devices[host].role == "server" else {}
            self._ports[host, protocol] = HostPorts(
                own,
                tuple(port for port, link in rows if link.network in self._of_files),
                tuple((hcas[place], port) for place, port in sorted(ports.items()) if place in hcas),
            )
        return self._ports[host, protocol]

    def _adapters(self) -> AdapterOrder:
        ends = ((self._device(end.device), end) for end in self._ends() if end.number is None)
        hosts = ((device, end) for device, end in ends if device in self.plan.devices)
        return adapter_order((self._ports_of(host, end), name) for host, end in hosts for name in end.ports)

    def _ports_of_switches(self) -> dict[str, NamedPorts]:
        names: dict[str, set[str]] = {}
        for end in self._ends():
            names.setdefault(self._device(end.device), set()).update(_names_of_port(end))
        switches = {name: device for name, device in self.plan.devices.items() if not device.is_host}
        return self.systems.ports(switches, names)

    def _resolved(self, end: SeenEnd) -> _End:
        mapped = self.names.of_address(end)
        if mapped:
            return _End(self._named(mapped))
        device = self._device(end.device)
        for name in end.ports:
            pair = self.names.planned.get(f"{end.device} {name}".lower())
            if pair:
                return _End(self._named(pair))
        if device not in self.plan.devices:
            nameless = self._is_nameless(end.device)
            words = [next(iter(end.ports), ""), end.guid or end.node] if nameless else end.ports[:1]
            shown = " ".join(filter(None, words)) or ("" if end.number is None else str(end.number))
            return _End(PortName(end.device, shown), nameless)
        return self._of_planned(device, self.plan.devices[device], end)

    def _named(self, text: str) -> PortName:
        """A planned port, or a device without one, by ``device port``."""
        device, _, port = text.partition(" ")
        return PortName(self._device(device), port)

    def _of_planned(self, device: str, known: PlannedDevice, end: SeenEnd) -> _End:
        names = [self.names.planned.get(name.lower(), name) for name in _names_of_port(end)]
        if known.is_host:
            return _End(PortName(device, self._host_port(device, end, names)))
        for name in names:
            port = switch_port(name, known, self._switch_ports[device])
            if port:
                return _End(PortName(device, port))
        if any(map(_MANAGEMENT.fullmatch, names)):
            return _End(NO_PORT, is_dropped=True)
        return _End(PortName(device, next(iter(names), "")))

    def _host_port(self, host: str, end: SeenEnd, names: Sequence[str]) -> str:
        known, ports = self.plan.devices[host].ports.values(), self._ports_of(host, end)
        for name in names:
            port = name if name in known else self._order.port(name, ports)
            if port:
                return port
        return next(iter(known)) if len(known) == 1 else ""

    # -- links ------------------------------------------------------------------------------------------------------

    def _joined(self) -> dict[tuple[PortName, PortName], Joined]:
        """What is joined, by both ends; an end without a name counts where nobody names what is at its port."""
        joined = self._sighted()
        named = {port for pair in joined if self._unnamed.isdisjoint(pair) for port in pair}
        spare = [pair for pair in joined if not self._unnamed.isdisjoint(pair) and not named.isdisjoint(pair)]
        for pair in spare:
            del joined[pair]
        self._unnamed &= {port for pair in joined for port in pair}
        return joined

    def _sighted(self) -> dict[tuple[PortName, PortName], Joined]:
        joined: dict[tuple[PortName, PortName], Joined] = {}
        for report in self.reports:
            for sighting in report.sightings:
                for link in self._link(sighting):
                    key = link.x, link.y
                    rates = [rate for rate in (link.gbps, joined.get(key, link).gbps) if rate is not None]
                    joined[key] = link._replace(gbps=min(rates, default=None))
        return joined

    def _link(self, sighting: Sighting) -> Iterator[Joined]:
        """The link of a sighting; none of what is no part of a planned fabric."""
        near, far = self._resolved(sighting.near), self._resolved(sighting.far)
        if near.is_dropped or far.is_dropped or not self._concerns(near.port, far.port):
            return
        far = self._by_place(near, far, sighting.far)
        self._unnamed |= {end.port for end in (near, far) if end.is_unnamed}
        x, y = sorted((near.port, far.port))
        yield Joined(x, y, sighting.gbps)

    def _by_place(self, near: _End, far: _End, seen: SeenEnd) -> _End:
        """A far end whose device gives no name: the planned one where its port is called as that, else of its own.

        So several devices that have one name between them, or none, are not taken for one.
        """
        if not far.is_unnamed or near.is_unnamed or seen.node or seen.guid in self.names.ends:
            return far
        for link in self.plan.links_of(near.port) if seen.ports else ():
            peer = link.other(near.port)
            own = self._of_planned(peer.device, self.plan.devices[peer.device], seen._replace(device=peer.device))
            if own.port == peer:
                self.by_place += 1
                return own
        shown = far.port.port or "a device without a name"
        return far._replace(port=PortName("", f"{shown} at {near.port.device} {near.port.port}"))

    def _concerns(self, near: PortName, far: PortName) -> bool:
        """Whether a planned switch, or two planned devices of which one says its port, are joined."""
        devices = [self.plan.devices.get(port.device) for port in (near, far)]
        if any(device is not None and not device.is_host and port.port
               for device, port in zip(devices, (near, far), strict=True)):  # fmt: skip
            return True
        return None not in devices and bool(near.port or far.port)


def proposed_names(
    plan: CablePlan, systems: SystemNames, discoveries: Iterable[Discovery], names: Names
) -> list[tuple[str, str]]:
    """Names that are found, each with the planned device in whose place its device stands; sorted.

    A device is the one that is planned for most of the ports at which it is seen, if no other is as likely, and no
    other device is as likely to be that one. What is told so tells of its neighbours, until nothing new is told.
    Raises ``InputError`` where hardly any name is planned.
    """
    reports = list(discoveries)
    told: dict[str, str] = {}
    while True:
        known = Names({**names.planned, **{name.lower(): planned for name, planned in told.items()}}, names.ends)
        cabling = cabling_of(reports, plan, known, systems)
        new = _places(cabling, plan, set(told.values()))
        if not new:
            return sorted(told.items())
        told |= new


def _places(cabling: FoundCabling, plan: CablePlan, taken: set[str]) -> dict[str, str]:
    """Unplanned devices by the planned ones whose places they have."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for port, joined in cabling.joined_at.items():
        wanted = plan.peer(port).device
        for link in joined:
            far = link.other(port)
            strange = far.device and far.device not in plan.devices and far not in cabling.unnamed
            if strange and wanted and wanted not in cabling.devices and wanted not in taken:
                votes[far.device][wanted] += 1
    best = {name: _sole_best(own) for name, own in votes.items()}
    rivals = Counter(planned for planned in best.values() if planned)
    return {name: planned for name, planned in best.items() if planned and rivals[planned] == 1}


def _sole_best(votes: Mapping[str, int]) -> str:
    """The name with most votes; empty where several have as many."""
    ranked: Sequence[tuple[str, int]] = Counter(votes).most_common(2)
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else ""
