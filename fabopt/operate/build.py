"""From a design and its wiring to the plan of a stage.

Numbers are assigned as of the last stage, in the order of stages, and then cut to the stage asked for: so a later stage
never changes the numbers of an earlier one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fabopt.errors import Fault, fault
from fabopt.io.faults import refuse_any
from fabopt.operate.addresses import (
    BITS,
    PAIR,
    Addressed,
    Addresses,
    Key,
    NumberRange,
    RoutedLink,
    dealt,
    dotted,
    first_of,
    link_addresses,
)
from fabopt.operate.in_service import as_run, beside, live_of
from fabopt.operate.model import (
    SWITCHES,
    NamedDevice,
    NamedLink,
    NamedNetwork,
    Numbered,
    OperationPlan,
    PoolUse,
    numbered_devices,
    stage_order,
    system_kind,
)
from fabopt.operate.ports import PortPlan, names_of
from fabopt.operate.proof import design_check, plan_checks
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.schema.installed import live_design
from fabopt.schema.operate import Operate, span
from fabopt.schema.plan import PlanFile
from fabopt.units import some
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, LAST_OF_ENDPOINTS, OF_PEERS, Wiring, at_stage
from fabopt.wiring.numbers import booked_fabrics
from fabopt.wiring.port_names import tagged_port


def plan_of(design: Design, wiring: Wiring, stage: int | None = None) -> OperationPlan:
    """The plan of a design at a stage, from 0; None: the last one.

    ``InputError`` has all faults of the case's ``operate``: pools that are too small, names that collide.
    """
    embedded = Embedded(design)
    operate, case = embedded.case.operate, design.case.name
    number = max(0, len(design.stages) - 1) if stage is None else stage
    faults: list[Fault] = []
    devices = numbered_devices(design, wiring)
    there = _in_service(embedded, faults)
    networks = networks_of(design, operate, faults)
    names = names_of(embedded.case, devices, faults)
    systems = systems_of(embedded, devices, wiring, faults)
    order = stage_order(wiring.devices.stage)
    routed = [network.fabric for network in networks if network.routed]
    numbers = device_numbers(case, operate, devices, order, routed, there, faults)
    ports = PortPlan(embedded, wiring, devices, systems, faults)
    booked = booked_fabrics(design, wiring)
    belongs = [booked.names[index] for index in booked.of_link.tolist()]
    links = _routed_links(wiring, ports, belongs, networks)
    addressed = link_addresses(case, operate, links, live_of(wiring, there), faults)
    planned_links = list(_links(wiring, ports, belongs, addressed, number))
    of_vrfs = vrf_links(case, operate, links, planned_links, networks, systems, faults)
    refuse_any(faults)
    planned = [
        NamedDevice(
            **vars(device), row=row, name=names[row], system=systems[row], management=numbers.management[row],
            loopback=numbers.loopback[row], asn=numbers.asn[row],
        )
        for row, device in enumerate(devices) if device.stage <= number
    ]  # fmt: skip
    return OperationPlan(
        case, design.case.sha256, design.stages[number].name if design.stages else "", number, operate, planned,
        planned_links, of_vrfs.links, _with_subnets(networks, addressed),
        [*numbers.pools, *addressed.pools, *of_vrfs.pools],
        [
            *notes_of(operate, devices, systems, ports, [one.name for one in design.fabrics if one.peer_links]),
            *_renumbered(there, planned_links, devices),
        ],
    )  # fmt: skip


def _in_service(embedded: Embedded, faults: list[Fault]) -> OperationPlan | None:
    """The plan of what a case goes on from or joins, with what the plan says that it is run by."""
    base = embedded.case.live
    design = live_design(base)
    if base is None or design is None:
        return None
    wiring = wiring_of(design)
    plan, joins = plan_of(design, wiring, base.stage), Embedded(design)
    before = None if joins.case.joins is None else _in_service(joins, faults)
    if base.plan is None:
        return beside(plan, before)
    file = PlanFile.model_validate_json(json.dumps(base.plan))
    checks = [*plan_checks(file), design_check(file, design.case.name, design.case.sha256, wiring)]
    broken = [check for check in checks if not check.ok]
    case = embedded.design.case.name
    faults += [
        fault(
            case,
            f"{'base' if embedded.case.joins is None else 'joins'}.file",
            f"the plan fails {check.name}: {check.detail}",
            base.file,
        )
        for check in broken
    ]
    return beside(plan if broken else as_run(plan, file), before)


def _routed_links(
    wiring: Wiring, ports: PortPlan, belongs: Sequence[str], networks: Sequence[NamedNetwork]
) -> list[RoutedLink]:
    """Links of networks that route, in the order of stages."""
    routed = {network.name for network in networks if network.routed}
    links = wiring.links
    columns = [getattr(links, key).tolist() for key in ("a", "b", "kind")]
    ends = list(zip(*columns, strict=True))
    routed_links = []
    for row in stage_order(links.stage):
        a, b, kind = ends[row]
        if belongs[row] in routed and kind != OF_PEERS:
            of_host = kind <= LAST_OF_ENDPOINTS or ports.is_host(b)
            routed_links.append(RoutedLink(row, a, b, of_host, ports.most_ports(b), belongs[row]))
    return routed_links


def _links(
    wiring: Wiring, ports: PortPlan, belongs: Sequence[str], addressed: Addressed, stage: int
) -> Iterator[NamedLink]:
    """The links of a stage, with their ends at that stage."""
    then = replace(wiring, links=at_stage(wiring, stage))
    near, far = list(ports.ends(then, "a")), list(ports.ends(then, "b"))
    columns = [getattr(then.links, key).tolist() for key in ("fabric", "kind", "gbps", "cable", "stage")]
    cables = wiring.cables
    labels, media, lengths = [*cables.name, ""], [*cables.medium, ""], [*cables.length_m.tolist(), 0.0]
    for row, (fabric, kind, gbps, cable, since) in enumerate(zip(*columns, strict=True)):
        if since <= stage:
            subnet, a, b = addressed.links.get(row, ("", "", ""))
            ends = near[row]._replace(address=a), far[row]._replace(address=b)
            about = labels[cable], media[cable], lengths[cable]
            yield NamedLink(row, wiring.fabrics[fabric], belongs[row], KINDS[kind], *ends, gbps, *about, subnet)


def _renumbered(there: OperationPlan | None, links: Sequence[NamedLink], devices: Sequence[Numbered]) -> Iterator[str]:
    """A sentence on every switch whose ports in service get other numbers."""
    if there is None:
        return
    before = {
        (there.device_at[port.device].device, port.port): port.name for link in there.links for port in (link.a, link.b)
    }
    ports = [(devices[port.device].device, port) for link in links for port in (link.a, link.b)]
    changed = Counter(device for device, port in ports if before.get((device, port.port), port.name) != port.name)
    for device, number in changed.items():
        yield (
            f"{some(number, 'port')} in service on {device} get other numbers: InfiniBand counts as many to each cage "
            f"as the most split one has, and new links split one more"
        )


def _with_subnets(networks: Sequence[NamedNetwork], addressed: Addressed) -> list[NamedNetwork]:
    subnets: dict[str, dict[int, str]] = {network.name: {} for network in networks}
    for (name, leaf), subnet in addressed.subnets.items():
        subnets[name][leaf] = subnet
    return [network._replace(subnets=subnets[network.name]) for network in networks]


# -- numbers and addresses of devices ---------------------------------------------------------------------------------
# Numbers and addresses of devices: management, loopbacks, autonomous systems, assigned in the order of stages; then
# links of VRFs, networks, systems, and gaps of the plan.


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
    there: OperationPlan | None, faults: list[Fault],
) -> DeviceNumbers:  # fmt: skip
    """Number all devices. ``order``: rows by stage; ``routed``: fabrics whose switches route; ``there``: in service.

    Pools that are too small are added to ``faults``; devices beyond them have no address then.
    """
    live = {} if there is None else {device.device: device for device in there.devices}
    systems = {device.asn for device in live.values() if device.asn}
    routers = [devices[row] for row in order if devices[row].role in SWITCHES and devices[row].fabric in routed]
    uses: list[PoolUse] = []

    def deal(
        pool: Addresses | NumberRange, what: str, wanted: Sequence[Key], own: Mapping[Key, int], taken: set[int]
    ) -> Mapping[Key, int]:
        numbers, used = dealt(pool, wanted, own, taken)
        faults.extend(pool.lack(case, used, what))
        uses.append(PoolUse(pool.key, pool.pool, used, pool.size))
        return numbers

    def deal_addresses(pool: Addresses, what: str, wanted: Sequence[Numbered]) -> Mapping[str, str]:
        said = {name: str(getattr(device, what)) for name, device in live.items()}
        own = {name: first_of(address) for name, address in said.items() if address}
        dealt_out = deal(pool, _WORDS[what], [device.device for device in wanted], own, {*own.values()})
        return {name: dotted(address) for name, address in dealt_out.items()}

    managed = deal_addresses(
        Addresses("management", operate.management, BITS, _KEPT_FIRST), "management", [devices[row] for row in order]
    )
    loopback = deal_addresses(Addresses("loopbacks", operate.loopbacks, BITS), "loopback", routers)
    own = {_system_key(device): live[device.device].asn for device in routers if device.device in live}
    keys = [_system_key(device) for device in routers]
    asn = deal(NumberRange("asns", operate.asns), "autonomous system", keys, own, systems)
    return DeviceNumbers(
        [managed[device.device] for device in devices],
        [loopback.get(device.device, "") for device in devices],
        [asn[_system_key(device)] if device.device in loopback else 0 for device in devices],
        uses,
    )


# What management addresses and loopbacks are of, as faults name it.
_WORDS = {"management": "device", "loopback": "loopback"}


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
