"""A Clos in the design file: structure, tiers, kinds of links, and positions of switches on a floor."""

from __future__ import annotations

from collections.abc import Iterable

from fabopt.parts.switches import CageUse, SwitchType
from fabopt.schema.homing import PEER_LINK
from fabopt.schema.structure import LastGroup, Structure
from fabopt.topology.clos.link_kinds import peer_use
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.design import FilePart, LinkUse, OtherSwitches, Role, Tier


def file_part_of(clos: ClosNetwork) -> FilePart:
    """Structure, tiers and kinds of links."""
    nic = clos.parts.nic
    return FilePart(
        protocol=clos.parts.protocol,
        planes=nic.planes // nic.rails_per_plane,
        rails=int(clos.shape.rails) * nic.rails_per_plane,
        structure=_structure(clos),
        nic=nic,
        tiers=tuple(_tiers(clos)),
        links=tuple(_links(clos)),
        free_ports=clos.free,
        attached_runs_m=clos.attached_runs_m,
        placement=clos.placement.in_file(),
        server_racks=clos.placement.server_racks,
        occupied_on_leaves=(clos.occupied_ports, clos.last_occupied),
        peers=None if clos.parts.leaf.peers is None else peer_use(clos.parts),
    )


def _structure(clos: ClosNetwork) -> Structure:
    shape, tiers = clos.shape, clos.tiers
    return Structure(
        tiers=tiers,
        servers_per_group=int(shape.g),
        groups=int(shape.groups),
        ports_per_server=shape.ports * clos.parts.nic.rails_per_plane,
        ports_per_server_per_leaf=int(shape.k),
        links_per_pair=int(shape.links_per_pair) if tiers > 1 else 0,
        pods=int(shape.pods) if tiers > 2 else 1,
        leaves_per_pod=int(shape.leaves_per_pod) if tiers > 1 else int(shape.rails),
        spines_per_pod=int(shape.spines),
        pod_of="rail" if shape.rail_pods else "groups",
        groups_per_pod=int(shape.groups_per_pod) if tiers > 1 else 1,
        links_per_core_pair=int(shape.m2),
        spines_per_core_group=int(shape.q),
        cores_per_group=int(shape.cores_per_group) if tiers > 2 else 0,
        last_group=_last_group(clos) if shape.is_odd else None,
    )


def _last_group(clos: ClosNetwork) -> LastGroup:
    shape = clos.shape
    return LastGroup(
        servers=int(shape.last_group),
        ports_per_server_per_leaf=int(shape.odd_k),
        leaves=int(shape.last_rails),
        down_ports=clos.last_ports,
        reserved_ports=clos.last_reserved,
        up_ports=int(shape.odd_u),
        links_per_pair=int(shape.last_links_per_pair),
    )


def _tiers(clos: ClosNetwork) -> Iterable[Tier]:
    parts, shape = clos.parts, clos.shape
    planes = parts.nic.planes
    tiers: tuple[tuple[Role, SwitchType | None, int, int, int, CageUse | None, CageUse | None], ...] = (
        ("leaf", parts.leaf, planes * shape.leaves, clos.down_ports, shape.u, parts.leaf_down, parts.leaf_up),
        ("spine", parts.spine, planes * shape.spines * (shape.pods if clos.tiers > 2 else 1),
         clos.spine_ports, shape.x, parts.spine_down, parts.spine_up),
        ("core", parts.core, planes * shape.cores if clos.tiers > 2 else 0,
         shape.core_down if clos.tiers > 2 else 0, 0, parts.core_down, None),
    )  # fmt: skip
    for role, switch, count, down_ports, up_ports, down, up in tiers:
        if switch is None or down is None:
            continue
        reserved = clos.reserved_ports if role == "leaf" else 0
        other = _last_leaves(clos) if role == "leaf" else None
        yield Tier(
            role, switch, int(count), int(down_ports), int(up_ports) if up is not None else 0, down, up, reserved, other
        )


def _last_leaves(clos: ClosNetwork) -> OtherSwitches | None:
    """Leaves of a differing last group, if they are of another type."""
    if clos.parts.last_leaf is None:
        return None
    (switch, down, up), count = clos.parts.last_leaf, clos.parts.nic.planes * int(clos.shape.last_rails)
    return OtherSwitches(switch, count, clos.last_ports, int(clos.shape.odd_u), down, up, clos.last_reserved)


def _links(clos: ClosNetwork) -> Iterable[LinkUse]:
    parts = clos.parts
    leaf_mbps = parts.leaf_down.lane.port_mbps
    yield LinkUse("server", "leaf", None, leaf_mbps, "server-leaf")
    yield LinkUse("attachment", "leaf", None, leaf_mbps, "attachment-leaf")
    yield LinkUse("attachment", "spine", None, leaf_mbps, "attachment-spine")
    if parts.leaf_up is not None:
        yield LinkUse("leaf", "spine", None, parts.leaf_up.lane.port_mbps, "leaf-spine")
    if parts.spine_up is not None:
        yield LinkUse("spine", "core", None, parts.spine_up.lane.port_mbps, "spine-core")
    if parts.leaf.peers is not None:
        yield LinkUse("leaf", "leaf", PEER_LINK, peer_use(parts).lane.port_mbps, "leaf-leaf")
