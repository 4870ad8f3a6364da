"""What each stage of a growing Clos adds for its links: whole cages chosen for once, bought when they are first used.

A cage keeps the assembly that it gets. A cable is bought with its first link, a module with the first link of its cage;
what a later stage needs besides (the second fibre of a twin module, the server's end of a link) comes with that stage.
Works on runs of a floor and on flat runs alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_stages import Stages, of_links
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Choice, Option, PartUse, RowShare, undominated
from fabopt.topology.clos.floor_links import Cabling, Joins, Kind, KindKey, cable_at, classes_of, grid_of, links_of
from fabopt.topology.clos.shape import Ints


def flat_cabling(problem: Problem, numbers: ClosNumbers, kind: Kind, run_m: float) -> Cabling | None:
    """All links of a kind over one run; None if nothing on sale is that long."""
    joints, device = links_of(numbers, kind.name, 1)
    classes = classes_of(problem, np.full(len(joints.a), run_m))
    if classes.max(initial=0) >= len(grid_of(problem)):
        return None
    return Cabling(kind, numbers, joints, device, classes)


class _UnitKey(NamedTuple):
    """What the options of a cage follow from: ``runs``, ``when`` are classes and stages of its links, in their order;
    ``run_m`` as in ``StagedLinks``.
    """

    kind: KindKey
    run_m: float | None
    runs: tuple[int, ...]
    when: tuple[int, ...]


_UNIT_OPTIONS: Lookup[LinkTable, _UnitKey, tuple[Option, ...]] = Lookup()


class StagedLinks:
    """Links of one kind with the stage of each. ``run_m``: that of all links; None: on a floor, where runs differ."""

    def __init__(self, problem: Problem, cabling: Cabling, stages: Stages, run_m: float | None) -> None:
        self.problem = problem
        self.cabling = cabling
        self.run_m = run_m
        self.on_floor = run_m is None
        joints = cabling.joints
        self.stage = of_links(cabling.numbers, stages, cabling.kind.name, joints)

    def choices(self, joins: Joins) -> tuple[Choice, ...] | None:
        """What is left to choose; None if nothing on sale makes some of the links."""
        kind = self.cabling.kind
        choices = list(self._unit_choices(joins)) if kind.need.one_sided or kind.mixes else [self._whole_choice(joins)]
        return None if any(not one.options for one in choices) else tuple(choices)

    # -- cage by cage ---------------------------------------------------------------------------------------------

    def _unit_choices(self, joins: Joins) -> Iterable[Choice]:
        """Choices for the cages of the end with several ports in each; equal ones (runs, stages) together."""
        near, far = self.cabling.kind.ports
        joints = self.cabling.joints
        size = max(near.ports, far.ports)
        device, slot = (self.cabling.near_device, joints.a_slot) if near.ports > 1 else (joints.b, joints.b_slot)
        order = np.lexsort((slot, device))
        cage = _codes(device, slot // size)[order]
        starts = np.flatnonzero(np.append(True, np.diff(cage) != 0))
        sizes = np.diff(np.append(starts, len(cage)))
        lane = np.arange(len(order)) - np.repeat(starts, sizes)
        kinds = int(self.stage.max(initial=0)) + 1
        wide = np.full((len(starts), size), -1)
        wide[np.repeat(np.arange(len(starts)), sizes), lane] = (self.cabling.classes * kinds + self.stage)[order]
        units: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        for row, count in _different(wide):
            used = row[row >= 0]
            units[tuple((used // kinds).tolist()), tuple((used % kinds).tolist())] = count
        for (runs, when), count in units.items():
            key = (*self.cabling.kind.key, "staged", runs, when)
            yield Choice(key, count, self._unit_options(joins, runs, when))

    def _unit_options(self, joins: Joins, runs: tuple[int, ...], when: tuple[int, ...]) -> tuple[Option, ...]:
        key = _UnitKey(self.cabling.kind.key, self.run_m, runs, when)
        return _UNIT_OPTIONS.of(self.problem.links, key, self._new_unit_options, joins, runs, when)

    def _new_unit_options(self, joins: Joins, runs: tuple[int, ...], when: tuple[int, ...]) -> tuple[Option, ...]:
        grid = grid_of(self.problem)
        options = []
        for assembly in joins(float(grid[max(runs)]), len(set(runs)) > 1):
            rows = [self._unit_row(assembly, runs, when, stage) for stage in sorted(set(when))]
            options.append(Option(tuple(rows)))
        return undominated(options)

    def _unit_row(self, assembly: Assembly, runs: tuple[int, ...], when: tuple[int, ...], stage: int) -> RowShare:
        """What one cage adds at a stage."""
        near, far = self.cabling.kind.ports
        new = [lane for lane, first in enumerate(when) if first == stage]
        whole = int(stage == min(when))
        paired = near.ports > 1 and far.ports > 1
        near_cages = whole if near.ports > 1 else len(new)
        far_cages = whole if paired or near.ports == 1 else len(new)
        per_cable = 1 if assembly.mode is Mode.LINK else assembly.ports_per_cable
        cables: dict[Item, int] = {}
        for start in range(0, len(when), per_cable):
            if min(when[start : start + per_cable]) == stage:
                item = cable_at(self.problem, assembly, max(runs[start : start + per_cable]))
                cables[item] = cables.get(item, 0) + 1
        grid = grid_of(self.problem)
        return RowShare(
            *self.cabling.kind.ends, None, assembly, len(new), near_cages, far_cages,
            _parts(assembly, near_cages, cables, far_cages),
            tuple(float(grid[at]) for at in runs) if self.on_floor else None, stage, when,
        )  # fmt: skip

    # -- all at once ----------------------------------------------------------------------------------------------

    def _whole_choice(self, joins: Joins) -> Choice:
        """One assembly for every link."""
        options = []
        longest = float(grid_of(self.problem)[self.cabling.classes.max(initial=0)])
        for assembly in joins(longest, self.on_floor):
            if self.cabling.kind.need.quantities(assembly).fits:
                options.append(Option(tuple(self.whole_rows(assembly))))
        kept = undominated(options)
        return Choice((*self.cabling.kind.key, "staged", tuple(option.rows for option in kept)), 1, kept)

    def whole_rows(
        self, assembly: Assembly, shared_cages: Sequence[int] = (), shared_cables: Sequence[int] = ()
    ) -> Iterable[RowShare]:
        """What every stage adds if one assembly makes every link.

        ``shared_cages``, ``shared_cables``: leaves where attachments fill up the last cage, the last cable of the
        servers, from the first stage on.
        """
        joints, per_cable = self.cabling.joints, assembly.ports_per_cable
        near, far = self.cabling.kind.ports
        if assembly.mode is Mode.PAIR:
            joints = links_of(self.cabling.numbers, self.cabling.kind.name, per_cable)[0]
        near_cage = _codes(self.cabling.near_device, joints.a_slot // near.ports)
        far_cage = _codes(joints.b, joints.b_slot // far.ports)
        if assembly.mode is Mode.LINK:
            cable = np.arange(len(joints.a))
        elif assembly.mode is Mode.FAR:
            cable = _codes(joints.b, joints.b_slot // per_cable)
        else:
            cable = _codes(self.cabling.near_device, joints.a_slot // per_cable)
        cable_class = np.zeros(int(cable.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(cable_class, cable, self.cabling.classes)
        near_when, far_when, cable_when = (_earliest(code, self.stage) for code in (near_cage, far_cage, cable))
        far_when[far_cage[self._in_last(shared_cages, far.ports)]] = 0
        if assembly.mode is Mode.FAR:
            cable_when[cable[self._in_last(shared_cables, per_cable)]] = 0
        longest = float(grid_of(self.problem)[self.cabling.classes.max(initial=0)])
        named = assembly._replace(length_m=longest) if self.on_floor else assembly
        for stage in range(int(self.stage.max(initial=0)) + 1):
            cables: dict[Item, int] = {}
            for length_class, count in enumerate(np.bincount(cable_class[cable_when == stage]).tolist()):
                if count:
                    item = cable_at(self.problem, assembly, length_class)
                    cables[item] = cables.get(item, 0) + count
            near_cages, far_cages = int((near_when == stage).sum()), int((far_when == stage).sum())
            yield RowShare(
                *self.cabling.kind.ends, None, named, int((self.stage == stage).sum()), near_cages, far_cages,
                _parts(assembly, near_cages, cables, far_cages), () if self.on_floor else None, stage,
            )  # fmt: skip

    def _in_last(self, leaves: Sequence[int], ports: int) -> Ints:
        """Links in the last cage (or cable) of these leaves, where it has room for more than the servers' ports."""
        slots, leaf = self.cabling.joints.b_slot, self.cabling.joints.b
        used = np.zeros(int(leaf.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(used, leaf, slots + 1)
        last = used[leaf] // ports
        return np.flatnonzero(np.isin(leaf, leaves) & (slots // ports == last))


def _parts(assembly: Assembly, near: int, cables: dict[Item, int], far: int) -> tuple[PartUse, ...]:
    parts = [PartUse(assembly.near, near, "from")] if assembly.near is not None and near else []
    parts += [PartUse(item, count, None) for item, count in sorted(cables.items(), key=lambda pair: pair[0].key)]
    return tuple([*parts, PartUse(assembly.far, far, "to")] if assembly.far is not None and far else parts)


def _codes(first: Ints, other: Ints) -> Ints:
    """Numbers from 0, equal for equal pairs of numbers from 0."""
    code = np.unique(first * (int(other.max(initial=0)) + 1) + other, return_inverse=True)[1]
    return np.asarray(code).ravel()


def _different(rows: Ints) -> Iterable[tuple[Ints, int]]:
    """Different rows of numbers from -1, and how often each is there."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        code = _codes(code, column + 1)
    _, first, counts = np.unique(code, return_index=True, return_counts=True)
    yield from zip(rows[first], counts.tolist(), strict=True)


def _earliest(code: Ints, stage: Ints) -> Ints:
    """The earliest stage of the links of each cage or cable."""
    first = np.full(int(code.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, code, stage)
    return first
