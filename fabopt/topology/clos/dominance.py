"""Choices that need not be looked at, because another one serves as they do and costs no more in any way.

Nothing whose price depends on the quantity, is in stock or is short is ever dropped, or drops anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabopt.parts.assemblies import dominates
from fabopt.parts.items import Item
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType


def _no_dearer(one: Item | None, other: Item | None) -> bool:
    """``one`` costs, draws and stands for no more than ``other`` whatever the quantity."""
    return dominates(one, other) and (one is None or other is None or one.rack_milliunits <= other.rack_milliunits)


def _serves_as(one: SwitchType, other: SwitchType) -> bool:
    """Whether ``one`` can stand wherever ``other`` does: as many cages, with its splits, that take its parts."""
    if one.max_ports < other.max_ports:
        return False
    mine = {(use.group, use.split): use for use in one.uses}
    return all(
        (own := mine.get((use.group, use.split))) is not None
        and own.cages >= use.cages
        and own.port.serves_as(use.port)
        for use in other.uses
    )


def _switch_order(one: SwitchType) -> tuple[Any, ...]:
    return one.item.unit_cents, one.item.power_mw, one.item.rack_milliunits, one.id


def undominated_switches(options: Sequence[SwitchType], reducing: bool = False) -> list[SwitchType]:
    """Drop a switch where another one serves as it does, costs, draws and stands for no more, and wins a tie.

    ``reducing``: only if it also reduces what goes through it where the other one does.
    """
    kept: list[SwitchType] = []
    # whoever beats a switch comes before it in this order, and what beats the beaten beats it too
    for one in sorted(options, key=_switch_order):
        if not any(
            _no_dearer(other.item, one.item)
            and _serves_as(other, one)
            and (not reducing or other.product.reduces or not one.product.reduces)
            for other in kept
        ):
            kept.append(one)
    return kept


def undominated_nics(options: Sequence[NicOption], by_injection: bool = False) -> list[NicOption]:
    """Drop a way to equip servers where another one looks the same from the network and costs and draws no more.

    ``by_injection``: only if it delivers as much to a GPU too.
    """
    best: dict[tuple[Any, ...], list[NicOption]] = {}
    for one in options:
        key = (one.port, one.ports_per_plane, one.planes, one.full_cages, one.partial_cages, one.partial_ports,
               one.cage_limit, one.own_cages, one.ports_per_nic // one.planes_per_nic, one.topology,
               one.apart)  # fmt: skip
        best.setdefault(key, []).append(one)
    kept = []
    for same in best.values():
        for one in same:
            sums = _nic_sums(one)
            if not any(
                other is not one
                and (not by_injection or other.injection >= one.injection)
                and all(a <= b for a, b in zip(_nic_sums(other), sums, strict=True))
                and (
                    _nic_sums(other) != sums
                    or (other.nic_id, other.nics_per_server) < (one.nic_id, one.nics_per_server)
                )
                for other in same
            ):
                kept.append(one)
    return kept


def _nic_sums(one: NicOption) -> tuple[int, ...]:
    """What the NICs cost at each stage and draw, and how many they are; of built-in ones nothing counts."""
    if one.item is None:
        return ()
    return (
        *(cents * one.nics_per_server for cents in one.item.unit_cents),
        one.item.power_mw * one.nics_per_server,
        one.nics_per_server,
    )
