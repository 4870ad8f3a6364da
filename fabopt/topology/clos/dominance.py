"""Dominated hardware: another product can take its place everywhere and is in nothing worse.

Nothing whose price depends on the quantity, is in stock or is short is ever dropped, or drops anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from fabopt.parts.assemblies import dominates
from fabopt.parts.items import Item
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.problem.fabric import FabricProblem


def _no_dearer(item: Item | None, other: Item | None) -> bool:
    """Whether ``item`` takes no more money, power and rack units than ``other``, whatever the quantity."""
    return dominates(item, other) and (item is None or other is None or item.rack_milliunits <= other.rack_milliunits)


def _serves_as(switch: SwitchType, other: SwitchType) -> bool:
    """Whether ``switch`` can be used wherever ``other`` can: as many cages, with its splits, that take its parts."""
    if switch.max_ports < other.max_ports or switch.peers != other.peers:
        return False
    own_uses = {(use.group, use.split): use for use in switch.uses}
    return all(
        (own := own_uses.get((use.group, use.split))) is not None
        and own.cages >= use.cages
        and own.of_group >= use.of_group
        and (own.pair_ports or inf) >= (use.pair_ports or inf)
        and own.port.serves_as(use.port)
        for use in other.uses
    )


def _holds_as(switch: SwitchType, other: SwitchType) -> bool:
    """Whether the packet memory of ``switch`` suffices wherever that of ``other`` does: it is the same, or not
    known.
    """
    own, theirs = switch.product, other.product
    return own.buffer_pool is None or (own.asic, own.buffer_pool) == (theirs.asic, theirs.buffer_pool)


def _switch_order(switch: SwitchType) -> tuple[Any, ...]:
    return switch.item.unit_costs, switch.item.power_mw, switch.item.rack_milliunits, switch.id


def undominated_switches(
    options: Sequence[SwitchType], fabric: FabricProblem, reducing: bool = False
) -> list[SwitchType]:
    """Drop a switch where another one serves as it does, takes no more money, power and rack units, and wins a tie.

    ``reducing``: only if it also reduces in the network where the other one does; only if its subnets can also be
    managed and it goes with all switches where the other one does, if the fabric is bound to these rules; only if its
    pool holds as much, if pools are a condition.
    """
    managers, of_one_generation = fabric.binding_managers, fabric.binding_generations is not None
    kept: list[SwitchType] = []
    # whoever beats a switch comes before it in this order, and what beats the beaten beats it too
    for switch in sorted(options, key=_switch_order):
        # a tier of what others stand in for may cost less than of it alone
        has_others = fabric.stand_ins is not None and fabric.stand_ins.has(switch.id)
        if has_others or not any(
            _no_dearer(other.item, switch.item)
            and _serves_as(other, switch)
            and (not reducing or other.product.reduces or not switch.product.reduces)
            and (managers is None or managers.manages_as(other.product, switch.product))
            and (fabric.roce is None or _holds_as(other, switch))
            and (not of_one_generation or other.product.generation in (None, switch.product.generation))
            for other in kept
        ):
            kept.append(switch)
    return kept


def undominated_nics(options: Sequence[NicOption], by_injection: bool = False) -> list[NicOption]:
    """Drop a way to equip servers where another one has the same ports and takes no more money, power and NICs.

    ``by_injection``: only if it also delivers as much bandwidth to a GPU.
    """
    best: dict[tuple[Any, ...], list[NicOption]] = {}
    for nic in options:
        key = (nic.port, nic.ports_per_plane, nic.planes, nic.full_cages, nic.partial_cages, nic.partial_ports,
               nic.cage_limit, nic.own_cages, nic.ports_per_nic // nic.planes_per_nic, nic.topology,
               nic.apart)  # fmt: skip
        best.setdefault(key, []).append(nic)
    kept = []
    for same in best.values():
        for nic in same:
            sums = _nic_sums(nic)
            # all offers of a product together may cost less than one of them
            if nic.offers or not any(
                other is not nic
                and (not by_injection or other.injection >= nic.injection)
                and all(a <= b for a, b in zip(_nic_sums(other), sums, strict=True))
                and (
                    _nic_sums(other) != sums
                    or (other.nic_id, other.nics_per_server) < (nic.nic_id, nic.nics_per_server)
                )
                for other in same
            ):
                kept.append(nic)
    return kept


def _nic_sums(nic: NicOption) -> tuple[int, ...]:
    """Cents of a server's NICs at each stage, their milliwatts and their number; empty for built-in ones."""
    if nic.item is None:
        return ()
    return (
        *(cents * nic.nics_per_server for cents in nic.item.unit_costs),
        nic.item.power_mw * nic.nics_per_server,
        nic.nics_per_server,
    )
