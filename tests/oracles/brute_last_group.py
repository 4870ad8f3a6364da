"""Every two-tier Clos whose last group has ports on a leaf and uplinks of its own, beside those with equal groups.

The leaves of the last group are counted by themselves throughout; nothing else is on leaves, and stripes are even.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import gcd
from typing import Any
from weakref import WeakKeyDictionary

from tests.oracles import brute_force
from tests.oracles.brute_endpoints import Cards
from tests.oracles.brute_force import Best, Box2, Division, Found, Space, Structure, divisors, structures_of, tiers_of
from tests.oracles.brute_parts import Box, Joiner, Joining, Json, Kind, Mode, alone, ceil_div, modes


@dataclass(frozen=True)
class OddStructure(Structure):
    """A structure with ``odd_k`` ports of a server on each leaf of the last group, which has ``odd_u`` uplinks."""

    odd_k: int = 0
    odd_u: int = 0

    def rank(self) -> tuple[Any, ...]:
        return (*super().rank(), self.odd_k, self.odd_u)


def solve(catalog: Json, case: Json) -> Best | None:
    """The best design where the last group may be unlike the others."""
    return brute_force.solve(catalog, case, walk=lambda space: chain(brute_force.structures(space), odd(space)))


def odd(space: Space) -> Found:
    """Structures whose last group is unlike the others."""
    return structures_of(space, _with_groups)


def _with_groups(space: Space, cards: Cards, division: Division) -> Found:
    if 2 not in tiers_of(space, division):
        return
    per_server = cards.number * cards.ports // division.planes
    for g in range(1, space.servers):
        for k in divisors(per_server):
            for odd_k in divisors(per_server):
                suits = odd_k == k if division.own_rails else True
                if (k == 1 or space.fabric.get("rails") == "any") and suits:
                    for leaf in space.boxes("leaf", cards.cage.speed, top=False):
                        yield from _with_leaves(space, cards, division, leaf, (g, k, odd_k))


def _with_leaves(space: Space, cards: Cards, division: Division, leaf: Box2, sizes: tuple[int, int, int]) -> Found:
    g, k, odd_k = sizes
    per_server = cards.number * cards.ports // division.planes
    groups = ceil_div(space.servers, g)
    last = space.servers - (groups - 1) * g
    whole, own = (groups - 1) * per_server // k, per_server // odd_k
    free = 1 - space.reserve
    reserved = brute_force.ceil_fraction(g * k / free) - g * k
    base = OddStructure(
        2, cards, division.planes, g, k, groups, whole + own, k == 1, leaf, g * k, reserved,
        topology=division.topology, own_rails=division.own_rails, counted=g * k, odd_k=odd_k,
    )  # fmt: skip
    room, odd_room = (leaf.room(brute_force.ceil_fraction(ports / free)) for ports in (g * k, last * odd_k))
    assert leaf.up is not None
    speeds = Fraction(leaf.down.cage.speed, leaf.up.cage.speed)
    for u in range(1, room + 1):
        for spines in [count for count in divisors(u) if g * k * speeds / u <= space.leaf_ratio]:
            for odd_u in range(spines, odd_room + 1, spines):
                if last * odd_k * speeds / odd_u <= space.leaf_ratio and (k, u) != (odd_k, odd_u):
                    above = replace(base, u=u, spines_per_pod=spines, m=u // spines, odd_u=odd_u)
                    yield from _with_spines(space, above, last, whole, own)


def _with_spines(space: Space, above: OddStructure, last: int, whole: int, own: int) -> Found:
    planes, spines, odd_m = above.planes, above.spines_per_pod, above.odd_u // above.spines_per_pod
    assert above.leaf.up is not None
    busiest = whole * above.m + own * odd_m
    near: tuple[Box, ...] = (
        (planes * whole, above.u, ((spines, above.m),)),
        (planes * own, above.odd_u, ((spines, odd_m),)),
    )
    far: tuple[Box, ...] = ((planes * spines, busiest, ((whole, above.m), (own, odd_m))),)
    servers = _on_leaves(space, _servers(space, above, last, whole, own), False)
    for spine in space.boxes("spine", above.leaf.up.cage.speed, top=True):
        links = Kind(above.leaf.up.cage, spine.down.cage, space.run("leaf-spine"), near, far)
        for up, up_cages in _on_leaves(space, links, True):
            if not spine.holds(busiest, 0, max(up.far_cages, ceil_div(busiest, spine.down.cage.ports)), 0):
                continue
            for down, down_cages in servers:
                if _leaves_hold(space, above, last, down_cages, up_cages):
                    yield replace(above, spine=spine), (down, up)


def _leaves_hold(
    space: Space, above: OddStructure, last: int, down_cages: tuple[int, int], up_cages: tuple[int, int]
) -> bool:
    ports = [
        brute_force.ceil_fraction(Fraction(own) / (1 - space.reserve))
        for own in (above.g * above.k, last * above.odd_k)
    ]
    return all(
        above.leaf.holds(kept, uplinks, max(down, ceil_div(kept, above.leaf.down.cage.ports)), up)
        for kept, uplinks, down, up in zip(ports, (above.u, above.odd_u), down_cages, up_cages, strict=True)
    )


def _servers(space: Space, above: OddStructure, last: int, whole: int, own: int) -> Kind:
    """The servers' links: those of the last group have bundles of their own."""
    cards, in_plane = above.cards, above.cards.ports // above.card_planes
    per_server = cards.number * cards.ports if cards.shared else cards.ports
    near, far = [], []
    groups = ((space.servers - last, above.g, above.k, whole), (last, last, above.odd_k, own))
    for servers, on_leaf, k, leaves in groups:
        bundle = (k if above.card_planes == 1 else 1) if cards.shared else gcd(in_plane, k)
        holders = servers if cards.shared else servers * cards.number
        near.append((holders, per_server, ((per_server // bundle, bundle),)))
        far.append((above.planes * leaves, on_leaf * k, ((on_leaf * k // bundle, bundle),)))
    run = space.run("server-leaf", above.g)
    return Kind(cards.cage, above.leaf.down.cage, run, tuple(near), tuple(far), cards.cages, True)


OnLeaves = list[tuple[Mode, tuple[int, int]]]
KNOWN: WeakKeyDictionary[Space, dict[Any, OnLeaves]] = WeakKeyDictionary()


def _on_leaves(space: Space, kind: Kind, near: bool) -> OnLeaves:
    """Every mode with the cages that it takes on a leaf of other groups, and of the last one."""
    known = KNOWN.setdefault(space, {})
    if (space.protocol, kind) not in known:
        known[space.protocol, kind] = list(_modes_on_leaves(kind, space.joiner, near))
    return known[space.protocol, kind]


def _modes_on_leaves(kind: Kind, joiner: Joiner, near: bool) -> Iterator[tuple[Mode, tuple[int, int]]]:
    boxes, cage = (kind.near_boxes, kind.near) if near else (kind.far_boxes, kind.far)
    both = kind.near.ports == kind.far.ports
    if min(kind.near.ports, kind.far.ports) == 1 or (both and all(n % cage.ports == 0 for n in kind.loads())):
        plain, odd_plain = (ceil_div(ports, cage.ports) for _, ports, _ in boxes)
        yield from ((mode, (plain, odd_plain)) for mode in modes(kind, joiner))
        return
    for way in joiner.join(kind.near, kind.far, kind.run):
        mode = alone(kind, way)
        if mode is None or (kind.near_limit is not None and mode.near_cages > kind.near_limit):
            continue
        cages = [_cages(kind, way, box, near) for box in boxes]
        yield mode, (cages[0], cages[1])


def _cages(kind: Kind, way: Joining, box: Box, near: bool) -> int:
    mode = alone(kind._replace(near_boxes=(box,)) if near else kind._replace(far_boxes=(box,)), way)
    assert mode is not None
    return mode.near_cages if near else mode.far_cages
