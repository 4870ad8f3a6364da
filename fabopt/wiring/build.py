"""From a design file to its wiring: names and places of devices, every link, cable and module.

The same file always gives the same wiring. docs/formulation/wiring.md has the rules of numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fabopt.schema.design import Design
from fabopt.wiring.cage_pairs import in_pairs
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.devices import fabric_devices, server_devices, table_of
from fabopt.wiring.fabric_plan import FabricPlan, first_rows
from fabopt.wiring.model import Wiring
from fabopt.wiring.numbers import Numbers, logical_before, nics_before
from fabopt.wiring.runs import runs_of
from fabopt.wiring.server_links import to_leaves
from fabopt.wiring.server_rings import between_servers
from fabopt.wiring.switch_links import between_equals, between_peers, between_tiers
from fabopt.wiring.tables import CabledKinds, tables_of

Cabler = Callable[[FabricPlan], Iterable[CabledKinds]]

# The links of each family, in the order of their rows, by the kind of its structure.
CABLERS: Mapping[str, tuple[Cabler, ...]] = {
    "clos": (to_leaves, between_tiers, between_peers),
    "hyperx": (to_leaves, between_equals),
    "torus": (to_leaves, between_equals),
    "dragonfly": (to_leaves, between_equals),
    "dragonfly+": (to_leaves, between_tiers, between_equals),
    "server-torus": (between_servers,),
}


def wiring_of(design: Design) -> Wiring:
    """The wiring of a design that has fabrics.

    Raises ``LookupError`` or ``ValueError`` where the file does not hold together.
    """
    embedded = Embedded(design)
    fabrics = [Numbers(embedded, fabric) for fabric in design.fabrics]
    devices, first = server_devices(embedded), []
    for numbers in fabrics:
        start = len(devices)
        devices.extend(fabric_devices(numbers))
        first.append(first_rows(devices, start, numbers.fabric.name))
    table, before, logical = table_of(devices), nics_before(fabrics), logical_before(fabrics)
    plans = [
        FabricPlan(numbers, index, first[index], runs_of(embedded, numbers.fabric, table), before[index], logical)
        for index, numbers in enumerate(fabrics)
    ]
    cabled = [
        kinds for plan in plans for cabler in CABLERS[plan.numbers.fabric.structure.kind] for kinds in cabler(plan)
    ]
    names = tuple(fabric.name for fabric in design.fabrics)
    protocols = tuple(fabric.protocol for fabric in design.fabrics)
    links, cables, modules, lent = tables_of(cabled)
    links, modules, lent = in_pairs(plans, (links, modules, lent))
    return Wiring(names, protocols, table, links, cables, modules, lent)
