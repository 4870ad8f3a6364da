"""What joins the two leaves of a pair, by hand: which leaves can be in one, what ports it takes, what its cables cost.

Nothing of fabopt is imported. A peer link is two links between the leaves of ports 2i and 2i + 1 of a server, each
with a cage of its own at both ends, split as that of an uplink; on one tier as the fastest port is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracles import brute_force
from tests.oracles.brute_endpoints import Cards
from tests.oracles.brute_force import (
    Best,
    Box2,
    Division,
    Found,
    Lower,
    Side,
    Space,
    Structure,
    Walk,
    changed,
    hosting,
    is_pair,
    lowers,
    max_ports,
    structures_of,
    tiers_of,
    with_leaves,
)
from tests.oracles.brute_parts import Json, Kind, cage_of, split_of

CABLES = 2
PEER_LINK, MULTIHOMING = "mlag", "evpn-multihoming"
FEATURES = {"peer-link": (PEER_LINK,), "multihoming": (MULTIHOMING,), None: (PEER_LINK, MULTIHOMING)}


def solve(catalog: Json, case: Json, rules: tuple[str, ...] = ()) -> Best | None:
    """The best design that keeps ``rules``, that of pairing among them where servers are on pairs of leaves."""
    fabric: Json = dict(case["fabrics"][0])
    wanted = fabric.pop("pairing", None)
    others = tuple(rule for rule in rules if rule != "pairing")
    is_asked = wanted in ("peer-link", "multihoming")
    if is_asked:
        fabric.setdefault("homing", "pair")
    has_pairs = "pair" in others or fabric.get("homing") in ("pair", "dual")
    if is_asked or "pairing" in rules:
        # devices with an even number of ports come first, so that these are on both leaves of a pair
        even = sorted(fabric.get("attachments", []), key=lambda one: one["ports"] // one.get("boxes", 1) % 2)
        fabric |= {"attachments": even} if even else {}
    case = case | {"fabrics": [fabric]}
    if not is_asked and not ("pairing" in rules and has_pairs):
        return brute_force.solve(catalog, case, others)
    return brute_force.solve(catalog, case, others, paired(wanted if is_asked else None))


def paired(wanted: str | None) -> Walk:
    """A walk over structures with pairs that are joined as ``wanted``, or in any way."""

    def walk(space: Space) -> Found:
        space.__class__ = _Paired
        assert isinstance(space, _Paired)
        space.allowed = FEATURES[wanted]
        return structures_of(space, _with_peers)

    return walk


class _Paired(Space):
    """A space whose leaves have peer links, unless both of a pair run EVPN multihoming."""

    allowed: tuple[str, ...] = ()

    def feature_of(self, switch: Json) -> str | None:
        """How a leaf is joined to its peer; None: it cannot be in a pair."""
        found = [one for one in (MULTIHOMING, PEER_LINK) if one in self.allowed and one in switch.get("features", ())]
        return found[0] if found and switch["protocol"] == "ethernet" else None

    def with_fewer(self, switch: Json, side: Side) -> tuple[Json, int]:
        """A leaf without the cages and ports that its peer link has, among those used as ``side``."""
        if self.feature_of(switch) != PEER_LINK:
            return switch, max_ports(switch)
        cages = [dict(one) for one in switch["cages"]]
        cages[side.group]["count"] -= CABLES
        return switch | {"cages": cages}, max_ports(switch) - CABLES

    def _boxes(self, role: str, speed: int, top: bool) -> list[Box2]:
        if role != "leaf":
            return super()._boxes(role, speed, top)
        found = []
        for switch in self.switches(role):
            sides = list(sides_of(switch))
            if self.feature_of(switch) is not None:
                for down in (one for one in sides if one.cage.speed == speed):
                    for up in sides:
                        product, ports = self.with_fewer(switch, up)
                        found.append(Box2(product, down, up, ports))
        return [box for box in found if min(one["count"] for one in box.product["cages"]) >= 0]


def sides_of(switch: Json) -> Iterator[Side]:
    """Every way to use the cages of a switch."""
    for group, cages in enumerate(switch["cages"]):
        yield from (Side(group, split, cage_of(cages, split, switch)) for split in cages["splits"])


def fastest(switch: Json) -> Side:
    """The way with the fastest ports, of these with the fewest in a cage."""

    def rank(side: Side) -> tuple[Any, ...]:
        ports, speed = split_of(side.split)
        return -speed, ports, side.group, side.split

    return min(sides_of(switch), key=rank)


def _with_peers(space: Space, cards: Cards, division: Division) -> Found:
    assert isinstance(space, _Paired)
    whole = {one["id"]: one for one in space.switches("leaf")}
    tiers = tiers_of(space, division)
    for lower in lowers(space, cards, division):
        if lower.leaves_per_group % 2 or lower.base.own_rails:
            continue
        several = [number for number in tiers if number > 1]
        for structure, choice in _alone(space, lower, whole) if 1 in tiers else ():
            yield from _joined(space, structure, choice, fastest(whole[structure.leaf.product["id"]]))
        for structure, choice in with_leaves(lower, several):
            assert structure.leaf.up is not None
            yield from _joined(space, structure, choice, structure.leaf.up)


def _alone(space: _Paired, lower: Lower, whole: dict[str, Json]) -> Found:
    """One tier of two leaves, once for each way that their cages face down."""
    leaf = lower.base.leaf
    switch = whole[leaf.product["id"]]
    assert leaf.up is not None
    if not is_pair(lower) or leaf.up[:2] != (0, switch["cages"][0]["splits"][0]):
        return
    product, ports = space.with_fewer(switch, fastest(switch))
    if min(one["count"] for one in product["cages"]) >= 0:
        structure = changed(lower.base, tiers=1, leaf=Box2(product, leaf.down, None, ports))
        yield from hosting(space, structure, [(mode,) for mode in lower.server_modes], ())


def _joined(space: _Paired, structure: Structure, choice: brute_force.Choice, side: Side) -> Found:
    """A structure with the cables of its peer links."""
    if space.feature_of(structure.leaf.product) != PEER_LINK:
        yield structure, choice
        return
    cables = structure.planes * structure.leaves // 2 * CABLES
    ends = ((cables, 1, ((1, 1),)),)
    kind = Kind(side.cage, side.cage, space.run("leaf-leaf", structure.g), ends, ends)
    yield from ((structure, (*choice, mode)) for mode in space.modes(kind))
