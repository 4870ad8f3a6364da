"""What devices load a rack with, and the most that it takes: power, heat to air, weight, outlets of power strips.

Whatever adds up over the devices of a rack, has a limit there and needs no place of its own is a field of ``RackLoad``.
The search adds and compares loads field by field, and knows none of them by name. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from fabopt.schema.case import Case
from fabopt.schema.catalog import Switch
from fabopt.schema.floor import Floor
from fabopt.schema.product import OUTLETS, Cooled
from fabopt.schema.server import Server
from fabopt.units import exact, milliwatts

# More than a rack can ever have.
UNLIMITED: Final = int(np.iinfo(np.int64).max // 4)
# Milliwatts of a watt, grams of a kilogram.
THOUSAND: Final = 1000


class RackLoad(NamedTuple):
    """Power and heat to air in milliwatts, weight in grams, thousandths of outlets by type; 0 of what is not known."""

    power_mw: int = 0
    air_mw: int = 0
    grams: int = 0
    c13: int = 0
    c15: int = 0
    c19: int = 0

    def times(self, number: int) -> RackLoad:
        """The load of so many."""
        return RackLoad(*(number * amount for amount in self))

    def limited(self, most: RackLoad) -> RackLoad:
        """The load with 0 for what ``most`` does not limit, so that no search looks at it."""
        return RackLoad(*(0 if limit >= UNLIMITED else amount for amount, limit in zip(self, most, strict=True)))


NO_LOAD: Final = RackLoad()
ANY_LOAD: Final = RackLoad(*(UNLIMITED for _ in NO_LOAD))


def added(loads: Iterable[RackLoad]) -> RackLoad:
    """The sum of loads."""
    return RackLoad(*map(sum, zip(NO_LOAD, *loads, strict=True)))


def times_in(load: RackLoad, most: RackLoad) -> int:
    """How often a load goes into what there is of each; ``UNLIMITED`` for no load."""
    return min((limit // amount for amount, limit in zip(load, most, strict=True) if amount), default=UNLIMITED)


def most_in_rack(floor: Floor | None) -> RackLoad:
    """The most that a rack of a floor takes, by ``rack_power_w`` with ``breaker_share``, the lesser of ``rack_air_w``
    and ``row_air_w``, that of ``rack_kg`` and ``floor_kg_m2`` on the rack's own base, and outlets of racks with servers
    (of others: of the floor ``without_servers``); what racks of all halls take. Rule ``loads_fit_racks``.
    """
    if floor is None:
        return ANY_LOAD
    if floor.parts != (floor,):
        return RackLoad(*map(min, zip(*map(most_in_rack, floor.parts), strict=True)))
    kg = [exact(floor.rack_kg)] if floor.rack_kg is not None else []
    if floor.floor_kg_m2 is not None:
        kg.append(exact(floor.floor_kg_m2) * base_m2(floor))
    power_w, air_w = floor.usable_power_w, [one for one in (floor.rack_air_w, floor.row_air_w) if one is not None]
    return RackLoad(
        UNLIMITED if power_w is None else int(exact(power_w) * 1000),
        milliwatts(min(air_w)) if air_w else UNLIMITED,
        int(min(kg) * THOUSAND) if kg else UNLIMITED,
        *(UNLIMITED if number is None else number * THOUSAND for number in (
            floor.outlets_c13, floor.outlets_c15, floor.outlets_c19,
        )),
    )  # fmt: skip


def load_of(power_mw: int, liquid_share: float | None = None, weight_kg: float | None = None) -> RackLoad:
    """The load of a device of so much power, of which a share goes to liquid; all to air where that is not known."""
    to_liquid = int(power_mw * exact(liquid_share or 0))
    return RackLoad(power_mw, power_mw - to_liquid, int(exact(weight_kg or 0) * THOUSAND))


def _load_of_product(product: Switch | Server, power_mw: int) -> RackLoad:
    """The load of a product that uses so much, with an outlet for each of its power cords."""
    outlets = {OUTLETS[inlet].lower(): number * THOUSAND for inlet, number in product.inlets.items()}
    return load_of(power_mw, product.liquid_share, product.weight_kg)._replace(**outlets)


def is_cooling_told(product: Cooled) -> bool:
    """Whether it is known what cools a product: the share that liquid takes, or the airflow that it is sold with."""
    return product.liquid_share is not None or (isinstance(product, Switch) and bool(product.airflows))


def load_of_switch(switch: Switch, power_mw: int) -> RackLoad:
    """The load of a switch that uses so much, with its modules."""
    return _load_of_product(switch, power_mw)


def load_of_server(server: Server) -> RackLoad:
    """The load of a server, of a rack-scale system of the whole rack, with the NICs that are built in."""
    return _load_of_product(server, milliwatts(server.power_w or 0))


class RackLimit(NamedTuple):
    """A key of ``site.floor`` that limits what a rack takes: the quantity of a load, the key of a product that it adds
    up, unit and words.

    ``what``: of the figure, where the unit does not say it; ``verb``: of a device that has so much. ``of``: empty where
    what is not known of a product is noted, and not refused. ``of_servers``: whether racks of servers have it.
    """

    key: str
    quantity: str
    of: str
    unit: str
    verb: str
    what: str = ""
    of_servers: bool = True

    def amount(self, load: RackLoad) -> float:
        """What a load has of the quantity, in the unit of the key; of ``floor_kg_m2`` in kilograms."""
        return float(getattr(load, self.quantity)) / THOUSAND

    def most(self, floor: Floor) -> float:
        """What the key leaves a rack, as ``amount``."""
        if floor.parts != (floor,):
            return min(self.most(part) for part in floor.parts if getattr(part, self.key) is not None)
        given = float(getattr(floor, self.key))
        if self.key == "floor_kg_m2":
            return float(exact(given) * base_m2(floor))
        return float(floor.usable_power_w or 0) if self.is_shared(floor) else given

    def needed(self, floor: Floor, amount: float) -> float:
        """The value of the key at which a rack takes an amount."""
        if self.key == "floor_kg_m2":
            return float(exact(amount) / base_m2(floor))
        return float(exact(amount) / exact(floor.breaker_share or 1)) if self.is_shared(floor) else amount

    def is_shared(self, floor: Floor) -> bool:
        """Whether a share of the key's value may be in use."""
        return self.key == "rack_power_w" and floor.breaker_share is not None


RACK_LIMITS: Final = (
    RackLimit("rack_power_w", "power_mw", "power_w", "W", "uses"),
    RackLimit("rack_air_w", "air_mw", "power_w", "W", "gives the air", "to air"),
    RackLimit("row_air_w", "air_mw", "power_w", "W", "gives the air", "to air"),
    RackLimit("rack_kg", "grams", "weight_kg", "kg", "weighs"),
    RackLimit("floor_kg_m2", "grams", "weight_kg", "kg", "weighs"),
    RackLimit("outlets_c13", "c13", "", "C13 outlets", "needs"),
    RackLimit("outlets_c15", "c15", "", "C15 outlets", "needs"),
    RackLimit("outlets_c19", "c19", "", "C19 outlets", "needs"),
    RackLimit("network_outlets_c13", "c13", "", "C13 outlets", "needs", of_servers=False),
    RackLimit("network_outlets_c15", "c15", "", "C15 outlets", "needs", of_servers=False),
    RackLimit("network_outlets_c19", "c19", "", "C19 outlets", "needs", of_servers=False),
)


# Every key of ``site.floor`` that says what racks and rows take.
LOAD_KEYS: Final = (*(limit.key for limit in RACK_LIMITS), "breaker_share")


def with_floor(case: Case, keys: Mapping[str, float | None]) -> Case:
    """A case with a floor, with keys of it updated."""
    assert case.site.floor is not None
    return case.model_copy(update={"site": case.site.on(case.site.floor.with_keys(keys))})


def base_m2(floor: Floor) -> Fraction:
    """The base of a rack, in square metres."""
    return exact(floor.rack_pitch_m) * exact(floor.rack_depth_m)
