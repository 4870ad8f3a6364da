"""Fabrics in NetBox: its tables of imports and exports, and replies of its API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from sys import intern
from typing import Any

from fabopt.errors import refusal
from fabopt.inspect.audit.tables import (
    HandCable,
    HandDevice,
    HandLink,
    HandMade,
    HandModule,
    has_both_ends,
    lane_name,
    links_of_table,
    metres_of,
    role_of_words,
)
from fabopt.io.recognition import bare
from fabopt.io.tables import TitledTable
from fabopt.units import some

# Of the position of a rear port.
_MOST_DIGITS = 9
_ALLOWED = (
    "a table of cables with side_a_device, side_a_name, side_b_device, side_b_name, or Device A, Termination A, "
    "Device B, Termination B; or what /api/dcim/cables/ gives"
)


def netbox_of(tables: Mapping[str, str], file: str) -> HandMade:
    """The design in the files of a NetBox import or export, by file name: cables and further tables.

    Devices have roles, types and racks, inventory items the modules, front ports the panels' rear ports; other tables
    are ignored. If cables name devices by ids, the table of devices resolves them.
    """
    reports = {name: text for name, text in tables.items() if text.lstrip()[:1] in ("{", "[")}
    plain = {name: text for name, text in tables.items() if name not in reports}
    parts = [links_of_table(text, name, "netbox") for name, text in plain.items() if _has_cables(text, name)]
    parts += [part for name, text in reports.items() if (part := _of_api(text, name)) is not None]
    if not parts:
        raise refusal(file, "", "there are no cables here", allowed=_ALLOWED)
    devices = {name: device for part in parts for name, device in part.devices.items()}
    modules: list[HandModule] | None = None
    panels: dict[tuple[str, str], tuple[str, int]] = {}
    named: dict[str, str] = {}
    channels: dict[tuple[str, str], str] = {}
    for name, text in plain.items():
        titles = set(_titles(TitledTable(text, name)))
        if {"name", "role"} <= titles and titles & {"devicetype", "type"}:
            devices |= dict(_devices(text, name))
            named |= {row["id"]: row["name"] for row in _dicts(text, name) if row.get("id")}
        elif {"device", "partid", "componentname"} <= titles:
            modules = [*(modules or ()), *_modules(text, name)]
        elif {"device", "name"} <= titles and titles & {"rearport", "mappings"}:
            panels |= dict(_front_ports(text, name))
        elif {"device", "name", "parent", "channelid"} <= titles:
            channels |= dict(_channels(text, name))
    links = [_by_channel(link, channels) for part in parts for link in part.links]
    half = [line for part in parts for line in part.half]
    whole = HandMade(file, "netbox", devices, links, half, modules, panel_ports=panels)
    return _by_name(whole, named)


def _has_cables(text: str, file: str) -> bool:
    titles = _titles(TitledTable(text, file))
    return "sideadevice" in titles or ("terminationa" in titles and has_both_ends(titles))


def _by_name(hand: HandMade, named: Mapping[str, str]) -> HandMade:
    """The design with ids of devices in its cables replaced by names."""
    ends = {end for link in hand.links for end in (link.a, link.b)}
    if not ends or not all(end in named for end in ends) or any(end in named.values() for end in ends):
        return hand
    links = [link._replace(a=intern(named[link.a]), b=intern(named[link.b])) for link in hand.links]
    return replace(
        hand, links=links, devices={name: device for name, device in hand.devices.items() if name not in ends}
    )


def _titles(table: TitledTable) -> list[str]:
    return [bare(title) for title in table.titles]


def _dicts(text: str, file: str) -> Iterator[dict[str, str]]:
    table = TitledTable(text, file)
    yield from (dict(zip(_titles(table), row, strict=True)) for _, row in table.rows())


def _devices(text: str, file: str) -> Iterator[tuple[str, HandDevice]]:
    for row in _dicts(text, file):
        yield (
            intern(row["name"]),
            _device(row["role"], row.get("devicetype", "") or row.get("type", ""), row.get("rack", "")),
        )


def _device(role_words: str, product: str, rack: str) -> HandDevice:
    role = role_of_words(role_words)
    is_host = None if not role else role in ("server", "attachment")
    return HandDevice(role, intern(product), intern(rack), is_host)


def _modules(text: str, file: str) -> Iterator[HandModule]:
    for row in _dicts(text, file):
        if row["componentname"]:
            yield HandModule(intern(row["device"]), intern(row["partid"]), intern(row["componentname"]))


def _front_ports(text: str, file: str) -> Iterator[tuple[tuple[str, str], tuple[str, int]]]:
    """Rear ports by front port of panels: from ``rear_port`` and its position, or ``mappings`` such as ``Rear 1:3``."""
    for row in _dicts(text, file):
        if row.get("rearport"):
            place = row.get("rearportposition", "") or "1"
            rear = row["rearport"]
        else:
            rear, _, place = row.get("mappings", "").partition(",")[0].rpartition(":")
        if rear and place.isdecimal() and len(place) <= _MOST_DIGITS:
            yield (intern(row["device"]), intern(row["name"])), (intern(rear), int(place))


def _channels(text: str, file: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Names of the channels of interfaces, by device and the name that a table of cables makes of parent and number."""
    for row in _dicts(text, file):
        place = row["channelid"]
        if row["parent"] and place.isdecimal() and 1 <= len(place) <= _MOST_DIGITS:
            yield (intern(row["device"]), lane_name(row["parent"], int(place) - 1)), intern(row["name"])


def _by_channel(link: HandLink, channels: Mapping[tuple[str, str], str]) -> HandLink:
    """A link with the names of channels in place of those made of their parents."""
    if not channels:
        return link
    a_port, b_port = channels.get((link.a, link.a_port)), channels.get((link.b, link.b_port))
    return link._replace(a_port=a_port or link.a_port, b_port=b_port or link.b_port)


# -- the API --------------------------------------------------------------------------------------------------------


def _of_api(text: str, file: str) -> HandMade | None:
    """Cables as /api/dcim/cables/ gives them, one page, a list of pages or of all cables.

    None where the file has other objects.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refusal(file, "", "not JSON", str(error), hint="is the file cut off?") from None
    listed = content if isinstance(content, list) else [content]
    pages = [page for page in listed if isinstance(page, dict) and isinstance(page.get("results"), list)]
    listed = [record for page in pages for record in page["results"]] if pages else listed
    records = [record for record in listed if isinstance(record, dict)]
    cables = [record for record in records if "a_terminations" in record]
    if not cables:
        return None
    if pages and pages[-1].get("next"):
        raise refusal(
            file,
            "next",
            f"{len(cables):,} of {pages[-1].get('count')} cables: this is {some(len(pages), 'page')}",
            hint="ask the API with limit=0, or for all pages",
        )
    devices: dict[str, HandDevice] = {}
    links: list[HandLink] = []
    half: list[int] = []
    for number, record in enumerate(cables, 1):
        near, far = (_ends(record.get(side), devices) for side in ("a_terminations", "b_terminations"))
        cable = HandCable(
            label=intern(str(record.get("label") or "")), medium=intern(_value(record.get("type"))),
            length_m=metres_of(f"{record.get('length') or ''} {_value(record.get('length_unit'))}"),
        )  # fmt: skip
        if not near or not far:
            half.append(number)
        count = max(len(near), len(far))
        for place in range(count if near and far else 0):
            (a, a_port), (b, b_port) = (end[min(place, len(end) - 1)] for end in (near, far))
            links.append(HandLink(number, a, a_port, b, b_port, cable))
    return HandMade(file, "netbox", devices, links, half)


def _ends(terminations: object, devices: dict[str, HandDevice]) -> list[tuple[str, str]]:
    """Devices and ports at an end of a cable; adds the devices to ``devices``."""
    ends: list[tuple[str, str]] = []
    for termination in terminations if isinstance(terminations, list) else ():
        own: Any = termination.get("object") if isinstance(termination, dict) else None
        device = own.get("device") if isinstance(own, dict) else None
        name = str(device.get("name") or device.get("display") or "") if isinstance(device, dict) else ""
        if name and isinstance(own, dict):
            is_panel = str(termination.get("object_type", "")).endswith(("frontport", "rearport"))
            devices.setdefault(name, HandDevice(product="panel" if is_panel else ""))
            ends.append((intern(name), intern(str(own.get("name") or own.get("display") or ""))))
    return ends


def _value(choice: object) -> str:
    """The value of a choice, given by the API with or without a label."""
    return str((choice.get("value") if isinstance(choice, dict) else choice) or "")
