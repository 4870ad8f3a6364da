"""Discovery files of fabrics that were never built: what ``ibnetdiscover`` and others would print of given cables."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from fabopt.inspect.planned import PortName
from fabopt.wiring.model import Wiring

Link = tuple[PortName, PortName]
IB_PORT = re.compile(r"(\d+)/(\d+)")


def planned_links(wiring: Wiring) -> list[Link]:
    """All links of a wiring."""
    names, links = wiring.devices.name, wiring.links
    rows = zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, strict=True)
    return [(PortName(names[a], a_port), PortName(names[b], b_port)) for a, a_port, b, b_port in rows]


def shuffled(links: Sequence[Link], swaps: int, gaps: int, extras: int, draw: random.Random) -> list[Link]:
    """Links with random pairs exchanged at one end, some gone, and some more between ports that then are free."""
    there = list(links)
    for _ in range(swaps):
        one, other = draw.sample(range(len(there)), 2)
        (a, b), (c, d) = there[one], there[other]
        if draw.random() < 0.5:
            c, d = d, c
        there[one], there[other] = (a, d), (c, b)
    draw.shuffle(there)
    free = [port for link in there[:gaps] for port in link]
    there = there[gaps:]
    draw.shuffle(free)
    for _ in range(min(extras, len(free) // 2)):
        there.append((free.pop(), free.pop()))
    return there


def is_switch(port: PortName) -> bool:
    return any(f"-{role}-" in port.device for role in ("leaf", "spine", "core"))


def discovery_text(links: Iterable[Link], speed: str = "4xNDR", style: str = "mlx5_{}") -> str:
    """What ``ibnetdiscover`` prints of links: adapters are called by the order of their host's ports."""
    listed = list(links)
    peers = {port: other for link in listed for port, other in (link, link[::-1])}
    adapters: dict[str, list[PortName]] = {}
    switches: dict[str, list[PortName]] = {}
    for port in peers:
        (switches if is_switch(port) else adapters).setdefault(port.device, []).append(port)
    number = {device: index for index, device in enumerate(sorted({port.device for port in peers}), 1)}
    lines = ["#", "# Topology file: generated on Sun Nov 22 12:00:00 2026", "#", ""]

    def node(port: PortName) -> str:
        guid = 0x900A840300000000 + number[port.device] * 0x1000
        return f"S-{guid:016x}" if is_switch(port) else f"H-{guid + nic_of(port) + 1:016x}"

    def about(port: PortName) -> str:
        return port.device if is_switch(port) else f"{port.device} {style.format(nic_of(port) + ('HCA' in style))}"

    for device, ports in switches.items():
        guid = node(ports[0])[2:]
        lines += ["vendid=0x2c9", "devid=0xd2f2", f"sysimgguid=0x{guid}", f"switchguid=0x{guid}({guid})"]
        lines.append(f'Switch\t64 "S-{guid}"\t\t# "MF0;{device}:MQM9700/U1" enhanced port 0 lid 7 lmc 0')
        for port in sorted(ports, key=ib_number):
            peer = peers[port]
            own = "" if is_switch(peer) else f"({node(peer)[2:]}) "
            lines.append(
                f'[{ib_number(port)}]\t"{node(peer)}"[{ib_number(peer)}]{own}\t\t# "{about(peer)}" lid 9 {speed}'
            )
        lines.append("")
    for ports in adapters.values():
        for port in sorted(ports):
            guid, peer = node(port)[2:], peers[port]
            lines += ["vendid=0x2c9", "devid=0x1021", f"sysimgguid=0x{guid}", f"caguid=0x{guid}"]
            lines.append(f'Ca\t1 "H-{guid}"\t\t# "{about(port)}"')
            lines.append(f'[1]({guid}) \t"{node(peer)}"[{ib_number(peer)}]\t\t# lid 9 lmc 0 "x" lid 7 {speed}')
            lines.append("")
    return "\n".join(lines) + "\n"


def ib_number(port: PortName) -> int:
    """The number of a port of a twin cage; 1 of an adapter."""
    match = IB_PORT.fullmatch(port.port)
    if not is_switch(port):
        return 1
    return 2 * (int(match[1]) - 1) + int(match[2]) if match else int(port.port)


def nic_of(port: PortName) -> int:
    """The place of a host's port among all, from 0."""
    return int(re.findall(r"\d+", port.port)[0]) - 1


def simulated_net(links: Iterable[Link]) -> str:
    """A fabric for ``ibsim``: adapters as nodes of one port, switches with 64."""
    peers = {port: other for link in links for port, other in (link, link[::-1])}
    number = {device: index for index, device in enumerate(sorted({port.device for port in peers}), 1)}

    def guid(port: PortName) -> str:
        first = 0x900A840300000000 + number[port.device] * 0x1000
        return f"{first + (0 if is_switch(port) else nic_of(port) + 1):016x}"

    def node(port: PortName) -> str:
        return f'"{"S" if is_switch(port) else "H"}-{guid(port)}"[{ib_number(port)}]'

    lines = []
    for port in sorted(port for port in peers if not is_switch(port)):
        own = guid(port)
        lines += ["vendid=0x2c9", "devid=0x1021", f"sysimgguid=0x{own}", f"caguid=0x{own}"]
        lines += [f'Ca\t1 "H-{own}"\t\t# "{port.device} mlx5_{nic_of(port)}"', f"[1](0x{own})\t{node(peers[port])}", ""]
    for device in sorted({port.device for port in peers if is_switch(port)}):
        ports = sorted((port for port in peers if port.device == device), key=ib_number)
        own = guid(ports[0])
        lines += [f"switchguid=0x{own}(0x{own})", f'Switch\t64 "S-{own}"\t\t# "{device}" base port 0 lid 0 lmc 0']
        lines += [*(f"[{ib_number(port)}]\t{node(peers[port])}" for port in ports), ""]
    return "\n".join(lines) + "\n"
