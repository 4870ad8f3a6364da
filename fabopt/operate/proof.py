"""Proves a plan file again, from its own content and that of a design, without the code that makes plans."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network
from itertools import combinations, pairwise
from typing import TypeVar

from fabopt.schema.design import Check
from fabopt.schema.plan import DeviceRow, EndRow, PlanFile, PortRow
from fabopt.units import some
from fabopt.verify.proof import Proof, prove
from fabopt.wiring.model import Wiring, at_stage
from fabopt.wiring.port_names import CagePort, misnamed_port

SWITCHES = ("leaf", "spine", "core")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
PortKey = tuple[str, str]
Key = TypeVar("Key", str, PortKey)


@dataclass(frozen=True)
class PlanEvidence:
    """A plan file as it was read."""

    plan: PlanFile

    @cached_property
    def devices(self) -> dict[str, DeviceRow]:
        """Devices by name."""
        return {device.name: device for device in self.plan.devices}

    @cached_property
    def ports(self) -> dict[PortKey, PortRow]:
        """Ports by device and own name."""
        return {(port.device, port.name): port for port in self.plan.ports}

    @cached_property
    def ports_of(self) -> dict[str, list[PortRow]]:
        """Ports by device."""
        ports: dict[str, list[PortRow]] = defaultdict(list)
        for port in self.plan.ports:
            ports[port.device].append(port)
        return ports

    @cached_property
    def pools(self) -> dict[str, str]:
        """Pools of addresses by key."""
        return {pool.key: pool.pool for pool in self.plan.pools if pool.key != "asns"}


def plan_checks(plan: PlanFile) -> list[Check]:
    """All checks of a plan file alone."""
    evidence = PlanEvidence(plan)
    return [_check(rule.__name__, prove(rule, evidence)) for rule in RULES]


def design_check(plan: PlanFile, case: str, sha256: str, wiring: Wiring) -> Check:
    """Whether a plan is of a design: the same case, the same devices, every link from port to port."""
    return _check(plan_is_of_design.__name__, prove(plan_is_of_design, PlanEvidence(plan), case, sha256, wiring))


def _check(name: str, proof: Proof) -> Check:
    return Check(name=name, ok=not proof.broken, detail=proof.detail)


def names_differ(proof: Proof, evidence: PlanEvidence) -> None:
    """No two devices have a name in common, large or small letters; each is a valid host name."""
    names = [device.name for device in evidence.plan.devices]
    for name in _twice(name.lower() for name in names):
        proof.holds(False, f"{name} is the name of several devices")
    for name in _twice(device.device for device in evidence.plan.devices):
        proof.holds(False, f"{name} of the design has several names")
    for name in names:
        proof.holds(_HOST_NAME.fullmatch(name) is not None, f"{name} cannot be the name of a host")
    proof.note(some(len(names), "name"))


def ports_are_invertible(proof: Proof, evidence: PlanEvidence) -> None:
    """On every device, names of the system and of the design go both ways, and a port's name leads to its cage."""
    for key in ("name", "port", "alias"):
        called = ((port.device, getattr(port, key)) for port in evidence.plan.ports if getattr(port, key) is not None)
        for device, name in _twice(called):
            proof.holds(False, f"{device} has several ports called {name}")
    for owner, ports in evidence.ports_of.items():
        switch = evidence.devices[owner]
        places = {port.name: CagePort(port.cage, port.lane, port.lanes) for port in ports}
        if switch.role in SWITCHES and len(places) == len(ports):
            wrong = misnamed_port(switch.system or "", places)
            proof.holds(not wrong, f"{owner}: {wrong} does not lead to its cage")
    proof.note(f"{some(len(evidence.plan.ports), 'port')} of {some(len(evidence.ports_of), 'device')}")


def ends_agree(proof: Proof, evidence: PlanEvidence) -> None:
    """Every port is the end of one link, every end a port, and no link joins a device to itself."""
    ends = [(end.device, end.port) for link in evidence.plan.links for end in (link.a, link.b)]
    for device, port in _twice(ends):
        proof.holds(False, f"{device} {port} is the end of several links")
    for device, port in set(ends) ^ evidence.ports.keys():
        proof.holds(False, f"{device} {port} is {'no port' if (device, port) in set(ends) else 'joined to nothing'}")
    for link in evidence.plan.links:
        proof.holds(link.a.device != link.b.device, f"{link.a.device} is joined to itself")
    proof.note(some(len(evidence.plan.links), "link"))


def addresses_differ(proof: Proof, evidence: PlanEvidence) -> None:
    """No address is given twice, and each is in its pool."""
    counted: Counter[str] = Counter()
    for key, addresses in _addresses(evidence).items():
        pool = IPv4Network(evidence.pools[key]) if key in evidence.pools else None
        for address in addresses:
            inside = pool is not None and IPv4Interface(address).ip in pool
            proof.holds(inside, f"{address} is not in the pool `{key}`, {pool}")
        counted.update(addresses)
    for address, times in counted.items():
        proof.holds(times == 1, f"{address} is given {times} times")
    for (key, pool_text), (other_key, other_text) in combinations(evidence.pools.items(), 2):
        apart = not IPv4Network(pool_text).overlaps(IPv4Network(other_text))
        proof.holds(apart, f"`{key}` and `{other_key}` overlap")
    proof.note(some(len(counted), "address"))


def _addresses(evidence: PlanEvidence) -> dict[str, list[str]]:
    """Addresses by their pool, without prefix lengths."""
    addresses: dict[str, list[str]] = {"management": [device.management for device in evidence.plan.devices]}
    addresses["loopbacks"] = [device.loopback for device in evidence.plan.devices if device.loopback]
    for link in evidence.plan.links:
        of_switches = {evidence.devices[end.device].role for end in (link.a, link.b)} <= set(SWITCHES)
        key = "links" if of_switches else "hosts"
        ends = (evidence.ports[end.device, end.port].address for end in (link.a, link.b))
        addresses.setdefault(key, []).extend(address.partition("/")[0] for address in ends if address)
    if evidence.plan.vrf_links:
        addresses["vrf_links"] = [
            address.partition("/")[0]
            for link in evidence.plan.vrf_links
            for address in (link.a_address, link.b_address)
        ]
    gateways = {
        str(IPv4Network(row.subnet)[1]) for network in evidence.plan.networks for row in network.subnets
    }  # fmt: skip
    hosts = [address for address in addresses.get("hosts", ()) if address not in gateways]
    return {**addresses, "hosts": [*hosts, *sorted(gateways)]}


def subnets_are_apart(proof: Proof, evidence: PlanEvidence) -> None:
    """Both ends of a link with addresses are in its subnet, and no two subnets overlap."""
    subnets: dict[str, str] = {}
    for network in evidence.plan.networks:
        subnets |= {row.subnet: f"{network.name} of {row.device}" for row in network.subnets}
    shared = set(subnets)
    for link in evidence.plan.links:
        ends = [evidence.ports[end.device, end.port] for end in (link.a, link.b)]
        for port in ends:
            own = None if port.address is None else str(IPv4Interface(port.address).network)
            proof.holds(own == link.subnet, f"{port.device} {port.name} has {port.address}, its link {link.subnet}")
        if link.subnet is not None and link.subnet not in shared:
            proof.holds(link.subnet not in subnets, f"{link.subnet} is of several links")
            subnets[link.subnet] = link.a.device
    for row in evidence.plan.vrf_links:
        for address in (row.a_address, row.b_address):
            inside = str(IPv4Interface(address).network) == row.subnet
            proof.holds(inside, f"{address} of {row.network} is not in {row.subnet}, its link's")
        proof.holds(row.subnet not in subnets, f"{row.subnet} is of several links")
        subnets[row.subnet] = row.a.device
    for subnet, following in pairwise(sorted(map(IPv4Network, subnets))):
        proof.holds(not subnet.overlaps(following), f"{subnet} and {following} overlap")
    proof.note(some(len(subnets), "subnet"))


def systems_are_apart(proof: Proof, evidence: PlanEvidence) -> None:
    """A leaf is alone in its autonomous system, numbers are of the range, and links join different systems."""
    first, _, last = evidence.plan.asns.partition("-")
    routed = {network.fabric for network in evidence.plan.networks if network.routed}
    leaves: Counter[int] = Counter()
    for device in evidence.plan.devices:
        if device.role in SWITCHES:
            routes = device.fabric in routed
            proof.holds(routes == (device.asn is not None), f"{device.name} and whether it routes do not agree")
        if device.asn is not None:
            proof.holds(int(first) <= device.asn <= int(last), f"{device.asn} of {device.name} is not in the range")
            leaves[device.asn] += device.role == "leaf"
    for number, times in leaves.items():
        proof.holds(times <= 1, f"{number} is of {times} leaves")
    for link in evidence.plan.links:
        near, far = (evidence.devices[end.device].asn for end in (link.a, link.b))
        proof.holds(near is None or near != far, f"{link.a.device} and {link.b.device} are both of {near}")
    proof.note(some(len(leaves), "autonomous system"))


def vrfs_are_joined(proof: Proof, evidence: PlanEvidence) -> None:
    """No two networks have a VLAN or a VRF in common, and each VRF has every link between switches of its fabric once.

    So hosts of a network reach each other wherever those of its fabric do, and no other hosts.
    """
    networks = evidence.plan.networks
    for key in ("vlan", "vrf"):
        for number, times in Counter(getattr(network, key) for network in networks).items():
            proof.holds(number is None or times == 1, f"{key} {number} is of {times} networks")
    wanted: Counter[tuple[str, int | None, PortKey, PortKey]] = Counter()
    for network in networks:
        for link in evidence.plan.links if network.vrf and network.routed else ():
            between = {evidence.devices[end.device].role for end in (link.a, link.b)} <= set(SWITCHES)
            if between and link.network == network.fabric:
                wanted[network.name, network.vlan, _end(link.a), _end(link.b)] += 1
    there: Counter[tuple[str, int | None, PortKey, PortKey]] = Counter(
        (row.network, row.vlan, _end(row.a), _end(row.b)) for row in evidence.plan.vrf_links
    )
    for name, vlan, (device, port), _ in (wanted - there) + (there - wanted):
        proof.holds(False, f"{name}, VLAN {vlan}, and the link at {device} {port} do not agree")
    vrfs = sum(network.vrf is not None for network in networks)
    proof.note(f"{some(vrfs, 'VRF')} on {some(len(there), 'link')}")


def _end(end: EndRow) -> PortKey:
    return end.device, end.port


def stages_are_done(proof: Proof, evidence: PlanEvidence) -> None:
    """No device or link of a later stage is in the plan."""
    for device in evidence.plan.devices:
        proof.holds(device.stage <= evidence.plan.number, f"{device.name} comes at stage {device.stage}")
    proof.note(f"stage {evidence.plan.stage}")


def plan_is_of_design(proof: Proof, evidence: PlanEvidence, case: str, sha256: str, wiring: Wiring) -> None:
    """The plan has the devices and links of the design at its stage, from port to port."""
    plan, stage, devices = evidence.plan, evidence.plan.number, wiring.devices
    proof.equal("the case", (plan.case, plan.sha256), (case, sha256))
    there = {name for name, since in zip(devices.name, devices.stage.tolist(), strict=True) if since <= stage}
    own = {device.device for device in plan.devices}
    for name in sorted(own ^ there):
        proof.holds(False, f"{name} is only in the {'plan' if name in own else 'design'}")
    planned = {frozenset((of_design(evidence, link.a), of_design(evidence, link.b))) for link in plan.links}
    designed = set(_designed(wiring, stage))
    for link in planned ^ designed:
        ends = " - ".join(sorted(f"{device} {port}" for device, port in link))
        proof.holds(False, f"{ends} is only in the {'plan' if link in planned else 'design'}")
    proof.note(f"{some(len(own), 'device')} and {some(len(planned), 'link')} are the design's")


def of_design(evidence: PlanEvidence, end: EndRow) -> PortKey:
    """An end of a link by the design's names."""
    port = evidence.ports[end.device, end.port]
    return evidence.devices[port.device].device, port.port


def _designed(wiring: Wiring, stage: int) -> Iterator[frozenset[PortKey]]:
    then = replace(wiring, links=at_stage(wiring, stage))
    names, links = wiring.devices.name, then.links
    columns = (links.a.tolist(), then.a_port, links.b.tolist(), then.b_port, links.stage.tolist())
    for a, a_port, b, b_port, since in zip(*columns, strict=True):
        if since <= stage:
            yield frozenset(((names[a], a_port), (names[b], b_port)))


def _twice(keys: Iterable[Key]) -> list[Key]:
    return [key for key, times in Counter(keys).items() if times > 1]


RULES: Sequence[Callable[[Proof, PlanEvidence], None]] = (
    names_differ, ports_are_invertible, ends_agree, addresses_differ, subnets_are_apart, systems_are_apart,
    vrfs_are_joined, stages_are_done,
)  # fmt: skip
