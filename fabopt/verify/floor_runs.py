"""Metres of cable along the trays of the floor between the ends of every link."""

from __future__ import annotations

import numpy as np

from fabopt.floor.racks import height_m
from fabopt.verify.evidence import Evidence
from fabopt.wiring.model import TO_ATTACHMENTS, Floats, Wiring


def measured_m(evidence: Evidence, wiring: Wiring) -> Floats:
    """Metres of cable along the trays of the floor between the ends of every link, shape (links,).

    NaN where the floor does not decide: links of attachments run as far as the farthest of their kind, or over the
    site's flat distance, as all links do without a floor.
    """
    attached = np.isin(wiring.links.kind, TO_ATTACHMENTS)
    return np.where(attached, np.nan, ways_m(evidence, wiring))


def ways_m(evidence: Evidence, wiring: Wiring) -> Floats:
    """Metres along the trays between the racks of the ends of every link, shape (links,); NaN where an end
    has no rack.
    """
    links, devices = wiring.links, wiring.devices
    if evidence.case.site.floor is None:
        return np.full(len(links), np.nan)
    plan = evidence.plan
    rack = np.array([plan.rack_index(name) if name else -1 for name in devices.rack], dtype=np.int64)
    height = height_m(devices.unit, devices.height_u)
    run = plan.run_m(rack[links.a], height[links.a], rack[links.b], height[links.b])
    measured = (rack[links.a] >= 0) & (rack[links.b] >= 0)
    return np.where(measured, run, np.nan)
