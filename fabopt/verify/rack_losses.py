"""Losses of racks and of power feeds, on the wiring: bandwidth without a rack, and power on one feed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabopt.network.graph.outage import nothing
from fabopt.schema.catalog import Switch
from fabopt.schema.resilience import FEED, RACK, FromOutside
from fabopt.units import MBPS_PER_GBPS, some
from fabopt.verify.bandwidth import LAST_DIGIT
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.floor import usable_milliwatts
from fabopt.verify.outages import TIERS, plant_of
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.racks import most_milliwatts
from fabopt.verify.wiring import CabledDesign, FabricCabling


class WithoutRack(NamedTuple):
    """A rack and the bandwidth without it, in Gb/s per GPU; servers in it, and servers elsewhere that it cuts off."""

    rack: str
    gbps: float
    servers: int
    cut_off: int


def names_racks(fabric: FabricEvidence) -> bool:
    """Whether the case demands bandwidth without a rack, or the file states it."""
    return _asks(fabric, RACK) or any(row.failed == RACK for row in fabric.designed.failures)


def names_feeds(evidence: Evidence) -> bool:
    """Whether a fabric of the case asks that the loss of a feed be survived."""
    return any(_asks(fabric, FEED) for fabric in evidence.fabrics)


def _asks(fabric: FabricEvidence, what: FromOutside) -> bool:
    return any(demand.failures[0] == what for demand in fabric.wanted.survived)


@since("0.2.0", "worst_rack", "fabrics.failures.worst")
@where(names_racks)
def racks_leave_bandwidth(proof: Proof, cabling: FabricCabling) -> None:
    """The file's bandwidth without its worst rack is recounted, rack by rack, and meets the demands of the case.

    All leaves, spines and cores of a rack are lost together. Of servers elsewhere, left per GPU: injection of their
    ports on other leaves x the share of a leaf's endpoints that uplinks carry x the share that a pod's spines pass on;
    nothing where the rack has all servers. Source: case file, ``resilience``; design file, places; docs/bandwidth.md.
    """
    worst = worst_without(cabling)
    rows = [row for row in cabling.fabric.designed.failures if row.failed == RACK]
    for row in rows:
        proof.equal("racks lost at once", row.count, 1)
        shown = f"Gb/s per GPU without the worst rack is {row.gbps_per_gpu}, on the wiring {worst.gbps:g}"
        proof.holds(abs(float(row.gbps_per_gpu) - worst.gbps) <= LAST_DIGIT, shown)
        said = (row.worst, row.servers_lost, row.servers_cut_off)
        proof.equal("worst rack, servers in it and cut off", said, (worst.rack, worst.servers, worst.cut_off))
    for demand in cabling.fabric.wanted.survived:
        if demand.failures[0] == RACK:
            proof.holds(bool(rows), f"the file does not say what is left after {demand.survive}")
            shown = f"{worst.gbps:g} of {demand.least_gbps:g} Gb/s per GPU wanted after {demand.survive}"
            proof.holds(worst.gbps + LAST_DIGIT >= demand.least_gbps, shown)
    proof.note(f"{worst.gbps:g} without {worst.rack} and {some(worst.servers, 'server')}")


def worst_without(cabling: FabricCabling) -> WithoutRack:
    """The rack whose loss leaves the least bandwidth of a fabric, the first on the floor of such."""
    devices, plan, plant = cabling.devices, cabling.fabric.evidence.plan, plant_of(cabling)
    rack_of_switch = [devices.rack[row] for role in TIERS for row in cabling.devices_of(role).tolist()]
    rack_of_server = np.array([devices.rack[row] for row in cabling.devices_of("server").tolist()])
    racks = sorted(set(rack_of_switch), key=plan.rack_index)
    without = []
    for rack in racks:
        lost = nothing(plant)._replace(switches=np.array(rack_of_switch) == rack)
        absent = rack_of_server == rack
        left = plant.after(lost, absent)
        gbps = 0.0 if absent.all() else left.mbps / MBPS_PER_GBPS
        without.append(WithoutRack(rack, gbps, int(absent.sum()), left.cut_off))
    return min(without, key=lambda loss: round(loss.gbps, 6))


@since("0.2.0", "fabrics.failures.servers_lost", "fabrics.failures.worst")
@where(names_feeds)
def feeds_carry_racks(proof: Proof, cabled: CabledDesign) -> None:
    """With one of its two feeds every rack has the maximum power of its devices.

    Power of every rack, with every switch at the larger of ``power_max_w`` and its own with its modules <=
    ``rack_power_w``, of one feed; ``feeds`` = 2; no server or switch is known to have one power supply. Source: case
    file, ``resilience``, ``site``; catalog, ``power_supplies``.
    """
    evidence = cabled.evidence
    proof.equal("feeds of a rack", evidence.case.site.rack_rules.feeds, 2)
    floor = evidence.plan.floor
    of_racks = most_milliwatts(cabled)
    most = max(of_racks.values(), default=0)
    for rack, used in of_racks.items():
        limit = usable_milliwatts(floor.part_of(rack))
        proof.holds(limit is not None, f"the case does not say what a feed gives {rack}")
        proof.holds(limit is None or used <= limit, f"{rack} uses up to {used / 1000:g} W")
    supplies = {evidence.server.id: evidence.server.power_supplies}
    for fabric in evidence.fabrics:
        if _asks(fabric, FEED):
            supplies |= {tier.id: switch.power_supplies for tier, switch in fabric.switch_types}
            twins = fabric.designed.subnet_manager.twins if fabric.designed.subnet_manager is not None else ()
            supplies |= {twin.id: evidence.part(twin.id, Switch).power_supplies for twin in twins}
    for product, number in supplies.items():
        proof.holds(number != 1, f"{product} has one power supply")
    proof.note(f"one feed carries up to {most / 1000:g} W in a rack")
