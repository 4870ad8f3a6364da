"""Fabrics that go on from what is in service: the products and families of theirs alone."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

from fabopt.floor.rack_rules import rack_limits
from fabopt.parts.interchangeable import are_alike
from fabopt.parts.nic_offers import are_sold
from fabopt.parts.switches import SwitchType
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.interchangeable import Standing, beside_those_in_service
from fabopt.problem.live import InService, LiveNetwork
from fabopt.problem.out_of_band import ByStage, added
from fabopt.problem.subnets_in_service import joined_subnets
from fabopt.schema.attachment import COUNTED, SWITCHES
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.fabric import Fabric
from fabopt.schema.fabric_design import FabricDesign
from fabopt.schema.in_service import CABLE_KINDS, Base, CableKind, DeviceKind, JoinedSwitches, Joins
from fabopt.schema.installed import base_of, cables_at, fabric_at, switches_by_stage, switches_in_service
from fabopt.schema.tiers import TierUse
from fabopt.units import ceil_div


def going_on_from(case: Case, fabrics: tuple[FabricProblem, ...]) -> tuple[FabricProblem, ...]:
    """Fabrics in the space of what is in service, which they go on from or join; unchanged without any.

    Rules ``base_stays``, ``pod_joins_spines``.
    """
    if case.joins is not None:
        fabrics = tuple(_joining(fabric, case.joins) for fabric in fabrics)
    base = base_of(case)
    if case.base is None or base is None:
        return fabrics
    stage, sizes = case.base.stage, tuple(one.servers for one in base.stages)
    told = Case.model_validate_json(json.dumps(base.case.content))
    asked = {fabric.name: fabric for fabric in told.fabrics}
    spreads = base.rules is not None and rack_limits(told).spread_attachments
    there = {
        whole.name: InService(
            _with_rails(fabric_at(whole, stage), asked[whole.name]),
            whole,
            sizes[stage],
            sizes,
            _attached(asked[whole.name], base),
            server_racks=racks_in_service(base, sizes[stage]),
            leaf_racks=tuple(rack for rack, _ in whole.places.leaf) if spreads else (),
            stages=tuple(one.name for one in base.stages[: stage + 1]),
            lengths_m=tuple(map(float, base.racks.length_classes_m)),
            cables={} if case.base.move is None else cables_at(base, whole, stage),
        )
        for whole in base.fabrics
    }
    if case.base.move is not None:
        moving = tuple(_moving(fabric, _listed(fabric, there[fabric.name], case), case.base) for fabric in fabrics)
        return moving if len(moving) == 1 else tuple(map(_with_its_nics, moving))
    narrowed = (_narrowed(fabric, there[fabric.name]) for fabric in fabrics)
    return tuple(_with_others(case, one, of_all) for one, of_all in zip(narrowed, fabrics, strict=True))


def _attached(asked: Fabric, base: Design) -> dict[str, ByStage]:
    """Ports of attachments of a fabric that each stage of its file adds, in the order in which they were dealt."""
    ports = {one.name: one.adds or (one.ports,) for one in asked.attachments}
    if asked.oob is None:
        return ports
    switches = switches_by_stage(base.fabrics, len(base.stages))
    return {**ports, SWITCHES: added(tuple(number * asked.oob.ports_per_switch for number in switches))}


def with_those_in_service(fabric: Fabric, case: Case) -> Fabric:
    """A fabric's keys, with the switches in service among those that each tier may have."""
    chosen: dict[str, tuple[str, ...]] = {}
    for role, id_ in switches_in_service(case, fabric.name):
        asked = getattr(fabric.switches, role)
        if not isinstance(asked, str):
            chosen[role] = tuple(dict.fromkeys((*chosen.get(role, asked), id_)))
    return fabric.model_copy(update={"switches": fabric.switches.model_copy(update=chosen)}) if chosen else fabric


def _joining(fabric: FabricProblem, joins: Joins) -> FabricProblem:
    """A fabric whose spines are those that a pod joins, in its planes, with the cages that these have free; managed
    together with what is in service. Rules ``pod_joins_spines``, ``subnets_are_managed``.
    """
    joined = joins.of(fabric.name)
    if joined is None:
        return fabric
    switches = {
        protocol: {
            **roles,
            joined.role: tuple(_with_free_cages(one, joined) for one in roles[joined.role] if one.id == joined.id),
        }
        for protocol, roles in fabric.switches.items()
    }
    nics, left_out = (
        {protocol: tuple(one for one in many if one.planes == joined.planes) for protocol, many in all_.items()}
        for all_ in (fabric.nics, fabric.other_nics.by_rules)
    )
    managers = joined_subnets(fabric.rules.managers, fabric.name, joins)
    tiers = 2 if joined.role == "spine" else 3
    return replace(
        fabric, live=LiveNetwork(joined=joined), switches=switches,
        nics=nics, other_nics=replace(fabric.other_nics, by_rules=left_out),
        shapes=fabric.shapes.only("clos", (tiers,)), rules=replace(fabric.rules, managers=managers),
    )  # fmt: skip


def _with_free_cages(switch: SwitchType, joined: JoinedSwitches) -> SwitchType:
    free = joined.cages
    uses = (replace(use, cages=free[use.group], of_group=free[use.group]) for use in switch.uses if free[use.group])
    return replace(switch, uses=tuple(uses), max_ports=joined.ports)


def racks_in_service(base: Design, servers: int) -> tuple[str, ...]:
    """Ids of the racks that the first ``servers`` servers fill, in this order; none without a floor."""
    return base.racks.server_racks[: ceil_div(servers, max(1, base.racks.servers_per_rack))]


def _moving(fabric: FabricProblem, moving: InService, base: Base) -> FabricProblem:
    """A fabric that may take apart the one in service: of what never moves, with the products of that one alone."""
    roles = [tier.role for tier in moving.fabric.tiers]
    links: dict[CableKind, tuple[str, str]] = dict(zip(CABLE_KINDS, pairwise(("nic", *roles)), strict=False))
    links |= {kind: (kind.split("-")[0], kind.split("-")[1]) for kind in moving.cables if kind not in links}
    kinds: list[DeviceKind | CableKind] = ["nic", *roles, *links]
    held = tuple(kind for kind in kinds if not base.may_move(kind))
    # cables stay between the products that they join
    ends = {*held, *(end for kind, both in links.items() if kind in held for end in both)}
    own = _narrowed(fabric, moving)
    free = replace(fabric, live=LiveNetwork(moving=replace(moving, held=held)))
    tiers: dict[str, TierUse] = {tier.role: tier for tier in moving.fabric.tiers}
    switches = {
        protocol: {
            role: tuple(one for one in of_role if role not in ends or fabric.may_stay(tiers[role], one))
            for role, of_role in of_all.items()
        }
        for protocol, of_all in fabric.switches.items()
    }
    if ends.intersection(roles):
        free = replace(free, switches=switches, protocols=own.protocols, shapes=own.shapes)
    stays = "nic" in ends and not (moving.fabric.nic.built_in and "server-leaf" not in held)
    return replace(free, nics=own.nics) if stays else free


def _listed(fabric: FabricProblem, moving: InService, case: Case) -> InService:
    """What is in service, with the switches that the case does not name: they may stay, and new ones are of others."""
    asked = next(one for one in case.fabrics if one.name == fabric.name).switches
    offered = fabric.switches.get(moving.fabric.protocol, {})
    there = {(tier.role, own.id) for tier in moving.fabric.tiers for own in tier.types}
    named = {
        (role, one.id)
        for role, of_role in offered.items()
        for one in of_role
        if isinstance(ids := getattr(asked, role), str) or one.product.is_among(ids)
    }
    return replace(moving, not_named=frozenset(there - named))


def _with_its_nics(fabric: FabricProblem) -> FabricProblem:
    """A fabric whose servers keep the ports that they have in service, so that those of other fabrics keep theirs."""
    assert fabric.live.moving is not None
    used = fabric.live.moving.fabric.nic
    ports = (used.id, used.per_server, used.ports_per_nic, used.cage_group, used.split)
    nics = {
        protocol: tuple(
            one for one in many
            if (one.nic_id, one.nics_per_server, one.ports_per_nic, one.group, one.split) == ports
        )
        for protocol, many in fabric.nics.items()
    }  # fmt: skip
    return replace(fabric, nics=nics)


def _with_others(case: Case, fabric: FabricProblem, of_all: FabricProblem) -> FabricProblem:
    """A fabric whose new switches may be of others of its products, with the ports of those in service."""
    asked = next(one for one in case.fabrics if one.name == fabric.name)
    assert fabric.live.in_service is not None
    there = fabric.live.in_service.fabric
    if there.protocol not in fabric.protocols:
        return fabric  # a study asks what another protocol would cost: nothing goes on with it
    switches = fabric.switches[there.protocol]
    offered = of_all.switches[there.protocol]
    standing: dict[str, Standing] = {
        tier.role: tuple((one, own.count) for own in tier.types for one in offered[tier.role] if one.id == own.id)
        for tier in there.tiers
        if tier.other is None and switches[tier.role]
    }
    for tier in there.tiers:
        own = standing.get(tier.role, ())
        if own and (len(own) < len(tier.types) or not all(are_alike(one, own[0][0]) for one, _ in own)):
            return replace(fabric, switches={there.protocol: {**switches, tier.role: ()}})
    return replace(fabric, interchangeable=beside_those_in_service(case, asked, offered, standing))


def _with_rails(fabric: FabricDesign, asked: Fabric) -> FabricDesign:
    """A fabric in service that says so where its planes are rails because its case asked for them."""
    return fabric.model_copy(update={"own_rails": fabric.own_rails or asked.planes == "rails"})


def _may_have(in_service: InService, tiers: int) -> bool:
    """Whether what is in service may come to have ``tiers`` tiers; with a last group of its own, those it has."""
    there = in_service.fabric
    return tiers >= len(there.tiers) if there.clos.last_group is None else tiers == len(there.tiers)


def _beside_those(fabric: FabricProblem, there: InService, demand: AttachmentDemand) -> AttachmentDemand:
    """An attachment whose ports in service stay on their switches; beside them ports of leaves come to those that have
    room, but for new ones with a ratio of their own.
    """
    demand = replace(demand, there_m=there.attached_m(demand.name))
    counted = fabric.per_switch is not None and demand.name in COUNTED
    if demand.tier == "leaf" and demand.oversubscription is None and (counted or demand.adds):
        return replace(demand, listed=True)
    return demand if demand.adds else replace(demand, tier="any")


def _narrowed(fabric: FabricProblem, in_service: InService) -> FabricProblem:
    """A fabric with the products of the one in service, on as many tiers or more."""
    there = in_service.fabric
    used = {tier.role: tier.id for tier in there.tiers}
    switches = {
        protocol: {
            role: tuple(one for one in of_role if role not in used or one.item.id == used[role])
            for role, of_role in roles.items()
        }
        for protocol, roles in fabric.switches.items()
    }
    nics = {
        protocol: tuple(one for one in many if are_sold(one, in_service.nics)) for protocol, many in fabric.nics.items()
    }
    other = there.tiers[0].other
    leaves = fabric.switches.get(there.protocol, {}).get("leaf", ())
    last = [one for one in leaves if other is not None and one.item.id == other.id]
    return replace(
        fabric,
        live=replace(fabric.live, in_service=replace(in_service, leaves=tuple(last))),
        protocols=tuple(protocol for protocol in fabric.protocols if protocol == there.protocol),
        shapes=fabric.shapes.only(there.topology, [tiers for tiers in (1, 2, 3) if _may_have(in_service, tiers)]),
        switches=switches,
        nics=nics,
        attachments=tuple(_beside_those(fabric, in_service, demand) for demand in fabric.attachments),
        leaf_groups=replace(fabric.leaf_groups, last=replace(fabric.leaf_groups.last, kind="equal")),
        interchangeable=None,
    )
