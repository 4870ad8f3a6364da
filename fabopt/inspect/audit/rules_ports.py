"""Rules on single ports and cables: A1, A5 and A8."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.findings import AuditFinding
from fabopt.inspect.audit.hand_made import SWITCH_ROLES, HandLink
from fabopt.inspect.audit.ports import cages_of, in_gbps, most_ports, whole_of, without_speed
from fabopt.inspect.audit.speeds import LinkSpeeds
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.units import some


def ports_exist(context: HandContext) -> Iterator[AuditFinding]:
    """A1: every port that is used is one of the product, and is used once, whole or split."""
    for device, ports in context.ports.items():
        for port, links in ports.items():
            if len(links) > 1:
                lines = ", ".join(str(link.line) for link in links[:4])
                text = f"{device} {port} is used {len(links)} times (lines {lines})"
                yield AuditFinding("A1", f"{device} {port}", str(len(links)), "1", text, links[1].line)
        if context.roles[device] in SWITCH_ROLES:
            yield from _whole_and_split(device, ports)
    for link in context.hand.links:
        if link.a == link.b:
            where = f"{link.a} {link.a_port} - {link.b_port}"
            yield AuditFinding("A1", where, "1 device", "2", f"{where}: both ends are ports of one device", link.line)
    for device, switch in context.switch_of.items():
        yield from _beyond(context, device, switch)


def _whole_and_split(device: str, ports: Mapping[str, Sequence[HandLink]]) -> Iterator[AuditFinding]:
    """Ports that are used as a whole and as parts, as ``swp1`` and ``swp1s0`` are, each told once."""
    parts: dict[str, list[str]] = {}
    by_place = {without_speed(port): port for port in ports}
    for port in ports:
        whole = by_place.get(without_speed(whole_of(port)))
        if whole is not None:
            parts.setdefault(whole, []).append(port)
    for whole, split in parts.items():
        line = ports[split[0]][0].line
        text = f"{device} {whole} is used as a whole (line {ports[whole][0].line}) and split, as {', '.join(split)}"
        yield AuditFinding("A1", f"{device} {whole}", f"{whole}, {', '.join(split)}", "one of them", text, line)


def _beyond(context: HandContext, device: str, switch: Switch) -> Iterator[AuditFinding]:
    """Ports of cages that a switch does not have or cannot split so, and more of them than its ASIC drives."""
    cages = cages_of(switch)
    for port, place in context.places(device).items():
        line = context.ports[device][port][0].line
        if not 1 <= place.cage <= len(cages):
            allowed = f"1 to {len(cages)}"
            text = f"{device} {port}: cage {place.cage}, and {switch.id} has {some(len(cages), 'cage')}"
            yield AuditFinding("A1", f"{device} {port}", str(place.cage), allowed, text, line)
            continue
        most = max(parse_split(split).ports for split in cages[place.cage - 1].splits)
        if place.lane >= most:
            text = f"{device} {port}: port {place.lane + 1} of a cage that {switch.id} splits into {most} at most"
            yield AuditFinding("A1", f"{device} {port}", str(place.lane + 1), str(most), text, line)
    used, limit = len(context.ports.get(device, ())), most_ports(switch)
    if used > limit:
        text = f"{device}: {some(used, 'port')} in use, and {switch.id} has {limit:,}"
        yield AuditFinding("A1", device, str(used), str(limit), text)


def speeds_agree(context: HandContext, speeds: LinkSpeeds) -> Iterator[AuditFinding]:
    """A5: both ends of a link can have one speed."""
    for link in context.hand.links:
        near, far = speeds.of_end(link.a, link.a_port), speeds.of_end(link.b, link.b_port)
        if near and far and not near & far:
            where = f"{link.a} {link.a_port} - {link.b} {link.b_port}"
            told = [" or ".join(map(in_gbps, sorted(end))) for end in (near, far)]
            hint = "; a breakout of the faster port would do" if max(near | far) % min(near | far) == 0 else ""
            text = f"{where}: {told[0]} against {told[1]}{hint}"
            yield AuditFinding("A5", where, told[0], told[1], text, link.line)


def protocols_agree(context: HandContext) -> Iterator[AuditFinding]:
    """A5: switches that a link joins speak one protocol; each pair is told once."""
    told: set[frozenset[str]] = set()
    for link in context.hand.links:
        near, far = context.switch_of.get(link.a), context.switch_of.get(link.b)
        pair = frozenset((link.a, link.b))
        if near and far and near.protocol != far.protocol and pair not in told:
            told.add(pair)
            text = f"{link.a} - {link.b}: {near.id} is {near.protocol}, {far.id} is {far.protocol}"
            yield AuditFinding("A5", f"{link.a} - {link.b}", near.protocol, far.protocol, text, link.line)


def cables_have_ends(context: HandContext) -> Iterator[AuditFinding]:
    """A8: every row of a cable has both its ends."""
    for line in context.hand.half:
        yield AuditFinding("A8", f"line {line}", "1", "2", f"line {line}: an end of the cable is missing", line)
