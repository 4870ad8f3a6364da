"""Dominated hardware: another product can take its place everywhere and is in nothing worse.

Nothing whose price depends on the quantity, is in stock or is short is ever dropped, or drops anything.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from fabopt.floor.airflow import ANY_AIR
from fabopt.floor.loads import ANY_LOAD
from fabopt.floor.rack_rules import NO_LIMIT
from fabopt.parts.assemblies import dominates
from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.parts.switches import CageUse, SwitchType, ports_of_groups
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import SwitchUse
from fabopt.topology.clos.switch_sizes import airs_of, switch_size
from fabopt.units import grouped

# whether the first of two switches does what rules ask of the second
Verdicts = dict[tuple[SwitchType, SwitchType], bool]
_KNOWN: Lookup[Problem, Hashable, Verdicts] = Lookup()


def _no_dearer(item: Item | None, other: Item | None) -> bool:
    """Whether ``item`` takes no more money, power and rack units than ``other``, whatever the quantity."""
    return dominates(item, other) and (item is None or other is None or item.rack_milliunits <= other.rack_milliunits)


@dataclass(frozen=True)
class SwitchRivals:
    """When a switch takes the place of another in a tier of a fabric.

    ``alike``: only with the same kinds of ports, as leaves where those of a last group may be of another product.
    """

    problem: Problem
    fabric: FabricProblem
    protocol: str
    alike: bool = False

    def undominated(self, options: Sequence[SwitchType]) -> list[SwitchType]:
        """Drop a switch where another one serves as it does, takes no more money, power and rack units, and wins a
        tie.
        """
        kept: list[SwitchType] = []
        # whoever beats a switch comes before it in this order, and what beats the beaten beats it too
        for switch in sorted(options, key=_switch_order):
            rivals = (one for one in kept if one.max_ports >= switch.max_ports and one.peers == switch.peers)
            if not any(self._takes_place(other, switch) and self._serves_as(other, switch) for other in rivals):
                kept.append(switch)
        return kept

    def undominated_uses(self, options: Sequence[SwitchUse]) -> list[SwitchUse]:
        """Drop a switch with the uses of its cages where another one that has such cages is cheaper, or else takes less
        power or rack units, whatever their other cages and ports are.

        Of equals all stay: one of them may be a product that is in use elsewhere.
        """
        lanes = (tuple(use and use.lane for use in option[1:]) for option in options)
        kept: list[int] = []
        for rivals in grouped(zip(lanes, range(len(options)), strict=True)).values():
            best: list[int] = []
            for place in sorted(rivals, key=lambda place: _switch_order(options[place].switch)):
                if not any(self._is_beaten(options[place], options[other]) for other in best):
                    best.append(place)
            kept += best
        return [options[place] for place in sorted(kept)]

    def _is_beaten(self, option: SwitchUse, other: SwitchUse) -> bool:
        (switch, *uses), (rival, *own) = option, other
        return (
            _is_less(rival.item, switch.item)
            and rival.peers == switch.peers
            and self._takes_place(rival, switch)
            and len({use.group for use in own if use}) == len({use.group for use in uses if use})
            and rival.max_ports >= min(switch.max_ports, ports_of_groups(use for use in uses if use is not None))
            and all(
                one is theirs or (one is not None and theirs is not None and self._use_serves_as(one, theirs))
                for one, theirs in zip(own, uses, strict=True)
            )
        )

    def _takes_place(self, switch: SwitchType, other: SwitchType) -> bool:
        """Whether ``switch`` does what rules ask of ``other``, whatever their ports are. Worked out once for all
        fabrics with these rules.
        """
        known = self._known.get((switch, other))
        if known is None:
            known = self._known[switch, other] = self._keeps_rules(switch, other)
        return known

    @cached_property
    def _known(self) -> Verdicts:
        fabric = self.fabric
        managers, generations = fabric.rules.binding_managers, fabric.rules.binding_generations
        rules = fabric.interchangeable, managers, generations is None, fabric.latency
        key = self.protocol, *rules, fabric.roce is None, self._is_timed
        return _KNOWN.of(self.problem, key, dict)

    def _keeps_rules(self, switch: SwitchType, other: SwitchType) -> bool:
        """Whether ``switch`` is no dearer, hungrier or larger, and keeps what rules ask of ``other``: to reduce in the
        network, where steps are timed; to be managed, to go with all switches that the other one goes with, and to have
        as large a pool and be as fast, where the fabric is bound to these rules.
        """
        if not _no_dearer(switch.item, other.item):
            return False
        fabric, own, theirs = self.fabric, switch.product, other.product
        # a tier of what others stand in for may cost less than of it alone
        if fabric.interchangeable is not None and fabric.interchangeable.has(other.id):
            return False
        managers, generations = fabric.rules.binding_managers, fabric.rules.binding_generations
        return (
            (not self._is_timed or own.reduces or not theirs.reduces)
            and (managers is None or managers.manages_as(own, theirs))
            and (fabric.roce is None or _holds_as(switch, other))
            and (fabric.latency is None or fabric.latency.is_no_slower(own, theirs))
            and (generations is None or own.generation in (None, theirs.generation))
            and (not self._weighs_racks or self._loads_no_more(switch, other))
            and self._blows_as(switch, other)
        )

    def _serves_as(self, switch: SwitchType, other: SwitchType) -> bool:
        """Whether ``switch``, which has as many ports, can be used wherever ``other`` can: as many cages, with its
        splits, that take its parts.
        """
        own_uses = {(use.group, use.split): use for use in switch.uses}
        return all(
            (own := own_uses.get((use.group, use.split))) is not None and self._use_serves_as(own, use)
            for use in other.uses
        )

    def _use_serves_as(self, own: CageUse, use: CageUse) -> bool:
        """Whether links can have cages of ``own`` in place of those of ``use``, and racks room for them."""
        return (
            own.of_group >= use.of_group
            and (own.pair_ports or inf) >= (use.pair_ports or inf)
            and (use.apart or not own.apart)
            and (own.port is use.port or (not self.alike and own.port.serves_as(use.port)))
            and (not self._weighs_racks or self._loads_racks_as(own, use))
        )

    @cached_property
    def _is_timed(self) -> bool:
        return self.fabric.figure_demands is not None and self.fabric.figure_demands.deadline is not None

    @cached_property
    def _weighs_racks(self) -> bool:
        """Whether racks limit the power or the cable ends of what is in them."""
        site = self.problem.site
        return site.most_in_rack != ANY_LOAD or site.rack_limits.cable_ends != NO_LIMIT

    def _loads_no_more(self, switch: SwitchType, other: SwitchType) -> bool:
        """Whether ``switch`` loads a rack no more than ``other``, of no quantity."""
        loads = (switch_size(self.problem, (one,), (), self.protocol).load for one in (switch, other))
        return all(own <= theirs for own, theirs in zip(*loads, strict=True))

    def _blows_as(self, switch: SwitchType, other: SwitchType) -> bool:
        """Whether ``switch`` may stand wherever ``other`` may: sold in the same airflows, or in unknown ones. Sold in
        both, it blows as racks of switches do, and stands in none with servers where that is against them.
        """
        if airs_of(self.problem) == (ANY_AIR,):
            return True
        own, theirs = (switch_size(self.problem, (one,), (), self.protocol).airflows for one in (switch, other))
        return not own or own == theirs

    def _loads_racks_as(self, own: CageUse, use: CageUse) -> bool:
        """Whether a group of cages has no more cable ends, and no hungrier modules."""
        own_mw, of_use_mw = (self.problem.links.hungriest_mw(one.port, self.protocol) for one in (own, use))
        return own.of_group == use.of_group and own_mw <= of_use_mw


def _is_less(item: Item, other: Item) -> bool:
    """Whether ``item`` is cheaper at every stage, or else takes less power or rack units: ties go no further."""
    return (
        item.power_mw < other.power_mw
        or item.rack_milliunits < other.rack_milliunits
        or all(own < theirs or theirs == 0 for own, theirs in zip(item.unit_costs, other.unit_costs, strict=True))
    )


def _holds_as(switch: SwitchType, other: SwitchType) -> bool:
    """Whether the packet memory of ``switch`` suffices wherever that of ``other`` does: it is the same, or not
    known.
    """
    own, theirs = switch.product, other.product
    return own.buffer_pool is None or (own.asic, own.buffer_pool) == (theirs.asic, theirs.buffer_pool)


def _switch_order(switch: SwitchType) -> tuple[Any, ...]:
    return switch.item.unit_costs, switch.item.power_mw, switch.item.rack_milliunits, switch.id
