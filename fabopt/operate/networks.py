"""The networks of a design: its fabrics, and the logical fabrics on their switches, which have a VLAN and
a VRF each.
"""

from __future__ import annotations

from fabopt.errors import Fault, fault
from fabopt.operate.model import NamedNetwork
from fabopt.schema.design import Design
from fabopt.schema.operate import Operate, span
from fabopt.units import some

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
