"""The least cost of designs that may move what is in service, attachments among it: ports dealt anew, or left on their
switches. Switches of a tier keep their role in the order of their numbers, if they are of one product.

Nothing of fabopt's search is imported.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.oracles.brute_endpoints import num_servers
from tests.oracles.brute_force import Space, Structure, fixed_items, structures
from tests.oracles.brute_free_ports import Host, counts, joins, leaf_hosts, on_each_tier, spine_hosts, tier_of
from tests.oracles.brute_out_of_band import alone, counted
from tests.oracles.brute_parts import Json
from tests.oracles.brute_purchase import buy, terms_of

# Ports by attachment, tier and number of the switch.
Ports = Counter[tuple[str, str, int]]


class Live:
    """What is in service: products and switches of each tier, servers of each leaf, links of a pair, and ports of
    attachments in their order. ``gone``: those by tier that an attachment has no more; ``in_order``: whether servers
    keep their numbers, as in several fabrics.
    """

    def __init__(
        self, tiers: dict[str, tuple[str, int]], servers: list[int], pair: int, places: list[tuple[str, str, int]],
        in_order: bool = False,
    ) -> None:  # fmt: skip
        self.tiers, self.servers, self.pair, self.places, self.in_order = tiers, servers, pair, places, in_order
        self.ports: Ports = Counter(places)
        self.gone: Counter[str] = Counter()

    def until(self, name: str, ports: int) -> Live:
        """With so many ports of an attachment at most."""
        own = [place for place in self.places if place[0] == name]
        others = [place for place in self.places if place[0] != name]
        live = Live(self.tiers, self.servers, self.pair, others + own[:ports], self.in_order)
        live.gone = Counter(role for _, role, _ in own[ports:])
        return live

    def keeps_order(self, structure: Structure) -> bool:
        """Whether servers that stay on their leaves have their numbers: all groups but the first begin elsewhere where
        they are of another size.
        """
        both = min(len(self.servers), structure.leaves, self.keeps("leaf", structure))
        return not self.in_order or both < 2 or structure.g == max(self.servers)

    def keeps(self, role: str, structure: Structure) -> int:
        """Switches of a tier that keep their role."""
        boxes = dict(zip(("leaf", "spine"), structure.boxes(), strict=False))
        if role not in boxes or role not in self.tiers or boxes[role][0].product["id"] != self.tiers[role][0]:
            return 0
        return min(boxes[role][1], self.tiers[role][1])


class Staying(Space):
    """A space whose attachments in service are on their switches, with new ones of leaves beside them, one a leaf and
    round, then those of any tier.
    """

    def __init__(self, catalog: Json, case: Json, live: Live) -> None:
        (fabric,) = case["fabrics"]
        self.asked = {one["name"]: tier_of(one) for one in fabric["attachments"]}
        listed = [one | {"tier": "any", "counts_in_ratio": counts(one)} for one in fabric["attachments"]]
        super().__init__(catalog, case | {"fabrics": [fabric | {"attachments": listed}]})
        self.live = live
        self.has_free = True

    def hosts(self, structure: Structure) -> tuple[list[Host], list[Host]] | None:
        hosts: dict[str, list[Host]] = {
            "leaf": leaf_hosts(self, structure), "spine": spine_hosts(self, structure)
        }  # fmt: skip
        taken: Counter[Host] = Counter()
        names = [one["name"] for one in self.attachments]
        for (name, role, number), ports in sorted(self.live.ports.items()):
            if number >= self.live.keeps(role, structure):
                return None
            for _ in range(ports):
                if not self._takes(hosts[role][number], names.index(name), taken):
                    return None
        there = Counter(name for name, _, _ in self.live.places)
        for at in sorted(range(len(names)), key=lambda at: self.asked[names[at]] != "leaf" and not there[names[at]]):
            asked, attachment = self.asked[names[at]], self.attachments[at]
            own = [host for role in hosts for host in hosts[role] if asked in ("any", role)]
            own = [host for host in own if joins(self, attachment, host)]
            for _ in range(attachment["ports"] - there[names[at]]):
                free = [host for host in own if host.takes(at, counts(attachment))]
                if not free:
                    return None
                best = min(free, key=lambda one: (taken[one], -one.free * (asked != "leaf"), one.tier, one.number))
                self._takes(best, at, taken)
        return hosts["leaf"], hosts["spine"]

    def _takes(self, host: Host, at: int, taken: Counter[Host]) -> bool:
        counted = counts(self.attachments[at])
        if not host.takes(at, counted):
            return False
        host.take(at, counted)
        taken[host] += 1
        return True


def ports_of(space: Space, structure: Structure) -> Ports:
    """Where all ports of attachments are."""
    ports: Ports = Counter()
    space.placing = structure
    found = space.hosts(structure) if space.has_free else ([], [])
    assert found is not None
    for hosts in found:
        for host in hosts:
            ports.update({(space.attachments[at]["name"], host.tier, host.number): n for at, n in host.own.items()})
    for number, (_, dealt) in enumerate(space.leaf_by_leaf(structure)):
        ports.update({(one["name"], "leaf", number): n for one, n in zip(space.attachments, dealt, strict=True)})
    return +ports


def usd_of_moves(live: Live, space: Space, structure: Structure, move: Json, keep: tuple[str, ...]) -> float | None:
    """The cost of moves to a structure in US dollars; None where something would move that never does."""
    kept = {role: live.keeps(role, structure) for role in ("leaf", "spine")}
    devices = {role: count - kept[role] for role, (_, count) in live.tiers.items()}
    g, servers = structure.g, space.servers
    now = [min(g, servers - first) for first in range(0, servers, g)]
    same = sum(min(old, new) for old, new in zip(live.servers, now[: kept["leaf"]], strict=False))
    cables = {"server-leaf": sum(live.servers) - same}
    uplinks = live.pair * live.tiers["leaf"][1] * live.tiers.get("spine", ("", 0))[1]
    cables["leaf-spine"] = uplinks - kept["leaf"] * kept["spine"] * min(live.pair, structure.m)
    if not live.keeps_order(structure):
        return None
    planned = ports_of(space, structure)
    for role, ports in live.gone.items():
        cables[f"attachment-{role}"] = ports
    for (name, role, number), ports in live.ports.items():
        stays = min(ports, planned[name, role, number]) if number < kept[role] else 0
        cables[f"attachment-{role}"] = cables.get(f"attachment-{role}", 0) + ports - stays
    for of_kind, price in ((cables, move.get("cable")), (devices, move.get("device"))):
        if any(count and (price is None or kind in keep) for kind, count in of_kind.items()):
            return None
    return sum(cables.values()) * (move.get("cable") or 0) + sum(devices.values()) * (move.get("device") or 0)


def least_by_switches(
    catalog: Json, case: Json, live: Live, move: Json, keep: tuple[str, ...] = ()
) -> dict[int, float]:
    """The least capex in US dollars of all designs with so many switches, with the moves to each. ``catalog``: with
    what is in service in stock; ``case``: with all attachments, those in service first.
    """
    spaces: list[Any] = [Space(catalog, one) for _, one in on_each_tier(case)]
    terms, least = terms_of(case), dict[int, float]()
    for space in [*spaces, Staying(catalog, case, live)]:
        assert num_servers(space.case, space.server) == space.servers
        for structure, choice in structures(space):
            moves = usd_of_moves(live, space, structure, move, keep)
            if moves is None:
                continue
            items, power = fixed_items(space, structure)
            purchase = buy(space.item_table, terms, items, power, [one for mode in choice for one in mode.classes])
            if purchase is not None:
                cost = purchase.capex / 100 + moves
                least[structure.switches] = min(cost, least.get(structure.switches, cost))
    return least


def least_with_moves(catalog: Json, case: Json, live: Live, move: Json, keep: tuple[str, ...] = ()) -> float | None:
    """The least of ``least_by_switches``; None if there is none."""
    return min(least_by_switches(catalog, case, live, move, keep).values(), default=None)


def least_of_site(catalog: Json, case: Json, lives: tuple[Live, Live], move: Json, most_own: int = 12) -> float | None:
    """The least of two fabrics of which the second is out-of-band, with ports for the switches of both; None if there
    is none. No part is of both.
    """
    compute, oob = case["fabrics"]
    best: float | None = None
    management: dict[int, dict[int, float]] = {}
    for switches, usd in least_by_switches(catalog, alone(case, compute, attachments=[]), lives[0], move).items():
        for own in range(1, most_own + 1):
            ports = switches + own
            if ports not in management:
                wanted = alone(case, oob, min_gbps_per_gpu=0.001, attachments=[counted(ports)])
                management[ports] = least_by_switches(catalog, wanted, lives[1].until("switches", ports), move)
            if own in management[ports]:
                total = usd + management[ports][own]
                best = total if best is None else min(best, total)
    return best
