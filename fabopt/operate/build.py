"""From a design and its wiring to the plan of a stage.

Numbers are assigned as of the last stage, in the order of stages, and then cut to the stage asked for: so a later stage
never changes the numbers of an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabopt.errors import Fault, InputError
from fabopt.operate.addresses import Addressed, RoutedLink, link_addresses
from fabopt.operate.model import NamedDevice, NamedLink, NamedNetwork, OperationPlan
from fabopt.operate.names import names_of
from fabopt.operate.numbers import device_numbers, networks_of, notes_of, systems_of, vrf_links
from fabopt.operate.ports import PortPlan
from fabopt.operate.roles import numbered_devices, stage_order
from fabopt.schema.design import Design
from fabopt.wiring.booked import booked_fabrics
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, LAST_OF_ENDPOINTS, OF_PEERS, Wiring, at_stage


def plan_of(design: Design, wiring: Wiring, stage: int | None = None) -> OperationPlan:
    """The plan of a design at a stage, from 0; None: the last one.

    ``InputError`` has all faults of the case's ``operate``: pools that are too small, names that collide.
    """
    embedded = Embedded(design)
    operate, case = embedded.case.operate, design.case.name
    number = max(0, len(design.stages) - 1) if stage is None else stage
    faults: list[Fault] = []
    devices = numbered_devices(design, wiring)
    networks = networks_of(design, operate, faults)
    names = names_of(case, operate, devices, faults)
    systems = systems_of(embedded, devices, wiring, faults)
    order = stage_order(wiring.devices.stage)
    routed = [network.fabric for network in networks if network.routed]
    numbers = device_numbers(case, operate, devices, order, routed, faults)
    ports = PortPlan(embedded, wiring, devices, systems, faults)
    booked = booked_fabrics(design, wiring)
    belongs = [booked.names[index] for index in booked.of_link.tolist()]
    links = _routed_links(wiring, ports, belongs, networks)
    addressed = link_addresses(case, operate, links, faults)
    planned_links = _links(wiring, ports, belongs, addressed, number)
    of_vrfs = vrf_links(case, operate, links, planned_links, networks, systems, faults)
    if faults:
        raise InputError(faults)
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
        notes_of(operate, devices, systems, ports, [fabric.name for fabric in design.fabrics if fabric.peer_links]),
    )  # fmt: skip


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
) -> list[NamedLink]:
    """The links of a stage, with their ends at that stage."""
    then = replace(wiring, links=at_stage(wiring, stage))
    near, far = ports.ends(then, "a"), ports.ends(then, "b")
    columns = [getattr(then.links, key).tolist() for key in ("fabric", "kind", "gbps", "cable", "stage")]
    cables = wiring.cables
    labels, media, lengths = [*cables.name, ""], [*cables.medium, ""], [*cables.length_m.tolist(), 0.0]
    links = []
    for row, (fabric, kind, gbps, cable, since) in enumerate(zip(*columns, strict=True)):
        if since <= stage:
            subnet, a, b = addressed.links.get(row, ("", "", ""))
            links.append(
                NamedLink(row, wiring.fabrics[fabric], belongs[row], KINDS[kind], near[row]._replace(address=a),
                            far[row]._replace(address=b), gbps, labels[cable], media[cable], lengths[cable], subnet)
            )  # fmt: skip
    return links


def _with_subnets(networks: Sequence[NamedNetwork], addressed: Addressed) -> list[NamedNetwork]:
    subnets: dict[str, dict[int, str]] = {network.name: {} for network in networks}
    for (name, leaf), subnet in addressed.subnets.items():
        subnets[name][leaf] = subnet
    return [network._replace(subnets=subnets[network.name]) for network in networks]
