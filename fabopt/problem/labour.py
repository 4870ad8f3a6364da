"""Labour that no choice of parts changes: on servers, and of visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from fabopt.parts.item_table import ItemTable
from fabopt.parts.items import Item
from fabopt.schema.labour import LABOUR, VISIT


class StageLabour(NamedTuple):
    """Labour by stage. ``standing``: units that every design has, by (number of the stage, item); ``open_visits``: the
    visit of each stage that adds no servers, which is paid where it installs anything.
    """

    standing: Mapping[tuple[int, Item], int]
    open_visits: Mapping[int, Item]

    def cents(self, present: bool) -> int:
        """Cents that every design pays."""
        return sum(item.cost(stage, units, present) for (stage, item), units in self.standing.items())


NO_LABOUR = StageLabour(MappingProxyType({}), MappingProxyType({}))


def labour_of(item_table: ItemTable, sold: Sequence[int]) -> StageLabour:
    """Labour on servers, racked whoever buys them, and visits. ``sold``: servers, or racks of them, by stage."""
    on_server, visit = item_table.item(f"{LABOUR}server"), item_table.item(VISIT)
    standing: dict[tuple[int, Item], int] = {}
    open_visits: dict[int, Item] = {}
    for stage, (before, now) in enumerate(pairwise([0, *sold])):
        if on_server is not None and now > before:
            standing[stage, on_server] = now - before
        if visit is not None and now > before:
            standing[stage, visit] = 1
        elif visit is not None:
            open_visits[stage] = visit
    return StageLabour(MappingProxyType(standing), MappingProxyType(open_visits))
