"""Cages of ports on switches whose neighbouring cages drive a limited number of ports together.

Cages are dealt out from the first one for links down, and from the last one for links up. A side that cannot use two
neighbours gets one cage of each pair: odd ones down, even ones up. The other side takes the cages that are left of its
pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import PortUse, TierUse
from fabopt.wiring.fabric_plan import FabricPlan
from fabopt.wiring.join import first_cage
from fabopt.wiring.model import KINDS, LAST_OF_ENDPOINTS, Ints, Lent, Links, Modules

_LAST_UPWARDS = KINDS.index("spine-core")


@dataclass(frozen=True, eq=False)
class _CageNumbering:
    """The cages of switches of one type in a tier, by the numbers dealt out (from 1): of links down, and of links up.

    ``first``: the tier's first device; ``own``: mask of its switches of this type, shape (switches,).
    """

    first: int
    own: NDArray[np.bool_]
    down: Ints
    up: Ints

    def of(self, device: Ints, cage: Ints, upwards: NDArray[np.bool_]) -> Ints:
        """The cages of the ends of links; cages of other devices are unchanged."""
        here = (device >= self.first) & (device < self.first + len(self.own))
        here[here] = self.own[device[here] - self.first]
        dealt = np.where(here, cage, 0)
        return np.where(here, np.where(upwards, self.up[dealt], self.down[dealt]), cage)


def in_pairs(plans: Sequence[FabricPlan], tables: tuple[Links, Modules, Lent]) -> tuple[Links, Modules, Lent]:
    """The tables with every port in a cage that drives it."""
    for numbering in _numberings(plans):
        tables = _renumbered(*tables, numbering)
    return tables


def _renumbered(links: Links, modules: Modules, lent: Lent, numbering: _CageNumbering) -> tuple[Links, Modules, Lent]:
    a_cage = numbering.of(links.a, links.a_cage, links.kind > LAST_OF_ENDPOINTS)
    b_cage = numbering.of(links.b, links.b_cage, links.kind > _LAST_UPWARDS)
    moved = dict(zip(zip(links.a.tolist(), links.a_cage.tolist(), strict=True), a_cage.tolist(), strict=True))
    moved.update(zip(zip(links.b.tolist(), links.b_cage.tolist(), strict=True), b_cage.tolist(), strict=True))
    places = zip(modules.device.tolist(), modules.cage.tolist(), strict=True)
    of_modules = np.array([moved[place] for place in places], dtype=np.int64)
    of_lent = numbering.of(lent.b, lent.b_cage, np.zeros(len(lent), dtype=np.bool_))
    return (
        replace(links, a_cage=a_cage, b_cage=b_cage),
        replace(modules, cage=of_modules),
        replace(lent, b_cage=of_lent),
    )


def _numberings(plans: Sequence[FabricPlan]) -> Iterator[_CageNumbering]:
    for plan in plans:
        for tier in plan.numbers.fabric.tiers:
            is_other = plan.is_other(tier.role, np.arange(tier.count))
            for (switch, used), own in zip(plan.types(tier.role), (~is_other, is_other), strict=False):
                if switch.ports_per_cage_pair is not None or any(cage.every_second for cage in switch.cages):
                    up = used.up or (plan.peer_use if tier.role == "leaf" else None)
                    sides = (_numbers(switch, used, up, upwards) for upwards in (False, True))
                    yield _CageNumbering(plan.first[tier.role], own, *sides)


def _numbers(switch: Switch, tier: TierUse, up: PortUse | None, upwards: bool) -> Ints:
    """The cage of each number dealt out to a side of a tier, shape (cages + 1,); 0 stays 0. ``up``: use of the cages
    that face up, those of peer links among them.
    """
    numbers = np.arange(1 + sum(cage.count for cage in switch.cages))
    use, other = (up, tier.down) if upwards else (tier.down, up)
    if use is None:
        return numbers
    neighbour = other if other is not None and other.cage_group == use.cage_group else None
    first, count = first_cage(switch, use), switch.cages[use.cage_group].count
    place = np.arange(1, count + 1)
    numbers[first : first + count] = first - 1 + _places(switch, use, neighbour, upwards, place)
    return numbers


def _places(switch: Switch, use: PortUse, other: PortUse | None, upwards: bool, place: Ints) -> Ints:
    """The cages of a group in the order in which a side gets them; ``place``: that order from 1."""
    count = len(place)
    halves, other_halves = _halves(switch, use), other is not None and _halves(switch, other)
    most, ports = switch.ports_per_cage_pair, _ports(use) + (0 if other is None else _ports(other))
    if halves and other_halves:
        return 2 * place - (count if upwards else 1)
    if not halves and not (other_halves and (most is None or ports <= most)):
        return place
    if halves == upwards:
        # links up have the even ones from the last down, and links down the odd ones from there
        return np.where(place > count // 2, 2 * place - count, count + 1 - 2 * place)
    return np.where(place <= count // 2, 2 * place - 1, 2 * (count - place) + 2)


def _halves(switch: Switch, use: PortUse) -> bool:
    """Whether a use cannot be had on two neighbouring cages."""
    most = switch.ports_per_cage_pair
    apart = use.split in switch.cages[use.cage_group].every_second
    return apart or (most is not None and 2 * _ports(use) > most)


def _ports(use: PortUse) -> int:
    return parse_split(use.split).ports
