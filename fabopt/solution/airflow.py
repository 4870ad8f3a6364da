"""Notes on airflow: switches of unknown airflow, or without a common direction."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.parts.procurement import airflow_of
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design

ANCHOR = "docs/catalog.md#airflow"


def airflow_notes(case: Case, catalog: Catalog, design: Design) -> Iterator[str]:
    """With a wanted airflow, switches of unknown airflow; without one, switches that blow against each other."""
    used = {row.id for fabric in design.fabrics for tier in fabric.tiers for row in tier.types}
    switches = [switch for switch in catalog.switches if switch.id in used]
    wanted = airflow_of(case)
    unknown = ", ".join(sorted(switch.id for switch in switches if not switch.airflows))
    if wanted is not None and unknown:
        yield f"`site.rack_rules.airflow`: the catalog does not say how {unknown} may be ordered: ask for {wanted}"
    sold = {switch.id: set(switch.airflows) for switch in switches if switch.airflows}
    if wanted is None and sold and not set.intersection(*sold.values()):
        ways = "; ".join(f"{id_} is sold with {' and '.join(sorted(sold[id_]))}" for id_ in sorted(sold))
        yield f"no one airflow goes for all switches: {ways}; `site.rack_rules.airflow` asks for one ({ANCHOR})"
