"""A NetBox small enough to test with: takes the files in order, refuses what a real one would, and traces the links.

Written from the rules of the import forms and models (see ``tests.samples.netbox_facts``), apart from the checker of
the package, and reads the files, not the package's tables.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import product
from pathlib import Path

from tests.samples.netbox_facts import CHOICES, FORMS, INTERFACE_TYPES, LENGTHS, NOT_CONNECTABLE, PROFILES

Row = dict[str, str]
Port = tuple[str, str]
DELIMITERS = ",;\t|"
_FILE = re.compile(r"(\d\d)-([a-z-]+)\.csv")


class RefusedError(Exception):
    """What a NetBox would show instead of importing."""


def guessed_rows(path: Path) -> list[list[str]]:
    """Read a file as NetBox does where the delimiter is not given: by ``csv.Sniffer``, else as Excel would."""
    data = path.read_bytes().decode("utf-8-sig").strip()
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(data, delimiters=DELIMITERS)
    except csv.Error:
        dialect = csv.excel
    return list(csv.reader(io.StringIO(data), dialect=dialect))


def detected_format(data: str) -> str:
    """Tell the format of a file as NetBox does where neither format nor delimiter is given (``_detect_format``)."""
    if data[0] in "{[":
        return "json"
    if data.startswith(("---", "- ")):
        return "yaml"
    if set(DELIMITERS) & set(data.split("\n", 1)[0]):
        return "csv"
    raise RefusedError("Unable to detect data format. Please specify.")


class NetBox:
    """The objects imported so far."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.rows: dict[str, list[Row]] = {}
        self.interfaces: dict[Port, Row] = {}
        # Rear and front ports by device and name; the front port at each position of a rear port.
        self.rears: dict[Port, Row] = {}
        self.fronts: dict[Port, Row] = {}
        self.mapped: dict[tuple[str, str, int], str] = {}
        self.cabled: dict[tuple[str, Port], int] = {}
        # What is one cable away from a front port, and from a position of a rear port.
        self.at_front: dict[Port, Port] = {}
        self.at_rear: dict[tuple[str, str, int], Port] = {}
        # Rear ports with one cable between them, from both.
        self.behind: dict[Port, Port] = {}
        self.traced: set[tuple[Port, Port]] = set()
        self.taken: set[tuple[str, float]] = set()

    def import_folder(self, folder: Path) -> None:
        """Import all files in the order of their numbers."""
        for path in sorted(folder.glob("*.csv")):
            match = _FILE.fullmatch(path.name)
            assert match is not None, path.name
            self.import_file(match[2], path)
        for (device, rear, position), port in self.at_rear.items():
            if other := self.at_front.get((device, self.mapped[device, rear, position])):
                self.traced.add((other, port))
        for pair in self.behind.items():
            for place in range(1, int(self.rears[pair[0]]["positions"]) + 1):
                ends = [self.at_front.get((rear[0], self.mapped[(*rear, place)])) for rear in pair]
                assert (ends[0] is None) == (ends[1] is None), f"{pair}: a jumper at one end only"
                if ends[0] and ends[1]:
                    self.traced.add((ends[0], ends[1]))

    def import_file(self, kind: str, path: Path) -> None:
        header, *rows = guessed_rows(path)
        form = FORMS[kind]
        self._refuse(set(header) - form.columns(self.version), f"{kind}: unexpected columns")
        self._refuse(set(form.required) - set(header), f"{kind}: missing columns")
        self.rows[kind] = []
        for number, cells in enumerate(rows, start=1):
            self._refuse([] if len(cells) == len(header) else [cells], f"{kind} {number}: columns")
            row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
            self._check_row(kind, row)
            getattr(self, f"_import_{kind.replace('-', '_')}")(row)
            self.rows[kind].append(row)

    def _check_row(self, kind: str, row: Row) -> None:
        for name in FORMS[kind].required:
            self._refuse([] if row[name] else [name], f"{kind}: empty")
        for name, longest in LENGTHS[kind].items():
            self._refuse([row[name]] if len(row.get(name, "")) > longest else [], f"{kind}: too long")
        for name, allowed in CHOICES.get(kind, {}).items():
            self._refuse([row[name]] if row.get(name, next(iter(allowed))) not in allowed else [], f"{kind} {name}")

    @staticmethod
    def _refuse(wrong: object, why: str) -> None:
        if wrong:
            raise RefusedError(f"{why}: {wrong}")

    def _unique(self, kind: str, row: Row, *names: str) -> None:
        key = [row[name].lower() for name in names]
        again = any([other[name].lower() for name in names] == key for other in self.rows[kind])
        self._refuse(key if again else [], f"{kind}: exists")

    def _find(self, kind: str, **wanted: str) -> Row:
        found = [row for row in self.rows.get(kind, []) if wanted.items() <= row.items()]
        self._refuse([] if len(found) == 1 else wanted, f"not one of {kind}")
        return found[0]

    # -- objects --------------------------------------------------------------------------------------------------

    def _import_manufacturers(self, row: Row) -> None:
        self._unique("manufacturers", row, "name")
        self._slug("manufacturers", row)

    def _import_sites(self, row: Row) -> None:
        self._slug("sites", row)

    def _import_device_roles(self, row: Row) -> None:
        self._unique("device-roles", row, "name")
        self._slug("device-roles", row)

    def _slug(self, kind: str, row: Row) -> None:
        self._refuse([] if re.fullmatch(r"[-a-zA-Z0-9_]+", row["slug"]) else row["slug"], f"{kind}: slug")
        self._unique(kind, row, "slug")

    def _import_racks(self, row: Row) -> None:
        self._find("sites", name=row["site"])
        self._unique("racks", row, "site", "name")
        self._refuse([] if 1 <= int(row["u_height"]) <= 100 and row["width"] else row, "racks: height")

    def _import_device_types(self, row: Row) -> None:
        self._find("manufacturers", name=row["manufacturer"])
        self._unique("device-types", row, "manufacturer", "model")
        self._slug("device-types", row)
        self._refuse(float(row["u_height"]) % 0.5, "device-types: height")

    def _import_devices(self, row: Row) -> None:
        self._find("device-roles", name=row["role"])
        self._find("sites", name=row["site"])
        kind = self._find("device-types", manufacturer=row["manufacturer"], model=row["device_type"])
        self._refuse(row["name"] if row["name"].lower() in self._device_names() else "", "devices: exists")
        if not row.get("rack"):
            self._refuse(row.get("position") or row.get("face"), "devices: a place without a rack")
            return
        rack = self._find("racks", name=row["rack"])
        self._refuse("" if row["position"] or not float(kind["u_height"]) else row, "devices: no position")
        if row["position"]:
            self._place(row, float(kind["u_height"]), int(rack["u_height"]))

    def _device_names(self) -> set[str]:
        return {row["name"].lower() for row in self.rows["devices"]}

    def _place(self, row: Row, height: float, units: int) -> None:
        self._refuse("" if row["face"] and height else row, "devices: a position without face or height")
        halves = {(row["rack"], float(row["position"]) + half / 2) for half in range(round(height * 2))}
        self._refuse([one for one in halves if not 1 <= one[1] < units + 1], "devices: outside of the rack")
        self._refuse(halves & self.taken, "devices: occupied")
        self.taken |= halves

    # -- interfaces and cables ------------------------------------------------------------------------------------

    def _import_interfaces(self, row: Row) -> None:
        key = row["device"], row["name"]
        if not self.interfaces:
            self.names = {one["name"] for one in self.rows["devices"]}
        self._refuse("" if row["device"] in self.names else row, "interfaces: device")
        self._refuse(key if key in self.interfaces else "", "interfaces: exists")
        allowed = INTERFACE_TYPES[self.version]
        self._refuse("" if row["type"] in allowed else row["type"], "interfaces: type")
        if row["speed"]:
            self._refuse("" if int(row["speed"]) > 0 else row, "interfaces: speed")
        if row.get("channel_id") or row["type"] == "channel":
            parent = self.interfaces.get((row["device"], row["parent"]))
            good = parent is not None and 1 <= int(row["channel_id"]) <= int(parent["channels"])
            again = any(
                one["parent"] == row["parent"] and one["channel_id"] == row["channel_id"]
                for one in self._of_parent(row["device"], row["parent"])
            )
            self._refuse("" if good and not again and not row["channels"] else row, "interfaces: channel")
            self.children.setdefault((row["device"], row["parent"]), []).append(row)
        else:
            self._refuse(row.get("parent"), "interfaces: a parent of what is no channel")
        self.interfaces[key] = row

    @property
    def children(self) -> dict[Port, list[Row]]:
        """Channels by their parents."""
        return self.__dict__.setdefault("_children", {})

    def _of_parent(self, device: str, parent: str) -> list[Row]:
        return self.children.get((device, parent), [])

    def _import_inventory_items(self, row: Row) -> None:
        self._find("manufacturers", name=row["manufacturer"])
        again = any(
            (one["device"], one["name"]) == (row["device"], row["name"]) for one in self.rows["inventory-items"]
        )
        self._refuse(row if again else "", "inventory-items: exists")
        known = (row["device"], row["component_name"]) in self.interfaces
        self._refuse("" if known else row, "inventory-items: interface")

    def _import_rear_ports(self, row: Row) -> None:
        key = row["device"], row["name"]
        self._refuse(key if key in self.rears or not 1 <= int(row["positions"]) <= 1024 else "", "rear-ports: exists")
        self._find("devices", name=row["device"])
        self.rears[key] = row

    def _import_front_ports(self, row: Row) -> None:
        """As ``FrontPortImportForm.clean``: a position that the rear port has, and no other front port there."""
        key, rear = (row["device"], row["name"]), self.rears.get((row["device"], row["rear_port"]))
        position = row["device"], row["rear_port"], int(row["rear_port_position"])
        good = rear is not None and 1 <= position[2] <= int(rear["positions"]) and position not in self.mapped
        self._refuse("" if good and key not in self.fronts else row, "front-ports: rear port")
        self.fronts[key], self.mapped[position] = row, row["name"]

    def _import_cables(self, row: Row) -> None:
        number = len(self.rows["cables"])
        sides = [self._side(row[f"side_{side}_device"], row[f"side_{side}_name"]) for side in "ab"]
        types = [row["side_a_type"], row["side_b_type"]]
        for type_, ports in zip(types, sides, strict=True):
            objects = {"dcim.interface": self.interfaces, "dcim.frontport": self.fronts, "dcim.rearport": self.rears}
            for port in ports:
                found = objects[type_].get(port)
                self._refuse("" if found else port, f"cables: no {type_}")
                assert found is not None
                self._refuse(port if found["type"] in NOT_CONNECTABLE else "", "cables: not connectable")
                self._refuse(port if (type_, port) in self.cabled else "", "cables: connected already")
                self.cabled[type_, port] = number
        self._refuse("" if bool(row["length"]) == bool(row["length_unit"]) else row, "cables: unit")
        profile = row.get("profile", "")
        if types == ["dcim.interface"] * 2:
            self._trace(profile, *sides)
        elif types == ["dcim.rearport"] * 2:
            ((near,), (far,)) = sides
            positions = {int(self.rears[rear]["positions"]) for rear in (near, far)}
            # a position that the profile has not leads nowhere
            goes = not profile or (profile.startswith("single-") and max(positions) <= PROFILES[profile][2])
            self._refuse("" if goes and len(positions) == 1 else row, "cables: profile of a trunk")
            self.behind |= {near: far, far: near}
        elif types == ["dcim.interface", "dcim.frontport"]:
            self.at_front |= {front: port for port, front in self._pairs(profile, *sides)}
        else:
            self._refuse("" if types == ["dcim.rearport", "dcim.interface"] else types, "cables: types")
            (rear,) = sides[0]
            _, _, positions = PROFILES[profile] if profile else (1, 1, 1)
            at_far = self._positions(sides[1][0], positions)
            self.at_rear |= {(*rear, position): port for position, port in at_far.items()}

    def _side(self, device: str, names: str) -> list[Port]:
        if self.version < "4.7":
            return [(device, names)]
        interfaces, devices = names.split(","), device.split(",")
        devices = devices * len(interfaces) if len(devices) == 1 else devices
        self._refuse("" if len(devices) == len(interfaces) else device, "cables: lists of different lengths")
        return list(zip(devices, interfaces, strict=True))

    def _trace(self, profile: str, near: list[Port], far: list[Port]) -> None:
        """Find what each position of a connector leads to; without a profile, every port leads to all opposite.

        A NetBox v4.7.0-beta1 with such a cable in it showed that: the order of the lists joins nothing.
        """
        self.traced |= self._pairs(profile, near, far)

    def _pairs(self, profile: str, near: list[Port], far: list[Port]) -> set[tuple[Port, Port]]:
        if not profile:
            return set(product(near, far))
        most_near, most_far, positions = PROFILES[profile]
        self._refuse(near if len(near) > most_near else "", f"cables: {profile}")
        self._refuse(far if len(far) > most_far else "", f"cables: {profile}")
        at_near = self._positions(near[0], positions)
        at_far = self._positions(far[0], positions) if most_far == 1 else dict(enumerate(far, start=1))
        return {(at_near[one], at_far[one]) for one in at_near.keys() & at_far.keys()}

    def _positions(self, port: Port, count: int) -> dict[int, Port]:
        if count == 1:
            return {1: port}
        return {int(row["channel_id"]): (row["device"], row["name"]) for row in self._of_parent(*port)}
