"""The site of a case: its floor plan, or flat distances."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from fabopt.schema.attachment import RackId, is_open
from fabopt.schema.base import Count, Metres, Strict
from fabopt.schema.labour import Labour
from fabopt.schema.rack_rules import RackIds, RackRules
from fabopt.units import exact

# -- how far links run where a case says it, by kind ------------------------------------------------------------------


class Distances(Strict):
    """Lengths of links in metres, where no floor is given; those left out follow from the size of the groups.

    Attributes:
        server_leaf: From servers to leaves.
        leaf_spine: From leaves to spines; also within a group of a dragonfly, and along a dimension of a torus or
            HyperX.
        spine_core: From spines to cores; also between groups of a dragonfly.
        leaf_leaf: Of peer links between two leaves. Null is as `server-leaf`, but no farther than between racks side
            by side.
        attachment_leaf: From attached devices to leaves. Null is as a given `server-leaf`.
        attachment_spine: From attached devices to spines. Null is the longer of `attachment-leaf` and a given
            `leaf-spine`.
    """

    server_leaf: Annotated[Metres | None, Field(alias="server-leaf")] = None
    leaf_spine: Annotated[Metres | None, Field(alias="leaf-spine")] = None
    spine_core: Annotated[Metres | None, Field(alias="spine-core")] = None
    leaf_leaf: Annotated[Metres | None, Field(alias="leaf-leaf", exclude_if=is_open)] = None
    attachment_leaf: Annotated[Metres | None, Field(alias="attachment-leaf")] = None
    attachment_spine: Annotated[Metres | None, Field(alias="attachment-spine", exclude_if=is_open)] = None


# -- the site of a case -----------------------------------------------------------------------------------------------


NetworkRacks = Literal["any", "middle", "end", "row"]
# The largest halls have some thousands of racks; the tables of a floor grow with the square of the crossings.
MAX_ROWS = 1000
MAX_RACKS_PER_ROW = 1000
MAX_RACKS = 20_000
MAX_CROSSINGS = 4000
RackSide = Annotated[float, Field(ge=0.1, le=10)]
Length = Annotated[float, Field(ge=0, le=100)]
CrossSection = Annotated[float, Field(gt=0, le=10_000)] | None
FillShare = Annotated[float, Field(gt=0, le=1)] | None
CrossPosition = Annotated[int, Field(ge=0, le=MAX_RACKS_PER_ROW)]


class Floor(Strict):
    """A hall of equal racks in parallel rows, with cable trays above them.

    A rack is named by the letters of its row and its number, ``A01``. What depends on several keys (ids, positions,
    what fits a rack) is checked where the server is known too.

    Attributes:
        rows: Rows of racks.
        racks_per_row: Racks in each row; at most 20,000 in all.
        rack_pitch_m: Metres from the middle of a rack to that of the next in its row.
        rack_depth_m: Depth of a rack, in metres.
        aisle_m: Width of the aisles between rows, in metres; one number, or one for each aisle in order.
        rack_units: Units of a rack.
        rack_power_w: Power that a rack can be given by one of its feeds alone, in watts. Null is no limit.
        breaker_share: Share of `rack_power_w` that may be in use for long, where that is the rating of a breaker. Null
            is all of it.
        rack_air_w: Heat that the air takes out of a rack, in watts. Null is no limit.
        row_air_w: Heat that the air takes out of the racks of a row, in watts. Null is no limit.
        rack_kg: Weight that a rack carries, in kilograms. Null is no limit.
        floor_kg_m2: Weight that the floor carries under the base of a rack, in kilograms for a square metre. Null is no
            limit.
        air_dt_k: By how much air warms on its way through a rack, in kelvins. Null is 11.1.
        tray_height_m: Height of the cable trays above the floor, in metres.
        drop_m: Metres of cable added each time it goes between a tray and a rack.
        slack_m: Metres added to every cable.
        tray_width_mm: Width of every tray, in millimetres.
        tray_depth_mm: Depth of every tray that cables may fill, in millimetres.
        tray_fill: Most of a tray's cross-section that cables may fill, by their outer diameters. Null is no limit.
        manager_width_mm: Width of the vertical cable manager at each side of a rack, in millimetres.
        manager_depth_mm: Depth of these managers, in millimetres.
        manager_fill: Most of both managers of a rack that cables may fill. Null is no limit.
        cross_trays: Positions in the rows where trays cross them; 0 is before the first rack. Null is both ends.
        blocked: Racks that are not there, such as a column; the tray of the row is cut.
        reserved: Racks that are somebody else's; the tray of the row passes.
        network_racks: Where racks of switches are; `any`, in the `middle` or at the `end` of rows, in a `row` of their
            own, or a list of racks.
        server_racks: Racks for servers, filled in this order; no others have any. Null is any rack.
    """

    rows: Annotated[int, Field(ge=1, le=MAX_ROWS)]
    racks_per_row: Annotated[int, Field(ge=1, le=MAX_RACKS_PER_ROW)]
    rack_pitch_m: RackSide = 0.6
    rack_depth_m: RackSide = 1.2
    aisle_m: Length | tuple[Length, ...] = 1.2
    rack_units: Annotated[int, Field(ge=1, le=100)] = 48
    rack_power_w: Annotated[float, Field(gt=0, le=1e7)] | None = None
    breaker_share: Annotated[float | None, Field(gt=0, le=1, exclude_if=is_open)] = None
    rack_air_w: Annotated[float | None, Field(gt=0, le=1e7, exclude_if=is_open)] = None
    row_air_w: Annotated[float | None, Field(gt=0, le=1e9, exclude_if=is_open)] = None
    rack_kg: Annotated[float | None, Field(gt=0, le=1e5, exclude_if=is_open)] = None
    floor_kg_m2: Annotated[float | None, Field(gt=0, le=1e5, exclude_if=is_open)] = None
    air_dt_k: Annotated[float | None, Field(ge=1, le=100, exclude_if=is_open)] = None
    tray_height_m: Annotated[float, Field(gt=0, le=100)] = 2.6
    drop_m: Length = 0.3
    slack_m: Length = 0.5
    tray_width_mm: Annotated[CrossSection, Field(exclude_if=is_open)] = None
    tray_depth_mm: Annotated[CrossSection, Field(exclude_if=is_open)] = None
    tray_fill: Annotated[FillShare, Field(exclude_if=is_open)] = None
    manager_width_mm: Annotated[CrossSection, Field(exclude_if=is_open)] = None
    manager_depth_mm: Annotated[CrossSection, Field(exclude_if=is_open)] = None
    manager_fill: Annotated[FillShare, Field(exclude_if=is_open)] = None
    cross_trays: Annotated[tuple[CrossPosition, ...], Field(min_length=1)] | None = None
    blocked: tuple[RackId, ...] = ()
    reserved: tuple[RackId, ...] = ()
    network_racks: NetworkRacks | RackIds = "any"
    server_racks: Annotated[RackIds | None, Field(exclude_if=is_open)] = None

    @property
    def named_racks(self) -> tuple[str, ...]:
        """Ids of the racks that it names for servers, and for switches of any tier."""
        for_switches = self.network_racks if isinstance(self.network_racks, tuple) else ()
        return (*(self.server_racks or ()), *for_switches)

    @property
    def usable_power_w(self) -> float | None:
        """What a feed gives a rack for long: of a breaker's rating its share; None: no limit."""
        if self.rack_power_w is None or self.breaker_share is None:
            return self.rack_power_w
        return float(exact(self.rack_power_w) * exact(self.breaker_share))

    @property
    def limits_power(self) -> bool:
        """Whether it limits power, or the heat that comes of it, in racks or rows."""
        return any(limit is not None for limit in (self.rack_power_w, self.rack_air_w, self.row_air_w))

    @property
    def cross_positions(self) -> tuple[int, ...]:
        """Where trays cross the rows, in order: 0 is before a row's first rack; both ends if nothing is given."""
        return tuple(sorted({0, self.racks_per_row} if self.cross_trays is None else self.cross_trays))

    @property
    def aisles_m(self) -> tuple[float, ...]:
        """The widths between the rows, one fewer than rows."""
        return self.aisle_m if isinstance(self.aisle_m, tuple) else (self.aisle_m,) * (self.rows - 1)

    @property
    def sections(self) -> dict[str, tuple[float | None, float | None, float | None]]:
        """Width and depth in millimetres, and the most that is filled, of trays and of managers at a side of a rack."""
        return {
            "tray": (self.tray_width_mm, self.tray_depth_mm, self.tray_fill),
            "manager": (self.manager_width_mm, self.manager_depth_mm, self.manager_fill),
        }

    @model_validator(mode="after")
    def _filled_sections_are_known(self) -> Self:
        open_ = [
            f"`{what}_fill: {fill:g}` is a share of a section that is not known: give `{what}_width_mm` and "
            f"`{what}_depth_mm`, or leave it out"
            for what, (width, depth, fill) in self.sections.items() if fill is not None and None in (width, depth)
        ]  # fmt: skip
        if open_:
            raise ValueError("; ".join(open_))
        return self

    @model_validator(mode="after")
    def _tables_fit_memory(self) -> Self:
        if self.rows * self.racks_per_row > MAX_RACKS:
            raise ValueError(f"{self.rows} rows of {self.racks_per_row} are more than {MAX_RACKS:,} racks")
        crossings = self.rows * len(self.cross_positions)
        if crossings > MAX_CROSSINGS:
            raise ValueError(
                f"cross trays meet the rows at {crossings:,} points; at most {MAX_CROSSINGS:,} are allowed"
            )
        return self


def _none(margin_db: object) -> bool:
    return margin_db == 0


class Site(Strict):
    """Where things stand, on a floor or at flat distances.

    Attributes:
        distances_m: Lengths of links in metres, by kind, where no floor is given.
        floor: The plan of the hall; runs of cables are then measured on it.
        servers_per_rack: Servers in a rack. Null with a floor is the most that fit beside what `rack_rules` keep.
        rack_rules: What is kept in every rack, such as room for cable managers, and the most switches.
        optical_margin_db: Loss that every optical link keeps below the budget of its standard, in dB.
        labour: What the crew that installs everything costs. Null counts no labour.
    """

    distances_m: Distances | None = None
    floor: Floor | None = None
    servers_per_rack: Count | None = None
    rack_rules: RackRules = RackRules()
    optical_margin_db: Annotated[float, Field(ge=0, le=100, exclude_if=_none)] = 0.0
    labour: Annotated[Labour | None, Field(exclude_if=is_open)] = None

    @model_serializer(mode="wrap")
    def _without_the_usual(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        if self.rack_rules == RackRules():
            content.pop("rack_rules", None)
        return content

    @property
    def says_servers_per_rack(self) -> bool:
        """Whether it is known how many servers a rack has, from here or from the floor."""
        return self.servers_per_rack is not None or self.has_floor

    @property
    def racks_look_at(self) -> tuple[str, ...]:
        """Keys of switches that racks look at beside power and height; none without a floor."""
        floor = self.floor
        if not floor:
            return ()
        asked = {
            "weight_kg": floor.rack_kg is not None or floor.floor_kg_m2 is not None,
            "liquid_share": floor.rack_air_w is not None or floor.row_air_w is not None,
        }
        return ("power_max_w", "airflows", *(key for key, is_asked in asked.items() if is_asked))

    @property
    def has_floor(self) -> bool:
        """Whether things stand on a floor, not at flat distances."""
        return self.floor is not None
