"""The site of a case: its floor plan, or flat distances."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Count, Metres, Strict
from fabopt.schema.floor import Campus, CampusHall, Floor, Route
from fabopt.schema.labour import Labour
from fabopt.schema.rack_rules import RackRules

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


def _none(margin_db: object) -> bool:
    return margin_db == 0


def _no_items(items: object) -> bool:
    return not items


class Site(Strict):
    """Where things stand, on a floor or at flat distances.

    Attributes:
        distances_m: Lengths of links in metres, by kind, where no floor is given.
        floor: The plan of the hall; runs of cables are then measured on it.
        halls: Plans of several halls, in place of `floor`.
        routes: Ways for cables between halls.
        servers_per_rack: Servers in a rack. Null with a floor is the most that fit beside what `rack_rules` keep.
        rack_rules: What is kept in every rack, such as room for cable managers, and the most switches.
        optical_margin_db: Loss that every optical link keeps below the budget of its standard, in dB.
        labour: What the crew that installs everything costs. Null counts no labour.
    """

    distances_m: Distances | None = None
    floor: Floor | None = None
    halls: Annotated[tuple[CampusHall, ...], Field(exclude_if=_no_items)] = ()
    routes: Annotated[tuple[Route, ...], Field(exclude_if=_no_items)] = ()
    servers_per_rack: Count | None = None
    rack_rules: RackRules = RackRules()
    optical_margin_db: Annotated[float, Field(ge=0, le=100, exclude_if=_none)] = 0.0
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
        if self.routes and not self.halls:
            raise ValueError("`routes` join `halls`, and there are none")
        if self.halls:
            if self.floor:
                raise ValueError("give either `floor`, of one hall, or `halls`: each of them has a plan of its own")
            self.__dict__["floor"] = Campus.of(self.halls, self.routes)
        return self

    def on(self, floor: Floor) -> Site:
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
        }
        return ("power_max_w", "airflows", *(key for key, is_asked in asked.items() if is_asked))

    @property
    def has_floor(self) -> bool:
        """Whether things stand on a floor, not at flat distances."""
        return self.floor is not None
