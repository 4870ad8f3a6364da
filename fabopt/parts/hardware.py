"""Switches and cards as a fabric may use them: which cages at which split, how many ports of how many cards.

Bandwidth over the bus follows the contract, section PCIe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.offering import Offering
from fabopt.parts.port_types import PortType, PortTypes
from fabopt.parts.rails import FEWEST_RAILS, cannot_forward
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import BuiltInNic, Nic, Pcie, Server, Switch
from fabopt.units import exact, gbps

# Usable Gb/s of sixteen lanes, one direction, after encoding and protocol (contract, section PCIe).
PCIE_X16_GBPS: Mapping[int, float] = {3: 126, 4: 252, 5: 504, 6: 1000}
X16_LANES = 16
TIER_ROLES = ("leaf", "spine", "core")
RAIL_ONLY = "rail-only"
# Ports of a dual-homed card in a plane.
PORTS_OF_A_PAIR = 2
Protocol = Literal["ethernet", "infiniband"]
PROTOCOLS: tuple[Protocol, ...] = ("ethernet", "infiniband")


@dataclass(frozen=True)
class CageUse:
    """A group of equal cages of a switch, used at one split."""

    group: int
    split: str
    cages: int
    port: PortType

    @property
    def lane(self) -> Lane:
        """Ports of one cage and their speed."""
        return self.port.lane


@dataclass(frozen=True, eq=False)
class SwitchType:
    """A switch that can be chosen."""

    item: Item
    product: Switch
    uses: tuple[CageUse, ...]
    max_ports: int

    @property
    def id(self) -> str:
        """The catalog id."""
        return self.product.id


@dataclass(frozen=True, eq=False)
class NicOption:
    """One way to equip a server for one fabric: card, how many, which ports, over how many planes.

    ``dual``: the two ports that a card has in a plane go to two leaves. ``apart``: every card (its rail) has planes of
    its own, which no other card is in; ``topology``: what a network with these cards is called; ``scale_up``: what a
    GPU then has to forward with. ``ports_per_plane`` (R) is of one server; ``cages`` are those occupied in a server
    over all planes, ``cage_limit`` those that exist; ``full_cages`` have all their ports in use, ``partial_ports`` are
    the ports in each of ``partial_cages`` others. ``forwards``: the card passes on what is for other servers.
    """

    nic_id: str
    item: Item | None
    cards: int
    group: int
    split: str
    ports_per_card: int
    planes: int
    port: PortType
    own_cages: bool
    cage_limit: int
    injection: Fraction
    topology: str = "clos"
    apart: bool = False
    scale_up: Fraction | None = None
    dual: bool = False
    forwards: bool = False

    @property
    def crosses_any_cut(self) -> Fraction:
        """The most that any cut of the network can carry for a GPU: one between rails is crossed inside servers."""
        return self.injection if self.scale_up is None else min(self.injection, self.scale_up)

    def allows(self, tiers: int) -> bool:
        """Whether its networks may have so many tiers.

        Rail-only has one or two, planes that are rails two or three, and one switch is not two leaves.
        """
        if self.dual and tiers == 1:
            return False
        if self.topology == RAIL_ONLY:
            return tiers < 3
        return not self.apart or tiers > 1

    def takes(self, k: int) -> bool:
        """Whether ``k`` ports of a server may share a leaf: dual-homed ones are of different cards."""
        return not self.dual or (1 if self.apart else self.cards) % k == 0

    @property
    def card_planes(self) -> int:
        """Planes that one card has ports in."""
        return self.planes // self.cards if self.apart else self.planes

    @property
    def ports_per_plane(self) -> int:
        """R: ports of one server into each plane."""
        return self.cards * self.ports_per_card // self.planes

    @property
    def ports_per_server(self) -> int:
        """Ports of one server over all planes."""
        return self.cards * self.ports_per_card

    @property
    def full_cages(self) -> int:
        """Cages of a server with all ports in use."""
        if self.own_cages:
            return self.cards * (self.ports_per_card // self.port.ports)
        return self.ports_per_server // self.port.ports

    @property
    def partial_ports(self) -> int:
        """Ports in use in a partly used cage; 0 if there is none."""
        return self.ports_per_card % self.port.ports if self.own_cages else 0

    @property
    def partial_cages(self) -> int:
        """Partly used cages of a server."""
        return self.cards if self.partial_ports else 0

    @property
    def cages(self) -> int:
        """Occupied cages of a server."""
        return self.full_cages + self.partial_cages

    def bundle(self, k: int) -> int:
        """Ports that a wire may carry together when ``k`` ports of a server go to one leaf.

        They are ports of one card (of any cards that share the server's cages) in one plane; 1 if sets do not come out.
        """
        if self.dual:
            return 1
        if not self.own_cages:
            return k if self.card_planes == 1 else 1
        together = self.ports_per_card // self.card_planes
        if k % together == 0:
            return together
        return k if together % k == 0 else 1


def switches_of(fabric: Fabric, protocol: Protocol, offering: Offering) -> dict[str, tuple[SwitchType, ...]]:
    """Switches on sale that each tier may use."""
    made: dict[str, SwitchType] = {}
    for product in offering.offered.switches:
        item = offering.item_table.item(product.id)
        if item is not None and product.protocol == protocol:
            made[product.id] = _switch_type(product, item, offering.ports)
    chosen = {role: getattr(fabric.switches, role) for role in TIER_ROLES}
    return {role: tuple(one for one in made.values() if _offered(one.product, ids)) for role, ids in chosen.items()}


def _offered(product: Switch | Nic, ids: str | tuple[str, ...]) -> bool:
    """Whether a choice of the case allows a product; one at the end of its life only by name."""
    return not product.end_of_life if isinstance(ids, str) else product.id in ids


def _switch_type(product: Switch, item: Item, ports: PortTypes) -> SwitchType:
    uses = tuple(
        CageUse(group, split, cage.count, ports.of(cage, split, product.vendor, product.works_with))
        for group, cage in enumerate(product.cages)
        for split in dict.fromkeys(cage.splits)
    )
    all_ports = sum(cage.count * max(parse_split(split).ports for split in cage.splits) for cage in product.cages)
    return SwitchType(item, product, uses, product.max_ports or all_ports)


def nic_options(
    fabric: Fabric,
    protocol: Protocol,
    offering: Offering,
    server: Server,
    pcie: Mapping[int, float],
    demand_mbps: int,
    refused: dict[str, str],
) -> Iterable[NicOption]:
    """Ways to equip servers that give what is demanded; ``refused``: cards that their slots hold back, by id."""
    built_in = [one for one in server.nics if one.role == fabric.role]
    if built_in:
        options = _built_in_options(built_in, offering, fabric, protocol, server, pcie)
    else:
        options = _chosen_options(offering, fabric, protocol, server, pcie)
    for nic, option in options:
        if not _count_allowed(fabric, option.cards):
            continue
        if fabric.homing == "dual":
            if option.ports_per_card != PORTS_OF_A_PAIR * option.card_planes:
                continue
            option = replace(option, dual=True)
        if option.injection >= demand_mbps:
            why = cannot_forward(server, option.cards, option.injection) if option.apart else None
            if why is not None:
                refused[f"{nic.id} on rails of its own"] = why
            elif option.apart and server.scale_up is not None:
                yield replace(option, scale_up=exact(server.scale_up.gbps_per_gpu) * 1000)
            else:
                yield option
        elif option.ports_per_server * option.port.lane.port_mbps >= demand_mbps * server.gpus:
            refused[nic.id] = _refusal(nic, option, server, demand_mbps)


def _refusal(nic: Nic, option: NicOption, server: Server, demand_mbps: int) -> str:
    assert nic.pcie is not None and server.pcie is not None
    generation = min(nic.pcie.generation, server.pcie.generation)
    lanes = min(nic.pcie.lanes, server.pcie.lanes)
    delivered = option.injection * server.gpus / option.cards
    return (
        f"{option.cards} x {nic.id} (PCIe Gen{nic.pcie.generation} x{nic.pcie.lanes}) in {server.id}'s "
        f"Gen{server.pcie.generation} x{server.pcie.lanes} slots run at Gen{generation} x{lanes}: "
        f"{float(delivered) / 1000:g} Gb/s a card, {float(option.injection) / 1000:g} Gb/s per GPU "
        f"of {gbps(demand_mbps):g} needed"
    )


def _count_allowed(fabric: Fabric, cards: int) -> bool:
    allowed = fabric.nics_per_server
    if allowed == "any":
        return True
    return cards == allowed if isinstance(allowed, int) else cards in allowed


class Division(NamedTuple):
    """How the ports of cards are dealt over networks that share no switch: ``NicOption`` has the same words."""

    planes: int
    topology: str = "clos"
    apart: bool = False


def divisions(fabric: Fabric, cards: int, ports_per_card: int) -> Iterable[Division]:
    """The ways that the case's topologies and planes allow; rails of their own are two at least."""
    allowed = set(fabric.topologies)
    planes = _planes(fabric, ports_per_card)
    if allowed - {RAIL_ONLY}:
        if fabric.planes != "rails":
            yield from (Division(one) for one in planes)
        elif cards >= FEWEST_RAILS:
            yield Division(cards, apart=True)
    if allowed & {RAIL_ONLY, "any"} and cards >= FEWEST_RAILS:
        yield from (Division(cards * one, RAIL_ONLY, True) for one in planes)


def _planes(fabric: Fabric, ports_per_card: int) -> list[int]:
    wanted = fabric.planes
    if wanted == "rails":
        return [1]
    if wanted == "any":
        options: Iterable[int] = range(1, ports_per_card + 1)
    else:
        options = (wanted,) if isinstance(wanted, int) else sorted(set(wanted))
    return [planes for planes in options if ports_per_card % planes == 0]


def card_limit_mbps(card: Pcie | None, slot: Pcie | None, pcie_x16_gbps: Mapping[int, float]) -> Fraction | None:
    """What a card can move over its bus (contract, section PCIe); None where either side is not given."""
    if card is None or slot is None:
        return None
    generation = min(card.generation, slot.generation)
    known = [one for one in pcie_x16_gbps if one <= generation]
    usable = pcie_x16_gbps[max(known)] if known else 0.0
    return exact(usable) * 1000 * min(card.lanes, slot.lanes) / X16_LANES


def _injection(nic: Nic, server: Server, cards: int, ports: int, port_mbps: int, pcie: Mapping[int, float]) -> Fraction:
    limit = card_limit_mbps(nic.pcie, server.pcie, pcie)
    nominal = Fraction(ports * port_mbps)
    return (nominal if limit is None else min(nominal, limit)) * cards / max(1, server.gpus)


def _chosen_options(
    offering: Offering,
    fabric: Fabric,
    protocol: Protocol,
    server: Server,
    pcie: Mapping[int, float],
) -> Iterable[tuple[Nic, NicOption]]:
    for nic in offering.offered.nics:
        item = offering.item_table.item(nic.id)
        if item is None or protocol not in nic.protocols or not _offered(nic, fabric.nics):
            continue
        for group, cage in enumerate(nic.cages):
            for split in dict.fromkeys(cage.splits):
                port = offering.ports.of(cage, split, nic.vendor, nic.works_with)
                for cards in range(1, server.nic_slots + 1):
                    for ports in range(1, cage.count * port.ports + 1):
                        injection = _injection(nic, server, cards, ports, port.lane.port_mbps, pcie)
                        for planes, topology, apart in divisions(fabric, cards, ports):
                            yield nic, NicOption(
                                nic.id, item, cards, group, split, ports, planes, port, True,
                                cards * cage.count, injection, topology, apart, forwards=nic.forwards,
                            )  # fmt: skip


def _built_in_options(
    built_in: list[BuiltInNic],
    offering: Offering,
    fabric: Fabric,
    protocol: Protocol,
    server: Server,
    pcie: Mapping[int, float],
) -> Iterable[tuple[Nic, NicOption]]:
    if len({one.id for one in built_in}) != 1 or (len(built_in) > 1 and any(one.cages for one in built_in)):
        return
    nic = next(one for one in offering.offered.nics if one.id == built_in[0].id)
    if protocol not in nic.protocols or (fabric.nics != "any" and nic.id not in fabric.nics):
        return
    cards = sum(one.count for one in built_in)
    shared = built_in[0].cages
    cages = shared if shared is not None else nic.cages
    if len(cages) != 1:
        return
    for split in dict.fromkeys(cages[0].splits):
        port = offering.ports.of(cages[0], split, nic.vendor, nic.works_with)
        limit = cages[0].count * (1 if shared is not None else cards)
        ports, odd = divmod(limit * port.ports, cards)
        if odd:
            continue
        injection = _injection(nic, server, cards, ports, port.lane.port_mbps, pcie)
        for planes, topology, apart in divisions(fabric, cards, ports):
            yield (
                nic,
                NicOption(
                    nic.id,
                    None,
                    cards,
                    0,
                    split,
                    ports,
                    planes,
                    port,
                    shared is None,
                    limit,
                    injection,
                    topology,
                    apart,
                    forwards=nic.forwards,
                ),
            )
