"""Holes that people leave in fabrics, each put into a fabric drawn by seed, with the rules that name it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from tests.samples.hand_fabrics import End, HandFabric, Link

# Forms that list devices of which no link tells, and those that have cables with one end.
WITH_DEVICES = ("dot", "hedgehog", "clab")
WITH_HALVES = ("p2p", "netbox", "netbox export")


class Hole(NamedTuple):
    """How a hole is made, the rules of which one has to name it, and the forms that can have it; None: all.

    ``fits``: whether a fabric can have it; ``claimed``: the oversubscription that is claimed.
    """

    make: Callable[[HandFabric, random.Random], HandFabric]
    rules: frozenset[str]
    forms: tuple[str, ...] | None = None
    but: tuple[str, ...] = ()
    fits: Callable[[HandFabric], bool] = lambda fabric: True
    claimed: float | None = None


def _of(*names: str) -> Callable[[Link], bool]:
    return lambda link: any(end.device in names for end in link)


def _uplinks(fabric: HandFabric) -> list[Link]:
    return [link for link in fabric.links if fabric.roles[link[0].device] == "leaf"]


def _downlinks(fabric: HandFabric) -> list[Link]:
    return [link for link in fabric.links if fabric.roles[link[0].device] == "server"]


def _with(fabric: HandFabric, changed: Mapping[Link, Link]) -> HandFabric:
    return replace(fabric, links=[changed.get(link, link) for link in fabric.links])


def _leaf_without_uplinks(fabric: HandFabric, chance: random.Random) -> HandFabric:
    leaf = chance.choice(fabric.of("leaf"))
    return fabric.without(lambda link: link[0].device == leaf)


def _two_islands(fabric: HandFabric, chance: random.Random) -> HandFabric:
    """Pods without cores between them, or two halves of the leaves with a half of the spines each."""
    spines, leaves = fabric.of("spine"), fabric.of("leaf")
    if cores := fabric.of("core"):
        pod = spines[: len(spines) // 2]
        return fabric.without(lambda link: _of(*pod)(link) and _of(*cores)(link))
    first, near = spines[: len(spines) // 2], leaves[: len(leaves) // 2]
    return fabric.without(
        lambda link: fabric.roles[link[0].device] == "leaf" and (link[0].device in near) != (link[1].device in first)
    )


def _rail_on_another_plane(fabric: HandFabric, chance: random.Random) -> HandFabric:
    leaf, other = chance.choice(fabric.of("leaf")), fabric.style.spine.format(77)
    own = [link for link in _uplinks(fabric) if link[0].device == leaf]
    moved = {link: (link[0], End(other, fabric.style.port(place))) for place, link in enumerate(own)}
    return replace(_with(fabric, moved), roles={**fabric.roles, other: "spine"})


def _link_less(fabric: HandFabric, chance: random.Random) -> HandFabric:
    gone = chance.choice(_uplinks(fabric))
    return fabric.without(lambda link: link == gone)


def _nic_less(fabric: HandFabric, chance: random.Random) -> HandFabric:
    gone = chance.choice(_downlinks(fabric))
    return fabric.without(lambda link: link == gone)


def _without_links(role: str) -> Callable[[HandFabric, random.Random], HandFabric]:
    return lambda fabric, chance: fabric.without(_of(chance.choice(fabric.of(role))))


def _rails_crossed(fabric: HandFabric, chance: random.Random) -> HandFabric:
    server = chance.choice(fabric.of("server"))
    one, other = [link for link in fabric.links if link[0].device == server][:2]
    return _with(fabric, {one: (one[0], other[1]), other: (other[0], one[1])})


def _port_twice(fabric: HandFabric, chance: random.Random) -> HandFabric:
    one, other = chance.sample(_downlinks(fabric), 2)
    return _with(fabric, {other: (other[0], one[1])})


def _whole_and_split(fabric: HandFabric, chance: random.Random) -> HandFabric:
    whole = chance.choice(_downlinks(fabric))[1]
    part = {"s": "s1", "e": ":1"}.get(whole.port[0], "/1")
    extra = (End(fabric.of("server")[0], "x9"), End(whole.device, whole.port + part))
    return replace(fabric, links=[*fabric.links, extra])


def _one_end(fabric: HandFabric, chance: random.Random) -> HandFabric:
    gone = chance.choice(fabric.links)
    return replace(fabric.without(lambda link: link == gone), half=[gone[0]])


def _server_on_a_spine(fabric: HandFabric, chance: random.Random) -> HandFabric:
    link = chance.choice(_downlinks(fabric))
    return _with(fabric, {link: (link[0], fabric.free(chance.choice(fabric.of("spine"))))})


def _leaf_on_a_leaf(fabric: HandFabric, chance: random.Random) -> HandFabric:
    link = chance.choice(_uplinks(fabric))
    other = chance.choice([leaf for leaf in fabric.of("leaf") if leaf != link[0].device])
    return _with(fabric, {link: (link[0], fabric.free(other))})


def _loop(fabric: HandFabric, chance: random.Random) -> HandFabric:
    near = fabric.free(chance.choice(fabric.of("leaf")))
    return replace(fabric, links=[*fabric.links, (near, End(near.device, fabric.style.port(300)))])


def _products(leaf: str, spine: str) -> Callable[[HandFabric, random.Random], HandFabric]:
    by_role = {"leaf": leaf, "spine": spine, "core": spine}
    return lambda fabric, _: replace(
        fabric, products={name: by_role[role] for name, role in fabric.roles.items() if role in by_role}
    )


def _over_used(fabric: HandFabric, chance: random.Random) -> HandFabric:
    """More links on a leaf than a switch of 32 cages has ports, however it splits them."""
    leaf, server = chance.choice(fabric.of("leaf")), fabric.of("server")[0]
    more = [(End(server, f"x{place}"), End(leaf, f"P{place}")) for place in range(140)]
    return replace(_products("QM9700", "QM9700")(fabric, chance), links=[*fabric.links, *more])


def _has_rails(fabric: HandFabric) -> bool:
    return len([link for link in fabric.links if link[0].device == fabric.of("server")[0]]) > 1


def _numbers_cages(fabric: HandFabric) -> bool:
    return fabric.style.port(0) == "swp1"


_SPLITS = ("ibnetdiscover",)
HOLES: Mapping[str, Hole] = {
    "a leaf without uplinks": Hole(_leaf_without_uplinks, frozenset({"A0"})),
    "two islands": Hole(_two_islands, frozenset({"A0"})),
    "a rail on another plane": Hole(_rail_on_another_plane, frozenset({"A0", "A2"})),
    "an uplink less": Hole(_link_less, frozenset({"A2"})),
    "a NIC without a link": Hole(_nic_less, frozenset({"A20"}), fits=_has_rails),
    "a server without a link": Hole(_without_links("server"), frozenset({"A0"}), WITH_DEVICES),
    "a spine without a leaf": Hole(_without_links("spine"), frozenset({"A0"}), WITH_DEVICES),
    "a leaf without a link": Hole(_without_links("leaf"), frozenset({"A0"}), WITH_DEVICES),
    "rails crossed": Hole(_rails_crossed, frozenset({"A10"}), fits=_has_rails),
    "a port twice": Hole(_port_twice, frozenset({"A1"}), but=("config_db",)),
    "a cage whole and split": Hole(_whole_and_split, frozenset({"A1"}), but=_SPLITS),
    "a cable with one end": Hole(_one_end, frozenset({"A8"}), WITH_HALVES),
    "a server on a spine": Hole(_server_on_a_spine, frozenset({"A20"})),
    "a leaf on a leaf": Hole(_leaf_on_a_leaf, frozenset({"A2"})),
    "a cable from a switch to itself": Hole(_loop, frozenset({"A1"}), ("p2p", "dot", "hedgehog", "clab", "netbox")),
    "more than is claimed": Hole(lambda fabric, _: fabric, frozenset({"A3"}), claimed=0.01),
    "InfiniBand below Ethernet": Hole(_products("QM9700", "SN5600"), frozenset({"A5"}), ("dot", "hedgehog")),
    "800G below 1G": Hole(_products("SN5600", "SN2201"), frozenset({"A5"}), ("dot", "hedgehog"), fits=_numbers_cages),
    "a switch with too many links": Hole(_over_used, frozenset({"A1"}), ("dot", "hedgehog")),
}
