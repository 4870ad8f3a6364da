"""Transceivers offered in place of planned ones: whether all their links still fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from fabopt.design.build import dump
from fabopt.schema.catalog import Transceiver
from fabopt.schema.design import Design
from fabopt.verify.evidence import Evidence
from fabopt.verify.fit import cables_fit_reach, optics_speak_alike, parts_fit_cages
from fabopt.verify.proof import prove

# Ways to put offered modules in place of planned ones that are tried.
MOST_WAYS = 2_000
_RULES = (parts_fit_cages, optics_speak_alike, cables_fit_reach)


@dataclass(frozen=True)
class StandIns:
    """``fits``: the planned module that an offered one can replace; ``misfits``: the nearest one, with the reason."""

    fits: Mapping[str, str] = field(default_factory=dict)
    misfits: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def stand_ins(design: Design, planned: Sequence[str], offered: Sequence[Transceiver]) -> StandIns:
    """Judge offered modules in the places of planned ones by the rules that prove fit, all links together."""
    if not planned or not offered:
        return StandIns()
    ways = sorted(_ways(planned, offered), key=lambda way: -len(set(way.values())))
    best = next((way for way in ways if not _broken(design, way, offered)), {})
    fits = {other: planned_id for planned_id, other in reversed(best.items())}
    misfits = {
        module.id: min(
            ((name, _broken(design, {name: module.id}, offered)) for name in planned), key=lambda pair: len(pair[1])
        )
        for module in offered
        if module.id not in fits
    }
    # links alike give the same reasons
    reasons = {other: (name, list(dict.fromkeys(broken))[:2]) for other, (name, broken) in misfits.items()}
    return StandIns(fits, {other: (name, "; ".join(why)) for other, (name, why) in reasons.items()})


def _ways(planned: Sequence[str], offered: Sequence[Transceiver]) -> Iterator[dict[str, str]]:
    """Ways to replace planned modules, each by itself or an offered one."""
    choices = [(None, *(module.id for module in offered)) for _ in planned]
    for number, way in enumerate(product(*choices)):
        if number == MOST_WAYS:
            return
        replaced = {name: other for name, other in zip(planned, way, strict=True) if other is not None}
        if replaced:
            yield replaced


def _broken(design: Design, way: Mapping[str, str], offered: Sequence[Transceiver]) -> list[str]:
    """Broken rules, in words, with modules replaced."""
    evidence = Evidence(_replaced(design, way, offered))
    broken = (line for rule in _RULES for fabric in evidence.fabrics for line in prove(rule, fabric).broken)
    return [line.replace(", recomputed ", ", not ") for line in broken]


def _replaced(design: Design, way: Mapping[str, str], offered: Sequence[Transceiver]) -> Design:
    parts = design.parts | {module.id: {"kind": "transceiver", **dump(module)} for module in offered}
    fabrics = []
    for fabric in design.fabrics:
        links = []
        for row in fabric.links:
            used = (part.model_copy(update={"id": way.get(part.id, part.id)}) for part in row.parts)
            links.append(row.model_copy(update={"parts": tuple(used)}))
        fabrics.append(fabric.model_copy(update={"links": tuple(links)}))
    return design.model_copy(update={"parts": parts, "fabrics": tuple(fabrics)})
