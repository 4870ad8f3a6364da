"""A Clos candidate on a floor: where its switches stand, how long each run is, and what may be bought for it.

Runs count by *length class*: the shortest length on sale that covers them. Links of one cage are chosen for together,
each cable of the length that its own links need. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.floor.placement import SwitchSize, place
from fabopt.floor.racks import Positions
from fabopt.network.clos_links import ClosNumbers, TierLinks, leaf_spine, server_leaf, spine_core
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.problem import Problem
from fabopt.schema.design import Box
from fabopt.topology.candidate import Choice, Option, PartUse, RowShare, undominated
from fabopt.topology.clos.shape import Ints, Parts, Shape
from fabopt.topology.link_parts import Floats, Need

# What decides which parts a kind of links may be made of: equal keys have equal options.
KindKey = tuple[Hashable, ...]


class Standing(NamedTuple):
    """A layout with the places of a candidate's switches: leaves, spines, cores."""

    layout: Layout
    stands: tuple[Positions, ...]
    numbers: ClosNumbers


class Kind(NamedTuple):
    """One kind of links that has to be chosen for. ``mixes``: whole cages meet whole cages."""

    name: str
    ends: tuple[Box, Box]
    ports: tuple[PortType, PortType]
    need: Need
    mixes: bool
    key: KindKey


class Cabling(NamedTuple):
    """A kind with the run of every link as a class; ``near_device``: number of what has its own cages at that end."""

    kind: Kind
    numbers: ClosNumbers
    joints: TierLinks
    near_device: Ints
    classes: Ints

    def slots(self, per_cable: int) -> Ints:
        """Slots at the near end when cables join pairs of devices, so many links each."""
        return links_of(self.numbers, self.kind.name, per_cable)[0].a_slot


Joins = Callable[[float, bool], Sequence[Assembly]]


def numbers_of(nic: NicOption, shape: Shape) -> ClosNumbers:
    """What the links of one candidate follow from."""
    return ClosNumbers(
        servers=int(shape.servers), planes=nic.planes, nics=nic.nics_per_server, ports=nic.ports_per_nic,
        shared_cages=not nic.own_cages, group=int(shape.g), per_leaf=int(shape.k), uplinks=int(shape.u),
        spines=int(shape.spines), pod_groups=int(shape.groups_per_pod) or int(shape.groups),
        rail_pods=bool(shape.rail_pods), core_spines=int(shape.q), core_links=int(shape.m2),
        group_cores=int(shape.cores_per_group) if int(shape.m2) else 0, sizes=shape.sizes, apart=nic.apart,
        dual=nic.dual,
    )  # fmt: skip


def standing_of(problem: Problem, layout: Layout, parts: Parts, shape: Shape) -> Standing | None:
    """The candidate's switches in their racks; None if they do not fit."""
    numbers = numbers_of(parts.nic, shape)
    stands = place(layout, numbers, switch_sizes(problem, parts))
    return None if stands is None else Standing(layout, stands, numbers)


def switch_sizes(problem: Problem, parts: Parts) -> tuple[SwitchSize, ...]:
    """What a switch of each tier takes of a rack, from the leaves up."""
    tiers: list[tuple[SwitchType | None, tuple[CageUse | None, ...]]] = [
        (parts.leaf, (parts.leaf_down, parts.leaf_up)),
        (parts.spine, (parts.spine_down, parts.spine_up)),
        (parts.core, (parts.core_down,)),
    ]
    return tuple(
        switch_size(problem, switch, tuple(use for use in uses if use is not None), parts.protocol)
        for switch, uses in tiers
        if switch is not None
    )


def switch_size(problem: Problem, switch: SwitchType, uses: tuple[CageUse, ...], protocol: str) -> SwitchSize:
    """Height of a switch, and its power with the hungriest modules in all cages of the groups in use (0 where no
    rack has a limit on it).
    """
    if problem.site.rack_power_w is None:
        return SwitchSize(float(switch.product.rack_units), 0)
    links = problem.links
    return _POWERED.of(links, (switch, uses, protocol), _powered, links, switch, uses, protocol)


_POWERED: Lookup[LinkTable, tuple[SwitchType, tuple[CageUse, ...], str], SwitchSize] = Lookup()


def _powered(links: LinkTable, switch: SwitchType, uses: tuple[CageUse, ...], protocol: str) -> SwitchSize:
    cages = {use.group: use for use in uses}
    modules_mw = 0
    for use in cages.values():
        fitting = links.modules(use.port, protocol, True)
        modules_mw += use.cages * max((one.item.power_mw for one in fitting), default=0)
    return SwitchSize(float(switch.product.rack_units), switch.item.power_mw + modules_mw)


def grid_of(problem: Problem) -> Floats:
    """All lengths on sale, rising: the classes of runs. A run past the last one cannot be cabled."""
    return problem.item_table.lengths_m


def classes_of(problem: Problem, run_m: Floats) -> Ints:
    """Index of the class of every run; as many as there are classes where nothing is long enough."""
    return np.searchsorted(grid_of(problem), run_m - 1e-9)


def links_of(numbers: ClosNumbers, kind: str, per_cable: int) -> tuple[TierLinks, Ints]:
    """Links of a kind, and the number of the near device with cages of its own (a NIC; a server whose NICs share)."""
    if kind == "server-leaf":
        links, nic, _ = server_leaf(numbers, per_cable)
        return links, links.a if numbers.shared_cages else links.a * numbers.nics + nic
    joints = (leaf_spine if kind == "leaf-spine" else spine_core)(numbers, per_cable)
    return joints, joints.a


def ends_of(standing: Standing, kind: str) -> tuple[Positions, Positions]:
    """Places of the devices at both ends of a kind of links."""
    layout, stands = standing.layout, standing.stands
    if kind == "server-leaf":
        return layout.server_positions, stands[0]
    return (stands[0], stands[1]) if kind == "leaf-spine" else (stands[1], stands[2])


def runs_between(standing: Standing, kind: str, joints: TierLinks) -> Floats:
    """The run of every link."""
    below, above = ends_of(standing, kind)
    return standing.layout.plan.run_m(
        below.rack[joints.a], below.height_m[joints.a], above.rack[joints.b], above.height_m[joints.b]
    )


def cabling_of(problem: Problem, standing: Standing, kind: Kind) -> Cabling | None:
    """Measure the links of a kind; None if some run is too long for everything on sale."""
    joints, device = links_of(standing.numbers, kind.name, 1)
    classes = classes_of(problem, runs_between(standing, kind.name, joints))
    if classes.max(initial=0) >= len(grid_of(problem)):
        return None
    return Cabling(kind, standing.numbers, joints, device, classes)


def floor_choices(problem: Problem, cabling: Cabling, joins: Joins) -> tuple[Choice, ...] | None:
    """What is left to choose for a kind of links; None if nothing on sale makes some of them."""
    if cabling.kind.need.one_sided or cabling.kind.mixes:
        choices = list(_unit_choices(problem, cabling, joins))
    else:
        choices = [_whole_choice(problem, cabling, joins)]
    return None if any(not one.options for one in choices) else tuple(choices)


# -- cage by cage --------------------------------------------------------------------------------------------------


def _unit_choices(problem: Problem, cabling: Cabling, joins: Joins) -> Iterable[Choice]:
    """Choices for the cages of the end with several ports in each (bundles between two such): equal ones together."""
    near, far = cabling.kind.ports
    size = max(near.ports, far.ports)
    device, slot = (
        (cabling.near_device, cabling.joints.a_slot) if near.ports > 1 else (cabling.joints.b, cabling.joints.b_slot)
    )
    order = np.lexsort((slot, device))
    cage = slot[order] // size
    first = np.flatnonzero(np.append(True, (np.diff(device[order]) != 0) | (np.diff(cage) != 0)))
    units = np.full((len(first), size), -1)
    lane = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    number = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
    units[number, lane] = cabling.classes[order]
    base = len(grid_of(problem)) + 1
    code = (units + 1) @ base ** np.arange(size, dtype=np.int64)
    _, first_of, counts = np.unique(code, return_index=True, return_counts=True)
    for kind, count in zip(units[first_of].tolist(), counts.tolist(), strict=True):
        classes = tuple(one for one in kind if one >= 0)
        known = (cabling.kind.key, classes)
        options = _UNIT_OPTIONS.of(problem.links, known, _unit_options, problem, cabling, joins, classes)
        yield Choice((*cabling.kind.key, "floor", classes), count, options)


# What may be bought for a cage of a kind of links whose runs are of these classes.
_UNIT_OPTIONS: Lookup[LinkTable, tuple[KindKey, tuple[int, ...]], tuple[Option, ...]] = Lookup()


def _unit_options(problem: Problem, cabling: Cabling, joins: Joins, classes: tuple[int, ...]) -> tuple[Option, ...]:
    grid = grid_of(problem)
    mixed = len(set(classes)) > 1
    options = []
    for assembly in joins(float(grid[max(classes)]), mixed):
        cables = unit_cables(problem, assembly, classes)
        near_cages, far_cages = _cages(cabling, len(classes))
        parts = [PartUse(assembly.near, near_cages, "from")] if assembly.near is not None else []
        parts += [PartUse(item, number, None) for item, number in cables.items()]
        parts += [PartUse(assembly.far, far_cages, "to")] if assembly.far is not None else []
        runs = tuple(float(grid[at]) for at in classes)
        row = RowShare(*cabling.kind.ends, None, assembly, len(classes), near_cages, far_cages, tuple(parts), runs)
        options.append(Option((row,)))
    return undominated(options)


def _cages(cabling: Cabling, ports: int) -> tuple[int, int]:
    """Cages of a unit at both ends."""
    near, far = cabling.kind.ports
    if near.ports > 1 and far.ports > 1:
        return 1, 1
    return (1, ports) if near.ports > 1 else (ports, 1)


def unit_cables(problem: Problem, assembly: Assembly, classes: Sequence[int]) -> dict[Item, int]:
    """Cables of an assembly for the links of one cage, each as long as its own links need."""
    per_cable = 1 if assembly.mode is Mode.LINK else assembly.ports_per_cable
    cables: dict[Item, int] = {}
    for start in range(0, len(classes), per_cable):
        item = cable_at(problem, assembly, max(classes[start : start + per_cable]))
        cables[item] = cables.get(item, 0) + 1
    return dict(sorted(cables.items(), key=lambda pair: pair[0].length_m or 0))


def cable_at(problem: Problem, assembly: Assembly, length_class: int) -> Item:
    """The cable of an assembly in the shortest length for a class that it covers."""
    length = float(grid_of(problem)[length_class])
    return next(item for item in problem.item_table.lengths(assembly.cable.id) if (item.length_m or 0.0) >= length)


# -- all at once ---------------------------------------------------------------------------------------------------


def _whole_choice(problem: Problem, cabling: Cabling, joins: Joins) -> Choice:
    """One assembly for every link, in the lengths that its cables need."""
    options = []
    for assembly in joins(float(grid_of(problem)[cabling.classes.max(initial=0)]), True):
        parts = cabling.kind.need.quantities(assembly)
        if parts.fits:
            row = whole_row(problem, cabling, assembly, int(parts.near), int(parts.far))
            options.append(Option((row,)))
    kept = undominated(options)
    return Choice((*cabling.kind.key, "whole", tuple(option.rows for option in kept)), 1, kept)


def whole_row(problem: Problem, cabling: Cabling, assembly: Assembly, near: int, far: int) -> RowShare:
    """All links of a kind by one assembly; ``near``, ``far``: occupied cages."""
    parts = [PartUse(assembly.near, near, "from")] if assembly.near is not None else []
    parts += [PartUse(item, number, None) for item, number in _all_cables(problem, cabling, assembly).items()]
    parts += [PartUse(assembly.far, far, "to")] if assembly.far is not None else []
    longest = float(grid_of(problem)[cabling.classes.max(initial=0)])
    links = len(cabling.classes)
    return RowShare(*cabling.kind.ends, None, assembly._replace(length_m=longest), links, near, far, tuple(parts), ())


def _all_cables(problem: Problem, cabling: Cabling, assembly: Assembly) -> dict[Item, int]:
    """Cables by length when one assembly makes every link."""
    joints, per_cable, classes = cabling.joints, assembly.ports_per_cable, cabling.classes
    if assembly.mode is not Mode.LINK:
        device, slot = cabling.near_device, joints.a_slot
        if assembly.mode is Mode.FAR:
            device, slot = joints.b, joints.b_slot
        elif assembly.mode is Mode.PAIR:
            slot = cabling.slots(per_cable)
        _, cable = np.unique(np.stack([device, slot // per_cable]), axis=1, return_inverse=True)
        classes = np.zeros(int(cable.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(classes, np.asarray(cable).ravel(), cabling.classes)
    counts = np.bincount(classes)
    cables: dict[Item, int] = {}
    for length_class in np.flatnonzero(counts).tolist():
        item = cable_at(problem, assembly, length_class)
        cables[item] = cables.get(item, 0) + int(counts[length_class])
    return cables
