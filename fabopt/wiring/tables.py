"""The tables of a wiring, from links of every fabric whose wires were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from fabopt.wiring.assembly import Way
from fabopt.wiring.join import Cabled, Jackets
from fabopt.wiring.model import NOTHING, Cables, Ints, Lent, Links, Modules

# A box, and the number of a cage of it.
_Place = tuple[int, int]


@dataclass(frozen=True)
class CabledKinds:
    """Kinds of links of a fabric whose wires were made together."""

    fabric: int
    parts: tuple[Cabled, ...]
    ways: tuple[Way, ...]
    way: Ints
    jackets: Jackets
    lent: Lent | None = None


def tables_of(cabled_kinds: Sequence[CabledKinds]) -> tuple[Links, Cables, Modules, Lent]:
    """Links, wires, modules and what is lent, over all fabrics."""
    return _links(cabled_kinds), _lengths_on_sale(cabled_kinds), _modules(cabled_kinds), _lent(cabled_kinds)


def _lent(cabled_kinds: Sequence[CabledKinds]) -> Lent:
    """All times for which links are elsewhere, with the links' rows over all fabrics."""
    columns: list[list[Ints]] = []
    start = 0
    for one in cabled_kinds:
        if one.lent is not None:
            columns.append([one.lent.link + start, *(getattr(one.lent, each.name) for each in fields(Lent)[1:])])
        start += sum(len(part) for part in one.parts)
    if not columns:
        return Lent(*(np.array([], dtype=np.int64) for _ in fields(Lent)))
    return Lent(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _links(cabled_kinds: Sequence[CabledKinds]) -> Links:
    """All links, fabric by fabric, kind by kind."""
    columns: list[list[Ints]] = []
    start = 0
    for one in cabled_kinds:
        at = 0
        for part in one.parts:
            cable = one.jackets.cable[at : at + len(part)]
            size = len(part)
            columns.append([
                np.full(size, one.fabric), np.full(size, part.kind), part.a, part.a_card, part.a_card_port,
                *part.near, part.b, *part.far, np.where(cable >= 0, cable + start, NOTHING), np.full(size, part.gbps),
                part.stage,
                *(np.full(size, NOTHING) if end is None else end for end in (part.b_card, part.b_card_port)),
            ])  # fmt: skip
            at += size
        start += len(one.jackets.part)
    return Links(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _lengths_on_sale(cabled_kinds: Sequence[CabledKinds]) -> Cables:
    """All wires, numbered in the order of their first links."""
    total = sum(len(one.jackets.part) for one in cabled_kinds)
    digits = max(5, len(str(total)))
    kinds, media, near_heads, far_heads, near_modules, far_modules = [], [], [], [], [], []
    for one in cabled_kinds:
        kind = np.concatenate([np.full(len(part), part.kind) for part in one.parts])
        kinds.append(kind[one.jackets.first])
        made = [one.ways[number] for number in one.jackets.way.tolist()]
        media += [way.medium for way in made]
        near_heads += [way.near_heads for way in made]
        far_heads += [way.far_heads for way in made]
        near_modules += [one.ways[number].near_module for number in one.way[one.jackets.first].tolist()]
        far_modules += [way.far_module for way in made]
    return Cables(
        [f"C{number + 1:0{digits}d}" for number in range(total)],
        np.concatenate([np.full(len(one.jackets.part), one.fabric) for one in cabled_kinds]),
        np.concatenate(kinds),
        [part for one in cabled_kinds for part in one.jackets.part],
        np.concatenate([one.jackets.length_m for one in cabled_kinds]),
        np.concatenate([one.jackets.run_m for one in cabled_kinds]),
        media,
        np.array(near_heads, dtype=np.int64),
        np.array(far_heads, dtype=np.int64),
        near_modules,
        far_modules,
        np.concatenate([one.jackets.stage for one in cabled_kinds]),
    )


class _End(NamedTuple):
    """One end of links of one kind, link by link; ``modules``: what each way has in a cage there."""

    device: Ints
    cage: Ints
    way: Ints
    stage: Ints
    modules: Sequence[str]


def _modules(cabled_kinds: Sequence[CabledKinds]) -> Modules:
    """Every module that is bought, cage by cage; where several kinds of links share a cage it is there once."""
    found: dict[_Place, tuple[str, int]] = {}
    earliest: dict[_Place, int] = {}
    for one in cabled_kinds:
        for end in _ends(one):
            for place, module, stage in _cages(end):
                earliest[place] = min(stage, earliest.get(place, stage))
                if module:
                    found.setdefault(place, (module, one.fabric))
    taken = sorted(found)
    return Modules(
        np.array([device for device, _ in taken], dtype=np.int64),
        np.array([cage for _, cage in taken], dtype=np.int64),
        [found[place][0] for place in taken],
        np.array([found[place][1] for place in taken], dtype=np.int64),
        np.array([earliest[place] for place in taken], dtype=np.int64),
    )


def _ends(one: CabledKinds) -> Iterator[_End]:
    """Both ends of each kind of links that was wired."""
    at = 0
    for part in one.parts:
        way = one.way[at : at + len(part)]
        yield _End(part.a, part.near.cage, way, part.stage, [each.near_module for each in one.ways])
        yield _End(part.b, part.far.cage, way, part.stage, [each.far_module for each in one.ways])
        at += len(part)


def _cages(end: _End) -> Iterator[tuple[_Place, str, int]]:
    """Every cage of an end: its place, the module that its first link has there, and the stage of its earliest."""
    places, first, cage = np.unique(np.stack([end.device, end.cage]), axis=1, return_index=True, return_inverse=True)
    earliest = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(earliest, cage.ravel(), end.stage)
    modules = [end.modules[way] for way in end.way[first].tolist()]
    numbers = [(device, number) for device, number in places.T.tolist()]
    yield from zip(numbers, modules, earliest.tolist(), strict=True)
