"""Links between switches: from tier to tier, and between those of one type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from fabopt.network.clos_links import TierLinks, leaf_leaf, leaf_spine, spine_core
from fabopt.network.direct_links import LinkEnds, LinkSlots, slots_of
from fabopt.schema.base import parse_split
from fabopt.schema.design import LinkRow, PortUse, TierUse
from fabopt.schema.homing import PEER_LINK
from fabopt.units import ceil_div
from fabopt.wiring.assembly import crosses, padding
from fabopt.wiring.attachment_links import cages_on_spines
from fabopt.wiring.cages import Cages, at_slots, down_cages, first_cage, up_cages
from fabopt.wiring.fabric_plan import FabricPlan, up_use
from fabopt.wiring.join import CabledLinks
from fabopt.wiring.model import KINDS, NOTHING, Ints, Lent, Mask
from fabopt.wiring.tables import CabledKinds

_LINKS_ABOVE = {"leaf": leaf_spine, "spine": spine_core}


def between_tiers(plan: FabricPlan) -> Iterable[CabledKinds]:
    """Uplinks of leaves and of spines."""
    for lower, upper in pairwise(plan.numbers.fabric.tiers):
        yield _upwards(plan, lower, upper)


def _upwards(plan: FabricPlan, lower: TierUse, upper: TierUse) -> CabledKinds:
    kind, up = f"{lower.role}-{upper.role}", up_use(lower)
    lanes = parse_split(up.split).ports, parse_split(upper.down.split).ports
    rows = plan.rows(lower.role, upper.role)
    assemblies = plan.assemblies(rows, lanes)
    links = _LINKS_ABOVE[lower.role](plan.numbers.installed.tree, padding(assemblies), crosses(assemblies))
    none = np.full(len(links.a), NOTHING)
    a, b = links.a + plan.first[lower.role], links.b + plan.first[upper.role]
    cabled = CabledLinks(
        kind=KINDS.index(kind),
        a=a,
        a_nic=none,
        a_nic_port=none,
        near=_up_cages(plan, lower, links.a, links.a_slot),
        b=b,
        far=plan.down_cages(upper.role, links.b, links.b_slot),
        gbps=float(upper.gbps_down),
        run_m=plan.runs.of(kind, a, b),
        assemblies=assemblies,
        row=none.copy(),
        stage=plan.numbers.installed.stages_of_links(kind, links),
    )
    lends = lower.role == "leaf" and plan.numbers.installed.lends
    return plan.cabled([plan.dealt(cabled, rows, lanes)], _lent(plan, links, upper) if lends else None)


def _up_cages(plan: FabricPlan, tier: TierUse, number: Ints, slots: Ints) -> Cages:
    """Cages of uplinks on switches of a tier, by their numbers."""
    is_of_last = _of_last_group(plan, tier, number)
    past = plan.cages_past(tier, up_use(tier))
    own, *other = (up_cages(switch, up_use(used), slots, is_of_last, past) for switch, used in plan.types(tier.role))
    return own if not other else own.where(plan.is_other(tier.role, number), other[0])


def between_peers(plan: FabricPlan) -> Iterable[CabledKinds]:
    """Peer links between the two leaves of each pair, each end in a cage of its own: the last ones of their group."""
    use = plan.peer_use
    if use is None:
        return
    lanes = parse_split(use.split).ports
    rows = plan.rows("leaf", "leaf", scope=PEER_LINK)
    links = leaf_leaf(plan.numbers.installed.tree, lanes)
    a, b = links.a + plan.first["leaf"], links.b + plan.first["leaf"]
    near, far = (_peer_cages(plan, use, number, links.a_slot) for number in (links.a, links.b))
    stages = plan.numbers.installed.stages_of_links("leaf-leaf", links)
    yield _joined(plan, "leaf-leaf", (a, near), (b, far), rows, lanes, stages)


def _joined(
    plan: FabricPlan,
    kind: str,
    near: tuple[Ints, Cages],
    far: tuple[Ints, Cages],
    rows: Sequence[LinkRow],
    lanes: int,
    stages: Ints,
) -> CabledKinds:
    """Links between switches of one tier, of one speed; ``near``, ``far``: their switches and cages."""
    (a, near_cages), (b, far_cages) = near, far
    none, split = np.full(len(a), NOTHING), (lanes, lanes)
    cabled = CabledLinks(
        kind=KINDS.index(kind),
        a=a,
        a_nic=none,
        a_nic_port=none,
        near=near_cages,
        b=b,
        far=far_cages,
        gbps=float(rows[0].gbps),
        run_m=plan.runs.of(kind, a, b),
        assemblies=plan.assemblies(rows, split),
        row=none.copy(),
        stage=stages,
    )
    return plan.cabled([plan.dealt(cabled, rows, split)])


def _peer_cages(plan: FabricPlan, use: PortUse, number: Ints, slots: Ints) -> Cages:
    """Cages of peer links at leaves, by their numbers."""
    is_of_last, tier = np.zeros(len(number), dtype=bool), plan.tier("leaf")
    of_other = tier.other.up if tier.other is not None and tier.other.up is not None else use
    uses = (use, of_other)
    own, *other = (
        up_cages(switch, used, slots, is_of_last) for (switch, _), used in zip(plan.types("leaf"), uses, strict=False)
    )
    return own if not other else own.where(plan.is_other("leaf", number), other[0])


def _of_last_group(plan: FabricPlan, tier: TierUse, number: Ints) -> Mask:
    """Mask of the switches of a tier, by their numbers, that are leaves of a differing last group."""
    clos = plan.numbers.clos
    if tier.role != "leaf" or not clos.has_own_last:
        return np.zeros(len(number), dtype=bool)
    return np.asarray(clos.group_of_leaf(number) == clos.groups - 1)


def _lent(plan: FabricPlan, links: TierLinks, spine: TierUse) -> Lent:
    """Ports that uplinks are lent to before their spine is installed: before the cages of attachments."""
    switch, lanes = plan.switch("spine"), parse_split(spine.down.split).ports
    cages = switch.cages[spine.down.cage_group].count
    if spine.up is not None and spine.up.cage_group == spine.down.cage_group:
        cages -= ceil_div(spine.up_ports, parse_split(spine.up.split).ports)
    lent = plan.numbers.installed.lent(links, (cages - cages_on_spines(plan)) * lanes)
    far = down_cages(switch, spine.down, lent.slot)
    return Lent(lent.link, lent.first, lent.last, lent.spine + plan.first["spine"], far.cage, far.lane)


def between_equals(plan: FabricPlan) -> Iterable[CabledKinds]:
    """Links between switches of the last tier, scope by scope: each has its own cages, the last of their group."""
    tier = plan.numbers.fabric.tiers[-1]
    up, switch = up_use(tier), plan.switch(tier.role)
    first = first_cage(switch, up) + switch.cages[up.cage_group].count - sum(plan.cages_between.values())
    for scope, own in plan.cages_between.items():
        ends = plan.numbers.mesh.equals.pairs(scope)
        yield _scope(plan, scope, ends, slots_of(ends), first)
        first += own


def _scope(plan: FabricPlan, scope: str, ends: LinkEnds, slots: LinkSlots, first: int) -> CabledKinds:
    tier, planes = plan.numbers.fabric.tiers[-1], plan.numbers.clos.planes
    lanes = parse_split(up_use(tier).split).ports
    rows = plan.rows(tier.role, tier.role, scope=scope)
    start = plan.first[tier.role] + np.repeat(np.arange(planes) * (tier.count // planes), len(ends.a))
    a, b = start + np.tile(ends.a, planes), start + np.tile(ends.b, planes)
    near, far = (at_slots(np.tile(slot, planes), lanes, first) for slot in slots)
    return _joined(plan, scope, (a, near), (b, far), rows, lanes, np.zeros(len(a), dtype=np.int64))
