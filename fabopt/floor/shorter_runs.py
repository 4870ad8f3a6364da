"""Numbers of links that could be shorter than the longest of their kind, if each had the length of its own run.

Rows of racks are those of ``fabopt.floor.group_runs``, racks next to each other; runs are measured along the trays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fabopt.floor.group_runs import HALL, RACKS_PER_ROW, SWITCH_HEIGHTS, GroupRuns, Heights, longest_m
from fabopt.floor.length_classes import classes_of_runs
from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import Floats, Ints
from fabopt.schema.structure import Structure
from fabopt.units import ceil_div

# In larger halls nothing is counted.
MOST_RACKS = 4096


class _Below(NamedTuple):
    """Lower ends in their racks, counted from the first of ``servers`` that their upper ends are in the middle of."""

    servers: int
    racks: Ints


def shorter_parts(runs: GroupRuns, structure: Structure, lengths_m: Floats) -> dict[str, tuple[int, int]]:
    """By kind of links of a Clos, the parts with a shorter length on sale for their run, and all parts.

    Parts are servers, leaf groups below their spines, and pods below the cores. ``lengths_m``: all on sale, rising,
    shape (lengths,).
    """
    if runs.racks(runs.servers) > MOST_RACKS:
        return {}
    longest, counted = runs.of(structure), {}
    for kind, parts in _joined(runs, structure):
        if kind not in runs.given:
            ends = runs.server_heights if kind == "server-leaf" else SWITCH_HEIGHTS
            own_m = np.concatenate([_own_m(runs, ends, part) for part in parts])
            limit = int(classes_of_runs(lengths_m, longest[kind]))
            counted[kind] = int((classes_of_runs(lengths_m, own_m) < limit).sum()), len(own_m)
    return counted


def _joined(runs: GroupRuns, structure: Structure) -> Iterator[tuple[str, list[_Below]]]:
    """The lower ends of every kind of links with switches above them."""
    g, servers = structure.servers_per_group, runs.servers
    pod = g * structure.groups_per_pod if structure.tiers == 3 else servers

    def below(part: int, places: Ints) -> _Below:
        return _Below(part, np.asarray(places // runs.per_rack.number))

    yield "server-leaf", [below(part, np.arange(part)) for part in _parts(servers, g)]
    if structure.tiers > 1:
        yield "leaf-spine", [below(part, _middles(part, g)) for part in _parts(servers, pod)]
    if structure.tiers > 2:
        yield "spine-core", [below(servers, _middles(servers, pod))]


def _parts(whole: int, size: int) -> list[int]:
    return [min(size, whole - start) for start in range(0, whole, size)]


def _middles(whole: int, size: int) -> Ints:
    """The middle server of every part."""
    return np.array([start + part // 2 for start, part in zip(range(0, whole, size), _parts(whole, size), strict=True)])


def _own_m(runs: GroupRuns, ends: Heights, below: _Below) -> Floats:
    """The run in metres from each lower end to the middle of the racks that its upper ends serve."""
    racks = int(runs.racks(below.servers))
    rows, length = ceil_div(racks, RACKS_PER_ROW), min(racks, RACKS_PER_ROW)
    plan = FloorPlan(HALL.model_copy(update={"rows": rows, "racks_per_row": length}))
    middle = rows // 2 * length + length // 2
    return longest_m(ends, SWITCH_HEIGHTS, np.where(below.racks == middle, 1, 2), plan.tray_m(below.racks, middle))
