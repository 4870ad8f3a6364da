"""Names of a server's RDMA devices, port by port: from the case, else from the catalog for built-in NICs."""

from __future__ import annotations

from fabopt.wiring.design_file import Embedded
from fabopt.wiring.numbers import Numbers, logical_before, nics_before

# NIC and port of a server, both from 1.
NicPort = tuple[int, int]


def hca_names(embedded: Embedded) -> dict[str, tuple[str, ...]]:
    """Names of a server's RDMA devices by network; empty where they are not known."""
    said = embedded.case.operate.hcas
    built_in = {fabric.name: fabric for fabric in embedded.design.fabrics if fabric.nic.built_in}
    names = {}
    for network in nic_ports(embedded):
        fabric = built_in.get(network)
        own = [name for nic in embedded.server.nics if fabric and nic.role == fabric.role for name in nic.hcas]
        names[network] = said.get(network, tuple(own))
    return names


def hcas_by_port(embedded: Embedded) -> dict[NicPort, str]:
    """Known names of RDMA devices by NIC and port."""
    ports, names = nic_ports(embedded), hca_names(embedded)
    return {port: name for network, own in names.items() for port, name in zip(ports[network], own, strict=False)}


def nic_ports(embedded: Embedded) -> dict[str, list[NicPort]]:
    """The ports of a server, network by network."""
    fabrics = [Numbers(embedded, fabric) for fabric in embedded.design.fabrics]
    ports = {}
    for numbers, before in zip(fabrics, nics_before(fabrics), strict=True):
        nic = numbers.fabric.nic
        ports[numbers.fabric.name] = _ports_after(before.nics, nic.per_server, nic.ports_per_nic)
    before_logical = logical_before(fabrics)
    for numbers in fabrics:
        for name, logical in numbers.logical.items():
            nic = logical.nic
            ports[name] = _ports_after(before_logical[name].nics, nic.per_server, nic.ports_per_nic)
    return ports


def _ports_after(before: int, nics: int, ports: int) -> list[NicPort]:
    return [(before + nic + 1, port + 1) for nic in range(nics) for port in range(ports)]
