"""Names of a case that are confusable with each other or with names that fabopt gives.

Devices are called after what a case names: ``server-0001``, ``compute-leaf-001``, ``compute-p2-r8-spine-001``,
``compute-gateways``, ``compute-storage-01``. Programs that read exports compare such names without regard to capital
letters, and replace every separator by one; so names that differ in these alone are alike. The characters of a name are
limited by ``fabopt.schema.base``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fabopt.errors import Fault, fault
from fabopt.problem.hosts import host_of
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Case

# Of a device (NetBox, ``Device.name``), and what is kept of that for plane, rail, tier and number of a switch.
LONGEST_DEVICE = 64
_SWITCH_SUFFIX = len("-p123-r123-spine-12345")
LONGEST_FABRIC = LONGEST_DEVICE - _SWITCH_SUFFIX
# Digits of a number of an attachment's device.
_FEWEST_DIGITS = 2
ROLES = ("server", "leaf", "spine", "core", "attachment")
_SEPARATORS = re.compile(r"[ ._-]+")
_SERVER = re.compile(r"server-[0-9]+")
_SWITCH = re.compile(r"(.+)-(?:leaf|spine|core)-[0-9]+")
_NUMBERED = re.compile(r"(.+)-[0-9]+")
_PLANE, _RAIL = re.compile(r"-p[0-9]+$"), re.compile(r"-r[0-9]+$")
_DIFFER = "names differ in more than capital letters and separators"
_OTHER = "give it another name"


def alike(name: str) -> str:
    """Return a name in lower case with one kind of separator; confusable names agree in it."""
    return _SEPARATORS.sub("-", name).lower()


def confused_names(case: Case, file: str) -> Iterator[Fault]:
    """Yield a fault for every name of a case that is confusable, or too long for the devices named after it."""
    fabrics = [fabric.name for fabric in case.fabrics]
    yield from _confused_in_list("stages", [one.name for one in case.stages or ()], file)
    yield from _confused_in_list("fabrics", fabrics, file)
    yield from _confused_switches(fabrics, file)
    yield from confused_attachments(case, file)


def _confused_in_list(key: str, names: Sequence[str], file: str) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        first = seen.setdefault(alike(name), index)
        if first != index:
            yield fault(file, f"{key}[{index}].name", f"cannot be told from `{names[first]}`", name, hint=_DIFFER)


def _confused_switches(fabrics: Sequence[str], file: str) -> Iterator[Fault]:
    known = {alike(name): name for name in fabrics}
    for index, name in enumerate(fabrics):
        path, (own, *roots) = f"fabrics[{index}].name", _roots(alike(name))
        other = next((known[root] for root in roots if root in known and root != own), None)
        if other is not None:
            text = f"its switches could be called like those of a plane or rail of `{other}`"
            yield fault(file, path, text, name, hint=_OTHER)
        if len(name) > LONGEST_FABRIC:
            allowed = f"up to {LONGEST_FABRIC} characters, as devices are called after it"
            yield fault(file, path, "the name is too long", name, allowed=allowed)


def _roots(stem: str) -> tuple[str, str, str, str]:
    """Return names of fabrics whose switches may be named by ``stem`` and a tier: the stem first, then without rail and
    plane.
    """
    without = _RAIL.sub("", stem)
    return stem, without, _PLANE.sub("", stem), _PLANE.sub("", without)


# -- attachments ----------------------------------------------------------------------------------------------------


class _Named(NamedTuple):
    """An attachment: its path in the case, and the fabric whose devices it is counted with."""

    path: str
    owner: str
    attachment: Attachment

    @property
    def device(self) -> str:
        """The name of its devices, without numbers."""
        return alike(f"{self.owner}-{self.attachment.name}")

    @property
    def is_numbered(self) -> bool:
        """Whether it is several devices."""
        return self.attachment.devices > 1

    @property
    def length(self) -> int:
        """Characters of its longest device name."""
        digits = max(_FEWEST_DIGITS, len(str(self.attachment.devices)))
        return len(self.device) + self.is_numbered * (1 + digits)


def confused_attachments(case: Case, file: str) -> Iterator[Fault]:
    """Yield a fault for each attachment whose devices' names are other devices', or too long."""
    fabrics = {alike(fabric.name): fabric.name for fabric in case.fabrics}
    earlier = _Earlier()
    for named in _attachments(case):
        name = named.attachment.name
        whose = _of_fabopt(named, fabrics) or earlier.like(named)
        earlier.add(named)
        if whose:
            yield fault(file, named.path, f"its devices would be called like {whose}", name, hint=_OTHER)
        elif alike(name) in ROLES:
            text = "is a word for devices of every fabric"
            yield fault(file, named.path, text, name, hint="say what it is for, as in `storage-nodes`")
        if named.length > LONGEST_DEVICE:
            text = f"the name is too long: its devices are called `{named.owner}-...`, {named.length} characters in all"
            allowed = f"up to {len(name) - named.length + LONGEST_DEVICE} characters"
            yield fault(file, named.path, text, name, allowed=allowed)


def _attachments(case: Case) -> Iterator[_Named]:
    """All attachments, each with the fabric whose switches it is on: its own, or the host of its own."""
    for number, fabric in enumerate(case.fabrics):
        host = host_of(fabric, case) if fabric.separation in ("shared", "logical") else None
        for index, attachment in enumerate(fabric.attachments):
            yield _Named(f"fabrics[{number}].attachments[{index}].name", (host or fabric).name, attachment)


def _of_fabopt(named: _Named, fabrics: dict[str, str]) -> str:
    """Return the owner, in words, of devices of these names among those that fabopt names; empty if none."""
    name = f"{named.device}-1" if named.is_numbered else named.device
    if _SERVER.fullmatch(name):
        return "servers"
    match = _SWITCH.fullmatch(name)
    fabric = next((fabrics[root] for root in _roots(match[1]) if root in fabrics), None) if match else None
    return "" if fabric is None else f"switches of `{fabric}`"


class _Earlier:
    """Earlier attachments by the name of their devices, without numbers."""

    def __init__(self) -> None:
        self.whole: dict[str, _Named] = {}
        self.numbered: dict[str, _Named] = {}
        self.like_numbered: dict[str, _Named] = {}

    def add(self, named: _Named) -> None:
        """Add an attachment."""
        self.whole.setdefault(named.device, named)
        if named.is_numbered:
            self.numbered.setdefault(named.device, named)
        elif match := _NUMBERED.fullmatch(named.device):
            self.like_numbered.setdefault(match[1], named)

    def like(self, named: _Named) -> str:
        """Return in words the earlier attachment with devices of these names; empty if none has."""
        match = None if named.is_numbered else _NUMBERED.fullmatch(named.device)
        earlier = self.whole.get(named.device) or (self.numbered.get(match[1]) if match else None)
        earlier = earlier or (self.like_numbered.get(named.device) if named.is_numbered else None)
        return "" if earlier is None else f"those of `{earlier.attachment.name}` of `{earlier.owner}`"
