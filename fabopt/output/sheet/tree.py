"""A fabric as a tree: planes, pods and groups hold switches, and servers are in what holds all switches they are on.

Things are alike if they are of one product, have as many links of each kind, and were installed at one stage; what
holds others is alike if it holds like things. A run of alike things may be folded into one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from fabopt.output.words import count
from fabopt.parts.names import name_in
from fabopt.schema.design import Design, FabricDesign
from fabopt.units import grouped, plural, some
from fabopt.wiring.model import Ints, Mask, Wiring

ROLES = ("core", "spine", "leaf", "server", "attachment")
_HOSTS = ("server", "attachment")
_OF_NETWORK = re.compile(r"^(p\d{1,9}-)?(r\d{1,9}-)?")
_NUMBERED = re.compile(r"([\w ]+?)s? (\d{1,9})(?:–(\d{1,9}))?")
# Kinds of hosts beside groups that hold others.
_MOST_BESIDE = 4
Path = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Node:
    """A device, several alike, or what holds others in ``rows`` from the top down.

    ``kind`` is equal for all that is alike; ``times``: how many alike it is drawn for; ``role``: empty if it holds
    others.
    """

    title: str
    role: str
    devices: tuple[int, ...]
    kind: int
    rows: tuple[tuple[Node, ...], ...] = ()
    times: int = 1


class FabricTree:
    """The tree of one fabric, from its wiring."""

    def __init__(self, design: Design, wiring: Wiring, fabric: FabricDesign) -> None:
        self.design, self.fabric, self.wiring = design, fabric, wiring
        links = wiring.links
        own = np.flatnonzero(links.fabric == wiring.fabrics.index(fabric.name))
        # Links by end, kind, speed and stage, each of shape (links,).
        self.a, self.b, self.kind = links.a[own], links.b[own], links.kind[own]
        self.gbps, self.stage, self.cable = links.gbps[own], links.stage[own], links.cable[own]
        devices = wiring.devices
        joined = set(self.a.tolist()) | set(self.b.tolist())
        of_fabric = {row for row, name in enumerate(devices.fabric) if name == fabric.name}
        self.devices = sorted(joined | of_fabric)
        self._kinds: dict[Hashable, int] = {}

    def name(self, row: int) -> str:
        """Name of a device, without that of its fabric, and of the plane that holds it."""
        name = self.wiring.devices.name[row].removeprefix(f"{self.fabric.name}-")
        return _OF_NETWORK.sub("", name) if self._is_held else name

    def names(self, rows: Sequence[int]) -> str:
        """``leaf-003–030`` of several devices."""
        first, last = self.name(rows[0]), self.name(rows[-1]).rpartition("-")[2]
        is_run = rows[-1] - rows[0] + 1 == len(rows)
        return first if len(rows) == 1 else f"{first}–{last}" if is_run else f"{first} … {last}"

    def product(self, row: int, has_maker: bool = False) -> str:
        """The name of a device's product, with its maker or without."""
        return name_in(self.design.parts, self.wiring.devices.product[row], has_maker)

    @cached_property
    def _is_held(self) -> bool:
        """Whether planes and rails hold their switches, so that these need not be named after them."""
        devices = self.wiring.devices
        switches = [row for row in self.devices if devices.role[row] not in _HOSTS]
        return len({(devices.plane[row], devices.rail[row]) for row in switches}) < len(switches)

    @cached_property
    def alike(self) -> list[int]:
        """A number for each device, equal for those that are alike."""
        devices = self.wiring.devices
        ends = [
            np.column_stack([near, self.kind, self.gbps, self.stage, np.full(len(near), side)])
            for side, near in enumerate((self.a, self.b))
        ]
        rows, counts = np.unique(np.concatenate(ends), axis=0, return_counts=True)
        links = grouped(
            (int(device), (*facts, number))
            for (device, *facts), number in zip(rows.tolist(), counts.tolist(), strict=True)
        )
        return [
            self._number((role, product, stage, tuple(links.get(row, ()))))
            for row, (role, product, stage) in enumerate(
                zip(devices.role, devices.product, devices.stage.tolist(), strict=True)
            )
        ]

    def speeds(self, own: Mask) -> str:
        """``48 × 400G + 2 × 100G`` of some links, shape (links,)."""
        speeds, counts = np.unique(self.gbps[own], return_counts=True)
        return bundle(dict(zip(speeds.tolist(), counts.tolist(), strict=True)))

    def _number(self, facts: Hashable) -> int:
        return self._kinds.setdefault(facts, len(self._kinds))

    # -- what holds what ----------------------------------------------------------------------------------------------

    @cached_property
    def root(self) -> Node:
        """The whole fabric."""
        return self._node(self.fabric.name, self.paths, 0)

    @cached_property
    def paths(self) -> dict[int, Path]:
        """What holds each device, from the outside in."""
        devices = self.wiring.devices
        switches = [row for row in self.devices if devices.role[row] not in _HOSTS]
        levels: list[tuple[str, Ints]] = [("plane", devices.plane)]
        if self.fabric.topology == "rail-only":
            levels.append(("rail", devices.rail))
        is_grouped = self.fabric.structure.kind in ("dragonfly", "dragonfly+")
        levels.append(("group" if is_grouped else "pod", devices.pod))
        if not is_grouped:
            levels.append(("group", devices.group))
        levels = [level for level in levels if len({*level[1][switches].tolist()} - {-1}) > 1]
        paths: dict[int, Path] = {
            row: tuple((name, int(numbers[row])) for name, numbers in levels if numbers[row] > 0) for row in switches
        }
        paths |= self._of_cores([row for row in switches if devices.role[row] == "core"], paths)
        above: dict[int, Path] = {}
        for near, far in np.unique(np.column_stack([self.a, self.b]), axis=0).tolist():
            if near not in paths and far in paths:
                above[near] = _common(above.get(near, paths[far]), paths[far])
        return paths | {row: above.get(row, ()) for row in self.devices if row not in paths}

    def _of_cores(self, cores: list[int], paths: dict[int, Path]) -> Iterator[tuple[int, Path]]:
        """Cores that serve the same spines are a group of cores."""
        below: dict[int, set[int]] = {row: set() for row in cores}
        for near, far in zip(self.a.tolist(), self.b.tolist(), strict=True):
            if far in below:
                below[far].add(near)
        groups: dict[frozenset[int], int] = {}
        for row in cores:
            group = groups.setdefault(frozenset(below[row]), len(groups) + 1)
            yield row, (*paths[row], ("core group", group))

    def _node(self, title: str, paths: dict[int, Path], depth: int) -> Node:
        here = [row for row, path in paths.items() if len(path) == depth]
        inner: dict[tuple[str, int], dict[int, Path]] = {}
        for row, path in paths.items():
            if len(path) > depth:
                inner.setdefault(path[depth], {})[row] = path
        holders = [self._node(f"{name} {number}", inner[name, number], depth + 1) for name, number in sorted(inner)]
        holders = [self._bare(node) for node in holders]
        roles = self.wiring.devices.role
        by_role = {role: [self._device(row) for row in here if roles[row] == role] for role in ROLES}
        of_cores = [node for node in holders if self._top(node) == "core"]
        rest = [node for node in holders if self._top(node) != "core"]
        hosts = self.folded_hosts([row for row in here if roles[row] in _HOSTS])
        # below groups, lines to hosts would run behind the servers of these
        beside = _MOST_BESIDE if any(roles[row] in _HOSTS for node in rest for row in node.devices) else 0
        lowest = [*rest, *by_role["leaf"], *hosts[:beside]]
        rows = [[*of_cores, *by_role["core"]], by_role["spine"], lowest, hosts[beside:]]
        kept = tuple(tuple(row) for row in rows if row)
        kind = self._number(tuple(tuple(runs(row)) for row in kept))
        return Node(title, "", tuple(paths), kind, kept)

    def _top(self, node: Node) -> str:
        return self.wiring.devices.role[node.devices[0]] if not node.rows else self._top(node.rows[0][0])

    def _bare(self, node: Node) -> Node:
        """What holds one device is that device; one row of them that all holders have needs no frame."""
        alone = len(node.rows) == 1 and len(node.rows[0]) == 1
        return node.rows[0][0] if alone else node

    def _device(self, row: int) -> Node:
        return Node(self.name(row), self.wiring.devices.role[row], (row,), self.alike[row])

    def folded_hosts(self, rows: Sequence[int]) -> list[Node]:
        """Return hosts as nodes, those that are alike as one, servers first."""
        by_kind = grouped((node.kind, node) for node in map(self._device, rows))
        return sorted(map(self.fold, by_kind.values()), key=lambda node: ROLES.index(node.role))

    def fold(self, nodes: Sequence[Node]) -> Node:
        """Return several nodes as one without what they hold."""
        if len(nodes) == 1:
            return nodes[0]
        rows = tuple(row for node in nodes for row in node.devices)
        times = sum(node.times for node in nodes) if len({node.kind for node in nodes}) == 1 else 1
        if all(node.role for node in nodes):
            return Node(self.names(rows), nodes[0].role, rows, nodes[0].kind, (), len(rows))
        numbers = [_NUMBERED.fullmatch(node.title) for node in nodes]
        words = {match[1] if match else "" for match in numbers}
        title = f"{nodes[0].title} and {len(nodes) - 1} more"
        if len(words) == 1 and numbers[0] and numbers[-1]:
            title = f"{plural(numbers[0][1])} {numbers[0][2]}–{numbers[-1][3] or numbers[-1][2]}"
        return Node(title, "", rows, nodes[0].kind, (), times)

    def held(self, node: Node) -> list[str]:
        """``8 leaves``, ``32 servers`` ..., of each of what a node is drawn for."""
        roles, amounts = self.wiring.devices.role, dict.fromkeys(ROLES, 0)
        for row in node.devices:
            amounts[roles[row]] += 1
        return [some(number // node.times, role) for role, number in amounts.items() if number]


def runs(nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """Yield the kind and length of each run of alike nodes."""
    for kind, same in groupby(nodes, key=lambda node: node.kind):
        yield kind, sum(node.times for node in same)


def folded(row: Sequence[Node], most: int, fold: Callable[[Sequence[Node]], Node]) -> list[Node]:
    """Return runs of alike nodes, of each the first ``most`` and the last; the others are folded."""
    shown: list[Node] = []
    for _, run in groupby(row, key=lambda node: node.kind):
        same = list(run)
        last = 1 if most > 2 and same[0].role else 0
        first = most - last
        between = same[first : len(same) - last]
        shown += same if len(same) <= most + 1 else [*same[:first], fold(between), *same[len(same) - last :]]
    return shown


def bundle(links: dict[float, int]) -> str:
    """``48 × 400G`` of links by speed."""
    return " + ".join(f"{count(number)} × {gbps:g}G" for gbps, number in sorted(links.items(), reverse=True))


def _common(path: Path, other: Path) -> Path:
    depth = 0
    while depth < min(len(path), len(other)) and path[depth] == other[depth]:
        depth += 1
    return path[:depth]
