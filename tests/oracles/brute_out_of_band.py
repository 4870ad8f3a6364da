"""All designs of several fabrics of which one is out-of-band: the truth about ports that depend on what is built.

For every fabric alone, the least that each number of switches costs (``tests.oracles.brute_force`` enumerates; nothing
of fabopt is imported); for the out-of-band fabric that for every number of ports. Then all sums. Scope: prices that do
not depend on the quantity, objective capex, no limits.
"""

from __future__ import annotations

from itertools import chain, product
from typing import Any

from tests.oracles.brute_cable_runs import Laying
from tests.oracles.brute_force import Found, Space, Walk, fixed_items, structures
from tests.oracles.brute_growth import GrowthSpace, Planner, Pricer, plus
from tests.oracles.brute_last_group import odd
from tests.oracles.brute_parts import Json
from tests.oracles.brute_purchase import buy, terms_of


def with_last_groups(space: Space) -> Found:
    """Every structure, with those whose last group is unlike the others."""
    return chain(structures(space), odd(space))


def least_by_switches(catalog: Json, case: Json, walk: Walk = structures) -> dict[int, int]:
    """Cents of the cheapest design with each number of switches, of a case with one fabric."""
    space, terms = Space(catalog, case), terms_of(case)
    found: dict[int, int] = {}
    for structure, choice in walk(space):
        items, power = fixed_items(space, structure)
        purchase = buy(space.item_table, terms, items, power, [one for mode in choice for one in mode.classes])
        if purchase is not None:
            found[structure.switches] = min(purchase.capex, found.get(structure.switches, purchase.capex))
    return found


def alone(case: Json, fabric: Json, **changes: Any) -> Json:
    """The case with one fabric only."""
    return case | {"fabrics": [fabric | changes]}


def counted(number: int) -> Json:
    """Ports of management of switches, as another endpoint."""
    return {"name": "switches", "ports": number, "form_factor": "RJ45", "split": "1x1", "buys": "both"}


def least(catalog: Json, case: Json, most_own: int = 12, walk: Walk = structures) -> int | None:
    """Cents of the cheapest design of all fabrics; the last one is out-of-band. None if there is none."""
    *others, oob = case["fabrics"]
    tables = [least_by_switches(catalog, alone(case, one), walk) for one in others]
    best: int | None = None
    known: dict[int, dict[int, int]] = {}
    for picks in product(*(table.items() for table in tables)):
        cents, switches = sum(one[1] for one in picks), sum(one[0] for one in picks)
        for own in range(1, most_own + 1):
            ports = switches + own
            if ports not in known:
                # any port of management will do
                more = [*oob.get("attachments", []), counted(ports)]
                wanted = alone(case, oob, min_gbps_per_gpu=0.001, attachments=more)
                known[ports] = least_by_switches(catalog, wanted, walk)
            if own in known[ports]:
                total = cents + known[ports][own]
                best = total if best is None else min(best, total)
    return best


# -- growth -----------------------------------------------------------------------------------------------------------

# Switches, or ports, at every stage.
ByStage = tuple[int, ...]


def least_by_stages(catalog: Json, case: Json) -> dict[ByStage, int]:
    """Cents of the cheapest growing design with each number of switches at every stage, of a case with one fabric."""
    space = GrowthSpace(catalog, case)
    pricer, found = Pricer(space), dict[ByStage, int]()
    for structure, choice in structures(space):
        for plan in Planner(space, structure).plans():
            laying = Laying(structure, plan)
            total = plus(pricer.boxes(laying, laying.moves()), *pricer.links(laying, choice))
            comes = [stage for stages in laying.switches() for stage in stages]
            key = tuple(sum(when <= number for when in comes) for number in range(len(plan)))
            found[key] = min(total[0], found.get(key, total[0]))
    return found


def coming(name: str, ports: ByStage) -> list[Json]:
    """Ports of management, as another endpoint for what each stage adds."""
    adds = [now - before for now, before in zip(ports, (0, *ports), strict=False)]
    each = {"form_factor": "RJ45", "split": "1x1", "buys": "both"}
    return [{"name": f"{name}-{at}", "ports": more, "stage": at, **each} for at, more in enumerate(adds) if more]


def least_growing(catalog: Json, case: Json, strips: ByStage, most_own: int = 7) -> int | None:
    """Cents of the cheapest growing design of all fabrics; the last one is out-of-band. ``strips``: at every stage."""
    *others, oob = case["fabrics"]
    tables = [least_by_stages(catalog, alone(case, one)) for one in others]
    known: dict[ByStage, dict[ByStage, int]] = {}
    best: int | None = None
    rising = [own for own in product(range(1, most_own + 1), repeat=len(strips)) if list(own) == sorted(own)]
    for picks in sorted(product(*(table.items() for table in tables)), key=lambda one: sum(cents for _, cents in one)):
        cents = sum(one[1] for one in picks)
        switches = [sum(column) for column in zip(*(one[0] for one in picks), strict=True)]
        for own in rising if best is None or cents < best else ():
            ports = tuple(one + other for one, other in zip(switches, own, strict=True))
            if ports not in known:
                more = sorted([*coming("pdus", strips), *coming("switches", ports)], key=lambda one: one["stage"])
                known[ports] = least_by_stages(catalog, alone(case, oob, min_gbps_per_gpu=0.001, attachments=more))
            if own in known[ports]:
                total = cents + known[ports][own]
                best = total if best is None else min(best, total)
    return best
