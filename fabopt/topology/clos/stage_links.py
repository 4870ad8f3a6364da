"""Link parts that each stage of a growing Clos adds: whole cages chosen for once, bought when they are first used.

A cage keeps the assembly that it gets. A cable is bought with its first link, a module with the first link of its cage;
other parts of a later link (the second fibre of a twin module, the server's end of a link) come with its stage. Works
on runs of a floor and on flat runs alike.

The kinds of links of a Clos candidate: quantities of each, and the open choices of its parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.group_runs import classes_of_runs
from fabopt.network.clos_links import TierLinks
from fabopt.network.clos_stages import Stages, of_links
from fabopt.network.components import apart_from_first
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.switches import CageUse
from fabopt.problem.problem import Problem
from fabopt.schema.resilience import CABLES_OF_PEER_LINK, PEER_LINK
from fabopt.topology.candidate import Choice, Option, PartUse, RowShare, undominated
from fabopt.topology.clos.cabling import (
    Cabling,
    KindKey,
    KindLinks,
    LinkType,
    cable_at,
    cables_of_classes,
    links_of,
    numbers_of,
    shuffles_of,
)
from fabopt.topology.clos.joins import server_assemblies
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Ints, Parts, Shape, down_cage_limit, up_cage_limit
from fabopt.topology.link_parts import Need, PeerLinks, Side


class _UnitKey(NamedTuple):
    """Key of the options of a cage: ``runs``, ``when`` are classes and stages of its links, in their order; ``flat_m``
    as in ``KindLinks``.
    """

    kind: KindKey
    flat_m: float | None
    runs: tuple[int, ...]
    when: tuple[int, ...]


_UNIT_OPTIONS: Lookup[LinkTable, _UnitKey, tuple[Option, ...]] = Lookup()


class StagedLinks:
    """Links of one kind with the stage of each."""

    def __init__(self, problem: Problem, links: KindLinks, cabling: Cabling, stages: Stages) -> None:
        self.problem = problem
        self.links = links
        self.cabling, self.stages = cabling, stages
        self.lengths_m = problem.item_table.lengths_m
        self.stage = of_links(cabling.numbers, stages, cabling.kind.name, cabling.links)
        lends = cabling.kind.name == "leaf-spine" and any(stage.pair_links for stage in stages)
        # modules of several ports, between which cables are lent: they have to be alike
        self.alike = lends and cabling.kind.ports[1].ports > 1

    def choices(self) -> tuple[Choice, ...] | None:
        """The open choices of parts; None if nothing on sale makes some of the links."""
        kind = self.cabling.kind
        by_cage = (kind.need.one_sided or kind.mixes) and not self.alike
        choices = list(self._unit_choices()) if by_cage else [self._whole_choice()]
        return None if any(not choice.options for choice in choices) else tuple(choices)

    # -- cage by cage ---------------------------------------------------------------------------------------------

    def _unit_choices(self) -> Iterable[Choice]:
        """Choices for the cages of the end with several ports in each; equal ones (runs, stages) together."""
        near, far = self.cabling.kind.ports
        links = self.cabling.links
        size = max(near.ports, far.ports)
        device, slot = (self.cabling.near_device, links.a_slot) if near.ports > 1 else (links.b, links.b_slot)
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
            yield Choice(key, count, self._unit_options(runs, when))

    def _unit_options(self, runs: tuple[int, ...], when: tuple[int, ...]) -> tuple[Option, ...]:
        key = _UnitKey(self.cabling.kind.key, self.links.flat_m, runs, when)
        return _UNIT_OPTIONS.of(self.problem.links, key, self._new_unit_options, runs, when)

    def _new_unit_options(self, runs: tuple[int, ...], when: tuple[int, ...]) -> tuple[Option, ...]:
        options = []
        for assembly in self.links.joins(float(self.lengths_m[max(runs)]), len(set(runs)) > 1):
            rows = [self._unit_row(assembly, runs, when, stage) for stage in sorted(set(when))]
            options.append(Option(tuple(rows)))
        return undominated(options)

    def _unit_row(self, assembly: Assembly, runs: tuple[int, ...], when: tuple[int, ...], stage: int) -> RowShare:
        """Parts that one cage adds at a stage."""
        near, far = self.cabling.kind.ports
        new = [lane for lane, first in enumerate(when) if first == stage]
        whole = int(stage == min(when))
        paired = near.ports > 1 and far.ports > 1
        near_cages = whole if near.ports > 1 else len(new)
        far_cages = whole if paired or near.ports == 1 else len(new)
        per_cable = 1 if assembly.mode is Mode.LINK else assembly.ports_per_cable
        cables = Counter(
            cable_at(self.problem, assembly, max(runs[start : start + per_cable]))
            for start in range(0, len(when), per_cable)
            if min(when[start : start + per_cable]) == stage
        )
        runs_m = self.links.noted_runs_m(tuple(float(self.lengths_m[length_class]) for length_class in runs))
        return RowShare(
            *self.cabling.kind.ends, None, assembly, len(new), near_cages, far_cages,
            _parts(assembly, near_cages, cables, far_cages), runs_m, stage, when,
        )  # fmt: skip

    # -- all at once ----------------------------------------------------------------------------------------------

    def _whole_choice(self) -> Choice:
        """A choice of one assembly for every link; where cables are lent from cages of several ports, of a cable each.

        Rule ``stages_only_add``.
        """
        ways = [
            assembly
            for assembly in self.links.joins(self.links.longest_m, self.links.flat_m is None)
            if not self.alike or assembly.mode in (Mode.LINK, Mode.NEAR)
            if self.cabling.kind.need.quantities(assembly).fits
        ]
        options = [Option(tuple(self.whole_rows(assembly))) for assembly in ways]
        kept = undominated([*options, *self._beside_options(ways)])
        return Choice((*self.cabling.kind.key, "staged", tuple(option.rows for option in kept)), 1, kept)

    def _beside_options(self, ways: Sequence[Assembly]) -> Iterable[Option]:
        """Options of one assembly for the links in service and those in cages with them, and another for all others."""
        is_beside = self._is_beside()
        if is_beside.any() and not is_beside.all():
            parts = [
                StagedLinks(self.problem, self.links, self.cabling.of(rows), self.stages)
                for rows in (~is_beside, is_beside)
            ]
            straight = [assembly for assembly in ways if assembly.mode is Mode.LINK]
            own, others = (undominated([Option(tuple(part.whole_rows(one))) for one in straight]) for part in parts)
            for first, then in product(own, others):
                if first.rows[0].assembly != then.rows[0].assembly:
                    yield Option((*first.rows, *then.rows))

    def _is_beside(self) -> NDArray[np.bool_]:
        """Mask of the links that share no cages with links in service, shape (links,); none of them without a base."""
        if self.problem.case.base is None or self.alike:
            return np.zeros(len(self.stage), dtype=np.bool_)
        near, far = self.cabling.kind.ports
        links = self.cabling.links
        cages = (
            _codes(self.cabling.near_device, links.a_slot // near.ports),
            _codes(links.b, links.b_slot // far.ports),
        )
        return apart_from_first(*cages, self.stage)

    def whole_rows(
        self,
        assembly: Assembly,
        shared_cages: Sequence[int] = (),
        shared_cables: Sequence[int] = (),
        attached_m: float = 0.0,
    ) -> Iterable[RowShare]:
        """Rows of parts that every stage adds if one assembly makes every link.

        ``shared_cages``, ``shared_cables``: leaves where attachments, whose links run ``attached_m``, fill up the last
        cage, the last cable of the servers, from the first stage on.
        """
        links, per_cable = self.cabling.links, assembly.ports_per_cable
        near, far = self.cabling.kind.ports
        if assembly.mode is Mode.PAIR:
            links = links_of(self.cabling.numbers, self.cabling.kind, per_cable)[0]
        elif assembly.mode is Mode.CROSS:
            links = links_of(self.cabling.numbers, self.cabling.kind, 1, assembly.crosses)[0]
        near_cage = _codes(self.cabling.near_device, links.a_slot // near.ports)
        far_cage = _codes(links.b, links.b_slot // far.ports)
        cable = self._cables(assembly, links)
        cable_class = np.zeros(int(cable.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(cable_class, cable, self.cabling.classes)
        near_when, far_when, cable_when = (_earliest(code, self.stage) for code in (near_cage, far_cage, cable))
        far_when[far_cage[self.cabling.in_last(shared_cages, far.ports)]] = 0
        if assembly.mode is Mode.FAR:
            shared = cable[self.cabling.in_last(shared_cables, per_cable)]
            cable_when[shared] = 0
            np.maximum.at(cable_class, shared, int(classes_of_runs(self.lengths_m, attached_m)))
        named, runs_m = self.links.named(assembly), self.links.noted_runs_m(())
        for stage in range(int(self.stage.max(initial=0)) + 1):
            cables = cables_of_classes(self.problem, assembly, cable_class[cable_when == stage])
            near_cages, far_cages = int((near_when == stage).sum()), int((far_when == stage).sum())
            yield RowShare(
                *self.cabling.kind.ends, None, named, int((self.stage == stage).sum()), near_cages, far_cages,
                _parts(assembly, near_cages, cables, far_cages), runs_m, stage,
            )  # fmt: skip

    def _cables(self, assembly: Assembly, links: TierLinks) -> Ints:
        """The cable of every link if one assembly makes all, from 0, shape (links,)."""
        if assembly.mode is Mode.LINK:
            return np.arange(len(links.a))
        if assembly.mode is Mode.CROSS:
            return shuffles_of(self.cabling, assembly.crosses)
        if assembly.mode is Mode.FAR:
            return _codes(links.b, links.b_slot // assembly.ports_per_cable)
        return _codes(self.cabling.near_device, links.a_slot // assembly.ports_per_cable)


def _parts(assembly: Assembly, near: int, cables: dict[Item, int], far: int) -> tuple[PartUse, ...]:
    parts = [PartUse(assembly.near, near, "from")] if assembly.near is not None and near else []
    parts += [PartUse(item, count, None) for item, count in sorted(cables.items(), key=lambda pair: pair[0].key)]
    return tuple([*parts, PartUse(assembly.far, far, "to")] if assembly.far is not None and far else parts)


def _codes(first: Ints, other: Ints) -> Ints:
    """Integers from 0, equal for equal pairs of integers from 0, shape of the pairs."""
    code = np.unique(first * (int(other.max(initial=0)) + 1) + other, return_inverse=True)[1]
    return np.asarray(code).ravel()


def _different(rows: Ints) -> Iterable[tuple[Ints, int]]:
    """Distinct rows of integers from -1, and how often each occurs."""
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


TWO = 2


def kind_choices(problem: Problem, clos: ClosNetwork, kind: LinkType, prune: bool) -> Sequence[Choice] | None:
    """Choices for the links of a kind, over their runs; None if they cannot be made."""
    links = links_of_kind(problem, clos, kind)
    if links is None:
        return None
    staged = staged_links(problem, clos, links) if clos.stages else None
    if clos.stages and staged is None:
        return None
    choices = links.choices(prune) if staged is None else staged.choices()
    return choices if choices is None or kind.scope is None else [_scoped(choice, kind.scope) for choice in choices]


def _scoped(choice: Choice, scope: str) -> Choice:
    """A choice whose rows state the scope of links between switches of one role."""
    options = (Option(tuple(row._replace(scope=scope) for row in option.rows)) for option in choice.options)
    return replace(choice, options=tuple(options))


def links_of_kind(problem: Problem, clos: ClosNetwork, kind: LinkType) -> KindLinks | None:
    """The links of a kind with their runs; None if nothing on sale is long enough for one of them."""
    return clos.placement.links(problem, kind, partial(assemblies_over, problem, clos, kind))


def staged_links(problem: Problem, clos: ClosNetwork, links: KindLinks) -> StagedLinks | None:
    """The links of a kind with their stages; None if nothing on sale is long enough for one of them."""
    cabling = links.cabling(numbers_of(clos.parts.nic, clos.shape))
    return None if cabling is None else StagedLinks(problem, links, cabling, clos.stages)


def assemblies_over(
    problem: Problem, clos: ClosNetwork, kind: LinkType, run_m: float, all_: bool
) -> Sequence[Assembly]:
    """Assemblies of a kind of links over a run; ``all_``: with dominated ones."""
    assemblies = problem.links.assemblies(*kind.ports, run_m, clos.parts.protocol, all_)
    if kind.mixes or kind.crossed:
        assemblies = tuple(assembly for assembly in assemblies if (assembly.mode is Mode.CROSS) == kind.crossed)
    if kind.name != "server-leaf":
        return assemblies
    suited = server_assemblies(assemblies, clos.parts.nic, int(clos.shape.k))
    return server_assemblies(suited, clos.parts.nic, int(clos.shape.last_k))


def kinds_of(clos: ClosNetwork) -> tuple[LinkType, ...]:
    """The kinds of links from the servers up, attachments left out."""
    kinds = [server_leaf(clos, down_limit(clos.parts, clos.shape))]
    if clos.tiers > 1:
        kinds.append(leaf_spine(clos))
    if clos.tiers > 2:
        kinds.append(spine_core(clos))
    return tuple(kinds)


def all_kinds_of(clos: ClosNetwork) -> tuple[LinkType, ...]:
    """The kinds of links from the servers up, and the peer links of leaves; attachments left out."""
    return kinds_of(clos) if clos.parts.leaf.peers is None else (*kinds_of(clos), leaf_leaf(clos))


def leaf_leaf(clos: ClosNetwork) -> LinkType:
    """The peer links between the leaves of each pair: two cables, every end in a cage of its own.

    Rule ``pairs_are_joined``.
    """
    port, cages = peer_use(clos.parts).port, CABLES_OF_PEER_LINK * int(clos.parts.nic.planes * clos.shape.leaves) // TWO
    side = Side((PeerLinks(cages, 1, 1, 0),), port.ports, 1)
    key = ("leaf-leaf", port, clos.parts.protocol)
    return LinkType("leaf-leaf", ("leaf", "leaf"), (port, port), Need(side, side), False, key, PEER_LINK)


def peer_use(parts: Parts) -> CageUse:
    """Use of the cages of peer links: that of uplinks; on one tier that of the fastest ports."""
    peers = parts.leaf.peers
    use = parts.leaf_up if parts.leaf_up is not None or peers is None else peers.alone
    assert use is not None
    return use


def down_limit(parts: Parts, shape: Shape) -> int:
    """Cages of a leaf for down links."""
    if parts.leaf_up is None:
        return parts.leaf_down.cages
    return int(down_cage_limit(parts.leaf_down, parts.leaf_up, shape.u))


def server_leaf(clos: ClosNetwork, limit: int) -> LinkType:
    """Links between servers and leaves; ``limit``: cages of a leaf for down links."""
    nic, down, shape = clos.parts.nic, clos.parts.leaf_down, clos.shape
    n, bundles = down.lane.ports, {nic.bundle(int(k)) for k in (shape.k, shape.last_k)}
    mixes = nic.port.ports == n and not any(together % n for together in bundles)
    key = ("server-leaf", nic.port, down.port, clos.parts.protocol, mixes, *sorted(bundles))
    last_limit = down_limit(clos.parts.of_last, shape.of_last) if shape.has_own_last else None
    need = shape.server_leaf(nic, n, limit, last_limit)
    return LinkType("server-leaf", ("server", "leaf"), (nic.port, down.port), need, mixes, key)


def leaf_spine(clos: ClosNetwork) -> LinkType:
    """Links between leaves and spines."""
    parts, shape = clos.parts, clos.shape
    up, down = parts.leaf_up, parts.spine_down
    assert up is not None and down is not None
    spine_limit = down.cages if parts.spine_up is None else int(down_cage_limit(down, parts.spine_up, shape.x))
    spine_limit -= clos.attached_spine_cages
    leaf_limit = int(up_cage_limit(parts.leaf_down, up, clos.occupied_ports + clos.reserved_ports))
    last_down = clos.last_occupied + clos.last_reserved
    of_last = parts.of_last
    assert of_last.leaf_up is not None
    last_limit = int(up_cage_limit(of_last.leaf_down, of_last.leaf_up, last_down)) if shape.has_own_last else None
    need = shape.leaf_spine(up.lane.ports, leaf_limit, down.lane.ports, spine_limit, last_limit)
    n = up.lane.ports
    whole = not any(int(links) % n for links in (shape.links_per_pair, shape.last_links_per_pair))
    mixes = bool(down.lane.ports == n and not shape.is_uneven and whole)
    key = ("leaf-spine", up.port, down.port, parts.protocol, mixes)
    return LinkType("leaf-spine", ("leaf", "spine"), (up.port, down.port), need, mixes, key)


def spine_core(clos: ClosNetwork) -> LinkType:
    """Links between spines and cores."""
    parts, shape = clos.parts, clos.shape
    up, down, below = parts.spine_up, parts.core_down, parts.spine_down
    assert up is not None and down is not None and below is not None
    spine_limit = int(up_cage_limit(below, up, shape.spine_down + clos.attached_spine_cages * below.lane.ports))
    need = shape.spine_core(up.lane.ports, spine_limit, down.lane.ports, down.cages)
    mixes = bool(up.lane.ports == down.lane.ports and shape.m2 % up.lane.ports == 0)
    key = ("spine-core", up.port, down.port, parts.protocol, mixes)
    return LinkType("spine-core", ("spine", "core"), (up.port, down.port), need, mixes, key)
