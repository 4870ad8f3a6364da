"""Rule of packet memory: the pool of every switch holds the headroom of its lossless ports, computed again from the
file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabopt.parts.pools import LosslessPorts, pool_verdict, ports_text, shortfall_text
from fabopt.parts.switches import lanes_of
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import PortUse, TierUse
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, since, where

ETHERNET = "ethernet"


def weighs_pools(fabric: FabricEvidence) -> bool:
    """Whether the case asks for pools, and the fabric is of Ethernet."""
    return fabric.wanted.roce is not None and fabric.designed.protocol == ETHERNET


@since("0.2.0", "case.content.fabrics.roce")
@where(weighs_pools)
def pools_hold_headroom(proof: Proof, fabric: FabricEvidence) -> None:
    """Where the case has ``roce``: no switch has less packet memory than its ports need on their lossless priorities.

    Of every tier, each type of switch, and leaves of a last group unlike the others: ports down (all of servers and
    attachments on the busiest leaf; above, with the most ports of attachments on one switch) and up of a switch, each
    side as long as the longest cable bought for its links; headroom by ``parts.pools``. A switch whose pool, ASIC or
    cables are not known is told and passes. Source: case file, ``roce``; docs/fabrics.md, pools of switches.
    """
    roce = fabric.wanted.roce
    assert roce is not None
    for tier, switch in _of_like_switches(fabric):
        ports = list(_ports(fabric, tier, switch))
        known = switch.asic and all(group.length_m for group in ports)
        priorities = roce.lossless_priorities
        verdict = pool_verdict(str(switch.asic), switch.buffer_pool, ports, priorities, roce.mtu) if known else None
        if verdict is None:
            proof.note(f"{tier.role} {switch.id}: not known")
            continue
        proof.holds(verdict.spare >= 0, f"{tier.role} {switch.id}: {shortfall_text(ports, priorities, verdict)}")
        proof.note(f"{tier.role} {switch.id}: {ports_text(ports, priorities)}")


def _of_like_switches(fabric: FabricEvidence) -> Iterator[tuple[TierUse, Switch]]:
    """Every type of switch in every tier, and the leaves of a last group that is unlike the others but of
    their type.
    """
    leaf = fabric.designed.tiers[0]
    for tier, switch in fabric.switch_types:
        of_last = leaf.other is not None and all(getattr(tier, key) == value for key, value in leaf.other)
        yield _in_use(fabric, tier, of_last), switch
    last = None if fabric.is_direct else fabric.designed.clos.last_group
    if last is not None and leaf.other is None:
        yield _in_use(fabric, leaf.model_copy(update={"up_ports": last.up_ports}), True), fabric.switch(leaf.role)


def _in_use(fabric: FabricEvidence, tier: TierUse, of_last: bool) -> TierUse:
    """A tier with all ports down in use on a switch; ``of_last``: on a leaf of a last group unlike the others."""
    on_free = Counter(number for places in fabric.designed.free_ports.values()
                      for role, number in places if role == tier.role)  # fmt: skip
    down = tier.down_ports + max(on_free.values(), default=0)
    if tier.role == "leaf" and not fabric.is_direct:
        down = fabric.clos.most_occupied(of_last)
    return tier.model_copy(update={"down_ports": down})


def _ports(fabric: FabricEvidence, tier: TierUse, switch: Switch) -> Iterator[LosslessPorts]:
    """The ports of a switch on each side that has some."""
    rows = fabric.designed.links
    below = [row for row in rows if row.to == tier.role and row.from_ != tier.role]
    above = [row for row in rows if row.from_ == tier.role]
    sides = ((tier.down_ports, tier.down, tier.gbps_down, below), (tier.up_ports, tier.up, tier.gbps_up, above))
    for number, use, speed, links in sides:
        if number and use is not None:
            bought = [part.length_m for row in links for part in row.parts if part.length_m is not None]
            longest_m = float(max(bought, default=0.0))
            yield LosslessPorts(number, float(speed), longest_m, _lanes(switch, use))


def _lanes(switch: Switch, use: PortUse) -> int:
    cage = switch.cages[use.cage_group]
    return lanes_of(cage.form_factor, parse_split(use.split).ports)
