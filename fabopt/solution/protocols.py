"""Notes on parts without stated protocols, in a catalog with switches of several protocols."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.catalog import Cable, Catalog, Transceiver
from fabopt.schema.design import Design
from fabopt.units import some

_MOST_NAMED = 4


def protocol_notes(catalog: Catalog, design: Design) -> Iterator[str]:
    """One note on transceivers and cables of a design without a stated protocol, assumed to run any."""
    if len({switch.protocol for switch in catalog.switches}) < 2:
        return
    plugged: tuple[Transceiver | Cable, ...] = (*catalog.transceivers, *catalog.cables)
    silent = {part.id for part in plugged if not part.protocols}
    ids = [part for part in design.parts if part in silent]
    if ids:
        more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
        named = ", ".join(ids[:_MOST_NAMED])
        yield f"{some(len(ids), 'part')} without `protocols` in the catalog, taken to run any: {named}{more}"
