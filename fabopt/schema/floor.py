"""The floor plan of a hall, and of several halls with the routes between them."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.attachment import RackId
from fabopt.schema.base import NAME_PATTERN, Count, Metres, Strict, is_empty, is_open
from fabopt.schema.rack_rules import RackIds
from fabopt.units import ceil_div, exact

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
Outlets = Annotated[int | None, Field(ge=0, le=1000, exclude_if=is_open)]
StripName = Annotated[str | None, Field(min_length=1, max_length=80, exclude_if=is_open)]
# Outlets of a rack, and of one without servers.
OF_OUTLETS: Final = {f"outlets_{kind}": f"network_outlets_{kind}" for kind in ("c13", "c15", "c19")}
# Between two rows that are added to a hall of one.
ONE_AISLE_M = 1.2
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
        outlets_c13: Outlets C13 of all power strips of a rack. Null is any number.
        outlets_c15: Outlets C15 of all power strips of a rack. Null is any number.
        outlets_c19: Outlets C19 of all power strips of a rack. Null is any number.
        power_strip: What the power strips of a rack are, such as a part number.
        network_outlets_c13: The same of a rack without servers, where its strips are others. Null is as `outlets_c13`.
        network_outlets_c15: The same of outlets C15. Null is as `outlets_c15`.
        network_outlets_c19: The same of outlets C19. Null is as `outlets_c19`.
        network_power_strip: What the power strips of a rack without servers are. Null is as `power_strip`.
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
    outlets_c13: Outlets = None
    outlets_c15: Outlets = None
    outlets_c19: Outlets = None
    power_strip: StripName = None
    network_outlets_c13: Outlets = None
    network_outlets_c15: Outlets = None
    network_outlets_c19: Outlets = None
    network_power_strip: StripName = None
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
    def parts(self) -> tuple["Floor", ...]:
        """The halls, each by itself; of one hall itself."""
        return (self,)

    @property
    def ways(self) -> tuple["Route", ...]:
        """The routes between halls."""
        return ()

    @property
    def prefix(self) -> str:
        """What the ids of its racks and rows begin with."""
        return ""

    @property
    def alone(self) -> "Floor":
        """A hall as if there were no other."""
        return self

    def part_of(self, rack: str) -> "Floor":
        """The hall of a rack or a row, by its id."""
        return self

    @property
    def without_servers(self) -> Self:
        """The floor with the power strips of racks without servers in all racks."""
        own = {key: getattr(self, of_network) for key, of_network in OF_OUTLETS.items()}
        return self.with_keys({key: value for key, value in own.items() if value is not None})

    def with_keys(self, keys: Mapping[str, float | None]) -> Self:
        """The floor with other values of some keys, in every hall."""
        return self.model_copy(update=dict(keys))

    def with_more_rows(self, rows: int) -> Self:
        """The floor with so many more rows in every hall, behind aisles as wide as the last one."""
        aisles = self.aisle_m
        if isinstance(aisles, tuple):
            aisles = (*aisles, *(aisles[-1:] or (ONE_AISLE_M,)) * rows)
        return self.model_copy(update={"rows": self.rows + rows, "aisle_m": aisles})

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


# -- several halls ----------------------------------------------------------------------------------------------------

HallName = Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9]{0,11}$")]
# Keys of which all halls have the same value, as all racks are equal.
ALIKE: Final = (
    "rack_units", "air_dt_k", "tray_height_m", "drop_m", "slack_m", "tray_width_mm", "tray_depth_mm", "tray_fill",
    "manager_width_mm", "manager_depth_mm", "manager_fill",
)  # fmt: skip
# Limits of which every hall has its own.
OF_A_HALL: Final = (
    "rack_power_w", "breaker_share", "rack_air_w", "row_air_w", "rack_kg", "floor_kg_m2",
    "outlets_c13", "outlets_c15", "outlets_c19",
    "network_outlets_c13", "network_outlets_c15", "network_outlets_c19",
)  # fmt: skip


class CampusHall(Floor):
    """A hall of several: a floor plan with a name, which the ids of its racks begin with, as ``EAST-A01``.

    Racks in its own keys are named without it.

    Attributes:
        name: Name of the hall, a letter and at most eleven more letters and digits.
    """

    name: HallName

    @property
    def prefix(self) -> str:
        """What the ids of its racks and rows begin with."""
        return f"{self.name}-"

    @property
    def alone(self) -> Floor:
        """The hall as if there were no other."""
        return Floor.model_construct(**{key: getattr(self, key) for key in Floor.model_fields})

    def full(self, racks: Sequence[str]) -> tuple[str, ...]:
        """Ids of racks of the hall, with its name."""
        return tuple(f"{self.prefix}{rack}" for rack in racks)


class Route(Strict):
    """A way for cables between two halls, from above a rack of the one to above a rack of the other.

    Attributes:
        between: Names of the two halls.
        m: Metres of cable from exit to exit.
        fibres: Fibres that it has room for. Null is any number.
        duct: Name of what it lies in; routes of the same name are lost together. Null is a duct of its own.
        exits: The racks above which cables leave the two halls, as `A01`. Null is the first rack of each.
        pairs: Racks, the first hall's before the second's, whose cables take it in place of the shortest way.
    """

    between: tuple[HallName, HallName]
    m: Metres
    fibres: Count | None = None
    duct: Annotated[str, Field(pattern=NAME_PATTERN, max_length=40)] | None = None
    exits: tuple[RackId, RackId] | None = None
    pairs: Annotated[tuple[tuple[RackId, RackId], ...], Field(exclude_if=is_empty)] = ()

    @property
    def ends(self) -> tuple[str, str]:
        """Full ids of the racks at both ends."""
        return self.full(self.exits or FIRST_RACKS)

    def full(self, racks: tuple[str, str]) -> tuple[str, str]:
        """Full ids of a rack in each of the two halls."""
        (near, far), (own, other) = self.between, racks
        return f"{near}-{own}", f"{far}-{other}"

    @property
    def full_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of racks whose cables take it, by their full ids."""
        return tuple(map(self.full, self.pairs))

    @property
    def halls(self) -> str:
        """The two halls in words."""
        return " and ".join(self.between)

    @property
    def name(self) -> str:
        """Both ends and the duct: ``EAST-A01 to WEST-A01, north``."""
        return " to ".join(self.ends) + (f", {self.duct}" if self.duct else "")


FIRST_RACKS: Final = ("A01", "A01")


class Campus(Floor):
    """Several halls and the routes between them as one floor; made from ``site.halls``, never written.

    Rows are those of all halls in turn, ``racks_per_row`` the most of any. A limit is the least of any hall.

    Attributes:
        halls: The halls.
        routes: The routes between them.
    """

    halls: tuple[CampusHall, ...]
    routes: tuple[Route, ...]

    @classmethod
    def of(cls, halls: Sequence[CampusHall], routes: Sequence[Route]) -> Self:
        """The floor of some halls."""
        limits = {key: [value for hall in halls if (value := getattr(hall, key)) is not None] for key in OF_A_HALL}
        for_servers = [hall.full(hall.server_racks) for hall in halls if hall.server_racks is not None]
        for_switches = [hall.full(hall.network_racks) for hall in halls if isinstance(hall.network_racks, tuple)]
        return cls.model_construct(
            **{key: getattr(halls[0], key) for key in ALIKE},
            **{key: min(values, default=None) for key, values in limits.items()},
            rows=sum(hall.rows for hall in halls),
            racks_per_row=max(hall.racks_per_row for hall in halls),
            blocked=tuple(rack for hall in halls for rack in hall.full(hall.blocked)),
            reserved=tuple(rack for hall in halls for rack in hall.full(hall.reserved)),
            network_racks=tuple(chain(*for_switches)) or halls[0].network_racks,
            server_racks=tuple(chain(*for_servers)) or None,
            halls=tuple(halls),
            routes=tuple(routes),
        )

    @property
    def parts(self) -> tuple[Floor, ...]:
        """The halls, each by itself."""
        return self.halls

    @property
    def ways(self) -> tuple[Route, ...]:
        """The routes between halls."""
        return self.routes

    def part_of(self, rack: str) -> Floor:
        """The hall of a rack or a row, by its id."""
        return next(hall for hall in self.halls if rack.startswith(hall.prefix))

    @property
    def without_servers(self) -> Self:
        """The floor with the power strips of racks without servers in all racks, by hall."""
        return self.of([hall.without_servers for hall in self.halls], self.routes)

    def with_keys(self, keys: Mapping[str, float | None]) -> Self:
        """The floor with other values of some keys, in every hall."""
        return self.of([hall.with_keys(keys) for hall in self.halls], self.routes)

    def with_more_rows(self, rows: int) -> Self:
        """The floor with so many more rows, spread over the halls."""
        in_a_hall = ceil_div(rows, len(self.halls))
        return self.of([hall.with_more_rows(in_a_hall) for hall in self.halls], self.routes)

    @property
    def usable_power_w(self) -> float | None:
        """What a feed gives a rack of any hall for long; None: no limit."""
        return min((most for hall in self.halls if (most := hall.usable_power_w) is not None), default=None)
