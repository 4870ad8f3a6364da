"""Numbers and addresses of devices: management, loopbacks, autonomous systems, assigned in the order of stages; then
links of VRFs, networks, systems, and gaps of the plan.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabopt.errors import Fault, fault
from fabopt.operate.addresses import PAIR, RoutedLink
from fabopt.operate.model import SWITCHES, NamedLink, NamedNetwork, Numbered, PoolUse
from fabopt.operate.pools import BITS, Addresses, NumberRange, dotted
from fabopt.operate.ports import PortPlan
from fabopt.operate.roles import system_kind
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.schema.operate import Operate, span
from fabopt.units import some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring
from fabopt.wiring.port_names import tagged_port

# The network's own address, and the gateway's after it.
_KEPT_FIRST = 2


@dataclass(frozen=True)
class DeviceNumbers:
    """By row of the device: its management address, its loopback where it routes, its autonomous system or 0."""

    management: Sequence[str]
    loopback: Sequence[str]
    asn: Sequence[int]
    pools: Sequence[PoolUse]


def device_numbers(
    case: str, operate: Operate, devices: Sequence[Numbered], order: Sequence[int], routed: Sequence[str],
    faults: list[Fault],
) -> DeviceNumbers:  # fmt: skip
    """Number all devices. ``order``: rows by stage; ``routed``: fabrics whose switches route.

    Pools that are too small are added to ``faults``; devices beyond them have no address then.
    """
    management = Addresses("management", operate.management, BITS, _KEPT_FIRST)
    loopbacks = Addresses("loopbacks", operate.loopbacks, BITS)
    asns = NumberRange("asns", operate.asns)
    routers = [row for row in order if devices[row].role in SWITCHES and devices[row].fabric in routed]
    systems = list(dict.fromkeys(_system_key(devices[row]) for row in routers))
    faults += management.lack(case, len(order), "device")
    faults += loopbacks.lack(case, len(routers), "loopback")
    faults += asns.lack(case, len(systems), "autonomous system")
    number = {system: asns.first + index for index, system in enumerate(systems)}
    own, asn = [""] * len(devices), [0] * len(devices)
    for row in routers:
        asn[row] = number[_system_key(devices[row])]
    for row, address in zip(routers, loopbacks.starts(len(routers)), strict=True):
        own[row] = dotted(address)
    managed = [""] * len(devices)
    for row, address in zip(order, management.starts(len(order)), strict=True):
        managed[row] = dotted(address)
    uses = [
        PoolUse("management", operate.management, len(order), management.size),
        PoolUse("loopbacks", operate.loopbacks, len(routers), loopbacks.size),
        PoolUse("asns", operate.asns, len(systems), asns.size),
    ]
    return DeviceNumbers(managed, own, asn, uses)


def _system_key(device: Numbered) -> tuple[object, ...]:
    """The key of devices that share an autonomous system: a leaf has its own, the spines of a pod one, and the cores of
    a plane one.

    So no path goes up again after it came down. Spines of a rail-only fabric have one for each rail.
    Source: RFC 7938, section 5.2.
    """
    if device.role == "leaf":
        return device.fabric, device.device
    return device.fabric, device.role, device.plane, device.pod, device.rail


# -- links between switches as VRFs have them -------------------------------------------------------------------------


class VrfLinks(NamedTuple):
    """Links of VRFs at a stage, and use of their pool over all stages."""

    links: Sequence[NamedLink]
    pools: Sequence[PoolUse]


def vrf_links(
    case: str, operate: Operate, routed: Sequence[RoutedLink], planned: Sequence[NamedLink],
    networks: Sequence[NamedNetwork], systems: Sequence[str], faults: list[Fault],
) -> VrfLinks:  # fmt: skip
    """Assign addresses to each VRF's subinterfaces on links of its fabric between switches.

    ``routed``: links in the order of stages; ``planned``: those of the stage; ``systems``: of every device. A pool that
    is too small is added to ``faults``.
    """
    vrfs: dict[str, list[NamedNetwork]] = defaultdict(list)
    for network in networks:
        if network.vrf and network.routed:
            vrfs[network.fabric].append(network)
    rows = [link.row for link in routed if not link.of_host for _ in vrfs[link.network]]
    pool = Addresses("vrf_links", operate.vrf_links, PAIR)
    faults += pool.lack(case, len(rows), "VRF link")
    starts: dict[int, list[int]] = defaultdict(list)
    for row, start in zip(rows, pool.starts(len(rows)), strict=True):
        starts[row].append(start)
    links = [
        _tagged(link, network, start, systems)
        for link in planned for network, start in zip(vrfs[link.network], starts[link.row], strict=False)
    ]  # fmt: skip
    return VrfLinks(links, [PoolUse("vrf_links", operate.vrf_links, len(rows), pool.size)] if rows else [])


def _tagged(link: NamedLink, network: NamedNetwork, start: int, systems: Sequence[str]) -> NamedLink:
    """A link as a VRF has it: the even address is of the end farther from the servers."""
    a, b = (
        port._replace(
            name=tagged_port(systems[port.device], port.name, network.vlan),
            address=f"{dotted(address)}/{PAIR}",
            alias="",
        )
        for port, address in ((link.a, start + 1), (link.b, start))
    )
    return link._replace(network=network.name, a=a, b=b, subnet=f"{dotted(start)}/{PAIR}")


# -- the networks of a design -----------------------------------------------------------------------------------------


# Linux has fifteen letters for the name of a VRF, and SONiC puts `Vrf-` before it.
_LONGEST, _SHORT = 11, 6


def networks_of(design: Design, operate: Operate, faults: list[Fault]) -> list[NamedNetwork]:
    """All networks in the order of the case. A fabric of Ethernet routes, unless it is out-of-band.

    Logical fabrics and fabrics that do not route have a VLAN, and after these networks with a subnet for each leaf;
    more of them than VLAN numbers is a fault.
    """
    first, last = span(operate.vlans)
    networks, vlan = [], first
    for fabric in design.fabrics:
        routed = fabric.protocol == "ethernet" and fabric.role != "oob"
        own = vlan if fabric.protocol == "ethernet" and not routed else 0
        networks.append(NamedNetwork(fabric.name, fabric.name, fabric.role, fabric.protocol, own, "", routed, {}))
        vlan += own > 0
        for logical in fabric.logical:
            own, vrf = (vlan, _vrf(logical.name, vlan)) if fabric.protocol == "ethernet" else (0, "")
            networks.append(
                NamedNetwork(logical.name, fabric.name, logical.role, fabric.protocol, own, vrf, routed, {})
            )
            vlan += own > 0
    if operate.host_addresses == "rails":
        for index, network in enumerate(networks):
            if network.routed and not network.vlan:
                networks[index] = network._replace(vlan=vlan)
                vlan += 1
    if vlan - 1 > last:
        problem = f"too small: it has {some(last - first + 1, 'number')} for {some(vlan - first, 'VLAN')}"
        faults.append(fault(design.case.name, "operate.vlans", problem, operate.vlans))
    return networks


def _vrf(network: str, vlan: int) -> str:
    """The name of a network's VRF: its own, or its first letters and its VLAN where systems have no room for more."""
    return network if len(network) <= _LONGEST else f"{network[:_SHORT].rstrip('-')}-{vlan}"


# -- gaps of the plan, in sentences -----------------------------------------------------------------------------------


def notes_of(
    operate: Operate, devices: Sequence[Numbered], systems: Sequence[str], ports: PortPlan, peered: Sequence[str]
) -> list[str]:
    """Sentences about systems and names that the catalog lacks, and about fabrics with peer links."""
    unknown = Counter(device.product for device, system in zip(devices, systems, strict=True) if not system)
    notes = [
        f"what runs on {product} ({some(number, 'switch')}) is not known; its ports have the design's names "
        f"(operate.systems says it)"
        for product, number in unknown.items()
    ]
    notes += [f"SONiC's numbers of the ports of {product} are not known; they have the design's names"
              for product in ports.without_numbers]  # fmt: skip
    notes += [f"names of the RDMA devices of {fabric} are not known; ports of servers have the design's names "
              f"(operate.hcas.{fabric} says them)" for fabric in ports.without_hcas]  # fmt: skip
    notes += [f"ports of peer links of {fabric} are cabled and named, and not configured: MLAG has to match "
              "the bonds of servers, which are not known" for fabric in peered]  # fmt: skip
    unused = sorted(operate.systems.keys() - {device.product for device in devices})
    return notes + [f"operate.systems names {product}, which the design does not have" for product in unused]


# -- the system of each device ----------------------------------------------------------------------------------------


def systems_of(embedded: Embedded, devices: Sequence[Numbered], wiring: Wiring, faults: list[Fault]) -> list[str]:
    """The system of every device; empty where the catalog names none. An impossible word of the case is a fault."""
    protocols = dict(zip(wiring.fabrics, wiring.protocols, strict=True))
    said = embedded.case.operate.systems
    by_product: dict[str, str] = {}
    for product in dict.fromkeys(device.product for device in devices if device.role in SWITCHES):
        nos = embedded.part(product, Switch).nos
        by_product[product] = said.get(product) or (nos[0] if nos else "")
        if nos and by_product[product] not in nos:
            where = f"operate.systems.{product}"
            problem = "the catalog does not say that this runs there"
            faults.append(fault(embedded.design.case.name, where, problem, said[product], allowed=", ".join(nos)))
    return [
        system_kind(device.role, protocols.get(device.fabric, "")) or by_product[device.product] for device in devices
    ]
