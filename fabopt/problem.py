"""What a case means: ids resolved, units uniform, demand computed, tables indexed.

After ``problem_of`` there is no default, no "maybe missing" and no id to look up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

from fabopt.demand import demand_of, stages_of
from fabopt.finance import Weights, energy_cents_per_mw, weights_of
from fabopt.floor import FloorPlan, servers_per_rack
from fabopt.goods import Goods, Item, goods_of, order_at_once
from fabopt.links import LinkTable, PortType, PortTypes
from fabopt.placement.layout import Layout
from fabopt.procurement import Terms, allowed, terms_of
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.case import Attachment, Case, Fabric, Stage
from fabopt.schema.case import Limits as CaseLimits
from fabopt.schema.catalog import BuiltInNic, Cage, Catalog, Nic, Pcie, Server, Switch
from fabopt.substitutes import leave_out_beaten
from fabopt.units import cents, exact, gbps, mbps, milliwatts

# Usable Gb/s of sixteen lanes, one direction, after encoding and protocol (contract, section PCIe).
PCIE_X16_GBPS: Mapping[int, float] = {3: 126, 4: 252, 5: 504, 6: 1000}
X16_LANES = 16
TIER_ROLES = ("leaf", "spine", "core")
Protocol = Literal["ethernet", "infiniband"]
PROTOCOLS: tuple[Protocol, ...] = ("ethernet", "infiniband")


# On larger floors only the candidates that look best are measured, and nothing is called optimal.
MOST_SERVERS_PROVEN_ON_FLOOR = 512


@dataclass(frozen=True)
class CageUse:
    """A group of equal cages of a switch, used at one split."""

    group: int
    split: str
    cages: int
    port: PortType

    @property
    def lane(self) -> Lane:
        """Ports of one cage and their speed."""
        return self.port.lane


@dataclass(frozen=True, eq=False)
class SwitchType:
    """A switch that can be chosen."""

    item: Item
    product: Switch
    uses: tuple[CageUse, ...]
    max_ports: int

    @property
    def id(self) -> str:
        """The catalog id."""
        return self.product.id


@dataclass(frozen=True, eq=False)
class NicOption:
    """One way to equip a server for one fabric: card, how many, which ports, over how many planes.

    ``ports_per_plane`` (R) is of one server; ``cages`` are those occupied in a server over all planes,
    ``cage_limit`` those that exist; ``full_cages`` have all their ports in use, ``partial_ports`` are the ports in
    each of ``partial_cages`` others.
    """

    nic_id: str
    item: Item | None
    cards: int
    group: int
    split: str
    ports_per_card: int
    planes: int
    port: PortType
    own_cages: bool
    cage_limit: int
    injection: Fraction

    @property
    def ports_per_plane(self) -> int:
        """R: ports of one server into each plane."""
        return self.cards * self.ports_per_card // self.planes

    @property
    def ports_per_server(self) -> int:
        """Ports of one server over all planes."""
        return self.cards * self.ports_per_card

    @property
    def full_cages(self) -> int:
        """Cages of a server with all ports in use."""
        if self.own_cages:
            return self.cards * (self.ports_per_card // self.port.ports)
        return self.ports_per_server // self.port.ports

    @property
    def partial_ports(self) -> int:
        """Ports in use in a partly used cage; 0 if there is none."""
        return self.ports_per_card % self.port.ports if self.own_cages else 0

    @property
    def partial_cages(self) -> int:
        """Partly used cages of a server."""
        return self.cards if self.partial_ports else 0

    @property
    def cages(self) -> int:
        """Occupied cages of a server."""
        return self.full_cages + self.partial_cages

    def bundle(self, k: int) -> int:
        """Ports that a wire may carry together when ``k`` ports of a server go to one leaf.

        They are ports of one card (of any cards that share the server's cages) in one plane; 1 if sets do not come out.
        """
        if not self.own_cages:
            return k if self.planes == 1 else 1
        together = self.ports_per_card // self.planes
        if k % together == 0:
            return together
        return k if together % k == 0 else 1


@dataclass(frozen=True, eq=False)
class AttachmentDemand:
    """Other endpoints: ``port`` is their cage in use, None where the case does not describe it."""

    name: str
    ports: int
    port_mbps: int | None
    port: PortType | None
    buys: Literal["both", "near", "none"]


@dataclass(frozen=True, eq=False)
class FabricProblem:
    """One fabric to design. ``runs_m``: of every kind of link; in a ``layout`` of a floor the least that one can be."""

    name: str
    role: str
    protocols: tuple[Protocol, ...]
    tiers: tuple[int, ...]
    aligned: bool
    even: bool
    group_servers: int | None
    gpu_mbps: int
    oversubscription_leaf: Fraction
    oversubscription_spine: Fraction
    reserve: Fraction
    attachments: tuple[AttachmentDemand, ...]
    nics: Mapping[str, tuple[NicOption, ...]]
    switches: Mapping[str, Mapping[str, tuple[SwitchType, ...]]]
    runs_m: Mapping[str, float]
    refused_nics: tuple[str, ...]
    layout: Layout | None = None

    @property
    def attachment_ports(self) -> int:
        """Leaf ports that attachments take."""
        return sum(one.ports for one in self.attachments)


@dataclass(frozen=True)
class Limits:
    """What may be spent over all fabrics; None: any amount."""

    capex_cents: int | None = None
    power_mw: int | None = None
    rack_milliunits: int | None = None

    @property
    def are_set(self) -> bool:
        """Whether any is."""
        return any(one is not None for one in (self.capex_cents, self.power_mw, self.rack_milliunits))

    def with_others(self, stages: Sequence[StageProblem]) -> Limits:
        """The tighter of these limits and those that stages come to together."""
        budgets = [stage.limits.capex_cents for stage in stages]
        in_all = None if None in budgets else sum(one for one in budgets if one is not None)
        last = stages[-1].limits
        return Limits(
            tighter(self.capex_cents, in_all),
            tighter(self.power_mw, last.power_mw),
            tighter(self.rack_milliunits, last.rack_milliunits),
        )


def tighter(one: int | None, other: int | None) -> int | None:
    """The lower of two limits; None is no limit."""
    return min((most for most in (one, other) if most is not None), default=None)


@dataclass(frozen=True, eq=False)
class StageProblem:
    """One stage. ``limits``: money that is spent at it, power and rack units that stand from it on.

    ``oversubscription``: the most at the leaf and the spine boundary, by fabric.
    """

    name: str
    month: int
    servers: int
    limits: Limits
    oversubscription: Mapping[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True, eq=False)
class Shelf:
    """What a catalog offers a case: shared by all problems that differ in other things only."""

    named: frozenset[str]
    terms: Terms
    offered: Catalog
    goods: Goods
    ports: PortTypes
    links: LinkTable
    # what searches have worked out at some weights of the goods, by the weights' bytes
    worked_out: dict[Hashable, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything that the search and the program need."""

    case: Case
    catalog: Catalog
    server: Server
    servers: int
    stages: tuple[StageProblem, ...]
    goods: Goods
    links: LinkTable
    shelf: Shelf
    fabrics: tuple[FabricProblem, ...]
    nic_slots: int
    limits: Limits
    weights: Weights
    # of a milliwatt from each stage on
    energy_cents_per_mw: tuple[Fraction, ...]
    server_item: Item | None
    pcie_x16_gbps: Mapping[int, float]
    plan: FloorPlan | None = None
    estimates: bool = False
    servers_per_rack: int | None = None
    # fabrics as they are in every layout of the floor that is looked at, by fabric
    variants: dict[FabricProblem, tuple[FabricProblem, ...]] = field(default_factory=dict)
    # candidates that have been placed on the floor, by fabric in its layout, hardware and numbers
    standing: dict[tuple[FabricProblem, Hashable, Hashable], Any] = field(default_factory=dict)

    @property
    def estimates_floor(self) -> bool:
        """Whether only the candidates that look best are measured on the floor: if it is large, or if that will do."""
        return self.plan is not None and (self.estimates or self.servers > MOST_SERVERS_PROVEN_ON_FLOOR)

    @property
    def limits_in_all(self) -> Limits:
        """Limits on all that is bought and on what stands in the end: of the case, and of its stages."""
        return self.limits.with_others(self.stages)

    @property
    def gpus(self) -> int:
        """GPUs at the last stage."""
        return self.servers * self.server.gpus

    @property
    def server_adds(self) -> tuple[int, ...]:
        """Servers that each stage adds, if they count; else none."""
        if self.server_item is None:
            return (0,) * len(self.stages)
        return tuple(now - before for before, now in pairwise([0, *(stage.servers for stage in self.stages)]))

    def least_server_cents(self, present: bool = False) -> int:
        """What the servers cost at least, if they count; exactly that, where it does not depend on anything else."""
        item, adds = self.server_item, self.server_adds
        if item is None:
            return 0
        if item.is_ordered and len(adds) == 1 and item.spares is None:
            return item.cost(0, order_at_once(item, adds[0]), present)
        least = sum(count * item.least_cents(stage, present) for stage, count in enumerate(adds))
        return max(0, least - item.stock * item.least_cents(0, present))

    @property
    def fixed_cents(self) -> int:
        """What every design costs at least: the servers, if they count."""
        return self.least_server_cents()

    @property
    def fixed_power_mw(self) -> int:
        """What every design draws: the servers, if they count."""
        return 0 if self.server_item is None else self.servers * self.server_item.power_mw

    @property
    def fixed_energy(self) -> int:
        """The weight of the servers' energy, where energy is paid.

        As ``power_w`` the objective is the network's alone, like ``totals.power_w``.
        """
        if self.server_item is None or not self.weights.per_cent:
            return 0
        return self.server_item.power_mw * sum(
            count * self.weights.of_mw(stage) for stage, count in enumerate(self.server_adds)
        )

    @property
    def fixed_objective(self) -> int:
        """The part of the objective that every design has: the servers' price and energy."""
        weights = self.weights
        return weights.per_cent * self.least_server_cents(bool(weights.energy)) + self.fixed_energy

    @property
    def prunes(self) -> bool:
        """Whether no price depends on a quantity, so that sizes can be compared one by one."""
        return not any(item.varies for item in self.goods.items if item.kind != "server")


def shelf_names(case: Case, catalog: Catalog) -> frozenset[str]:
    """Products that are offered even at the end of their life: the case names them, or they are built in."""
    server = next(one for one in catalog.servers if one.id == case.server)
    return _named_ids(case) | {one.id for one in server.nics}


def shelf_of(case: Case, catalog: Catalog, prune: bool = True) -> Shelf:
    """Everything on sale, and what joins it."""
    named, terms = shelf_names(case, catalog), terms_of(case)
    offered = allowed(_on_sale(catalog, named), terms.rules, case.server)
    goods = goods_of(offered, terms)
    if prune:
        leave_out_beaten(offered, goods, named)
    return Shelf(named, terms, offered, goods, PortTypes(offered), LinkTable(offered, goods, prune))


def problem_of(case: Case, catalog: Catalog, prune: bool = True, shelf: Shelf | None = None) -> Problem:
    """Resolve a case whose references have been checked (``fabopt.read.check_references``).

    ``shelf``: that of another case with the same catalog, taken if it names the same products on the same terms.
    """
    if shelf is None or (shelf.named, shelf.terms) != (shelf_names(case, catalog), terms_of(case)):
        shelf = shelf_of(case, catalog, prune)
    server = next(one for one in catalog.servers if one.id == case.server)
    goods = shelf.goods
    stages = tuple(_stage(stage, case) for stage in stages_of(case, server))
    pcie = {**PCIE_X16_GBPS, **catalog.facts.pcie_x16_gbps}
    servers = stages[-1].servers
    energy = energy_cents_per_mw(case.finance, [stage.month for stage in stages])
    return Problem(
        case=case,
        catalog=catalog,
        server=server,
        servers=servers,
        stages=stages,
        goods=goods,
        links=shelf.links,
        shelf=shelf,
        fabrics=tuple(_fabric(fabric, case, shelf, server, servers, pcie) for fabric in case.fabrics),
        nic_slots=server.nic_slots,
        limits=_limits(case.limits),
        weights=weights_of(case.objective, energy),
        energy_cents_per_mw=energy,
        server_item=goods.item(server.id) if case.include_servers else None,
        pcie_x16_gbps=pcie,
        plan=None if case.site.floor is None else FloorPlan(case.site.floor),
        servers_per_rack=servers_per_rack(case.site, server),
    )


def estimating(problem: Problem) -> Problem:
    """The same problem with a floor on which nothing has to be proven."""
    return replace(problem, estimates=True, variants={}, standing={})


def with_objective(problem: Problem, metric: str, limits: Limits) -> Problem:
    """The same problem with another objective and other limits."""
    return replace(problem, weights=weights_of(metric, problem.energy_cents_per_mw), limits=limits)


def _stage(stage: Stage, case: Case) -> StageProblem:
    assert stage.servers is not None
    demands = {fabric.name: demand_of(fabric, case, stage) for fabric in case.fabrics}
    return StageProblem(
        stage.name,
        stage.month,
        stage.servers,
        _limits(stage.limits),
        {name: (one.max_oversubscription_leaf, one.max_oversubscription_spine) for name, one in demands.items()},
    )


def _limits(limits: CaseLimits) -> Limits:
    return Limits(
        None if limits.budget_usd is None else cents(limits.budget_usd),
        None if limits.power_w is None else milliwatts(limits.power_w),
        None if limits.rack_units is None else milliwatts(limits.rack_units),
    )


def _named_ids(case: Case) -> frozenset[str]:
    named = {case.server}
    for fabric in case.fabrics:
        for chosen in (fabric.nics, fabric.switches.leaf, fabric.switches.spine, fabric.switches.core):
            if not isinstance(chosen, str):
                named.update(chosen)
    return frozenset(named)


def _on_sale(catalog: Catalog, named: frozenset[str]) -> Catalog:
    """The catalog without what is at the end of its life, unless the case names it."""
    kinds = ("switches", "nics", "transceivers", "cables", "fibres", "servers")
    kept = {
        kind: tuple(one for one in getattr(catalog, kind) if not one.end_of_life or one.id in named) for kind in kinds
    }
    return catalog.model_copy(update=kept)


def _fabric(
    fabric: Fabric,
    case: Case,
    shelf: Shelf,
    server: Server,
    servers: int,
    pcie: Mapping[int, float],
) -> FabricProblem:
    demand = demand_of(fabric, case, stages_of(case, server)[-1])
    protocols = PROTOCOLS if fabric.protocol == "any" else (fabric.protocol,)
    refused: dict[str, str] = {}
    nics: dict[str, tuple[NicOption, ...]] = {
        protocol: tuple(_nic_options(fabric, protocol, shelf, server, pcie, demand.gpu_mbps, refused))
        for protocol in protocols
    }
    switches: dict[str, Mapping[str, tuple[SwitchType, ...]]] = {
        protocol: _switches(fabric, protocol, shelf) for protocol in protocols
    }
    distances = case.site.distances_m
    return FabricProblem(
        name=fabric.name,
        role=fabric.role,
        protocols=protocols,
        tiers=_tiers(fabric),
        aligned=fabric.rails == "aligned",
        even=fabric.striping == "even",
        group_servers=_group_servers(fabric, servers_per_rack(case.site, server), servers),
        gpu_mbps=demand.gpu_mbps,
        oversubscription_leaf=demand.max_oversubscription_leaf,
        oversubscription_spine=demand.max_oversubscription_spine,
        reserve=exact(fabric.reserve_ports),
        attachments=tuple(_attachment(one, shelf.ports) for one in fabric.attachments),
        nics=nics,
        switches=switches,
        runs_m={
            "server-leaf": distances.server_leaf,
            "attachment-leaf": distances.attachment_leaf or distances.server_leaf,
            "leaf-spine": distances.leaf_spine,
            "spine-core": distances.spine_core,
        },
        refused_nics=tuple(refused.values()),
    )


def _tiers(fabric: Fabric) -> tuple[int, ...]:
    if fabric.tiers == "any":
        return (1, 2, 3)
    return (fabric.tiers,) if isinstance(fabric.tiers, int) else tuple(sorted(set(fabric.tiers)))


def _group_servers(fabric: Fabric, per_rack: int | None, servers: int) -> int | None:
    if fabric.group_by == "any":
        return None
    assert per_rack is not None
    return min(per_rack, servers)


def _attachment(one: Attachment, ports: PortTypes) -> AttachmentDemand:
    port = None
    if one.form_factor is not None and one.split is not None:
        cage = Cage(count=1, form_factor=one.form_factor, splits=(one.split,), lane_gbps=one.lane_gbps)
        port = ports.of(cage, one.split)
    speed = mbps(one.gbps) if one.gbps is not None else None
    if speed is None and one.split is not None:
        speed = parse_split(one.split).port_mbps
    return AttachmentDemand(one.name, one.ports, speed, port, one.buys)


def _switches(fabric: Fabric, protocol: Protocol, shelf: Shelf) -> dict[str, tuple[SwitchType, ...]]:
    made: dict[str, SwitchType] = {}
    for product in shelf.offered.switches:
        item = shelf.goods.item(product.id)
        if item is not None and product.protocol == protocol:
            made[product.id] = _switch_type(product, item, shelf.ports)
    chosen = {role: getattr(fabric.switches, role) for role in TIER_ROLES}
    return {role: tuple(one for one in made.values() if _offered(one.product, ids)) for role, ids in chosen.items()}


def _offered(product: Switch | Nic, ids: str | tuple[str, ...]) -> bool:
    """Whether a choice of the case allows a product; one at the end of its life only by name."""
    return not product.end_of_life if isinstance(ids, str) else product.id in ids


def _switch_type(product: Switch, item: Item, ports: PortTypes) -> SwitchType:
    uses = tuple(
        CageUse(group, split, cage.count, ports.of(cage, split, product.vendor, product.works_with))
        for group, cage in enumerate(product.cages)
        for split in dict.fromkeys(cage.splits)
    )
    all_ports = sum(cage.count * max(parse_split(split).ports for split in cage.splits) for cage in product.cages)
    return SwitchType(item, product, uses, product.max_ports or all_ports)


def _nic_options(
    fabric: Fabric,
    protocol: Protocol,
    shelf: Shelf,
    server: Server,
    pcie: Mapping[int, float],
    demand_mbps: int,
    refused: dict[str, str],
) -> Iterable[NicOption]:
    built_in = [one for one in server.nics if one.role == fabric.role]
    if built_in:
        options = _built_in_options(built_in, shelf, fabric, protocol, server, pcie)
    else:
        options = _chosen_options(shelf, fabric, protocol, server, pcie)
    for nic, option in options:
        if not _count_allowed(fabric, option.cards):
            continue
        if option.injection >= demand_mbps:
            yield option
        elif option.ports_per_server * option.port.lane.port_mbps >= demand_mbps * server.gpus:
            refused[nic.id] = _refusal(nic, option, server, demand_mbps)


def _refusal(nic: Nic, option: NicOption, server: Server, demand_mbps: int) -> str:
    assert nic.pcie is not None and server.pcie is not None
    generation = min(nic.pcie.generation, server.pcie.generation)
    lanes = min(nic.pcie.lanes, server.pcie.lanes)
    delivered = option.injection * server.gpus / option.cards
    return (
        f"{option.cards} x {nic.id} (PCIe Gen{nic.pcie.generation} x{nic.pcie.lanes}) in {server.id}'s "
        f"Gen{server.pcie.generation} x{server.pcie.lanes} slots run at Gen{generation} x{lanes}: "
        f"{float(delivered) / 1000:g} Gb/s a card, {float(option.injection) / 1000:g} Gb/s per GPU "
        f"of {gbps(demand_mbps):g} needed"
    )


def _count_allowed(fabric: Fabric, cards: int) -> bool:
    allowed = fabric.nics_per_server
    if allowed == "any":
        return True
    return cards == allowed if isinstance(allowed, int) else cards in allowed


def _planes(fabric: Fabric, ports_per_card: int) -> list[int]:
    wanted = fabric.planes
    if wanted == "any":
        options: Iterable[int] = range(1, ports_per_card + 1)
    else:
        options = (wanted,) if isinstance(wanted, int) else sorted(set(wanted))
    return [planes for planes in options if ports_per_card % planes == 0]


def card_limit_mbps(card: Pcie | None, slot: Pcie | None, pcie_x16_gbps: Mapping[int, float]) -> Fraction | None:
    """What a card can move over its bus (contract, section PCIe); None where either side is not given."""
    if card is None or slot is None:
        return None
    generation = min(card.generation, slot.generation)
    known = [one for one in pcie_x16_gbps if one <= generation]
    usable = pcie_x16_gbps[max(known)] if known else 0.0
    return exact(usable) * 1000 * min(card.lanes, slot.lanes) / X16_LANES


def _injection(nic: Nic, server: Server, cards: int, ports: int, port_mbps: int, pcie: Mapping[int, float]) -> Fraction:
    limit = card_limit_mbps(nic.pcie, server.pcie, pcie)
    nominal = Fraction(ports * port_mbps)
    return (nominal if limit is None else min(nominal, limit)) * cards / max(1, server.gpus)


def _chosen_options(
    shelf: Shelf,
    fabric: Fabric,
    protocol: Protocol,
    server: Server,
    pcie: Mapping[int, float],
) -> Iterable[tuple[Nic, NicOption]]:
    for nic in shelf.offered.nics:
        item = shelf.goods.item(nic.id)
        if item is None or protocol not in nic.protocols or not _offered(nic, fabric.nics):
            continue
        for group, cage in enumerate(nic.cages):
            for split in dict.fromkeys(cage.splits):
                port = shelf.ports.of(cage, split, nic.vendor, nic.works_with)
                for cards in range(1, server.nic_slots + 1):
                    for ports in range(1, cage.count * port.ports + 1):
                        injection = _injection(nic, server, cards, ports, port.lane.port_mbps, pcie)
                        for planes in _planes(fabric, ports):
                            yield nic, NicOption(
                                nic.id, item, cards, group, split, ports, planes, port, True,
                                cards * cage.count, injection,
                            )  # fmt: skip


def _built_in_options(
    built_in: list[BuiltInNic],
    shelf: Shelf,
    fabric: Fabric,
    protocol: Protocol,
    server: Server,
    pcie: Mapping[int, float],
) -> Iterable[tuple[Nic, NicOption]]:
    if len({one.id for one in built_in}) != 1 or (len(built_in) > 1 and any(one.cages for one in built_in)):
        return
    nic = next(one for one in shelf.offered.nics if one.id == built_in[0].id)
    if protocol not in nic.protocols or (fabric.nics != "any" and nic.id not in fabric.nics):
        return
    cards = sum(one.count for one in built_in)
    shared = built_in[0].cages
    cages = shared if shared is not None else nic.cages
    if len(cages) != 1:
        return
    for split in dict.fromkeys(cages[0].splits):
        port = shelf.ports.of(cages[0], split, nic.vendor, nic.works_with)
        limit = cages[0].count * (1 if shared is not None else cards)
        ports, odd = divmod(limit * port.ports, cards)
        if odd:
            continue
        injection = _injection(nic, server, cards, ports, port.lane.port_mbps, pcie)
        for planes in _planes(fabric, ports):
            yield nic, NicOption(nic.id, None, cards, 0, split, ports, planes, port, shared is None, limit, injection)
