"""A design made by hand, as its file has it: devices, links with their cables, modules, or only numbers of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Role = Literal["server", "attachment", "leaf", "spine", "core", ""]
SWITCH_ROLES = ("leaf", "spine", "core")


class HandDevice(NamedTuple):
    """A device as its file has it. ``role``, ``product``, ``rack``: empty where the file does not say.

    ``is_host``: whether the file says that it is no switch; None where it does not say.
    """

    role: Role = ""
    product: str = ""
    rack: str = ""
    is_host: bool | None = None


class HandCable(NamedTuple):
    """What a file says of a cable beside its ends; empty, or None, where it says nothing.

    ``optics``: of the modules at both ends of the link, as named there. Lengths in metres.
    """

    label: str = ""
    part: str = ""
    medium: str = ""
    length_m: float | None = None
    run_m: float | None = None
    optics: tuple[str, str] = ("", "")


NO_CABLE = HandCable()


class HandLink(NamedTuple):
    """A link, ends in the file's order. ``line``: where it is in the file, from 1."""

    line: int
    a: str
    a_port: str
    b: str
    b_port: str
    cable: HandCable = NO_CABLE


class HandModule(NamedTuple):
    """A transceiver in a device, at a port."""

    device: str
    part: str
    port: str


class CountedPart(NamedTuple):
    """A line of a bill: a product as it is named there, its length where it has one, and how many."""

    line: int
    name: str
    quantity: int
    length_m: float | None = None
    spares: int = 0


@dataclass(frozen=True)
class HandCounts:
    """Numbers of a design: ``numbers`` by what they count (``servers``, ``leaf``, ``leaf_spine``, ...), and a bill.

    ``claimed``: oversubscription that it says it has; ``products``: names by role (``server``, ``switch``, ``leaf``).
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    parts: Sequence[CountedPart] = ()
    claimed: float | None = None
    products: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HandMade:
    """What a file says. ``counts`` is None where it has links.

    devices     by name; those that only links name are in it too
    half        lines of cables of which an end is missing
    modules     None where the file does not list them
    panel_ports by panel and front port: the rear port that it goes through to, and its position there
    notes       sentences on how it was read
    """

    file: str
    kind: str
    devices: Mapping[str, HandDevice] = field(default_factory=dict)
    links: Sequence[HandLink] = ()
    half: Sequence[int] = ()
    modules: Sequence[HandModule] | None = None
    counts: HandCounts | None = None
    panel_ports: Mapping[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
