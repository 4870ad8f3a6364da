"""NetBox's words, release by release: versions, choices, lengths of names.

Source: ``netbox/dcim/choices.py`` and ``netbox/dcim/models`` of NetBox v4.4.10, v4.6.8 and v4.7.0-beta1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fabopt.errors import refusal
from fabopt.output.words import printable
from fabopt.schema.base import parse_split
from fabopt.schema.product import Cage
from fabopt.units import free_name, gbps

PLANNED = "planned"
INTERFACE, FRONT_PORT, REAR_PORT = "dcim.interface", "dcim.frontport", "dcim.rearport"
CHANNEL = "channel"
OTHER = "other"
# Maker of products whose maker the catalog does not name.
NO_VENDOR = "generic"

LONGEST_NAME = 100
LONGEST_DEVICE = 64
LONGEST_COMPONENT = 64
LONGEST_PART_NUMBER = 50
LONGEST_DESCRIPTION = 200
LONGEST_LABEL = 100

# Ports that one connector of a cable may carry (cable profiles single-1cNp), and ends that it may split into
# (breakout-1cNp-Nc1p).
SINGLES = (1, 2, 4, 6, 8, 12, 16)
BREAKOUTS = (2, 4, 6, 8)

_TYPES: dict[str, dict[float, str]] = {
    "rj45": {1: "1000base-t", 2.5: "2.5gbase-t", 5: "5gbase-t", 10: "10gbase-t", 25: "25gbase-t"},
    "sfp": {1: "1000base-x-sfp", 10: "10gbase-x-sfpp", 25: "25gbase-x-sfp28", 50: "50gbase-x-sfp56"},
    "sfp-dd": {100: "100gbase-x-sfpdd"},
    "qsfp": {40: "40gbase-x-qsfpp", 100: "100gbase-x-qsfp28", 200: "200gbase-x-qsfp56", 400: "400gbase-x-qsfp112"},
    "qsfp-dd": {
        100: "100gbase-x-qsfpdd",
        200: "200gbase-x-qsfpdd",
        400: "400gbase-x-qsfpdd",
        800: "800gbase-x-qsfpdd",
        1600: "1.6tbase-x-qsfpdd1600",
    },
    "osfp": {400: "400gbase-x-osfp", 800: "800gbase-x-osfp", 1600: "1.6tbase-x-osfp1600"},
    "osfp-rhs": {400: "400gbase-x-osfp-rhs", 800: "800gbase-x-osfp", 1600: "1.6tbase-x-osfp1600-rhs"},
}
# InfiniBand generations by the speed of a lane and, where that is not known, of the fastest port of a cage.
_BY_LANE = {25: "infiniband-edr", 50: "infiniband-hdr", 100: "infiniband-ndr", 200: "infiniband-xdr"}
_BY_PORT = {100: "infiniband-edr", 200: "infiniband-hdr", 400: "infiniband-ndr", 800: "infiniband-xdr"}
# NetBox knows passive and active copper; the description tells ACC from AEC.
_CABLES = {
    "DAC": "dac-passive",
    "ACC": "dac-active",
    "AEC": "dac-active",
    "AOC": "aoc",
    "smf": "smf-os2",
    "mmf": "mmf",
    "om3": "mmf-om3",
    "om4": "mmf-om4",
    "om5": "mmf-om5",
    "cat6": "cat6",
    "cat6a": "cat6a",
}


@dataclass(frozen=True)
class Version:
    """A NetBox release, with the features that files may use.

    profiles     cables have a profile (4.5 and later)
    channels     an interface can be channelized, and a side of a cable may be a comma list (4.7)
    has_1600g    interface types of 1.6 Tb/s
    """

    name: str
    profiles: bool
    channels: bool
    has_1600g: bool


VERSIONS = {
    version.name: version
    for version in (
        Version("4.4", profiles=False, channels=False, has_1600g=False),
        Version("4.6", profiles=True, channels=False, has_1600g=True),
        Version("4.7", profiles=True, channels=True, has_1600g=True),
    )
}


def version_of(name: str) -> Version:
    """Return a release by its name; ``InputError`` for one that files are not written for."""
    if name not in VERSIONS:
        raise refusal("--netbox", "", "no files for this release", name, allowed=", ".join(VERSIONS))
    return VERSIONS[name]


def interface_type(version: Version, protocol: str, cage: Cage | None, speed_gbps: float) -> str:
    """Return the interface type of a port of ``speed_gbps`` in a cage; ``other`` where NetBox has no word for it.

    ``cage``: None for a cage of unknown kind.
    """
    if protocol == "infiniband":
        lane = cage.lane_gbps if cage is not None else None
        fastest = speed_gbps if cage is None else max(gbps(parse_split(split).port_mbps) for split in cage.splits)
        return _BY_LANE.get(int(lane or 0)) or _BY_PORT.get(int(fastest), OTHER)
    words = OTHER if cage is None else _TYPES.get(_family(cage.form_factor), {}).get(speed_gbps, OTHER)
    return words if version.has_1600g or not words.startswith("1.6t") else OTHER


def _family(form_factor: str) -> str:
    """Return the key of ``_TYPES``: QSFP28, QSFP56 and QSFP112 are one family, told apart by speed."""
    name = form_factor.lower()
    if name.startswith("osfp"):
        return "osfp-rhs" if name.endswith("-rhs") else "osfp"
    name = name.replace("qsfp112-dd", "qsfp-dd")
    return next((family for family in ("qsfp-dd", "qsfp", "sfp-dd", "sfp", "rj45") if name.startswith(family)), name)


def cable_type(medium: str, description: str) -> str:
    """Return the cable type of a medium; empty where NetBox has no word. Of copper the description has the category."""
    if medium == "copper":
        return "cat6a" if "6a" in description.lower() else "cat6" if "cat6" in description.lower() else ""
    return _CABLES.get(medium, "")


def port_type(connector: str) -> str:
    """Return the type of a front or rear port by the connector that goes in; ``other`` where NetBox has no word."""
    return next((word for word in ("mpo", "lc") if connector.lower().startswith(word)), OTHER)


def text(value: object, longest: int = LONGEST_DESCRIPTION) -> str:
    """Return a text as one cell takes it: one line without quotation marks, cut with ``...`` if it is too long.

    A quotation mark in a cell makes NetBox's guess of the CSV dialect go wrong (``csv.Sniffer``).
    """
    line = " ".join(printable(str(value or "")).replace('"', "'").split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def part_number_and_text(number: str, about: str) -> tuple[str, str]:
    """A part number and a description as NetBox takes them: a number that is too long begins the description."""
    if len(number) > LONGEST_PART_NUMBER:
        number, about = "", f"{number}: {about}"
    return number, text(about)


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return a slug for every name, no two alike."""
    words: dict[str, str] = {}
    for name in names:
        base = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[: LONGEST_NAME - 4] or "unnamed"
        words[name] = free_name(base, lambda slug: slug in words.values())
    return words
