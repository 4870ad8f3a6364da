"""Rules of a cluster that grows: every stage is a fabric of its own, and no installed device or cable moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabopt.schema.attachment import FreePorts
from fabopt.schema.design import StageStructure
from fabopt.schema.installed import as_installed
from fabopt.units import some
from fabopt.verify.bandwidth import metrics_are_recomputed, uplinks_carry_demand
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.paths import (
    bisection_carries_claim,
    leaves_reach_spines,
    planes_are_connected,
    rails_reach_leaves,
    spines_reach_cores,
)
from fabopt.verify.ports import cages_keep_one_use, endpoints_are_cabled, planes_stay_apart
from fabopt.verify.proof import Proof, combined, distinct, prove, repeated
from fabopt.verify.recount import structure_of
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
    """The devices and links of each stage are a fabric that meets the case then, before the next stage.

    Over the devices and links of stage <= s alone: all servers of the stage are cabled on every rail; leaves, spines
    and cores are joined evenly; each boundary's ratio is within the stage's limit; maximum flow carries the stage's
    bisection. Source: case file, ``stages``.
    """
    names = [stage.name for stage in cabling.fabric.evidence.case.stages or ()]
    growth = cabling.fabric.designed.growth
    if len(names) < 2:
        proof.equal("stages of a fabric that does not grow", len(growth), 0)
        proof.note(f"one stage of {some(len(cabling.links), 'link')}")
        return
    proof.equal("stages", [stage.stage for stage in growth], names)
    for number, stage in enumerate(growth[:-1]):
        fabric = stage_of(cabling.fabric, stage, number)
        stage_cabling = FabricCabling(fabric, cabling.cabled, cabling.index, number)
        proofs = [prove(rule, fabric) for rule in NUMBERS] + [prove(rule, stage_cabling) for rule in LINKS]
        proof.broken.extend(f"{stage.stage}: {fault}" for proof_of_rule in proofs for fault in proof_of_rule.broken)
        ratios = ", ".join(f"{name} {ratio:g}" for name, ratio in stage.oversubscription.items())
        installed = (fabric.evidence.servers, "server"), (stage.leaves, "leaf"), (stage.spines, "spine")
        proof.note(f"{stage.stage}: {', '.join(some(*count) for count in installed)} {ratios}")


def stage_of(fabric: FabricEvidence, stage: StageStructure, number: int) -> FabricEvidence:
    """The fabric as installed at a stage, as a fabric of its own."""
    designed = as_installed(fabric.designed, stage)
    places = fabric.designed.places
    leaves = tuple(places.leaf[number] for number in numbers_at_last(fabric, stage, "leaf")) if places.leaf else ()
    places, free_ports = places.model_copy(update={"leaf": leaves}), _free_ports_at(fabric, stage, number)
    designed = designed.model_copy(update={"free_ports": free_ports, "places": places})
    whole = fabric.evidence.design
    evidence = Evidence(whole.model_copy(update={"fabrics": (designed,)}), number, whole)
    return FabricEvidence(evidence, designed)


def numbers_at_last(fabric: FabricEvidence, stage: StageStructure, role: str) -> list[int]:
    """The leaves or spines of a stage in their order, by their numbers at the last stage: first planes, then pods."""
    planes, last = fabric.networks.number, fabric.designed.growth[-1]
    if role == "leaf":
        blocks, of_block, size = range(planes), stage.leaves // planes, last.leaves // planes
        return [block * size + number for block in blocks for number in range(of_block)]
    pods = (plane * last.pods + pod for plane in range(planes) for pod in range(stage.pods))
    return [pod * last.spines_per_pod + number for pod in pods for number in range(stage.spines_per_pod)]


def _free_ports_at(fabric: FabricEvidence, stage: StageStructure, number: int) -> FreePorts:
    """Switches of attachments on free ports, by their numbers at a stage; ports of later stages have no switch."""
    so_far = {one.name: sum(stage <= number for stage in one.stage_of_ports) for one in fabric.wanted.attachments}
    of_stage = {role: numbers_at_last(fabric, stage, role) for role in ("leaf", "spine")}
    return {
        name: tuple(
            (role, of_stage[role].index(number) if number in of_stage[role] else len(of_stage[role]))
            for role, number in places[: so_far[name]]
        )
        for name, places in fabric.designed.free_ports.items()
        if so_far[name]
    }


def stages_only_add(proof: Proof, cabling: FabricCabling) -> None:
    """A stage adds to the installed devices and cables, and moves no more cables than are counted and paid.

    At every stage: the devices at both ends of a link are installed; no port has two links. A cable is installed with
    the first of its links, a module with the first link of its cage. A move is a link whose port at a spine differs
    from the stage before; their count is that of ``growth``, and none where the case forbids recabling. Modules move
    with their cables, so no stage has more cages of switches with links than have a module by then. Source: case file,
    ``growth``.
    """
    links, wiring = cabling.links, cabling.cabled.wiring
    devices, cables = wiring.devices, wiring.cables
    stages = max(1, len(cabling.fabric.evidence.case.stages or ()))
    for what, column in (("devices", devices.stage), ("links", links.stage), ("cables", cables.stage)):
        proof.equal(f"{what} of no stage", int(((column < 0) | (column >= stages)).sum()), 0)
    cabled = np.flatnonzero(links.cable != NOTHING)
    first = _earliest(links.cable[cabled], links.stage[cabled], len(cables))
    own = cabling.own_cables
    proof.equal("cables of another stage than their first link", int((cables.stage[own] != first[own]).sum()), 0)
    _modules_come_first(proof, cabling, wiring.modules.stage)
    _lent_one_by_one(proof, cabling)
    moves = _moves(proof, cabling, stages)
    claimed = [stage.moved_cables for stage in cabling.fabric.designed.growth]
    proof.equal("recabled links", claimed, moves if claimed else [])
    if cabling.fabric.evidence.case.growth.recabling == "forbid":
        proof.equal("recabled links where recabling is forbidden", sum(moves), 0)
    proof.note(f"{some(len(links), 'link')} over {some(stages, 'stage')}, {some(sum(moves), 'link')} recabled")


def _moves(proof: Proof, cabling: FabricCabling, stages: int) -> list[int]:
    """Links at another port than at the stage before, by stage."""
    wiring = cabling.cabled.wiring
    own = wiring.links.fabric == cabling.index
    lent = wiring.lent
    outside = (lent.first < 0) | (lent.first > lent.last) | (lent.last >= stages - 1)
    proof.equal("cables lent at no stage before the last", int(outside.sum()), 0)
    moves, before = [], None
    for stage in range(stages):
        links = at_stage(wiring, stage)
        there = own & (links.stage <= stage)
        late = np.maximum(wiring.devices.stage[links.a], wiring.devices.stage[links.b]) > stage
        proof.equal(f"links before their devices at stage {stage + 1}", int((late & there).sum()), 0)
        a = combined(links.a[there], links.a_cage[there], links.a_lane[there])
        b = combined(links.b[there], links.b_cage[there], links.b_lane[there])
        proof.equal(f"ports with two links at stage {stage + 1}", repeated(a) + repeated(b), 0)
        elsewhere = (lent.first <= stage) & (stage <= lent.last)
        proof.equal(f"links lent twice at stage {stage + 1}", repeated(lent.link[elsewhere]), 0)
        outside = there & ((links.b_lane < 0) | (links.b_lane >= links.b_lanes))
        proof.equal(f"ports outside their cage at stage {stage + 1}", int(outside.sum()), 0)
        filled, with_module = (len(distinct(combined(of.b[there], of.b_cage[there]))) for of in (links, wiring.links))
        proof.equal(f"cages with links that have no module at stage {stage + 1}", max(0, filled - with_module), 0)
        if before is not None:
            old = own & (links.stage < stage)
            moved = (links.b != before.b) | (links.b_cage != before.b_cage) | (links.b_lane != before.b_lane)
            moves.append(int((moved & old).sum()))
        before = links
    return [0, *moves]


def _lent_one_by_one(proof: Proof, cabling: FabricCabling) -> None:
    """Links are lent one by one: where cages have several ports, each has an end of a cable, and modules are alike."""
    wiring = cabling.cabled.wiring
    links, cables = wiring.links, wiring.cables
    lent = np.unique(wiring.lent.link)
    lent = lent[(links.fabric[lent] == cabling.index) & (links.b_lanes[lent] > 1)]
    of_lent = links.cable[lent]
    carried = np.bincount(links.cable[links.cable != NOTHING], minlength=len(cables))
    ends = cables.b_connectors[of_lent]
    proof.equal("links lent from a cable's end that carries others", int((carried[of_lent] > ends).sum()), 0)
    modules = {cables.b_module[cable] for cable in np.unique(of_lent).tolist()}
    proof.equal("modules of several kinds between which links are lent", max(0, len(modules) - 1), 0)


def _modules_come_first(proof: Proof, cabling: FabricCabling, stage: Ints) -> None:
    """Every module of the fabric is installed with the first link of its cage, of whichever fabric."""
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
    """The file's counts of each stage are those installed by then, and the last stage is the fabric itself.

    Of stage <= s: groups, pods, switches, cables, links of a pair of devices, ports of switches without a link. Source:
    design file, ``growth``.
    """
    designed = cabling.fabric.designed
    for number, stage in enumerate(designed.growth):
        for what, count in structure_of(replace(cabling, stage=number)).items():
            proof.equal(f"{stage.stage}: {what}", getattr(stage, what), count)
        proof.note(f"{stage.stage}: {some(stage.cables, 'cable')}")
    if not designed.growth:
        proof.note(f"one stage of {some(len(cabling.own_cables), 'cable')}")
        return
    last = designed.growth[-1]
    proof.equal(f"{last.stage}: oversubscription", last.oversubscription, designed.oversubscription)
    proof.equal(f"{last.stage}: metrics", last.metrics, designed.metrics)
