"""Switches of a fabric: uses of their cages at each split, and numbers of ports.

Signalling lanes behind the cages of a switch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.parts.offering import Offering, is_chosen
from fabopt.parts.port_types import PortType, PortTypes
from fabopt.parts.procurement import is_allowed_at
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Switch
from fabopt.schema.product import Cage, Protocol
from fabopt.schema.resilience import CABLES_OF_PEER_LINK, FEED, survives_loss_of
from fabopt.units import Number, largest

TIER_ROLES = ("leaf", "spine", "core")


@dataclass(frozen=True)
class CageUse:
    """A group of equal cages of a switch, used at one split.

    ``cages``: those that can be used so; ``of_group``: all of the group. ``pair_ports``: most ports that two neighbours
    drive; ``apart``: two neighbours are never both used so.
    """

    group: int
    split: str
    cages: int
    port: PortType
    of_group: int
    pair_ports: int | None = None
    apart: bool = False

    @cached_property
    def halves(self) -> bool:
        """Whether two neighbours cannot both be used so."""
        return self.apart or (self.pair_ports is not None and 2 * self.lane.ports > self.pair_ports)

    @cached_property
    def lane(self) -> Lane:
        """Ports of one cage and their speed."""
        return self.port.lane


def ports_of_groups(uses: Iterable[CageUse]) -> int:
    """Upper bound of the ports of a switch with some uses of its groups of cages."""
    return sum(largest((use.group, use.of_group * use.lane.ports) for use in uses).values())


@dataclass(frozen=True)
class PeerCages:
    """Cages at the end of a ``group`` that a leaf has for its peer link, used as its uplinks are; ``alone``: their use
    on one tier, None where other ports of the switch are faster.
    """

    group: int
    cages: int
    alone: CageUse | None


@dataclass(frozen=True, eq=False)
class SwitchType:
    """A switch that can be chosen. ``peers``: of a leaf with a peer link, whose cages and ports are not among its uses
    and ``max_ports``.
    """

    item: Item
    product: Switch
    uses: tuple[CageUse, ...]
    max_ports: int
    peers: PeerCages | None = None

    @cached_property
    def up_uses(self) -> tuple[CageUse, ...]:
        """The uses that links up may have: beside a peer link those of its group."""
        if self.peers is None:
            return self.uses
        group, cages = self.peers.group, self.peers.cages
        return tuple(use for use in self.uses if (use.group, _cages_of_peers(use)) == (group, cages))

    @property
    def stands_alone(self) -> bool:
        """Whether it may be on one tier."""
        return self.peers is None or self.peers.alone is not None

    def whole(self, *uses: CageUse) -> tuple[CageUse, ...]:
        """The uses of its cages, with those of a peer link."""
        if self.peers is None:
            return uses
        is_among = self.peers.group in {use.group for use in uses}
        others = () if is_among or self.peers.alone is None else (self.peers.alone,)
        return tuple(replace(use, of_group=self.product.cages[use.group].count) for use in (*uses, *others))

    @property
    def id(self) -> str:
        """The catalog id."""
        return self.product.id


def switches_of(fabric: Fabric, protocol: Protocol, offering: Offering) -> dict[str, tuple[SwitchType, ...]]:
    """Switches on sale by tier; without those of one power supply where the case survives the loss of a feed."""
    on_one_feed = survives_loss_of(fabric.resilience, FEED)
    types: dict[str, SwitchType] = {}
    for product in offering.offered.switches:
        item = offering.item_table.item(product.id)
        # Rule ``protocols_agree``
        if item is not None and product.protocol == protocol and not (on_one_feed and product.power_supplies == 1):
            types[product.id] = _TYPES.of(offering, product.id, _switch_type, product, item, offering.ports)
    chosen = {role: getattr(fabric.switches, role) for role in TIER_ROLES}
    rules = offering.terms.rules
    return {
        role: tuple(
            switch
            for switch in types.values()
            # Rules ``products_are_offered`` and ``parts_are_approved``
            if is_chosen(switch.product, ids) and is_allowed_at(rules, switch.product, (role, fabric.name))
        )
        for role, ids in chosen.items()
    }


# One of each in an offering, so that fabrics of the same switches are known to be.
_TYPES: Lookup[Offering, str, SwitchType] = Lookup()


def cages_beside(use: CageUse, other: CageUse, taken: Number) -> Number:
    """Cages that a use can have where ``taken`` cages have another use, at most all of the group.

    Where a pair of neighbours cannot drive two cages of one use, it drives one of it beside one of the other, or one.
    """
    if use.group != other.group:
        return use.cages + 0 * taken
    shares = use.pair_ports is None or use.lane.ports + other.lane.ports <= use.pair_ports
    if use.halves and other.halves:
        return use.cages - taken * (0 if shares and not (use.apart and other.apart) else 1)
    if other.halves:
        return use.of_group - taken * (1 if shares else 2)
    if use.halves:
        left = use.of_group - taken
        return use.cages + (left - use.cages) * (left < use.cages) if shares else left // 2
    return use.of_group - taken


def with_peer_links(switch: SwitchType) -> tuple[SwitchType, ...]:
    """A leaf with a peer link, once for every group of cages that the link may be in."""
    return _WITH_PEERS.of(switch, None, lambda: tuple(_with_peer_links(switch)))


_WITH_PEERS: Lookup[SwitchType, None, tuple[SwitchType, ...]] = Lookup()


def _with_peer_links(switch: SwitchType) -> Iterator[SwitchType]:
    fastest = fastest_use(switch.uses)
    for group, cages in sorted({(use.group, _cages_of_peers(use)) for use in switch.uses}):
        alone = fastest if (fastest.group, _cages_of_peers(fastest)) == (group, cages) else None
        uses = tuple(_beside_peers(use, cages) if use.group == group else use for use in switch.uses)
        left = tuple(use for use in uses if use.cages > 0)
        yield replace(
            switch, uses=left, max_ports=switch.max_ports - CABLES_OF_PEER_LINK, peers=PeerCages(group, cages, alone)
        )


def fastest_use(uses: tuple[CageUse, ...]) -> CageUse:
    """The use of cages with the fastest ports: fewest of a cage, in the first group that has them."""
    return min(uses, key=lambda use: (-use.lane.port_mbps, use.lane.ports, use.group, use.split))


def _cages_of_peers(use: CageUse) -> int:
    """Cages that a peer link takes: one a cable, or two where a neighbour has to stay empty."""
    return CABLES_OF_PEER_LINK * (2 if use.halves else 1)


def _beside_peers(use: CageUse, cages: int) -> CageUse:
    of_group = use.of_group - cages
    return replace(use, of_group=of_group, cages=of_group // 2 if use.halves else of_group)


def _switch_type(product: Switch, item: Item, ports: PortTypes) -> SwitchType:
    uses = tuple(
        cage_use(product, group, split, ports.of(cage, split, product))
        for group, cage in enumerate(product.cages)
        for split in cage.splits_of(product.protocol)
    )
    return SwitchType(item, product, uses, product.most_ports)


def cage_use(product: Switch, group: int, split: str, port: PortType) -> CageUse:
    """A cage group of a switch at one of its splits."""
    cage = product.cages[group]
    apart = split in cage.every_second
    use = CageUse(group, split, cage.count, port, cage.count, product.ports_per_cage_pair, apart)
    return replace(use, cages=cage.count // 2) if use.halves else use


# By form factor; eight where it is none of these.
SIGNAL_LANES = {"QSFP28": 4, "QSFP56": 4, "QSFP112": 4, "QSFP+": 4, "SFP28": 1, "SFP56": 1, "SFP+": 1, "RJ45": 1}
ALL_LANES = 8


def lanes_of(form_factor: str, ports: int = 1) -> int:
    """Lanes of a port where a cage is split into ``ports`` ports."""
    return max(1, SIGNAL_LANES.get(form_factor, ALL_LANES) // ports)


def signal_lanes(switch: Switch) -> dict[int, int]:
    """Lanes of every cage of a switch, by its number from 1."""
    lanes = [lanes_of(cage.form_factor) for cage in switch.cages for _ in range(cage.count)]
    return dict(enumerate(lanes, 1))


def lanes_of_slower(switch: Switch, cage: int, ports: int, mbps: int) -> int:
    """Lanes of a port, or of a slower one, of a cage (from 1) that is split into ``ports``; 0 for a whole cage at full
    speed.

    A port has as many of the lanes as its share of the speed takes, at the speed that lanes have when all are in use.
    """
    fastest = max(split.ports * split.port_mbps for split in map(parse_split, cage_of(switch, cage).splits))
    if ports == 1 and mbps >= fastest:
        return 0
    signals = signal_lanes(switch)[cage]
    return max(1, min(signals // ports, -(-signals * mbps // fastest)))


def lanes_in_use(switch: Switch, cage: int, ports: int, mbps: int) -> int:
    """Lanes of a port of a cage (from 1) that is split into ``ports``: all of a whole cage at full speed."""
    return lanes_of_slower(switch, cage, ports, mbps) or signal_lanes(switch)[cage]


def cage_of(switch: Switch, number: int) -> Cage:
    """The cage of a switch with a number, from 1."""
    return next(islice((cage for cage in switch.cages for _ in range(cage.count)), number - 1, None))
