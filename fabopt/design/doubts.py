"""Parts that a design rests on and of whose data the catalog's confidence is low, and why."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from fabopt.design.build import ids_used
from fabopt.parts.price_basis import said
from fabopt.schema.design import Design
from fabopt.units import cents, summed

LOW = "low"
# Keys that say what a part joins and how far: where one is wrong, the design cannot be built. All else are figures.
JOINS = ("cages", "splits", "split_protocols", "accepts", "protocols", "connectors", "fibre", "reach_m", "back")
_SPLIT = re.compile(r"\d{1,3}x(\d{1,5})")
# Kinds of sources of products that the basis of prices tells.
_KINDS = {"estimate": "an estimate", "derived": "derived"}


def data_doubts(design: Design) -> dict[str, str]:
    """Of each part in use what it joins of which its catalog is not sure, with reasons, by id; first those that are
    doubted as a whole, then what costs most.

    Where no key has a low confidence of its own, that of the product counts, if it is no guess of a price.
    """
    gbps = {row.gbps for fabric in design.fabrics for row in fabric.links}
    spent = summed((row.id, cents(row.total_usd)) for row in design.bom)
    used = ids_used(design.fabrics, design.bom)
    parts = {id_: part for id_, part in design.parts.items() if id_ in used}
    order = sorted(parts, key=lambda id_: (parts[id_].get("confidence") != LOW, -spent.get(id_, 0), id_))
    told = {id_: _doubt(id_, parts[id_], gbps) for id_ in order}
    return {id_: doubt for id_, doubt in told.items() if doubt}


def _doubt(id_: str, part: Mapping[str, object], gbps: Collection[float]) -> str:
    sources = {
        f"{key.replace('_', ' ')} of {id_}": said(source)
        for key, source in said(part.get("provenance")).items()
        if said(source).get("confidence") == LOW and _rests_on(key, gbps)
    }
    whole = said(part.get("source"))
    if not sources and part.get("confidence") == LOW and whole.get("kind") not in _KINDS:
        sources[id_] = whole
    return " and ".join(f"{what}{_why(source)}" for what, source in sources.items())


def _rests_on(key: str, gbps: Collection[float]) -> bool:
    split = _SPLIT.fullmatch(key)
    return key in JOINS or (split is not None and float(split[1]) in gbps)


def _why(source: Mapping[str, object]) -> str:
    """The reason that a source gives, or its kind, in brackets; empty without either."""
    why = str(source.get("note") or _KINDS.get(str(source.get("kind")), "")).replace("; ", ", ")
    return f" ({why})" if why else ""
