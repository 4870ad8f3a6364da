"""Losses with any one switch or rack, in words: for the terminal, the page and the workbook alike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from fabopt.output.words import count, listed
from fabopt.rules.defaults import TWO_SWITCHES
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.losses import SinglePoint
from fabopt.units import some

TITLE = "Single points of failure"
# Titles, and whether each column holds numbers.
COLUMNS = (("fabric", False), ("without", False), ("lost", False), ("servers", True), ("these are", False))


def lead_line(design: Design) -> str:
    """Count the switches and racks whose loss cuts devices off; empty where the file states none of it."""
    points = design.single_points_of_failure
    if points is None:
        return ""
    most: dict[tuple[str, str], int] = {}
    for point in points:
        if not point.degraded:
            kind = point.fabric, point.device
            most[kind] = max(point.count, most.get(kind, 0))
    racks = sum(number for (_, device), number in most.items() if device == "rack")
    numbers = {"device": sum(most.values()) - racks, "rack": racks}
    there = [(number, kind) for kind, number in numbers.items() if number]
    if not there:
        told = f"no {'switch' if design.worst_rack is None else 'switch or rack'} cuts anything off if it fails"
        return f"{told}; without these, servers are degraded" if points else told
    told = f"one {there[0][1]}" if sum(most.values()) == 1 else f"any of {listed([some(*row) for row in there])}"
    return f"{told} cuts something off if it fails"


def redundancy_line(design: Design) -> str:
    """Name the parts of the default rule of resilience that each fabric keeps; empty where none is asked for."""
    words = (_kept(fabric) for fabric in design.fabrics if fabric.redundancy)
    told = "; ".join(text for text in words if text)
    return f"redundancy by default: {told}" if told else ""


def _kept(fabric: FabricDesign) -> str:
    """The parts of the rule that a fabric keeps, and those that it breaks; the reason where it is exempt."""
    # what several tiers keep by themselves is not told
    tall = len(fabric.tiers) > 1
    kept = ", ".join(row.rule for row in fabric.redundancy if row.kept and not (tall and row.rule == TWO_SWITCHES))
    broken = ", ".join(f"{row.rule} ({row.detail})" for row in fabric.redundancy if row.kept is False)
    if not kept and not broken:
        return f"{fabric.name} is exempt ({fabric.redundancy[0].detail})"
    verbs = (f"{verb} {rules}" for verb, rules in (("keeps", kept), ("breaks", broken)) if rules)
    return f"{fabric.name} {', '.join(verbs)}"


def point_rows(design: Design) -> Iterator[list[str]]:
    """The cells of each line: devices with an equal loss are one line, those that cut off come first."""
    points = sorted(design.single_points_of_failure or (), key=lambda point: point.degraded)
    for (fabric, degraded), of_fabric in groupby(points, key=lambda point: (point.fabric, point.degraded)):
        for _, alike in groupby(of_fabric, key=lambda point: (point.device, point.count)):
            rows = list(alike)
            loses = ", ".join(row.loses for row in rows)
            yield [fabric, _devices(design, rows[0]), loses, _servers(rows[0]), "degraded" if degraded else "cut off"]


def _devices(design: Design, point: SinglePoint) -> str:
    if point.count > 1:
        return f"any of {some(point.count, point.device)}"
    if point.device == "rack":
        return f"rack {point.worst}"
    only = any(
        tier.role == point.device and tier.count == 1
        for fabric in design.fabrics
        if point.fabric in (fabric.name, *(logical.name for logical in fabric.logical))
        for tier in fabric.tiers
    )
    return f"the only {point.device}" if only else point.worst


def _servers(point: SinglePoint) -> str:
    if not point.servers:
        return "-"
    fewest = "" if point.fewest_servers == point.servers else f"{count(point.fewest_servers)} to "
    return f"{fewest}{count(point.servers)}"


def rack_line(design: Design) -> str:
    """Name the rack whose loss hits most servers, and those servers; empty without a floor."""
    rack = design.worst_rack
    if rack is None:
        return ""
    elsewhere = [f"{count(rack.servers_cut_off) if rack.servers_cut_off else 'none'} elsewhere cut off"]
    if rack.servers_degraded:
        elsewhere.append(f"{count(rack.servers_degraded)} degraded")
    within = some(rack.servers, "server") if rack.servers else "no server"
    return f"the loss of rack {rack.rack} takes most servers with it: {listed([f'{within} in it', *elsewhere])}"
