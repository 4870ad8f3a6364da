"""Labour that no choice of parts changes: on servers, and of visits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from fabopt.parts.item_table import ItemTable
from fabopt.parts.items import Item
from fabopt.schema.in_service import Base
from fabopt.schema.labour import LABOUR, VISIT


class StageLabour(NamedTuple):
    """Labour by stage. ``standing``: units that every design has, by (number of the stage, item); ``open_visits``: the
    visit of each stage that adds no servers, which is paid where it installs anything. ``in_service``: units that may
    move, by fabric and item, beyond which the first stage installs something.
    """

    standing: Mapping[tuple[int, Item], int]
    open_visits: Mapping[int, Item]
    in_service: Mapping[tuple[str, Item], int] = MappingProxyType({})

    def installed(self, fabric: str, uses: Mapping[tuple[int, Item], int]) -> dict[tuple[int, Item], int]:
        """What of a fabric's uses is worked on, by stage and item."""
        if not self.in_service:
            return dict(uses)
        there = {item: units for (name, item), units in self.in_service.items() if name == fabric}
        beyond = (((at, item), count - (0 if at else there.get(item, 0))) for (at, item), count in uses.items())
        return {key: count for key, count in beyond if count > 0}

    def cents(self, present: bool) -> int:
        """Cents that every design pays."""
        return sum(item.cost(stage, units, present) for (stage, item), units in self.standing.items())


NO_LABOUR = StageLabour(MappingProxyType({}), MappingProxyType({}))


def labour_of(
    item_table: ItemTable, sold_for: Callable[[int], int], servers: Sequence[int], moving: Base | None = None
) -> StageLabour:
    """Labour on servers, racked whoever buys them, and visits. ``servers``: by stage, sold as so many units.

    ``moving``: what is in service and may move.
    """
    on_server, visit = item_table.item(f"{LABOUR}server"), item_table.item(VISIT)
    standing: dict[tuple[int, Item], int] = {}
    open_visits: dict[int, Item] = {}
    for stage, (before, now) in enumerate(pairwise(map(sold_for, (0 if moving is None else moving.servers, *servers)))):
        if on_server is not None and now > before:
            standing[stage, on_server] = now - before
        if visit is not None and now > before:
            standing[stage, visit] = 1
        elif visit is not None:
            open_visits[stage] = visit
    items = {(item.id, item.length_m): item for item in item_table.items}
    is_paid = standing or open_visits or any(item.labour.unit or item.labour.beyond for item in item_table.items)
    in_use = moving.in_use.items() if moving is not None and is_paid else ()
    in_service = {(name, items[id_, m]): units for (name, id_, m), units in in_use if (id_, m) in items}
    return StageLabour(MappingProxyType(standing), MappingProxyType(open_visits), MappingProxyType(in_service))
