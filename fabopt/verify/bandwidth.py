"""Rules of bandwidth: oversubscription at every boundary, and the figures that the file reports."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof

HOPS_BY_TIERS = {1: 1, 2: 3, 3: 5}


def oversubscription(fabric: FabricEvidence) -> dict[str, Fraction]:
    """Ratio of each tier boundary: down links of the busiest switch x speed over uplinks x speed."""
    clos, ratios = fabric.clos, {}
    if clos.tiers > 1:
        down = clos.most_endpoints * fabric.down("leaf").port_mbps
        ratios["leaf"] = Fraction(down, clos.uplinks * fabric.up("leaf").port_mbps)
    if clos.tiers > 2:
        down = clos.most_spine_downlinks * fabric.down("spine").port_mbps
        ratios["spine"] = Fraction(down, clos.spine_uplinks * fabric.up("spine").port_mbps)
    return ratios


def bisection(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU across the worst balanced cut: injection over the product of max(1, ratio)."""
    share = fabric.injection
    for ratio in oversubscription(fabric).values():
        share /= max(Fraction(1), ratio)
    return share


def all_to_all(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU when every server port of a plane sends equally to every other one, at most the injection.

    A part of the plane with e of its E ports and capacity c upwards carries e x rate x (E - e) / (E - 1) <= c.
    """
    clos = fabric.clos
    rate = Fraction(fabric.nic_lane.port_mbps)
    ports = clos.servers * clos.ports_per_server
    for inside, capacity in _parts_of_a_plane(fabric):
        if 0 < inside < ports:
            rate = min(rate, Fraction(capacity * (ports - 1), inside * (ports - inside)))
    gpus = fabric.evidence.server.gpus
    per_gpu = clos.planes * clos.ports_per_server * rate / gpus if gpus else Fraction(0)
    return min(fabric.injection, per_gpu)


def _parts_of_a_plane(fabric: FabricEvidence) -> Iterator[tuple[int, int]]:
    """(Server ports inside, Mb/s upwards) of every class of leaves and of pods."""
    clos = fabric.clos
    if clos.tiers > 1:
        up = clos.uplinks * fabric.up("leaf").port_mbps
        yield from ((leaves.servers * clos.per_leaf, up) for leaves in clos.leaf_classes)
    if clos.tiers > 2:
        up = clos.spines * clos.spine_uplinks * fabric.up("spine").port_mbps
        yield from ((pods.endpoints, up) for pods in clos.pod_classes)


def uplinks_carry_demand(proof: Proof, fabric: FabricEvidence) -> None:
    """No tier boundary is oversubscribed beyond what the case allows.

    d x v / (u x w) <= limit at the leaves, dS x w / (x x w2) <= limit at the spines. Source: case file,
    ``max_oversubscription``.
    """
    ratios = oversubscription(fabric)
    for boundary, ratio in ratios.items():
        limit = fabric.oversubscription_limits[boundary]
        shown = f"{boundary} {plain_fraction(ratio)} of {plain_fraction(limit)} allowed"
        proof.holds(ratio <= limit, shown)
        proof.note(shown)
    if not ratios:
        proof.note("one tier has no uplinks")
    else:
        _classes_are_carried(proof, fabric)


def _classes_are_carried(proof: Proof, fabric: FabricEvidence) -> None:
    """Where attachments have a ratio of their own: s x v / o + a x v / o_a <= u x w on every class of leaves."""
    own = [one.max_oversubscription for one in fabric.wanted.attachments if one.max_oversubscription is not None]
    if not own:
        return
    of_servers, of_others = fabric.oversubscription_limits["leaf"], exact(min(own))
    up, speed = fabric.clos.uplinks * fabric.up("leaf").port_mbps, fabric.down("leaf").port_mbps
    for leaves in fabric.clos.leaf_classes:
        servers, attached = leaves.servers * fabric.clos.per_leaf, sum(leaves.attached)
        needed = servers * speed / of_servers + attached * speed / of_others
        shown = f"{servers} server and {attached} attachment ports on a leaf need {plain_fraction(needed / 1000)} Gb/s"
        proof.holds(needed <= up, f"{shown}, it has {up / 1000:g}")
    proof.note(f"attachments at {plain_fraction(of_others)}")


def metrics_are_recomputed(proof: Proof, fabric: FabricEvidence) -> None:
    """The file's ratios and bandwidth figures are those of its structure.

    Injection, bisection, all-to-all in Gb/s per GPU and ratios to six decimals; hops 1, 3, 5 for 1, 2, 3 tiers.
    Source: docs/formulation.md, metrics.
    """
    made, metrics = fabric.made, fabric.made.metrics
    ratios = {name: plain_fraction(ratio) for name, ratio in oversubscription(fabric).items()}
    proof.equal("oversubscription", made.oversubscription, ratios)
    for name, exact_mbps in (
        ("injection_gbps_per_gpu", fabric.injection),
        ("bisection_gbps_per_gpu", bisection(fabric)),
        ("alltoall_gbps_per_gpu", all_to_all(fabric)),
    ):
        recomputed = plain_fraction(exact_mbps / MBPS_PER_GBPS)
        proof.equal(name, getattr(metrics, name), recomputed)
        proof.note(f"{name} {recomputed}")
    proof.equal("max_switch_hops", metrics.max_switch_hops, HOPS_BY_TIERS[fabric.num_tiers])
