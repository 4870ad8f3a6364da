"""The tables of a wiring, from links of every fabric whose cables are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from fabopt.wiring.assembly import RowAssembly
from fabopt.wiring.join import CabledLinks, LinkCables
from fabopt.wiring.model import NOTHING, Cables, Ints, Lent, Links, Modules

# A device, and the number of a cage of it.
_Place = tuple[int, int]


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


def _cables(cabled_kinds: Sequence[CabledKinds]) -> Cables:
    """The cables, numbered in the order of their first links."""
    total = sum(len(kinds.cables.part) for kinds in cabled_kinds)
    digits = max(5, len(str(total)))
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
        [f"C{number + 1:0{digits}d}" for number in range(total)],
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


class _CagesOfLinks(NamedTuple):
    """An end of links of one kind, in columns of shape (links,).

    ``modules``: the module of each assembly at that end.
    """

    device: Ints
    cage: Ints
    row: Ints
    stage: Ints
    modules: Sequence[str]


def _modules(cabled_kinds: Sequence[CabledKinds]) -> Modules:
    """Every bought module, cage by cage; where several kinds of links share a cage it is counted once."""
    bought: dict[_Place, tuple[str, int]] = {}
    earliest: dict[_Place, int] = {}
    for kinds in cabled_kinds:
        for end in _ends(kinds):
            for place, module, stage in _cages(end):
                earliest[place] = min(stage, earliest.get(place, stage))
                if module:
                    bought.setdefault(place, (module, kinds.fabric))
    taken = sorted(bought)
    return Modules(
        np.array([device for device, _ in taken], dtype=np.int64),
        np.array([cage for _, cage in taken], dtype=np.int64),
        [bought[place][0] for place in taken],
        np.array([bought[place][1] for place in taken], dtype=np.int64),
        np.array([earliest[place] for place in taken], dtype=np.int64),
    )


def _ends(kinds: CabledKinds) -> Iterator[_CagesOfLinks]:
    """The ends of each kind of links that was cabled."""
    before = 0
    near = [assembly.near_module for assembly in kinds.assemblies]
    far = [assembly.far_module for assembly in kinds.assemblies]
    for part in kinds.parts:
        row = kinds.row[before : before + len(part)]
        yield _CagesOfLinks(part.a, part.near.cage, row, part.stage, near)
        yield _CagesOfLinks(part.b, part.far.cage, row, part.stage, far)
        before += len(part)


def _cages(end: _CagesOfLinks) -> Iterator[tuple[_Place, str, int]]:
    """Every cage of an end: its place, the module of its first link, and the stage of its earliest."""
    places, first, cage = np.unique(np.stack([end.device, end.cage]), axis=1, return_index=True, return_inverse=True)
    earliest = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(earliest, cage.ravel(), end.stage)
    modules = [end.modules[row] for row in end.row[first].tolist()]
    numbers = [(device, number) for device, number in places.T.tolist()]
    yield from zip(numbers, modules, earliest.tolist(), strict=True)
