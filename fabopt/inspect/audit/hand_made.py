"""A design made by hand, as in its file: devices, links with cables, modules, or only their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Role = Literal["server", "attachment", "leaf", "spine", "core", ""]
SWITCH_ROLES = ("leaf", "spine", "core")


class HandDevice(NamedTuple):
    """A device of the file. ``role``, ``product``, ``rack``: empty if not stated.

    ``is_host``: whether the file states that it is no switch; None if not stated.
    """

    role: Role = ""
    product: str = ""
    rack: str = ""
    is_host: bool | None = None


class HandCable(NamedTuple):
    """Facts on a cable other than its ends; empty or None if not stated.

    ``optics``: names of the modules at both ends of the link. Lengths in metres.
    """

    label: str = ""
    part: str = ""
    medium: str = ""
    length_m: float | None = None
    run_m: float | None = None
    optics: tuple[str, str] = ("", "")


NO_CABLE = HandCable()


class HandLink(NamedTuple):
    """A link, ends in the file's order. ``line``: of the file, from 1."""

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
    """A line of a bill: the product's name, its length if stated, and its quantity."""

    line: int
    name: str
    quantity: int
    length_m: float | None = None
    spares: int = 0


@dataclass(frozen=True)
class HandCounts:
    """Numbers of a design: ``numbers`` by kind (``servers``, ``leaf``, ``leaf_spine``, ...), and a bill.

    ``claimed``: stated oversubscription; ``products``: names by role (``server``, ``switch``, ``leaf``).
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    parts: Sequence[CountedPart] = ()
    claimed: float | None = None
    products: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HandMade:
    """The content of a file. ``counts`` is None for a file with links.

    devices     by name, devices named only by links among them
    half        lines of cables with a missing end
    modules     None where the file does not list them
    panel_ports by panel and front port: the rear port behind it, and the position there
    notes       sentences on the reading
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
