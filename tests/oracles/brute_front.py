"""Every design of a small case by its metrics, and what is not dominated: the truth that fronts are tested against.

Structures come from the exhaustive search of ``tests.oracles.brute_force``; purchases are all splits of all units over
their joinings. Nothing of fabopt is imported. Scope: as there, and nothing sold at breaks, from stock or in short
supply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from tests.oracles.brute_endpoints import injection_gbps, racks_per_group
from tests.oracles.brute_force import Space, Structure, fixed_items, rack_units, structures
from tests.oracles.brute_parts import ItemTable, Json, Mode, ceil_div
from tests.oracles.brute_purchase import linear, terms_of
from tests.oracles.brute_stripes import worst_by_sets

# Grades: cents, milliwatts, wires.
Bought = tuple[int, int, int]
LESS = (
    *("capex_usd", "tco_usd", "power_w", "rack_units", "cables", "switches", "oversubscription"),
    "usd_per_effective_gpu",
)


def designs(catalog: Json, case: Json) -> Iterator[dict[str, Any]]:
    """The metrics of every design that could be on some front: money in cents, power in milliwatts, exact."""
    space, rate = Space(catalog, case), terms_of(case).rate
    assert not any(space.item_table.special(item) for item in space.item_table.steps)
    fronts: dict[int, set[Bought]] = {}
    servers_mw = 1000 * space.server["power_w"] * space.servers if case.get("include_servers") else 0
    for structure, choices in groupby(structures(space), key=itemgetter(0)):
        items, power = fixed_items(space, structure)
        devices = {(sum(space.item_table.least(item) * count for item, count in items.items()), power, 0)}
        shape = of_structure(space, structure)
        for _, choice in choices:
            totals = devices
            for mode in choice:
                if id(mode) not in fronts:
                    fronts[id(mode)] = of_mode(space.item_table, mode)
                totals = thin(added(totals, fronts[id(mode)]))
            for capex, drawn, cables in totals:
                tco = rounded(capex + (drawn + servers_mw) * rate)
                yield {**shape, "capex_usd": capex, "tco_usd": tco, "power_w": drawn, "cables": cables}


def of_mode(item_table: ItemTable, mode: Mode) -> set[Bought]:
    """What a mode's links can come to, each unit joined in any way."""
    totals: set[Bought] = {(0, 0, 0)}
    for number, units in mode.classes:
        each = {(*linear(item_table, unit), unit.cables) for unit in units}
        for _ in range(number):
            totals = thin(added(totals, each))
    return totals


def added(some: Iterable[Bought], others: Iterable[Bought]) -> set[Bought]:
    return {(a + d, b + e, c + f) for a, b, c in some for d, e, f in others}


def thin(found: set[Bought]) -> set[Bought]:
    """Without what another one beats in cents, power and wires together."""
    kept: list[Bought] = []
    for one in sorted(found):
        if not any(other[1] <= one[1] and other[2] <= one[2] for other in kept):
            kept.append(one)
    return set(kept)


def of_structure(space: Space, structure: Structure) -> dict[str, Any]:
    """The metrics that do not depend on parts."""
    rate = injection_gbps(space.catalog, space.server, structure.cards)
    bisection = rate
    if structure.tiers == 2 and structure.u % structure.spines_per_pod:
        bisection *= of_uneven_stripes(space.servers, structure)
    else:
        for ratio in ratios(structure):
            bisection /= max(Fraction(1), ratio)
    return {
        "rack_units": rounded(rack_units(structure) * 1000),
        "switches": structure.switches,
        "gbps_per_gpu": rounded(rate * 10**6),
        "bisection_gbps_per_gpu": rounded(bisection * 10**6),
        "headroom_servers": headroom(space, structure),
        "oversubscription": max([10**6, *(rounded(ratio * 10**6) for ratio in ratios(structure))]),
    }


def of_uneven_stripes(servers: int, structure: Structure) -> Fraction:
    """The worst balanced cut of one plane, as a share of what its ports carry.

    Uplinks are dealt to spines in turn, leaf after leaf; every leaf of a group has k ports of each of its servers.
    """
    assert structure.leaf.up is not None
    rails = structure.leaves // structure.groups
    sizes = [min(structure.g, servers - structure.g * group) for group in range(structure.groups)]
    hosts = tuple(size * structure.k for size in sizes for _ in range(rails))
    speeds = structure.leaf.down.cage.speed, structure.leaf.up.cage.speed
    return worst_share(structure.u, structure.spines_per_pod, hosts, *(int(1000 * speed) for speed in speeds))


@cache
def worst_share(uplinks: int, spines: int, hosts: tuple[int, ...], port_mbps: int, link_mbps: int) -> Fraction:
    links = np.zeros((len(hosts), spines), dtype=np.int64)
    for number in range(len(hosts) * uplinks):
        links[number // uplinks, number % spines] += 1
    return worst_by_sets(links, list(hosts), port_mbps, link_mbps) / port_mbps


def ratios(structure: Structure) -> Iterator[Fraction]:
    if structure.leaf.up is not None:
        down, up = structure.leaf.down.cage.speed, structure.leaf.up.cage.speed
        yield Fraction(structure.down * down, structure.u * up)
    if structure.spine is not None and structure.spine.up is not None:
        down, up = structure.spine.down.cage.speed, structure.spine.up.cage.speed
        if structure.pod_of == "rail":
            leaves = structure.groups_per_pod
        else:
            leaves = structure.groups_per_pod * (structure.leaves // structure.groups)
        yield Fraction(ceil_div(leaves * structure.u, structure.spines_per_pod) * down, structure.x * up)


def headroom(space: Space, structure: Structure) -> int:
    """One server more in every group, as long as every leaf takes it."""
    attachments = sum(one["ports"] for one in space.attachments)
    most = structure.g if racks_per_group(space.fabric) else 10**6
    best = 0
    for size in range(1, most + 1):
        down = size * structure.k + ceil_div(attachments, structure.planes * structure.leaves)
        if not leaf_takes(space, structure, down):
            break
        best = size
    return max(0, structure.groups * best - space.servers)


def leaf_takes(space: Space, structure: Structure, down: int) -> bool:
    free = 1 - space.reserve
    ports = -(-(down / free).numerator // (down / free).denominator)
    leaf = structure.leaf
    up_cages = 0 if leaf.up is None else ceil_div(structure.u, leaf.up.cage.ports)
    if not leaf.holds(ports, structure.u, ceil_div(ports, leaf.down.cage.ports), up_cages):
        return False
    if leaf.up is None:
        return True
    return Fraction(down * leaf.down.cage.speed, structure.u * leaf.up.cage.speed) <= space.leaf_ratio


def rounded(value: Fraction | int) -> int:
    """Half up."""
    return int((Fraction(value) + Fraction(1, 2)).__floor__())


def undominated(found: Iterable[dict[str, Any]], metrics: tuple[str, ...]) -> set[tuple[int, ...]]:
    """The grades in some metrics that no design beats in all of them."""
    points = {tuple(one[name] for name in metrics) for one in found}

    def worth(point: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(grade if name in LESS else -grade for name, grade in zip(metrics, point, strict=True))

    kept: list[tuple[int, ...]] = []
    for point in sorted(points, key=worth):
        if not any(all(a <= b for a, b in zip(worth(other), worth(point), strict=True)) for other in kept):
            kept.append(point)
    return set(kept)
