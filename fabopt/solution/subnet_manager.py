"""Notes on subnet managers: exchanged switches, and facts that are unknown or rules that are not kept."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.rules.defaults import DEFAULT_RULES, SUBNET_MANAGER
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, FabricDesign
from fabopt.wiring.design_file import Embedded


def subnet_notes(design: Design) -> Iterator[str]:
    """Notes on the management of each InfiniBand fabric's subnets."""
    for fabric in design.fabrics:
        said = fabric.subnet_manager
        if said is not None and said.kept:
            yield from _kept(design, fabric)


def _kept(design: Design, fabric: FabricDesign) -> Iterator[str]:
    said, embedded = fabric.subnet_manager, Embedded(design)
    assert said is not None
    own = {tier.role: embedded.part(tier.id, Switch) for tier in fabric.tiers}
    used = [embedded.part(twin.id, Switch) for twin in said.twins] + [one for one in own.values() if one.managed]
    if said.twins:
        exchanged = ", ".join(f"{twin.count} {twin.role} x {twin.id} for {own[twin.role].id}" for twin in said.twins)
        yield f"{fabric.name}: {DEFAULT_RULES[SUBNET_MANAGER].note(exchanged)}"
    for switch in {one.id: one for one in used if one.max_managed_nodes is None}.values():
        yield f"{fabric.name}: the catalog does not say how many ports {switch.id} manages"
