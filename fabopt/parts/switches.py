"""Switches as a fabric may use them: which cages at which split, and how many ports."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.parts.items import Item
from fabopt.parts.offering import Offering, is_chosen
from fabopt.parts.port_types import PortType, PortTypes
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Switch
from fabopt.schema.product import Protocol
from fabopt.schema.resilience import FEED, survives_loss_of

TIER_ROLES = ("leaf", "spine", "core")


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


def switches_of(fabric: Fabric, protocol: Protocol, offering: Offering) -> dict[str, tuple[SwitchType, ...]]:
    """Switches on sale that each tier may use; none with one power supply where the loss of a feed is survived."""
    on_one_feed = survives_loss_of(fabric.resilience, FEED)
    types: dict[str, SwitchType] = {}
    for product in offering.offered.switches:
        item = offering.item_table.item(product.id)
        # Rule ``protocols_agree``
        if item is not None and product.protocol == protocol and not (on_one_feed and product.power_supplies == 1):
            types[product.id] = _switch_type(product, item, offering.ports)
    chosen = {role: getattr(fabric.switches, role) for role in TIER_ROLES}
    return {role: tuple(one for one in types.values() if is_chosen(one.product, ids)) for role, ids in chosen.items()}


def _switch_type(product: Switch, item: Item, ports: PortTypes) -> SwitchType:
    uses = tuple(
        CageUse(group, split, cage.count, ports.of(cage, split, product))
        for group, cage in enumerate(product.cages)
        for split in cage.splits_of(product.protocol)
    )
    all_ports = sum(cage.count * max(parse_split(split).ports for split in cage.splits) for cage in product.cages)
    return SwitchType(item, product, uses, product.max_ports or all_ports)
