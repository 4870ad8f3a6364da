"""Joined ends as found, and the likeliest ports for ends without a known port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from fabopt.inspect.planned import CablePlan, PortName


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
        peer = plan.peer(known)
        if peer.device == device and peer not in taken:
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
    mates: dict[tuple[PortName, PortName], Joined] = {}
    for x, y in joined:
        at_x, at_y = plan.peer(x), plan.peer(y)
        unseen = not {at_x, at_y} & seen and at_x.device not in reporters and at_y.device not in reporters
        if at_x.device and at_y.device and at_x != y and unseen:
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
    same = [port for port in free if plan.peer(port).device == known.device]
    return next(iter([*same, *free]), PortName(device, "?"))
