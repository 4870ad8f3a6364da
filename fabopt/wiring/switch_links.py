"""Links between switches: from tier to tier, and between those of one type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from fabopt.network.clos_links import TierLinks
from fabopt.schema.base import parse_split
from fabopt.schema.design import LinkRow, PortUse, TierUse
from fabopt.schema.resilience import PEER_LINK
from fabopt.units import ceil_div
from fabopt.wiring.assembly import crosses, padding
from fabopt.wiring.attachment_links import cages_on_spines
from fabopt.wiring.fabric_plan import FabricPlan, Lanes, up_use
from fabopt.wiring.join import CabledLinks, Cages, at_slots, down_cages, first_cage, up_cages
from fabopt.wiring.model import KINDS, NOTHING, Ints, Lent, Mask
from fabopt.wiring.tables import CabledKinds


def between_tiers(plan: FabricPlan) -> Iterable[CabledKinds]:
    """Uplinks of leaves and of spines."""
    for lower, upper in pairwise(plan.numbers.fabric.tiers):
        yield _upwards(plan, lower, upper)


def _upwards(plan: FabricPlan, lower: TierUse, upper: TierUse) -> CabledKinds:
    kind, lanes = (
        f"{lower.role}-{upper.role}",
        (parse_split(up_use(lower).split).ports, parse_split(upper.down.split).ports),
    )
    rows = plan.rows(lower.role, upper.role)
    assemblies = plan.assemblies(rows, lanes)
    links = plan.numbers.expanded.links(kind, padding(assemblies), crosses(assemblies))
    ends = _up_cages(plan, lower, links.a, links.a_slot), plan.down_cages(upper.role, links.b, links.b_slot)
    lends = lower.role == "leaf" and plan.numbers.expanded.lends
    lent = _lent(plan, links, upper) if lends else None
    return _joined(plan, kind, (lower.role, upper.role), links, ends, rows, lanes, lent)


def _joined(
    plan: FabricPlan,
    kind: str,
    roles: tuple[str, str],
    links: TierLinks,
    ends: tuple[Cages, Cages],
    rows: Sequence[LinkRow],
    lanes: Lanes,
    lent: Lent | None = None,
) -> CabledKinds:
    """Links between switches of one speed; ``ends``: their near and far cages, with ``lanes`` ports."""
    a, b = links.a + plan.first[roles[0]], links.b + plan.first[roles[1]]
    none = np.full(len(a), NOTHING)
    cabled = CabledLinks(
        kind=KINDS.index(kind),
        a=a,
        a_nic=none,
        a_nic_port=none,
        near=ends[0],
        b=b,
        far=ends[1],
        gbps=float(rows[0].gbps),
        run_m=plan.runs.of(kind, a, b),
        assemblies=plan.assemblies(rows, lanes),
        row=none.copy(),
        stage=plan.numbers.expanded.stages_of_links(kind, links),
    )
    return plan.cabled([plan.dealt(cabled, rows, lanes)], lent)


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
    links = plan.numbers.expanded.links("leaf-leaf", lanes)
    near, far = (_peer_cages(plan, use, number, links.a_slot) for number in (links.a, links.b))
    rows = plan.rows("leaf", "leaf", scope=PEER_LINK)
    yield _joined(plan, "leaf-leaf", ("leaf", "leaf"), links, (near, far), rows, (lanes, lanes))


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
    return clos.is_of_last(number)


def _lent(plan: FabricPlan, links: TierLinks, spine: TierUse) -> Lent:
    """Ports that uplinks are lent to before their spine is installed: before the cages of attachments."""
    switch, lanes = plan.switch("spine"), parse_split(spine.down.split).ports
    cages = switch.cages[spine.down.cage_group].count
    if spine.up is not None and spine.up.cage_group == spine.down.cage_group:
        cages -= ceil_div(spine.up_ports, parse_split(spine.up.split).ports)
    lent = plan.numbers.expanded.lent(links, (cages - cages_on_spines(plan)) * lanes)
    far = down_cages(switch, spine.down, lent.slot)
    return Lent(lent.link, lent.first, lent.last, lent.spine + plan.first["spine"], far.cage, far.lane)


def between_equals(plan: FabricPlan) -> Iterable[CabledKinds]:
    """Links between switches of the last tier, scope by scope: each has its own cages, the last of their group."""
    tier = plan.numbers.fabric.tiers[-1]
    up, switch = up_use(tier), plan.switch(tier.role)
    lanes = parse_split(up.split).ports
    first = first_cage(switch, up) + switch.cages[up.cage_group].count - sum(plan.cages_between.values())
    for scope, own in plan.cages_between.items():
        links = plan.numbers.expanded.links(scope)
        ends = at_slots(links.a_slot, lanes, first), at_slots(links.b_slot, lanes, first)
        rows = plan.rows(tier.role, tier.role, scope=scope)
        yield _joined(plan, scope, (tier.role, tier.role), links, ends, rows, (lanes, lanes))
        first += own
