"""Rules of a cluster that grows: every stage is a fabric of its own, and nothing that is in place moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabopt.schema.design import FabricDesign, StageStructure, TierUse
from fabopt.units import ceil_div
from fabopt.verify.bandwidth import metrics_are_recomputed, uplinks_carry_demand
from fabopt.verify.codes import combined, counts_of, repeated
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.paths import (
    bisection_carries_claim,
    leaves_reach_spines,
    planes_are_connected,
    rails_reach_leaves,
    spines_reach_cores,
)
from fabopt.verify.ports import cages_keep_one_use, endpoints_are_cabled, planes_stay_apart
from fabopt.verify.proof import Proof, prove
from fabopt.verify.structure import switch_counts_close
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import NOTHING, Ints, at_stage

# What every stage must be, by its numbers and by the links that are there.
NUMBERS: tuple[Callable[[Proof, FabricEvidence], None], ...] = (
    switch_counts_close,
    uplinks_carry_demand,
    metrics_are_recomputed,
)
LINKS: tuple[Callable[[Proof, FabricCabling], None], ...] = (
    cages_keep_one_use,
    endpoints_are_cabled,
    planes_stay_apart,
    rails_reach_leaves,
    leaves_reach_spines,
    spines_reach_cores,
    planes_are_connected,
    bisection_carries_claim,
)


def stages_are_fabrics(proof: Proof, cabling: FabricCabling) -> None:
    """What stands at each stage is a fabric that meets the case then, before the next stage has come.

    Over the boxes and links of stage <= s alone: all servers of the stage are cabled on every rail; leaves, spines and
    cores are joined evenly; each boundary's ratio is within the stage's limit; maximum flow carries the stage's
    bisection. Source: case file, ``stages``.
    """
    names = [stage.name for stage in cabling.fabric.evidence.case.stages or ()]
    growth = cabling.fabric.made.growth
    if len(names) < 2:
        proof.equal("stages of a fabric that does not grow", len(growth), 0)
        proof.note(f"one stage of {len(cabling.links)} links")
        return
    proof.equal("stages", [one.stage for one in growth], names)
    for number, one in enumerate(growth[:-1]):
        fabric = stage_of(cabling.fabric, one, number)
        now = FabricCabling(fabric, cabling.cabled, cabling.index, number)
        found = [prove(rule, fabric) for rule in NUMBERS] + [prove(rule, now) for rule in LINKS]
        proof.broken.extend(f"{one.stage}: {fault}" for each in found for fault in each.broken)
        ratios = ", ".join(f"{name} {ratio:g}" for name, ratio in one.oversubscription.items())
        proof.note(f"{one.stage}: {fabric.evidence.servers} servers, {one.leaves} leaves, {one.spines} spines {ratios}")


def stage_of(fabric: FabricEvidence, one: StageStructure, number: int) -> FabricEvidence:
    """The fabric as it stands at a stage, as a fabric of its own."""
    made = as_it_stands(fabric.made, one)
    whole = fabric.evidence.design
    evidence = Evidence(whole.model_copy(update={"fabrics": (made,)}), number, whole)
    return FabricEvidence(evidence, made)


def as_it_stands(made: FabricDesign, one: StageStructure) -> FabricDesign:
    """A fabric of the file with the numbers that it claims for a stage."""
    structure = made.clos
    uplinks = made.tiers[0].up_ports
    if one.spines_per_pod != structure.spines_per_pod:
        uplinks = one.spines_per_pod * one.links_per_pair
    groups_per_pod = min(structure.groups_per_pod, one.groups)
    counts = {"leaf": (one.leaves, uplinks), "spine": (one.spines, 0), "core": (one.cores, 0)}
    if one.cores:
        counts["spine"] = (one.spines, one.cores_per_group * one.links_per_core_pair)
    tiers = [_tier(tier, *counts[tier.role]) for tier in made.tiers if counts[tier.role][0]]
    stands = structure.model_copy(
        update={
            "tiers": len(tiers),
            "groups": one.groups,
            "links_per_pair": one.links_per_pair,
            "pods": one.pods,
            "spines_per_pod": one.spines_per_pod,
            "groups_per_pod": groups_per_pod,
            "leaves_per_pod": structure.leaves_per_pod // max(1, structure.groups_per_pod) * groups_per_pod,
            "links_per_core_pair": one.links_per_core_pair,
            "spines_per_core_group": structure.spines_per_core_group if one.cores else 0,
            "cores_per_group": one.cores_per_group,
            "pod_of": structure.pod_of if one.cores else "groups",
        }
    )
    return made.model_copy(
        update={
            "structure": stands,
            "tiers": tuple(tiers),
            "oversubscription": one.oversubscription,
            "metrics": one.metrics,
        }
    )


def _tier(tier: TierUse, count: int, up_ports: int) -> TierUse:
    """A tier with so many switches; without uplinks where nothing stands above it."""
    update: dict[str, object] = {"count": count, "up_ports": up_ports}
    if not up_ports:
        update |= {"up": None, "gbps_up": 0}
    return tier.model_copy(update=update)


def stages_only_add(proof: Proof, cabling: FabricCabling) -> None:
    """A stage adds to what is in place, and moves no more of it than is counted and paid.

    At every stage: the boxes at both ends of a link are there; no port has two links. A wire is installed with the
    first of its links, a module with the first link of its cage. A move is a link whose port at a spine is another one
    than at the stage before; they are as many as ``growth`` says, and none where the case forbids recabling. Source:
    case file, ``growth``.
    """
    links, wiring = cabling.links, cabling.cabled.wiring
    devices, cables = wiring.devices, wiring.cables
    stages = max(1, len(cabling.fabric.evidence.case.stages or ()))
    for what, column in (("boxes", devices.stage), ("links", links.stage), ("wires", cables.stage)):
        proof.equal(f"{what} of no stage", int(((column < 0) | (column >= stages)).sum()), 0)
    cabled = np.flatnonzero(links.cable != NOTHING)
    first = _earliest(links.cable[cabled], links.stage[cabled], len(cables))
    own = cabling.own_cables
    proof.equal("wires of another stage than their first link", int((cables.stage[own] != first[own]).sum()), 0)
    _modules_come_first(proof, cabling, wiring.modules.stage)
    moves = _moves(proof, cabling, stages)
    claimed = [one.moved_cables for one in cabling.fabric.made.growth]
    proof.equal("moved cables", claimed, moves if claimed else [])
    if cabling.fabric.evidence.case.growth.recabling == "forbid":
        proof.equal("moved cables where recabling is forbidden", sum(moves), 0)
    proof.note(f"{len(links)} links over {stages} stages, {sum(moves)} cables moved")


def _moves(proof: Proof, cabling: FabricCabling, stages: int) -> list[int]:
    """Links at another port than at the stage before, by stage."""
    wiring = cabling.cabled.wiring
    mine = wiring.links.fabric == cabling.index
    lent = wiring.lent
    outside = (lent.first < 0) | (lent.first > lent.last) | (lent.last >= stages - 1)
    proof.equal("cables lent at no stage before the last", int(outside.sum()), 0)
    moves, before = [], None
    for stage in range(stages):
        now = at_stage(wiring, stage)
        there = mine & (now.stage <= stage)
        late = np.maximum(wiring.devices.stage[now.a], wiring.devices.stage[now.b]) > stage
        proof.equal(f"links before their boxes at stage {stage + 1}", int((late & there).sum()), 0)
        a = combined(now.a[there], now.a_cage[there], now.a_lane[there])
        b = combined(now.b[there], now.b_cage[there], now.b_lane[there])
        proof.equal(f"ports with two links at stage {stage + 1}", repeated(a) + repeated(b), 0)
        elsewhere = (lent.first <= stage) & (stage <= lent.last)
        proof.equal(f"links lent twice at stage {stage + 1}", repeated(lent.link[elsewhere]), 0)
        outside = there & ((now.b_lane < 0) | (now.b_lane >= now.b_lanes))
        proof.equal(f"ports outside their cage at stage {stage + 1}", int(outside.sum()), 0)
        if before is not None:
            old = mine & (now.stage < stage)
            moved = (now.b != before.b) | (now.b_cage != before.b_cage) | (now.b_lane != before.b_lane)
            moves.append(int((moved & old).sum()))
        before = now
    return [0, *moves]


def _modules_come_first(proof: Proof, cabling: FabricCabling, stage: Ints) -> None:
    """Every module of the fabric is there with the first link of its cage, of whichever fabric."""
    wiring = cabling.cabled.wiring
    links, modules = wiring.links, wiring.modules
    device = np.concatenate([links.a, links.b, modules.device])
    cage = np.concatenate([links.a_cage, links.b_cage, modules.cage])
    place = np.unique(combined(device, cage), return_inverse=True)[1].ravel()
    at_links, at_modules = place[: 2 * len(links)], place[2 * len(links) :]
    first = _earliest(at_links, np.tile(links.stage, 2), int(place.max(initial=-1)) + 1)
    wrong = (first[at_modules] != stage) & (modules.fabric == cabling.index)
    proof.equal("modules of another stage than their cage's first link", int(wrong.sum()), 0)


def _earliest(code: Ints, stage: Ints, size: int) -> Ints:
    first = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(first, code, stage)
    return first


def stage_counts_close(proof: Proof, cabling: FabricCabling) -> None:
    """What the file counts at each stage is what is installed by then, and the last stage is the fabric itself.

    Of stage <= s: groups, pods, switches, wires, links of a pair of boxes, ports of switches without a link. Source:
    design file, ``growth``.
    """
    made = cabling.fabric.made
    for number, one in enumerate(made.growth):
        for what, count in _counted(cabling, number).items():
            proof.equal(f"{one.stage}: {what}", getattr(one, what), count)
        proof.note(f"{one.stage}: {one.cables} cables")
    if not made.growth:
        proof.note(f"one stage of {len(cabling.own_cables)} cables")
        return
    last = made.growth[-1]
    proof.equal(f"{last.stage}: oversubscription", last.oversubscription, made.oversubscription)
    proof.equal(f"{last.stage}: metrics", last.metrics, made.metrics)


def _counted(cabling: FabricCabling, number: int) -> dict[str, int]:
    """The numbers of a stage as they are found in the tables."""
    fabric, devices = cabling.fabric, cabling.devices
    now = FabricCabling(fabric, cabling.cabled, cabling.index, number)
    leaves, spines, cores = (now.devices_of(role) for role in ("leaf", "spine", "core"))
    of_pod = int(counts_of(combined(devices.plane[spines], devices.pod[spines])).max(initial=0))
    core_groups = fabric.made.planes * ceil_div(of_pod, fabric.made.clos.spines_per_core_group) if len(cores) else 1
    endpoints = len(now.of("server-leaf")) + len(now.of("attachment-leaf"))
    return {
        "groups": len(np.unique(devices.group[leaves])),
        "pods": len(np.unique(devices.pod[leaves])) if len(cores) else 1,
        "spines_per_pod": of_pod,
        "links_per_pair": _fewest_links(now, "leaf-spine"),
        "cores_per_group": len(cores) // core_groups,
        "links_per_core_pair": _fewest_links(now, "spine-core"),
        "leaves": len(leaves),
        "spines": len(spines),
        "cores": len(cores),
        "cables": int((cabling.cables.stage[cabling.own_cables] <= number).sum()),
        "free_leaf_ports": len(leaves) * _room(fabric, "leaf") - endpoints,
        "free_spine_ports": len(spines) * _room(fabric, "spine") - len(now.of("leaf-spine")) if len(spines) else 0,
    }


def _fewest_links(now: FabricCabling, kind: str) -> int:
    """Links between any two boxes that have some."""
    rows = now.of(kind)
    return int(counts_of(combined(now.links.a[rows], now.links.b[rows])).min()) if len(rows) else 0


def _room(fabric: FabricEvidence, role: str) -> int:
    """Ports of a switch towards the servers beside the uplinks that it has at last."""
    tier, most = fabric.tier(role), fabric.switch(role).max_ports
    cages = fabric.cage(role, tier.down).count
    if tier.up is not None and tier.up.cage_group == tier.down.cage_group:
        cages -= ceil_div(tier.up_ports, fabric.up(role).ports)
    ports = cages * fabric.down(role).ports
    return ports if most is None else min(ports, most - tier.up_ports)
