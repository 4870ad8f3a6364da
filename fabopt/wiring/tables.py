"""The tables of a wiring, from links of every fabric whose cables are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from fabopt.wiring.assembly import RowAssembly
from fabopt.wiring.join import CabledLinks, LinkCables
from fabopt.wiring.model import NOTHING, Cables, Ints, Lent, Links, Modules


@dataclass(frozen=True)
class CabledKinds:
    """Kinds of links of a fabric whose cables were chosen together.

    ``row``: index into ``assemblies`` of every link, shape (links,).
    """

    fabric: int
    parts: tuple[CabledLinks, ...]
    assemblies: tuple[RowAssembly, ...]
    row: Ints
    cables: LinkCables
    lent: Lent | None = None


def tables_of(cabled_kinds: Sequence[CabledKinds]) -> tuple[Links, Cables, Modules, Lent]:
    """Links, cables, modules and lent links, over all fabrics."""
    return _links(cabled_kinds), _cables(cabled_kinds), _modules(cabled_kinds), _lent(cabled_kinds)


def _lent(cabled_kinds: Sequence[CabledKinds]) -> Lent:
    """Lent links, with their rows over all fabrics."""
    columns: list[list[Ints]] = []
    start = 0
    for kinds in cabled_kinds:
        if kinds.lent is not None:
            others = (getattr(kinds.lent, column.name) for column in fields(Lent)[1:])
            columns.append([kinds.lent.link + start, *others])
        start += sum(len(part) for part in kinds.parts)
    if not columns:
        return Lent(*(np.array([], dtype=np.int64) for _ in fields(Lent)))
    return Lent(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _links(cabled_kinds: Sequence[CabledKinds]) -> Links:
    """The links, fabric by fabric, kind by kind."""
    columns: list[list[Ints]] = []
    start = 0
    for kinds in cabled_kinds:
        before = 0
        for part in kinds.parts:
            size = len(part)
            cable = kinds.cables.cable[before : before + size]
            columns.append([
                np.full(size, kinds.fabric), np.full(size, part.kind), part.a, part.a_nic, part.a_nic_port,
                *part.near, part.b, *part.far, np.where(cable >= 0, cable + start, NOTHING), np.full(size, part.gbps),
                part.stage,
                *(np.full(size, NOTHING) if end is None else end for end in (part.b_nic, part.b_nic_port)),
            ])  # fmt: skip
            before += size
        start += len(kinds.cables.part)
    return Links(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def cable_name(total: int, number: int) -> str:
    """The label of a cable, from 0, of ``total``."""
    return f"C{number + 1:0{max(5, len(str(total)))}d}"


def _cables(cabled_kinds: Sequence[CabledKinds]) -> Cables:
    """The cables, numbered in the order of their first links."""
    total = sum(len(kinds.cables.part) for kinds in cabled_kinds)
    kind_of, media, near_connectors, far_connectors, near_modules, far_modules = [], [], [], [], [], []
    for kinds in cabled_kinds:
        kind = np.concatenate([np.full(len(part), part.kind) for part in kinds.parts])
        kind_of.append(kind[kinds.cables.first])
        assemblies = [kinds.assemblies[number] for number in kinds.cables.assembly.tolist()]
        media += [assembly.medium for assembly in assemblies]
        near_connectors += [assembly.near_connectors for assembly in assemblies]
        far_connectors += [assembly.far_connectors for assembly in assemblies]
        first_rows = kinds.row[kinds.cables.first].tolist()
        near_modules += [kinds.assemblies[number].near_module for number in first_rows]
        far_modules += [assembly.far_module for assembly in assemblies]
    return Cables(
        [cable_name(total, number) for number in range(total)],
        np.concatenate([np.full(len(kinds.cables.part), kinds.fabric) for kinds in cabled_kinds]),
        np.concatenate(kind_of),
        [part for kinds in cabled_kinds for part in kinds.cables.part],
        np.concatenate([kinds.cables.length_m for kinds in cabled_kinds]),
        np.concatenate([kinds.cables.run_m for kinds in cabled_kinds]),
        media,
        np.array(near_connectors, dtype=np.int64),
        np.array(far_connectors, dtype=np.int64),
        near_modules,
        far_modules,
        np.concatenate([kinds.cables.stage for kinds in cabled_kinds]),
    )


def _modules(cabled_kinds: Sequence[CabledKinds]) -> Modules:
    """Every bought module, cage by cage, with the stage of the cage's first link; where several kinds of links share a
    cage it is counted once.
    """
    names = {"": 0}
    columns = [column for kinds in cabled_kinds for column in _ends(kinds, names)]
    device, cage, module, fabric, stage = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.lexsort((cage, device))
    start = np.flatnonzero(np.diff(device[order], prepend=-1) | np.diff(cage[order], prepend=-1))
    first = np.minimum.reduceat(np.where(module[order] > 0, order, len(order)), start)
    bought = first < len(order)
    first, part = first[bought], list(names)
    parts = [part[number] for number in module[first].tolist()]
    return Modules(device[first], cage[first], parts, fabric[first], np.minimum.reduceat(stage[order], start)[bought])


def _ends(kinds: CabledKinds, names: dict[str, int]) -> Iterator[tuple[Ints, ...]]:
    """Device, cage, number of the module, fabric and stage of every link at each end of each kind of links.

    ``names``: numbers of modules, to which new ones are added.
    """
    before = 0
    for part in kinds.parts:
        row = kinds.row[before : before + len(part)]
        for device, cages, end in ((part.a, part.near, "near_module"), (part.b, part.far, "far_module")):
            modules = [names.setdefault(getattr(assembly, end), len(names)) for assembly in kinds.assemblies]
            yield device, cages.cage, np.array(modules)[row], np.full(len(row), kinds.fabric), part.stage
        before += len(part)
