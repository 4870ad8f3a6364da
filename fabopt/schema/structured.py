"""Structured cabling: what a case says of it, and what a design file has of it."""

from collections.abc import Iterator
from string import digits
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_as, is_empty, is_open

CablingWord = Literal["direct", "structured", "any"]
# Where panels stand; in the racks of their devices, at the end of each row, or wherever it is cheaper.
ZonesWord = Literal["racks", "rows", "any"]
StructuredLinks = Literal["server-leaf", "leaf-spine", "spine-core"]
# Kinds of links that trunks may carry, from the servers up, and those of which a plain word speaks.
TRUNKED: Final[tuple[StructuredLinks, ...]] = ("server-leaf", "leaf-spine", "spine-core")
OF_A_WORD: Final[tuple[StructuredLinks, ...]] = ("leaf-spine", "spine-core")


class CablingOfKinds(Strict):
    """How links of each kind are cabled; `direct` where nothing is said.

    Attributes:
        server_leaf: From servers to leaves.
        leaf_spine: From leaves to spines.
        spine_core: From spines to cores.
        spare_legs: Legs of trunks kept free on every route, as a share of those in use.
        zones: Where panels stand; in the `racks` of their devices, in `rows`, for all devices of a row in a rack at its
            end that has nothing else, or, for all kinds alike, `any`, whichever is cheaper.
    """

    of_one: ClassVar[tuple[str, ...] | None] = OF_A_WORD

    server_leaf: Annotated[CablingWord, Field(alias="server-leaf")] = "direct"
    leaf_spine: Annotated[CablingWord, Field(alias="leaf-spine")] = "direct"
    spine_core: Annotated[CablingWord, Field(alias="spine-core")] = "direct"
    spare_legs: Annotated[float, Field(ge=0, le=1)] = 0.0
    zones: Annotated[ZonesWord, Field(exclude_if=is_as("racks"))] = "racks"

    def of(self, kind: str) -> CablingWord:
        """How links of a kind are cabled."""
        word: CablingWord = getattr(self, kind.replace("-", "_"), "direct")
        return word


class TrunkRow(Strict):
    """Equal trunks of a route.

    Attributes:
        id: Id of the trunk.
        length_m: Length, in metres.
        count: Number of trunks.
        stage: Stage that pulls them. Null where there is one stage.
    """

    id: str
    length_m: int | float
    count: int
    stage: Annotated[str | None, Field(exclude_if=is_open)] = None


class TrunkRoute(Strict):
    """Trunks between the panels of two racks.

    Attributes:
        a: One rack.
        b: The other rack, later on the floor.
        links: Links that they carry.
        legs: Legs that these take, with spare ones.
        trunks: The trunks.
    """

    a: str
    b: str
    links: int
    legs: int
    trunks: tuple[TrunkRow, ...]


class PanelPlace(Strict):
    """A panel in a rack.

    Attributes:
        rack: The rack.
        unit: Its lowest unit, kept from the first stage on.
        id: Id of the panel.
        stage: Stage that mounts it. Null where there is one stage.
    """

    rack: str
    unit: int
    id: str
    stage: Annotated[str | None, Field(exclude_if=is_open)] = None


class StructuredKind(Strict):
    """Links of one kind of a fabric that run through panels and trunks wherever their ends are in two zones.

    A link is a module, a jumper, a port of a panel, a leg of a trunk, a port of a panel, a jumper and a module; within
    a zone, a rack or a row, it is one jumper from module to module. The jumper at the near end of a link is its fibre
    among the links. Between cassettes a leg has several links.

    Attributes:
        kind: Kind of links.
        fibre: Kind of fibre, such as `smf`.
        connector: Connector of jumpers, and of the legs of trunks where these do not end in cassettes.
        jumper: Id of the fibre that jumpers are.
        jumper_m: Length of a jumper, in metres.
        far_jumpers: Jumpers at far ends, one for each link between two zones.
        far_by_stage: Those that each stage adds, in the order of stages. Empty where there is one stage.
        routes: Trunks by pair of racks.
        panels: Panels in racks.
        zones: The rack of the panels of every row, at its end. Empty where panels are in the racks of their devices.
    """

    kind: StructuredLinks
    fibre: str
    connector: str
    jumper: str
    jumper_m: int | float
    far_jumpers: int
    far_by_stage: Annotated[tuple[int, ...], Field(exclude_if=is_empty)] = ()
    routes: tuple[TrunkRoute, ...]
    panels: tuple[PanelPlace, ...]
    zones: Annotated[dict[str, str], Field(exclude_if=is_empty)] = {}

    @property
    def trunks(self) -> Iterator[TrunkRow]:
        """The trunks of all routes."""
        return (trunk for route in self.routes for trunk in route.trunks)

    def zone(self, rack: str) -> str:
        """The rack of the panels of the devices in a rack."""
        return self.zones.get(rack.rstrip(digits), rack)
