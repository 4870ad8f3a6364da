"""What of a fabric is in service on a floor: the racks of its servers, and the places of its switches, which stay."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

import numpy as np

from fabopt.floor.loads import RackLoad
from fabopt.floor.policies import Share, SwitchSize
from fabopt.floor.rack_rules import NO_LIMIT, RackLimits
from fabopt.floor.racks import Ints, Mask, Positions
from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_stages import StageNumbers, of_cores, of_leaves, of_spines
from fabopt.schema.structure import Structure

_STAGES_OF = (of_leaves, of_spines, of_cores)


class StandingHost(NamedTuple):
    """A device that stands with switches: the index of its rack, its lowest unit, and its load."""

    rack: int
    unit: int
    load: RackLoad


class StandingSwitches(NamedTuple):
    """Switches of a tier that stay: ``number`` in the tier, rising, with the rack, the lowest unit and the ``product``
    of each, all of shape (switches,).
    """

    number: Ints
    rack: Ints
    unit: Ints
    product: Ints


class RackRoomTaken(NamedTuple):
    """Switches and cable ends in each rack, both of shape (racks,), and their load, shape (quantities, racks)."""

    switches: Ints
    cable_ends: Ints
    load: Ints


NONE_STAY = StandingSwitches(*(np.array([], dtype=np.int64) for _ in StandingSwitches._fields))


@dataclass(frozen=True, eq=False)
class StandingFabric:
    """A fabric in service. ``server_racks``: in the order in which they are filled, shape (racks,); ``tiers``:
    positions of the leaves, spines and cores that its file plans for ``planned`` servers by ``structure``, of which
    ``first`` are there; ``sizes``: of new switches and of these, by tier; ``products``: of each of these, by tier, as
    numbers of ``SwitchSize.there``; ``hosts``: devices of attachments beside them.
    """

    server_racks: Ints
    tiers: tuple[Positions, ...]
    structure: Structure
    planned: int
    first: StageNumbers
    sizes: tuple[SwitchSize, ...]
    products: tuple[Ints, ...]
    hosts: tuple[StandingHost, ...] = ()

    def staying(self, numbers: ClosNumbers, sized: int) -> tuple[StandingSwitches, ...] | None:
        """The switches of each tier in a network that goes on, of which ``sized`` tiers have their sizes; None where
        these have other switches first. Those of other tiers have no number yet.
        """
        before, stay = self.as_planned(numbers), []
        for tier, own in enumerate(self.tiers):
            there = _there(tier, before, self.first, len(own.rack))
            number = NONE_STAY.number
            if tier < sized:
                number = _there(tier, numbers, self.first, _switches(tier, numbers))
                if len(number) != len(there):
                    return None
            stay.append(StandingSwitches(number, own.rack[there], own.unit[there], self.products[tier][there]))
        return tuple(stay)

    def taken(self, racks: int) -> RackRoomTaken:
        """What its switches, and its NICs in racks of servers, take of each of ``racks``."""
        switches, ends = np.zeros(racks, dtype=np.int64), np.zeros(racks, dtype=np.int64)
        load = np.outer(self.sizes[0].nics, np.bincount(self.server_racks, minlength=racks))
        for own, product, of_tier in zip(self.tiers, self.products, self.sizes, strict=True):
            for size, of_product in by_product(of_tier, product):
                there = np.bincount(own.rack[of_product], minlength=racks)
                switches, ends = switches + there, ends + there * size.cable_ends
                load = load + np.outer(size.load, there)
        for host in self.hosts:
            load[:, host.rack] += host.load
        return RackRoomTaken(switches, ends, load)

    def racks_of(self, tier: int) -> Ints:
        """Racks of the switches of a tier that the file plans, in the order of the plan, shape (racks found,)."""
        return np.unique(self.tiers[tier].rack) if tier < len(self.tiers) else NONE_STAY.rack

    @property
    def switch_racks(self) -> Ints:
        """Racks of switches of any tier, in the order of the plan, shape (racks found,)."""
        return np.unique(np.concatenate([own.rack for own in self.tiers]))

    def lowest_units(self, racks: int, limits: RackLimits) -> Ints:
        """The lowest unit of the switches that the file plans, and of their cable managers, in each of ``racks``; more
        than a rack has where there are none; shape (racks,).
        """
        lowest = np.full(racks, NO_LIMIT)
        for own in self.tiers:
            np.minimum.at(lowest, own.rack, own.unit - ceil(limits.manager_units))
        for host in self.hosts:
            lowest[host.rack] = min(lowest[host.rack], host.unit)
        return lowest

    @property
    def key(self) -> Hashable:
        """Equal for fabrics that stand alike."""
        places = tuple((own.rack.tobytes(), own.unit.tobytes()) for own in self.tiers)
        products = tuple(own.tobytes() for own in self.products)
        return self.server_racks.tobytes(), places, self.first, self.sizes, products, self.hosts

    def as_planned(self, like: ClosNumbers) -> ClosNumbers:
        """The numbers of the network that the file plans."""
        own, is_three = self.structure, self.structure.tiers > 2
        return replace(
            like,
            servers=self.planned,
            g=own.servers_per_group,
            spines=own.spines_per_pod,
            groups_per_pod=own.groups_per_pod if is_three else own.groups,
            rail_pods=is_three and own.pod_of == "rail",
            x=own.cores_per_group * own.links_per_core_pair,
            q=own.spines_per_core_group,
            m2=own.links_per_core_pair,
        )


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Several fabrics in service in racks that they share: all of them, and a fabric's share of the room below."""

    fabrics: tuple[StandingFabric, ...]
    share: Share

    def lowest_units(self, racks: int, limits: RackLimits) -> Ints:
        """The lowest unit of the switches of all, and of their cable managers, shape (racks,)."""
        return np.asarray(np.minimum.reduce([one.lowest_units(racks, limits) for one in self.fabrics]))

    def taken(self, racks: int) -> RackRoomTaken:
        """What all take of each of ``racks``."""
        columns = zip(*(one.taken(racks) for one in self.fabrics), strict=True)
        return RackRoomTaken(*(np.asarray(sum(column)) for column in columns))

    @property
    def key(self) -> Hashable:
        """Equal for neighbours that stand alike, with equal shares."""
        return tuple(one.key for one in self.fabrics), self.share


def by_product(size: SwitchSize, product: Ints) -> Iterator[tuple[SwitchSize, Mask]]:
    """What switches in service need, by their products, and which of them; ``product``: of each, shape (switches,)."""
    if size.there:
        yield from ((own, product == number) for number, own in enumerate(size.there))
    else:
        yield size, product >= 0


def _switches(tier: int, numbers: ClosNumbers) -> int:
    """Switches of a tier over all planes."""
    of_plane = (numbers.leaves, numbers.pods * numbers.spines, numbers.cores)[tier]
    return int(numbers.planes * of_plane)


def _there(tier: int, numbers: ClosNumbers, first: StageNumbers, switches: int) -> Ints:
    """The switches of a tier that the first stage has, of ``switches``."""
    if tier and not (first.spines if tier == 1 else first.group_cores):
        return NONE_STAY.number
    return np.flatnonzero(_STAGES_OF[tier](numbers, (first,), np.arange(switches)) == 0)
