"""The default rule of resilience: the parts that a fabric keeps, recounted from its numbers and on its wiring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabopt.rules.defaults import (
    MOST_ON_ONE_SWITCH,
    PAIR,
    PAIRING,
    TWO_CORES,
    TWO_LEAVES,
    TWO_SPINES,
    TWO_SWITCHES,
)
from fabopt.schema.resilience import UNJOINED, asks_for_pair, redundancy_kept
from fabopt.schema.standing import standing_words
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import ATTACHMENT_LEAF, LEAF_SPINE, SERVER_LEAF, SPINE_CORE
from fabopt.verify.proof import Proof, combined, has_rules_of, since, where
from fabopt.verify.told import left_out_is_told
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import Ints

FEWEST = 2
# Parts of the rule that files of versions before this one do not have.
LATER, BROUGHT_BY = (PAIR, TWO_SWITCHES, PAIRING), "0.3.0"


def names_redundancy(fabric: FabricEvidence) -> bool:
    """Whether the case asks for the default rule, or the file has statements on it."""
    return bool(_asked(fabric) or fabric.designed.redundancy)


@since("0.2.0", "fabrics.redundancy", "case.content.resilience")
@where(names_redundancy)
def redundancy_is_kept(proof: Proof, fabric: FabricEvidence) -> None:
    """The parts of the default rule that the file states as kept are those of its numbers, and parts not kept are told.

    Over all planes P: P x spines of a pod >= 2 at every stage that has spines, cores >= 2 at every stage that has
    cores; of storage and in-band P x R / k >= 2, of NICs that these share too, and of logical ones the ports of a
    server and the leaves, over which they are dealt (two-leaves: where the NICs of a server have two ports or more). On
    one tier only pair applies, in direct networks none. Source: case file, ``resilience``; docs/bandwidth.md.
    """
    rows = fabric.designed.redundancy
    rules = _asked(fabric)
    proof.equal("parts of the rule", [row.rule for row in rows], list(rules))
    for row in rows:
        kept = _keeps(fabric, row.rule)
        proof.equal(f"rule {row.rule} is kept", row.kept, kept)
        if kept is False:
            left_out_is_told(proof, fabric, row.rule, f"rule {row.rule} is not kept")
        words = {True: "kept", False: "not kept", None: "does not apply"}[kept]
        proof.note(f"{row.rule} {words}: {row.detail}")


def breaks_part(fabric: FabricEvidence, rule: str) -> bool:
    """Whether the case asks for a part of the rule, and the numbers of the fabric break it."""
    return rule in _asked(fabric) and _keeps(fabric, rule) is False


def standing_detail(fabric: FabricEvidence, rule: str) -> str:
    """The words for a fabric's count under a part of the rule."""
    features = fabric.switch("leaf").features if fabric.has_switches else ()
    whose = min(_on_pairs(fabric), default=(0, ""))[1] if rule == PAIR and fabric.has_switches else ""
    return standing_words(fabric.designed, rule, None if rule == PAIRING else _fewest(fabric, rule), features, whose)


def _asked(fabric: FabricEvidence) -> tuple[str, ...]:
    case = fabric.evidence.case
    gpus = fabric.evidence.servers * fabric.evidence.server.gpus
    wanted, resilience = fabric.wanted, case.resilience_of(fabric.wanted)
    rules = redundancy_kept(case.rules, resilience, wanted.asked_of(gpus))
    is_early = not has_rules_of(fabric.evidence.design, BROUGHT_BY)
    return tuple(rule for rule in rules if rule not in LATER) if is_early else rules


def _keeps(fabric: FabricEvidence, rule: str) -> bool | None:
    """Whether the numbers keep a part of the rule; None where it does not apply."""
    if rule == PAIRING:
        return fabric.designed.pairing != UNJOINED if has_pairs(fabric) else None
    count = _fewest(fabric, rule)
    return None if count is None else count >= FEWEST


def has_pairs(fabric: FabricEvidence) -> bool:
    """Whether every server is on two leaves, by the words of the case or of the file."""
    return fabric.designed.homing in ("pair", "dual")


def _fewest(fabric: FabricEvidence, rule: str) -> int | None:
    """The fewest devices at any stage that a part of the rule counts; None where it does not apply."""
    planes, growth = fabric.clos.planes, fabric.designed.growth
    if rule == TWO_SWITCHES and fabric.has_switches:
        stages = (row for row, servers in zip(growth, fabric.clos.sizes, strict=False) if _is_large(fabric, servers))
        switches = [row.leaves + row.spines + row.cores for row in stages]
        return min(switches or [sum(tier.count for tier in fabric.designed.tiers)])
    if rule == PAIR and fabric.has_switches:
        return min((number for number, _ in _on_pairs(fabric)), default=fabric.tier("leaf").count)
    if fabric.is_direct or fabric.num_tiers == 1:
        return None
    if rule == TWO_SPINES:
        spines = [stage.spines_per_pod for stage in growth if stage.spines] or [fabric.clos.spines]
        return planes * min(spines)
    if rule == TWO_CORES:
        cores = [stage.cores for stage in growth if stage.cores]
        if not growth and fabric.num_tiers > 2:
            cores = [fabric.tier("core").count]
        return min(cores, default=None)
    return planes * min(fabric.clos.rails, fabric.clos.last_rails) if _nic_ports(fabric) >= FEWEST else None


def _on_pairs(fabric: FabricEvidence) -> Iterator[tuple[int, str]]:
    """(Leaves of a server, logical fabric) under rule ``pair``: the fabric itself, without a name, and logical ones."""
    if _pairs_own(fabric):
        yield fabric.clos.planes * min(fabric.clos.rails, fabric.clos.last_rails), ""
    for logical in fabric.designed.logical:
        if logical.name in set(fabric.wanted.logical_pairs):
            yield min(logical.nic.per_server * logical.nic.ports_per_nic, fabric.tier("leaf").count), logical.name


def _pairs_own(fabric: FabricEvidence) -> bool:
    """Whether rule ``pair`` covers the fabric's own NICs, and not only those of logical fabrics on it."""
    wanted = fabric.wanted
    return wanted.shares_pairs or asks_for_pair(wanted.role, wanted.homing)


def _is_large(fabric: FabricEvidence, servers: int) -> bool:
    """Whether ``servers`` servers have more GPUs than may be on one switch."""
    return servers * fabric.evidence.server.gpus > MOST_ON_ONE_SWITCH


def _nic_ports(fabric: FabricEvidence) -> int:
    """Ports of a server's NICs at their split, used or not."""
    cages = sum(cage.count_at(fabric.designed.nic.split) for cage in fabric.nic_cages)
    holders = 1 if fabric.shared_cages else fabric.designed.nic.per_server
    return holders * cages * fabric.nic_lane.ports


@since("0.2.0", "fabrics.redundancy", "case.content.resilience")
@where(names_redundancy)
def redundancy_is_cabled(proof: Proof, cabling: FabricCabling) -> None:
    """The parts of the default rule stated as kept hold on the wiring, device by device.

    Over all planes, the fewest spines of a leaf, the cores with links, and the fewest leaves of a server are two at
    least. Source: case file, ``resilience``.
    """
    for row in cabling.fabric.designed.redundancy:
        if row.kept and row.rule != PAIRING:
            fewest = _fewest_cabled(cabling, row.rule)
            proof.holds(fewest >= FEWEST, f"rule {row.rule} says that it is kept, and there is {fewest}")
            proof.note(f"{row.rule}: {fewest}")
    if not proof.noted:
        proof.note("nothing of the default rule is kept")


def _fewest_cabled(cabling: FabricCabling, rule: str) -> int:
    links = cabling.links
    if rule == TWO_LEAVES or (rule == PAIR and _pairs_own(cabling.fabric)):
        rows = cabling.of(SERVER_LEAF)
        return int(_peer_counts(links.a[rows], links.b[rows]).min())
    if rule == PAIR:
        return min(_logical_peers(cabling), default=0)
    if rule == TWO_SWITCHES:
        sizes, when = cabling.clos.sizes, cabling.devices.stage
        switches = np.unique(np.concatenate([links.a[cabling.between_switches], links.b]))
        first = next((stage for stage, servers in enumerate(sizes) if _is_large(cabling.fabric, servers)), None)
        return len(switches) if first is None else int((when[switches] <= first).sum())
    if rule == TWO_CORES:
        return len(np.unique(links.b[cabling.of(SPINE_CORE)]))
    rows = cabling.of(LEAF_SPINE)
    return sum(_of_planes(links.a[rows], links.b[rows], cabling.devices.plane[links.a[rows]]))


def _logical_peers(cabling: FabricCabling) -> Iterator[int]:
    """The fewest leaves of a server by the NICs of each logical fabric."""
    links, paired = cabling.links, set(cabling.fabric.wanted.logical_pairs)
    rows = cabling.of(ATTACHMENT_LEAF)
    numbers, first = np.unique(links.a_nic[rows][links.a_nic[rows] > 0]), 0
    for logical in cabling.fabric.designed.logical:
        own = rows[np.isin(links.a_nic[rows], numbers[first : first + logical.nic.per_server])]
        first += logical.nic.per_server
        if logical.name in paired:
            yield int(_peer_counts(links.a[own], links.b[own]).min())


def _of_planes(near: Ints, far: Ints, plane: Ints) -> Iterator[int]:
    """In each plane the fewest devices linked to any one of its devices."""
    for number in np.unique(plane).tolist():
        inside = plane == number
        yield int(_peer_counts(near[inside], far[inside]).min())


def _peer_counts(near: Ints, far: Ints) -> Ints:
    """Number of devices linked to each device, shape (devices with links,)."""
    pairs = np.unique(combined(near, far), return_index=True)[1]
    return np.asarray(np.unique(near[pairs], return_counts=True)[1])
