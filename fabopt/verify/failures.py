"""Rules of failures: the fabric's bandwidth after devices or links fail, and the case's demands on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fabopt.network.graph.survival import (
    MAKING_UP,
    PLACES,
    PLANE_OUT,
    SAME,
    OtherPlanes,
    ServerPorts,
    by_number,
    over_rails,
    worst_mix,
)
from fabopt.schema.resilience import FEED, RACK
from fabopt.units import MBPS_PER_GBPS, ceil_div, exact, plain_fraction, some
from fabopt.verify.bandwidth import LAST_DIGIT, across_stripes, through_servers
from fabopt.verify.clos_counts import ClosCounts
from fabopt.verify.evidence import RAIL_ONLY, FabricEvidence
from fabopt.verify.proof import Proof, has_rules_of

TIERS = ("leaf", "spine", "core")
# The version from which files say what several planes leave.
OF_PLANES = "0.3.0"
ENDS = ("server-leaf", "leaf-spine", "spine-core")


def failures_leave_bandwidth(proof: Proof, fabric: FabricEvidence) -> None:
    """The file's figures of bandwidth after failures are recounted, and meet the demands of the case.

    Left per GPU, at the worst place: injection over the remaining ports of a server, x the share of its endpoints that
    a leaf's uplinks carry, x the share of upward traffic that a pod's spines pass on. Cut off: servers outside the
    largest part that stays joined. Racks are left to ``racks_leave_bandwidth``. A file from before the figure has no
    rows. Source: case file, ``resilience``; docs/bandwidth.md.
    """
    asked = [demand.failures for demand in fabric.wanted.survived]
    for row in fabric.designed.failures:
        if row.failed == RACK:
            continue
        what = some(row.count, row.failed)
        if row.count != 1 and (row.failed, row.count) not in asked:
            proof.holds(False, f"what is left after {what} is not asked for")
            continue
        left = plain_fraction(bandwidth_left(fabric, row.failed, row.count) / MBPS_PER_GBPS)
        proof.equal(f"Gb/s per GPU after {what}", row.gbps_per_gpu, left)
        proof.note(f"{left} after {what}")
        if row.servers_cut_off is not None:
            proof.equal(f"failures at once with servers cut off, {row.failed}", row.count, 1)
            proof.equal(f"servers cut off by {what}", row.servers_cut_off, cut_off(fabric, row.failed))
        if row.count == 1 and has_rules_of(fabric.evidence.design, OF_PLANES):
            stated = row.made_up_gbps_per_gpu, row.with_switch_gbps_per_gpu
            what = f"after {what} with planes that make up for it, and with a switch of another"
            proof.equal(f"Gb/s per GPU {what}", stated, beside(fabric, row.failed))
    for demand in fabric.wanted.survived:
        if demand.failures[0] == RACK:
            continue
        given = bandwidth_left(fabric, *demand.failures) / MBPS_PER_GBPS
        shown = f"{plain_fraction(given)} of {demand.least_gbps} Gb/s per GPU wanted after {demand.survive}"
        proof.holds(given + LAST_DIGIT / 2 >= exact(demand.least_gbps), shown)
        if demand.min_gbps_per_gpu is not None:
            proof.note(shown)
    if not proof.noted:
        proof.note("the file says nothing of failures")


def beside(fabric: FabricEvidence, failed: str) -> tuple[int | float | None, int | float | None]:
    """Gb/s per GPU after one failure of several planes that make up for each other, where that is more; and with a
    plane out of service, after that of the worst switch.
    """
    if fabric.designed.planes == 1 or failed == FEED:
        return None, None
    if failed == "plane":
        left = min(bandwidth_left(fabric, tier, 1, PLANE_OUT) for tier in TIERS[: fabric.clos.tiers])
        return None, plain_fraction(left / MBPS_PER_GBPS)
    made_up = bandwidth_left(fabric, failed, 1, MAKING_UP)
    is_more = made_up > bandwidth_left(fabric, failed, 1)
    return (plain_fraction(made_up / MBPS_PER_GBPS) if is_more else None), None


def bandwidth_left(fabric: FabricEvidence, failed: str, count: int, other: OtherPlanes = SAME) -> Fraction:
    """Mb/s per GPU after ``count`` failures of a kind, at the worst places.

    One of two feeds takes nothing: rule ``feeds_carry_racks``.
    """
    failed, count = ("spine", 0) if failed == FEED else (failed, count)
    at_server, above_leaf, above_spine = PLACES[failed]
    injection, networks = fabric.injection, fabric.networks.number
    if other.is_out:
        injection, networks = injection * of_server(fabric, "plane", 1), networks - networks // fabric.designed.planes
    own = by_number(lambda lost: of_server(fabric, at_server, lost, other.is_out), count if at_server else 0)
    leaf = by_number(lambda lost: _sent_up(fabric, above_leaf, lost), count if above_leaf else 0)
    pod = by_number(lambda lost: _sent_on(fabric, above_spine, lost), count if above_spine else 0)
    above = worst_mix(leaf, pod, count)
    if fabric.networks.apart or other.make_up:
        above = over_rails(above, networks, count)
    share = worst_mix(own, above, count)[-1]
    assert isinstance(share, Fraction)
    return across_stripes(fabric, through_servers(fabric, injection * share))


def of_server(fabric: FabricEvidence, failed: str, count: int, is_plane_out: bool = False) -> Fraction:
    """Share of its injection, without a plane that is out of service, that a server keeps through its own ports."""
    return min(_of_server(fabric, per_leaf, failed, count, is_plane_out) for per_leaf in _ports_on_leaves(fabric))


def _ports_on_leaves(fabric: FabricEvidence) -> set[int]:
    """Ports of a server on a leaf, group by group."""
    clos = fabric.clos
    return {clos.k, clos.own_k} if clos.has_own_last else {clos.k}


def _of_server(fabric: FabricEvidence, per_leaf: int, failed: str, count: int, is_plane_out: bool) -> Fraction:
    nic, apart = fabric.designed.nic, fabric.networks.apart
    top = fabric.nic_mbps / fabric.nic_lane.port_mbps
    ports = ServerPorts(
        nic.per_server, nic.ports_per_nic, fabric.designed.planes, per_leaf, top, fabric.wanted.homing == "dual",
        apart, apart and fabric.designed.topology != RAIL_ONLY,
    )  # fmt: skip
    ports = ports.with_plane_out if is_plane_out else ports
    left = {"leaf": ports.without_leaves, "plane": ports.without_planes, "server-leaf": ports.without_cables}
    return left[failed](count) if failed in left else Fraction(1)


def _sent_up(fabric: FabricEvidence, failed: str, count: int) -> Fraction:
    """Share of a leaf's endpoints that its uplinks carry."""
    clos = fabric.clos
    if clos.tiers < 2:
        return Fraction(1)
    leaves = [(clos.u, clos.most_endpoints)]
    if clos.has_own_last:
        leaves.append((clos.own_u, clos.last_endpoints))
    speed, shares = Fraction(fabric.up("leaf").port_mbps, fabric.down("leaf").port_mbps), [Fraction(1)]
    for uplinks, endpoints in leaves:
        lost = {"spine": clos.links_to_most(uplinks, count), "leaf-spine": count}.get(failed, 0)
        shares.append(max(0, uplinks - lost) * speed / endpoints)
    return min(shares)


def _sent_on(fabric: FabricEvidence, failed: str, count: int) -> Fraction:
    """Share of upward traffic that the spines of a pod pass on to cores; spines that lost cores pass on less."""
    clos = fabric.clos
    if clos.tiers < 3:
        return Fraction(1)
    up = fabric.up("spine").port_mbps
    below = clos.most_spine_downlinks * fabric.down("spine").port_mbps
    hit, fatal, links = (1, clos.x, 1)
    if failed == "core":
        hit, fatal, links = clos.q, clos.cores_per_group, clos.m2
    lost = [0] * clos.spines
    for place in range(clos.spines // hit if failed else 0):
        lost[place * hit : (place + 1) * hit] = [min(fatal, max(0, count - place * fatal)) * links] * hit
    sent = sum(min(below, (clos.x - gone) * up) for gone in lost)
    return Fraction(sent, clos.spines * below)


def cut_off(fabric: FabricEvidence, failed: str) -> int:
    """Servers outside the largest connected part after one failure at the worst place."""
    clos = fabric.clos
    if failed == FEED:
        return 0
    if failed == "plane" and fabric.designed.planes == 1:
        return clos.servers
    if clos.planes > 1:
        return 0
    kinds: Sequence[str] = {"switch": TIERS[: clos.tiers], "cable": ENDS[: clos.tiers]}.get(failed, (failed,))
    return int(clos.servers - min(_joined(fabric, kind) for kind in kinds))


def _on_one_leaf(clos: ClosCounts, failed: str) -> Iterator[int]:
    """Servers of a group that are cut off with the one leaf that fails, or loses its one uplink; else 0."""
    yield 0
    if clos.rails == 1 and (failed == "leaf" or clos.u == 1):
        yield min(clos.g, clos.servers)
    if clos.has_own_last and clos.last_rails == 1 and (failed == "leaf" or clos.own_u == 1):
        yield clos.last_group


def _joined(fabric: FabricEvidence, failed: str) -> int:
    """Servers in the largest connected part of the only plane."""
    clos = fabric.clos
    group = min(clos.g, clos.servers)
    pod = min(clos.servers, clos.groups_per_pod * group) if clos.tiers > 2 else clos.servers
    through_rails = clos.rail_pods and clos.rails > 1
    if failed == "server-leaf":
        return clos.servers - (clos.planes * clos.ports == 1)
    if failed == "leaf" or (failed == "leaf-spine" and 1 in (clos.u, clos.own_u)):
        return clos.servers - max(_on_one_leaf(clos, failed))
    if failed == "spine" and clos.spines == 1 and not through_rails:
        return max(clos.servers - pod, group)
    if failed == "spine-core" and clos.spines == clos.x == 1 and not through_rails:
        return max(clos.servers - pod, pod)
    alone = clos.tiers > 2 and clos.core_groups == ceil_div(clos.x, clos.m2) == 1
    return pod if failed == "core" and alone else clos.servers
