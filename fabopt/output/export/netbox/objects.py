"""The objects of a site: manufacturers, site, roles, racks, device types and devices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import yaml

from fabopt.output.export.netbox.table import CsvTable
from fabopt.output.export.netbox.words import LONGEST_NAME, NO_VENDOR, PLANNED, part_number_and_text, slugs, text
from fabopt.output.export.orders import code_of
from fabopt.output.export.trunks import cabling_of
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.schema.passive import Panel
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, NOTHING, Wiring, port_name
from fabopt.wiring.structured import RackPanel, StructuredCabling

# Begins the files of device types: it tells them from others in the same folder. The three hyphens come first, or
# NetBox does not see that it is YAML.
TYPE_HEAD = b"---\n# Written by fabopt\n"
SHUFFLE, PANEL = "shuffle", "panel"
# Name and colour of each role, in the order in which they are written.
ROLES = {
    "server": ("GPU server", "4caf50"),
    "attachment": ("Attachment", "9e9e9e"),
    "leaf": ("Leaf switch", "2196f3"),
    "spine": ("Spine switch", "673ab7"),
    "core": ("Core switch", "f44336"),
    SHUFFLE: ("Shuffle", "795548"),
    PANEL: ("Patch panel", "607d8b"),
}
# What a rack is where the case only says how high it is: EIA-310 19-inch cabinets.
RACK_FORM, RACK_WIDTH_IN = "4-post-cabinet", 19
_HALF_UNITS = 2


class TypeKey(NamedTuple):
    """The key of a device type; ``height_u`` as the product or the case states it."""

    attached: bool
    product: str
    height_u: float


@dataclass(frozen=True)
class DeviceType:
    """A product as NetBox has it. ``u_height``: in halves of a unit, rounded up from ``height_u``."""

    manufacturer: str
    model: str
    slug: str
    part_number: str
    u_height: float
    height_u: float
    weight_kg: float | None
    description: str
    bays: tuple[str, ...]

    def yaml_bytes(self) -> bytes:
        """Return the type in the form of NetBox's device-type library, with a bay for the module of every cage."""
        content: dict[str, Any] = {"manufacturer": self.manufacturer, "model": self.model, "slug": self.slug}
        if self.part_number:
            content["part_number"] = self.part_number
        content |= {"u_height": self.u_height, "is_full_depth": True}
        if self.weight_kg:
            content |= {"weight": self.weight_kg, "weight_unit": "kg"}
        if self.description:
            content["description"] = self.description
        if self.bays:
            content["module-bays"] = [
                {"name": name, "position": str(place)} for place, name in enumerate(self.bays, start=1)
            ]
        dumped = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=LONGEST_NAME)
        return TYPE_HEAD + str(dumped).encode()


@dataclass(frozen=True, eq=False)
class Objects:
    """A design's devices in NetBox's words; every row of ``Devices`` keeps its number."""

    design: Design
    wiring: Wiring

    @cached_property
    def embedded(self) -> Embedded:
        """The case and the parts."""
        return Embedded(self.design)

    @cached_property
    def names(self) -> list[str]:
        """Name of every device."""
        return [line(name) for name in self.wiring.devices.name]

    @cached_property
    def shuffles(self) -> dict[int, int]:
        """Connectors at each end of every shuffle, by its row of ``Cables``."""
        cables = self.wiring.cables
        sizes = np.minimum(cables.a_connectors, cables.b_connectors)
        return {row: int(sizes[row]) for row in np.flatnonzero(sizes > 1).tolist()}

    @cached_property
    def cabling(self) -> StructuredCabling:
        """Panels and trunks; empty where every cable runs from port to port."""
        return cabling_of(self.design, self.wiring)

    @property
    def site(self) -> str:
        """Name of the site."""
        return line(self.design.case.name)

    @cached_property
    def racks_in_use(self) -> tuple[str, ...]:
        """Racks with devices in them, in the order of the floor; none without a floor plan."""
        used = {*filter(None, self.wiring.devices.rack), *(panel.rack for panel in self.cabling.panels)}
        return tuple(rack for rack in self.embedded.plan.ids if rack in used) if used else ()

    @property
    def _place_columns(self) -> tuple[str, ...]:
        """Columns of a device's place."""
        return ("rack", "position", "face") if self.racks_in_use else ()

    def vendor(self, part: str) -> str:
        """Maker of an embedded part; ``NO_VENDOR`` for an attachment or an unknown id."""
        return line(self.design.parts.get(part, {}).get("vendor")) or NO_VENDOR

    @cached_property
    def types(self) -> dict[TypeKey, DeviceType]:
        """Device types by key, in the order of the devices."""
        keys = dict.fromkeys(map(self._key, range(len(self.wiring.devices))))
        keys |= dict.fromkeys(self._shuffle_key(row) for row in self.shuffles)
        keys |= dict.fromkeys(map(self._panel_key, self.cabling.panels))
        models = self._models(list(keys))
        slug = slugs(" ".join(models[key]) for key in keys)
        return {key: self._type(key, models[key], slug[" ".join(models[key])]) for key in keys}

    def _key(self, device: int) -> TypeKey:
        devices = self.wiring.devices
        return TypeKey(devices.role[device] == "attachment", devices.product[device], float(devices.height_u[device]))

    def _shuffle_key(self, row: int) -> TypeKey:
        return TypeKey(False, self.wiring.cables.part[row], 0.0)

    def _panel_key(self, panel: RackPanel) -> TypeKey:
        return TypeKey(False, panel.product, float(self.embedded.part(panel.product, Panel).rack_units))

    def _models(self, keys: list[TypeKey]) -> dict[TypeKey, tuple[str, str]]:
        """Return (maker, model) of every type: the part number, or the id where that is missing, long or taken.

        Attachments of one name and two heights have the height in their models.
        """
        models: dict[TypeKey, tuple[str, str]] = {}
        for key in keys:
            attached, product, height = key
            vendor = NO_VENDOR if attached else self.vendor(product)
            number = self._number(key)
            good = 0 < len(number) <= LONGEST_NAME and (vendor, number) not in models.values()
            model = (vendor, number if good else line(product))
            taken = attached and model in models.values()
            models[key] = (vendor, line(f"{product} {height:g}U")) if taken else model
        return models

    def _number(self, key: TypeKey) -> str:
        return "" if key.attached else line(code_of(self.design, key.product, None).code)

    def _type(self, key: TypeKey, model: tuple[str, str], slug: str) -> DeviceType:
        attached, product, height = key
        part = {} if attached else self.design.parts.get(product, {})
        number, about = part_number_and_text(self._number(key), str(part.get("description") or ""))
        rounded = math.ceil(round(height * _HALF_UNITS, 6)) / _HALF_UNITS
        kg = part.get("weight_kg")
        return DeviceType(*model, slug, number, rounded, height, kg, about, self._bays(part, product))

    def _bays(self, part: dict[str, Any], product: str) -> tuple[str, ...]:
        if part.get("kind") != "switch":
            return ()
        switch = self.embedded.part(product, Switch)
        cages = sum(cage.count for cage in switch.cages)
        return tuple(port_name(switch.protocol, len(KINDS), cage, 0, 1) for cage in range(1, cages + 1))

    def type_of(self, device: int) -> DeviceType:
        """Return the type of a device."""
        return self.types[self._key(device)]

    # -- files ----------------------------------------------------------------------------------------------------

    def manufacturers(self) -> CsvTable:
        """Makers of devices and of modules."""
        names = dict.fromkeys(device_type.manufacturer for device_type in self.types.values())
        names |= dict.fromkeys(self.vendor(part) for part in self.wiring.modules.part)
        return CsvTable(("name", "slug"), [(name, slug) for name, slug in slugs(names).items()])

    def sites(self) -> CsvTable:
        """The site, named like the case."""
        about = text(self.design.case.content.get("description"))
        row = (self.site, slugs([self.site])[self.site], PLANNED, about)
        return CsvTable(("name", "slug", "status", "description"), [row])

    def roles(self) -> CsvTable:
        """The roles that devices have."""
        used = {*self.wiring.devices.role, *([SHUFFLE] if self.shuffles else [])}
        used |= {PANEL} if self.cabling.panels else set()
        colours = [(name, colour) for role, (name, colour) in ROLES.items() if role in used]
        slug = slugs(name for name, _ in colours)
        rows = [(name, slug[name], colour, "false") for name, colour in colours]
        return CsvTable(("name", "slug", "color", "vm_role"), list(rows))

    def racks(self) -> CsvTable:
        """The racks with devices or panels in them."""
        table = CsvTable(("site", "name", "status", "form_factor", "width", "u_height", "desc_units"))
        for rack in self.racks_in_use:
            units = self.embedded.plan.floor.rack_units
            table.rows.append((self.site, rack, PLANNED, RACK_FORM, RACK_WIDTH_IN, units, "false"))
        return table

    def device_types(self) -> CsvTable:
        """The products of all devices."""
        columns = ("manufacturer", "model", "slug", "part_number", "u_height", "is_full_depth", "description")
        rows = [
            (
                device_type.manufacturer,
                device_type.model,
                device_type.slug,
                device_type.part_number,
                f"{device_type.u_height:g}",
                "true",
                device_type.description,
            )
            for device_type in self.types.values()
        ]
        return CsvTable(columns, list(rows))

    def devices(self) -> CsvTable:
        """The devices, with their places if they have any."""
        columns = ("name", "role", "manufacturer", "device_type", "status", "site", *self._place_columns, "description")
        table = CsvTable(columns, [tuple(self._device(device)) for device in range(len(self.wiring.devices))])
        nowhere = ("",) * len(self._place_columns)
        for row, size in self.shuffles.items():
            kind, fabric = self.types[self._shuffle_key(row)], self.wiring.fabrics[int(self.wiring.cables.fabric[row])]
            named = (self.wiring.cables.name[row], ROLES[SHUFFLE][0], kind.manufacturer, kind.model, PLANNED, self.site)
            table.rows.append((*named, *nowhere, f"{fabric} - {size} x {size}"))
        for panel in self.cabling.panels:
            kind = self.types[self._panel_key(panel)]
            named = (panel.name, ROLES[PANEL][0], kind.manufacturer, kind.model, PLANNED, self.site)
            table.rows.append((*named, panel.rack, panel.unit, "front", f"{panel.fabric} - {panel.kind}"))
        return table

    def _device(self, device: int) -> Iterator[str | int]:
        devices, kind = self.wiring.devices, self.type_of(device)
        yield from (self.names[device], ROLES[devices.role[device]][0], kind.manufacturer, kind.model)
        yield from (PLANNED, self.site)
        yield from self._place(device)[: len(self._place_columns)]
        yield self._numbers(device)

    def _place(self, device: int) -> tuple[str | int, ...]:
        """Rack, position and face. A device of no height is in the rack, but has no place in it."""
        rack, unit = self.wiring.devices.rack[device], int(self.wiring.devices.unit[device])
        placed = bool(rack) and self.type_of(device).u_height > 0
        return rack, unit if placed and unit else "", "front" if placed else ""

    def _numbers(self, device: int) -> str:
        devices = self.wiring.devices
        known = {key: int(getattr(devices, key)[device]) for key in ("plane", "pod", "group", "rail")}
        words = [f"{key} {number}" for key, number in known.items() if number != NOTHING]
        return " - ".join([devices.fabric[device], *words] if devices.fabric[device] else words)


def line(value: object) -> str:
    """Return a name as one cell takes it, however long it is."""
    whole = str(value or "")
    return text(whole, max(1, len(whole)))
