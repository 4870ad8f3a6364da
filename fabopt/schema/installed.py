"""A fabric of a design file as it is installed at one of its stages."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.fabric_design import FabricDesign, LinkRow, StageStructure
from fabopt.schema.in_service import CABLE_KINDS, CableKind, Joins, LiveFile
from fabopt.schema.resilience import CABLES_OF_PEER_LINK
from fabopt.schema.structure import LastGroup, Structure
from fabopt.schema.tiers import StandInUse, TierUse
from fabopt.units import ceil_div, grouped, summed


def all_live(said: LiveFile | None) -> Iterator[tuple[LiveFile, Design]]:
    """What is in service, then what that joins, and so on: each design with what a case says of it."""
    while said is not None and (design := live_design(said)) is not None:
        yield said, design
        joins = design.case.content.get("joins")
        said = Joins.model_validate(joins, strict=False) if joins else None


def fabric_at(designed: FabricDesign, number: int) -> FabricDesign:
    """A fabric of the file at a stage, from 0; as the file has it where it does not grow."""
    return as_installed(designed, designed.growth[number]) if designed.growth else designed


def as_installed(designed: FabricDesign, stage: StageStructure) -> FabricDesign:
    """A fabric of the file with the numbers that it states for a stage."""
    structure = designed.clos
    uplinks = designed.tiers[0].up_ports
    if stage.spines_per_pod != structure.spines_per_pod:
        uplinks = stage.spines_per_pod * stage.links_per_pair
    groups_per_pod = min(structure.groups_per_pod, stage.groups)
    counts = {"leaf": (stage.leaves, uplinks), "spine": (stage.spines, 0), "core": (stage.cores, 0)}
    if stage.cores:
        counts["spine"] = (stage.spines, stage.cores_per_group * stage.links_per_core_pair)
    last = _last_group(structure, stage.spines_per_pod)
    own = 0 if last is None else last.up_ports
    so_far = designed.growth[: [one.stage for one in designed.growth].index(stage.stage) + 1]
    tiers = [_tier(_mixed_at(tier, so_far), *counts[tier.role], own) for tier in designed.tiers if counts[tier.role][0]]
    installed = structure.model_copy(
        update={
            "tiers": len(tiers),
            "groups": stage.groups,
            "links_per_pair": stage.links_per_pair,
            "pods": stage.pods,
            "spines_per_pod": stage.spines_per_pod,
            "groups_per_pod": groups_per_pod,
            "leaves_per_pod": _leaves_per_pod(structure, groups_per_pod),
            "last_group": last,
            "links_per_core_pair": stage.links_per_core_pair,
            "spines_per_core_group": structure.spines_per_core_group if stage.cores else 0,
            "cores_per_group": stage.cores_per_group,
            "pod_of": structure.pod_of if stage.cores else "groups",
        }
    )
    return designed.model_copy(
        update={
            "structure": installed,
            "tiers": tuple(tiers),
            "oversubscription": stage.oversubscription,
            "metrics": stage.metrics,
        }
    )


def _leaves_per_pod(structure: Structure, groups: int) -> int:
    """Leaves of a full pod of ``groups`` groups; one that is unlike the others is there from the first stage on."""
    last, all_groups = structure.last_group, structure.groups_per_pod
    own = 1 if last is not None and all_groups >= structure.groups else 0
    of_own = own * (0 if last is None else last.leaves)
    return of_own + (structure.leaves_per_pod - of_own) // max(1, all_groups - own) * (groups - own)


def _last_group(structure: Structure, spines: int) -> LastGroup | None:
    """A group unlike the others under ``spines`` spines of a pod."""
    last = structure.last_group
    return None if last is None else last.model_copy(update={"up_ports": spines * last.links_per_pair})


def _tier(tier: TierUse, count: int, up_ports: int, of_others: int) -> TierUse:
    """A tier with ``count`` switches; without uplinks at the top. ``of_others``: uplinks of leaves of another type."""
    update: dict[str, object] = {"count": count, "up_ports": up_ports}
    if not up_ports:
        update |= {"up": None, "gbps_up": 0}
    if tier.other is not None and tier.role == "leaf":
        update["other"] = tier.other.model_copy(update={"up_ports": of_others})
    return tier.model_copy(update=update)


def _mixed_at(tier: TierUse, so_far: Sequence[StageStructure]) -> TierUse:
    """A tier with the products that some stages install, named for the one of which they install most."""
    if not tier.stand_ins:
        return tier
    counts = [0, *(stage.switches(tier.role) for stage in so_far)]
    lots = []
    for stage, (before, now) in zip(so_far, pairwise(counts), strict=True):
        others = [one for one in tier.stand_ins if one.stage == stage.stage]
        own = now - before - sum(one.count for one in others)
        lots += [StandInUse(stage=stage.stage, id=tier.id, count=own), *others]
    units = summed((one.id, one.count) for one in lots)
    most = min(units, key=lambda id_: (-units[id_], id_))
    return tier.model_copy(update={"id": most, "stand_ins": tuple(one for one in lots if one.count and one.id != most)})


def switches_by_stage(fabrics: Sequence[FabricDesign], stages: int) -> tuple[int, ...]:
    """Switches of all fabrics of a file that are installed at each of its stages."""
    last = sum(tier.count for fabric in fabrics for tier in fabric.tiers)
    if any(0 < len(fabric.growth) < stages for fabric in fabrics):
        raise ValueError("a fabric does not say how it grows at every stage")
    early = (
        sum(
            sum(fabric.growth[stage].switches(tier.role) if fabric.growth else tier.count for tier in fabric.tiers)
            for fabric in fabrics
        )
        for stage in range(stages - 1)
    )
    return (*early, last)


class KindAt(NamedTuple):
    """Links of a kind at a stage, and the cables and fibres that make them."""

    links: int
    cables: int


def cables_at(design: Design, designed: FabricDesign, number: int) -> Mapping[CableKind, KindAt]:
    """What joins servers, attachments and switches of a Clos at a stage, by kind of links.

    Of kinds whose cables have several links, which may be cabled in part, the first has what is left of the bill. A
    port of an attachment for which no cable is bought has one of its own.
    """
    there, stages = fabric_at(designed, number), [stage.name for stage in design.stages[: number + 1]]
    ports = there.planes * there.clos.ports_per_server
    of_tiers = [design.stages[number].servers * ports, *(tier.count * tier.up_ports for tier in there.tiers)]
    links: dict[CableKind, int] = dict(zip(CABLE_KINDS, of_tiers, strict=False))
    if there.peer_links is not None:
        links["leaf-leaf"] = CABLES_OF_PEER_LINK * there.tiers[0].count // 2
    kinds, several = dict[CableKind, KindAt](), list[CableKind]()
    for kind, joined in links.items():
        rows = [row for row in designed.links if f"{row.from_}-{row.to}" == kind]
        cables = sum(map(_cables_of, rows))
        if cables and joined:
            of_all = sum(row.count for row in rows)
            kinds[kind] = KindAt(joined, ceil_div(joined * cables, of_all))
            several += [kind] if of_all > cables else []
    units = sum(
        row.in_use for row in design.bom
        if row.fabric == designed.name and row.stage in stages and row.kind in ("cable", "fibre")
    )  # fmt: skip
    live = [row for row in designed.links if row.stages is None or not set(stages).isdisjoint(row.stages)]
    attached = grouped((f"{row.from_}-{row.to}", row) for row in live if row.attachment is not None)
    if several:
        others = sum(of.cables for kind, of in kinds.items() if kind != several[0])
        others += sum(map(_cables_of, (row for rows in attached.values() for row in rows)))
        kinds[several[0]] = kinds[several[0]]._replace(cables=units - others)
    for kind in CABLE_KINDS:
        if own := attached.get(kind):
            cables = sum(_cables_of(row) if row.parts else row.count for row in own)
            kinds[kind] = KindAt(sum(row.count for row in own), cables)
    return kinds


def _cables_of(row: LinkRow) -> int:
    """Cables and fibres of a row."""
    return sum(part.quantity for part in row.parts if part.end is None)


def nics_at(designed: FabricDesign, stages: Collection[str], servers: int) -> Counter[str]:
    """NICs of the ``servers`` servers that some stages bring, by the id of what was bought."""
    nic = designed.nic
    counts = summed((one.id, one.count) for one in nic.stand_ins if one.stage in stages)
    counts[nic.id] += nic.per_server * servers - counts.total()
    return +counts


def switches_in_service(case: Case, name: str) -> Counter[tuple[str, str]]:
    """Switches of a fabric that are in service, by tier and id."""
    base, there = base_of(case), list[TierUse]()
    if base is not None and case.base is not None:
        fabrics = [fabric_at(one, case.base.stage) for one in base.fabrics if one.name == name]
        there = [own for fabric in fabrics for tier in fabric.tiers for own in tier.types]
    return summed(((own.role, own.id), own.count) for own in there)


def racks_in_service(base: Design) -> set[str]:
    """Racks with servers, switches or devices of attachments of a design; none without a floor."""
    places = [fabric.places for fabric in base.fabrics]
    devices = (of for one in places for of in (one.leaf, one.spine, one.core, *one.attachments.values()))
    return {*base.racks.server_racks, *(rack for of_kind in devices for rack, _ in of_kind)}


def base_of(case: Case) -> Design | None:
    """The design that a case goes on from, at its last stage."""
    return live_design(case.base)


def live_design(said: LiveFile | None) -> Design | None:
    """The design that is in service, at its last stage."""
    given = None if said is None else said.design
    return None if given is None else Design.model_validate_json(json.dumps(given))
