"""A19: whether the packet memory of a switch holds what its lossless ports must be able to take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.findings import AuditFinding
from fabopt.inspect.audit.ports import lanes_by_cage
from fabopt.inspect.audit.speeds import LinkSpeeds
from fabopt.parts.lanes import ALL_LANES, signal_lanes
from fabopt.parts.pools import LosslessPorts, pool_verdict, shortfall_text
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Switch
from fabopt.schema.operate import Roce
from fabopt.units import MBPS_PER_GBPS


def headroom_fits(context: HandContext, speeds: LinkSpeeds) -> Iterator[AuditFinding]:
    """A19: no switch has less packet memory than its ports need, each with the length and speed of its link.

    On so many priorities as the case's ``roce`` says, else on one. A switch whose pool or ASIC is not known, or whose
    links have no length, is left out.
    """
    for name in context.switches():
        switch, network = context.switch_of.get(name), context.network_of.get(name)
        fabric = network.fabric if network is not None else None
        roce = _roce(fabric)
        if switch is None or switch.protocol != "ethernet" or not switch.asic or roce is None:
            continue
        ports = _ports(context, speeds, name, switch)
        verdict = pool_verdict(switch.asic, switch.buffer_pool, ports, roce.lossless_priorities, roce.mtu)
        if ports and verdict is not None and verdict.spare < 0:
            text = f"{name}, {switch.id}: {shortfall_text(ports, roce.lossless_priorities, verdict)}"
            yield AuditFinding("A19", name, f"{-verdict.spare} bytes short", "0 bytes short", text)


def _roce(fabric: Fabric | None) -> Roce | None:
    """The lossless settings of a fabric; None if none of it is lossless."""
    if fabric is None:
        return Roce()
    return fabric.lossless


def _ports(context: HandContext, speeds: LinkSpeeds, name: str, switch: Switch) -> Sequence[LosslessPorts]:
    """Ports in use with their lengths and speeds, those alike counted; none where one of them is not known."""
    places, lanes = context.places(name), signal_lanes(switch)
    ports_of_cage = lanes_by_cage(places)
    counts: Counter[tuple[float, float, int]] = Counter()
    for port, _, link in context.peer_links(name):
        rate, place = speeds.of_link(link), places.get(port)
        if rate is None or place is None or link.cable.length_m is None:
            return ()
        share = lanes.get(place.cage, ALL_LANES) // ports_of_cage[place.cage]
        counts[rate / MBPS_PER_GBPS, link.cable.length_m, max(1, share)] += 1
    return [LosslessPorts(number, *key) for key, number in sorted(counts.items())]
