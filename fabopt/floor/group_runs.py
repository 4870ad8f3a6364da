"""Runs of links without a floor or stated distances: derived from the racks that groups of servers fill.

Rule ``runs_follow_from_groups``. The hall is assumed: racks stand side by side in rows of ``RACKS_PER_ROW``, with the
measures that a floor plan has by default. Servers fill racks one after another. The leaves of a group are in the middle
of its racks, at the top if it fills one, and the two of a pair beside each other; spines are in the middle of the racks
of their pod (of all racks below three tiers), cores and attachments in the middle of all. Cables exceed their way by
``HALL.slack_m``, or by ``TO_SPARE`` where that is more. All links of a kind have the longest run between such places.
Where switches or servers are joined to each other, any two of a group may be neighbours, from its first rack to its
last.

Numbers of links that could be shorter than the longest of their kind, if each had the length of its own run.

Rows of racks are those of ``fabopt.floor.group_runs``, racks next to each other; runs are measured along the trays.

Length classes: a run counts as the shortest length on sale that covers it.

Arrays ``lengths_m`` hold all lengths on sale, rising, in metres, shape (classes,).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fabopt.floor.loads import load_of_server
from fabopt.floor.plan import FloorPlan, run_m
from fabopt.floor.rack_rules import RackLimits
from fabopt.floor.racks import Floats, Ints, height_m, servers_that_fit
from fabopt.schema.case import Floor, Site
from fabopt.schema.rack_rules import RackRules
from fabopt.schema.server import Server
from fabopt.schema.structure import AnyStructure, DragonflyPlusStructure, DragonflyStructure, Structure
from fabopt.units import Number, ceil_div, ceil_of

# Runs are rounded to a nanometre: a length covers a run that is longer by less.
_TOLERANCE_M = 1e-9


def classes_of_runs(lengths_m: Floats, run_m: ArrayLike) -> Ints:
    """Index of the class of every run, shape of ``run_m``; the number of classes where no length is enough."""
    return np.asarray(np.searchsorted(lengths_m, np.asarray(run_m) - _TOLERANCE_M))


def counted_m(lengths_m: Floats, run_m: float) -> float:
    """The shortest length on sale, in metres, that covers a run; the run itself if none does."""
    length_class = int(classes_of_runs(lengths_m, run_m))
    return float(lengths_m[length_class]) if length_class < len(lengths_m) else run_m


# A row of the shipped hall, and what fits between the aisles of many: an estimate.
RACKS_PER_ROW = 16
# Four servers of 10.2 kW: racks of NVIDIA's DGX SuperPOD H100 Reference Architecture RA-11333-001 V11.
RACK_POWER_W = 41_000
USUAL_SERVERS = 4
# Sixteen switches of one unit and a cable manager for each two of them fill the upper half of a rack.
LOWEST_SWITCH_UNIT = 25
HALL = Floor(rows=2, racks_per_row=RACKS_PER_ROW, rack_power_w=RACK_POWER_W)
# Cables have to spare what they have on floors, where the case says nothing of it.
TO_SPARE = RackLimits(spare_m=RackRules().spare_m, spare_fraction=RackRules().spare_fraction)

# Racks that the two leaves of a pair are in at most, as one of them may be lost with its rack.
NEIGHBOURS = 2
# Kinds of links whose run follows from groups, in the words of ``Distances``.
KINDS = ("server-leaf", "leaf-spine", "spine-core")
# Families whose ``leaf-spine`` runs lead to a tier above, and whose ``spine-core`` runs do; others join equals.
RISING_NEAR = ("clos", "rail-only", "dragonfly+")
RISING_FAR = ("clos", "rail-only")


class Heights(NamedTuple):
    """The lowest and the highest place of devices of a role in their racks, in metres."""

    low_m: float
    high_m: float


class Sizes(NamedTuple):
    """Servers of a leaf group, and of the next larger unit: a pod, or a group of a dragonfly."""

    group: Number
    pod: Number


class ServersPerRack(NamedTuple):
    """The number of servers in a rack, and its reason in words."""

    number: int
    told: str


@dataclass(frozen=True)
class GroupRuns:
    """The runs of links by the sizes of groups.

    ``servers``: at the last stage; ``server_heights``: in their racks; ``given``: runs in metres that the case states,
    by kind of link.
    """

    per_rack: ServersPerRack
    servers: int
    server_heights: Heights
    given: Mapping[str, float]

    def racks(self, servers: Number) -> Number:
        """Racks that ``servers`` servers fill; at most those of all servers."""
        return ceil_of(np.minimum(servers, self.servers), self.per_rack.number)

    def runs_m(self, family: str, sizes: Sizes) -> dict[str, Floats]:
        """The run of every kind of links of a family (``kind`` of its structure), shape of the sizes.

        In whole decimetres; rising with the sizes. Of links between equal devices, ``leaf-spine`` is within a group or
        along a dimension and ``spine-core`` between groups; ``leaf-leaf``, a peer link, between the upper halves of
        one rack, or of two side by side.
        """
        servers, switches = self.server_heights, SWITCH_HEIGHTS
        group, pod, all_ = (self.racks(number) for number in (*sizes, self.servers))
        ends = (servers, servers) if family == "server-torus" else (switches, switches)
        runs = {
            "server-leaf": longest_m(servers, switches, group, from_middle_m(group)),
            "attachment-leaf": longest_m(servers, switches, all_, from_middle_m(all_)),
            "attachment-spine": longest_m(servers, switches, all_, from_middle_m(all_)),
            "leaf-spine": longest_m(*ends, pod, (from_middle_m if family in RISING_NEAR else end_to_end_m)(pod)),
            "spine-core": longest_m(*ends, all_, (from_middle_m if family in RISING_FAR else end_to_end_m)(all_)),
        }
        runs["leaf-leaf"] = beside_m(group)
        return {**runs, **{kind: np.asarray(given_m) for kind, given_m in self.given.items()}}

    def of(self, structure: AnyStructure) -> dict[str, float]:
        """The run of every kind of links of a network, in metres."""
        runs = self.runs_m(structure.kind, sizes_of(structure, self.servers))
        return {kind: float(run) for kind, run in runs.items()}

    @property
    def least_m(self) -> dict[str, float]:
        """By kind a run that no link of any network is shorter than."""
        least = {kind: float(run) for kind, run in self.runs_m("clos", Sizes(1, 1)).items()}
        return {**least, "spine-core": self.given.get("spine-core", least["leaf-spine"])}


def group_runs(site: Site, server: Server, servers: int) -> GroupRuns | None:
    """The runs of a case derived from groups; None where a floor or the case states all of them.

    ``servers``: at the last stage. The distance of attachments to leaves defaults to a stated one of the servers; to
    spines, to the longer of that and the leaves'.
    """
    given = given_m(site)
    if site.floor is not None or given.keys() >= set(KINDS):
        return None
    return GroupRuns(usual_servers_per_rack(site, server), servers, server_heights(server), given)


def server_heights(server: Server) -> Heights:
    """The heights of servers: anywhere in a full rack, or their places in a whole rack."""
    units = server.rack_units or 1
    if server.rack is not None:
        places = server.units_in_rack(server.rack.servers)
        return _heights(min(places), max(places), units)
    return _heights(1, max(1, HALL.rack_units - ceil(units) + 1), units)


def given_m(site: Site) -> Mapping[str, float]:
    """The distances that a case says, by kind of links."""
    if site.distances_m is None:
        return MappingProxyType({})
    said = site.distances_m.model_dump(by_alias=True, exclude_none=True)
    if "server-leaf" in said:
        said.setdefault("attachment-leaf", said["server-leaf"])
        said.setdefault("leaf-leaf", min(said["server-leaf"], _between_neighbours_m()))
    if said.keys() >= {"attachment-leaf", "leaf-spine"}:
        said.setdefault("attachment-spine", max(said["attachment-leaf"], said["leaf-spine"]))
    return MappingProxyType({kind: float(metres) for kind, metres in said.items()})


def usual_servers_per_rack(site: Site, server: Server) -> ServersPerRack:
    """Servers in a rack: as stated, a whole rack's, those of one scale-up domain of several servers, or the most that
    fit.
    """
    if site.servers_per_rack is not None:
        return ServersPerRack(site.servers_per_rack, "`site.servers_per_rack`")
    if server.rack is not None:
        return ServersPerRack(server.rack.servers, "a whole rack")
    domain = 0 if server.scale_up is None or not server.gpus else server.scale_up.domain_gpus // server.gpus
    if domain > 1:
        return ServersPerRack(domain, "a scale-up domain fills a rack")
    if server.rack_units is None and server.power_w is None:
        return ServersPerRack(USUAL_SERVERS, "as the racks of a DGX SuperPOD have")
    fit = servers_that_fit(HALL, server.rack_units or 1, load_of_server(server))
    return ServersPerRack(max(1, fit), f"{HALL.rack_units} units and {RACK_POWER_W / 1000:g} kW a rack")


def sizes_of(structure: AnyStructure, servers: int) -> Sizes:
    """Servers of a leaf group and of a pod of a network; without pods, of the network."""
    group = structure.servers_per_group
    if isinstance(structure, Structure):
        return Sizes(group, group * structure.groups_per_pod if structure.tiers == 3 else servers)
    rails = max(1, structure.ports_per_server // structure.ports_per_server_per_leaf)
    if isinstance(structure, DragonflyStructure):
        return Sizes(group, group * ceil_div(structure.switches_per_group, rails))
    if isinstance(structure, DragonflyPlusStructure):
        return Sizes(group, group * ceil_div(structure.leaves_per_group, rails))
    return Sizes(group, servers)


def from_middle_m(racks: Number) -> Floats:
    """Metres along trays from the middle one of ``racks`` racks to the farthest, shape of ``racks``.

    In one row that is half the racks. With several rows all count as full: out of one by its end, across, and to the
    middle of another, equally near to both ends.
    """
    rows = ceil_of(racks, RACKS_PER_ROW)
    return _along_m(racks, racks // 2, rows // 2)


def beside_m(racks: Number) -> Floats:
    """A peer link's run in metres, shape of ``racks`` (of a group): its leaves share a rack, or are
    in adjacent ones.
    """
    few = np.minimum(racks, NEIGHBOURS)
    return longest_m(SWITCH_HEIGHTS, SWITCH_HEIGHTS, few, from_middle_m(few))


@cache
def _between_neighbours_m() -> float:
    return float(beside_m(NEIGHBOURS))


def end_to_end_m(racks: Number) -> Floats:
    """Metres along trays between the two farthest of ``racks`` racks, shape of ``racks``."""
    return _along_m(racks, racks - 1, ceil_of(racks, RACKS_PER_ROW) - 1)


def _along_m(racks: Number, apart: Number, rows_apart: Number) -> Floats:
    """Metres over ``apart`` racks of one row; with several rows, over a whole row and ``rows_apart`` aisles."""
    across_m = HALL.rack_depth_m + HALL.aisles_m[0]
    in_rows = RACKS_PER_ROW * HALL.rack_pitch_m + rows_apart * across_m
    return np.asarray(np.where(racks <= RACKS_PER_ROW, apart * HALL.rack_pitch_m, in_rows))


def _heights(lowest: int, highest: int, units: float) -> Heights:
    return Heights(*(float(height_m(unit, units)) for unit in (lowest, highest)))


SWITCH_HEIGHTS = _heights(LOWEST_SWITCH_UNIT, HALL.rack_units, 1)


def longest_m(near: Heights, far: Heights, racks: Number, way_m: Floats) -> Floats:
    """The longest run in metres between devices at two ranges of heights over ``racks`` racks; in one rack, within it.

    ``way_m``, along the trays, and the run have the shape of ``racks``.
    """
    in_rack = np.asarray(racks) <= 1
    ends = [(near.low_m, far.high_m), (near.high_m, far.low_m), (near.low_m, far.low_m)]
    inside, turned, over = (run_m(HALL, in_rack, *heights, way_m, TO_SPARE) for heights in ends)
    metres = np.where(in_rack, np.maximum(inside, turned), over)
    return np.asarray(np.ceil(np.round(metres * 10, 6)) / 10)


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
