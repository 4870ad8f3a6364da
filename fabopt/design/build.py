"""From the program's solution to a Design: fabrics, and the embedded case and parts; the bill is
``fabopt.design.bill``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fabopt.design.bill import products_by_id, whole_metres
from fabopt.design.trunked import structured_kinds
from fabopt.floor.appliances import appliances_of, racks_in_use
from fabopt.parts.items import CABLE_KINDS
from fabopt.parts.nics import NicOption
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.demand import resolved
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.rules.defaults import MOST_ON_ONE_SWITCH, PAIRING, REDUNDANCY, TWO_SWITCHES
from fabopt.schema.base import Strict
from fabopt.schema.case import Fabric
from fabopt.schema.design import (
    BomRow,
    CaseRecord,
    FabricDesign,
    FloorUse,
    LinkPart,
    LinkRow,
    LogicalUse,
    NicUse,
    OtherSwitchUse,
    PartHashes,
    Placement,
    PortUse,
    SharedUse,
    TierUse,
    Totals,
)
from fabopt.schema.fabric_design import classes_in_use
from fabopt.schema.hashes import Parts, facts_of, prices_of, sha256_of
from fabopt.schema.losses import RuleStanding
from fabopt.schema.resilience import UNJOINED, asks_for_pair
from fabopt.schema.server import Server
from fabopt.schema.standing import standing_words
from fabopt.schema.subnet_manager import MANAGEMENT_KEYS
from fabopt.schema.tiers import PeerLinkUse, StandInUse
from fabopt.topology.candidate import Candidate, End, NicPurchase, Option, RowShare
from fabopt.topology.design import TWO, Fewest, FilePart, LinkUse, OtherSwitches, Tier, failures_left, fewest_of
from fabopt.topology.subnet_manager import managers_in
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction, summed

NO_MEDIUM = "none"
# The entry of a file's parts that is no part: the catalog's facts about all.
FACTS = "facts"

# Of a part of a row: its id, the end that it is at (None: a cable), its length.
PartKey = tuple[str, End | None, float | None]


# -- fabrics ----------------------------------------------------------------------------------------------------


def fabric_design(problem: Problem, fabric: FabricProblem, picked: Picked) -> FabricDesign:
    """A fabric as the design file has it, with its tiers, rows of links and figures."""
    candidate, units = picked
    design, part = candidate.design, candidate.design.file_part()
    fabric = fabric.with_switches(candidate.counted)
    runs = fabric.runs.of(part.structure).with_m(dict(part.attached_runs_m))
    fabric = replace(fabric, attachments=(*fabric.attachments, *candidate.equipment), runs=runs)
    figures = design.measured_figures(problem.gpus)
    asked = [(survival.failed, survival.count) for survival in fabric.resilience]
    growth = design.growth(problem, fabric, _cables_by_stage(problem, units))
    designed = FabricDesign(
        name=fabric.name,
        role=fabric.role,
        topology=candidate.topology,
        protocol=part.protocol,
        planes=part.planes,
        own_rails=part.nic.own_rails and _asked(problem, fabric).planes == "any",
        rails=part.rails,
        striping=fabric.leaf_groups.striping,
        structure=part.structure,
        nic=_nic_use(part.nic, [(problem.stages[buy.stage].name, buy) for buy in candidate.nic_purchases]),
        tiers=tuple(_tier_use(problem, tier) for tier in part.tiers),
        links=tuple(_link_rows(problem, fabric, part.links, units)),
        oversubscription=figures.ratios(),
        metrics=figures.metrics(),
        placement=_placement(problem, fabric, part.placement),
        growth=growth,
        failures=failures_left(design.failures(problem.server.gpus), asked),
        homing=fabric.leaf_pairs.homing_of(part.tiers),
        pairing=fabric.leaf_pairs.pairing_of(part.peers) or UNJOINED,
        peer_links=_peer_links(part),
        logical=tuple(_logical_use(fabric, demand) for demand in candidate.equipment),
        carries=tuple(_shared_uses(problem, fabric)),
        free_ports={
            demand.name: places for demand, places in zip(fabric.attachments, part.free_ports, strict=False) if places
        },
        subnet_manager=managers_in(fabric, problem.servers, design, candidate.twins),
    )
    rules, kinds = tuple(_rule_standings(problem, fabric, candidate, designed)), structured_kinds(problem, candidate)
    return designed.model_copy(update={"redundancy": rules, "structured": kinds, "moves": candidate.moves})


def _rule_standings(
    problem: Problem, fabric: FabricProblem, candidate: Candidate, designed: FabricDesign
) -> Iterator[RuleStanding]:
    """How a fabric keeps the default rule of resilience, where its case asks for it."""
    ports, growth = dict[str, int | None]({"": None} if fabric.leaf_pairs.own else {}), designed.growth
    leaf = next(iter(candidate.design.file_part().tiers), None)
    features = () if leaf is None else leaf.switch.product.features
    by_rule = {logical.name for logical in fabric.logical_fabrics if asks_for_pair(logical.role, logical.homing)}
    ports |= {
        demand.name: demand.nic.ports_per_server
        for demand in candidate.equipment
        if demand.nic and demand.name in by_rule
    }
    gpus = (stage.servers * problem.server.gpus for stage in problem.stages)
    large = [row for row, number in zip(growth, gpus, strict=False) if number > MOST_ON_ONE_SWITCH]
    for rule in REDUNDANCY:
        if rule in fabric.rules.kept or rule in fabric.rules.left_out:
            stages = large if rule == TWO_SWITCHES else growth
            number, whose = fewest_of(rule, candidate.design, stages, ports) if rule != PAIRING else Fewest(None)
            kept = designed.joins_pairs if rule == PAIRING else None if number is None else number >= TWO
            detail = standing_words(designed, rule, number, features, whose)
            yield RuleStanding(rule=rule, kept=kept, detail=detail)


def _peer_links(part: FilePart) -> PeerLinkUse | None:
    if part.peers is None:
        return None
    use, leaves = part.peers, part.tiers[0].num_switches
    return PeerLinkUse(pairs=leaves // 2, gbps=gbps(use.lane.port_mbps), cage_group=use.group, split=use.split)


def _cables_by_stage(problem: Problem, units: Sequence[tuple[Option, int]]) -> list[int]:
    """Cables and fibres that each stage adds."""
    counts = [0] * len(problem.stages)
    for option, number in units:
        for (stage, item), count in option.uses.items():
            if item.kind in CABLE_KINDS:
                counts[stage] += number * count
    return counts


def _placement(problem: Problem, fabric: FabricProblem, switches: Placement | None) -> Placement | None:
    """The places of switches and of the devices of attachments; None without a floor plan."""
    if switches is None:
        return None
    places = problem.floor.appliances.places
    appliances = {name: of_one for (owner, name), of_one in places.items() if owner == fabric.name}
    return switches.model_copy(update={"attachments": {**appliances, **switches.attachments}})


def _asked(problem: Problem, fabric: FabricProblem) -> Fabric:
    """A fabric as the case has it."""
    return next(asked for asked in problem.case.fabrics if asked.name == fabric.name)


def _shared_uses(problem: Problem, fabric: FabricProblem) -> Iterator[SharedUse]:
    """Other fabrics that share the NICs of a fabric."""
    for carried in _asked(problem, fabric).carries:
        if carried.separation == "shared":
            port, gbps_per_gpu = carried.shared_port or "added", plain_fraction(exact(carried.min_gbps_per_gpu))
            yield SharedUse(name=carried.name, role=carried.role, shared_port=port, gbps_per_gpu=gbps_per_gpu)


def _logical_use(fabric: FabricProblem, demand: AttachmentDemand) -> LogicalUse:
    assert demand.nic is not None
    role = next(logical.role for logical in fabric.logical_fabrics if logical.name == demand.name)
    injection = plain_fraction(demand.nic.injection / MBPS_PER_GBPS)
    return LogicalUse(name=demand.name, role=role, nic=_nic_use(demand.nic), injection_gbps_per_gpu=injection)


def floor_use(problem: Problem, picked: Iterable[Picked], fabrics: Sequence[FabricDesign]) -> FloorUse | None:
    """The racks of the servers, and the length classes of runs; None without a floor plan."""
    racks = next((in_use for candidate, _ in picked if (in_use := candidate.design.file_part().server_racks)), ())
    if not racks:
        return None
    return FloorUse(
        servers_per_rack=problem.floor.servers_per_rack, server_racks=racks, length_classes_m=classes_in_use(fabrics)
    )


def with_racks(totals: Totals, problem: Problem, fabrics: Sequence[FabricDesign], floor: FloorUse | None) -> Totals:
    """Totals with the number of racks in use and the units of all devices in them.

    Without a floor, the totals unchanged.
    """
    if floor is None:
        return totals
    racks = set(floor.server_racks)
    for fabric in fabrics:
        racks |= {rack for rack, _ in (*fabric.places.leaf, *fabric.places.spine, *fabric.places.core)}
        racks |= racks_in_use(fabric.places.attachments.values())
        racks |= {place.rack for kind in fabric.structured for place in kind.panels}
    devices = sum(
        appliance.attachment.boxes * exact(appliance.attachment.rack_units or 0)
        for appliance in appliances_of(problem.case)
    )
    units = exact(totals.rack_units) + _server_units(problem.server, problem.servers) + devices
    return totals.model_copy(update={"racks": len(racks), "cluster_rack_units": plain_fraction(units)})


def _server_units(server: Server, servers: int) -> Fraction:
    """Rack units of all servers: whole racks count whole."""
    if server.rack is not None:
        return Fraction(server.sold_for(servers) * server.rack.rack_units)
    return servers * exact(server.rack_units or 0)


def _nic_use(nic: NicOption, purchases: Sequence[tuple[str, NicPurchase]] = ()) -> NicUse:
    """The NIC as in the file; of several offers it is named for the one with the most units.

    ``purchases``: with the names of their stages.
    """
    counts = summed((bought.item.id, bought.units) for _, bought in purchases)
    most = min(counts, key=lambda id_: (-counts[id_], id_), default=nic.nic_id)
    return NicUse(
        id=most,
        stand_ins=tuple(
            StandInUse(stage=stage, id=purchase.item.id, count=purchase.units)
            for stage, purchase in purchases
            if purchase.item.id != most
        ),
        per_server=nic.nics_per_server,
        ports_per_nic=nic.ports_per_nic,
        gbps=gbps(nic.port.lane.port_mbps),
        split=nic.split,
        cage_group=nic.group,
        built_in=nic.item is None,
    )


def _tier_use(problem: Problem, tier: Tier) -> TierUse:
    return TierUse(
        role=tier.role,
        id=tier.switch.id,
        count=tier.num_switches,
        down_ports=tier.down_ports,
        up_ports=tier.up_ports,
        gbps_down=gbps(tier.down.lane.port_mbps),
        gbps_up=gbps(tier.up.lane.port_mbps) if tier.up is not None else 0,
        reserved_ports=tier.reserved_ports,
        down=PortUse(cage_group=tier.down.group, split=tier.down.split),
        up=PortUse(cage_group=tier.up.group, split=tier.up.split) if tier.up is not None else None,
        other=None if tier.other is None else _other_switch_use(tier.other),
        stand_ins=tuple(
            StandInUse(stage=problem.stages[stand_in.stage].name, id=stand_in.switch.id, count=stand_in.units)
            for stand_in in tier.stand_ins
        ),
    )


def _other_switch_use(other: OtherSwitches) -> OtherSwitchUse:
    return OtherSwitchUse(
        id=other.switch.id,
        count=other.num_switches,
        down_ports=other.down_ports,
        up_ports=other.up_ports,
        reserved_ports=other.reserved_ports,
        down=PortUse(cage_group=other.down.group, split=other.down.split),
        up=PortUse(cage_group=other.up.group, split=other.up.split) if other.up is not None else None,
    )


def _link_rows(
    problem: Problem, fabric: FabricProblem, kinds: Sequence[LinkUse], units: Sequence[tuple[Option, int]]
) -> Iterable[LinkRow]:
    shares: dict[tuple[Any, ...], list[tuple[RowShare, int]]] = {}
    names = [demand.name for demand in fabric.attachments]
    places = {(kind.near, kind.far, kind.scope): place for place, kind in enumerate(kinds)}
    for option, number in units:
        for row in option.rows:
            place = places[row.near, row.far, row.scope]
            number_of = names.index(row.attachment) if row.attachment is not None else -1
            assembly = row.assembly
            name = (assembly.name, assembly.length_m, assembly.mode.value) if assembly is not None else ("", 0.0, "")
            classes = tuple(-run for run in row.runs_m or ())
            shares.setdefault((place, number_of, row.stages or (), classes, name), []).append((row, number))
    since = {key: min((row.stage for row, _ in rows if row.links), default=0) for key, rows in shares.items()}
    for key in sorted(shares, key=lambda key: (*key[:-1], since[key], key[-1])):
        kind, attachment_at = kinds[key[0]], key[1]
        attachment = None if attachment_at < 0 else fabric.attachments[attachment_at]
        run_m = fabric.runs.m[kind.run] if attachment is None else attachment.run_m(fabric.runs.m, kind.far)
        first = shares[key][0][0]
        if first.runs_m is not None and first.assembly is not None:
            bought = [part.item.length_m for row, _ in shares[key] for part in row.parts if part.item.length_m]
            run_m = max(first.runs_m or bought)
        yield _link_row(shares[key], gbps(kind.port_mbps), run_m, problem)


def _link_row(shares: Sequence[tuple[RowShare, int]], speed: float, run_m: float, problem: Problem) -> LinkRow:
    first = shares[0][0]
    counts = summed(
        ((part.item.id, part.end, part.item.length_m), part.quantity * number)
        for row, number in shares
        for part in row.parts
    )
    return LinkRow(
        from_=first.near,
        to=first.far,
        scope=first.scope,
        count=sum(row.links * number for row, number in shares),
        gbps=speed,
        length_m=whole_metres(run_m),
        medium=first.assembly.medium if first.assembly is not None else NO_MEDIUM,
        attachment=first.attachment,
        from_cages=sum(row.near_cages * number for row, number in shares),
        to_cages=sum(row.far_cages * number for row, number in shares),
        parts=tuple(
            LinkPart(id=part_id, quantity=count, end=end, length_m=whole_metres(length_m))
            for (part_id, end, length_m), count in _cables_in_order(counts)
        ),
        runs_m=tuple(whole_metres(run) for run in first.runs_m) if first.runs_m else None,
        stages=tuple(problem.stages[stage].name for stage in first.stages) if first.stages else None,
    )


def _cables_in_order(counts: Mapping[PartKey, int]) -> Iterable[tuple[PartKey, int]]:
    """Parts in their order, cables (which may come stage by stage) the shortest first."""
    cables = iter(sorted((key for key in counts if key[1] is None), key=lambda key: (key[0], key[2] or 0.0)))
    for part in counts:
        key = next(cables) if part[1] is None else part
        yield key, counts[key]


# -- embedded case and parts -------------------------------------------------------------------------------------------


def dump(value: Strict) -> dict[str, Any]:
    """A schema object as in the file: aliases, defaults left out."""
    return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def parts_of(problem: Problem, fabrics: Sequence[FabricDesign], rows: Sequence[BomRow]) -> dict[str, dict[str, Any]]:
    """Every catalog entry that the design uses, its prices as applied, and the PCIe table."""
    ids = ids_used(fabrics, rows) | {problem.server.id} | set(problem.case.procurement.approved_parts or ())
    products = products_by_id(problem)
    parts: dict[str, dict[str, Any]] = {
        FACTS: {"kind": "facts", "pcie_x16_gbps": {str(k): v for k, v in sorted(problem.pcie_x16_gbps.items())}}
    }
    if problem.links.limits.optics is not None and problem.catalog.facts.optics is not None:
        parts[FACTS]["optics"] = _unsourced(dump(problem.catalog.facts.optics))
    if problem.catalog.facts.latency:
        parts[FACTS]["latency"] = [dump(row) for row in problem.catalog.facts.latency]
    for part_id in sorted(ids & products.keys()):
        kind, product = products[part_id]
        parts[part_id] = {"kind": kind, **_facts_for(fabrics, dump(product))}
    return parts


def _unsourced(facts: Any) -> Any:
    """Facts of a catalog without their sources, which it keeps."""
    if isinstance(facts, list):
        return [_unsourced(row) for row in facts]
    return {key: _unsourced(facts[key]) for key in facts if key != "source"} if isinstance(facts, dict) else facts


def _facts_for(fabrics: Sequence[FabricDesign], product: dict[str, Any]) -> dict[str, Any]:
    """A product's entry, without the keys on subnet managers where no fabric has a rule that asks for them."""
    if any(fabric.subnet_manager is not None for fabric in fabrics):
        return product
    told = {key: value for key, value in product.items() if key not in MANAGEMENT_KEYS}
    if "provenance" in told:
        of_rest = {key: value for key, value in told["provenance"].items() if key not in MANAGEMENT_KEYS}
        told["provenance"] = of_rest
    return told


def ids_used(fabrics: Sequence[FabricDesign], rows: Sequence[BomRow]) -> set[str]:
    """The ids that fabrics and lines of a bill name."""
    ids = {row.id for row in rows}
    for fabric in fabrics:
        ids.update(nic.id for nic in (fabric.nic, *(logical.nic for logical in fabric.logical)))
        ids.update(offer.id for offer in fabric.nic.stand_ins)
        ids.update(row.id for tier in fabric.tiers for row in tier.types)
        ids.update(part.id for row in fabric.links for part in row.parts)
    return ids


def hashes_of(parts: Parts) -> PartHashes:
    """The hashes that tell whether parts are those that a design was made of."""
    return PartHashes(facts=sha256_of(facts_of(parts)), prices=sha256_of(prices_of(parts)))


def case_record(problem: Problem) -> CaseRecord:
    """The case as resolved and its hash."""
    content = resolved(problem.case, problem.server).model_dump(mode="json", by_alias=True)
    return CaseRecord(name=problem.case.name, sha256=sha256_of(content), content=content)
