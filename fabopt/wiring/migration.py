"""Migration: the order in which cables in service move, so that no server loses more than one rail at a time.

A window is what is done on one rail (the leaves of one place in their groups) of every group; cables between spines and
cores have windows of their own. A cable that moves is unplugged and plugged in again at once where its new ports are
free, else as soon as they are. After every step the graph says which ports of live servers reach no other leaf.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain
from typing import NamedTuple

from fabopt.errors import InputError, refusal
from fabopt.schema.design import Design
from fabopt.schema.in_service import IN_SERVICE
from fabopt.units import grouped
from fabopt.wiring.build import wiring_of
from fabopt.wiring.in_service import base_wiring
from fabopt.wiring.model import KINDS, NOTHING, Wiring, wiring_at
from fabopt.wiring.rails import Link, RailsOfServers

# What a note of an answer begins with where servers may have to pause, and the most moves for which that is looked at.
MIGRATION = "migration:"
MOST_MOVES = 20_000
WITHOUT_ORDER = "stop their jobs while these cables move, or let `base.keep` name the kinds that must not"
UNPLUG, PLUG, LAY, TAKE_OUT = "unplug", "plug", "lay", "take out"


class MovingCable(NamedTuple):
    """A cable with its links; ``window``: that of its rail."""

    name: str
    links: tuple[Link, ...]
    window: tuple[int, int]

    @property
    def ports(self) -> frozenset[tuple[str, str]]:
        """The ports that it takes."""
        return frozenset(port for a, a_port, b, b_port in self.links for port in ((a, a_port), (b, b_port)))


@dataclass(frozen=True)
class MigrationStep:
    """One act on one cable. ``lost``: most rails that any server in service is without once it is done."""

    window: int
    act: str
    cable: MovingCable
    before: MovingCable | None
    lost: int


class NoOrderError(ValueError):
    """No order was found that keeps every server on all its rails but one."""


def migration_of(design: Design, wiring: Wiring) -> Migration:
    """The migration from what is in service to the first stage; ``InputError`` where nothing is in service, or no order
    is found that keeps servers on.
    """
    base = base_wiring(design, wiring_of)
    if base is None:
        raise refusal(
            design.case.name,
            "base",
            "nothing is in service that could migrate",
            hint="`base: {file: FILE}` says what is",
        )
    try:
        return Migration(base, wiring_at(wiring, _first_new(design)))
    except NoOrderError as error:
        raise refusal(
            design.case.name, "base", f"no order of moves was found that keeps servers on: {error}", hint=WITHOUT_ORDER
        ) from None


def _first_new(design: Design) -> int:
    """The first stage that is not what is in service."""
    names = [stage.name for stage in design.stages]
    return next((number for number, name in enumerate(names) if name != IN_SERVICE), 0)


def migration_notes(design: Design) -> Iterator[str]:
    """What to do where no order of moves was found that keeps servers on, or none was looked for."""
    moved = sum(fabric.moves.numbers[0] for fabric in design.fabrics if fabric.moves is not None)
    if moved > MOST_MOVES:
        looks = f"{MOST_MOVES:,} of which an order is looked for: `fabopt export --to migration` does it for any number"
        yield f"{MIGRATION} {moved:,} cables move, more than the {looks}"
    elif moved:
        try:
            migration_of(design, wiring_of(design))
        except InputError as error:
            (refusal,) = error.faults
            yield f"{MIGRATION} {refusal.problem}; {WITHOUT_ORDER}"


def windows_of(design: Design, wiring: Wiring) -> dict[str, int]:
    """The window after which each cable in service that moves or is taken out is where it goes, by its label; none
    where no order keeps servers on.
    """
    try:
        steps = migration_of(design, wiring).steps
    except InputError:
        return {}
    return {step.cable.name: step.window for step in steps if step.act in (PLUG, TAKE_OUT)}


class Migration:
    """The steps from the wiring in service to another one. ``steps`` are in order, ``windows`` counted from 1."""

    def __init__(self, base: Wiring, wiring: Wiring) -> None:
        self.base = base
        self.old, self.new = _cables(base), _cables(wiring)
        self._wiring = wiring
        # no two cables have one port
        self._comes_to = {port: name for name, cable in self.new.items() for port in cable.ports}
        try:
            self._plan(servers_first=False)
        except NoOrderError as error:
            try:
                self._plan(servers_first=True)
            except NoOrderError:
                raise error from None

    def _plan(self, servers_first: bool) -> None:
        """Plan all steps; links above leaves first lets new leaves reach the others before servers come to them."""
        links = chain.from_iterable(cable.links for cable in self.old.values())
        self._rails, self._kinds = RailsOfServers(self.base, self._wiring, links), (servers_first, not servers_first)
        self.cabled = dict(self.old)
        self._taken = {port: name for name, cable in self.old.items() for port in cable.ports}
        # cables that are not yet where they will be, or gone, by their turn
        waiting = (name for name in (self.old | self.new) if self.old.get(name) != self.new.get(name))
        self._waiting = {name: turn for turn, name in enumerate(waiting)}
        self._turns = list(self._waiting)
        # of these, turns of those whose new ports are free by now: of cables in service, and new ones
        self._ready: list[int] = []
        self._fits = {turn for name, turn in self._waiting.items() if name not in self.old and self._is_free(name)}
        self.steps: list[MigrationStep] = []
        self.windows = 0
        self._lay()
        done = -1
        while self._waiting and len(self.steps) > done:
            done = len(self.steps)
            for _, names in sorted(grouped((self._cable(name).window, name) for name in self._waiting).items()):
                self._do([name for name in names if name in self._waiting])
        if self._waiting:
            raise NoOrderError("ports that cables move to are never free")

    def _cable(self, name: str) -> MovingCable:
        return self.old.get(name) or self.new[name]

    def _do(self, own: Sequence[str]) -> None:
        """One window with its own cables: links above leaves, and those of servers."""
        self.windows += 1
        done = len(self.steps)
        for of_servers in self._kinds:
            self._change([name for name in own if self._rails.are_of_servers(self._cable(name).links) is of_servers])
        self.windows -= len(self.steps) == done

    def _change(self, own: Sequence[str]) -> None:
        """Move what can, take out what goes, move what that has freed, and lay what fits."""
        moving = [name for name in own if name in self.new and name in self.old]
        self._move(moving)
        for name in own:
            if name not in self.new:
                self._unplug(name, TAKE_OUT)
        self._move([name for name in moving if name in self._waiting])
        self._lay()

    def _lay(self) -> None:
        """Lay the new cables whose ports are free."""
        for turn in sorted(self._fits):
            self._plug(self._turns[turn], LAY)
        self._fits.clear()

    def _move(self, names: Sequence[str]) -> None:
        """Move cables whose new ports are free, and those that only wait for each other; others stay where they are."""
        waiting = set(names)
        self._ready = [self._waiting[name] for name in names if self._is_free(name)]
        # a cable that moves leaves its new port to no other: what waits for others than these does so to the end
        held = deque(name for name in names if self._blockers(name) <= waiting)
        while waiting:
            if not self._ready:
                while held and held[0] not in waiting:
                    held.popleft()
                if not held:
                    return
                self._unplug(min(self._blockers(held[0]), key=self._waiting.__getitem__), UNPLUG)
                continue
            name = self._turns[heappop(self._ready)]
            if name in waiting:
                if name in self.cabled:
                    self._unplug(name, UNPLUG)
                self._plug(name, PLUG)
                waiting.remove(name)

    def _blockers(self, name: str) -> set[str]:
        """Cables in the ports that one moves to."""
        return {self._taken[port] for port in self.new[name].ports if port in self._taken} - {name}

    def _is_free(self, name: str) -> bool:
        return not self._blockers(name)

    def _unplug(self, name: str, act: str) -> None:
        cable = self.cabled.pop(name)
        for port in cable.ports:
            del self._taken[port]
        for other in {self._comes_to[port] for port in cable.ports if port in self._comes_to} - {name}:
            if other in self._waiting and self._is_free(other):
                self._has_room(other)
        if act == TAKE_OUT:
            del self._waiting[name]
        self._rails.unplug(cable.links)
        self._note(act, cable, None)

    def _has_room(self, name: str) -> None:
        """The new ports of a cable are free."""
        if name in self.old:
            heappush(self._ready, self._waiting[name])
        else:
            self._fits.add(self._waiting[name])

    def _plug(self, name: str, act: str) -> None:
        cable = self.cabled[name] = self.new[name]
        self._taken |= dict.fromkeys(cable.ports, name)
        del self._waiting[name]
        self._rails.plug(cable.links)
        self._note(act, cable, self.old.get(name))

    def _note(self, act: str, cable: MovingCable, before: MovingCable | None) -> None:
        lost = self._rails.most_lost
        if lost > 1 and lost > self._rails.lost_before:
            raise NoOrderError(f"{act} {cable.name}: a server is then without {lost} rails")
        self.steps.append(MigrationStep(self.windows, act, cable, before, lost))

    def states(self) -> Iterator[tuple[int, Mapping[str, MovingCable]]]:
        """What is cabled after every window, and before the first one."""
        cabled, of_windows = dict(self.old), grouped((step.window, step) for step in self.steps)
        for window in range(self.windows + 1):
            for step in of_windows.get(window, ()):
                if step.act in (UNPLUG, TAKE_OUT):
                    del cabled[step.cable.name]
                else:
                    cabled[step.cable.name] = step.cable
            yield window, dict(cabled)


def _cables(wiring: Wiring) -> dict[str, MovingCable]:
    """Cables by their labels, in the order of their rows; a port of an attachment for which none is bought has one of
    its name.
    """
    links, names, devices = wiring.links, wiring.cables.name, wiring.devices
    labels = [
        names[cable] if cable != NOTHING else f"{devices.name[a]} {port}"
        for cable, a, port in zip(links.cable.tolist(), links.a.tolist(), wiring.a_port, strict=True)
    ]
    of_cables = grouped((label, row) for row, label in enumerate(labels))
    cables = {}
    for name, rows in of_cables.items():
        ends = tuple(
            (devices.name[int(links.a[row])], wiring.a_port[row], devices.name[int(links.b[row])], wiring.b_port[row])
            for row in rows
        )
        cables[name] = MovingCable(name, ends, _window_of(wiring, rows[0]))
    return cables


def _window_of(wiring: Wiring, row: int) -> tuple[int, int]:
    """The rail of a link's leaf; cables that end at spines alone come after all rails, by their spine."""
    links, devices = wiring.links, wiring.devices
    kind, a, b = KINDS[int(links.kind[row])], int(links.a[row]), int(links.b[row])
    leaf = b if kind in ("server-leaf", "attachment-leaf") else a
    if kind in ("spine-core", "attachment-spine"):
        return 1, b if kind == "attachment-spine" else a
    return 0, int(devices.plane[leaf]) * (1 + int(devices.rail.max())) + int(devices.rail[leaf])
