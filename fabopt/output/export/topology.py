"""The topology as a graph for drawing: single devices, or classes of equal devices where there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabopt.output.words import count
from fabopt.schema.design import Design
from fabopt.units import grouped, sets
from fabopt.wiring.model import NOTHING, Wiring

MOST_NODES = 200
# From top to bottom of a drawing.
LAYERS = ("core", "spine", "leaf", "server", "attachment")
_NUMBERS = ("plane", "pod", "group")


@dataclass(frozen=True)
class GraphNode:
    """A device, or a class of ``boxes`` equal devices. ``id`` is unique; only single devices have a place."""

    id: str
    role: str
    product: str
    fabric: str
    boxes: int
    rack: str
    unit: int

    @property
    def title(self) -> str:
        """The name, with the number of devices of a class."""
        return self.id if self.boxes == 1 else f"{count(self.boxes)} x {self.id}"

    @property
    def place(self) -> str:
        """Rack and unit; empty without."""
        return f"{self.rack} U{self.unit}" if self.rack else ""


@dataclass(frozen=True)
class Edge:
    """Equal links between two nodes. ``a`` is nearer the servers.

    links               count over all devices of both nodes
    gbps                of one link
    medium              empty where nothing is bought
    length_m, shortest_m  the longest and shortest cable; 0 where nothing is bought
    """

    a: str
    b: str
    fabric: str
    links: int
    gbps: float
    medium: str
    length_m: float
    shortest_m: float

    @property
    def label(self) -> str:
        """``16 x 400G om4``."""
        return f"{count(self.links)} x {self.gbps:g}G {self.medium}".rstrip()


@dataclass(frozen=True)
class Graph:
    """Nodes by layer, and edges. ``aggregated``: nodes are classes."""

    name: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...]
    aggregated: bool

    def layers(self) -> dict[str, list[GraphNode]]:
        """Nodes by role, from top to bottom; roles without nodes are left out."""
        of_role = {role: [node for node in self.nodes if node.role == role] for role in LAYERS}
        return {role: nodes for role, nodes in of_role.items() if nodes}


def topology(design: Design, wiring: Wiring, most: int = MOST_NODES) -> Graph:
    """Return the graph: every device is a node up to ``most`` devices, else the finest classes of at most ``most``.

    Classes are servers that share their leaf groups, leaves of a group, spines of a pod and cores; failing that by pod,
    by plane, and last by fabric and product. Rails of a rail-only fabric are told apart like planes.
    """
    single = len(wiring.devices) <= most
    rail_only = frozenset(fabric.name for fabric in design.fabrics if fabric.topology == "rail-only")
    classes = list(range(len(wiring.devices))) if single else _classes(wiring, most, rail_only)
    nodes = list(_nodes(wiring, classes, single))
    return Graph(design.case.name, tuple(nodes), tuple(_edges(wiring, classes, nodes)), not single)


# -- classes --------------------------------------------------------------------------------------------------------


def _classes(wiring: Wiring, most: int, rail_only: frozenset[str]) -> list[int]:
    """Return the class of every device, numbered in the order of their first devices."""
    classes: list[int] = []
    for numbers in (_NUMBERS, _NUMBERS[:2], _NUMBERS[:1], ()):
        keys = _keys(wiring, numbers, rail_only)
        place = {key: index for index, key in enumerate(dict.fromkeys(keys))}
        classes = [place[key] for key in keys]
        if len(place) <= most:
            break
    return classes


def _networks(wiring: Wiring, rail_only: frozenset[str]) -> list[Hashable]:
    """The plane of every device, and in a rail-only fabric its rail too."""
    devices = wiring.devices
    return [
        (plane, rail) if fabric in rail_only else plane
        for fabric, plane, rail in zip(devices.fabric, devices.plane.tolist(), devices.rail.tolist(), strict=True)
    ]


def _keys(wiring: Wiring, numbers: Sequence[str], rail_only: frozenset[str]) -> list[Hashable]:
    """The key of every device's class: role, product, fabric, ``numbers``; of servers also their leaves'."""
    devices, links = wiring.devices, wiring.links
    columns: list[list[Hashable]] = [getattr(devices, name).tolist() for name in numbers]
    if columns:
        columns[0] = _networks(wiring, rail_only)
    own: list[tuple[Any, ...]] = list(zip(devices.role, devices.product, devices.fabric, *columns, strict=True))
    leaves = sets(
        (a, (devices.fabric[b], *(column[b] for column in columns[1:])))
        for a, b in set(zip(links.a.tolist(), links.b.tolist(), strict=True))
        if devices.role[a] == "server"
    )
    return [(key, frozenset(leaves.get(row, ()))) for row, key in enumerate(own)]


def _nodes(wiring: Wiring, classes: Sequence[int], single: bool) -> Iterator[GraphNode]:
    devices, sizes = wiring.devices, Counter(classes)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for row, index in enumerate(classes):
        first.setdefault(index, row)
        last[index] = row
    for index, row in first.items():
        name = devices.name[row] if sizes[index] == 1 else f"{devices.name[row]} ... {devices.name[last[index]]}"
        rack, unit = (devices.rack[row], int(devices.unit[row])) if single else ("", 0)
        yield GraphNode(name, devices.role[row], devices.product[row], devices.fabric[row], sizes[index], rack, unit)


def _edges(wiring: Wiring, classes: Sequence[int], nodes: Sequence[GraphNode]) -> list[Edge]:
    links, cables = wiring.links, wiring.cables
    of = np.array(classes)
    medium = ["" if cable == NOTHING else cables.medium[cable] for cable in links.cable.tolist()]
    length = np.append(cables.length_m, 0.0)[links.cable].tolist()
    columns = of[links.a].tolist(), of[links.b].tolist(), links.fabric.tolist(), links.gbps.tolist(), medium
    lengths = grouped(zip(zip(*columns, strict=True), length, strict=True))
    return [
        Edge(nodes[a].id, nodes[b].id, wiring.fabrics[fabric], len(all_), gbps, name, max(all_), min(all_))
        for (a, b, fabric, gbps, name), all_ in lengths.items()
    ]
