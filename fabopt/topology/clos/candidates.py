"""From the search's arrays to candidates: exact quantities, and the open choices of the program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, combinations, product
from math import floor
from typing import Any, Final

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.logical_fabrics import nics_of, order_of, slots_of
from fabopt.problem.planes import weighs_planes
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import AttachmentTier
from fabopt.schema.resilience import RACK
from fabopt.topology.candidate import Candidate, Choice, Uses, all_choices
from fabopt.topology.clos.attached import (
    attached_to_leaves,
    attachment_leaf,
    attachment_spine,
    with_attached_runs,
)
from fabopt.topology.clos.between_halls import joins_halls
from fabopt.topology.clos.cabling import KindKey, LinkType
from fabopt.topology.clos.cage_sharing import clashes_of
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.devices_in_racks import with_appliances, with_hosts
from fabopt.topology.clos.failures import ClosFailures
from fabopt.topology.clos.free_ports import with_free_ports, with_listed
from fabopt.topology.clos.growth import Plan, plans_of
from fabopt.topology.clos.joint_links import with_attachments
from fabopt.topology.clos.network import ClosNetwork, clos_of, devices_of, placed_in
from fabopt.topology.clos.new_products import by_load
from fabopt.topology.clos.panel_room import have_room, lack_room, units_for_panels
from fabopt.topology.clos.parts_in_service import with_parts_in_service
from fabopt.topology.clos.rack_losses import survives_racks
from fabopt.topology.clos.shape import Ints, Parts, Shape
from fabopt.topology.clos.stage_links import all_kinds_of, kind_choices
from fabopt.topology.clos.staying_ports import all_staying
from fabopt.topology.clos.trunked import LinksBetween, TrunkedWay, links_between, ways_of
from fabopt.topology.design import evenness_of, left_by_a_switch
from fabopt.topology.family import Batch
from fabopt.units import Number, grouped, summed

# Kinds of links that shuffles may make, in the order of ties.
_CROSSED = ("server-leaf", "leaf-spine", "spine-core")


@dataclass(frozen=True, eq=False)
class ClosBatch(Batch[Parts, Shape]):
    """Clos candidates."""

    @property
    def family(self) -> str:
        """Clos or rail-only, by how the ports of NICs are dealt over networks."""
        return self.parts.nic.topology

    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate, once for each plan of growth."""
        clos = clos_of(self.fabric, self.parts, self.shape.row(index))
        placed = placed_in(problem, self.fabric, clos)
        return () if placed is None else candidates_of(problem, self.fabric, placed, prune)

    def but_for_uplinks(self, index: int) -> tuple[Hashable, int] | None:
        """Key of a candidate without the uplinks of a leaf, and their number.

        Of two candidates with equal keys the one with fewer uplinks has a subset of the other's links. None where that
        does not hold, as uplinks are not alike to all spines, or where it may miss the demand though the other meets
        it: after the loss of a rack, and between halls, it has less left.
        """
        row = self.shape.row(index)
        is_even = row.spines > 0 and row.u % row.spines == 0
        by_place = self.fabric.ratios.hall is not None
        if not is_even or by_place or any(survival.failed == RACK for survival in self.fabric.resilience):
            return None
        return (self.fabric, self.parts, replace(row, u=0)), row.u

    def switch_counts(self) -> dict[Item, Number]:
        """Leaves, spines and cores."""
        parts, shape, planes = self.parts, self.shape, self.parts.nic.planes
        counts = {parts.leaf.item: planes * shape.leaves}
        if parts.last_leaf is not None:
            last, of_last = parts.last_leaf.switch.item, planes * shape.last_rails + 0 * shape.g
            counts[parts.leaf.item] -= of_last
            counts[last] = counts.get(last, 0) + of_last
        if parts.spine is not None:
            pods = shape.pods if parts.core is not None else 1
            counts[parts.spine.item] = counts.get(parts.spine.item, 0) + planes * pods * shape.spines
        if parts.core is not None:
            counts[parts.core.item] = counts.get(parts.core.item, 0) + planes * shape.cores
        return counts

    def leaves_by(self, servers: int) -> dict[Item, Number]:
        """Fewest leaves at a stage: a group's leaves come with its first server; one at least of a differing last
        group.
        """
        shape = replace(self.shape, servers=servers)
        return {self.parts.leaf.item: self.parts.nic.planes * (1 if shape.has_own_last else shape.leaves)}


def candidates_of(problem: Problem, fabric: FabricProblem, clos: ClosNetwork, prune: bool) -> tuple[Candidate, ...]:
    """A Clos with exact quantities, once for each plan of growth; empty if its links cannot be made, an early stage
    cannot be built, too little bandwidth is left after the loss of a rack, too little leaves a hall, or hosts find no
    room in racks of switches.
    """
    plans: tuple[Plan, ...] = ((),)
    # hosts and attachments, which come later, leave no more room
    words = problem.case.trunked_of(fabric.name)
    if words and _lacks_panels(problem, clos, words, units_for_panels(problem, fabric, clos)):
        return ()
    if problem.first_servers:
        listing = with_listed(problem, fabric, clos)
        plans = () if listing is None else plans_of(problem, fabric, listing)
    placed = (with_free_ports(problem, fabric, clos._replace(stages=plan)) for plan in plans)
    outliving = (
        with_hosts(problem, fabric, placed_clos)
        for placed_clos in placed
        if placed_clos is not None and survives_racks(fabric, placed_clos) and joins_halls(fabric, placed_clos)
    )
    servers = _ServerLinks(problem, prune)
    grown = (
        _candidate(standing, crossed, ways)
        for hosting in outliving
        if hosting is not None
        for own in (with_attached_runs(problem, fabric, with_appliances(problem, fabric, hosting)),)
        for standing in (_Standing(problem, *own, servers),)
        for crossed in _crossings(problem, *own)
        for ways in _trunked(standing.through, crossed)
        if not ways or have_room(problem, standing.units, (way.trunked for way in ways.values()))
    )
    return tuple(candidate for candidate in grown if candidate is not None)


def _lacks_panels(problem: Problem, clos: ClosNetwork, words: Mapping[str, str], left: Ints | None) -> bool:
    """Whether some rack has too few units, shape (racks,), for panels of links that have to run through trunks; how
    links are cabled by kind.
    """
    kinds = (kind for kind in all_kinds_of(clos) if words.get(kind.name) == "structured")
    return lack_room(problem, left, (links_between(problem, clos, kind) for kind in kinds))


def _crossings(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> Iterator[tuple[str, ...]]:
    """Every set of the kinds of links that shuffles may make in place of straight cables in whole cages; not of those
    that have to run through trunks.
    """
    words = problem.case.trunked_of(fabric.name)
    kinds = [kind for kind in all_kinds_of(clos) if kind.mixes] if problem.links.has_shuffles else []
    either = [
        kind.name for kind in kinds
        if words.get(kind.name) != "structured" and problem.links.crosses(*kind.ports, clos.parts.protocol)
    ]  # fmt: skip
    return chain.from_iterable(combinations(either, count) for count in range(len(either) + 1))


def _trunked(
    through: Mapping[str, Sequence[TrunkedWay | None]], crossed: tuple[str, ...]
) -> Iterator[Mapping[str, TrunkedWay]]:
    """Every set of kinds of links through trunks that the case allows, with the way of each."""
    for ways in product(*(of_kind for kind, of_kind in through.items() if kind not in crossed)):
        yield {way.trunked.kind: way for way in ways if way is not None}


def _ways_of_kind(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, kind: LinkType, word: str, between: LinksBetween
) -> Iterator[TrunkedWay | None]:
    """The ways of a kind of links through trunks, and None for leads, if these are allowed or there are no links.

    Rule ``trunks_hold_legs``: with ``structured`` some links of the kind run between racks.
    """
    if word == "any" or not between.number:
        yield None
    if between.links.size and not _shares_cages(fabric, clos, kind):
        yield from ways_of(problem, clos, kind, between, fabric.latency is not None)


def _shares_cages(fabric: FabricProblem, clos: ClosNetwork, kind: LinkType) -> bool:
    """Whether attachments share cages of leaves with the links of servers."""
    on_leaves = any(attachment.ports for attachment in attached_to_leaves(fabric, clos))
    return kind.name == "server-leaf" and on_leaves and clos.parts.leaf_down.lane.ports > 1


def _candidate(standing: _Standing, crossed: tuple[str, ...], ways: Mapping[str, TrunkedWay]) -> Candidate | None:
    problem, fabric, clos = standing.problem, standing.fabric, standing.clos
    choices = all_choices(_links(standing, crossed, ways))
    if choices is not None and fabric.live.in_service is not None:
        choices = with_parts_in_service(fabric.live.in_service, choices)
    if choices is None:
        return None
    return Candidate(
        fabric=fabric.name,
        topology=clos.parts.nic.topology,
        design=ClosDesign(clos),
        devices=_with_trunks(_with_logical_fabrics(problem, fabric, devices_of(problem, clos)), ways),
        choices=choices,
        order=(*tie_order(fabric, clos), *_rank(crossed, ways)),
        nic_slots=(0 if clos.parts.nic.item is None else clos.parts.nic.nics_per_server) + slots_of(fabric.attachments),
        clashes=clashes_of(clos.parts, clos.shape, choices),
        counted=fabric.counted,
        logical_fabrics=tuple(demand for demand in fabric.attachments if demand.network is not None),
        trunked=tuple(way.trunked for way in ways.values()),
        evenness=evenness_of(problem, clos.shape, clos.parts.last_leaf is not None, _lacking(problem, fabric, clos)),
    )


def _rank(crossed: tuple[str, ...], ways: Mapping[str, TrunkedWay]) -> tuple[int, ...]:
    """Rank by what makes each kind of links: straight leads first, then shuffles, then trunks."""
    by_trunk = (number for kind, way in ways.items() for number in (len(_CROSSED) + _CROSSED.index(kind), *way.order))
    return (*(_CROSSED.index(kind) for kind in crossed), *by_trunk)


def _with_trunks(devices: Uses, ways: Mapping[str, TrunkedWay]) -> Uses:
    """Devices with the jumpers at far ends, trunks and panels of some kinds of links."""
    return summed(pair for uses in (devices, *(way.trunked.uses for way in ways.values())) for pair in uses.items())


def _lacking(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> int:
    """Bandwidth per GPU after the worst loss of one switch, in Mb/s and negated, where planes are weighed; else 0."""
    if not weighs_planes(problem, fabric):
        return 0
    return -floor(left_by_a_switch(ClosFailures(clos, problem.server.gpus)))


def _with_logical_fabrics(problem: Problem, fabric: FabricProblem, devices: Uses) -> Uses:
    """Devices with the NICs of logical fabrics, which the first stage installs."""
    nics = (((0, item), count) for item, count in nics_of(problem, fabric.attachments).items())
    return summed((*devices.items(), *nics))


def tie_order(fabric: FabricProblem, clos: ClosNetwork) -> tuple[Any, ...]:
    """Rank among candidates that are equal in all sums, the smallest first (docs/formulation/search.md).

    Rule ``cage_groups_come_first``.
    """
    parts, shape = clos.parts, clos.shape
    uses = (parts.leaf_down, parts.leaf_up, parts.spine_down, parts.spine_up, parts.core_down)
    switches = (parts.leaf, parts.spine, parts.core)
    return (
        int(shape.pods) if clos.tiers == 3 else 1,
        int(shape.links_per_pair) if clos.tiers > 1 else 0,
        not (shape.k == 1 or shape.groups == 1),
        -int(shape.g),
        int(shape.k), int(shape.u), int(shape.x), int(shape.q), int(shape.m2),
        parts.nic.nic_id,
        *(switch.id if switch is not None else "" for switch in switches),
        parts.nic.split,
        *(use.split if use is not None else "" for use in uses),
        parts.nic.group,
        *(use.group if use is not None else -1 for use in uses),
        parts.nic.nics_per_server, parts.nic.ports_per_nic, parts.nic.planes, parts.nic.own_rails,
        bool(shape.rail_pods),
        int(shape.groups_per_pod),
        int(shape.own_k), int(shape.own_u), *_last_leaf_order(parts),
        *clos.placement.rank,
        *(number for stage in clos.stages for number in stage),
        *fabric.counted,
        *order_of(fabric.attachments),
        *(TIERS.index(demand.tier) for demand in fabric.attachments),
        *(demand.listed for demand in fabric.attachments),
    )  # fmt: skip


def _last_leaf_order(parts: Parts) -> tuple[str, int, int]:
    """Rank by the leaf type of a last group that has its own: none is first."""
    last = parts.last_leaf
    if last is None or last.up is None:
        return "", 0, 0
    return last.switch.id, last.down.group, last.up.group


class _ServerLinks:
    """Choices for the links of servers, which all plans of growth to a Clos share."""

    def __init__(self, problem: Problem, prune: bool) -> None:
        self.problem = problem
        self.prune = prune
        self._known: dict[KindKey, Sequence[Choice] | None] = {}

    def choices(self, clos: ClosNetwork, kind: LinkType) -> Sequence[Choice] | None:
        """The choices; None if the links cannot be made."""
        if kind.key not in self._known:
            self._known[kind.key] = kind_choices(self.problem, clos, kind, self.prune)
        return self._known[kind.key]


@dataclass(frozen=True, eq=False)
class _Standing:
    """A Clos with all that stands in its racks, and what its candidates share."""

    problem: Problem
    fabric: FabricProblem
    clos: ClosNetwork
    servers: _ServerLinks

    @cached_property
    def through(self) -> Mapping[str, Sequence[TrunkedWay | None]]:
        """The ways of every kind of links that may run through trunks."""
        words = self.problem.case.trunked_of(self.fabric.name)
        if words and _lacks_panels(self.problem, self.clos, words, self.units):
            return dict.fromkeys(words, ())
        kinds = [kind for kind in all_kinds_of(self.clos) if kind.name in words] if words else []
        between = [links_between(self.problem, self.clos, kind) for kind in kinds]
        return {kind.name: tuple(_ways_of_kind(self.problem, self.fabric, self.clos, kind, words[kind.name], links))
                for kind, links in zip(kinds, between, strict=True)}  # fmt: skip

    @cached_property
    def units(self) -> Ints | None:
        """Units of every rack for panels; None where they are not counted."""
        return units_for_panels(self.problem, self.fabric, self.clos)

    @cached_property
    def joint(self) -> Sequence[Choice] | None:
        """Choices for links of servers that share cages of leaves with attachments."""
        return with_attachments(self.problem, self.fabric, self.clos, all_kinds_of(self.clos)[0])


def _links(
    standing: _Standing, crossed: tuple[str, ...], ways: Mapping[str, TrunkedWay]
) -> Iterator[Sequence[Choice] | None]:
    problem, fabric, clos = standing.problem, standing.fabric, standing.clos
    servers, *above = all_kinds_of(clos)
    prune = standing.servers.prune
    on_leaves = [attachment for attachment in attached_to_leaves(fabric, clos) if attachment.ports]
    if on_leaves and clos.parts.leaf_down.lane.ports > 1:
        yield standing.joint
    else:
        yield ways[servers.name].choices if servers.name in ways else standing.servers.choices(clos, servers)
        for attachment in on_leaves:
            yield attachment_leaf(problem, fabric, clos, attachment, prune)
    for index in range(len(clos.free)):
        yield attachment_spine(problem, fabric, clos, index, prune)
    for kind in above:
        own = kind._replace(mixes=False, crossed=True, key=(*kind.key, "crossed")) if kind.name in crossed else kind
        yield ways[kind.name].choices if kind.name in ways else kind_choices(problem, clos, own, prune)


# -- tiers that attachments are on -----------------------------------------------------------------------------------
# Tiers of attachments with ``tier: any``: the fabric's space is the union over all tiers that they may be on.
#
# Such an attachment is on free ports of any switches, or on spines as with ``tier: spine``, or dealt over the
# leaves as with ``tier: leaf``, which are then sized for it. So ``any`` has every network that the other values
# have.


# In this order designs that are equal in all else come first.
TIERS: Final[tuple[AttachmentTier, ...]] = ("any", "spine", "leaf")
# What attachments of a kind have in common: of these it is decided together where how many ports are.
_KIND = tuple(field.name for field in fields(AttachmentDemand) if field.name not in ("name", "ports", "adds"))
_PLACED: Lookup[FabricProblem, tuple[()], tuple[FabricProblem, ...]] = Lookup()


def on_each_tier(problem: Problem, fabric: FabricProblem) -> tuple[FabricProblem, ...]:
    """A fabric, then its variants with each attachment of ``tier: any`` on spines or leaves.

    In a cluster that grows such attachments are on free ports only: these are outside the ratio, dealt ones are in it.
    Beside what is in service there are variants by the load of new switches instead. Where that may move, the last
    variant has all its ports on the switches on which they are.
    """
    if fabric.live.in_service is not None:
        return by_load(problem, fabric)
    stays = fabric.live.moving is not None and bool(fabric.live.moving.attached)
    if len(problem.stages) > 1 or not (stays or any(demand.tier == "any" for demand in fabric.attachments)):
        return (fabric,)
    return (fabric, *_PLACED.of(fabric, (), lambda: (*_placed(fabric), *all_staying(fabric))))


def _placed(fabric: FabricProblem) -> Iterator[FabricProblem]:
    """Variants of the fabric by tiers of its attachments; of variants with equal ports of a kind on each tier, whose
    networks are equal, the first.
    """
    kinds = grouped((tuple(getattr(demand, name) for name in _KIND), demand) for demand in fabric.attachments)
    tiers = TIERS if max(fabric.shapes.tiers) > 1 else tuple(tier for tier in TIERS if tier != "spine")
    for choices in list(product(*(_choices(demands, tiers) for demands in kinds.values())))[1:]:
        placed = {demand: tier for of_kind in choices for demand, tier in of_kind.items()}
        yield replace(fabric, attachments=tuple(replace(demand, tier=placed[demand]) for demand in fabric.attachments))


def _choices(
    demands: Sequence[AttachmentDemand], tiers: Sequence[AttachmentTier]
) -> list[dict[AttachmentDemand, AttachmentTier]]:
    """A tier for each attachment of a kind, one choice for every split of their ports over the tiers."""
    ports = [demand.ports for demand in demands]
    ways = product(tiers if demands[0].tier == "any" else (demands[0].tier,), repeat=len(demands))
    by_ports: dict[tuple[int, ...], dict[AttachmentDemand, AttachmentTier]] = {}
    for way in ways:
        on_each = tuple(sum(many for many, on in zip(ports, way, strict=True) if on == tier) for tier in TIERS)
        by_ports.setdefault(on_each, dict(zip(demands, way, strict=True)))
    return list(by_ports.values())
