"""The server side of the brute force: which cards, which ports, which leaf takes how many, and their links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import gcd
from typing import Any, NamedTuple

from tests.oracles.brute_parts import (
    Box,
    Cage,
    ItemTable,
    Joiner,
    Joining,
    Json,
    Kind,
    Mode,
    Unit,
    alone,
    bundles,
    cage_of,
    cages_by,
    ceil_div,
    exact,
    lines,
    mixed,
    modes,
    split_of,
    unit_with,
    whole,
)

PCIE_X16_GBPS = {3: 126, 4: 252, 5: 504, 6: 1000}
PROFILES = {"pretraining": (1, 400), "mixed": ("1.5", 200), "fine-tuning": (2, 200), "inference": (4, 50)}


class Cards(NamedTuple):
    """The cards of a server: ``ports`` used of each; ``cages`` of each, or of the server where they are ``shared``."""

    id: str
    group: int
    split: str
    cage: Cage
    number: int
    ports: int
    cages: int
    shared: bool
    built_in: bool
    protocols: tuple[str, ...]


class LeafLoad(NamedTuple):
    """``count`` leaves (over all planes) with the same servers and attachment ports on each."""

    count: int
    servers: int
    attached: tuple[int, ...]


def num_servers(case: Json, server: Json) -> int:
    size = case["stages"][-1] if case.get("stages") else case
    if size.get("servers") is not None:
        return int(size["servers"])
    if size["gpus"] % server["gpus"]:
        raise ValueError("gpus is not a multiple of the server's")
    return int(size["gpus"] // server["gpus"])


def demand_gbps(case: Json, fabric: Json) -> Fraction:
    if fabric.get("min_gbps_per_gpu") is not None:
        return exact(fabric["min_gbps_per_gpu"])
    return exact(PROFILES[(case.get("workload") or {"profile": "pretraining"})["profile"]][1])


def ratios(case: Json, fabric: Json) -> tuple[Fraction, Fraction]:
    """The most oversubscription allowed at the leaves and at the spines."""
    default = PROFILES[(case.get("workload") or {"profile": "pretraining"})["profile"]][0]
    given = fabric.get("max_oversubscription")
    if not isinstance(given, dict):
        given = {"leaf": given, "spine": given}
    leaf, spine = (given.get(name) for name in ("leaf", "spine"))
    return exact(default if leaf is None else leaf), exact(default if spine is None else spine)


def among(allowed: Any, value: Any) -> bool:
    """Whether a choice written ``any``, one value or a list holds a value."""
    if allowed is None or allowed == "any":
        return True
    return value in allowed if isinstance(allowed, list | tuple) else value == allowed


def cards_of(catalog: Json, server: Json, fabric: Json, item_table: ItemTable) -> Iterator[Cards]:
    """All card choices of a server before bandwidth is looked at."""
    nics = {nic["id"]: nic for nic in catalog.get("nics", [])}
    role = fabric.get("role", "compute")
    entries = [entry for entry in server.get("nics", []) if entry.get("role", "compute") == role]
    if entries:
        if len(entries) > 1:
            raise ValueError("brute force takes one entry of built-in cards")
        yield from built_in_cards(entries[0], nics[entries[0]["id"]], fabric)
        return
    for nic in nics.values():
        named = isinstance(fabric.get("nics", "any"), list) and nic["id"] in fabric["nics"]
        sold = (nic["id"], None) in item_table.steps and nic["id"] in item_table.power_known
        if not (among(fabric.get("nics"), nic["id"]) and sold and (named or not nic.get("end_of_life"))):
            continue
        for group, cages in enumerate(nic["cages"]):
            for split in cages["splits"]:
                cage = cage_of(cages, split, nic)
                for number in range(1, server.get("nic_slots", 0) + 1):
                    for ports in range(1, cages["count"] * cage.ports + 1):
                        yield Cards(
                            nic["id"],
                            group,
                            split,
                            cage,
                            number,
                            ports,
                            cages["count"],
                            False,
                            False,
                            tuple(nic["protocols"]),
                        )


def built_in_cards(entry: Json, nic: Json, fabric: Json) -> Iterator[Cards]:
    if not among(fabric.get("nics"), nic["id"]):
        return
    groups = entry.get("cages") or nic["cages"]
    if len(groups) > 1:
        raise ValueError("brute force takes one cage group of built-in cards")
    for split in groups[0]["splits"]:
        cage = cage_of(groups[0], split, nic)
        ports, shared = groups[0]["count"] * cage.ports, bool(entry.get("cages"))
        if shared and ports % entry["count"]:
            continue
        if shared:
            ports //= entry["count"]
        yield Cards(
            nic["id"], 0, split, cage, entry["count"], ports, groups[0]["count"], shared, True, tuple(nic["protocols"])
        )


def injection_gbps(catalog: Json, server: Json, cards: Cards) -> Fraction:
    """Gb/s that each GPU of a server can send: GPUs are dealt to NICs, or NICs to GPUs; the worst-off GPU counts."""
    each, gpus = card_gbps(catalog, server, cards), server["gpus"]
    if gpus % cards.number and cards.number % gpus:
        return each / -(-gpus // cards.number)
    return each * cards.number / gpus


def card_gbps(catalog: Json, server: Json, cards: Cards) -> Fraction:
    """Gb/s that a NIC moves through its ports and its slot."""
    usable = dict(PCIE_X16_GBPS)
    usable.update({int(k): v for k, v in ((catalog.get("facts") or {}).get("pcie_x16_gbps") or {}).items()})
    nic = next(nic for nic in catalog["nics"] if nic["id"] == cards.id)
    each = Fraction(cards.ports * cards.cage.speed, 1000)
    slot, edge = server.get("pcie"), nic.get("pcie")
    if slot and edge:
        lanes = min(slot["lanes"], edge["lanes"])
        each = min(each, exact(usable[min(slot["generation"], edge["generation"])]) * lanes / 16)
    return each


def usable_cards(catalog: Json, case: Json, server: Json, fabric: Json, item_table: ItemTable) -> Iterator[Cards]:
    for cards in cards_of(catalog, server, fabric, item_table):
        enough = injection_gbps(catalog, server, cards) >= demand_gbps(case, fabric)
        if enough and among(fabric.get("nics_per_server"), cards.number):
            yield cards


def leaf_loads(servers: int, g: int, per_group: int, k: int, planes: int, attachments: list[Json]) -> list[LeafLoad]:
    """Every leaf with its servers, attachments spread one a round over the emptiest first."""
    leaves = []
    for first in range(0, servers, g):
        leaves += [min(g, servers - first)] * per_group
    leaves = sorted(leaves * planes)
    attached = [[0] * len(attachments) for _ in leaves]
    slot = 0
    for index, attachment in enumerate(attachments):
        for _ in range(attachment["ports"]):
            attached[slot % len(leaves)][index] += 1
            slot += 1
    same = Counter(zip(leaves, (tuple(one) for one in attached), strict=True))
    return [LeafLoad(count, on_leaf, one) for (on_leaf, one), count in sorted(same.items())]


def server_kind(
    servers: int,
    cards: Cards,
    card_planes: int,
    k: int,
    loads: list[LeafLoad],
    leaf_cage: Cage,
    run: Fraction,
    dual: bool = False,
) -> Kind:
    """The server-leaf links. A card's ports of one plane spread over leaves evenly: gcd(ports, k) to each.

    ``dual``: no two ports of a card meet on a leaf.
    """
    in_plane = cards.ports // card_planes
    if cards.shared:
        bundle, per_server = 1 if dual or card_planes > 1 else k, cards.number * cards.ports
        near: Box = (servers, per_server, ((per_server // bundle, bundle),))
    else:
        bundle = 1 if dual else gcd(in_plane, k)
        near = (servers * cards.number, cards.ports, ((cards.ports // bundle, bundle),))
    far = tuple(
        (load.count, load.servers * k, ((load.servers * k // bundle, bundle),)) for load in loads if load.servers
    )
    return Kind(cards.cage, leaf_cage, run, (near,), far, cards.cages, True, crosses(cards, card_planes, k, dual))


def crosses(cards: Cards, card_planes: int, k: int, dual: bool = False) -> bool:
    """Whether the ports of each full cage of cards lead to as many leaves, the same for all servers of a group."""
    filled = cards.number * cards.ports if cards.shared and k == 1 else cards.ports
    return (dual or k == 1 or cards.ports == card_planes) and filled % cards.cage.ports == 0


def attachment_cage(attachment: Json) -> Cage | None:
    """The cage at the far end of an attachment, None if nothing is known of it."""
    if attachment.get("form_factor") is None or attachment.get("split") is None:
        return None
    return cage_of(attachment, attachment["split"], attachment)


def attachment_speeds_fit(attachments: list[Json], speed: int) -> bool:
    for attachment in attachments:
        if attachment.get("gbps") is not None and whole(attachment["gbps"], 1000) != speed:
            return False
        if attachment.get("split") is not None and split_of(attachment["split"])[1] != speed:
            return False
    return True


def endpoint_modes(
    kind: Kind, loads: list[LeafLoad], attachments: list[Json], run: Fraction, joiner: Joiner
) -> list[Mode]:
    """Ways to realise the server links together with the attachments' links."""
    if not attachments:
        return modes(kind, joiner)
    if kind.far.ports == 1:
        return uncoupled_modes(kind, loads, attachments, run, joiner)
    found = []
    ways = [attachment_ways(kind.far, attachment, run, joiner) for attachment in attachments]
    for way in (one for one in joiner.join(kind.near, kind.far, kind.run) if one.shape != "shuffle"):
        for choice in product(*ways):
            mode = coupled_mode(kind, loads, attachments, way, choice)
            if mode is not None and (kind.near_limit is None or mode.near_cages <= kind.near_limit):
                found.append(mode)
    return found


def attachment_ways(leaf_cage: Cage, attachment: Json, run: Fraction, joiner: Joiner) -> list[Joining | None]:
    if attachment.get("buys", "both") == "none":
        return [None]
    far = attachment_cage(attachment)
    ways = joiner.half_ways(leaf_cage, run) if far is None else joiner.join(leaf_cage, far, run)
    return [way for way in ways if way.shape != "shuffle"]


def uncoupled_modes(
    kind: Kind, loads: list[LeafLoad], attachments: list[Json], run: Fraction, joiner: Joiner
) -> list[Mode]:
    """Leaf cages of one port: every attachment is a class of units of its own."""
    extra: tuple[Any, ...] = ()
    for attachment in attachments:
        ways = [way for way in attachment_ways(kind.far, attachment, run, joiner) if way is not None]
        bought = attachment.get("buys", "both")
        if bought == "none":
            continue
        far = attachment_cage(attachment)
        size = far.ports if far else 1
        links = Kind(kind.far, far or kind.far, run, (), ((1, attachment["ports"], ()),))
        full, rest = divmod(attachment["ports"], size)
        classes = [(number, ports) for number, ports in ((full, size), (1, rest)) if number and ports]
        if size == 1:
            classes = [(attachment["ports"], 1)]
        mode = mixed(links, classes, ways, "" if size == 1 else "far", bought)
        if mode is None:
            return []
        extra += mode.classes
    deepest = max(ports + sum(load.attached) for load, (_, ports, _) in zip(loads, kind.far_boxes, strict=True))
    return [Mode(mode.near_cages, deepest, mode.classes + extra) for mode in modes(kind, joiner)]


class LeafEnd(NamedTuple):
    """What a joining puts into a leaf cage of several ports.

    ``head``: links with the same one fill up each other's cages (None: links that must join the same two boxes).
    ``per_cable``: ports that one cable or one connector takes there; ``bundle``: they are of one pair of boxes.
    """

    head: Any
    per_cable: int
    bundle: bool


def leaf_end(way: Joining, leaf_ports: int, at_near: bool) -> LeafEnd:
    part, ports = (way.near, way.near_ports) if at_near else (way.far, way.far_ports)
    if way.shape == "bundle":
        return LeafEnd(None, leaf_ports, True)
    if way.shape != "optics":
        return LeafEnd(way.line, leaf_ports, False)
    if way.per_fibre > 1:
        return LeafEnd(None, ports, True)
    return LeafEnd((part, way.line) if ports > 1 else part, ports, False)


def coupled_mode(
    kind: Kind, loads: list[LeafLoad], attachments: list[Json], way: Joining, choice: tuple[Joining | None, ...]
) -> Mode | None:
    """Leaf cages of several ports: servers take one joining, each attachment one; None if cages run out far away."""
    base, size = alone(kind, way), kind.far.ports
    ends = [None if one is None else leaf_end(one, size, True) for one in choice]
    cages, cables, deepest = [0] * (len(choice) + 1), [0] * (len(choice) + 1), 0
    for load, box in zip(loads, kind.far_boxes, strict=True):
        taken = cages_of_leaf(way, ends, size, load, box)
        deepest = max(deepest, sum(one[0] for one in taken))
        for at, (more_cages, more_cables) in enumerate(taken):
            cages[at] += load.count * more_cages
            cables[at] += load.count * more_cables
    near_cages = cages_by(way, kind.near.ports, True)
    near = sum(count * near_cages(ports, pairs) for count, ports, pairs in kind.near_boxes)
    at_leaf = way.far_ports > 1 or way.shape in ("far", "bundle")
    units = [unit_with(way, near, cables[0] if at_leaf else lines(kind, way), cages[0])]
    for at, one in enumerate(choice):
        if one is not None:
            attached = attachment_unit(one, attachments[at], cages[at + 1], cables[at + 1])
            if attached is None:
                return None
            units.append(attached)
    return Mode(base.near_cages, deepest, tuple((1, (one,)) for one in units))


def cages_of_leaf(
    way: Joining, ends: list[LeafEnd | None], size: int, load: LeafLoad, box: Box
) -> list[tuple[int, int]]:
    """(cages, wires) that servers and then each attachment add on one leaf; what buys nothing comes last."""
    _, ports, pairs = box
    server = leaf_end(way, size, False)
    if server.bundle:
        number = bundles(pairs, server.per_cable)
        taken = {-1: (ceil_div(number * server.per_cable, size), number)}
    else:
        taken = {-1: (ceil_div(ports, size), ceil_div(ports, server.per_cable))}
    filled: Counter[Any] = Counter({("head", server.head): 0 if server.bundle else ports})
    for at in sorted(range(len(ends)), key=lambda at: ends[at] is None):
        end, more = ends[at], load.attached[at]
        if end is not None and end.bundle:
            number = ceil_div(more, end.per_cable)
            taken[at] = (ceil_div(number * end.per_cable, size), number)
            continue
        head = ("head", server.head if end is None else end.head)
        before, per_cable = filled[head], 1 if end is None else end.per_cable
        filled[head] += more
        taken[at] = (
            ceil_div(before + more, size) - ceil_div(before, size),
            ceil_div(before + more, per_cable) - ceil_div(before, per_cable),
        )
    return [taken[at] for at in range(-1, len(ends))]


def attachment_unit(way: Joining, attachment: Json, leaf_cages: int, leaf_cables: int) -> Unit | None:
    """All parts of one attachment on multi-port leaf cages; its far end has just the cages that its ports need."""
    far = attachment_cage(attachment)
    far_ports = far.ports if far else 1
    far_cages = ceil_div(attachment["ports"], far_ports)
    if way.shape == "bundle" and leaf_cables > far_cages:
        return None
    if way.shape != "optics":
        return unit_with(way, 0, leaf_cables, 0)
    if way.per_fibre > 1 and leaf_cables > far_cages * (far_ports // way.far_ports):
        return None
    fibres = leaf_cables if way.near_ports > 1 else ceil_div(attachment["ports"], way.far_ports)
    return unit_with(way, leaf_cages, fibres, far_cages, attachment.get("buys", "both"))


def racks_per_group(fabric: Json) -> int:
    """Racks of servers that a leaf group is; 0 where it may be of any size."""
    asked = fabric.get("group_by", "any")
    return int(asked["racks"]) if isinstance(asked, dict) else int(asked == "rack")
