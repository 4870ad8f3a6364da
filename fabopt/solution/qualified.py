"""Notes on qualified parts: devices without a list in the case."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design


def pair_notes(case: Case, catalog: Catalog, design: Design) -> Iterator[str]:
    """Devices of a design without a list of qualified parts, while others have one."""
    named = set(case.procurement.parts_by_device)
    if not named or not design.fabrics:
        return
    if case.server in named:
        named |= {nic.id for server in catalog.servers if server.id == case.server for nic in server.nics}
    used = {row.id for fabric in design.fabrics for tier in fabric.tiers for row in tier.types}
    used |= {fabric.nic.id for fabric in design.fabrics}
    if unnamed := sorted(used - named):
        yield f"`procurement.qualified` does not name {', '.join(unnamed)}: any part that fits may be plugged in there"
