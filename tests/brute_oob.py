"""All designs of several fabrics of which one is out-of-band: the truth about ports that depend on what is built.

For every fabric alone, the least that each number of switches costs (``tests.brute_force`` enumerates; nothing of
fabopt is imported); for the out-of-band fabric that for every number of ports. Then all sums. Scope: prices that do not
depend on the quantity, objective capex, no limits.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.brute_force import Space, fixed_items, structures
from tests.brute_parts import Json
from tests.brute_purchase import buy, terms_of


def least_by_switches(catalog: Json, case: Json) -> dict[int, int]:
    """Cents of the cheapest design with each number of switches, of a case with one fabric."""
    space, terms = Space(catalog, case), terms_of(case)
    found: dict[int, int] = {}
    for structure, choice in structures(space):
        items, power = fixed_items(space, structure)
        purchase = buy(space.goods, terms, items, power, [one for mode in choice for one in mode.classes])
        if purchase is not None:
            found[structure.switches] = min(purchase.capex, found.get(structure.switches, purchase.capex))
    return found


def alone(case: Json, fabric: Json, **changes: Any) -> Json:
    """The case with one fabric only."""
    return case | {"fabrics": [fabric | changes]}


def counted(number: int) -> Json:
    """Ports of management of switches, as another endpoint."""
    return {"name": "switches", "ports": number, "form_factor": "RJ45", "split": "1x1", "buys": "both"}


def least(catalog: Json, case: Json, most_own: int = 12) -> int | None:
    """Cents of the cheapest design of all fabrics; the last one is out-of-band. None if there is none."""
    *others, oob = case["fabrics"]
    tables = [least_by_switches(catalog, alone(case, one)) for one in others]
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
                known[ports] = least_by_switches(catalog, wanted)
            if own in known[ports]:
                total = cents + known[ports][own]
                best = total if best is None else min(best, total)
    return best
