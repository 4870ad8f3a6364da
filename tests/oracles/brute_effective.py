"""Servers and network over GPUs that work, of every design of a small case: the truth of that objective.

Structures and purchases are those of ``tests.oracles.brute_force`` and ``tests.oracles.brute_front``; a step is timed
by ``fabopt.workload``, whose figures have tests of their own, on a network that is read off the structure here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from fabopt.workload.timing import FabricBandwidth, ModelRun, step_on
from tests.oracles.brute_endpoints import injection_gbps
from tests.oracles.brute_force import Space, Structure, fixed_items, structures
from tests.oracles.brute_front import Bought, added, of_mode, of_structure, ratios, rounded, thin
from tests.oracles.brute_parts import Json


class Timed(NamedTuple):
    """A way to build a structure: cents, milliwatts, and what GPUs are used in each run."""

    structure: Structure
    capex: int
    drawn: int
    used: tuple[Fraction, ...]


def designs(space: Space, works: Sequence[ModelRun]) -> Iterator[Timed]:
    """Every design of a space that could be on some front, with each run of a model timed once a network."""
    known: dict[int, set[Bought]] = {}
    steps: dict[FabricBandwidth, tuple[Fraction, ...]] = {}
    for structure, choices in groupby(structures(space), key=itemgetter(0)):
        items, power = fixed_items(space, structure)
        devices = {(sum(space.item_table.least(item) * count for item, count in items.items()), power, 0)}
        there = network(space, structure)
        if there not in steps:
            steps[there] = tuple(step_on(work, there).utilization(work) for work in works)
        for _, choice in choices:
            totals = devices
            for mode in choice:
                if id(mode) not in known:
                    known[id(mode)] = of_mode(space.item_table, mode)
                totals = thin(added(totals, known[id(mode)]))
            for capex, drawn, _ in totals:
                yield Timed(structure, capex, drawn, steps[there])


def space_of(catalog: Json, case: Json) -> Space:
    """The space of a case of one fabric, which says its demands itself."""
    return Space(catalog, {key: value for key, value in case.items() if key != "workload"})


def ratio(space: Space, one: Timed, number: int = 0) -> Fraction:
    """Servers and network over GPUs that work in one of the runs, exactly, in cents."""
    gpus = space.servers * space.server["gpus"]
    # where the case counts them, what is spent has them already
    servers = 0 if space.case.get("include_servers") else space.servers * round(100 * space.server["price_usd"])
    return (servers + one.capex) / (gpus * one.used[number])


def timed(catalog: Json, case: Json, work: ModelRun) -> Iterator[dict[str, Any]]:
    """The metrics of every design of a case of one fabric that could be on some front; the ratio exactly, in cents."""
    space = space_of(catalog, case)
    for structure, ways in groupby(designs(space, [work]), key=attrgetter("structure")):
        metrics = of_structure(space, structure)
        for one in ways:
            cents = ratio(space, one)
            yield {
                **metrics,
                "capex_usd": one.capex,
                "power_w": one.drawn,
                "gpu_utilization": rounded(one.used[0] * 10**6),
                "usd_per_effective_gpu": rounded(cents),
                "ratio": cents,
            }


def network(space: Space, structure: Structure) -> FabricBandwidth:
    """What a structure gives each GPU, in Mb/s, and who is below its leaves and pods."""
    each, gpus = space.server["gpus"], space.servers * space.server["gpus"]
    server = 1000 * injection_gbps(space.catalog, space.server, structure.cards)
    leaf, pod = [*(max(Fraction(1), ratio) for ratio in ratios(structure)), Fraction(1), Fraction(1)][:2]
    below_leaf = gpus if structure.tiers == 1 else structure.g * each
    below_pod = gpus if structure.tiers < 3 else structure.g * each * structure.groups_per_pod
    reduces = all("sharp" in box.product.get("features", ()) for box, _ in structure.boxes())
    left = server / without_a_spine(structure)
    return FabricBandwidth(
        server, server / leaf, server / leaf / pod, below_leaf, below_pod, reduces, (left, left / pod)
    )


def without_a_spine(structure: Structure) -> Fraction:
    """What a leaf is oversubscribed by once the spine that it has most links to is lost; a million where it has one."""
    if structure.leaf.up is None:
        return Fraction(1)
    links = Counter(number % structure.spines_per_pod for number in range(structure.u))
    left = structure.u - max(links.values())
    ratio = Fraction(structure.down * structure.leaf.down.cage.speed, structure.leaf.up.cage.speed)
    return max(Fraction(1), ratio / left if left else ratio * 10**6)
