"""From links to cables and modules: the row of the file that makes a link, and the links of each cable and cage.

Arrays of cages and lanes have shape (slots,).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import shuffles
from fabopt.network.components import apart_from_first
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import PortUse, TierUse
from fabopt.units import grouped, some
from fabopt.wiring.assembly import Carries, RowAssembly
from fabopt.wiring.model import NOTHING, Floats, Ints, Mask

# -- cages and lanes of the slots that ``fabopt.network`` deals out ---------------------------------------------------
# Arrays have shape (slots,).


class Cages(NamedTuple):
    """Cages of slots: cage from 1 over all groups of the device, lane from 0, lanes of the cage."""

    cage: Ints
    lane: Ints
    lanes: Ints

    def where(self, chosen: Mask, other: Cages) -> Cages:
        """These cages, with those of ``other`` where ``chosen``."""
        return Cages(*(np.where(chosen, theirs, own) for own, theirs in zip(self, other, strict=True)))


def at_slots(slots: Ints, lanes: int, first: int) -> Cages:
    """Cages where slots fill one after another from cage ``first`` on."""
    return Cages(first + slots // lanes, slots % lanes, np.full(len(slots), lanes))


def first_cage(switch: Switch, use: PortUse) -> int:
    """The first cage of a group, counted from 1 over all groups of the switch."""
    return 1 + sum(cage.count for cage in switch.cages[: use.cage_group])


def down_cages(switch: Switch, use: PortUse, slots: Ints) -> Cages:
    """Cages of ports towards the servers, the first ones of their group."""
    return at_slots(slots, parse_split(use.split).ports, first_cage(switch, use))


def last_down_cages(switch: Switch, tier: TierUse, slots: Ints, up: int) -> Cages:
    """Cages of ports that face down beside the links of a tier below: the last ones, before ``up`` cages of uplinks."""
    last = first_cage(switch, tier.down) + switch.cages[tier.down.cage_group].count - 1
    if tier.up is not None and tier.up.cage_group == tier.down.cage_group:
        last -= up
    downwards = at_slots(slots, parse_split(tier.down.split).ports, 0)
    return downwards._replace(cage=last - downwards.cage)


def up_cages(switch: Switch, use: PortUse, slots: Ints, is_of_last: Mask, past: int = 0) -> Cages:
    """Cages of uplinks, the last ones of their group, so that these stay where they are when down ports are added.

    ``is_of_last``: mask of slots on switches with another number of uplinks; ``past``: cages of peer links, after them.
    """
    lanes = parse_split(use.split).ports
    of_last, of_others = (int(slots.max(where=kind, initial=-1)) // lanes + 1 for kind in (is_of_last, ~is_of_last))
    cages = at_slots(slots, lanes, first_cage(switch, use) + switch.cages[use.cage_group].count - past)
    return cages._replace(cage=cages.cage - np.where(is_of_last, of_last, of_others))


# -- from links to cables and modules ---------------------------------------------------------------------------------


CODES = {Carries.LINK: 0, Carries.PAIR: 1, Carries.NEAR: 2, Carries.FAR: 3, Carries.CROSS: 4}
UNMADE = -1


@dataclass
class CabledLinks:
    """Links of one kind at their cages, in columns of shape (links,).

    ``a``, ``b``: devices; ``row``: index into ``assemblies``, ``UNMADE`` at first; ``run_m``: metres; ``stage``: that
    installs the link; ``b_nic``, ``b_nic_port``: where the far end is a server.
    """

    kind: int
    a: Ints
    a_nic: Ints
    a_nic_port: Ints
    near: Cages
    b: Ints
    far: Cages
    gbps: float
    run_m: Floats
    assemblies: list[RowAssembly]
    row: Ints
    stage: Ints
    b_nic: Ints | None = None
    b_nic_port: Ints | None = None

    def __len__(self) -> int:
        """Number of links."""
        return len(self.a)


@dataclass(frozen=True)
class RealizedRow:
    """Quantities of one row of the file: links, cages of the side with several ports, cables (None: one a link), length
    classes of a cage's links (None: all runs are equal), and their stages (None: not distinguished).
    """

    links: int
    cages: int
    cables: int | None
    runs_m: tuple[float, ...] | None
    stages: tuple[int, ...] | None = None


# Of a link: product and length of its cable, and both modules; None where it is free to be of any row.
LinkParts = tuple[str, float, str, str] | None
# Those of links that have to be of theirs, by kind and devices, in the order of the links.
LiveParts = Mapping[tuple[int, int, int], Sequence[LinkParts]]


class CageKind(NamedTuple):
    """Key of equal cages that are dealt to rows: the length class and the stage of each link (None: all are equal),
    their ports, and parts in service.
    """

    runs_m: tuple[float, ...] | None
    stages: tuple[int, ...] | None
    ports: int
    parts: LinkParts

    def may_be_of(self, assembly: RowAssembly) -> bool:
        """Whether a row of an assembly may have such cages."""
        if self.parts is None:
            return True
        part, length_m, *modules = self.parts
        cables = [(part, length_m)] if part or assembly.cables else []
        return modules == [assembly.near_module, assembly.far_module] and all(
            one in [cable[:2] for cable in assembly.cables] for one in cables
        )


def deal(cabled: CabledLinks, shares: Sequence[RealizedRow], live: Sequence[LinkParts] = ()) -> None:
    """Give every link its row of the file; of several rows each gets its number of whole cages, in order.

    ``live``: parts of each link that is in service, if its row has to have them.

    Raises ``ValueError`` where the rows' cages are not those that the links occupy.
    """
    if len(shares) == 1 and shares[0].runs_m is None:
        cabled.row[:] = 0
        return
    if len(shares) > 1 and shares[0].stages is None and cabled.stage.any():
        _deal_beside(cabled, shares)
        return
    by_near = bool(len(cabled)) and int(cabled.near.lanes[0]) > 1
    device, cages = (cabled.a, cabled.near) if by_near else (cabled.b, cabled.far)
    order, start, size = _grouped(_codes(device, cages.cage))
    kinds = _kinds(cabled, shares, order, start, size)
    if live:
        of_cages = [[live[link] for link in links] for links in np.split(order, start[1:].tolist())]
        parts = (next((one for one in of_cage if one is not None), None) for of_cage in of_cages)
        kinds = [kind._replace(parts=own) for kind, own in zip(kinds, parts, strict=True)]
    free = grouped((kinds[index], index) for index in range(len(start)))
    for row, share in enumerate(shares):
        for kind, count in _kinds_taken(share, free, cabled.assemblies[row]).items():
            taken, free[kind] = free[kind][:count], free[kind][count:]
            for index in taken:
                cabled.row[order[start[index] : start[index] + size[index]]] = row
    if (cabled.row == UNMADE).any():
        raise ValueError("rows of links leave cages without parts")


def _deal_beside(cabled: CabledLinks, shares: Sequence[RealizedRow]) -> None:
    """Give the first row to links in service and those in cages with them, the second to all others.

    Raises ``ValueError`` where these are not as many as the rows say.
    """
    cages = (_codes(cabled.a, cabled.near.cage), _codes(cabled.b, cabled.far.cage))
    cabled.row[:] = apart_from_first(*cages, cabled.stage)
    if np.bincount(cabled.row).tolist() != [share.links for share in shares]:
        raise ValueError("rows of links are not those beside what is in service")


def _kinds(cabled: CabledLinks, shares: Sequence[RealizedRow], order: Ints, start: Ints, size: Ints) -> list[CageKind]:
    """Keys of cages: the length class and the stage of each link where the rows name them, their ports.

    A run counts as the shortest of the lengths that the rows name.
    """
    none = [None] * len(start)
    runs: Sequence[tuple[float, ...] | None] = none
    stages: Sequence[tuple[int, ...] | None] = none
    spans = list(zip(start.tolist(), (start + size).tolist(), strict=True))
    if shares[0].runs_m is not None:
        grid = np.array([*sorted({run for share in shares for run in share.runs_m or ()}), np.inf])
        lengths = grid[np.searchsorted(grid, cabled.run_m[order] - 1e-9)].tolist()
        runs = [tuple(lengths[first:last]) for first, last in spans]
    if shares[0].stages is not None:
        when = cabled.stage[order].tolist()
        stages = [tuple(when[first:last]) for first, last in spans]
    return [CageKind(*kind, None) for kind in zip(runs, stages, size.tolist(), strict=True)]


def _kinds_taken(share: RealizedRow, free: dict[CageKind, list[int]], assembly: RowAssembly) -> dict[CageKind, int]:
    """Cages of each kind that a row takes, such that its cages, links and cables add up."""
    kinds = [
        kind
        for kind, cages in free.items()
        if cages and share.runs_m in (None, kind.runs_m) and share.stages in (None, kind.stages)
        if kind.may_be_of(assembly)
    ]
    most, ports = [len(free[kind]) for kind in kinds], [kind.ports for kind in kinds]
    counts = _split(share.cages, share.links, share.cables, most, ports, assembly)
    if counts is None:
        raise ValueError(f"{some(share.links, 'link')} do not fill {some(share.cages, 'cage')}")
    return dict(zip(kinds, counts, strict=True))


def _split(
    cages: int, links: int, cables: int | None, most: list[int], ports: list[int], assembly: RowAssembly
) -> list[int] | None:
    """Counts of each kind of cage that add up to ``cages``, ``links`` and ``cables``; the most of the first kinds."""
    if not ports:
        return [] if cages == links == (cables or 0) == 0 else None
    of_cage = cables_of_cage(ports[0], assembly)
    highest = min(most[0], cages, links // ports[0])
    for count in range(highest, -1 if len(ports) > 1 else highest - 1, -1):
        left = None if cables is None else cables - count * of_cage
        rest = _split(cages - count, links - count * ports[0], left, most[1:], ports[1:], assembly)
        if rest is not None:
            return [count, *rest]
    return None


def cables_of_cage(ports: int, assembly: RowAssembly) -> int:
    """Cables of one cage (or bundle) with ``ports`` ports in use."""
    return ports if assembly.carries is Carries.LINK else -(-ports // assembly.ports)


def _codes(*columns: Ints) -> Ints:
    """Integer codes of rows from 0, in the order of rows, equal for equal rows, shape of a column."""
    order = np.lexsort(columns[::-1])
    is_new = np.logical_or.reduce([np.diff(column[order], prepend=column[order[:1]]) != 0 for column in columns])
    code = np.empty_like(order)
    code[order] = np.cumsum(is_new)
    return code


def _grouped(code: Ints) -> tuple[Ints, Ints, Ints]:
    """(order that puts equal codes together, first position and size of each run)."""
    order = np.argsort(code, kind="stable")
    _, start, size = np.unique(code[order], return_index=True, return_counts=True)
    return order, start, size


@dataclass(frozen=True)
class LinkCables:
    """Cables of some links: ``cable`` of every link, shape (links,), ``NOTHING`` where none is bought.

    Of every cable, shape (cables,): its first link, assembly, product, length and longest run in metres, earliest
    stage.
    """

    cable: Ints
    first: Ints
    assembly: Ints
    part: list[str]
    length_m: Floats
    run_m: Floats
    stage: Ints


def cables_of(parts: Sequence[CabledLinks], assemblies: Sequence[RowAssembly], row: Ints) -> LinkCables:
    """Cables of some links.

    ``parts``: kinds that may share; ``row``: index into ``assemblies``, over all their links, shape (links,).
    """
    a, b, run, when = (np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "b", "run_m", "stage"))
    near, far = (
        Cages(*(np.concatenate(columns) for columns in zip(*(getattr(part, side) for part in parts), strict=True)))
        for side in ("near", "far")
    )
    mode = np.array([CODES[assembly.carries] for assembly in assemblies])[row]
    ports = np.array([assembly.ports for assembly in assemblies])[row]
    serial = np.arange(len(a))
    connector = np.stack([
        mode,
        np.select([mode == 0, mode == 3], [serial, b], a),
        np.select([mode == 0, mode == 3], [0 * a, far.cage], near.cage),
        np.select([mode == 0, mode == 3], [0 * a, far.lane // ports], near.lane // ports),
    ])  # fmt: skip
    crossed = np.flatnonzero(mode == CODES[Carries.CROSS])
    if crossed.size:
        plug, far_plug = (
            _codes(device[crossed], cages.cage[crossed], cages.lane[crossed] // ports[crossed])
            for device, cages in ((a, near), (b, far))
        )
        connector[1:, crossed] = 0
        connector[1, crossed] = shuffles(plug, far_plug, near.lane[crossed] % ports[crossed])
    code = _codes(*connector)
    order, start, _ = _grouped(code)
    first = order[start]
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    cable = rank[code]
    longest = np.zeros(len(start))
    np.maximum.at(longest, cable, run)
    earliest = np.full(len(start), np.iinfo(np.int64).max)
    np.minimum.at(earliest, cable, when)
    return _measured(cable, np.sort(first), longest, earliest, assemblies, row)


def _measured(
    cable: Ints, first: Ints, longest: Floats, earliest: Ints, assemblies: Sequence[RowAssembly], row: Ints
) -> LinkCables:
    """Cables with their product and length; those without a part are dropped."""
    bought = np.array([bool(assembly.cables) for assembly in assemblies])
    made_by = np.full(len(first), NOTHING)
    with_parts = np.flatnonzero(bought[row])[::-1]
    made_by[cable[with_parts]] = row[with_parts]
    part, length = [""] * len(first), np.zeros(len(first))
    for number in np.unique(made_by[made_by >= 0]).tolist():
        made_alike = np.flatnonzero(made_by == number)
        offered = np.array([metres for _, metres, _ in assemblies[number].cables])
        place = np.minimum(np.searchsorted(offered, longest[made_alike] - 1e-9), len(offered) - 1)
        length[made_alike] = offered[place]
        for index in made_alike.tolist():
            part[index] = assemblies[number].cables[0][0]
    kept = np.flatnonzero(made_by >= 0)
    renumbered = np.full(len(first), NOTHING)
    renumbered[kept] = np.arange(len(kept))
    return LinkCables(
        renumbered[cable], first[kept], made_by[kept], [part[i] for i in kept.tolist()], length[kept], longest[kept],
        earliest[kept],
    )  # fmt: skip
