"""From links to wires and modules: which row of the file makes a link, and what shares a jacket or a cage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabopt.wiring.assembly import Carries, Way
from fabopt.wiring.cages import Cages
from fabopt.wiring.model import NOTHING, Floats, Ints

CODES = {Carries.LINK: 0, Carries.PAIR: 1, Carries.NEAR: 2, Carries.FAR: 3}
UNMADE = -1


@dataclass
class Cabled:
    """Links of one kind at their cages. ``a``, ``b``: devices; ``way``: index into ``ways``, ``UNMADE`` at first;
    ``stage``: from which on the link is there; ``b_card``, ``b_card_port``: where the far end is a server.
    """

    kind: int
    a: Ints
    a_card: Ints
    a_card_port: Ints
    near: Cages
    b: Ints
    far: Cages
    gbps: float
    run_m: Floats
    ways: list[Way]
    way: Ints
    stage: Ints
    b_card: Ints | None = None
    b_card_port: Ints | None = None

    def __len__(self) -> int:
        """How many links."""
        return len(self.a)


@dataclass(frozen=True)
class Share:
    """What one row of the file realises: links, cages of the side with several ports, wires (None: one a link), length
    classes of a cage's links (None: all runs are equal), and their stages (None: of no account).
    """

    links: int
    cages: int
    cables: int | None
    runs_m: tuple[float, ...] | None
    stages: tuple[int, ...] | None = None


class Unit(NamedTuple):
    """What distinguishes cages that are dealt to rows: the length class and the stage of each link (None: all are
    equal), and their ports.
    """

    runs_m: tuple[float, ...] | None
    stages: tuple[int, ...] | None
    ports: int


def deal(cabled: Cabled, shares: Sequence[Share], classes_m: Sequence[float]) -> None:
    """Give every link its row. With several rows whole cages are dealt out in order, each row its number of them.

    ``classes_m``: length classes of runs on a floor. Raises ``ValueError`` where the rows' cages are not those that the
    links occupy.
    """
    if len(shares) == 1 and shares[0].runs_m is None:
        cabled.way[:] = 0
        return
    by_near = bool(len(cabled)) and int(cabled.near.lanes[0]) > 1
    device, cages = (cabled.a, cabled.near) if by_near else (cabled.b, cabled.far)
    order, start, size = _grouped(_codes(device, cages.cage))
    classes = _classes(cabled, shares, classes_m, order, start, size)
    free: dict[Unit, list[int]] = {}
    for index in range(len(start)):
        free.setdefault(classes[index], []).append(index)
    for number, one in enumerate(shares):
        for key, count in _kinds_taken(one, free, cabled.ways[number]).items():
            taken, free[key] = free[key][:count], free[key][count:]
            for index in taken:
                cabled.way[order[start[index] : start[index] + size[index]]] = number
    if (cabled.way == UNMADE).any():
        raise ValueError("rows of links leave cages without parts")


def _classes(
    cabled: Cabled, shares: Sequence[Share], classes_m: Sequence[float], order: Ints, start: Ints, size: Ints
) -> list[Unit]:
    """What distinguishes units: the length class and the stage of each link where the rows name them, their ports."""
    none = [None] * len(start)
    runs: Sequence[tuple[float, ...] | None] = none
    stages: Sequence[tuple[int, ...] | None] = none
    spans = list(zip(start.tolist(), (start + size).tolist(), strict=True))
    if shares[0].runs_m is not None:
        grid = np.array([*classes_m, np.inf])
        lengths = grid[np.searchsorted(grid, cabled.run_m[order] - 1e-9)].tolist()
        runs = [tuple(lengths[first:last]) for first, last in spans]
    if shares[0].stages is not None:
        when = cabled.stage[order].tolist()
        stages = [tuple(when[first:last]) for first, last in spans]
    return [Unit(*unit) for unit in zip(runs, stages, size.tolist(), strict=True)]


def _kinds_taken(one: Share, free: dict[Unit, list[int]], way: Way) -> dict[Unit, int]:
    """How many units of each kind a row takes: their number, links and wires come out."""
    keys = [key for key in free if free[key] and one.runs_m in (None, key.runs_m) and one.stages in (None, key.stages)]
    ports = [key.ports for key in keys]
    found = _split(one.cages, one.links, one.cables, [len(free[key]) for key in keys], ports, way)
    if found is None:
        raise ValueError(f"no {one.cages} cages have {one.links} links")
    return dict(zip(keys, found, strict=True))


def _split(cages: int, links: int, cables: int | None, most: list[int], ports: list[int], way: Way) -> list[int] | None:
    """Counts of each kind of unit that add up to so many cages, links and wires; the most of the first kinds."""
    if not ports:
        return [] if cages == links == (cables or 0) == 0 else None
    each = cables_of_unit(ports[0], way)
    highest = min(most[0], cages, links // ports[0])
    for count in range(highest, -1 if len(ports) > 1 else highest - 1, -1):
        left = None if cables is None else cables - count * each
        rest = _split(cages - count, links - count * ports[0], left, most[1:], ports[1:], way)
        if rest is not None:
            return [count, *rest]
    return None


def cables_of_unit(ports: int, way: Way) -> int:
    """Wires of one cage (or bundle) with so many ports in use."""
    return ports if way.carries is Carries.LINK else -(-ports // way.ports)


def _codes(*columns: Ints) -> Ints:
    """Equal codes for equal rows."""
    _, code = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return np.asarray(code).ravel()


def _grouped(code: Ints) -> tuple[Ints, Ints, Ints]:
    """(order that puts equal codes together, first position and size of each run)."""
    order = np.argsort(code, kind="stable")
    _, start, size = np.unique(code[order], return_index=True, return_counts=True)
    return order, start, size


@dataclass(frozen=True)
class Jackets:
    """Wires of some links: ``cable`` of every link (``NOTHING``: none bought), and of every wire its first link, its
    way, product, length, longest run and earliest stage.
    """

    cable: Ints
    first: Ints
    way: Ints
    part: list[str]
    length_m: Floats
    run_m: Floats
    stage: Ints


def jackets(parts: Sequence[Cabled], ways: Sequence[Way], way: Ints) -> Jackets:
    """Put links together that one wire carries. ``parts``: kinds that may share; ``way``: over all their links."""
    a, b, run, when = (np.concatenate([getattr(one, name) for one in parts]) for name in ("a", "b", "run_m", "stage"))
    near, far = (
        Cages(*(np.concatenate(columns) for columns in zip(*(getattr(one, side) for one in parts), strict=True)))
        for side in ("near", "far")
    )
    mode = np.array([CODES[one.carries] for one in ways])[way]
    ports = np.array([one.ports for one in ways])[way]
    serial = np.arange(len(a))
    head = np.stack([
        mode,
        np.select([mode == 0, mode == 3], [serial, b], a),
        np.select([mode == 0, mode == 3], [0 * a, far.cage], near.cage),
        np.select([mode == 0, mode == 3], [0 * a, far.lane // ports], near.lane // ports),
    ])  # fmt: skip
    code = _codes(*head)
    order, start, _ = _grouped(code)
    first = order[start]
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    cable = rank[code]
    longest = np.zeros(len(start))
    np.maximum.at(longest, cable, run)
    earliest = np.full(len(start), np.iinfo(np.int64).max)
    np.minimum.at(earliest, cable, when)
    return _measured(cable, np.sort(first), longest, earliest, ways, way)


def _measured(cable: Ints, first: Ints, longest: Floats, earliest: Ints, ways: Sequence[Way], way: Ints) -> Jackets:
    """Choose every wire's product and length; drop those of which nothing is bought."""
    bought = np.array([bool(one.cables) for one in ways])
    made_by = np.full(len(first), NOTHING)
    with_parts = np.flatnonzero(bought[way])[::-1]
    made_by[cable[with_parts]] = way[with_parts]
    part, length = [""] * len(first), np.zeros(len(first))
    for number in np.unique(made_by[made_by >= 0]).tolist():
        mine = np.flatnonzero(made_by == number)
        offered = np.array([metres for _, metres, _ in ways[number].cables])
        place = np.minimum(np.searchsorted(offered, longest[mine] - 1e-9), len(offered) - 1)
        length[mine] = offered[place]
        for index in mine.tolist():
            part[index] = ways[number].cables[0][0]
    kept = np.flatnonzero(made_by >= 0)
    renumbered = np.full(len(first), NOTHING)
    renumbered[kept] = np.arange(len(kept))
    return Jackets(
        renumbered[cable], first[kept], made_by[kept], [part[i] for i in kept.tolist()], length[kept], longest[kept],
        earliest[kept],
    )  # fmt: skip
