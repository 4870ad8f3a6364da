"""Every two-tier Clos whose last group has ports on a leaf and uplinks of its own, beside those with equal groups.

The leaves of the last group are counted by themselves throughout; attachments are dealt one by one over all leaves,
those with the fewest ports of servers first and of equals those of the last group last. Stripes are even.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, compress, product
from math import gcd
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tests.oracles import brute_force
from tests.oracles.brute_endpoints import (
    Cards,
    LeafLoad,
    attachment_ways,
    cages_of_leaf,
    coupled_mode,
    crosses,
    leaf_end,
    uncoupled_modes,
)
from tests.oracles.brute_force import Best, Box2, Division, Found, Space, Structure, divisors, structures_of, tiers_of
from tests.oracles.brute_free_ports import counts
from tests.oracles.brute_parts import (
    Box,
    Joiner,
    Joining,
    Json,
    Kind,
    Mode,
    alone,
    ceil_div,
    crossed,
    form_fits,
    modes,
    split_of,
)


@dataclass(frozen=True)
class OddStructure(Structure):
    """A structure with ``own_k`` ports of a server on each leaf of the last group, which has ``own_u`` uplinks."""

    own_k: int = 0
    own_u: int = 0
    # the leaves of the last group where they are of another type, and how many there are in a plane
    odd_leaf: Box2 | None = None
    odd_leaves: int = 0

    @property
    def last(self) -> Box2:
        """The leaves of the last group."""
        return self.leaf if self.odd_leaf is None else self.odd_leaf

    def boxes(self) -> list[tuple[Box2, int]]:
        (leaf, leaves), *others = super().boxes()
        if self.odd_leaf is None:
            return [(leaf, leaves), *others]
        own = self.planes * self.odd_leaves
        return [(leaf, leaves - own), (self.odd_leaf, own), *others]

    def counts(self) -> list[int]:
        return [count for _, count in super().boxes()]

    def rank(self) -> tuple[Any, ...]:
        own: tuple[Any, ...] = ("", 0, 0)
        if self.odd_leaf is not None:
            assert self.odd_leaf.up is not None
            own = self.odd_leaf.product["id"], self.odd_leaf.down.group, self.odd_leaf.up.group
        return (*super().rank(), self.own_k, self.own_u, own)


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
    for g in [size for size in space.group_sizes() if size < space.servers]:
        for k in divisors(per_server):
            for own_k in divisors(per_server):
                suits = own_k == k if division.own_rails else True
                if (k == 1 or space.fabric.get("rails") == "any") and suits:
                    for leaf in space.boxes("leaf", cards.cage.speed, top=False):
                        for odd_leaf in (None, *_others_like(space, leaf, cards.cage.speed)):
                            yield from _with_leaves(space, cards, division, (leaf, odd_leaf), (g, k, own_k))


def _others_like(space: Space, leaf: Box2, speed: int) -> Iterator[Box2]:
    """Uses of other leaf switches whose cages, up and down, look to parts as those of a leaf do."""
    for box in space.boxes("leaf", speed, top=False):
        if box.product["id"] != leaf.product["id"] and _looks(space, box) == _looks(space, leaf):
            yield box


def _looks(space: Space, box: Box2) -> list[tuple[Any, ...]]:
    """What parts see of the cages below and above: the forms that fit, lanes, vendors that anybody names."""
    found = []
    modules = ((one, [one["split"]] if "split" in one else one["standards"]) for one in space.catalog["transceivers"])
    ends = [(one, one["form_factor"], split) for one, splits in modules for split in splits]
    ends += [(one, end["form_factor"], end["split"]) for one in space.catalog["cables"] for end in one["ends"]]
    for side in (box.down, box.up):
        assert side is not None
        cage = side.cage
        own = [(part, form) for part, form, split in ends if split_of(split) == (cage.ports, cage.speed)]
        fitting = [(part, form) for part, form in own if form_fits(form, cage)]
        named = {vendor for part, _ in fitting for vendor in part.get("works_with", ())}
        vendor = cage.vendor if cage.vendor is None or cage.vendor in named else ""
        forms = frozenset(form for _, form in fitting)
        found.append((forms, cage.ports, cage.speed, cage.lane, vendor, frozenset(cage.works_with), cage.qualified))
    return found


def _with_leaves(
    space: Space, cards: Cards, division: Division, leaves: tuple[Box2, Box2 | None], sizes: tuple[int, int, int]
) -> Found:
    (leaf, odd_leaf), (g, k, own_k) = leaves, sizes
    per_server = cards.number * cards.ports // division.planes
    groups = ceil_div(space.servers, g)
    last = space.servers - (groups - 1) * g
    whole, own = (groups - 1) * per_server // k, per_server // own_k
    loads = _leaf_loads(space, division.planes, (whole, g, k), (own, last, own_k))
    (most, in_ratio), (odd_most, odd_in_ratio) = (_busiest(space, loads, is_last) for is_last in (False, True))
    kept, odd_kept = (_with_reserve(space, ports) for ports in (most, odd_most))
    base = OddStructure(
        2, cards, division.planes, g, k, groups, whole + own, k == 1, leaf, most, kept - most,
        topology=division.topology, own_rails=division.own_rails, counted=in_ratio, own_k=own_k,
        odd_leaf=odd_leaf, odd_leaves=own, own_last=1 if odd_leaf is None else 2,
    )  # fmt: skip
    assert leaf.up is not None
    speeds = Fraction(leaf.down.cage.speed, leaf.up.cage.speed)
    for u in range(1, leaf.room(kept) + 1):
        for spines in [count for count in divisors(u) if in_ratio * speeds / u <= space.leaf_ratio]:
            for own_u in range(spines, base.last.room(odd_kept) + 1, spines):
                differs = odd_leaf is not None or (k, u) != (own_k, own_u)
                if differs and odd_in_ratio * speeds / own_u <= space.leaf_ratio:
                    above = replace(base, u=u, spines_per_pod=spines, m=u // spines, own_u=own_u)
                    yield from _with_spines(space, above, last, whole, own, loads)


Loads = tuple["Load", ...]


class Load(NamedTuple):
    """Equal leaves over all planes: whether of the last group, ports of a server on each, and what is on each."""

    is_last: bool
    k: int
    leaf: LeafLoad

    @property
    def ports(self) -> int:
        """Ports of servers."""
        return self.leaf.servers * self.k


def _leaf_loads(space: Space, planes: int, whole: tuple[int, int, int], own: tuple[int, int, int]) -> Loads:
    """The leaves by what is on them. ``whole``, ``own``: leaves of a plane, servers, ports of each on a leaf."""
    leaves = [(servers * k, is_last, k, servers) for is_last, (count, servers, k) in enumerate((whole, own))
              for _ in range(count * planes)]  # fmt: skip
    leaves.sort(key=lambda leaf: leaf[:2])
    owners = [index for index, one in enumerate(space.attachments) for _ in range(one["ports"])]
    found: Counter[tuple[bool, int, int, tuple[int, ...]]] = Counter()
    for place, (_, is_last, k, servers) in enumerate(leaves):
        on_leaf = owners[place :: len(leaves)]
        attached = tuple(on_leaf.count(index) for index in range(len(space.attachments)))
        found[bool(is_last), k, servers, attached] += 1
    return tuple(
        Load(is_last, k, LeafLoad(count, servers, attached)) for (is_last, k, servers, attached), count in found.items()
    )


def _busiest(space: Space, loads: Loads, is_last: bool) -> tuple[int, int]:
    """Most ports on a leaf of the last group, or of others, and most that count in its ratio."""
    count = [counts(one) for one in space.attachments]
    own = [load for load in loads if load.is_last == is_last]
    most = max(load.ports + sum(load.leaf.attached) for load in own)
    return most, max(load.ports + sum(compress(load.leaf.attached, count)) for load in own)


def _with_reserve(space: Space, ports: int) -> int:
    return brute_force.ceil_fraction(Fraction(ports) / (1 - space.reserve))


def _with_spines(space: Space, above: OddStructure, last: int, whole: int, own: int, loads: Loads) -> Found:
    planes, spines, odd_m = above.planes, above.spines_per_pod, above.own_u // above.spines_per_pod
    assert above.leaf.up is not None
    busiest = whole * above.m + own * odd_m
    near: tuple[Box, ...] = (
        (planes * whole, above.u, ((spines, above.m),)),
        (planes * own, above.own_u, ((spines, odd_m),)),
    )
    far: tuple[Box, ...] = ((planes * spines, busiest, ((whole, above.m), (own, odd_m))),)
    servers = _server_modes(space, _servers(space, above, last, loads), loads)
    for spine in space.boxes("spine", above.leaf.up.cage.speed, top=True):
        links = Kind(above.leaf.up.cage, spine.down.cage, space.run("leaf-spine"), near, far, crosses=True)
        for up, up_cages in _on_leaves(space, links, True):
            if not spine.holds(busiest, 0, max(up.far_cages, ceil_div(busiest, spine.down.cage.ports)), 0):
                continue
            for down, down_cages in servers:
                if _leaves_hold(space, above, loads, down_cages, up_cages):
                    yield replace(above, spine=spine), (down, up)


def _leaves_hold(
    space: Space, above: OddStructure, loads: Loads, down_cages: tuple[int, int], up_cages: tuple[int, int]
) -> bool:
    ports = [_with_reserve(space, _busiest(space, loads, is_last)[0]) for is_last in (False, True)]
    kinds = zip((above.leaf, above.last), ports, (above.u, above.own_u), down_cages, up_cages, strict=True)
    return all(
        leaf.holds(kept, uplinks, max(down, ceil_div(kept, leaf.down.cage.ports)), up)
        for leaf, kept, uplinks, down, up in kinds
    )


def _servers(space: Space, above: OddStructure, last: int, loads: Loads) -> Kind:
    """The servers' links: those of the last group have bundles of their own."""
    cards, in_plane = above.cards, above.cards.ports // above.card_planes
    per_server = cards.number * cards.ports if cards.shared else cards.ports
    bundles = {
        k: (k if above.card_planes == 1 else 1) if cards.shared else gcd(in_plane, k) for k in (above.k, above.own_k)
    }
    near = []
    for servers, k in ((space.servers - last, above.k), (last, above.own_k)):
        holders = servers if cards.shared else servers * cards.number
        near.append((holders, per_server, ((per_server // bundles[k], bundles[k]),)))
    far = [(load.leaf.count, load.ports, ((load.ports // bundles[load.k], bundles[load.k]),)) for load in loads]
    run = space.run("server-leaf", above.g)
    alone = all(crosses(cards, above.card_planes, k) for k in (above.k, above.own_k))
    return Kind(cards.cage, above.leaf.down.cage, run, tuple(near), tuple(far), cards.cages, True, alone)


OnLeaves = list[tuple[Mode, tuple[int, int]]]
KNOWN: WeakKeyDictionary[Space, dict[Any, OnLeaves]] = WeakKeyDictionary()


def _server_modes(space: Space, kind: Kind, loads: Loads) -> OnLeaves:
    """Ways to make the servers' links, and those of attachments, with the cages that each takes, as ``_on_leaves``."""
    known = KNOWN.setdefault(space, {})
    if (space.protocol, kind, loads) not in known:
        makes = _with_attachments if space.attachments else _alone_on_leaves
        known[space.protocol, kind, loads] = list(makes(space, kind, loads))
    return known[space.protocol, kind, loads]


def _alone_on_leaves(space: Space, kind: Kind, loads: Loads) -> Iterator[tuple[Mode, tuple[int, int]]]:
    assert [load.is_last for load in loads] in ([False, True], [True, False])
    ordered = sorted(range(2), key=lambda place: loads[place].is_last)
    yield from _on_leaves(space, kind._replace(far_boxes=tuple(kind.far_boxes[place] for place in ordered)), False)


def _with_attachments(space: Space, kind: Kind, loads: Loads) -> Iterator[tuple[Mode, tuple[int, int]]]:
    run, leaves = space.run("attachment-leaf"), [load.leaf for load in loads]
    if kind.far.ports == 1:
        most = [_busiest(space, loads, is_last)[0] for is_last in (False, True)]
        for mode in uncoupled_modes(kind, leaves, space.attachments, run, space.joiner):
            yield mode, (most[0], most[1])
        return
    ways = [attachment_ways(kind.far, attachment, run, space.joiner) for attachment in space.attachments]
    for way in space.joiner.join(kind.near, kind.far, kind.run):
        for choice in product(*ways):
            made = coupled_mode(kind, leaves, space.attachments, way, choice)
            if made is None or (kind.near_limit is not None and made.near_cages > kind.near_limit):
                continue
            ends = [None if one is None else leaf_end(one, kind.far.ports, True) for one in choice]
            cages = [0, 0]
            for load, box in zip(loads, kind.far_boxes, strict=True):
                taken = sum(more for more, _ in cages_of_leaf(way, ends, kind.far.ports, load.leaf, box))
                cages[load.is_last] = max(cages[load.is_last], taken)
            yield made, (cages[0], cages[1])


def _on_leaves(space: Space, kind: Kind, near: bool) -> OnLeaves:
    """Every mode with the cages that it takes on a leaf of other groups, and of the last one."""
    known = KNOWN.setdefault(space, {})
    if (space.protocol, kind) not in known:
        known[space.protocol, kind] = list(modes_on_two(kind, space.joiner, near))
    return known[space.protocol, kind]


def modes_on_two(kind: Kind, joiner: Joiner, near: bool) -> Iterator[tuple[Mode, tuple[int, int]]]:
    boxes, cage = (kind.near_boxes, kind.near) if near else (kind.far_boxes, kind.far)
    both = kind.near.ports == kind.far.ports
    if min(kind.near.ports, kind.far.ports) == 1 or (both and all(n % cage.ports == 0 for n in kind.loads())):
        plain, odd_plain = (ceil_div(ports, cage.ports) for _, ports, _ in boxes)
        yield from ((mode, (plain, odd_plain)) for mode in modes(kind, joiner))
        return
    for way in joiner.join(kind.near, kind.far, kind.run):
        mode = _whole(kind, way)
        if mode is None or (kind.near_limit is not None and mode.near_cages > kind.near_limit):
            continue
        cages = [_cages(kind, way, box, near) for box in boxes]
        yield mode, (cages[0], cages[1])


def _whole(kind: Kind, way: Joining) -> Mode | None:
    if way.shape != "shuffle":
        return alone(kind, way)
    return crossed(kind, way, int(way.near_ports)) if kind.crosses else None


def _cages(kind: Kind, way: Joining, box: Box, near: bool) -> int:
    if near and way.shape == "shuffle":
        return ceil_div(box[1], kind.near.ports)
    if way.shape == "shuffle":
        connectors = sum(ceil_div(peers, int(way.far_ports)) * links for peers, links in box[2])
        return ceil_div(connectors * way.far_ports, kind.far.ports)
    mode = alone(kind._replace(near_boxes=(box,)) if near else kind._replace(far_boxes=(box,)), way)
    assert mode is not None
    return mode.near_cages if near else mode.far_cages
