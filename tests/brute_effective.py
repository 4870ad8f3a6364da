"""Servers and network over GPUs that work, of every design of a small case: the truth of that objective.

Structures and purchases are those of ``tests.brute_force`` and ``tests.brute_front``; a step is timed by
``fabopt.workload``, whose figures have tests of their own, on a network that is read off the structure here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from fabopt.workload.timing import Network, Workload, step_on
from tests.brute_endpoints import injection_gbps
from tests.brute_force import Space, Structure, fixed_items, structures
from tests.brute_front import of_mode, ratios
from tests.brute_parts import Json


class Timed(NamedTuple):
    """A structure at its least cost: cents of the network, share of the peak, and what both come to."""

    capex_cents: int
    utilization: Fraction
    cents_per_gpu: Fraction


def timed(catalog: Json, case: Json, work: Workload) -> Iterator[Timed]:
    """Every structure of a case of one fabric; ``case`` says its demands itself."""
    space = Space(catalog, {key: value for key, value in case.items() if key != "workload"})
    gpus = space.servers * space.server["gpus"]
    servers_cents = space.servers * round(100 * space.server["price_usd"])
    least: dict[int, int] = {}
    for structure, choice in structures(space):
        items, _ = fixed_items(space, structure)
        capex = sum(space.goods.least(item) * count for item, count in items.items())
        for mode in choice:
            if id(mode) not in least:
                least[id(mode)] = min(cents for cents, _, _ in of_mode(space.goods, mode))
            capex += least[id(mode)]
        used = step_on(work, network(space, structure)).utilization(work)
        yield Timed(capex, used, (servers_cents + capex) / (gpus * used))


def network(space: Space, structure: Structure) -> Network:
    """What a structure gives each GPU, in Mb/s, and who is below its leaves and pods."""
    each, gpus = space.server["gpus"], space.servers * space.server["gpus"]
    server = 1000 * injection_gbps(space.catalog, space.server, structure.cards)
    leaf, pod = [*(max(Fraction(1), ratio) for ratio in ratios(structure)), Fraction(1), Fraction(1)][:2]
    below_leaf = gpus if structure.tiers == 1 else structure.g * each
    below_pod = gpus if structure.tiers < 3 else structure.g * each * structure.groups_per_pod
    reduces = all("sharp" in box.product.get("features", ()) for box, _ in structure.boxes())
    return Network(server, server / leaf, server / leaf / pod, below_leaf, below_pod, reduces)
