"""Rules of the Clos itself: groups, leaves, pods, spines, cores, and the ports of every switch."""

from __future__ import annotations

from fractions import Fraction

from fabopt.floor.rack_rules import servers_in_rack
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import TierUse
from fabopt.schema.homing import CABLES_OF_PEER_LINK, PAIRED_ROLES
from fabopt.units import ceil_div, exact, gbps, some
from fabopt.verify import equal_switches
from fabopt.verify.cage_pairs import pairs_fit
from fabopt.verify.choices import split_suits
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import LEAF_SPINE, SPINE_CORE, all_kinds, leaf_cages
from fabopt.verify.link_rows import LinkKind
from fabopt.verify.proof import Proof
from fabopt.wiring.design_file import item_at


def groups_cover_servers(proof: Proof, fabric: FabricEvidence) -> None:
    """Groups of g servers hold all N, each group on its own leaves.

    G = ceil(N / g), 1 <= g <= N; r = R / k leaves per group and plane; the servers of as many racks as the case asks
    for. Source: docs/formulation/clos.md.
    """
    clos, designed = fabric.clos, fabric.designed
    proof.holds(1 <= clos.per_group <= clos.servers, f"groups of {clos.per_group} among {some(clos.servers, 'server')}")
    proof.equal("structure.groups", designed.structure.groups, clos.groups)
    proof.equal("rails", designed.rails * designed.planes, clos.rails * clos.planes)
    racks = fabric.wanted.racks_per_group
    if racks is not None:
        rack = servers_in_rack(fabric.evidence.case, fabric.evidence.server)
        if rack is None:
            raise ValueError("group_by: rack needs site.servers_per_rack")
        proof.equal("servers_per_group", clos.per_group, min(racks * rack, clos.servers))
    proof.note(
        f"{some(clos.servers, 'server')} in {some(clos.groups, 'group')} of {clos.per_group} (last {clos.last_group}), "
        f"{some(clos.per_leaf, 'port')} of each on each of {some(clos.rails, 'leaf')} a plane"
    )


def rails_are_aligned(proof: Proof, fabric: FabricEvidence) -> None:
    """The i-th port of every server of a group is on one leaf.

    rails = aligned: k = 1 or G = 1. Source: case file, ``rails``.
    """
    clos = fabric.clos
    aligned = clos.per_leaf == 1 or clos.groups == 1
    proof.holds(
        aligned or fabric.wanted.rails != "aligned",
        f"{some(clos.per_leaf, 'port')} per leaf in {some(clos.groups, 'group')}",
    )
    proof.note(f"rails {fabric.wanted.rails}: {some(clos.per_leaf, 'port')} per leaf, {some(clos.groups, 'group')}")


def reserve_is_kept(proof: Proof, fabric: FabricEvidence) -> None:
    """The busiest leaf has its endpoints and, beyond them, the share of ports that the case keeps free.

    down ports = d, most server and attachment ports on any leaf that count in its ratio; with e ports dealt over all
    leaves, reserved = ceil(e / (1 - reserve)) - e. Source: case file, ``reserve_ports`` and ``attachments``.
    """
    leaf, endpoints = fabric.tier("leaf"), fabric.clos.most_dealt
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
    two: at least 2 leaves; three: at least 2 pods. Source: docs/formulation/clos.md.
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
        proof.holds(clos.pods >= 2, f"{some(clos.pods, 'pod')} under cores")
    proof.note(
        f"{some(clos.pods, 'pod')} of {some(clos.leaves_per_pod, 'leaf')} a plane, {some(clos.leaves, 'leaf')} in all"
    )


def _most_alone(fabric: FabricEvidence) -> int:
    """The most leaves of one tier in a plane: two if every server is on both; in compute fabrics only if its one NIC
    has ports on both.
    """
    nics = 1 if fabric.networks.apart else fabric.designed.nic.per_server
    both = nics == 1 or fabric.wanted.role in PAIRED_ROLES
    return 2 if fabric.designed.homing == "pair" and both else 1


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
    proof.holds(1 <= clos.spines <= clos.uplinks, f"{some(clos.uplinks, 'uplink')} to {some(clos.spines, 'spine')}")
    proof.equal("structure.links_per_pair", structure.links_per_pair, clos.links_per_pair)
    if (fabric.wanted.striping == "even" or clos.has_own_last) and not clos.mixed:
        proof.equal("uplinks of a leaf", clos.uplinks, clos.spines * clos.links_per_pair)
    uplinks = f"{some(clos.uplinks, 'uplink')} of a leaf to {some(clos.spines, 'spine')}"
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
    seen = sum(spines.count * spines.links for spines in clos.spine_classes)
    proof.equal("down links of all spines", seen, clos.all_uplinks)
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
    proof.equal("core down_ports", fabric.tier("core").down_ports, clos.core_devices.links)
    spines = clos.spine_uplink_devices
    links = clos.core_devices.count * clos.core_devices.links
    proof.equal("down links of all cores", links, spines.count * clos.spine_uplinks)
    groups = f"{some(clos.core_groups, 'core group')} of {clos.cores_per_group} a plane"
    proof.note(f"{groups}, {some(clos.core_devices.links, 'link')} a core")


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


def ports_fit_radix(proof: Proof, fabric: FabricEvidence) -> None:
    """Every switch has the cages and the ports that its links occupy; a cage never mixes down and up.

    ceil(D / Nd) + ceil(u / Nu) <= cages of a group that serves both sides, each <= its own group's otherwise;
    D + u <= max_ports. D counts the reserve. Source: catalog, ``cages`` and ``max_ports``.
    """
    kinds = {kind.name: kind for kind in all_kinds(fabric)}
    for tier in fabric.designed.tiers:
        down, up = down_cages(fabric, tier, kinds), up_cages(fabric, tier, kinds)
        switch_fits(proof, fabric, with_peer_links(fabric, tier), down, up + peer_cages(fabric, tier))
    if not fabric.is_direct and fabric.clos.has_own_last:
        _last_leaves_fit(proof, fabric, kinds)
    if not fabric.is_direct and fabric.clos.mixed:
        _other_spines_fit(proof, fabric, kinds[LEAF_SPINE])


def _last_leaves_fit(proof: Proof, fabric: FabricEvidence, kinds: dict[str, LinkKind]) -> None:
    """The leaves of a last group unlike the others have the cages and ports that their links occupy."""
    last, spines = fabric.designed.clos.last_group, kinds[LEAF_SPINE]
    assert last is not None
    down = fabric.clos.last_occupied + last.reserved_ports
    leaf = fabric.tier("leaf").types[-1]
    leaf = leaf.model_copy(update={"reserved_ports": down, "up_ports": last.up_ports})
    tier = with_peer_links(fabric, leaf)
    down = max(ceil_div(down, fabric.down("leaf").ports), leaf_cages(fabric).most_of_last)
    up = spines.near.cages_of(spines.near.devices[-1], spines.bundle) + peer_cages(fabric, leaf)
    switch_fits(proof, fabric, tier, down, up, 0)


def _other_spines_fit(proof: Proof, fabric: FabricEvidence, links: LinkKind) -> None:
    """Spines of a second type have the cages and ports that their links occupy; each has no more links of a leaf than
    others.
    """
    tier, devices = fabric.tier("spine").types[-1], links.far.devices[-1]
    switch_fits(proof, fabric, tier, links.far.cages_of(devices, links.bundle), 0, devices.links)


def peer_cages(fabric: FabricEvidence, tier: TierUse) -> int:
    """Cages of a switch of a tier in use by its peer link."""
    return CABLES_OF_PEER_LINK if tier.role == "leaf" and fabric.peer_use is not None else 0


def with_peer_links(fabric: FabricEvidence, tier: TierUse) -> TierUse:
    """A tier with the ports of peer links among its uplinks."""
    up, ports = tier.up or fabric.peer_use, tier.up_ports + peer_cages(fabric, tier)
    return tier.model_copy(update={"up": up, "up_ports": ports}) if ports > tier.up_ports else tier


def down_cages(fabric: FabricEvidence, tier: TierUse, kinds: dict[str, LinkKind]) -> int:
    """Cages towards the servers on the busiest switch of a tier, with those of kept ports."""
    if tier.role == "leaf" and fabric.is_direct and fabric.designed.free_ports:
        return equal_switches.most_cages(fabric, tier.reserved_ports)
    kept = ceil_div(ports_below(fabric, tier) + tier.reserved_ports, fabric.down(tier.role).ports)
    if tier.role == "leaf":
        return max(kept, leaf_cages(fabric).most)
    kind = kinds[LEAF_SPINE if tier.role == "spine" else SPINE_CORE]
    bundle, lanes = kind.bundle, fabric.down(tier.role).ports
    has_attached = tier.role == "spine" and not fabric.is_direct and any(fabric.clos.free)
    if bundle is None:
        return fabric.clos.spine_cages(lanes) if has_attached else kept
    links = max(ceil_div(devices.bundles(bundle.size), bundle.per_far_cage) for devices in kind.far.devices)
    return links + (max(fabric.clos.attached_spine_cages(lanes).values(), default=0) if has_attached else 0)


def ports_below(fabric: FabricEvidence, tier: TierUse) -> int:
    """Ports in use towards the servers on the busiest switch of a tier, whether or not they count in its ratio."""
    if tier.role == "leaf" and fabric.is_direct and fabric.designed.free_ports:
        return equal_switches.most_ports(fabric)
    if fabric.is_direct or tier.role == "core":
        return tier.down_ports
    return fabric.clos.most_occupied if tier.role == "leaf" else fabric.clos.most_spine_occupied


def up_cages(fabric: FabricEvidence, tier: TierUse, kinds: dict[str, LinkKind]) -> int:
    """Cages towards the tier above on any switch of a tier."""
    if tier.up is None:
        return 0
    if fabric.scopes and tier.role == fabric.equals:
        return fabric.mesh.most_cages(fabric.up(tier.role).ports)
    kind = kinds[LEAF_SPINE if tier.role == "leaf" else SPINE_CORE]
    bundle = kind.bundle
    if bundle is None:
        return ceil_div(tier.up_ports, fabric.up(tier.role).ports)
    return max(ceil_div(devices.bundles(bundle.size), bundle.per_near_cage) for devices in kind.near.devices)


def switch_fits(
    proof: Proof, fabric: FabricEvidence, tier: TierUse, down: int, up: int, below: int | None = None
) -> None:
    """Compare one tier's cages and ports with its switch's; ``below``: its ports in use downwards, if given."""
    switch = fabric.evidence.part(tier.id, Switch)
    down_cage = item_at(switch.cages, tier.down.cage_group, f"{tier.role} cage group")
    proof.holds(tier.down.split in down_cage.splits, f"{tier.id} has no split {tier.down.split} for down ports")
    split_suits(proof, down_cage, tier.down.split, switch.protocol)
    where = f"{tier.role} {tier.id}"
    if tier.up is not None and tier.up.cage_group != tier.down.cage_group:
        up_cage = item_at(switch.cages, tier.up.cage_group, f"{tier.role} cage group")
        proof.holds(up <= up_cage.count, f"{where}: {some(up, 'cage')} up of {up_cage.count}")
        proof.holds(down <= down_cage.count, f"{where}: {some(down, 'cage')} down of {down_cage.count}")
        used = f"{down} of {some(down_cage.count, 'cage')} down, {up} of {up_cage.count} up"
    else:
        proof.holds(down + up <= down_cage.count, f"{where}: {down}+{up} of {some(down_cage.count, 'cage')}")
        used = f"{down}+{up} of {some(down_cage.count, 'cage')}"
        pairs_fit(proof, switch, where, (tier.down, down), (tier.up, up))
    if tier.up is not None:
        used_up = item_at(switch.cages, tier.up.cage_group, f"{tier.role} cage group")
        proof.holds(tier.up.split in used_up.splits, f"{tier.id} has no split {tier.up.split} for uplinks")
        split_suits(proof, used_up, tier.up.split, switch.protocol)
    most = switch.max_ports or sum(
        cage.count * max(parse_split(split).ports for split in cage.splits) for cage in switch.cages
    )
    ports = (ports_below(fabric, tier) if below is None else below) + tier.reserved_ports + tier.up_ports
    proof.holds(ports <= most, f"{where}: {ports} of {some(most, 'port')}")
    proof.note(f"{where}: {used}, {ports} of {some(most, 'port')}")
