"""How fast the links of a design made by hand are, as the products at their ends can be."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.hand_made import HandLink
from fabopt.inspect.audit.ports import PortPlace, cages_of, lanes_by_cage, speeds, speeds_of_nic
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Transceiver

_NIC = re.compile(r"(.*?\d+)(?:p|/|np)(\d+)")


class LinkSpeeds:
    """Speeds of ends and links in Mb/s."""

    def __init__(self, context: HandContext) -> None:
        self.context = context
        self._lanes: dict[str, dict[int, int]] = {}
        self._places: dict[str, dict[str, PortPlace]] = {}
        self._nic: dict[tuple[str, int], frozenset[int]] = {}

    def of_end(self, device: str, port: str) -> frozenset[int]:
        """Possible speeds of a port; empty where unknown."""
        if self.context.roles[device] == "server":
            return self._of_server(device, port)
        switch = self.context.switch_of.get(device)
        if switch is None:
            return frozenset()
        if device not in self._places:
            self._places[device] = self.context.places(device)
            self._lanes[device] = lanes_by_cage(self._places[device])
        place, cages = self._places[device].get(port), cages_of(switch)
        if place is None or not 1 <= place.cage <= len(cages):
            return frozenset()
        return frozenset(speeds(cages[place.cage - 1], self._lanes[device][place.cage]))

    def _of_server(self, device: str, port: str) -> frozenset[int]:
        link = self.context.ports[device][port][0]
        network = self.context.network_of.get(link.b if link.a == device else link.a)
        nic = None if network is None else self.context.nic_of(network.fabric)
        if nic is None:
            return frozenset()
        key = nic.id, self._ports_of_nics[device, _nic(port)]
        if key not in self._nic:
            self._nic[key] = frozenset(speeds_of_nic(nic, key[1]))
        return self._nic[key]

    @cached_property
    def _ports_of_nics(self) -> Counter[tuple[str, str]]:
        """Ports in use of every NIC of servers."""
        servers = [name for name, role in self.context.roles.items() if role == "server"]
        return Counter((name, _nic(port)) for name in servers for port in self.context.ports.get(name, ()))

    def of_link(self, link: HandLink) -> int | None:
        """Mb/s of a link: the most that both ends can have; None where neither is known."""
        near, far = self.of_end(link.a, link.a_port), self.of_end(link.b, link.b_port)
        if near and far:
            return max(near & far, default=min(max(near), max(far)))
        return max(near or far, default=None)


def ports_of_module(module: Transceiver, mbps: int | None) -> int:
    """Ports that a transceiver has at a speed; where that is not known, or none of its own, as its connectors."""
    splits = [parse_split(split) for split in module.standard_by_split]
    return max((split.ports for split in splits if split.port_mbps == mbps), default=module.connectors)


def _nic(port: str) -> str:
    """The NIC of a server's port: what several ports of it have in common."""
    match = _NIC.fullmatch(port)
    return match[1] if match else port
