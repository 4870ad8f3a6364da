"""Rules on how switches are joined: A2, A3, A9, A11, A14, A15 and A17.

How fast the links of a design made by hand are, as the products at their ends can be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fabopt.inspect.audit.context import HandContext, HandNetwork
from fabopt.inspect.audit.ports import PortPlace, cages_of, lanes_by_cage, most_ports, ports_at, speeds, speeds_of_nic
from fabopt.inspect.audit.tables import AuditFinding, HandLink, Role
from fabopt.schema.base import parse_split, ratio
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Transceiver
from fabopt.units import plural, some

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


_STORAGE = re.compile(r"stor|nas\b|weka|vast|ddn|lustre|ceph|ssd", re.IGNORECASE)
# Uplinks beyond what is below them are remarked on from here: a quarter more.
_DARK = Fraction(5, 4)
_BOUNDARIES: tuple[tuple[Role, Role], ...] = (("leaf", "spine"), ("spine", "core"))
# A tier, what is below it, and what is above it.
_TIERS: tuple[tuple[Role, Role, Role], ...] = (("leaf", "server", "spine"), ("spine", "leaf", "core"))


@dataclass(frozen=True)
class WiredByHand:
    """A design by hand with its speeds, and the oversubscription that it claims; None: what its case allows."""

    context: HandContext
    speeds: LinkSpeeds
    claimed: float | None


def _links_to(context: HandContext, device: str, role: Role) -> Counter[str]:
    """Links of a device to others of a role."""
    return Counter(far for _, far, _ in context.peer_links(device) if context.roles[far] == role)


def striping_is_even(wired: WiredByHand) -> Iterator[AuditFinding]:
    """A2: a leaf has the same number of links to every spine that its fellows reach, and so has a spine to cores."""
    for network in wired.context.networks:
        striping = "even" if network.fabric is None else network.fabric.striping
        if striping != "any":
            for near, far in _BOUNDARIES:
                yield from _uneven(wired.context, network, near, far, striping == "rail")


def _uneven(context: HandContext, network: HandNetwork, near: Role, far: Role, by_one: bool) -> Iterator[AuditFinding]:
    links = {name: _links_to(context, name, far) for name in network.tiers.get(near, ())}
    for group, tops in _joined(links):
        for name in group:
            numbers = [links[name][top] for top in tops]
            if max(numbers) - min(numbers) > by_one:
                few = tops[numbers.index(min(numbers))]
                text = (
                    f"{name} has {min(numbers)} to {max(numbers)} links to the {plural(far)} that its fellows reach: "
                    f"{min(numbers)} to {few}"
                )
                yield AuditFinding("A2", name, f"{min(numbers)} to {max(numbers)}", "equal", text)


def _joined(links: Mapping[str, Counter[str]]) -> Iterator[tuple[list[str], list[str]]]:
    """Groups of devices that share peers, with all peers of each group."""
    group_of: dict[str, int] = {}
    groups: dict[int, tuple[list[str], dict[str, None]]] = {}
    for number, (name, peers) in enumerate(links.items()):
        joined = sorted({group_of[peer] for peer in peers if peer in group_of})
        own: tuple[list[str], dict[str, None]] = ([name], dict.fromkeys(peers))
        for other in joined:
            names, tops = groups.pop(other)
            own = ([*names, *own[0]], tops | own[1])
        groups[number] = own
        group_of |= dict.fromkeys(own[1], number)
    for names, tops in groups.values():
        if tops:
            yield names, list(tops)


# -- ratios ---------------------------------------------------------------------------------------------------------


def ratio_is_as_claimed(wired: WiredByHand) -> Iterator[AuditFinding]:
    """A3: no leaf, and no spine below cores, sends more down than up beyond what is claimed."""
    for network in wired.context.networks:
        for tiers in _TIERS:
            claimed = _claimed(wired, network.fabric, tiers[0])
            if claimed is not None:
                yield from _above_claim(wired, network, tiers, claimed)


def _claimed(wired: WiredByHand, fabric: Fabric | None, tier: Role) -> Fraction | None:
    if wired.claimed is not None:
        return ratio(wired.claimed)
    most = None if fabric is None else fabric.max_oversubscription
    if most is None or isinstance(most, int | float):
        return None if most is None else ratio(most)
    own = most.leaf if tier == "leaf" else most.spine
    return None if own is None else ratio(own)


def _above_claim(
    wired: WiredByHand, network: HandNetwork, tiers: tuple[Role, Role, Role], claimed: Fraction
) -> Iterator[AuditFinding]:
    near, below, above = tiers
    worst: list[tuple[Fraction, str]] = []
    for name in network.tiers.get(near, ()):
        down, up = _sum(wired, name, below), _sum(wired, name, above)
        if up and Fraction(down, up) > claimed:
            worst.append((Fraction(down, up), name))
    for built, name in sorted(worst, key=lambda pair: (-pair[0], pair[1])):
        text = f"{name} has {float(built):.3g}:1 where {float(claimed):.3g}:1 is claimed"
        yield AuditFinding("A3", name, f"{float(built):.4g}", f"{float(claimed):.4g}", text)


def _sum(wired: WiredByHand, device: str, role: Role) -> int:
    """Mb/s of a device's links to devices of a role, attachments that count in the ratio among servers.

    Where no speed of the device is known, links count.
    """
    context, total, number, known = wired.context, 0, 0, False
    for _, far, link in context.peer_links(device):
        rate = wired.speeds.of_link(link) or 0
        known |= rate > 0
        if context.roles[far] == role or (role == "server" and _counts(context, device, far)):
            number += 1
            total += rate
    return total if known else number


def _counts(context: HandContext, switch: str, device: str) -> bool:
    """Whether a device is an attachment of the case that counts in the ratio."""
    fabric = context.network_of[switch].fabric
    if context.roles[device] != "attachment" or fabric is None:
        return False
    return any(
        device.startswith(attachment.name) and attachment.counts and attachment.max_oversubscription is None
        for attachment in fabric.attachments
    )


# -- remarks, and queues --------------------------------------------------------------------------------------------


def shape_is_needed(wired: WiredByHand) -> Iterator[AuditFinding]:
    """A11 and A14: spines that nothing needs, uplinks that nothing fills, and tiers of one switch."""
    for network in wired.context.networks:
        leaves, spines = (network.tiers.get(role, ()) for role in ("leaf", "spine"))
        yield from _useless_spines(wired, network, leaves, spines)
        for role, names in (("leaf", leaves), ("spine", spines)):
            if len(names) == 1:
                text = f"{network.name}: one {role}, {names[0]}, and no other takes over where it fails"
                yield AuditFinding("A14", names[0], "1", "2", text)


def _useless_spines(
    wired: WiredByHand, network: HandNetwork, leaves: Sequence[str], spines: Sequence[str]
) -> Iterator[AuditFinding]:
    design = wired.context.design_of(network.fabric)
    wanted = design is not None and any(tier.role == "spine" for tier in design.tiers)
    if not leaves or not spines or (wanted and len(leaves) > 1):
        return
    context = wired.context
    below = sum(
        context.roles[far] in ("server", "attachment") for leaf in leaves for _, far, _ in context.peer_links(leaf)
    )
    switch = context.switch_of.get(leaves[0])
    rate = max((wired.speeds.of_link(link) or 0 for _, _, link in context.peer_links(leaves[0])), default=0)
    if len(leaves) == 1 or (switch is not None and rate and below <= ports_at(switch, rate)):
        value = some(len(spines), "spine")
        text = f"{network.name}: {value} above {some(below, 'port')} that one leaf takes alone"
        yield AuditFinding("A11", network.name, value, "0", text)
        return
    down, up = (sum(_sum(wired, leaf, role) for leaf in leaves) for role in ("server", "spine"))
    if down and up >= _DARK * down:
        text = (
            f"{network.name}: uplinks carry {float(Fraction(up, down)):.2f} times what is below them; the rest is dark"
        )
        yield AuditFinding("A11", network.name, f"{float(Fraction(up, down)):.2f}", "1", text)


def subnet_is_managed(context: HandContext) -> Iterator[AuditFinding]:
    """A9: an InfiniBand network has a switch or a host that manages it, or a port for one."""
    for network in context.networks:
        names = [name for tier in network.tiers.values() for name in tier]
        switches = [context.switch_of[name] for name in names if name in context.switch_of]
        if not any(switch.protocol == "infiniband" for switch in switches):
            continue
        hosts = any(context.roles[far] == "attachment" for name in names for _, far, _ in context.peer_links(name))
        if hosts or any(switch.managed for switch in switches):
            continue
        free = sum(
            most_ports(context.switch_of[name]) - len(context.ports.get(name, ()))
            for name in names if name in context.switch_of
        )  # fmt: skip
        told = f"{some(free, 'port')} free for one" if free > 0 else "and no port free for one"
        text = f"{network.name}: no switch or host is known to run a subnet manager, {told}"
        yield AuditFinding("A9", network.name, "none", "1", text)


def stages_can_be_reached(wired: WiredByHand) -> Iterator[AuditFinding]:
    """A15: spines have ports for the leaves of the case's last stage."""
    context = wired.context
    stages = () if context.embedded is None else context.embedded.case.stages or ()
    if len(stages) < 2 or stages[-1].servers is None:
        return
    now, last = sum(role == "server" for role in context.roles.values()), stages[-1].servers
    if not 0 < now < last:
        return
    for network in context.networks:
        for name in network.tiers.get("spine", ()):
            used, switch = sum(_links_to(context, name, "leaf").values()), context.switch_of.get(name)
            needed = -(-used * last // now)
            rate = max((wired.speeds.of_link(link) or 0 for _, _, link in context.peer_links(name)), default=0)
            ports = 0 if switch is None else ports_at(switch, rate or None)
            if switch is not None and needed > ports:
                text = (
                    f"{name} has {used} leaf links for {now} servers; {last} need {needed} of its {ports} ports: "
                    "cables have to be moved to more spines"
                )
                yield AuditFinding("A15", name, str(needed), str(ports), text)


def storage_is_apart(context: HandContext) -> Iterator[AuditFinding]:
    """A17: storage shares no Ethernet leaf, and its one lossless priority, with GPUs, unless the case says so."""
    for network in context.networks:
        if network.fabric is not None and _allows_storage(network.fabric):
            continue
        for leaf in network.tiers.get("leaf", ()):
            switch = context.switch_of.get(leaf)
            far = {name for _, name, _ in context.peer_links(leaf)}
            storage = sorted(name for name in far if context.roles[name] == "attachment" and _STORAGE.search(name))
            servers = any(context.roles[name] == "server" for name in far)
            is_own = network.fabric is None and bool(_STORAGE.search(leaf))
            if storage and servers and switch is not None and switch.protocol == "ethernet" and not is_own:
                text = f"{leaf}: {storage[0]} and GPU servers share one lossless priority"
                yield AuditFinding("A17", leaf, storage[0], "a priority or switches of its own", text)


def _allows_storage(fabric: Fabric) -> bool:
    """Whether a fabric is to carry storage, by its own words."""
    kinds: Iterable[str] = (attachment.kind for attachment in fabric.attachments)
    return fabric.role != "compute" or bool(fabric.carries) or "storage" in kinds or bool(fabric.attachments)
