"""Rule ``subnet-manager`` by hand: which switches of a structure could be exchanged. Nothing of fabopt is imported.

``structure``: of ``tests.oracles.brute_force``, one point of the space.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

# Of each tier from the leaves up: what some of its switches are exchanged for, and how many, over all subnets.
Exchange = tuple[tuple[str, int], ...]


def asks(case: Any) -> bool:
    """Whether the rule holds; cases of tests that say nothing of rules are without."""
    rules = case.get("rules", "none")
    return rules != "none" and bool(rules.get("subnet-manager", True))


def subnets_of(structure: Any) -> int:
    """Networks of switches that no link joins."""
    return structure.planes * (structure.leaves if structure.tiers == 1 else 1)


def manages(switch: Any, ports: int) -> bool:
    return bool(switch.get("managed")) and switch.get("max_managed_nodes", ports) >= ports


def exchanges(structure: Any, space: Any, fewest: int) -> Iterator[Exchange]:
    """Every way to have so many managers in each subnet, or as many as it can have; nothing where it can have none."""
    if space.protocol != "infiniband":
        yield ()
        return
    subnets = subnets_of(structure)
    cards = structure.cards
    ports = space.servers * cards.number * cards.ports // subnets + sum(one["ports"] for one in space.attachments)
    # of what a pod joins: ports of a subnet, and the most ports of each leaf that manages it
    there, leaves = space.case.get("there", (0, ()))
    ports += there
    sold = {one["id"]: one for one in space.catalog["switches"]}
    managed, twins = sum(most >= ports for most in leaves), []
    for box, count in structure.boxes():
        twin = sold.get(box.product.get("managed_twin"))
        usable = twin is not None and (twin["id"], None) in space.item_table.steps and manages(twin, ports)
        managed += count // subnets if manages(box.product, ports) else 0
        twins.append((twin["id"], count // subnets) if usable and twin is not None else ("", 0))
    wanted = min(fewest, managed + sum(count for _, count in twins))
    if not wanted:
        return
    for numbers in product(*(range(min(count, wanted) + 1) for _, count in twins)):
        if managed + sum(numbers) == max(wanted, managed):
            yield tuple((twin, number * subnets) for (twin, _), number in zip(twins, numbers, strict=True))
