"""What a hall gives to every rack and takes from it: air, water, power and the floor, device by device.

Heat is the power of the bill. Figures that a maker states are theirs; the rest follows from the constants below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fabopt.floor.loads import THOUSAND, UNLIMITED, is_cooling_told, most_in_rack
from fabopt.output.export.elevation import CABLES, PANEL, Rack, RackDevice, elevation_of, loose_power_w
from fabopt.output.export.formats import Exported
from fabopt.schema.floor import Floor
from fabopt.schema.product import Cooled
from fabopt.units import grouped, some
from fabopt.wiring.design_file import Embedded

# Air of 1.2 kg/m3 and 1,005 J/(kg K): 3,600 / (1.2 x 1,005) cubic metres an hour for a watt and a kelvin.
AIR_M3_H: Final = 2.99
# Warming of air to plan with: 158 CFM a kilowatt. NVIDIA DSX Facilities Guide v2.0 p. 62 has 150, others 160.
AIR_DT_K: Final = 11.1
# PG25 at a rise of about 10 K. NVIDIA DSX Facilities Guide v2.0 p. 62.
WATER_L_MIN_KW: Final = 1.5


@dataclass(frozen=True)
class HallDevice:
    """A device in a rack, or what is bought and in no device (``rack`` empty).

    ``power_w``: with NICs and modules, ``liquid_w`` of it to liquid; ``most_w``: at its maker's maximum, where rule
    ``rack-rules`` counts that, ``most_air_w`` of it to air. ``kg``: None where not known. ``inlets``: of power cords
    by type; ``unknown``: keys that the catalog does not have of it. ``cards``: bought for it, which no source weighs;
    ``is_of_whole``: whether a rack-scale system has it, frame and all.
    """

    rack: str
    row: str
    name: str
    power_w: float
    most_w: float
    liquid_w: float
    most_air_w: float
    air_m3_h: float
    inlet: str
    kg: float | None
    inlets: dict[str, int]
    unknown: tuple[str, ...]
    cards: int = 0
    is_of_whole: bool = False

    @property
    def air_w(self) -> float:
        """Heat to air, in watts."""
        return self.power_w - self.liquid_w

    @property
    def water_l_min(self) -> float:
        """Liquid through it, in litres a minute."""
        return self.liquid_w / THOUSAND * WATER_L_MIN_KW


@dataclass(frozen=True)
class Hall:
    """The devices of a design in its racks, in the order of the floor, the floor, and its racks with servers."""

    floor: Floor
    devices: tuple[HallDevice, ...]
    server_racks: frozenset[str] = frozenset()

    def by(self, key: Callable[[HallDevice], str]) -> dict[str, list[HallDevice]]:
        """The devices of each rack or row, without what is in none."""
        return grouped((key(device), device) for device in self.devices if key(device))

    @property
    def by_rack(self) -> dict[str, list[HallDevice]]:
        """The devices of each rack."""
        return self.by(lambda device: device.rack)

    def most_kg(self, rack: str) -> float | None:
        """Kilograms that a rack may have; None: any."""
        grams = most_in_rack(self.floor.part_of(rack)).grams
        return None if grams >= UNLIMITED else grams / THOUSAND


def hall_of(asked: Exported) -> Hall:
    """The hall of a design; ``InputError`` for one without a floor plan."""
    elevation, embedded = elevation_of(asked.design, asked.wiring), Embedded(asked.design)
    floor = embedded.plan.floor
    devices = [device for row in elevation.rows for rack in row.racks for device in _devices(embedded, rack, row.name)]
    for what, watts in loose_power_w(asked.design, asked.wiring).items():
        name = what if what == CABLES else f"{what}, in no rack of the design"
        devices.append(HallDevice("", "", name, watts, watts, 0.0, watts, _m3_h(watts, floor), "", None, {}, ()))
    return Hall(floor, tuple(devices), frozenset(asked.design.racks.server_racks))


def unknown_words(devices: Iterable[HallDevice], key: str) -> str:
    """How many of some devices the catalog lacks a key of: ``weight_kg of 2 devices``; empty for none."""
    lacking = sum(key in device.unknown for device in devices)
    return f"{key} of {some(lacking, 'device')}" if lacking else ""


def _devices(embedded: Embedded, rack: Rack, row: str) -> Iterator[HallDevice]:
    """The devices of a rack, from the top down; the lowest server of a rack-scale system has its weight."""
    floor, server = embedded.plan.floor, embedded.server
    lowest = min((device.unit for device in rack.devices if device.role == "server"), default=0)
    number = sum(device.role == "server" for device in rack.devices)
    for device in rack.devices:
        if device.role == PANEL:
            yield HallDevice(rack.id, row, device.name, *(0.0,) * 5, "", None, {}, ("weight_kg",))
            continue
        said, kg = _said(embedded, device)
        # what a server's maker cools, without NICs and modules that are bought for it
        own_w = device.power_w
        if device.role == "server" and server.power_w is not None:
            own_w = min(own_w, server.power_w * server.sold_for(number) / number if server.rack else server.power_w)
        in_whole = device.role == "server" and server.rack is not None
        if in_whole and device.unit != lowest and kg is not None:
            kg = 0.0
        share, most_w = said.liquid_share or 0.0, max(device.power_w, device.most_w)
        air_w = device.power_w - own_w * share
        stated_m3_h = None if in_whole else said.air_m3_h
        is_told = is_cooling_told(said)
        known = {"weight_kg": kg is not None, "inlets": bool(said.inlets) or in_whole, "liquid_share": is_told}
        known["inlet_c"] = said.inlet_c is not None
        yield HallDevice(
            rack.id, row, device.name, device.power_w, most_w, own_w * share,
            most_w - (own_w + most_w - device.power_w) * share,
            _m3_h(air_w, floor) if stated_m3_h is None else stated_m3_h,
            "" if said.inlet_c is None else "-".join(f"{degrees:g}" for degrees in said.inlet_c) + " C", kg,
            {str(inlet): count for inlet, count in said.inlets.items()},
            tuple(key for key, is_known in known.items() if not is_known),
            _cards(embedded) if device.role == "server" else 0, in_whole,
        )  # fmt: skip


def _cards(embedded: Embedded) -> int:
    """NICs that are bought for a server."""
    fabrics = embedded.design.fabrics
    nics = (nic for built in fabrics for nic in (built.nic, *(logical.nic for logical in built.logical)))
    return sum(nic.per_server for nic in nics if not nic.built_in)


def _said(embedded: Embedded, device: RackDevice) -> tuple[Cooled, float | None]:
    """What is known of a device for the hall, and its weight in kilograms."""
    if device.role == "attachment":
        attached = next(one for one in embedded.wanted[device.fabric].attachments if one.name == device.product)
        return Cooled(), attached.weight_kg
    said = embedded.product(device.product)
    assert isinstance(said, Cooled), "servers and switches are installed in racks, nothing else"
    return said, said.weight_kg


def _m3_h(air_w: float, floor: Floor) -> float:
    return AIR_M3_H * air_w / (floor.air_dt_k or AIR_DT_K)
