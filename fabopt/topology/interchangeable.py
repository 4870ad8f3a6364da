"""Rule ``switches_are_interchangeable``: a tier whose switches are of several products with the same ports.

And ``nics_are_of_one_product``: NICs of one product that several vendors sell. The number of each is left to the
program, stage by stage: nothing else of a candidate depends on it. Its decision is dealt over the tiers afterwards,
leaves first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Protocol, runtime_checkable

from fabopt.parts.items import Item
from fabopt.parts.switches import SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.interchangeable import InterchangeableSwitches
from fabopt.problem.live import InService
from fabopt.problem.logical_fabrics import nics_of
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate, Choice, DeviceUse, NicPurchase, OpenTier, Option
from fabopt.topology.design import NetworkDesign, Role, StandIn
from fabopt.units import summed


@runtime_checkable
class Retypable(NetworkDesign, Protocol):
    """A design whose tiers can be changed to other switches with the same ports: a Clos."""

    def with_switches(
        self, switches: Mapping[str, SwitchType], stand_ins: Mapping[str, tuple[StandIn, ...]]
    ) -> NetworkDesign:
        """The network with other switch types in some tiers, and ``stand_ins`` among them."""


# Of a tier: how many of each product every stage installs.
Dealt = Sequence[Mapping[Item, int]]


def with_stand_ins(problem: Problem, fabric: FabricProblem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates whose NICs, and whose tiers in a Clos, may be of several products, left to the program; beside what is
    in service once for each set of products that new switches may be of.

    Other candidates are unchanged.
    """
    return tuple(
        opened for candidate in candidates for opened in _opened(fabric, _with_open_nics(problem, fabric, candidate))
    )


def _with_open_nics(problem: Problem, fabric: FabricProblem, candidate: Candidate) -> Candidate:
    """The candidate with its NICs as choices between offers of several vendors; those of logical fabrics, and in
    service, stay.
    """
    nic = candidate.design.nic
    if nic.item is None or not nic.offers:
        return candidate
    devices, choices = dict(candidate.devices), list(candidate.choices)
    kind = tuple(offer.id for offer in nic.offers)
    live = Counter[str]() if fabric.live.in_service is None else fabric.live.in_service.nics
    there = tuple(NicPurchase(0, offer, live[offer.id]) for offer in nic.offers if offer.id in live)
    for stage in range(len(problem.stages)):
        kept = nics_of(problem, candidate.equipment).get(nic.item, 0) if stage == 0 else 0
        count = devices.pop((stage, nic.item), 0) - kept
        if kept:
            devices[stage, nic.item] = kept
        if stage == 0 and there:
            devices |= {(0, own.item): own.units for own in there}
        elif count:
            options = tuple(Option((), DeviceUse(stage, offer, kind)) for offer in nic.offers)
            choices.append(Choice(("nics", stage, kind), count, options))
    return replace(candidate, devices=devices, choices=tuple(choices), nic_purchases=there)


def _opened(fabric: FabricProblem, candidate: Candidate) -> Iterator[Candidate]:
    rule, moving = fabric.interchangeable, fabric.live.moving
    open_tiers = [] if rule is None else list(_open_tiers(rule, candidate, moving))
    opened = {tier.role for ways in open_tiers for tier in ways}
    if moving is not None and moving.not_named and _has_more_not_named(moving, candidate, opened):
        return
    if not open_tiers and fabric.live.in_service is None:
        yield candidate
        return
    for tiers in product(*open_tiers):
        devices, choices = dict(candidate.devices), list(candidate.choices)
        for tier in tiers:
            for switch, units in tier.standing:
                devices[0, tier.switch.item] -= units
                devices[0, switch.item] = devices.get((0, switch.item), 0) + units
            for stage, count in enumerate(tier.added):
                if count:
                    devices[stage, tier.switch.item] -= count
                    kind = tier.kind(stage)
                    options = tuple(Option((), DeviceUse(stage, one.item, kind)) for one in tier.products[stage])
                    choices.append(Choice(("switches", stage, kind), count, options))
        devices = {key: count for key, count in devices.items() if count}
        order = candidate.order
        if fabric.live.in_service is not None:
            # sizes have orders of several lengths
            order = (order, tuple(tier.kind(-1) for tier in tiers))
        yield replace(candidate, devices=devices, choices=tuple(choices), open_tiers=tiers, order=order)


def _has_more_not_named(moving: InService, candidate: Candidate, opened: Collection[str]) -> bool:
    """Whether a tier has new switches of a product in service that the case does not name. ``opened``: tiers of which
    new ones are of several others.
    """
    return any(
        (tier.role, switch.id) in moving.not_named and count > moving.staying(tier.role, candidate.moves)
        for tier in candidate.design.file_part().tiers
        if tier.role not in opened
        for switch, count in tier.counts
    )


def _open_tiers(
    rule: InterchangeableSwitches, candidate: Candidate, moving: InService | None
) -> Iterator[list[OpenTier]]:
    """Each tier of which switches may be of several products, in every way; ``moving``: what is in service and may."""
    if not isinstance(candidate.design, Retypable):
        return
    exchanged = {twin.role for twin in candidate.twins}
    for tier in candidate.design.file_part().tiers:
        products, beside = rule.of(tier.role, tier.switch), rule.beside.get(tier.role)
        if tier.other is not None or tier.role in exchanged or (len(products) == 1 and beside is None):
            continue
        added = tuple(int(count) for count in candidate.design.switches_added(tier.role))
        if moving is not None:
            standing = tuple(_standing(products, moving, tier.role, candidate))
            new = (added[0] - sum(count for _, count in standing), *added[1:])
            named = tuple(one for one in products if (tier.role, one.id) not in moving.not_named)
            if named or not any(new):
                yield [OpenTier(tier.role, tier.switch, (named or products,) * len(new), new, standing)]
        elif beside is None:
            yield [OpenTier(tier.role, tier.switch, (products,) * len(added), added)]
        else:
            new = (0, *added[1:])
            ways = [way for way in beside.ways if way] if any(new) else [(tier.switch,)]
            yield [OpenTier(tier.role, tier.switch, (way,) * len(new), new, beside.standing) for way in ways]


def _standing(
    products: Sequence[SwitchType], there: InService, role: Role, candidate: Candidate
) -> Iterator[tuple[SwitchType, int]]:
    """Switches in service that stay in a tier, by product: all, or those of one product that do not go."""
    stay = there.staying(role, candidate.moves)
    for tier in (tier for tier in there.fabric.tiers if tier.role == role and stay):
        for own in tier.types:
            switch = next(one for one in products if one.id == own.id)
            yield switch, own.count if len(tier.types) > 1 else stay


def settled(candidate: Candidate, units: Sequence[tuple[Option, int]]) -> tuple[Candidate, list[tuple[Option, int]]]:
    """A candidate with the products that the program decided for its tiers and NICs, and the options of its links.

    A tier is named for the product that most of its switches are.
    """
    decided = [(option.device, count) for option, count in units if option.device is not None and count]
    if not decided and not candidate.open_tiers:
        return candidate, list(units)
    devices = dict(candidate.devices)
    nics = tuple(NicPurchase(use.stage, use.item, count) for use, count in decided if use.item.kind == "nic")
    for stage, item, count in nics:
        devices[stage, item] = devices.get((stage, item), 0) + count
    of_links = tuple(choice for choice in candidate.choices if choice.options[0].device is None)
    design = candidate.design
    if candidate.open_tiers:
        switches: dict[str, SwitchType] = {}
        stand_ins: dict[str, tuple[StandIn, ...]] = {}
        for tier, dealt in _dealt(candidate.open_tiers, units):
            switches[tier.role] = most = _most_of(tier, dealt)
            installed = tuple(_installed(tier, dealt))
            for stage, switch, count in installed:
                devices[stage, switch.item] = devices.get((stage, switch.item), 0) + count
            there = (StandIn(0, switch, count) for switch, count in tier.standing)
            stand_ins[tier.role] = tuple(one for one in (*there, *installed) if one.switch is not most)
        assert isinstance(design, Retypable)
        design = design.with_switches(switches, stand_ins)
    bought = replace(
        candidate, design=design, devices=devices, choices=of_links, open_tiers=(),
        nic_purchases=(*candidate.nic_purchases, *nics),
    )  # fmt: skip
    return bought, [(option, count) for option, count in units if option.device is None]


def _most_of(tier: OpenTier, dealt: Dealt) -> SwitchType:
    """The product that most switches of a tier are; of equals the first id."""
    types = {switch for products in tier.products for switch in products}
    units = summed((switch, counts.get(switch.item, 0)) for switch in types for counts in dealt)
    units.update(dict(tier.standing))
    return min(units, key=lambda switch: (-units[switch], switch.id))


def _installed(tier: OpenTier, dealt: Dealt) -> Iterator[StandIn]:
    """Switches that each stage installs, by product."""
    for stage, counts in enumerate(dealt):
        products = tier.products[stage]
        yield from (StandIn(stage, switch, counts[switch.item]) for switch in products if switch.item in counts)


def _dealt(tiers: Sequence[OpenTier], units: Sequence[tuple[Option, int]]) -> Iterator[tuple[OpenTier, Dealt]]:
    """The decided switches dealt over the tiers of a kind, by stage: at every stage the most common product first."""
    left = {option.device: count for option, count in units if option.device is not None}
    total = summed(((use.kind, use.item), count) for use, count in left.items())
    for tier in tiers:
        dealt: list[dict[Item, int]] = []
        for stage, wanted in enumerate(tier.added):
            kind = tier.kind(stage)
            items = (switch.item for switch in tier.products[stage])
            counts: dict[Item, int] = {}
            for item in sorted(items, key=lambda item: (-total.get((kind, item), 0), item.id)):
                use = DeviceUse(stage, item, kind)
                taken = min(wanted, left.get(use, 0))
                if taken:
                    counts[item], left[use], wanted = taken, left[use] - taken, wanted - taken
            dealt.append(counts)
        yield tier, dealt
