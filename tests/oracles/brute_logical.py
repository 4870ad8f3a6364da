"""All designs of a fabric that carries a logical one: the truth that the optimizer is tested against.

Every choice of cards for the logical fabric makes its ports one more attachment of the host, whose structures
``tests.oracles.brute_force`` enumerates without any ratio at the leaves; then every leaf is looked at by itself.
Nothing of fabopt is imported. Scope: two fabrics, the host first; capex, no limits, prices that do not depend on the
quantity.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tests.oracles.brute_endpoints import Cards, LeafLoad, num_servers, ratios, usable_cards
from tests.oracles.brute_force import Bounds, Space, Structure, structures
from tests.oracles.brute_parts import ItemTable, Json, exact
from tests.oracles.brute_purchase import terms_of


def least(catalog: Json, case: Json, fewest: int = 1) -> int | None:
    """Cents of the cheapest design; None if there is none. ``fewest``: leaves of a server for the logical fabric: its
    ports are dealt one a leaf.
    """
    found = [
        cents
        for cards in logical_fabric_cards(catalog, case)
        if cards.number * cards.ports >= fewest
        for cents in with_cards(catalog, case, cards, fewest)
    ]
    return min(found, default=None)


def logical_fabric_cards(catalog: Json, case: Json) -> Iterator[Cards]:
    """Cards for the logical fabric: one port to a cage."""
    logical, server = case["fabrics"][1], server_of(catalog, case)
    item_table = ItemTable(catalog, case.get("procurement", {}))
    for cards in usable_cards(catalog, case, server, logical, item_table):
        if cards.cage.ports == 1:
            yield cards


def server_of(catalog: Json, case: Json) -> Json:
    found: Json = next(one for one in catalog["servers"] if one["id"] == case["server"])
    return found


def with_cards(catalog: Json, case: Json, cards: Cards, fewest: int = 1) -> Iterator[int]:
    """Cents of every design with certain cards for the logical fabric."""
    host, logical = case["fabrics"]
    server = server_of(catalog, case)
    servers = num_servers(case, server)
    nic = next(one for one in catalog["nics"] if one["id"] == cards.id)
    entry: Json = next((one for one in server.get("nics", []) if one.get("role", "compute") == logical["role"]), {})
    cage = (entry.get("cages") or nic["cages"])[cards.group]
    ports = {
        **cage, "name": logical["name"], "ports": servers * cards.number * cards.ports, "split": cards.split,
        "vendor": nic.get("vendor"), "works_with": nic.get("works_with", []),
    }  # fmt: skip
    own = [*host.get("attachments", []), *logical.get("attachments", []), ports]
    for protocol in cards.protocols:
        if any(one.get("protocol", "any") not in ("any", protocol) for one in (host, logical)):
            continue
        alone = case | {"fabrics": [host | {"attachments": own, "protocol": protocol}]}
        space = Space(catalog, alone)
        space.leaf_ratio = Fraction(10**9)
        space.spine_ratio = min(ratios(case, host)[1], ratios(case, logical)[1])
        bounds = Bounds(space, terms_of(alone))
        assert bounds.exact()
        bought = 0 if cards.built_in else space.item_table.least((cards.id, None)) * servers * cards.number
        for structure, choice in structures(space):
            taken = sum(one.number for one in (cards, structure.cards) if not one.built_in)
            is_spread = structure.leaves >= fewest
            if is_spread and taken <= server.get("nic_slots", 0) and leaves_carry(case, space, structure):
                cents = bounds.bound(structure, choice)
                assert cents is not None
                yield int(cents) + bought


def leaves_carry(case: Json, space: Space, structure: Structure) -> bool:
    """Whether the uplinks of every leaf carry its servers, its attachments and those of the logical fabric."""
    if structure.leaf.up is None:
        return True
    down, up = structure.leaf.down.cage.speed, structure.u * structure.leaf.up.cage.speed
    per_group = structure.leaves // structure.groups
    loads = space.loads(structure.g, per_group, structure.k, structure.planes)
    return all(needed(case, load, structure.k) * down <= up for load in loads)


def needed(case: Json, load: LeafLoad, k: int) -> Fraction:
    """Ports at full rate that a leaf's uplinks stand for."""
    host, logical = case["fabrics"]
    at_host, at_logical_fabric = ratios(case, host)[0], ratios(case, logical)[0]
    plain = host.get("attachments", [])
    own = [exact(one["max_oversubscription"]) for one in plain if one.get("max_oversubscription") is not None]
    total = load.servers * k / at_host
    for one, ports in zip([*plain, *logical.get("attachments", []), None], load.attached, strict=True):
        ratio = at_logical_fabric
        if one in plain and one is not None:
            ratio = min([*own, at_host])
        elif one is not None and one.get("max_oversubscription") is not None:
            ratio = exact(one["max_oversubscription"])
        total += ports / ratio
    return total
