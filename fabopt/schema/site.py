"""The site of a case: its floor plan, or flat distances."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from fabopt.schema.base import Count, Metres, Strict, is_as, is_empty, is_open
from fabopt.schema.floor import OF_OUTLETS, Campus, CampusHall, Floor, Route
from fabopt.schema.labour import Labour
from fabopt.schema.rack_rules import RackRules
from fabopt.schema.structured import OF_A_WORD, TRUNKED, CablingOfKinds, CablingWord, ZonesWord

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


# EIA-310-D (IEC 60297-3-100): a rack unit is 1.75 in = 44.45 mm.
UNIT_M = 0.04445


def longest_in_rack_m(floor: Floor, side_m: float, spare_m: float, spare_fraction: float) -> float:
    """A run that no cable within a rack is longer than, in metres, to a nanometre: from its foot to its top."""
    way_m = floor.rack_units * UNIT_M + side_m
    return round(way_m + max(floor.slack_m, spare_m, way_m * spare_fraction), 9)


# -- the site of a case -----------------------------------------------------------------------------------------------


class Site(Strict):
    """Where things stand, on a floor or at flat distances.

    Attributes:
        distances_m: Lengths of links in metres, by kind, where no floor is given.
        floor: The plan of the hall; runs of cables are then measured on it.
        halls: Plans of several halls, in place of `floor`.
        routes: Ways for cables between halls.
        spread: Where fabrics stand in several halls; `any`, or over `halls`, each leaf group and pod in one of them and
            the switches of the highest tier in two.
        servers_per_rack: Servers in a rack. Null with a floor is the most that fit beside what `rack_rules` keep.
        rack_rules: What is kept in every rack, such as room for cable managers, and the most switches.
        optical_margin_db: Loss that every optical link keeps below the budget of its standard, in dB.
        cabling: How switches in two racks are joined, or links of each kind; by `direct` leads, `structured` through
            trunks and panels, or `any`, whichever is cheaper.
        labour: What the crew that installs everything costs. Null counts no labour.
    """

    distances_m: Distances | None = None
    floor: Floor | None = None
    halls: Annotated[tuple[CampusHall, ...], Field(exclude_if=is_empty)] = ()
    routes: Annotated[tuple[Route, ...], Field(exclude_if=is_empty)] = ()
    spread: Annotated[Literal["any", "halls"], Field(exclude_if=is_as("any"))] = "any"
    servers_per_rack: Count | None = None
    rack_rules: RackRules = RackRules()
    optical_margin_db: Annotated[float, Field(ge=0, le=100, exclude_if=is_as(0))] = 0.0
    cabling: Annotated[CablingWord | CablingOfKinds, Field(exclude_if=is_as("direct"))] = "direct"
    labour: Annotated[Labour | None, Field(exclude_if=is_open)] = None

    @model_serializer(mode="wrap")
    def _without_the_usual(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        if self.rack_rules == RackRules():
            content.pop("rack_rules", None)
        if self.halls:
            content.pop("floor", None)
        return content

    @model_validator(mode="after")
    def _halls_are_a_floor(self) -> Self:
        if (self.routes or self.spread == "halls") and not self.halls:
            said = "`routes` join" if self.routes else "`spread: halls` is over"
            raise ValueError(f"{said} `halls`, and there are none")
        if self.halls:
            if self.floor:
                raise ValueError("give either `floor`, of one hall, or `halls`: each of them has a plan of its own")
            self.__dict__["floor"] = Campus.of(self.halls, self.routes)
        return self

    def on(self, floor: Floor) -> Self:
        """The site with another floor."""
        update: dict[str, Any] = {"floor": floor}
        if isinstance(floor, Campus):
            update |= {"halls": floor.halls, "routes": floor.routes}
        return self.model_copy(update=update)

    @property
    def floor_key(self) -> str:
        """The key of its floor, or of all its halls, in words."""
        return "site.halls[*]" if self.halls else "site.floor"

    def floor_changes(self, key: str, value: float | str | None) -> dict[str, float | str | None]:
        """A key of its floor, or of every hall that gives it, with another value, by the dotted keys of a change."""
        if not self.halls:
            return {f"site.floor.{key}": value}
        return {f"site.halls.{hall.name}.{key}": value for hall in self.halls if getattr(hall, key) is not None}

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
            "cords": any(getattr(floor, key) is not None for pair in OF_OUTLETS.items() for key in pair),
        }
        return ("power_max_w", "airflows", *(key for key, is_asked in asked.items() if is_asked))

    @property
    def trunked(self) -> dict[str, CablingWord]:
        """How links of a kind are cabled, by kind; kinds of leads alone are left out."""
        said = self.cabling
        if said == "direct":
            return {}
        words = {kind: said.of(kind) if isinstance(said, CablingOfKinds) else said for kind in TRUNKED}
        of_word = TRUNKED if isinstance(said, CablingOfKinds) else OF_A_WORD
        return {kind: words[kind] for kind in of_word if words[kind] != "direct"}

    @property
    def spare_legs(self) -> float:
        """Legs of trunks kept free, as a share of those in use."""
        return self.cabling.spare_legs if isinstance(self.cabling, CablingOfKinds) else 0.0

    @property
    def zones(self) -> ZonesWord:
        """Where the panels of trunks stand."""
        return self.cabling.zones if isinstance(self.cabling, CablingOfKinds) else "racks"

    def kinds_cabled(
        self, words: Mapping[str, CablingWord] | None = None, zones: ZonesWord | None = None
    ) -> CablingOfKinds:
        """How links are cabled by kind, with other words of its kinds, or panels elsewhere."""
        said = self.trunked if words is None else words
        return CablingOfKinds.model_validate({**said, "spare_legs": self.spare_legs, "zones": zones or self.zones})

    @property
    def has_floor(self) -> bool:
        """Whether things stand on a floor, not at flat distances."""
        return self.floor is not None
