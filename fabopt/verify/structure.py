"""Rules of the Clos itself: groups, leaves, pods, spines, cores, and the ports of every switch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.floor.rack_rules import servers_in_rack
from fabopt.rules.defaults import PAIR
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import PortUse, TierUse
from fabopt.schema.product import Cage
from fabopt.schema.resilience import CABLES_OF_PEER_LINK, PAIRED_ROLES, may_be_pairs
from fabopt.units import ceil_div, exact, gbps, some
from fabopt.verify.cage_pairs import pairs_fit
from fabopt.verify.choices import split_suits
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, combined
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.design_file import item_at
from fabopt.wiring.model import FIRST_OF_EQUALS


def groups_cover_servers(proof: Proof, fabric: FabricEvidence) -> None:
    """Groups of g servers hold all N, each group on its own leaves.

    G = ceil(N / g), 1 <= g <= N; r = R / k leaves per group and plane; the servers of as many racks as the case asks
    for. Source: docs/formulation/clos.md.
    """
    clos, designed = fabric.clos, fabric.designed
    proof.holds(1 <= clos.g <= clos.servers, f"groups of {clos.g} among {some(clos.servers, 'server')}")
    proof.equal("structure.groups", designed.structure.groups, clos.groups)
    proof.equal("rails", designed.rails * designed.planes, clos.rails * clos.planes)
    racks = fabric.wanted.racks_per_group
    if racks is not None:
        rack = servers_in_rack(fabric.evidence.case, fabric.evidence.server)
        if rack is None:
            raise ValueError("group_by: rack needs site.servers_per_rack")
        proof.equal("servers_per_group", clos.g, min(racks * rack, clos.servers))
    proof.note(
        f"{some(clos.servers, 'server')} in {some(clos.groups, 'group')} of {clos.g} (last {clos.last_group}), "
        f"{some(clos.k, 'port')} of each on each of {some(clos.rails, 'leaf')} a plane"
    )


def rails_are_aligned(proof: Proof, fabric: FabricEvidence) -> None:
    """The i-th port of every server of a group is on one leaf.

    rails = aligned: k = 1 or G = 1. Source: case file, ``rails``.
    """
    clos = fabric.clos
    aligned = clos.k == 1 or clos.groups == 1
    proof.holds(
        aligned or fabric.wanted.rails != "aligned",
        f"{some(clos.k, 'port')} per leaf in {some(clos.groups, 'group')}",
    )
    proof.note(f"rails {fabric.wanted.rails}: {some(clos.k, 'port')} per leaf, {some(clos.groups, 'group')}")


def reserve_is_kept(proof: Proof, fabric: FabricEvidence) -> None:
    """The busiest leaf has its endpoints and, beyond them, the share of ports that the case keeps free.

    down ports = d, most server and attachment ports on any leaf that count in its ratio; with e ports dealt over all
    leaves, reserved = ceil(e / (1 - reserve)) - e. Source: case file, ``reserve_ports`` and ``attachments``.
    """
    leaf, endpoints = fabric.tier("leaf"), fabric.clos.most_dealt(of_last=False)
    share = exact(fabric.wanted.reserve_ports)
    needed = Fraction(endpoints) / (1 - share)
    proof.equal("leaf down_ports", leaf.down_ports, fabric.clos.most_endpoints)
    proof.equal("leaf reserved_ports", leaf.reserved_ports, ceil_div(needed.numerator, needed.denominator) - endpoints)
    for tier in fabric.designed.tiers[1:]:
        proof.equal(f"{tier.role} reserved_ports", tier.reserved_ports, 0)
    proof.note(f"{some(endpoints, 'endpoint')} on the busiest leaf, {some(leaf.reserved_ports, 'port')} kept free")


def pods_cover_groups(proof: Proof, fabric: FabricEvidence) -> None:
    """Pods of T groups (or of T groups' leaves of one rail) hold every leaf; fewer tiers have one pod.

    n = ceil(G / T), times r if pods are of one rail; one tier: one leaf a plane, or two where every server is on both;
    two: at least 2 leaves; three: at least 2 pods, or one that joins others. Source: docs/formulation/clos.md.
    """
    clos, structure = fabric.clos, fabric.designed.clos
    proof.equal("structure.pods", structure.pods, clos.pods)
    proof.equal("structure.leaves_per_pod", structure.leaves_per_pod, clos.leaves_per_pod)
    proof.equal("structure.groups_per_pod", structure.groups_per_pod, clos.groups_per_pod)
    proof.holds(
        1 <= clos.groups_per_pod <= clos.groups, f"{clos.groups_per_pod} of {some(clos.groups, 'group')} in a pod"
    )
    if clos.tiers < 3 or clos.rails == 1:
        proof.equal("structure.pod_of", structure.pod_of, "groups")
    if clos.tiers == 1:
        proof.holds(clos.groups == 1, f"{some(clos.groups, 'group')} on one tier")
        proof.holds(clos.leaves <= _most_alone(fabric), f"{some(clos.leaves, 'leaf')} of one tier a plane")
    if clos.tiers == 2:
        proof.holds(clos.leaves >= 2, f"{some(clos.leaves, 'leaf')} a plane under spines")
    if clos.tiers == 3:
        joins = fabric.evidence.case.joins
        proof.holds(
            clos.pods >= 2 or (joins is not None and joins.of(fabric.designed.name) is not None),
            f"{some(clos.pods, 'pod')} under cores",
        )
    proof.note(
        f"{some(clos.pods, 'pod')} of {some(clos.leaves_per_pod, 'leaf')} a plane, {some(clos.leaves, 'leaf')} in all"
    )


def _most_alone(fabric: FabricEvidence) -> int:
    """The most leaves of one tier in a plane: two if every server is on both, as the file says or, where rule ``pair``
    does not hold, as its role allows; in compute fabrics only if its one NIC has ports on both.
    """
    nics = 1 if fabric.networks.apart else fabric.designed.nic.per_server
    both = nics == 1 or fabric.wanted.role in PAIRED_ROLES
    by_rule = any(row.rule == PAIR and row.kept for row in fabric.designed.redundancy)
    is_open = may_be_pairs(fabric.wanted.role, fabric.wanted.homing) and not by_rule
    return 2 if both and (fabric.designed.homing == "pair" or is_open) else 1


def striping_is_even(proof: Proof, fabric: FabricEvidence) -> None:
    """Every leaf reaches every spine of its pod, with equally many links where the case asks for it.

    S <= u; even, or with a last group of its own: S x m = u (with spines of two types see ``spines_may_differ``); any:
    counts differ by at most one, m the fewest. Source: case file, ``striping``.
    """
    clos, structure = fabric.clos, fabric.designed.clos
    if clos.tiers == 1:
        proof.equal("structure.links_per_pair", structure.links_per_pair, 0)
        proof.equal("structure.spines_per_pod", structure.spines_per_pod, 0)
        proof.note("one tier has no uplinks")
        return
    proof.holds(1 <= clos.spines <= clos.u, f"{some(clos.u, 'uplink')} to {some(clos.spines, 'spine')}")
    proof.equal("structure.links_per_pair", structure.links_per_pair, clos.links_per_pair)
    if (fabric.wanted.striping == "even" or clos.has_own_last) and not clos.to_spines:
        proof.equal("uplinks of a leaf", clos.u, clos.spines * clos.links_per_pair)
    uplinks = f"{some(clos.u, 'uplink')} of a leaf to {some(clos.spines, 'spine')}"
    proof.note(f"{uplinks}, at least {clos.links_per_pair} to each")


def spines_serve_pods(proof: Proof, fabric: FabricEvidence) -> None:
    """A spine has a down port for every link of its pod's leaves.

    down links of the busiest spine = Lp x m (even), ceil(Lp x u / S) (any); its down ports include attachments that
    count in its ratio; leaf uplinks and spine down links are the same links, counted from both ends. Source:
    docs/formulation/clos.md.
    """
    clos = fabric.clos
    if clos.tiers == 1:
        proof.note("one tier has no spines")
        return
    proof.equal("spine down_ports", fabric.tier("spine").down_ports, clos.most_spine_ports)
    seen = int(clos.spine_downlinks.sum())
    proof.equal("down links of all spines", seen, clos.planes * clos.uplinks)
    proof.note(f"{some(clos.most_spine_downlinks, 'down link')} on the busiest spine, {seen} on all")


def cores_join_pods(proof: Proof, fabric: FabricEvidence) -> None:
    """All pods of a plane meet in every core, in groups of cores that serve q spine indices each.

    q divides S; x = C x m2; down ports of a core = n x q x m2; spine uplinks and core down links are the same
    links, counted from both ends. Source: docs/formulation/clos.md.
    """
    clos, structure = fabric.clos, fabric.designed.clos
    if clos.tiers < 3:
        for name in ("links_per_core_pair", "spines_per_core_group", "cores_per_group"):
            proof.equal(f"structure.{name}", getattr(structure, name), 0)
        proof.note(f"no cores in {some(clos.tiers, 'tier')}")
        return
    proof.equal("structure.cores_per_group", structure.cores_per_group, clos.cores_per_group)
    proof.equal("core down_ports", fabric.tier("core").down_ports, clos.core_down)
    _, spines, cores = clos.switches()
    proof.equal("down links of all cores", cores * clos.core_down, spines * clos.x)
    groups = f"{some(clos.core_groups, 'core group')} of {clos.cores_per_group} a plane"
    proof.note(f"{groups}, {some(clos.core_down, 'link')} a core")


def switch_counts_close(proof: Proof, fabric: FabricEvidence) -> None:
    """Each tier has as many switches as its structure needs, over all planes.

    leaves = P x G x r; spines = P x n x S; cores = P x C x S / q; no uplinks at the top. Source:
    docs/formulation/clos.md.
    """
    tiers = fabric.designed.tiers
    for tier, count in zip(tiers, fabric.clos.switches(), strict=True):
        proof.equal(f"{tier.role} count", tier.count, count)
    proof.equal(f"{tiers[-1].role} up_ports", tiers[-1].up_ports, 0)
    proof.equal(f"{tiers[-1].role} up", tiers[-1].up, None)
    proof.equal(f"{tiers[-1].role} gbps_up", tiers[-1].gbps_up, 0)
    proof.note(", ".join(f"{tier.count} x {tier.role} {tier.id}" for tier, _ in fabric.switch_types))


def speeds_agree(proof: Proof, fabric: FabricEvidence) -> None:
    """Both ends of a link run at one speed.

    NIC port = leaf down port; leaf up = spine down; spine up = core down; an attachment's port = leaf down port.
    Source: catalog, fit.
    """
    below = fabric.nic_lane.port_mbps
    for tier in fabric.designed.tiers:
        for own in tier.types:
            down_mbps = parse_split(own.down.split).port_mbps
            proof.equal(f"{tier.role} gbps_down", tier.gbps_down, gbps(down_mbps))
            proof.equal(f"Mb/s of {tier.role} down ports", down_mbps, below)
            if own.up is not None:
                proof.equal(f"{tier.role} gbps_up", tier.gbps_up, gbps(parse_split(own.up.split).port_mbps))
        if tier.up is not None:
            below = fabric.up(tier.role).port_mbps
    for attachment in fabric.wanted.attachments:
        if attachment.gbps is not None:
            proof.equal(f"gbps of {attachment.name}", exact(attachment.gbps), exact(fabric.tier("leaf").gbps_down))
        if attachment.split is not None:
            ports = parse_split(attachment.split).port_mbps
            proof.equal(f"Mb/s of {attachment.name}", ports, fabric.down("leaf").port_mbps)
    proof.note(", ".join(f"{tier.role} {tier.gbps_down:g} down, {tier.gbps_up:g} up" for tier in fabric.designed.tiers))


class PortsInUse(NamedTuple):
    """The most of any switch of one type of a tier: ports below with those kept free, cages below, ports and cages
    above.
    """

    role: str
    type: int
    below: int
    cages_below: int
    above: int
    cages_above: int


def ports_in_use(cabling: FabricCabling) -> Iterator[PortsInUse]:
    """Ports and cages in use in the wiring, by tier and type; leaves of a last group unlike the others separately."""
    links, fabric, size = cabling.links, cabling.fabric, len(cabling.devices)
    equals = links.kind >= FIRST_OF_EQUALS
    device, cage = np.concatenate([links.b, links.a]), np.concatenate([links.b_cage, links.a_cage])
    faces_up = np.concatenate([equals, np.ones(len(links), dtype=np.bool_)])
    counts = []
    for side in (~faces_up, faces_up):
        first = np.unique(combined(device[side], cage[side]), return_index=True)[1]
        counts += [np.bincount(device[side], minlength=size), np.bincount(device[side][first], minlength=size)]
    last = None if fabric.is_direct else fabric.designed.clos.last_group
    for tier in cabling.tiers():
        rows = cabling.devices_of(tier.role)
        own_group = 0 if last is None else fabric.clos.before_own + 1
        of_last = (cabling.devices.group[rows] == own_group) & (tier.role == "leaf" and last is not None)
        for own, _, is_own in cabling.types(tier.role, rows):
            for alike, kept in ((~of_last, own.reserved_ports), (of_last, last.reserved_ports if last else 0)):
                if (some_rows := rows[is_own & alike]).size:
                    below, cages_below, above, cages_above = (int(count[some_rows].max()) for count in counts)
                    below += kept
                    cages_below = max(cages_below, ceil_div(below, fabric.down(tier.role).ports))
                    yield PortsInUse(tier.role, tier.types.index(own), below, cages_below, above, cages_above)


def ports_fit_radix(proof: Proof, cabling: FabricCabling) -> None:
    """Every switch has the cages and the ports that its links occupy; a cage never mixes down and up.

    Cages in use below, or of ceil(D / Nd) where ports are kept free, and above <= cages of a group that serves both
    sides, each <= its own group's otherwise; D + u <= max_ports. Source: catalog, ``cages`` and ``max_ports``.
    """
    switches_fit(proof, cabling.fabric, ports_in_use(cabling))


def switches_fit(proof: Proof, fabric: FabricEvidence, used: Iterable[PortsInUse]) -> None:
    """Compare ports and cages in use with the switches of the file."""
    for own in used:
        tier = fabric.tier(own.role).types[own.type]
        up = tier.up or (fabric.peer_use if own.role == "leaf" else None)
        switch = fabric.evidence.part(tier.id, Switch)
        where = f"{own.role} {tier.id}"
        cages = _split_cages(proof, switch, tier.down, f"{where}: down")
        if up is not None and up.cage_group != tier.down.cage_group:
            cages_up = _split_cages(proof, switch, up, f"{where}: up").count
            proof.holds(own.cages_above <= cages_up, f"{where}: {some(own.cages_above, 'cage')} up of {cages_up}")
            proof.holds(
                own.cages_below <= cages.count, f"{where}: {some(own.cages_below, 'cage')} down of {cages.count}"
            )
            said = f"{own.cages_below} of {some(cages.count, 'cage')} down, {own.cages_above} of {cages_up} up"
        else:
            said = f"{own.cages_below}+{own.cages_above} of {some(cages.count, 'cage')}"
            proof.holds(own.cages_below + own.cages_above <= cages.count, f"{where}: {said}")
            if up is not None:
                _split_cages(proof, switch, up, f"{where}: up")
            pairs_fit(proof, switch, where, (tier.down, own.cages_below), (up, own.cages_above))
        most = switch.max_ports or sum(
            cage.count * max(parse_split(split).ports for split in cage.splits) for cage in switch.cages
        )
        ports = f"{own.below + own.above} of {some(most, 'port')}"
        proof.holds(own.below + own.above <= most, f"{where}: {ports}")
        proof.note(f"{where}: {said}, {ports}")


def _split_cages(proof: Proof, switch: Switch, use: PortUse, what: str) -> Cage:
    """The cages of a use, which must offer its split."""
    cages = item_at(switch.cages, use.cage_group, f"{what} cage group")
    proof.holds(use.split in cages.splits, f"{what}: no split {use.split}")
    split_suits(proof, cages, use.split, switch.protocol)
    return cages


def peer_cages(fabric: FabricEvidence, tier: TierUse) -> int:
    """Cages of a switch of a tier in use by its peer link."""
    return CABLES_OF_PEER_LINK if tier.role == "leaf" and fabric.peer_use is not None else 0
