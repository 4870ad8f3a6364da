"""Configuration of EOS for every switch that runs it, as structured configuration of Arista's AVD.

Keys are those of ``eos_cli_config_gen`` of pyavd 6.4, which checks a file and makes the lines of EOS from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import TypeAlias

from fabopt.operate.lossless import LosslessSwitch, lossless_switches
from fabopt.operate.model import SWITCHES, Ends, NamedDevice, NamedLink, NamedPort, OperationPlan
from fabopt.operate.refusals import switches_running
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import head_lines, yaml_lines
from fabopt.output.export.roce import WATCHDOG_MS
from fabopt.parts.switches import lanes_of_slower, signal_lanes
from fabopt.schema.catalog import Switch
from fabopt.units import mbps
from fabopt.wiring.design_file import Embedded

FOLDER = "eos"
OWN_FILES = r"[^/]*\.yml"
_MANAGEMENT, _FABRIC, _MOST_PATHS = "MGMT", "fabric", 128
_FIRST_RULE = 10
# Below this speed in Gb/s EOS states the speed of a port in Mb/s.
_LEAST_G = 25
Config: TypeAlias = dict[str, object]


def files_of(asked: Exported) -> Files:
    """Return ``eos/DEVICE.yml``; ``InputError`` where nothing runs EOS."""
    design, plan = asked.design, asked.plan
    switches = switches_running(plan, "eos", "EOS")
    embedded = Embedded(design)
    lossless = {switch.device.row: switch for switch in lossless_switches(design, plan)}
    configs = (
        (device.name, config_of(plan, embedded.part(device.product, Switch), device, lossless.get(device.row)))
        for device in switches
    )
    head = head_lines(plan, ": structured configuration of AVD")
    return {f"{name}.yml": [*head, *yaml_lines(config)] for name, config in configs}


def config_of(plan: OperationPlan, switch: Switch, device: NamedDevice, lossless: LosslessSwitch | None) -> Config:
    """Configuration of a switch of a product; ``lossless``: its queues where it carries RDMA."""
    links, tagged = plan.configured_ports[device.row], plan.vrf_ports_at[device.row]
    config = {
        "hostname": device.name,
        "service_routing_protocols_model": "multi-agent",
        "management_interfaces": [_management(plan, device)],
        "vlans": _vlans(plan, links),
        "ethernet_interfaces": [
            *(
                _interface(plan, port, far, link)
                | _speed(switch, port, link)
                | (_pauses(plan, link) if lossless is not None else {})
                for port, far, link in links
            ),
            *(_subinterface(plan, port, far, link) for port, far, link in tagged),
        ],
        "vlan_interfaces": list(_gateways(plan, links)),
        **(_routing(plan, device, links, tagged) if device.asn else {}),
        **(_queues(plan, lossless) if lossless is not None else {}),
    }
    vrfs: list[Config] = [{"name": network.vrf, "ip_routing": True} for network in plan.vrfs_of(device)]
    config["vrfs"] = [{"name": _MANAGEMENT, "ip_routing": False}, *vrfs]
    return {key: value for key, value in config.items() if value != []}


def _management(plan: OperationPlan, device: NamedDevice) -> Config:
    """Address of the management port; the gateway has the pool's first address."""
    network = IPv4Network(plan.operate.management)
    return {
        "name": "Management1", "vrf": _MANAGEMENT, "ip_address": f"{device.management}/{network.prefixlen}",
        "gateway": str(network.network_address + 1),
    }  # fmt: skip


def _is_bridged(plan: OperationPlan, port: NamedPort, link: NamedLink) -> bool:
    """Whether a port has no address of its own: in the subnet of its leaf, or of a switch that does not route."""
    return plan.is_in_subnet(port, link) or not plan.network_of[link.network].routed


def _vlans(plan: OperationPlan, links: Ends) -> list[Config]:
    names = {
        plan.network_of[link.network].vlan: link.network for port, _, link in links if _is_bridged(plan, port, link)
    }
    return [{"id": vlan, "name": name} for vlan, name in names.items()]


def _gateways(plan: OperationPlan, links: Ends) -> Iterator[Config]:
    """Address of a leaf in each subnet shared by its hosts."""
    subnets = {link.network: port.address for port, _, link in links if plan.is_in_subnet(port, link)}
    for name, address in subnets.items():
        network = plan.network_of[name]
        own = {"vrf": network.vrf} if network.vrf else {}
        yield {"name": f"Vlan{network.vlan}", "description": name, **own, "ip_address": address, "mtu": plan.queues.mtu}


def _interface(plan: OperationPlan, port: NamedPort, far: NamedPort, link: NamedLink) -> Config:
    network = plan.network_of[link.network]
    config: Config = {
        "name": port.name, "description": f"{plan.device_at[far.device].name} {far.name}", "shutdown": False,
        "mtu": plan.queues.mtu,
    }  # fmt: skip
    if _is_bridged(plan, port, link):
        config["switchport"] = {"enabled": True, "mode": "access", "access_vlan": network.vlan}
    else:
        config["switchport"] = {"enabled": False}
        config |= {"vrf": network.vrf} if network.vrf else {}
        config |= {"ip_address": port.address} if port.address else {"ipv6_enable": True}
    return config


def _pauses(plan: OperationPlan, link: NamedLink) -> Config:
    """Settings of a port of a fabric with RDMA: pauses on its priority, queues by its speed, trust in DSCP."""
    pauses = {"priority": plan.queues.rdma_priority, "no_drop": True}
    return {
        "priority_flow_control": {"enabled": True, "priorities": [pauses]},
        "service_profile": _profile(link.gbps), "qos": {"trust": "dscp"},
    }  # fmt: skip


def _speed(switch: Switch, port: NamedPort, link: NamedLink) -> Config:
    """The speed of a port that is split or slower than its cage, with its lanes; forced where a cage has one lane.

    EOS makes the ports of a cage from the speeds that they are given (arista.com, EOS Layer 1 Profiles).
    """
    lanes = lanes_of_slower(switch, port.cage, port.lanes, mbps(link.gbps))
    if not lanes:
        return {}
    if signal_lanes(switch)[port.cage] == 1:
        return {"speed": f"forced {mbps(link.gbps)}full" if link.gbps < _LEAST_G else f"forced {link.gbps:g}gfull"}
    return {"speed": f"{link.gbps:g}g-{lanes}"}


def _subinterface(plan: OperationPlan, port: NamedPort, far: NamedPort, link: NamedLink) -> Config:
    """Subinterface of a VRF on a port to another switch."""
    network = plan.network_of[link.network]
    return {
        "name": port.name, "description": f"{plan.device_at[far.device].name} {far.name}", "shutdown": False,
        "mtu": plan.queues.mtu, "encapsulation_dot1q": {"vlan": network.vlan}, "vrf": network.vrf,
        "ip_address": port.address,
    }  # fmt: skip


def _routing(plan: OperationPlan, device: NamedDevice, links: Ends, tagged: Ends) -> Config:
    """A session over each link to another switch; loopbacks and hosts are announced, all links upwards are used."""
    upwards = [(port, far) for port, far, _ in links if plan.device_at[far.device].role in SWITCHES]
    is_numbered = plan.operate.links != "unnumbered"
    next_hop: Config = (
        {} if is_numbered else {"next_hop": {"address_family_ipv6": {"enabled": True, "originate": True}}}
    )
    rules = [
        {"sequence": _FIRST_RULE * number, "action": f"permit {pool} le 32"}
        for number, pool in enumerate((plan.operate.loopbacks, plan.operate.hosts), 1)
    ]
    bgp: Config = {
        "as": str(device.asn), **_announcement(device, len(upwards)), "peer_groups": [{"name": _FABRIC}],
        "address_family_ipv4": {"peer_groups": [{"name": _FABRIC, "activate": True, **next_hop}]},
        **_neighbours(plan, upwards, is_numbered),
    }  # fmt: skip
    vrfs = list(_sessions_of_vrfs(plan, device, tagged))
    bgp |= {"vrfs": vrfs} if vrfs else {}
    match = {"sequence": _FIRST_RULE, "type": "permit", "match": [f"ip address prefix-list {_FABRIC}"]}
    return {
        "ip_routing": True,
        **({} if is_numbered else {"ipv6_unicast_routing": True, "ip_routing_ipv6_interfaces": True}),
        "loopback_interfaces": [{"name": "Loopback0", "ip_address": f"{device.loopback}/32"}],
        "prefix_lists": [{"name": _FABRIC, "sequence_numbers": rules}],
        "route_maps": [{"name": _FABRIC, "sequence_numbers": [match]}],
        "router_bgp": bgp,
    }


def _announcement(device: NamedDevice, sessions: int) -> Config:
    """Router id, equal-cost paths over all links, and announcement of a router's own networks."""
    paths = min(_MOST_PATHS, max(1, sessions))
    return {
        "router_id": device.loopback, "maximum_paths": {"paths": paths, "ecmp": paths},
        "redistribute": {"connected": {"enabled": True, "route_map": _FABRIC}},
    }  # fmt: skip


def _sessions_of_vrfs(plan: OperationPlan, device: NamedDevice, tagged: Ends) -> Iterator[Config]:
    for network in plan.vrfs_of(device):
        own = [(port, far) for port, far, link in tagged if link.network == network.name]
        yield {"name": network.vrf, **_announcement(device, len(own)), **_neighbours(plan, own, is_numbered=True)}


def _neighbours(plan: OperationPlan, upwards: Iterable[tuple[NamedPort, NamedPort]], is_numbered: bool) -> Config:
    sessions: list[Config] = []
    for port, far in upwards:
        other = plan.device_at[far.device]
        where = {"ip_address": far.address.partition("/")[0]} if is_numbered else {"name": port.name}
        sessions.append({**where, "peer_group": _FABRIC, "remote_as": str(other.asn), "description": other.name})
    return {"neighbors" if is_numbered else "neighbor_interfaces": sessions} if sessions else {}


def _profile(gbps: float) -> str:
    return f"rdma-{gbps:.0f}g"


def _queues(plan: OperationPlan, lossless: LosslessSwitch) -> Config:
    """Classes by DSCP, a profile for each speed, and the watchdog that ends a storm of pauses."""
    queues = plan.queues
    classes = {queues.rdma_dscp: queues.rdma_priority, queues.cnp_dscp: queues.cnp_priority}
    patience = f"{WATCHDOG_MS / 1000:.2f}"
    profiles = [
        {
            "name": _profile(gbps), "trust": "dscp",
            "uc_tx_queues": [
                {"id": 0, "bandwidth_percent": 100 - queues.rdma_share, "priority": "no priority"},
                {"id": queues.rdma_priority, "bandwidth_percent": queues.rdma_share, "priority": "no priority",
                 "random_detect": {"ecn": {"count": True, "threshold": _threshold(lossless, gbps)}}},
                {"id": queues.cnp_priority, "priority": "priority strict"},
            ],
        }
        for gbps in sorted({port.link.gbps for port in lossless.ports})
    ]  # fmt: skip
    return {
        "priority_flow_control": {
            "watchdog": {"action": "drop", "timeout": patience, "recovery_time": patience, "polling_interval": patience}
        },
        "qos": {"map": {"dscp": [f"{dscp} to traffic-class {number}" for dscp, number in sorted(classes.items())]}},
        "qos_profiles": profiles,
    }  # fmt: skip


def _threshold(lossless: LosslessSwitch, gbps: float) -> Mapping[str, object]:
    marks = lossless.marking(gbps)
    return {"units": "bytes", "min": marks.least, "max": marks.most, "max_probability": marks.probability}
