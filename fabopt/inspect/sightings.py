"""Sightings of cables in files: pairs of devices and ports.

Joined ends as found, and the likeliest ports for ends without a known port.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabopt.errors import InputError, refusal
from fabopt.inspect.planned import CablePlan, PortName

# How devices are called before anybody names them.
_DEFAULT_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ubuntu", "debian", "linux", "switch", "sonic",
                            "cumulus", "(none)"})  # fmt: skip
_OF_A_VENDOR = re.compile(r"\bMellanox Technologies\b|^MT\d{4,}\b|^Quantum\b|\bConnectX")
_ADDRESS = re.compile(r"(?:0x)?(?:[0-9a-f]{2}[:.-]?){5,7}[0-9a-f]{2}|(?:[0-9a-f]{4}[.:]){2,3}[0-9a-f]{4}")


class SeenEnd(NamedTuple):
    """An end of a cable as a file has it.

    device   name; empty where the file gives none
    ports    names of the port, the most exact first
    number   of a port of an InfiniBand switch
    guid     GUID or MAC of the port, 16 or 12 hexadecimal digits; empty where not known
    node     GUID of the NIC or switch
    """

    device: str
    ports: tuple[str, ...] = ()
    number: int | None = None
    guid: str = ""
    node: str = ""


class Sighting(NamedTuple):
    """A cable as one end sees the other. ``gbps``: None if not stated."""

    near: SeenEnd
    far: SeenEnd
    gbps: float | None = None


@dataclass(frozen=True)
class Discovery:
    """The cables in a file.

    reporters   names of the devices that report all their neighbours; their ports without one are dark
    is_whole    the file has all cables of its fabric, whoever reports
    """

    file: str
    sightings: Sequence[Sighting]
    reporters: frozenset[str]
    is_whole: bool


def address(text: str) -> str:
    """The digits of a GUID or MAC address, small; empty for any other text."""
    text = text.strip().lower()
    return re.sub(r"^0x|[^0-9a-f]", "", text) if _ADDRESS.fullmatch(text) else ""


def is_unnamed(device: str) -> bool:
    """Whether a name is not one given by an operator: a default, a vendor's text, an address."""
    return device.lower() in _DEFAULT_NAMES or bool(_OF_A_VENDOR.search(device) or address(device))


def cut_off(file: str, line: int, what: str) -> InputError:
    """The error for a file without its end."""
    return refusal(
        file, f"line {line}", f"the file is cut off: {what}", hint="run the command that wrote it again, to its end"
    )


class Joined(NamedTuple):
    """Two joined ends as found; ``gbps``: None if not stated."""

    x: PortName
    y: PortName
    gbps: float | None

    def other(self, port: PortName) -> PortName:
        """The other end."""
        return self.y if port == self.x else self.x


def with_ports(
    joined: Mapping[tuple[PortName, PortName], Joined], plan: CablePlan
) -> dict[tuple[PortName, PortName], Joined]:
    """Links with a port at every planned device: the likeliest if not stated.

    A sighting of the same cable with its port takes precedence. The likeliest port is that planned for the other end;
    else, among unseen ports of the device, one planned for the device of the other end, or the first.
    """
    told = {pair: link for pair, link in joined.items() if all(_is_told(port, plan) for port in pair)}
    open_ = [link for pair, link in joined.items() if pair not in told]
    seen = {(port, other.device) for pair in told for port, other in (pair, pair[::-1])}
    taken = {port for pair in told for port in pair}
    todo: list[tuple[PortName, str, Joined]] = []
    for link in open_:
        known, device = (link.x, link.y.device) if _is_told(link.x, plan) else (link.y, link.x.device)
        if not _is_told(known, plan) or (known, device) in seen:
            continue
        peers = (planned.other(known) for planned in plan.links_of(known))
        peer = next((peer for peer in peers if peer.device == device and peer not in taken), None)
        if peer is not None:
            told[_pair(known, peer)] = Joined(*_pair(known, peer), link.gbps)
            taken.add(peer)
        else:
            todo.append((known, device, link))
    for known, device, link in todo:
        port = _likeliest(known, device, taken, plan)
        taken.add(port)
        told[_pair(known, port)] = Joined(*_pair(known, port), link.gbps)
    return told


def mates_unseen(
    joined: Mapping[tuple[PortName, PortName], Joined],
    plan: CablePlan,
    reporters: frozenset[str],
    whole: frozenset[int],
) -> list[Joined]:
    """Unseen cables implied by the exchange of a seen cable with another.

    For an unplanned pair the planned peers of both its ends, if no file could see either. ``reporters``: devices that
    report all their neighbours; ``whole``: networks with all cables in a file.
    """
    seen = {port for pair in joined for port in pair}
    was = {_pair(link.a, link.b) for link in plan.was}
    mates: dict[tuple[PortName, PortName], Joined] = {}
    for x, y in joined:
        at_x, at_y = plan.peer(x), plan.peer(y)
        unseen = not {at_x, at_y} & seen and at_x.device not in reporters and at_y.device not in reporters
        if at_x.device and at_y.device and at_x != y and unseen and (x, y) not in was:
            rows = (plan.link_at[port] for port in (x, y))
            if not any(plan.links[row].network in whole for row in rows):
                mates[_pair(at_x, at_y)] = Joined(*_pair(at_x, at_y), None)
    ends = Counter(port for pair in mates for port in pair)
    return [mate for pair, mate in mates.items() if all(ends[port] == 1 for port in pair)]


def _is_told(port: PortName, plan: CablePlan) -> bool:
    return bool(port.port) or port.device not in plan.devices


def _pair(x: PortName, y: PortName) -> tuple[PortName, PortName]:
    return (x, y) if x <= y else (y, x)


def _likeliest(known: PortName, device: str, taken: set[PortName], plan: CablePlan) -> PortName:
    planned = plan.devices[device].ports
    free = [port for key in sorted(planned) if (port := PortName(device, planned[key])) not in taken]
    same = [port for port in free if any(link.other(port).device == known.device for link in plan.links_of(port))]
    return next(iter([*same, *free]), PortName(device, "?"))
