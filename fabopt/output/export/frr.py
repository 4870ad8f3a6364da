"""Configuration of FRR for every switch that routes: addresses, and a session of BGP on each link between switches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fabopt.errors import refusal
from fabopt.operate.model import SWITCHES, Ends, NamedDevice, NamedLink, NamedNetwork, NamedPort, OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.parts.switches import lanes_of_slower
from fabopt.schema.catalog import Switch
from fabopt.units import mbps
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.port_names import LONGEST

FOLDER = "frr"
OWN_FILES = r"[^/]*\.conf"
# What FRR is built for by Debian.
_MOST_PATHS = 256
# Any route that is learned is better than one with this distance.
_LAST_CHOICE = 254


def files_of(asked: Exported) -> Files:
    """Return ``frr/DEVICE.conf`` of every switch that routes; ``InputError`` where none does.

    Comments before it configure the ports of Cumulus Linux that are split or slower than their cages.
    """
    plan = asked.plan
    routers = [device for device in plan.devices if device.asn]
    if not routers:
        raise refusal(
            "--to frr", "", "no switch of this design routes: FRR is for fabrics of Ethernet that are not out-of-band"
        )
    embedded = Embedded(asked.design)
    return {
        f"{router.name}.conf": chain(
            port_lines(plan, embedded.part(router.product, Switch), router), router_lines(plan, router)
        )
        for router in routers
    }


def port_lines(plan: OperationPlan, switch: Switch, device: NamedDevice) -> Iterator[str]:
    """Commands of NVUE, as comments, for ports of Cumulus Linux that are split or slower than their cages.

    A cage is split with the lanes of each port (Cumulus Linux 5.4 and later), which then states its speed. No lines for
    other systems.
    """
    split: set[int] = set()
    for port, link in plan.ports_at[device.row] if device.system == "cumulus" else ():
        lanes = lanes_of_slower(switch, port.cage, port.lanes, mbps(link.gbps))
        if port.lanes > 1 and port.cage not in split:
            split.add(port.cage)
            yield f"! nv set interface swp{port.cage} link breakout {port.lanes}x lanes-per-port {lanes}"
        if lanes:
            yield f"! nv set interface {port.name} link speed {link.gbps:g}G"


def router_lines(plan: OperationPlan, router: NamedDevice) -> Iterator[str]:
    """The configuration of a switch, as ``vtysh -C`` reads it."""
    links, tagged = plan.configured_ports[router.row], plan.vrf_ports_at[router.row]
    upwards = [(port, far) for port, far, _ in links if plan.device_at[far.device].role in SWITCHES]
    yield from ("frr defaults datacenter", f"hostname {router.name}", "service integrated-vtysh-config", "!")
    for network in plan.vrfs_of(router):
        # Linux looks in the table of no VRF for what is not in one, unless this is.
        yield from (f"vrf {network.vrf}", f" ip route 0.0.0.0/0 reject {_LAST_CHOICE}", "exit-vrf", "!")
    yield from ("interface lo", f" ip address {router.loopback}/32", "!")
    for network in plan.networks:
        if router.row in network.subnets:
            yield from _bridge(plan, network, router, links)
    for port, far, link in (*links, *tagged):
        yield from _interface(plan, port, far, link)
    yield from _announced(plan)
    yield from _bgp(router, upwards, numbered=plan.operate.links != "unnumbered")
    for network in plan.vrfs_of(router):
        sessions = [(port, far) for port, far, link in tagged if link.network == network.name]
        yield from _bgp(router, sessions, numbered=True, vrf=network.vrf)
    yield from ("line vty", "!")


def _bridge(plan: OperationPlan, network: NamedNetwork, router: NamedDevice, links: Ends) -> Iterator[str]:
    """The interface of a leaf's subnet: a bridge, which the system makes of the ports to hosts."""
    shared = (port.address for port, _, link in links if plan.is_in_subnet(port, link) and link.network == network.name)
    yield f"interface {bridge_of(network)}{f' vrf {network.vrf}' if network.vrf else ''}"
    yield f" description ports of {network.name} on {router.name}"
    yield f" ip address {next(shared)}"
    yield "!"


def bridge_of(network: NamedNetwork) -> str:
    """The name of a network's bridge: with its VLAN in place of letters that Linux does not take."""
    whole = f"br-{network.name}"
    return whole if len(whole) <= LONGEST else f"br-{network.name[:6].rstrip('-')}-{network.vlan}"


def _interface(plan: OperationPlan, port: NamedPort, far: NamedPort, link: NamedLink) -> Iterator[str]:
    network = plan.network_of[link.network]
    shared = plan.is_in_subnet(port, link)
    yield f"interface {port.name}{f' vrf {network.vrf}' if network.vrf and not shared else ''}"
    yield f" description {plan.device_at[far.device].name} {far.name}"
    if port.address and not shared:
        yield f" ip address {port.address}"
    yield "!"


def _announced(plan: OperationPlan) -> Iterator[str]:
    """The prefix list announced to neighbours: loopbacks and hosts, so not the management network."""
    for pool in (plan.operate.loopbacks, plan.operate.hosts):
        yield f"ip prefix-list fabric permit {pool} le 32"
    yield from ("!", "route-map fabric permit 10", " match ip address prefix-list fabric", "exit", "!")


def _bgp(
    router: NamedDevice, neighbours: list[tuple[NamedPort, NamedPort]], numbered: bool, vrf: str = ""
) -> Iterator[str]:
    """BGP sessions over links, unnumbered by the interface; all equal-cost links upwards are used."""
    yield f"router bgp {router.asn}{f' vrf {vrf}' if vrf else ''}"
    yield f" bgp router-id {router.loopback}"
    yield " bgp bestpath as-path multipath-relax"
    yield " neighbor fabric peer-group"
    yield " neighbor fabric remote-as external"
    for port, far in neighbours:
        if numbered:
            yield f" neighbor {far.address.partition('/')[0]} peer-group fabric"
        else:
            yield f" neighbor {port.name} interface peer-group fabric"
    yield " !"
    yield " address-family ipv4 unicast"
    yield "  redistribute connected route-map fabric"
    yield f"  maximum-paths {min(_MOST_PATHS, max(1, len(neighbours)))}"
    yield from (" exit-address-family", "exit", "!")
