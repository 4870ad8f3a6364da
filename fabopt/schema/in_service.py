"""What is in service, which a case goes on from: the key ``base``."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from fabopt.schema.base import Money, Reference, Strict, is_empty, is_open
from fabopt.units import ceil_div, summed

# The first stage of a case with a base.
IN_SERVICE = "in-service"


# What may be kept from moving: devices, then cables by the kind of their links.
DeviceKind = Literal["nic", "leaf", "spine", "core"]
CableKind = Literal["server-leaf", "leaf-spine", "spine-core", "attachment-leaf", "attachment-spine", "leaf-leaf"]
CABLE_KINDS: tuple[CableKind, ...] = get_args(CableKind)


class MovePrices(Strict):
    """What it costs to move what is in service, or to take it out; what is left out never moves.

    Attributes:
        cable: Cost of moving or taking out one cable, in US dollars; null is never.
        device: Cost of giving a switch or NIC another role, or of taking it out, in US dollars; null is never.
    """

    cable: Money | None = None
    device: Money | None = None


class FabricMoves(Strict):
    """What of a fabric in service moves or is taken out, counted in the wiring of both.

    Attributes:
        stay: Kinds of links that keep cables in service where they are, port by port.
        cables: Cables in service that move or are taken out, by kind of their links.
        devices: Devices in service that change their role or are taken out, by what they are.
    """

    stay: tuple[CableKind, ...] = ()
    cables: dict[CableKind, int] = {}
    devices: dict[DeviceKind, int] = {}

    @property
    def numbers(self) -> tuple[int, int]:
        """Cables and devices."""
        return sum(self.cables.values()), sum(self.devices.values())


class LiveFile(Strict):
    """The file of what is in service.

    Attributes:
        file: Path of the design that is in service, at its last stage, or as `FILE@stage` at an earlier one; or of the
            plan that it is run by, at the plan's stage.
        found: Path of a table of all its cables as they were found, which stand for those of the file.
        found_sha256: SHA-256 of that table; filled in when it is read.
        found_cables: What the table says; filled in when it is read.
        sha256: SHA-256 of that file; filled in when it is read.
        design: What the design says; filled in when it is read.
        plan: What the plan says, if the file is one; filled in when it is read.
    """

    file: Reference
    found: Annotated[Reference | None, Field(exclude_if=is_open)] = None
    found_sha256: Annotated[str | None, Field(exclude_if=is_open)] = None
    found_cables: Annotated[str | None, Field(exclude_if=is_open)] = None
    sha256: Annotated[str | None, Field(exclude_if=is_open)] = None
    design: Annotated[dict[str, Any] | None, Field(exclude_if=is_open)] = None
    plan: Annotated[dict[str, Any] | None, Field(exclude_if=is_open)] = None

    @property
    def stage(self) -> int:
        """The stage of the design that is in service, from 0."""
        names = [stage["name"] for stage in (self.design or {}).get("stages", ())]
        said = self.file.rpartition("@")[2] if self.plan is None else self.plan["stage"]
        return names.index(said) if said in names else len(names) - 1

    @property
    def gpus(self) -> int:
        """GPUs in service."""
        return self._number("gpus")

    @property
    def servers(self) -> int:
        """Servers in service."""
        return self._number("servers")

    @property
    def server_units(self) -> dict[str, int]:
        """What is sold as servers, by id: those in service, whether the bill of the file has them or not."""
        server = str((self.design or {}).get("case", {}).get("content", {}).get("server", ""))
        rack = (self.design or {}).get("parts", {}).get(server, {}).get("rack") or {}
        return {server: ceil_div(self.servers, rack.get("servers", 1))} if self.servers else {}

    def attached(self, fabric: str) -> dict[str, int]:
        """Ports in service of every attachment of a fabric, those that are counted among them."""
        fabrics = (self.design or {}).get("case", {}).get("content", {}).get("fabrics", ())
        there = (one for own in fabrics if own["name"] == fabric for one in own["attachments"])
        return {one["name"]: sum((one["adds"] or [one["ports"]])[: self.stage + 1]) for one in there}

    def _number(self, key: str) -> int:
        stages = (self.design or {}).get("stages", ())
        return int(stages[self.stage][key]) if stages else 0


class JoinedSwitches(Strict):
    """Spines or cores in service that a fabric joins, all alike, and what every one of them has free.

    Attributes:
        fabric: Name of the fabric, here and in service.
        role: Tier of the switches, the top one.
        id: Id of the switch.
        planes: Planes of the fabric.
        per_plane: Switches of each plane.
        groups: Core groups of each plane; 1 of spines.
        cages: Free cages of each group.
        ports: Most ports that these cages may be split into, all together.
    """

    fabric: str
    role: Literal["leaf", "spine", "core"] = "spine"
    id: str
    planes: int
    per_plane: int
    groups: int = 1
    cages: tuple[int, ...]
    ports: int


class Joins(LiveFile):
    """What is in service beside a pod: fabrics of its name have the pod's leaves on free ports of their spines.

    Attributes:
        switches: The spines or cores that are joined; filled in when it is read.
    """

    like = LiveFile

    switches: Annotated[tuple[JoinedSwitches, ...], Field(exclude_if=is_empty)] = ()

    @property
    def owned(self) -> dict[str, int | dict[float, int]]:
        """Switches in service that a design counts, by id."""
        return dict(summed((one.id, one.planes * one.per_plane) for one in self.switches))

    @property
    def tiers(self) -> set[tuple[str, str]]:
        """The tiers that are joined, by fabric and role."""
        return {(one.fabric, one.role) for one in self.switches}

    def of(self, fabric: str) -> JoinedSwitches | None:
        """The switches that a fabric joins; None where all of it is its own."""
        return next((one for one in self.switches if one.fabric == fabric), None)


class Base(LiveFile):
    """What is in service: its devices, cables, ports and names are no cost, and stay unless moving them pays.

    Attributes:
        move: What moving it costs; null is that nothing moves.
        keep: Kinds of devices and cables that never move, whatever `move` says.
    """

    like = LiveFile

    move: Annotated[MovePrices | None, Field(exclude_if=is_open)] = None
    keep: Annotated[tuple[DeviceKind | CableKind, ...], Field(exclude_if=is_empty)] = ()

    @property
    def holds(self) -> bool:
        """Whether there are devices or cables that never move."""
        move = self.move or MovePrices()
        return bool(self.keep) or move.cable is None or move.device is None

    def may_move(self, kind: DeviceKind | CableKind) -> bool:
        """Whether devices or cables of a kind may move or be taken out."""
        move = self.move or MovePrices()
        price = move.cable if kind in CABLE_KINDS else move.device
        return price is not None and kind not in self.keep

    @property
    def attachments_in_racks(self) -> set[str]:
        """Names of the attachments whose devices the design has in racks."""
        fabrics = (self.design or {}).get("fabrics", ())
        return {name for one in fabrics for name in (one.get("placement") or {}).get("attachments", {})}

    @property
    def _rows(self) -> list[dict[str, Any]]:
        """Lines of the bill of parts in service."""
        there = [stage["name"] for stage in (self.design or {}).get("stages", ())][: self.stage + 1]
        rows = (self.design or {}).get("bom", ())
        return [row for row in rows if row["kind"] != "other" and row["stage"] in there]

    @property
    def in_use(self) -> Counter[tuple[str, str, float | None]]:
        """Units of parts in service by fabric, id and length in metres, without spares."""
        units: Counter[tuple[str, str, float | None]] = Counter()
        for row in self._rows:
            units[row["fabric"], row["id"], row.get("length_m")] += row["in_use"]
        return units

    @property
    def owned(self) -> dict[str, int | dict[float, int]]:
        """Units of parts in service with their spares, by id, and by length in metres of what is sold by length."""
        units: Counter[tuple[str, float | None]] = Counter()
        for row in self._rows:
            units[row["id"], row.get("length_m")] += row["in_use"] + row.get("spares", 0)
        parts: dict[str, int | dict[float, int]] = {}
        for (part, length_m), count in units.items():
            lengths = parts.setdefault(part, {} if length_m is not None else count)
            if isinstance(lengths, dict) and length_m is not None:
                lengths[float(length_m)] = count
        return parts


def live_in(content: Mapping[str, Any]) -> Base | Joins | None:
    """What the content of a case has in service, which it goes on from or joins."""
    if content.get("base"):
        return Base.model_validate(content["base"], strict=False)
    return Joins.model_validate(content["joins"], strict=False) if content.get("joins") else None
