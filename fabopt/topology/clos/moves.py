"""Rule ``base_stays``: what of a Clos in service a candidate moves or takes out, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fabopt.network.staying import StandingClos, StandingTier, Staying, equipped_with, standing_of
from fabopt.parts.assemblies import Mode
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.live import InService
from fabopt.problem.problem import Problem
from fabopt.schema.design import MOVED_CABLE, MOVED_DEVICE, FabricDesign, LinkRow, NicUse
from fabopt.schema.in_service import Base, CableKind, DeviceKind, FabricMoves
from fabopt.schema.structure import Structure
from fabopt.topology.candidate import Candidate, Choice, Option, RowShare
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.design import FilePart, NetworkDesign


@runtime_checkable
class Growing(NetworkDesign, Protocol):
    """A design that may grow in stages: a Clos."""

    def at_first(self, fabric: FabricProblem) -> FilePart:
        """The part of the design file that describes its first stage."""


Kept = dict[CableKind, tuple[Choice, ...]]


def with_moves(problem: Problem, fabric: FabricProblem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with the moves of what is in service, once for each set of kinds of cables that stay; without those
    that move what never moves. Unchanged where nothing may; none where there are fewer servers than in service.
    """
    if fabric.live.moving is None:
        return tuple(candidates)
    if problem.stages[0].servers < fabric.live.moving.servers:
        return ()
    return tuple(moving for candidate in candidates for moving in _Moving(problem, fabric, candidate).variants())


def may_keep(moving: InService, base: Base, parts: Parts, shape: Shape) -> NDArray[np.bool_]:
    """Mask of the sizes that may keep all that never moves, shape (rows,): others are not looked at further."""
    there, rows = moving.fabric, np.ones(np.size(shape.g), dtype=np.bool_)
    old, used = there.clos, {"leaf": parts.leaf, "spine": parts.spine, "core": parts.core}
    planes = parts.nic.planes
    counts = {"leaf": planes * shape.leaves, "spine": planes * shape.spines * (shape.pods if parts.core else 1)}
    for tier in there.tiers:
        switch = used[tier.role]
        if not base.may_move(tier.role):
            rows &= switch is not None and switch.item.id == tier.id
            rows &= counts.get(tier.role, tier.count) >= tier.count
    if not base.may_move("server-leaf"):
        rows &= (shape.g >= min(old.servers_per_group, moving.servers)) & (shape.groups >= old.groups)
        rows &= (shape.k == old.ports_per_server_per_leaf) & (parts.leaf.item.id == there.tiers[0].id)
    if old.tiers > 1 and not base.may_move("leaf-spine"):
        rows &= (shape.spines >= old.spines_per_pod) & (shape.u >= there.tiers[0].up_ports)
        rows &= parts.spine is not None and parts.spine.item.id == there.tiers[1].id
    return rows


class _Moving:
    """A candidate beside what is in service."""

    def __init__(self, problem: Problem, fabric: FabricProblem, candidate: Candidate) -> None:
        assert fabric.live.moving is not None and problem.case.base is not None
        self.problem, self.fabric, self.candidate = problem, fabric, candidate
        self.there, self.servers, self.base = fabric.live.moving.fabric, fabric.live.moving.servers, problem.case.base
        self.there_are = fabric.live.moving.cables
        service = standing_of(self.there, self.servers)
        planned = _planned(problem, fabric, candidate)
        self.staying = None if planned is None else Staying(service, planned)

    def variants(self) -> Iterator[Candidate]:
        devices = self._devices()
        # a server is the same one in every fabric
        if len(self.problem.fabrics) > 1 and self.staying is not None and not self.staying.keeps_order:
            return
        if any(count and not self.base.may_move(kind) for kind, count in devices.items()):
            return
        cables = {kind: of.cables for kind, of in self.there_are.items()}
        ways = [list(self._ways(kind)) for kind in cables]
        for rank, of_kinds in enumerate(product(*ways)):
            stay = tuple(kind for kind, (kept, _) in zip(cables, of_kinds, strict=True) if kept)
            moved = {kind: cables[kind] - kept for kind, (kept, _) in zip(cables, of_kinds, strict=True)}
            moved = {kind: count for kind, count in moved.items() if count}
            if all(self.base.may_move(kind) for kind in moved):
                chosen = {kind: own for kind, (_, own) in zip(cables, of_kinds, strict=True) if own is not None}
                yield self._with(FabricMoves(stay=stay, cables=moved, devices=devices), chosen, rank)

    def _devices(self) -> dict[DeviceKind, int]:
        """Devices that change their role or are taken out."""
        moved: dict[DeviceKind, int] = {}
        nic = self.there.nic
        if not nic.built_in:
            moved["nic"] = nic.per_server * self.servers - (self.staying.nics if self.staying else 0)
        for tier in self.there.tiers:
            moved[tier.role] = tier.count - (self.staying.devices(tier.role) if self.staying else 0)
        return {kind: count for kind, count in moved.items() if count}

    def _ways(self, kind: CableKind) -> Iterator[tuple[int, tuple[Choice, ...] | None]]:
        """Cables of a kind that stay with the choices that leave them, then none with all choices."""
        choices = self._choices(kind)
        links = self.staying.links(kind) if self.staying and choices else 0
        own = tuple(
            replace(choice, key=(choice.key, "in service"), options=self._own(kind, choice)) for choice in choices
        )
        if links and all(choice.options for choice in own):
            one_by_one = all(
                _is_single(row) for choice in own for option in choice.options for row in _at_first(option)
            )
            total, cables = self.there_are[kind]
            if one_by_one or links == total or self._fill_cages(kind, total // cables):
                yield links * cables // total, own
                if all(kept.options == choice.options for kept, choice in zip(own, choices, strict=True)):
                    return
        yield 0, None

    def _fill_cages(self, kind: CableKind, links: int) -> bool:
        """Whether cables in service of so many ``links`` each fill cages at both ends, as all planned ones do."""
        if self.staying is None or kind == "server-leaf":
            return False
        rows = _rows(self.there, kind)
        alike = all(sum(part.quantity for part in row.parts if part.end is None) * links == row.count for row in rows)
        whole = not any(pair % links for pair in self.staying.links_of_pairs(kind))
        return alike and whole and set(self.staying.lanes(kind)) == {links}

    def _choices(self, kind: CableKind) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.candidate.choices if _kind_of(choice) == kind)

    def _own(self, kind: CableKind, choice: Choice) -> tuple[Option, ...]:
        """The options whose first stage is of the parts in service."""
        there = [{(part.id, part.length_m, part.end) for part in row.parts} for row in _rows(self.there, kind)]
        return tuple(
            option
            for option in choice.options
            if all(
                {(part.item.id, part.item.length_m, part.end) for part in row.parts} in there
                for row in _at_first(option)
            )
        )

    def _with(self, moves: FabricMoves, chosen: Kept, rank: int) -> Candidate:
        candidate, devices = self.candidate, dict(self.candidate.devices)
        for name, count in zip((MOVED_CABLE, MOVED_DEVICE), moves.numbers, strict=True):
            item = self.problem.item_table.item(name)
            if count and item is not None:
                devices[0, item] = count
        others = tuple(choice for choice in candidate.choices if _kind_of(choice) not in chosen)
        choices = (*others, *(choice for own in chosen.values() for choice in own)) if chosen else candidate.choices
        return replace(candidate, devices=devices, choices=choices, moves=moves, order=(*candidate.order, rank))


def _rows(there: FabricDesign, kind: str) -> list[LinkRow]:
    return [row for row in there.links if f"{row.from_}-{row.to}" == kind]


def _kind_of(choice: Choice) -> str:
    row = choice.options[0].rows[0]
    return f"{row.near}-{row.far}"


def _at_first(option: Option) -> Iterator[RowShare]:
    """What the first stage has of an option."""
    return (row for row in option.rows if row.stage == 0 and row.links)


def _is_single(row: RowShare) -> bool:
    return row.assembly is not None and row.assembly.mode is Mode.LINK


def _planned(problem: Problem, fabric: FabricProblem, candidate: Candidate) -> StandingClos | None:
    """The candidate as it would stand at the first stage; None where it is no Clos."""
    if not isinstance(candidate.design, Growing) or candidate.topology != "clos":
        return None
    part, nic = candidate.design.at_first(fabric), candidate.design.nic
    assert isinstance(part.structure, Structure)
    asked = next(asked for asked in problem.case.fabrics if asked.name == fabric.name)
    use = NicUse(
        id=nic.nic_id, per_server=nic.nics_per_server, ports_per_nic=nic.ports_per_nic, gbps=0, split=nic.split,
        cage_group=nic.group, built_in=nic.item is None,
    )  # fmt: skip
    equipped = equipped_with(use, nic.own_rails and asked.planes == "any", fabric.pairs.exist)
    tiers: dict[str, StandingTier] = {}
    for tier in part.tiers:
        twins = tuple(twin for twin in candidate.twins if twin.role == tier.role)
        up = None if tier.up is None else (tier.up.group, tier.up.split)
        product_id = tier.switch.id, twins
        tiers[tier.role] = StandingTier(
            product_id, tier.num_switches, (tier.down.group, tier.down.split), up, tier.up_ports
        )
    family = candidate.topology, part.protocol
    return StandingClos(family, part.planes, problem.stages[0].servers, equipped, part.structure, tiers)
