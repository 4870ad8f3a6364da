"""Rule ``base_stays``: what of a Clos in service a candidate moves or takes out, and what that costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fabopt.network.staying import PEERS, Staying, standing_of
from fabopt.parts.assemblies import Mode
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import MOVED_CABLE, MOVED_DEVICE, FabricDesign, LinkRow
from fabopt.schema.in_service import Base, CableKind, DeviceKind, FabricMoves
from fabopt.topology.candidate import Candidate, Choice, Option, RowShare
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.staying_ports import planned_of, ports_that_stay
from fabopt.topology.design import FilePart, NetworkDesign


@runtime_checkable
class Growing(NetworkDesign, Protocol):
    """A design that may grow in stages: a Clos."""

    def at_first(self, fabric: FabricProblem) -> FilePart:
        """The part of the design file that describes its first stage."""


ATTACHED: tuple[CableKind, ...] = ("attachment-leaf", "attachment-spine")


def with_moves(problem: Problem, fabric: FabricProblem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with the moves of what is in service, once for each set of kinds of cables that stay; without those
    that move what never moves. Unchanged where nothing may; none where there are fewer servers than in service.
    """
    if fabric.live.moving is None:
        return tuple(candidates)
    if problem.stages[0].servers < fabric.live.moving.servers:
        return ()
    return tuple(moving for candidate in candidates for moving in _Moving(problem, fabric, candidate).variants())


def may_keep(fabric: FabricProblem, base: Base, parts: Parts, shape: Shape) -> NDArray[np.bool_]:
    """Mask of the sizes that may keep all that never moves, shape (rows,): others are not looked at further."""
    moving = fabric.live.moving
    assert moving is not None
    there, rows = moving.fabric, np.ones(np.size(shape.g), dtype=np.bool_)
    old, used = there.clos, {"leaf": parts.leaf, "spine": parts.spine, "core": parts.core}
    planes = parts.nic.planes
    counts = {"leaf": planes * shape.leaves, "spine": planes * shape.spines * (shape.pods if parts.core else 1)}
    for tier in there.tiers:
        switch = used[tier.role]
        if not base.may_move(tier.role):
            rows &= switch is not None and fabric.may_stay(tier, switch)
            rows &= counts.get(tier.role, tier.count) >= tier.count
    if not base.may_move("server-leaf"):
        rows &= (shape.g >= min(old.servers_per_group, moving.servers)) & (shape.groups >= old.groups)
        rows &= (shape.k == old.ports_per_server_per_leaf) & fabric.may_stay(there.tiers[0], parts.leaf)
    if old.tiers > 1 and not base.may_move("leaf-spine"):
        rows &= (shape.spines >= old.spines_per_pod) & (shape.u >= there.tiers[0].up_ports)
        rows &= parts.spine is not None and fabric.may_stay(there.tiers[1], parts.spine)
    return rows


class _Moving:
    """A candidate beside what is in service."""

    def __init__(self, problem: Problem, fabric: FabricProblem, candidate: Candidate) -> None:
        assert fabric.live.moving is not None and problem.case.base is not None
        self.problem, self.fabric, self.candidate = problem, fabric, candidate
        self.there, self.servers, self.base = fabric.live.moving.fabric, fabric.live.moving.servers, problem.case.base
        self.there_are = fabric.live.moving.cables
        service = standing_of(self.there, self.servers)
        design = candidate.design
        self.part = design.at_first(fabric) if isinstance(design, Growing) else design.file_part()
        planned = planned_of(problem, fabric, self.part, design.nic, candidate.twins)
        alone = len(problem.case.fabrics) == 1
        self.staying = None if planned is None else Staying(service, planned, alone=alone)

    def variants(self) -> Iterator[Candidate]:
        devices = self._devices()
        # a server is the same one in every fabric
        if len(self.problem.fabrics) > 1 and self.staying is not None and not self.staying.keeps_order:
            return
        if any(count and not self.base.may_move(kind) for kind, count in devices.items()):
            return
        cables = {kind: of.cables for kind, of in self.there_are.items()}
        for rank, of_kinds in enumerate(product(*(self._ways(kind) for kind in cables))):
            stay = tuple(kind for kind, kept in zip(cables, of_kinds, strict=True) if kept)
            moved = {kind: cables[kind] - kept for kind, kept in zip(cables, of_kinds, strict=True)}
            moved = {kind: count for kind, count in moved.items() if count}
            if all(self.base.may_move(kind) for kind in moved) and (choices := self._with_parts_of(stay)) is not None:
                yield self._with(FabricMoves(stay=stay, cables=moved, devices=devices), choices, rank)

    def _devices(self) -> dict[DeviceKind, int]:
        """Devices that change their role or are taken out."""
        moved: dict[DeviceKind, int] = {}
        nic = self.there.nic
        if not nic.built_in:
            moved["nic"] = nic.per_server * self.servers - (self.staying.nics if self.staying else 0)
        for tier in self.there.tiers:
            moved[tier.role] = tier.count - (self.staying.devices(tier.role) if self.staying else 0)
        return {kind: count for kind, count in moved.items() if count}

    def _ways(self, kind: CableKind) -> Iterator[int]:
        """Numbers of cables of a kind that stay: those that can with the parts in service, then none."""
        choices = [choice for choice in self.candidate.choices if kind in self._kinds_of(choice)]
        if kind in ATTACHED:
            choices = [choice for choice in choices if any(self._is_own(kind, one) for one in choice.options)]
        links, in_order = self._links(kind, choices) if choices else (0, False)
        own = [[option for option in choice.options if self._is_own(kind, option)] for choice in choices]
        if links and all(own):
            one_by_one = all(_is_single(option, kind) for options in own for option in options)
            total, cables = self.there_are[kind]
            if one_by_one or (links == total and in_order) or self._fill_cages(kind, total // cables):
                yield links * cables // total
                narrows = any(len(kept) < len(choice.options) for kept, choice in zip(own, choices, strict=True))
                if not narrows and all(len(self._kinds_of(choice)) == 1 for choice in choices):
                    return
        yield 0

    def _links(self, kind: CableKind, choices: Sequence[Choice]) -> tuple[int, bool]:
        """Links of a kind that stay, if ``choices`` make them, and whether ports that share cables do so too."""
        if self.staying is None:
            return 0, False
        if kind not in ATTACHED:
            return self.staying.links(kind), True
        names = {row.attachment for choice in choices for row in choice.options[0].rows}
        return ports_that_stay(self.problem, self.fabric, self.part, self.staying, (kind, names))

    def _fill_cages(self, kind: CableKind, links: int) -> bool:
        """Whether cables in service of so many ``links`` each fill cages at both ends, as all planned ones do."""
        if self.staying is None or kind in ("server-leaf", PEERS, *ATTACHED):
            return False
        rows = _rows(self.there, kind)
        alike = all(sum(part.quantity for part in row.parts if part.end is None) * links == row.count for row in rows)
        whole = not any(pair % links for pair in self.staying.links_of_pairs(kind))
        return alike and whole and set(self.staying.lanes(kind)) == {links}

    def _kinds_of(self, choice: Choice) -> tuple[CableKind, ...]:
        """Kinds of cables in service whose links a choice makes."""
        there = (row for row in choice.options[0].rows if self._is_there(row))
        ends = {f"{row.near}-{row.far}" for row in there}
        return tuple(kind for kind in self.there_are if kind in ends)

    def _is_there(self, row: RowShare) -> bool:
        """Whether what a row links is linked to switches of the same tier in service."""
        return row.attachment is None or bool(_rows(self.there, f"{row.near}-{row.far}", row))

    def _is_own(self, kind: CableKind, option: Option) -> bool:
        """Whether an option makes links of a kind by the parts in service."""
        rows = (row for row in _at_first(option, kind) if self._is_there(row))
        return all(
            {(part.item.id, part.item.length_m, part.end) for part in row.parts}
            in [{(part.id, part.length_m, part.end) for part in one.parts} for one in _rows(self.there, kind, row)]
            for row in rows
        )

    def _with_parts_of(self, stay: Collection[CableKind]) -> tuple[Choice, ...] | None:
        """The choices, those of kinds that stay last, by the parts in service; None where one has none of these.

        Cables that servers and attachments share stay where both do.
        """
        others, own = list[Choice](), dict[int, list[Choice]]()
        for choice in self.candidate.choices:
            kinds = self._kinds_of(choice)
            kept = [kind for kind in kinds if kind in stay]
            if (
                len(kinds) == 1
                and kinds[0] in ATTACHED
                and not any(self._is_own(kinds[0], one) for one in choice.options)
            ):
                kept = []
            options = tuple(one for one in choice.options if all(self._is_own(kind, one) for kind in kept))
            if kept and len(kept) < len(kinds):
                options = tuple(one for one in options if all(_is_single(one, kind) for kind in kinds))
            if not options:
                return None
            if not kept:
                others.append(choice)
                continue
            key = (choice.key, "in service") if len(kinds) == 1 else (choice.key, "in service", *kept)
            place = list(self.there_are).index(kept[0])
            own.setdefault(place, []).append(replace(choice, key=key, options=options))
        return *others, *(choice for place in sorted(own) for choice in own[place])

    def _with(self, moves: FabricMoves, choices: tuple[Choice, ...], rank: int) -> Candidate:
        candidate, devices = self.candidate, dict(self.candidate.devices)
        for name, count in zip((MOVED_CABLE, MOVED_DEVICE), moves.numbers, strict=True):
            item = self.problem.item_table.item(name)
            if count and item is not None:
                devices[0, item] = count
        return replace(candidate, devices=devices, choices=choices, moves=moves, order=(*candidate.order, rank))


def _rows(there: FabricDesign, kind: str, like: RowShare | None = None) -> list[LinkRow]:
    """Rows of the file of a kind of links; of the attachment of another row, if one is given."""
    of_kind = [row for row in there.links if f"{row.from_}-{row.to}" == kind]
    return of_kind if like is None else [row for row in of_kind if row.attachment == like.attachment]


def _at_first(option: Option, kind: str) -> Iterator[RowShare]:
    """What the first stage has of links of a kind in an option."""
    return (row for row in option.rows if f"{row.near}-{row.far}" == kind and row.stage == 0 and row.links)


def _is_single(option: Option, kind: str) -> bool:
    """Whether each link of a kind that the first stage has has a cable of its own, or none is bought."""
    return all(row.assembly is None or row.assembly.mode is Mode.LINK for row in _at_first(option, kind))
