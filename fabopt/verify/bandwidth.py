"""Rules of bandwidth: oversubscription at every boundary, and the figures that the file reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from fabopt.network.graph.leaves import LeafClass, matched_links, mean_switches
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify import stripes
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof

HOPS_BY_TIERS = {1: 1, 2: 3, 3: 5}
# Figures for which a case can ask a minimum.
DEMANDED = ("bisection_gbps_per_gpu", "alltoall_gbps_per_gpu", "allreduce_gbps_per_gpu")
LAST_DIGIT = Fraction(1, 10**6)


def oversubscription(fabric: FabricEvidence) -> dict[str, Fraction]:
    """Ratio of each tier boundary: down links of the busiest switch x speed over uplinks x speed."""
    clos, ratios = fabric.clos, {}
    if clos.tiers > 1:
        down = clos.most_endpoints * fabric.down("leaf").port_mbps
        ratios["leaf"] = Fraction(down, clos.u * fabric.up("leaf").port_mbps)
        if clos.has_own_last:
            down = clos.last_endpoints * fabric.down("leaf").port_mbps
            ratios["leaf"] = max(ratios["leaf"], Fraction(down, clos.own_u * fabric.up("leaf").port_mbps))
    if clos.tiers > 2:
        down = clos.most_spine_ports * fabric.down("spine").port_mbps
        ratios["spine"] = Fraction(down, clos.x * fabric.up("spine").port_mbps)
    return ratios


def bisection(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU across the worst balanced cut: injection over the product of max(1, ratio).

    With uneven stripes at most the capacity of the worst cut into halves.
    """
    share = fabric.injection
    for ratio in oversubscription(fabric).values():
        share /= max(Fraction(1), ratio)
    return through_servers(fabric, across_stripes(fabric, share))


def across_stripes(fabric: FabricEvidence, rate: Fraction) -> Fraction:
    """A rate per GPU, at most the capacity of the worst cut of uneven stripes into halves."""
    return min(rate, _per_gpu(fabric, stripes.half_rate(fabric))) if stripes.is_uneven(fabric.clos) else rate


def through_servers(fabric: FabricEvidence, rate: Fraction) -> Fraction:
    """A rate per GPU, at most the scale-up rate in a rail-only fabric, where traffic between rails goes through
    servers.
    """
    scale_up = fabric.evidence.server.scale_up
    if not fabric.networks.apart or scale_up is None:
        return rate
    return min(rate, exact(scale_up.gbps_per_gpu) * MBPS_PER_GBPS)


def all_to_all(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU when every server port of a plane sends equally to every other one, at most the injection.

    A part of the plane with e of its E ports and capacity c upwards carries e x rate x (E - e) / (E - 1) <= c.
    """
    clos = fabric.clos
    rate = Fraction(fabric.nic_lane.port_mbps)
    ports = clos.servers * clos.ports
    for inside, capacity in _parts_of_a_plane(fabric):
        if 0 < inside < ports:
            rate = min(rate, Fraction(capacity * (ports - 1), inside * (ports - inside)))
    if stripes.is_uneven(clos):
        rate = min(rate, stripes.alltoall_rate(fabric))
    return _per_gpu(fabric, rate)


def _per_gpu(fabric: FabricEvidence, rate: Fraction) -> Fraction:
    """Mb/s of a GPU (a server, if it has none) where each of its ports sends ``rate``, at most the injection."""
    clos = fabric.clos
    return min(fabric.injection, clos.planes * clos.ports * rate / fabric.evidence.sharers)


def permutation(fabric: FabricEvidence) -> Fraction:
    """An upper bound on Mb/s per GPU of the worst permutation of server ports, whatever the routing.

    All links carry C both ways; the heaviest matching of leaves takes path length x min(ports): rate <= C / sum. With
    uneven stripes one half sends to the other. Source: Namyar et al., SIGCOMM 2021.
    """
    clos = fabric.clos
    matched = matched_links(leaves_by_pod(fabric)) if clos.tiers > 1 else 0
    if not matched:
        return through_servers(fabric, _per_gpu(fabric, Fraction(fabric.nic_lane.port_mbps)))
    one_way = clos.uplinks * fabric.up("leaf").port_mbps
    if clos.tiers > 2:
        one_way += clos.pods * clos.spines * clos.x * fabric.up("spine").port_mbps
    return through_servers(fabric, across_stripes(fabric, _per_gpu(fabric, Fraction(2 * one_way, matched))))


def allreduce(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU when every server port sends to the same port of the next server, the last one's to the first's.

    Only the traffic of a group's last server leaves the group: per_leaf ports of a leaf; of a pod likewise.
    """
    clos = fabric.clos
    rate = Fraction(fabric.nic_lane.port_mbps)
    if clos.tiers > 1 and clos.groups > 1:
        for leaves in clos.leaf_classes:
            rate = min(rate, Fraction(leaves.uplinks * fabric.up("leaf").port_mbps, leaves.per_leaf))
    if clos.tiers > 2 and clos.pods_per_rail > 1:
        leaving = clos.k if clos.rail_pods else clos.ports
        rate = min(rate, Fraction(clos.spines * clos.x * fabric.up("spine").port_mbps, leaving))
    if stripes.is_uneven(clos):
        rate = min(rate, stripes.ring_rate(fabric))
    return _per_gpu(fabric, rate)


def single_flow(fabric: FabricEvidence) -> Fraction:
    """Mb/s of one flow between any two servers: the least of a port, the slot, and one link of every boundary.

    A flow stays on one path, so parallel links give it no more. Source: docs/bandwidth.md.
    """
    ports = [Fraction(fabric.nic_lane.port_mbps), fabric.nic_mbps]
    switches = [tier.role for tier in fabric.designed.tiers]
    boundaries = switches if fabric.is_direct else switches[:-1]
    return min(*ports, *(Fraction(fabric.up(role).port_mbps) for role in boundaries))


def leaves_by_pod(fabric: FabricEvidence) -> list[LeafClass]:
    """Leaves of one plane by their pod and server ports: pods whose leaves have as many ports are of one kind."""
    kinds = enumerate(Counter(fabric.clos.pod_ports).items())
    return [LeafClass(kind, pods, leaves, ports) for kind, (of_pod, pods) in kinds for ports, leaves in of_pod]


def mean_hops(fabric: FabricEvidence) -> Fraction:
    """Switches on the shortest path between two server ports of a plane, on average."""
    return mean_switches(leaves_by_pod(fabric)) if fabric.num_tiers > 1 else Fraction(1)


def _parts_of_a_plane(fabric: FabricEvidence) -> Iterator[tuple[int, int]]:
    """(Server ports inside, Mb/s upwards) of every class of leaves and of pods."""
    clos = fabric.clos
    if clos.tiers > 1:
        up = fabric.up("leaf").port_mbps
        yield from ((leaves.ports, leaves.uplinks * up) for leaves in clos.leaf_classes)
    if clos.tiers > 2:
        up = clos.spines * clos.x * fabric.up("spine").port_mbps
        yield from ((sum(ports * leaves for ports, leaves in pod), up) for pod in set(clos.pod_ports))


def uplinks_carry_demand(proof: Proof, fabric: FabricEvidence) -> None:
    """No tier boundary is oversubscribed beyond what the case allows.

    d x v / (u x w) <= limit at the leaves, dS x w / (x x w2) <= limit at the spines. Where logical fabrics are on the
    leaves, each fabric has its own ratio there instead. Source: case file, ``max_oversubscription``.
    """
    ratios = oversubscription(fabric)
    for boundary, ratio in ratios.items():
        if boundary == "leaf" and fabric.logical:
            continue
        limit = fabric.oversubscription_limits[boundary]
        shown = f"{boundary} {plain_fraction(ratio)} of {plain_fraction(limit)} allowed"
        proof.shows(ratio <= limit, shown)
    if not ratios:
        proof.note("one tier has no uplinks")
    else:
        _classes_are_carried(proof, fabric)


def _classes_are_carried(proof: Proof, fabric: FabricEvidence) -> None:
    """Where attachments have a ratio of their own: s x v / o + sum over attachments of a x v / o_a <= u x w on every
    class of leaves. Attachments of no logical fabric all have the least of their ratios.
    """
    attachments = fabric.wanted.attachments
    if all(attachment.max_oversubscription is None for attachment in attachments) and not fabric.logical:
        return
    of_servers, ratios = fabric.oversubscription_limits["leaf"], class_ratios(fabric)
    speed = fabric.down("leaf").port_mbps
    for leaves in fabric.clos.leaf_classes:
        up = leaves.uplinks * fabric.up("leaf").port_mbps
        servers, attached = leaves.ports, sum(leaves.attached)
        needed = servers * speed / of_servers
        classes = zip(leaves.attached, ratios, attachments, strict=True)
        needed += sum(ports * speed / ratio for ports, ratio, attachment in classes if attachment.counts)
        ports = f"{servers} server and {some(attached, 'attachment port')} on a leaf"
        shown = f"{ports} need {plain_fraction(needed / 1000)} Gb/s"
        proof.holds(needed <= up, f"{shown}, it has {up / 1000:g}")
    names = [attachment.name for attachment in attachments] if fabric.logical else ["attachments"]
    for name, ratio in zip(names, ratios, strict=False):
        proof.note(f"{name} at {plain_fraction(ratio)}")


def class_ratios(fabric: FabricEvidence) -> list[Fraction]:
    """The ratio at the leaf of every attachment, in listed order."""
    attachments = fabric.wanted.attachments
    of_networks = {attachment.name: attachment.max_oversubscription for attachment in attachments}
    own = [attachment.max_oversubscription for attachment in attachments if attachment.network is None]
    least = min(
        [exact(attachment) for attachment in own if attachment is not None],
        default=fabric.oversubscription_limits["leaf"],
    )
    if fabric.logical:
        least = min(least, fabric.oversubscription_limits["leaf"])
    ratios = []
    for attachment in attachments:
        given = attachment.max_oversubscription
        if attachment.network is not None and given is None:
            given = of_networks[attachment.network]
        ratios.append(least if attachment.network is None or given is None else exact(given))
    return ratios


def metrics_are_recomputed(proof: Proof, fabric: FabricEvidence) -> None:
    """The file's ratios and bandwidth figures are those of its structure.

    Injection, bisection, all-to-all, worst permutation, ring all-reduce in Gb/s per GPU, a single flow in Gb/s and
    ratios, to six decimals; hops 1, 3, 5 for 1, 2, 3 tiers. Figures that an older file lacks are left out. Source:
    docs/bandwidth.md.
    """
    designed, metrics = fabric.designed, fabric.designed.metrics
    ratios = {name: plain_fraction(ratio) for name, ratio in oversubscription(fabric).items()}
    proof.equal("oversubscription", designed.oversubscription, ratios)
    for name, exact_mbps in (
        ("injection_gbps_per_gpu", fabric.injection),
        ("bisection_gbps_per_gpu", bisection(fabric)),
        ("alltoall_gbps_per_gpu", all_to_all(fabric)),
        ("permutation_gbps_per_gpu", permutation(fabric)),
        ("allreduce_gbps_per_gpu", allreduce(fabric)),
        ("single_flow_gbps", single_flow(fabric)),
    ):
        recomputed = plain_fraction(exact_mbps / MBPS_PER_GBPS)
        written = getattr(metrics, name)
        if written is not None:
            proof.equal(name, written, recomputed)
            proof.note(f"{name} {recomputed}")
    tiers = fabric.num_tiers if fabric.clos.pods > 1 else min(fabric.num_tiers, 2)
    proof.equal("max_switch_hops", metrics.max_switch_hops, HOPS_BY_TIERS[tiers])
    if metrics.mean_switch_hops is not None:
        proof.equal("mean_switch_hops", metrics.mean_switch_hops, plain_fraction(mean_hops(fabric)))


def figures_meet_demand(proof: Proof, fabric: FabricEvidence) -> None:
    """The figures of the file, which ``metrics_are_recomputed`` proves, meet the demands of the case.

    ``min_bisection_gbps_per_gpu``, ``min_alltoall_gbps_per_gpu``, ``min_allreduce_gbps_per_gpu`` are at most the
    figures, to half of their sixth decimal; ``max_switch_hops`` is at least the hops. Source: case file, ``fabrics``.
    """
    wanted, metrics = fabric.wanted, fabric.designed.metrics
    for name in DEMANDED:
        least = getattr(wanted, f"min_{name}")
        if least is not None:
            given = getattr(metrics, name)
            shown = f"{name} {given} of {least} wanted"
            proof.shows(given is not None and exact(given) + LAST_DIGIT / 2 >= exact(least), shown)
    if wanted.max_switch_hops is not None:
        shown = f"{metrics.max_switch_hops} switch hops of {wanted.max_switch_hops} allowed"
        proof.shows(metrics.max_switch_hops <= wanted.max_switch_hops, shown)
    if not proof.noted:
        proof.note("no figure is asked for")
