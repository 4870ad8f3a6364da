"""Configuration of SONiC for every switch that runs it: a ``config_db`` as ``config load`` reads it.

Tables and fields are those of sonic-net/sonic-buildimage 086b03bd, ``src/sonic-yang-models``. Ports in use are
configured; a platform's own tables stay for settings that are not known.

Queues of SONiC: lossless classes, buffers of each port, marking thresholds, and the watchdog of pause storms.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from math import ceil
from typing import TypeAlias

from fabopt.errors import Fault, fault
from fabopt.io.faults import refuse_any
from fabopt.operate.lossless import LosslessSwitch, lossless_switches
from fabopt.operate.model import SWITCHES, Ends, NamedDevice, NamedLink, NamedNetwork, NamedPort, OperationPlan
from fabopt.operate.refusals import switches_running
from fabopt.operate.sonic_proof import faults_of
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.roce import WATCHDOG_MS
from fabopt.parts.headroom import pipeline_bytes, threshold, xon_offset
from fabopt.parts.switches import lanes_in_use, signal_lanes
from fabopt.schema.catalog import Switch
from fabopt.units import mbps, some
from fabopt.wiring.design_file import Embedded

# Rows by key, and fields of a row.
Row: TypeAlias = Mapping[str, "str | list[str]"]
Table: TypeAlias = dict[str, Row]
Tables: TypeAlias = Mapping[str, Table]

_MAP = "AZURE"
_PRIORITIES, _DSCPS = range(8), range(64)
_INGRESS, _EGRESS, _EGRESS_LOSSY = "ingress_lossless_pool", "egress_lossless_pool", "egress_lossy_pool"
_MOST_THRESHOLD = "7"


def queue_tables(plan: OperationPlan, lossless: LosslessSwitch) -> dict[str, Table]:
    """Tables of queues for the ports in use of a switch."""
    patience = str(WATCHDOG_MS)
    storm = {"action": "drop", "detection_time": patience, "restoration_time": patience}
    return {
        **_classes(plan, lossless.classes(plan.queues)),
        **_schedulers(plan),
        **_buffers(plan, lossless),
        **_ports(plan, lossless),
        "WRED_PROFILE": {_wred(port.link.gbps): _thresholds(lossless, port.link.gbps) for port in lossless.ports},
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": patience}, **{port.port.name: storm for port in lossless.ports}},
    }


def _classes(plan: OperationPlan, lossless: Sequence[int]) -> dict[str, Table]:
    """RDMA and its notifications have a class, a queue and a priority group each; other traffic is class 0."""
    queues = plan.queues
    classes = {queues.rdma_dscp: queues.rdma_priority, queues.cnp_dscp: queues.cnp_priority}
    same = {str(priority): str(priority) for priority in _PRIORITIES}
    return {
        "DSCP_TO_TC_MAP": {_MAP: {str(dscp): str(classes.get(dscp, 0)) for dscp in _DSCPS}},
        "TC_TO_QUEUE_MAP": {_MAP: same},
        "TC_TO_PRIORITY_GROUP_MAP": {_MAP: {str(tc): str(tc if tc in lossless else 0) for tc in _PRIORITIES}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {_MAP: same},
    }


def _schedulers(plan: OperationPlan) -> dict[str, Table]:
    share = plan.queues.rdma_share
    return {
        "SCHEDULER": {
            "scheduler.rdma": {"type": "DWRR", "weight": str(share)},
            "scheduler.other": {"type": "DWRR", "weight": str(100 - share)},
            "scheduler.cnp": {"type": "STRICT"},
        }
    }


def _wred(gbps: float) -> str:
    return f"RDMA_{gbps:.0f}G"


def _thresholds(lossless: LosslessSwitch, gbps: float) -> Row:
    marks = lossless.marking(gbps)
    levels = {f"{colour}_{end}_threshold": str(size) for colour in ("green", "yellow", "red")
              for end, size in (("min", marks.least), ("max", marks.most))}  # fmt: skip
    chances = {f"{colour}_drop_probability": str(marks.probability) for colour in ("green", "yellow", "red")}
    enabled = {f"wred_{colour}_enable": "true" for colour in ("green", "yellow", "red")}
    return {**levels, **chances, **enabled, "ecn": "ecn_all"}


def _ports(plan: OperationPlan, lossless: LosslessSwitch) -> dict[str, Table]:
    queues = plan.queues
    rdma = ",".join(map(str, lossless.classes(queues)))
    maps: Table = {
        port.port.name: {
            "dscp_to_tc_map": _MAP, "tc_to_queue_map": _MAP, "tc_to_pg_map": _MAP, "pfc_to_queue_map": _MAP,
            "pfc_enable": rdma, "pfcwd_sw_enable": rdma,
        }
        for port in lossless.ports
    }  # fmt: skip
    rows: Table = {}
    for port in lossless.ports:
        for queue in _PRIORITIES:
            named = {queues.rdma_priority: "rdma", queues.cnp_priority: "cnp"}.get(queue, "other")
            marked = {"wred_profile": _wred(port.link.gbps)} if queue == queues.rdma_priority else {}
            rows[f"{port.port.name}|{queue}"] = {"scheduler": f"scheduler.{named}", **marked}
    return {"PORT_QOS_MAP": maps, "QUEUE": rows}


def _buffers(plan: OperationPlan, lossless: LosslessSwitch) -> dict[str, Table]:
    """Pools and profiles; none where the pool is unknown or too small: the platform's own tables hold then."""
    verdict, pool, asic = lossless.verdict, lossless.switch.buffer_pool, lossless.switch.asic or ""
    if verdict is None or pool is None or verdict.spare < 0:
        return {}
    is_spectrum = pipeline_bytes(asic) is not None
    classes = lossless.classes(plan.queues)
    profiles = _spectrum_profiles(plan) if is_spectrum else _tomahawk_profiles(pool.size)
    groups: Table = {}
    for port in lossless.ports:
        assert port.room is not None
        name = f"pg_lossless_{port.link.gbps * 1000:.0f}_{ceil(port.link.length_m)}m_profile"
        offset = {"xon_offset": str(xon_offset(asic))} if xon_offset(asic) else {}
        profiles[name] = {
            "pool": _INGRESS, "size": str(port.room.size), "xon": str(port.room.xon), "xoff": str(port.room.xoff),
            "dynamic_th": str(threshold(asic)), **offset,
        }  # fmt: skip
        groups |= {f"{port.port.name}|{priority}": {"profile": name} for priority in classes}
        groups[f"{port.port.name}|0"] = {"profile": "ingress_lossy_profile"}
    queues: Table = {
        f"{port.port.name}|{queue}": {"profile": f"egress_{'lossless' if queue in classes else 'lossy'}_profile"}
        for port in lossless.ports for queue in _PRIORITIES
    }  # fmt: skip
    pools = (
        _spectrum_pools(pool.size, verdict.left) if is_spectrum else _tomahawk_pools(pool.size, verdict.shared_headroom)
    )
    return {"BUFFER_POOL": pools, "BUFFER_PROFILE": profiles, "BUFFER_PG": groups, "BUFFER_QUEUE": queues}


def _spectrum_pools(size: int, left: int) -> Table:
    return {
        _INGRESS: {"size": str(left), "type": "ingress", "mode": "dynamic"},
        _EGRESS: {"size": str(size), "type": "egress", "mode": "dynamic"},
        _EGRESS_LOSSY: {"size": str(left), "type": "egress", "mode": "dynamic"},
    }


def _spectrum_profiles(plan: OperationPlan) -> Table:
    return {
        "ingress_lossy_profile": {"pool": _INGRESS, "size": "0", "dynamic_th": _MOST_THRESHOLD},
        "egress_lossless_profile": {"pool": _EGRESS, "size": "0", "dynamic_th": _MOST_THRESHOLD},
        "egress_lossy_profile": {
            "pool": _EGRESS_LOSSY, "size": str(plan.queues.mtu), "dynamic_th": _MOST_THRESHOLD,
        },
    }  # fmt: skip


def _tomahawk_pools(size: int, shared_headroom: int) -> Table:
    return {
        _INGRESS: {"size": str(size), "type": "ingress", "mode": "dynamic", "xoff": str(shared_headroom)},
        _EGRESS: {"size": str(size), "type": "egress", "mode": "static"},
    }


def _tomahawk_profiles(size: int) -> Table:
    """Lossy traffic is bounded where it leaves, not where it comes in."""
    return {
        "ingress_lossy_profile": {"pool": _INGRESS, "size": "0", "static_th": str(size)},
        "egress_lossless_profile": {"pool": _EGRESS, "size": "0", "static_th": str(size)},
        "egress_lossy_profile": {"pool": _EGRESS, "size": "0", "dynamic_th": "0"},
    }


FOLDER = "sonic"
OWN_FILES = r"[^/]*\.json"
_MANAGEMENT_PORT = "eth0"
_TYPES = {"leaf": "ToRRouter", "spine": "LeafRouter", "core": "SpineRouter"}
_MOST_PATHS = 256
# Below this speed ports are not encoded against errors; of 40G neither.
_ENCODED_FROM_GBPS, _PLAIN_GBPS = 25, (40,)
_ROUTES, _FAMILY, _NO_VRF = "fabric", "ipv4_unicast", "default"


def files_of(asked: Exported) -> Files:
    """Return ``sonic/DEVICE.json``; ``InputError`` where no switch runs SONiC, or its ports are not known."""
    design, plan = asked.design, asked.plan
    switches = switches_running(plan, "sonic", "SONiC")
    embedded = Embedded(design)
    refuse_any(list(_refused(plan, embedded, switches)))
    lossless = {switch.device.row: switch for switch in lossless_switches(design, plan)}
    files = {device: config_of(plan, embedded, device, lossless.get(device.row)) for device in switches}
    refuse_any([fault(f"--to sonic: {device.name}", where, problem)
                for device, config in files.items() for where, problem in faults_of(config)])  # fmt: skip
    return {f"{device.name}.json": [json.dumps(config, indent=2)] for device, config in files.items()}


def _refused(plan: OperationPlan, embedded: Embedded, switches: Sequence[NamedDevice]) -> Iterator[Fault]:
    """Faults of products that run SONiC whose port numbers or lanes are not known."""
    for product in dict.fromkeys(device.product for device in switches):
        switch = embedded.part(product, Switch)
        number = some(sum(device.product == product for device in switches), "switch")
        if switch.sonic_ports is None or len(switch.cages) != 1:
            yield fault("--to sonic", product, f"how SONiC numbers the ports of {number} is not known (`sonic_ports`)")
        elif switch.sonic_ports.lanes is None:
            yield fault(
                "--to sonic",
                product,
                f"which lanes are behind the cages of {number} is not known (`sonic_ports.lanes`)",
            )
        elif len(switch.sonic_ports.lanes) != (cages := sum(cage.count for cage in switch.cages)):
            problem = f"`sonic_ports.lanes` has {len(switch.sonic_ports.lanes)} numbers, one for each cage"
            yield fault("--to sonic", product, problem, allowed=some(cages, "number"))
        most = switch.sonic_ports.most_per_cage if switch.sonic_ports is not None else None
        parted = {
            port.lanes for device in switches if device.product == product for port, _ in plan.ports_at[device.row]
        }
        if most is not None and max(parted, default=0) > most:
            problem = f"SONiC does not part a cage of {number} into {max(parted)} ports (`sonic_ports.most_per_cage`)"
            hint = "another system (`operate.systems`), or another switch or split, takes its place"
            yield fault("--to sonic", product, problem, allowed=f"up to {most}", hint=hint)


def config_of(plan: OperationPlan, embedded: Embedded, device: NamedDevice, lossless: LosslessSwitch | None) -> Tables:
    """All tables of a switch; ``lossless``: its queues where it routes."""
    switch = embedded.part(device.product, Switch)
    links = plan.configured_ports[device.row]
    tables: dict[str, Table] = {
        "DEVICE_METADATA": {"localhost": _metadata(device)},
        "MGMT_PORT": {_MANAGEMENT_PORT: {"alias": _MANAGEMENT_PORT, "admin_status": "up"}},
        "MGMT_INTERFACE": _management(plan, device),
        "PORT": {port.name: _port(plan, switch, port, far, link) for port, far, link in links},
        "DEVICE_NEIGHBOR": {port.name: _neighbour(plan, port, far) for port, far, _ in links},
        "DEVICE_NEIGHBOR_METADATA": dict(_neighbours(plan, links)),
        "CABLE_LENGTH": _lengths(links),
    }
    if device.asn:
        tagged = plan.vrf_ports_at[device.row]
        tables |= _interfaces(plan, device, links) | _tagged(plan, tagged) | _routing(plan, device, [*links, *tagged])
    else:
        tables |= _bridged(plan, links)
    if lossless is not None:
        tables |= queue_tables(plan, lossless)
    return {name: table for name, table in tables.items() if table}


def _lengths(links: Ends) -> Table:
    """Cable lengths in whole metres, rounded up, which is safe; none for cables that others supply."""
    lengths = {port.name: f"{ceil(link.length_m)}m" for port, _, link in links if link.length_m}
    return {"AZURE": lengths} if lengths else {}


def _metadata(device: NamedDevice) -> dict[str, str]:
    routed = {
        "bgp_asn": str(device.asn), "docker_routing_config_mode": "unified", "frr_mgmt_framework_config": "true",
        "default_pfcwd_status": "enable", "buffer_model": "traditional",
    }  # fmt: skip
    return {"hostname": device.name, "type": _TYPES[device.role], **(routed if device.asn else {})}


def _management(plan: OperationPlan, device: NamedDevice) -> Table:
    """Address of the management port; the gateway has the pool's first address."""
    network = IPv4Network(plan.operate.management)
    key = f"{_MANAGEMENT_PORT}|{device.management}/{network.prefixlen}"
    return {key: {"gwaddr": str(network.network_address + 1)}}


def _port(plan: OperationPlan, switch: Switch, port: NamedPort, far: NamedPort, link: NamedLink) -> dict[str, str]:
    assert switch.sonic_ports is not None and switch.sonic_ports.lanes is not None
    number = lanes_in_use(switch, port.cage, port.lanes, mbps(link.gbps))
    first = switch.sonic_ports.lanes[port.cage - 1] + port.lane * max(1, signal_lanes(switch)[port.cage] // port.lanes)
    is_encoded = link.gbps >= _ENCODED_FROM_GBPS and link.gbps not in _PLAIN_GBPS
    return {
        "lanes": ",".join(str(lane) for lane in range(first, first + number)),
        **({"alias": port.alias} if port.alias else {}),
        "speed": f"{link.gbps * 1000:.0f}", "index": str(port.cage - 1 + switch.sonic_ports.index_from),
        "fec": "rs" if is_encoded else "none", "mtu": str(plan.queues.mtu), "admin_status": "up",
        "description": f"{plan.device_at[far.device].name} {far.name}",
    }  # fmt: skip


def _neighbour(plan: OperationPlan, port: NamedPort, far: NamedPort) -> dict[str, str]:
    device = plan.device_at[far.device]
    return {"name": device.name, "port": far.name, "local_port": port.name, "mgmt_addr": device.management}


def _neighbours(plan: OperationPlan, links: Ends) -> Iterator[tuple[str, dict[str, str]]]:
    for _, far, _ in links:
        device = plan.device_at[far.device]
        loopback = {"lo_addr": f"{device.loopback}/32"} if device.loopback else {}
        yield device.name, {"type": _TYPES.get(device.role, "Server"), "mgmt_addr": device.management, **loopback}


def _vrf_of(network: NamedNetwork) -> str:
    return f"Vrf-{network.vrf}" if network.vrf else _NO_VRF


def _vrf(plan: OperationPlan, network: str) -> dict[str, str]:
    vrf = _vrf_of(plan.network_of[network])
    return {} if vrf == _NO_VRF else {"vrf_name": vrf}


def _interfaces(plan: OperationPlan, device: NamedDevice, links: Ends) -> dict[str, Table]:
    """Addresses: of the loopback, of ports by the plan, and of the subnets of a leaf."""
    ports: Table = {}
    vrfs: Table = {_vrf_of(network): {"fallback": "false"} for network in plan.vrfs_of(device)}
    for port, _, link in links:
        if plan.is_in_subnet(port, link):
            continue
        local = {} if port.address else {"ipv6_use_link_local_only": "enable"}
        ports[port.name] = {**_vrf(plan, link.network), **local}
        if port.address:
            ports[f"{port.name}|{port.address}"] = {}
    loopback: Table = {"Loopback0": {}, f"Loopback0|{device.loopback}/32": {}}
    return {"VRF": vrfs, "LOOPBACK_INTERFACE": loopback, "INTERFACE": ports, **_subnets(plan, links)}


def _tagged(plan: OperationPlan, tagged: Ends) -> dict[str, Table]:
    """Subinterfaces of VRFs on ports to other switches, with their VLAN."""
    rows: Table = {}
    for port, _, link in tagged:
        vlan = str(plan.network_of[link.network].vlan)
        rows[port.name] = {"admin_status": "up", "vlan": vlan, **_vrf(plan, link.network)}
        rows[f"{port.name}|{port.address}"] = {}
    return {"VLAN_SUB_INTERFACE": rows}


def _subnets(plan: OperationPlan, links: Ends) -> dict[str, Table]:
    """A VLAN of the ports to hosts for each network that has a subnet on a leaf, with the leaf's address."""
    vlans: Table = {}
    members: Table = {}
    gateways: Table = {}
    for port, _, link in links:
        network = plan.network_of[link.network]
        if plan.is_in_subnet(port, link):
            name = f"Vlan{network.vlan}"
            vlans[name] = {"vlanid": str(network.vlan), "description": network.name}
            members[f"{name}|{port.name}"] = {"tagging_mode": "untagged"}
            gateways |= {name: _vrf(plan, link.network), f"{name}|{port.address}": {}}
    return {"VLAN": vlans, "VLAN_MEMBER": members, "VLAN_INTERFACE": gateways}


def _bridged(plan: OperationPlan, links: Ends) -> dict[str, Table]:
    """Tables of a switch that does not route: all ports in the VLAN of their network."""
    numbers = {plan.network_of[link.network].vlan: link.network for _, _, link in links}
    vlans: Table = {
        f"Vlan{vlan}": {"vlanid": str(vlan), "description": name} for vlan, name in numbers.items()
    }  # fmt: skip
    members: Table = {
        f"Vlan{plan.network_of[link.network].vlan}|{port.name}": {"tagging_mode": "untagged"} for port, _, link in links
    }
    return {"VLAN": vlans, "VLAN_MEMBER": members}


def _routing(plan: OperationPlan, device: NamedDevice, links: Ends) -> dict[str, Table]:
    """A session over each link to another switch, in each VRF; loopbacks and hosts are announced, all
    links are used.
    """
    vrfs = [_NO_VRF, *map(_vrf_of, plan.vrfs_of(device))]
    neighbours: Table = {}
    sessions: Counter[str] = Counter()
    for port, far, link in links:
        other, vrf = plan.device_at[far.device], _vrf_of(plan.network_of[link.network])
        if other.role in SWITCHES:
            sessions[vrf] += 1
            if port.address:
                neighbours[f"{vrf}|{far.address.partition('/')[0]}"] = {"asn": str(other.asn), "name": other.name}
            else:
                neighbours[f"{vrf}|{port.name}"] = {"peer_type": "external", "name": other.name}
    pools = (plan.operate.loopbacks, plan.operate.hosts)
    own = {"local_asn": str(device.asn), "router_id": device.loopback, "load_balance_mp_relax": "true"}
    return {
        "BGP_GLOBALS": dict.fromkeys(vrfs, own),
        "BGP_GLOBALS_AF": {
            f"{vrf}|{_FAMILY}": {"max_ebgp_paths": str(min(_MOST_PATHS, max(1, sessions[vrf])))} for vrf in vrfs
        },
        "BGP_NEIGHBOR": neighbours,
        "BGP_NEIGHBOR_AF": {f"{key}|{_FAMILY}": {"admin_status": "up"} for key in neighbours},
        "PREFIX_SET": {_ROUTES: {"mode": "IPv4"}},
        "PREFIX": {f"{_ROUTES}|{pool}|{pool.partition('/')[2]}..32": {"action": "permit"} for pool in pools},
        "ROUTE_MAP_SET": {_ROUTES: {}},
        "ROUTE_MAP": {f"{_ROUTES}|10": {"route_operation": "permit", "match_prefix_set": _ROUTES}},
        "ROUTE_REDISTRIBUTE": {f"{vrf}|connected|bgp|ipv4": {"route_map": [_ROUTES]} for vrf in vrfs},
    }
