"""Live cables on the floor of a case that goes on from a base."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabopt.errors import Fault, fault
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import rack_limits
from fabopt.floor.racks import height_m
from fabopt.io.case import Inputs
from fabopt.schema.catalog import Cable, Fibre
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Cables


def other_ways(inputs: Inputs, base: Design) -> Iterator[Fault]:
    """The live cable whose way along the trays differs most on the floor of the case, if any does; else the live cables
    that are not of the length which the catalog has for their way.
    """
    floor, there = inputs.case.site.floor, Embedded(base)
    if floor is None or there.case.site.floor is None:
        return
    wiring, before, now = wiring_of(base), there.plan, FloorPlan(floor, (), rack_limits(inputs.case))
    devices, links = wiring.devices, wiring.links
    height = height_m(devices.unit, devices.height_u)
    # attachments that are in no racks have runs that the case gives
    in_rack = np.array([bool(name) for name in devices.rack])
    ways_m = []
    for plan in (before, now):
        rack = np.array([plan.rack_index(name) if name else 0 for name in devices.rack], dtype=np.int64)
        ways_m.append(plan.run_m(rack[links.a], height[links.a], rack[links.b], height[links.b]))
    differs = np.abs(ways_m[1] - ways_m[0]) * (in_rack[links.a] & in_rack[links.b])
    worst = int(np.argmax(differs))
    if differs[worst] > 0:
        ends = " to ".join(f"{devices.name[row]} in {devices.rack[row]}" for row in (links.a[worst], links.b[worst]))
        lengths = " m, not ".join(f"{way[worst]:g}" for way in reversed(ways_m))
        problem = f"the live cable of {ends} would run {lengths}"
        hint = "say where trays cross the rows (`cross_trays`), so that live cables lie as they do"
        yield fault(inputs.case_file, "site.floor", problem, hint=hint)
        return
    yield from _other_lengths(inputs, wiring.cables)


def _other_lengths(inputs: Inputs, cables: Cables) -> Iterator[Fault]:
    """Lengths of live cables that are not the shortest ones on sale for their ways, the first of each product."""
    products: list[Cable | Fibre] = [*inputs.catalog.cables, *inputs.catalog.fibres]
    sold = {part.id: sorted(length.m for length in part.lengths) for part in products}
    told = set[str]()
    for part, length_m, run_m in zip(cables.part, cables.length_m.tolist(), cables.run_m.tolist(), strict=True):
        shortest = next((metres for metres in sold[part] if metres >= run_m), None)
        if shortest != length_m and part not in told:
            told.add(part)
            problem = f"live cables of {length_m:g} m run {run_m:.4g} m"
            allowed = f"{length_m:g} m as the shortest length on sale for that"
            yield fault(inputs.case_file, f"catalog.{part}.lengths", problem, shortest, allowed=allowed)
