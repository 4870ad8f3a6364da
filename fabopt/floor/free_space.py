"""Space that is left for switches in every rack: units, load, number of switches and cable ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabopt.floor.airflow import HallAir
from fabopt.floor.layouts import AIR, Layout, own_part
from fabopt.floor.loads import NO_LOAD, UNLIMITED, RackLoad
from fabopt.floor.policies import Part, SwitchSize
from fabopt.floor.rack_rules import NO_LIMIT, RackLimits
from fabopt.floor.racks import Floats, Ints, Mask
from fabopt.floor.standing import Neighbours, StandingFabric, StandingSwitches, by_product

# Panels of two kinds of links, and cable managers, are whole units.
PANELS_ROUNDED_U = 2


@dataclass(frozen=True, eq=False)
class FreeSpace:
    """Space left for switches of a fabric in every rack, each of shape (racks,).

    ``units``: whole ones; ``load``: of each quantity, shape (quantities, racks); ``top_unit``: the highest free unit;
    ``installed``: number of switches; ``cable_ends``: at them; ``most``: limits of these two in each rack. ``row``: of
    each rack; ``row_mw``: heat to air in milliwatts that each row still takes, shape (rows,); None: any. ``beside``:
    whether a rack has servers; ``air``: the way in which racks of switches blow; ``panels_u``: units that the panels of
    its switches take of ``units``; None: none are kept for them.
    """

    units: Ints
    load: Ints
    top_unit: Ints
    installed: Ints
    cable_ends: Ints
    most: tuple[Ints, Ints]
    limits: RackLimits
    row: Ints
    row_mw: Ints | None
    beside: Mask
    air: HallAir
    panels_u: Floats | None = None

    def times(self, load: RackLoad) -> Ints:
        """How often each rack, in a row by itself, takes a load, shape (racks,)."""
        most = np.full(len(self.units), UNLIMITED)
        for free, amount in zip(self.load, load, strict=True):
            if amount:
                most = np.minimum(most, free // amount)
        if self.row_mw is not None and load.air_mw:
            most = np.minimum(most, self.row_mw[self.row] // load.air_mw)
        return most

    def takes(self, racks: Ints, load: RackLoad) -> bool:
        """Whether rows take a load in each of ``racks``, shape (loads,), repeated for several."""
        if self.row_mw is None:
            return True
        counts = np.bincount(self.row[racks], minlength=len(self.row_mw))
        return bool((counts * load.air_mw <= self.row_mw).all())

    @property
    def is_overdrawn(self) -> bool:
        """Whether a rack or a row has more than it takes before any switch is there."""
        return bool((self.load < 0).any()) or (self.row_mw is not None and bool((self.row_mw < 0).any()))

    def switches(self, size: SwitchSize) -> Ints:
        """Number of further switches of a size that each rack holds, shape (racks,)."""
        most = self.limits.most_switches(self.units, self.installed, size.units)
        if self.panels_u is not None:
            left = self.units - self.panels_u - PANELS_ROUNDED_U * (size.panels_u > 0)
            most = np.minimum(most, left // (size.units + float(self.limits.manager_units) + size.panels_u)).astype(int)
        if any(size.load):
            most = np.minimum(most, self.times(size.load))
        if self.limits.switches < NO_LIMIT:
            most = np.minimum(most, self.most[0] - self.installed)
        if size.cable_ends:
            most = np.minimum(most, (self.most[1] - self.cable_ends) // size.cable_ends)
        # Rule ``racks_blow_one_way``
        if size.airflows:
            most = self.air.takes(size.airflows, self.beside) * most
        return np.asarray(np.maximum(0, most))

    def unit(self, racks: Ints, before: Ints, size: SwitchSize) -> Ints:
        """The lowest unit of a switch in each of ``racks``, below ``before`` others of its size, broadcast.

        The cable managers of a switch are below it.
        """
        managers = self.limits.managers
        installed = self.installed[racks]
        between = managers(installed + before) - managers(installed)
        return np.asarray(self.top_unit[racks] - (before + 1) * size.units - between + 1)

    def without(self, racks: Ints, size: SwitchSize) -> FreeSpace:
        """The space left with a switch in each of ``racks``.

        ``racks``: indices, shape (switches,), repeated for several switches.
        """
        counts = np.bincount(racks, minlength=len(self.units))
        installed = self.installed + counts
        taken = counts * size.units + self.limits.managers(installed) - self.limits.managers(self.installed)
        return replace(
            self,
            units=self.units - taken,
            load=self.load - np.outer(size.load, counts) if any(size.load) else self.load,
            top_unit=self.top_unit - taken,
            installed=installed,
            cable_ends=self.cable_ends + counts * size.cable_ends,
            row_mw=self._rows_without(racks, size.load),
            panels_u=None if self.panels_u is None else self.panels_u + counts * size.panels_u,
        )

    def below(self, rack: int, units: int, load: RackLoad) -> FreeSpace:
        """The space left with one more device in a rack, which is no switch."""
        there = np.bincount([rack], minlength=len(self.units))
        return replace(
            self,
            units=self.units - units * there,
            load=self.load - np.outer(load, there),
            top_unit=self.top_unit - units * there,
            row_mw=self._rows_without(np.array([rack]), load),
        )

    def around(self, staying: Sequence[tuple[StandingSwitches, SwitchSize]]) -> FreeSpace:
        """The space left beside the switches of each tier that stay, of a size, and below the lowest of a rack."""
        space, bottom = self, self.top_unit - self.units
        for own, of_tier in staying:
            for size, of_product in by_product(of_tier, own.product):
                space = space.without(own.rack[of_product], size)
        top = self.top_unit.copy()
        for own, _ in staying:
            np.minimum.at(top, own.rack, own.unit - 1)
        # the managers of the lowest one are below it
        last = self.limits.managers(space.installed) - self.limits.managers(np.maximum(0, space.installed - 1))
        top = np.where(space.installed > self.installed, top - last, top)
        return replace(space, top_unit=top, units=np.maximum(0, top - bottom))

    def _with_nics(self, server_racks: Ints, nics: RackLoad) -> FreeSpace:
        """The space left beside the NICs in every rack of servers."""
        if not any(nics):
            return self
        load = self.load - np.outer(nics, self.beside)
        return replace(self, load=load, row_mw=self._rows_without(server_racks, nics))

    def _rows_without(self, racks: Ints, load: RackLoad) -> Ints | None:
        if self.row_mw is None:
            return None
        return np.asarray(self.row_mw - np.bincount(self.row[racks], minlength=len(self.row_mw)) * load.air_mw)


def space_in(layout: Layout, nics: RackLoad = NO_LOAD) -> FreeSpace:
    """Space for a fabric in the racks of a layout before any switch is installed.

    ``nics``: load of its NICs in every rack of servers; ``load`` is negative where it exceeds what is free.
    """
    return _whole_space(layout)._with_nics(layout.server_racks, nics)


def space_beside(layout: Layout, nics: RackLoad = NO_LOAD) -> FreeSpace:
    """Space for a fabric in the racks of a layout; where several are in service, what is there of its own, and its
    share of the room below the lowest switch of any. ``nics``: load of its NICs in every rack of servers.
    """
    space, own = _whole_space(layout), layout.standing
    if own is not None and layout.neighbours is not None:
        space = _below_all(space, own, layout.neighbours)
    space = space._with_nics(layout.server_racks, nics)
    for host in () if own is None else own.hosts:
        space = space.below(host.rack, max(0, int(space.top_unit[host.rack]) - host.unit + 1), host.load)
    return replace(space, units=np.maximum(0, space.units))


def _whole_space(layout: Layout) -> FreeSpace:
    none, plan = np.zeros(len(layout.plan), dtype=np.int64), layout.plan
    of_racks = layout.free_units, layout.free_load, layout.top_unit, none, none, layout.most
    panels_u = np.zeros(len(plan)) if layout.keeps_panels else None
    beside = layout.servers_in_rack > 0
    return FreeSpace(*of_racks, plan.limits, plan.row, layout.free_row_mw, beside, layout.air, panels_u)


def _below_all(space: FreeSpace, own: StandingFabric, neighbours: Neighbours) -> FreeSpace:
    """Space of whole racks, as a fabric in service shares it with its neighbours."""
    racks, share, bottom = len(space.units), neighbours.share, space.top_unit - space.units
    taken, there = neighbours.taken(racks), own.taken(racks)
    top = np.minimum(space.top_unit, neighbours.lowest_units(racks, space.limits) - 1)

    def part(what: Callable[[Part, Ints], Ints], parts: Sequence[Part], amounts: Ints) -> Ints:
        """The fabric's part of what is left in each rack, shape (racks,); ``parts``: beside servers, and alone."""
        beside, alone = (what(own, np.maximum(0, amounts)) for own in parts)
        return np.where(space.beside, beside, alone)

    of_loads = zip(share.beside.load, share.alone.load, strict=True)
    loads = [
        has + part(own_part, parts, most - of_all)
        for parts, most, of_all, has in zip(of_loads, space.load, taken.load, there.load, strict=True)
    ]
    row_mw = space.row_mw
    if row_mw is not None:
        of_all, has = (np.bincount(space.row, one.load[AIR], len(row_mw)).astype(np.int64) for one in (taken, there))
        left, parts = np.maximum(0, row_mw - of_all), (share.beside.load[AIR], share.alone.load[AIR])
        row_mw = has + sum(own_part(of_room, left) for of_room in parts) // len(parts)
    return replace(
        space,
        units=part(Part.of, (share.beside.units, share.alone.units), top - bottom),
        top_unit=top - part(Part.start, (share.beside.units, share.alone.units), top - bottom),
        load=np.array(loads),
        most=(
            there.switches
            + part(Part.of, (share.beside.switches, share.alone.switches), space.most[0] - taken.switches),
            there.cable_ends
            + part(Part.of, (share.beside.cable_ends, share.alone.cable_ends), space.most[1] - taken.cable_ends),
        ),
        row_mw=row_mw,
    )
