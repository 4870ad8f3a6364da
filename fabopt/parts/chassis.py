"""Chassis of a catalog as products: one for each number of line cards."""

from __future__ import annotations

from collections.abc import Collection

from fabopt.schema.catalog import Catalog, Switch
from fabopt.schema.chassis import LineCards
from fabopt.schema.product import Price
from fabopt.units import exact, some


def with_fills(catalog: Catalog) -> Catalog:
    """The catalog with a switch for each fill of a chassis in place of the chassis."""
    modular = {switch.id for switch in catalog.switches if switch.line_cards is not None}
    if not modular:
        return catalog
    switches = tuple(fill for switch in catalog.switches for fill in _fills(switch, modular))
    return catalog.model_copy(update={"switches": switches})


def fills_of(id_: str, catalog: Catalog) -> tuple[str, ...]:
    """The ids of all fills of a chassis, fewest line cards first; for another id the id itself."""
    return tuple(switch.id for switch in catalog.switches if switch.chassis == id_) or (id_,)


def _fills(switch: Switch, modular: Collection[str]) -> tuple[Switch, ...]:
    """A switch, or its fills; ``modular``: the ids of chassis, whose fills are each other's twins."""
    cards = switch.line_cards
    if cards is None:
        return (switch,)
    fills = [(number, _filled(switch, cards, number)) for number in range(cards.fewest, cards.most + 1)]
    if switch.managed_twin not in modular:
        return tuple(fill for _, fill in fills)
    return tuple(
        fill.model_copy(update={"managed_twin": _id(str(switch.managed_twin), number)}) for number, fill in fills
    )


def _id(chassis: str, number: int) -> str:
    return f"{chassis}+{number}-cards"


def _filled(switch: Switch, cards: LineCards, number: int) -> Switch:
    name = some(number, "line card")
    numbers = [switch.part_number, cards.part_number]
    return switch.model_copy(
        update={
            "id": _id(switch.id, number),
            "part_number": None if None in numbers else f"{numbers[0]} + {number} x {numbers[1]}",
            "description": f"{switch.description or switch.id}, {name}",
            "cages": tuple(cage.model_copy(update={"count": cage.count * number}) for cage in switch.cages),
            "max_ports": switch.max_ports and switch.max_ports * number,
            "price_usd": _price(switch.price_usd, cards.price_usd, number),
            "power_w": _sum(switch.power_w, cards.power_w, number),
            "power_max_w": _sum(switch.power_max_w, cards.power_max_w, number),
            "line_cards": None,
            "chassis": switch.id,
        }
    )


def _price(chassis: Price | None, card: float | None, number: int) -> Price | None:
    if not isinstance(chassis, tuple):
        return _sum(chassis, card, number)
    if card is None:
        return None
    return tuple(step.model_copy(update={"usd": _sum(step.usd, card, number)}) for step in chassis)


def _sum(chassis: float | None, card: float | None, number: int) -> float | None:
    """Sum over a chassis and its line cards; None where one of both is not known."""
    return None if chassis is None or card is None else float(exact(chassis) + number * exact(card))
