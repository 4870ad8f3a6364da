"""What is in service is run by: names and addresses that stay, of its own plan or as a plan file says."""

from __future__ import annotations

from dataclasses import replace

from fabopt.operate.addresses import LinkAddresses, Live
from fabopt.operate.model import NamedPort, OperationPlan
from fabopt.operate.proof import PlanEvidence, of_design
from fabopt.schema.plan import PlanFile
from fabopt.wiring.model import Wiring


def as_run(plan: OperationPlan, file: PlanFile) -> OperationPlan:
    """A plan with the names and addresses of a file."""
    rows, evidence = {row.device: row for row in file.devices}, PlanEvidence(file)
    addresses = {(evidence.devices[port.device].device, port.port): port.address or "" for port in file.ports}
    devices = [
        replace(device, name=row.name, management=row.management, loopback=row.loopback or "", asn=row.asn or 0)
        for device in plan.devices
        for row in [rows[device.device]]
    ]
    ends = {of_design(evidence, link.a): link for link in file.links}
    subnets = {
        (network.name, evidence.devices[row.device].device): row.subnet
        for network in file.networks
        for row in network.subnets
    }

    def addressed(port: NamedPort) -> NamedPort:
        return port._replace(address=addresses[plan.device_at[port.device].device, port.port])

    links = [
        link._replace(
            a=addressed(link.a), b=addressed(link.b),
            subnet=ends[plan.device_at[link.a.device].device, link.a.port].subnet or "",
        )
        for link in plan.links
    ]  # fmt: skip
    networks = [
        network._replace(subnets={
            row: subnets[network.name, plan.device_at[row].device] for row in network.subnets if row in plan.device_at
        })
        for network in plan.networks
    ]  # fmt: skip
    return replace(plan, devices=devices, links=links, networks=networks)


def beside(plan: OperationPlan, before: OperationPlan | None) -> OperationPlan:
    """A plan with the names and addresses of what it joins, whose rows follow its own."""
    if before is None:
        return plan
    first = 1 + max((device.row for device in plan.devices), default=-1)

    def moved(port: NamedPort) -> NamedPort:
        return port._replace(device=port.device + first)

    devices = [replace(device, row=device.row + first) for device in before.devices]
    links = [link._replace(a=moved(link.a), b=moved(link.b)) for link in before.links]
    networks = [
        network._replace(subnets={row + first: subnet for row, subnet in network.subnets.items()})
        for network in before.networks
    ]
    return replace(
        plan, devices=[*plan.devices, *devices], links=[*plan.links, *links], networks=[*plan.networks, *networks]
    )


def live_of(wiring: Wiring, there: OperationPlan | None) -> Live:
    """What links and leaves have in service."""
    if there is None:
        return Live()
    names, links = wiring.devices.name, wiring.links
    ends = zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, strict=True)
    row_of = {(names[a], a_port, names[b], b_port): row for row, (a, a_port, b, b_port) in enumerate(ends)}
    device, of_links, of_leaves = there.device_at, {}, {}
    for link in (link for link in there.links if link.subnet):
        ends_of_link = (device[link.a.device].device, link.a.port, device[link.b.device].device, link.b.port)
        if ends_of_link in row_of:
            of_links[row_of[ends_of_link]] = LinkAddresses(link.subnet, link.a.address, link.b.address)
    rows = {name: row for row, name in enumerate(names)}
    for network in there.networks:
        for row, subnet in network.subnets.items():
            if device[row].device in rows:
                of_leaves[network.name, rows[device[row].device]] = subnet
    subnets = (*(link.subnet for link in there.links if link.subnet), *of_leaves.values())
    return Live(of_links, of_leaves, frozenset(subnets))
