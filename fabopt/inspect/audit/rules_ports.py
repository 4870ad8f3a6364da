"""Rules on single ports and cables: A1, A5 and A8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.ports import cages_of, in_gbps, lanes_by_cage, most_ports, whole_of, without_speed
from fabopt.inspect.audit.rules_network import LinkSpeeds
from fabopt.inspect.audit.tables import SWITCH_ROLES, AuditFinding, HandLink
from fabopt.parts.pools import LosslessPorts, pool_verdict, shortfall_text
from fabopt.parts.switches import ALL_LANES, signal_lanes
from fabopt.schema.base import parse_split
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Cable, Switch, Transceiver
from fabopt.schema.operate import Roce
from fabopt.units import MBPS_PER_GBPS, grouped, some


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
    by_place = {without_speed(port): port for port in ports}
    wholes = ((by_place.get(without_speed(whole_of(port))), port) for port in ports)
    for whole, split in grouped((whole, port) for whole, port in wholes if whole is not None).items():
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


# -- A19 --------------------------------------------------------------------------------------------------------------


def headroom_fits(context: HandContext, speeds: LinkSpeeds) -> Iterator[AuditFinding]:
    """A19: no switch has less packet memory than its ports need, each with the length and speed of its link.

    On so many priorities as the case's ``roce`` says, else on one. A switch whose pool or ASIC is not known, or whose
    links have no length, is left out.
    """
    for name in context.switches():
        switch, network = context.switch_of.get(name), context.network_of.get(name)
        fabric = network.fabric if network is not None else None
        roce = _roce(fabric)
        if switch is None or switch.protocol != "ethernet" or not switch.asic or roce is None:
            continue
        ports = _ports(context, speeds, name, switch)
        verdict = pool_verdict(switch.asic, switch.buffer_pool, ports, roce.lossless_priorities, roce.mtu)
        if ports and verdict is not None and verdict.spare < 0:
            text = f"{name}, {switch.id}: {shortfall_text(ports, roce.lossless_priorities, verdict)}"
            yield AuditFinding("A19", name, f"{-verdict.spare} bytes short", "0 bytes short", text)


def _roce(fabric: Fabric | None) -> Roce | None:
    """The lossless settings of a fabric; None if none of it is lossless."""
    if fabric is None:
        return Roce()
    return fabric.lossless


def _ports(context: HandContext, speeds: LinkSpeeds, name: str, switch: Switch) -> Sequence[LosslessPorts]:
    """Ports in use with their lengths and speeds, those alike counted; none where one of them is not known."""
    places, lanes = context.places(name), signal_lanes(switch)
    ports_of_cage = lanes_by_cage(places)
    counts: Counter[tuple[float, float, int]] = Counter()
    for port, _, link in context.peer_links(name):
        rate, place = speeds.of_link(link), places.get(port)
        if rate is None or place is None or link.cable.length_m is None:
            return ()
        share = lanes.get(place.cage, ALL_LANES) // ports_of_cage[place.cage]
        counts[rate / MBPS_PER_GBPS, link.cable.length_m, max(1, share)] += 1
    return [LosslessPorts(number, *key) for key, number in sorted(counts.items())]


# -- A6 of a case with a vendor's compatibility matrix ----------------------------------------------------------------


def parts_are_qualified(context: HandContext) -> Iterator[AuditFinding]:
    """A6: modules and cables are among those that the case names for their device, where it names any.

    Source: case file, ``procurement.qualified``. Parts and devices that the file does not name are not compared.
    """
    lists = None if context.case is None else context.case.procurement.qualified
    if not isinstance(lists, Mapping):
        return
    modules = {(one.device, one.port): one.part for one in context.hand.modules or ()}
    for link in context.hand.links:
        for own, port, far, optic in (
            (link.a, link.a_port, link.b, link.cable.optics[0]),
            (link.b, link.b_port, link.a, link.cable.optics[1]),
        ):
            module = context.product(optic or modules.get((own, port), ""), Transceiver)
            part = module or context.product(link.cable.part, Cable)
            for device in _devices(context, own, far) if part is not None else ():
                if device in lists and part is not None and part.id not in lists[device]:
                    text = f"{_place(link)}: {part.id} is not qualified for {device}"
                    yield AuditFinding("A6", _place(link), part.id, ", ".join(lists[device]), text, link.line)


def _place(link: HandLink) -> str:
    return f"{link.a} {link.a_port} - {link.b} {link.b_port}"


def _devices(context: HandContext, own: str, far: str) -> list[str]:
    """The products whose lists hold at an end: the switch; of a server its NIC, and itself where that is built in."""
    if context.roles[own] != "server":
        switch = context.switch_of.get(own)
        return [] if switch is None else [switch.id]
    network, server = context.network_of.get(far), context.server
    nic = None if network is None else context.nic_of(network.fabric)
    if nic is None:
        return []
    is_built_in = server is not None and any(one.id == nic.id for one in server.nics)
    return [nic.id, server.id] if is_built_in and server is not None else [nic.id]
