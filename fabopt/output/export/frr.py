"""Configuration of FRR for every switch that routes: addresses, and a session of BGP on each link between switches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabopt.errors import InputError, fault
from fabopt.operate.build import plan_of
from fabopt.operate.model import SWITCHES, NamedDevice, NamedLink, NamedNetwork, NamedPort, OperationPlan
from fabopt.output.export.formats import Options
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring
from fabopt.wiring.port_names import LONGEST

FOLDER = "frr"
# What FRR is built for by Debian.
_MOST_PATHS = 256
# Any route that is learned is better than one with this distance.
_LAST_CHOICE = 254
# A port of a switch, the one that it is joined to, and their link.
Ends = list[tuple[NamedPort, NamedPort, NamedLink]]


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write ``frr/DEVICE.conf`` of every switch that routes; ``InputError`` where none does."""
    plan = plan_of(design, wiring, options.stage)
    routers = [device for device in plan.devices if device.asn]
    if not routers:
        problem = "no switch of this design routes: FRR is for fabrics of Ethernet that are not out-of-band"
        raise InputError([fault("--to frr", "", problem)])
    own = folder / FOLDER
    own.mkdir(exist_ok=True)
    written = []
    for router in routers:
        path = own / f"{router.name}.conf"
        path.write_text("".join(f"{line}\n" for line in router_lines(plan, router)), encoding="utf-8")
        written.append(path)
    return written


def own_files(folder: Path) -> list[Path]:
    """Files there that this format may have written."""
    return sorted((folder / FOLDER).glob("*.conf"))


def router_lines(plan: OperationPlan, router: NamedDevice) -> Iterator[str]:
    """The configuration of a switch, as ``vtysh -C`` reads it."""
    links: Ends = [(port, plan.other(port, link), link) for port, link in plan.ports_at[router.row]]
    tagged: Ends = [(port, plan.other(port, link), link) for port, link in plan.vrf_ports_at[router.row]]
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
    """The subnet of a leaf is of a bridge, which the system makes of the ports to hosts."""
    shared = (port.address for port, _, link in links if plan.is_in_subnet(port, link) and link.network == network.name)
    yield f"interface {bridge_of(network)}{f' vrf {network.vrf}' if network.vrf else ''}"
    yield f" description ports of {network.name} on {router.name}"
    yield f" ip address {next(shared)}"
    yield "!"


def bridge_of(network: NamedNetwork) -> str:
    """The name of a network's bridge: with its VLAN in place of what Linux has no letters for."""
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
    """What is told to neighbours: loopbacks and hosts, so not the management network."""
    for pool in (plan.operate.loopbacks, plan.operate.hosts):
        yield f"ip prefix-list fabric permit {pool} le 32"
    yield from ("!", "route-map fabric permit 10", " match ip address prefix-list fabric", "exit", "!")


def _bgp(
    router: NamedDevice, neighbours: list[tuple[NamedPort, NamedPort]], numbered: bool, vrf: str = ""
) -> Iterator[str]:
    """Sessions over links, unnumbered by the interface; all links that lead on are used alike."""
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
