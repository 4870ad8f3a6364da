"""Rules of devices and ports in the explicit wiring: each is there once, and within its product's limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fabopt.schema.base import Lane
from fabopt.schema.design import FabricDesign, NicUse, TierUse
from fabopt.schema.subnet_manager import twins_of
from fabopt.units import MBPS_PER_GBPS, ceil_div, some
from fabopt.verify.cage_pairs import pairs_are_driven
from fabopt.verify.link_kinds import ATTACHMENT_SPINE, LEAF_LEAF, LEAF_SPINE, SERVER_LEAF, SPINE_CORE
from fabopt.verify.proof import Proof, combined, counts_of, distinct, repeated
from fabopt.verify.wiring import CageRange, FabricCabling, LinksOfKind
from fabopt.wiring.model import FIRST_OF_EQUALS, KINDS, LAST_OF_ENDPOINTS, NOTHING, TO_ATTACHMENTS, Ints, Links, Mask

ATTACHED = "attachment-leaf"
_ENDS = {
    SERVER_LEAF: ("server", "leaf"),
    ATTACHED: ("attachment", "leaf"),
    ATTACHMENT_SPINE: ("attachment", "spine"),
    LEAF_SPINE: ("leaf", "spine"),
    SPINE_CORE: ("spine", "core"),
    LEAF_LEAF: ("leaf", "leaf"),
}
# Links between switches of one role, leaves or the spines of a dragonfly+, which face up at both ends.
_BETWEEN_EQUALS = tuple(kind for kind in KINDS if kind not in _ENDS)


def boxes_are_listed(proof: Proof, cabling: FabricCabling) -> None:
    """Every device of the design is in the wiring once, under a name of its own.

    servers = N; devices of a tier = its count, all of its switch type; one device for each attachment, or all its
    devices where their height is known (a logical fabric's ports are servers'). Source: design file, ``tiers``; case
    file, ``attachments``.
    """
    wiring, devices, fabric = cabling.cabled.wiring, cabling.devices, cabling.fabric
    names = tuple(designed.name for designed in fabric.evidence.design.fabrics)
    proof.equal("fabrics of the wiring", wiring.fabrics, names)
    for table in (wiring.links, wiring.cables, wiring.modules):
        outside = (table.fabric < 0) | (table.fabric >= len(names))
        proof.equal("rows of no fabric", int(outside.sum()), 0)
    proof.equal("devices with a name that is taken", len(devices) - len(set(devices.name)), 0)
    wanted = [("server", [fabric.evidence.case.server_id] * fabric.evidence.servers)]
    wanted += [(tier.role, _products(fabric.designed, tier)) for tier in cabling.tiers()]
    physical = [attachment for attachment in fabric.wanted.attachments if attachment.name not in fabric.logical]
    attached = [(attachment.name, 1 if attachment.rack_units is None else attachment.boxes) for attachment in physical]
    wanted.append(("attachment", [name for name, number in attached for _ in range(number)]))
    for role, products in wanted:
        rows = cabling.devices_of(role).tolist()
        proof.equal(f"{role} devices", len(rows), len(products))
        wrong = (Counter(devices.product[row] for row in rows) - Counter(products)).total()
        proof.equal(f"{role} devices of another product", wrong, 0)
        proof.note(f"{len(rows)} x {role}")
    known = {"server", "attachment", *(tier.role for tier in cabling.tiers())}
    own = [role for role, name in zip(devices.role, devices.fabric, strict=True) if name == fabric.designed.name]
    proof.equal("devices of no role of the fabric", sum(role not in known for role in own), 0)


def _products(designed: FabricDesign, tier: TierUse) -> list[str]:
    """The products of the switches of a tier, in no order."""
    exchanged = twins_of(designed.subnet_manager, tier.role)
    twins = [name for twin in exchanged for name in [twin.id] * min(twin.count, tier.count)]
    others = [own.id for own in tier.types[1:] for _ in range(min(own.count, tier.count))]
    return twins + others + [tier.id] * (tier.count - len(twins) - len(others))


def boxes_are_numbered(proof: Proof, cabling: FabricCabling) -> None:
    """Every switch has its place: a leaf its group and rail, leaf and spine their pod, all their plane.

    Leaves: each (plane, group, rail) of P x G x r once; pod = that of T groups (of one rail). Spines: S in each of the
    P x n pods. Cores: equally many in each plane. Source: docs/formulation/wiring.md.
    """
    clos, devices = cabling.clos, cabling.devices
    leaves = cabling.devices_of("leaf")
    group, rail, plane = devices.group[leaves], devices.rail[leaves], devices.plane[leaves]
    for what, numbers, most in (
        ("group", group, clos.groups),
        ("rail", rail, max(clos.rails, clos.last_rails)),
        ("plane", plane, clos.planes),
    ):
        outside = int(((numbers < 1) | (numbers > most)).sum())
        proof.equal(f"leaves whose {what} is not within 1 to {most}", outside, 0)
    proof.equal("leaves at a place that is taken", repeated(combined(plane, group, rail)), 0)
    if (other := cabling.fabric.tier("leaf").other) is not None:
        own = np.array([devices.product[leaf] == other.id for leaf in leaves.tolist()])
        proof.equal(f"other leaves than {other.id} in the last group", int((own != (group == clos.groups)).sum()), 0)
    if clos.tiers > 1:
        _pods_are_numbered(proof, cabling, group, rail)
    for role in ("spine", "core")[: clos.tiers - 1]:
        of_plane = counts_of(devices.plane[cabling.devices_of(role)])
        expected = clos.switches()[1 if role == "spine" else 2] // clos.planes
        proof.equal(f"{role}s of each plane", of_plane.tolist(), [expected] * clos.planes)
    proof.note(f"{some(clos.planes, 'plane')} of {some(clos.groups, 'group')} x {some(clos.rails, 'rail')}")


def _pods_are_numbered(proof: Proof, cabling: FabricCabling, group: Ints, rail: Ints) -> None:
    clos, devices = cabling.clos, cabling.devices
    block = (group - 1) // clos.groups_per_pod
    pod = block * clos.rails + rail if clos.rail_pods else block + 1
    if clos.tiers < 3:
        pod = np.full(len(group), NOTHING)
    wrong = int((devices.pod[cabling.devices_of("leaf")] != pod).sum())
    proof.equal("leaves in another pod", wrong, 0)
    spines = cabling.devices_of("spine")
    of_pod = counts_of(combined(devices.plane[spines], devices.pod[spines]))
    proof.equal("pods with another number of spines", int((of_pod != clos.spines).sum()), 0)
    proof.equal("pods with spines", len(of_pod), clos.planes * clos.pods)


def links_join_tiers(proof: Proof, cabling: FabricCabling) -> None:
    """Every link is of a kind that the file has, between devices of the two roles; counts are those of the file's rows.

    For every kind (and attachment): rows of the table = sum of ``count``; a is the device nearer the servers; switches
    are the fabric's own. Source: design file, ``links``.
    """
    links, devices, roles = cabling.links, cabling.devices, cabling.cabled.roles
    proof.equal("links of no kind", len(links) - sum(len(joined.rows) for joined in cabling.joined), 0)
    own = np.array([name in ("", cabling.fabric.designed.name) for name in devices.fabric], dtype=np.bool_)
    proof.equal("links to a switch of another fabric", int((~own[links.a] | ~own[links.b]).sum()), 0)
    for name in KINDS:
        near, far = _roles_of(cabling, name)
        rows = cabling.of(name)
        near_roles = roles[links.a[rows]]
        if name == ATTACHED:
            # where a logical fabric's links begin
            near_roles = np.where(np.isin(cabling.attached_names[rows], list(cabling.fabric.logical)), near, near_roles)
        wrong = (near_roles != near) | (roles[links.b[rows]] != far)
        proof.equal(f"{name} links between other devices", int(wrong.sum()), 0)
    for joined in cabling.joined:
        proof.equal(f"{joined.kind.name} links", len(joined.rows), sum(row.listed.count for row in joined.kind.rows))
        proof.note(f"{joined.kind.name} {len(joined.rows)}")


def ports_are_used_once(proof: Proof, cabling: FabricCabling) -> None:
    """No port has two links, and no switch more than it can drive.

    (device, cage, lane) is at one end of one link of all fabrics; 0 <= lane < lanes; links of a switch <=
    ``max_ports``. Source: catalog, ``cages`` and ``max_ports``.
    """
    links = cabling.links
    device, cage, lane, lanes = _both_ends(cabling.cabled.wiring.links)
    proof.equal("ports with a second link", repeated(combined(device, cage, lane)), 0)
    proof.equal("ports outside their cage", int(((lane < 0) | (lane >= lanes)).sum()), 0)
    device, cage, _, lanes = _both_ends(links)
    gbps = np.tile(links.gbps, 2)
    used = np.bincount(np.concatenate([links.a, links.b]), minlength=len(cabling.devices))
    for role in (tier.role for tier in cabling.tiers()):
        switches = cabling.devices_of(role)
        for tier, switch, is_own in cabling.types(role, switches):
            busiest, most = int(used[switches[is_own]].max(initial=0)), switch.max_ports
            proof.holds(most is None or busiest <= most, f"{role}: {some(busiest, 'link')}, {tier.id} drives {most}")
            own = np.isin(device, switches[is_own])
            pairs_are_driven(proof, switch, device[own], cage[own], lanes[own], gbps[own])
            proof.note(f"at most {some(busiest, 'link')} on a {role}")


def _both_ends(links: Links) -> tuple[Ints, Ints, Ints, Ints]:
    """(Device, cage, lane, lanes) of the near ends of links, then of the far ends."""
    return (
        np.concatenate([links.a, links.b]),
        np.concatenate([links.a_cage, links.b_cage]),
        np.concatenate([links.a_lane, links.b_lane]),
        np.concatenate([links.a_lanes, links.b_lanes]),
    )


class _EndOfKind(NamedTuple):
    """An end of a kind of links at devices of one type: its cages, shape (links,), and their required
    range and split.
    """

    what: str
    device: Ints
    cage: Ints
    lanes: Ints
    allowed: CageRange
    lane: Lane

    def of(self, own: Mask) -> _EndOfKind:
        """Some links of this end."""
        return self._replace(device=self.device[own], cage=self.cage[own], lanes=self.lanes[own])


def _ends(cabling: FabricCabling) -> Iterator[_EndOfKind]:
    """The ends of every kind of links."""
    links = cabling.links
    for kind, rows in cabling.joined:
        near, far = _roles_of(cabling, f"attachment-{kind.host}" if kind.attachment is not None else kind.name)
        near_lane, far_lane = kind.near.lane, kind.far.lane
        a = links.a[rows], links.a_cage[rows], links.a_lanes[rows]
        b = links.b[rows], links.b_cage[rows], links.b_lanes[rows]
        near_cages = list(cabling.near_cages(LinksOfKind(kind, rows), near, a[0]))
        for allowed, own in near_cages:
            yield _EndOfKind(f"{kind.name}, {near} end", *a, allowed, near_lane).of(own)
        upwards = kind.name in _BETWEEN_EQUALS
        for allowed, own in near_cages if near == far else cabling.cage_ranges(far, b[0], upwards):
            yield _EndOfKind(f"{kind.name}, {far} end", *b, allowed, far_lane).of(own)


def _roles_of(cabling: FabricCabling, kind: str) -> tuple[str, str]:
    """Roles of the devices at both ends of a kind of ``KINDS``."""
    if kind in _BETWEEN_EQUALS:
        return cabling.fabric.equals, cabling.fabric.equals
    return _ENDS[kind]


def cages_keep_one_use(proof: Proof, cabling: FabricCabling) -> None:
    """A cage is split in one way and faces one side; a server's cage belongs to one NIC, where NICs have their own.

    Every cage in use is of the group that the file names for its side, and split as the file says, which the product
    offers; no cage is in use on both sides. A server's cages are numbered on from those of earlier fabrics. Source:
    catalog, ``cages``.
    """
    for end in _ends(cabling):
        outside = int(((end.cage < end.allowed.first) | (end.cage > end.allowed.last)).sum())
        where = f"cages {end.allowed.first} to {end.allowed.last}"
        proof.equal(f"{end.what}: links outside {where}", outside, 0)
        proof.equal(f"{end.what}: links in cages split otherwise", int((end.lanes != end.lane.ports).sum()), 0)
    _sides_are_apart(proof, cabling)
    if not cabling.fabric.shared_cages:
        _nics_are_apart(proof, cabling)
    proof.note(f"{some(len(distinct(combined(*_both_ends(cabling.links)[:2]))), 'cage')} in use")


def _sides_are_apart(proof: Proof, cabling: FabricCabling) -> None:
    links = cabling.links
    device, cage, _, _ = _both_ends(links)
    code = combined(device, cage)
    equals = links.kind >= FIRST_OF_EQUALS
    up = np.concatenate([code[: len(links)], code[len(links) :][equals]])
    down = code[len(links) :][~equals]
    both = repeated(np.concatenate([distinct(up), distinct(down)]))
    proof.equal("cages with links up and down", both, 0)


def _nics_are_apart(proof: Proof, cabling: FabricCabling) -> None:
    ends = server_ends(cabling)
    cages, nics = distinct(combined(ends.server, ends.cage)), distinct(combined(ends.server, ends.cage, ends.nic))
    proof.equal("server cages with ports of two NICs", len(nics) - len(cages), 0)


class ServerEnds(NamedTuple):
    """Ends of links at servers, each column of shape (ends,).

    They are device, cage, NIC from 1 over all fabrics, and port of the NIC from 1.
    """

    server: Ints
    cage: Ints
    nic: Ints
    port: Ints


def server_ends(cabling: FabricCabling) -> ServerEnds:
    """The ends of a fabric's links at servers; where servers are joined to each other, both ends of every link."""
    links, rows = cabling.links, cabling.of(SERVER_LEAF)
    near = ServerEnds(links.a[rows], links.a_cage[rows], links.a_nic[rows], links.a_nic_port[rows])
    if cabling.fabric.has_switches:
        return near
    a = links.a, links.a_cage, links.a_nic, links.a_nic_port
    b = links.b, links.b_cage, links.b_nic, links.b_nic_port
    return ServerEnds(*(np.concatenate(pair) for pair in zip(a, b, strict=True)))


def ends_run_at_one_speed(proof: Proof, cabling: FabricCabling) -> None:
    """Both ends of every link run at the link's speed.

    gbps = G of the split NxG of the near cage = that of the far cage. Source: catalog, fit.
    """
    for kind, rows in cabling.joined:
        speeds = np.unique(cabling.mbps(rows)).tolist()
        for end in (kind.near, kind.far):
            wrong = [speed for speed in speeds if speed != end.lane.port_mbps]
            proof.holds(not wrong, f"{kind.name}: links at {wrong} Mb/s, a port runs at {end.lane.port_mbps}")
        proof.note(f"{kind.name} {', '.join(f'{speed / MBPS_PER_GBPS:g}' for speed in speeds)}")


def endpoints_are_cabled(proof: Proof, cabling: FabricCabling) -> None:
    """All ports of every server and every attachment are cabled.

    Each (server, NIC, port) of N x c x p once, NICs numbered on from those of earlier fabrics; each port of an
    attachment once, and the ports of all attachments differ by one at most from leaf to leaf. Source: design file,
    ``nic``; case file, ``attachments``.
    """
    links, nic = cabling.links, cabling.fabric.designed.nic
    rows = cabling.of(SERVER_LEAF)
    logical = np.isin(cabling.attached_names, list(cabling.fabric.logical)) & (links.kind == KINDS.index(ATTACHED))
    cardless = links.a_nic[(links.kind != KINDS.index(SERVER_LEAF)) & ~logical]
    portless = links.a_nic_port[links.kind > LAST_OF_ENDPOINTS]
    others = (cardless, portless, links.b_nic, links.b_nic_port)
    proof.equal("other links with a NIC", sum(int((column != NOTHING).sum()) for column in others), 0)
    nic_number = links.a_nic[rows] - cabling.server_before.nics
    nics_are_cabled(proof, cabling, nic, (links.a[rows], nic_number, links.a_nic_port[rows]))
    attachments = {
        attachment.name: attachment.ports // attachment.devices for attachment in cabling.fabric.wanted.attachments
    }
    for device in cabling.devices_of("attachment").tolist():
        attached = np.flatnonzero(np.isin(links.kind, TO_ATTACHMENTS) & (links.a == device))
        ports = np.sort(links.a_nic_port[attached])
        name = cabling.devices.product[device]
        proof.equal(f"ports of {name}", ports.tolist(), list(range(1, attachments[name] + 1)))
    _logical_ports_are_cabled(proof, cabling)
    _attachments_are_spread(proof, cabling)
    of_attachments = sum(attachment.ports for attachment in cabling.fabric.wanted.attachments)
    proof.note(f"{some(len(rows), 'server port')}, {of_attachments} of attachments")


def nics_are_cabled(
    proof: Proof, cabling: FabricCabling, nic: NicUse, ends: tuple[Ints, Ints, Ints], whose: str = ""
) -> None:
    """Every port of every NIC of a server has one cable.

    ``ends``: server, NIC from 1 and port from 1 of each cable, each of shape (cables,).
    """
    server, number, port = ends
    outside = (number < 1) | (number > nic.per_server) | (port < 1) | (port > nic.ports_per_nic)
    proof.equal(f"server ports{whose} that no NIC has", int(outside.sum()), 0)
    proof.equal(f"server ports{whose} cabled twice", repeated(combined(server, number, port)), 0)
    of_server = np.bincount(server, minlength=len(cabling.devices))[cabling.devices_of("server")]
    wanted = nic.per_server * nic.ports_per_nic
    proof.equal(f"servers without their {some(wanted, 'cable')}{whose}", int((of_server != wanted).sum()), 0)


def _logical_ports_are_cabled(proof: Proof, cabling: FabricCabling) -> None:
    """Each (server, NIC, port) of a logical fabric is there once, in a cage of its own, on its NIC's cages."""
    links = cabling.links
    for name, part in cabling.logical_parts.items():
        nic = cabling.fabric.logical[name].nic
        rows = np.flatnonzero((cabling.attached_names == name) & (links.kind == KINDS.index(ATTACHED)))
        nic_number = links.a_nic[rows] - part.nics_before
        nics_are_cabled(proof, cabling, nic, (links.a[rows], nic_number, links.a_nic_port[rows]), f" of {name}")
        if part.cages_of_nic:
            own = (links.a_cage[rows] - part.cages_before - 1) // part.cages_of_nic + 1
            proof.equal(f"ports of {name} in a cage of another NIC", int((own != nic_number).sum()), 0)


def _attachments_are_spread(proof: Proof, cabling: FabricCabling) -> None:
    """Ports of attachments go one to a leaf, round over all leaves; those on free ports to the switches of the file.

    In a cluster that grows they do so stage by stage, so that none has to move. On a floor, with rule ``rack-spread``,
    equal leaves are then exchanged, so that the ports of an attachment are in as many racks as possible.
    """
    rows = cabling.of("attachment-leaf")
    free = list(cabling.fabric.designed.free_ports)
    dealt = rows[~np.isin(cabling.attached_names[rows], free)]
    attached, leaves = cabling.links.b[dealt], cabling.devices_of("leaf")
    of_leaf = np.bincount(attached, minlength=len(cabling.devices))[leaves]
    proof.equal("attachment ports on other devices", len(attached) - int(of_leaf.sum()), 0)
    _free_ports_are_the_files(proof, cabling)
    early = cabling.devices.stage[attached] > cabling.links.stage[dealt]
    proof.equal("attachment ports on leaves of a later stage", int(early.sum()), 0)
    if (cabling.clos.sizes or cabling.clos.leaf_racks) and len(dealt):
        names, wanted = cabling.attached_names[dealt], np.array([own for _, own in cabling.clos.dealt_leaves])
        for index, name in enumerate(attachment.name for attachment in cabling.fabric.wanted.attachments):
            cabled = np.bincount(attached[names == name], minlength=len(cabling.devices))[leaves]
            proof.equal(f"leaves with more or fewer ports of {name}", int((cabled != wanted[:, index]).sum()), 0)
        return
    low, high = int(of_leaf.min(initial=len(attached))), int(of_leaf.max(initial=0))
    proof.holds(high - low <= 1, f"{low} to {high} attachment ports on a leaf")


def _free_ports_are_the_files(proof: Proof, cabling: FabricCabling) -> None:
    """Every port of an attachment on free ports is at the switch that the file names, port by port."""
    links = cabling.links
    for name, places in cabling.fabric.designed.free_ports.items():
        rows = np.flatnonzero(np.isin(links.kind, TO_ATTACHMENTS) & (cabling.attached_names == name))
        rows = rows[np.lexsort((links.a_nic_port[rows], links.a[rows]))]
        switches = {role: cabling.devices_of(role).tolist() for role in {role for role, _ in places}}
        wanted = [switches[role][number] if number < len(switches[role]) else NOTHING for role, number in places]
        proof.equal(f"switches of the ports of {name}", links.b[rows].tolist(), wanted)


def planes_stay_apart(proof: Proof, cabling: FabricCabling) -> None:
    """No link leads from one plane to another, and every NIC has equally many ports in each.

    Switches at both ends of a link have one plane; p / P ports of every NIC lead to each plane (of its own planes,
    where planes are rails). Source: docs/formulation/clos.md.
    """
    links, plane, nic = cabling.links, cabling.devices.plane, cabling.fabric.designed.nic
    above = np.flatnonzero(links.kind > LAST_OF_ENDPOINTS)
    crossing = int((plane[links.a[above]] != plane[links.b[above]]).sum())
    proof.equal("links from one plane to another", crossing, 0)
    rows = cabling.of(SERVER_LEAF)
    of_pair = counts_of(combined(links.a[rows], links.a_nic[rows], plane[links.b[rows]]))
    planes = cabling.fabric.nic_networks
    proof.equal("(NIC, plane) pairs", len(of_pair), cabling.clos.servers * nic.per_server * planes)
    wanted = ceil_div(nic.ports_per_nic, planes)
    proof.equal(f"NICs without {some(wanted, 'port')} in a plane", int((of_pair != wanted).sum()), 0)
    proof.note(f"{some(planes, 'plane')}, {some(wanted, 'port')} of every NIC in each")
