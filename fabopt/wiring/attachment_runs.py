"""Distances of attachments in racks from their leaves: their cables are planned at a flat distance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fabopt.floor.group_runs import given_m
from fabopt.schema.attachment import APPLIANCES, PDUS, RACK_DEVICES, SWITCHES
from fabopt.schema.design import Design, LinkRow
from fabopt.units import grouped
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import NOTHING, TO_ATTACHMENTS, Ints, Wiring
from fabopt.wiring.runs import FlatRuns, MeasuredRuns

# Attachments of an out-of-band fabric that are counted.
COUNTED = (SWITCHES, PDUS, APPLIANCES, RACK_DEVICES)


def longer_runs(design: Design) -> Iterator[str]:
    """Warnings of attachments that are further from a leaf, along the trays, than the site's flat distance."""
    if not any(fabric.places.attachments for fabric in design.fabrics):
        return
    wiring, embedded = wiring_of(design), Embedded(design)
    runs = MeasuredRuns(embedded.plan, FlatRuns(given_m(embedded.case.site)), wiring.devices)
    for name, links in _links_of_attachments(wiring).items():
        run_m = runs.between(wiring.links.a[links], wiring.links.b[links])
        longest = int(np.argmax(run_m))
        planned_m = float(wiring.cables.run_m[wiring.links.cable[links[longest]]])
        if run_m[longest] > planned_m:
            ends = wiring.links.a[links[longest]], wiring.links.b[links[longest]]
            racks = [wiring.devices.rack[device] for device in ends]
            yield (
                f"{name}: its cables are planned for {planned_m:g} m (`site.distances_m.attachment-leaf`), and run up "
                f"to {run_m[longest]:.1f} m, from {racks[0]} to {racks[1]}: give that distance"
            )


def unmeasured_runs(design: Design) -> Iterator[str]:
    """Warnings of attachments whose devices are in no known rack, so that their cables cannot be measured, and whether
    these reach across the floor.
    """
    embedded = Embedded(design)
    wanted = {fabric.name: fabric.attachments for fabric in embedded.case.fabrics}
    for fabric in design.fabrics:
        nowhere = {
            attachment.name
            for attachment in wanted.get(fabric.name, ())
            if attachment.rack_units is None and attachment.network is None
        }
        rows = [row for row in fabric.links if row.attachment in nowhere | {SWITCHES} and row.parts]
        across = [row for row in rows if row.length_m >= embedded.plan.farthest_m]
        counted = [row for row in across if row.attachment in COUNTED]
        why = "they are counted before it is known in which racks their devices are"
        yield from _across(fabric.name, counted, why)
        others = [row for row in across if row not in counted]
        yield from _across(fabric.name, others, "nothing says in which racks their devices are")
        for row in rows:
            if row not in across:
                yield (
                    f"{fabric.name} {row.attachment}: nothing measures its cables of {row.length_m:g} m "
                    f"(`site.distances_m.attachment-{row.to}`), as its devices are in no rack: across the floor it is "
                    f"{embedded.plan.farthest_m:g} m"
                )


def _links_of_attachments(wiring: Wiring) -> dict[str, Ints]:
    """Rows of the links of every attachment whose cables are bought and whose ends are in racks."""
    links, devices = wiring.links, wiring.devices
    attached = np.isin(links.kind, TO_ATTACHMENTS) & (links.cable != NOTHING)
    ends = ((int(links.a[row]), int(links.b[row]), row) for row in np.flatnonzero(attached).tolist())
    rows = grouped(
        (f"{devices.fabric[a]} {devices.product[a]}", row) for a, b, row in ends if devices.rack[a] and devices.rack[b]
    )
    return {name: np.array(of_name, dtype=np.int64) for name, of_name in rows.items()}


def _across(fabric: str, rows: Sequence[LinkRow], why: str) -> Iterator[str]:
    """A warning of attachments whose cables reach across the floor, with the reason."""
    if rows:
        names = ", ".join(dict.fromkeys(str(row.attachment) for row in rows))
        reach_m = max(row.length_m for row in rows)
        yield f"{fabric} {names}: cables of {reach_m:g} m reach across the floor, as {why}"
