"""Neighbours that LLDP found, as JSON: of ``lldpctl -f json`` and ``-f json0``, of EOS and its API, and of NVUE."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabopt.errors import refusal
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, address
from fabopt.io.design import parse_json
from fabopt.io.text import Kind

_SPEED = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)G")
_TABLES = ("tablesLastChangeTime", "tablesAgeOuts", "tablesInserts", "tablesDeletes", "tablesDrops")
REPORT = Kind(
    "report of LLDP neighbours",
    ("lldp", "lldpNeighbors", *_TABLES),
    "write it with `lldpctl -f json`, `show lldp neighbors | json` of EOS, or `nv show interface --view lldp -o json`",
)


def neighbours(text: str, file: str, device: str) -> Discovery:
    """The neighbours of a device in JSON of ``lldpctl``, EOS, its API or NVUE; ``InputError`` for other JSON."""
    content = parse_json(text.encode(), file)
    replies = _replies(content)
    if replies:
        content = replies[0]
        device = replies[1] or device
    elif isinstance(content, dict) and isinstance(content.get("interface"), dict) and "lldp" not in content:
        content = content["interface"]
    is_of_ports = isinstance(content, dict) and _are_ports(content)
    if not is_of_ports:
        REPORT.refuse_others(content, file)
    try:
        if is_of_ports:
            sightings = [Sighting(SeenEnd(device, (port,)), far, gbps) for port, far, gbps in _of_nvue(content)]
        else:
            eos = "lldpNeighbors" in content
            entries = _of_eos(content["lldpNeighbors"]) if eos else _of_lldpctl(content.get("lldp"))
            sightings = [Sighting(SeenEnd(device, (port,)), far) for port, far in entries]
    except (LookupError, TypeError, ValueError, AttributeError):
        raise refusal(
            file, "", "the neighbours are not as `lldpctl`, EOS or NVUE writes them", hint=REPORT.hint
        ) from None
    return Discovery(file, sightings, frozenset([device]), is_whole=False)


def _replies(content: object) -> tuple[dict[str, object], str] | None:
    """The neighbours in an envelope of the API of EOS, and the device's name by another reply; None elsewhere.

    The envelope is that of JSON-RPC, whose ``result`` is a list with a reply for each command, as is the ``stdout`` of
    Ansible; of pyeapi the list alone, in which each reply is a ``result``.
    """
    results = content
    if isinstance(content, dict):
        results = content.get("result") or content.get("stdout")
    replies = [reply.get("result", reply) for reply in _all(results) if isinstance(reply, dict)]
    mappings = [reply for reply in replies if isinstance(reply, dict)]
    told = next((reply for reply in mappings if "lldpNeighbors" in reply), None)
    if told is None:
        return None
    return told, next((str(reply["hostname"]) for reply in mappings if "hostname" in reply), "")


# -- NVUE -----------------------------------------------------------------------------------------------------------


def _are_ports(content: dict[str, object]) -> bool:
    """Whether JSON has a mapping for each port, at least one with neighbours."""
    return any(isinstance(entry, dict) and _neighbours_at(entry) is not None for entry in content.values())


def _neighbours_at(entry: dict[str, object]) -> dict[str, object] | None:
    lldp = entry.get("lldp", entry)
    neighbours_ = lldp.get("neighbor") if isinstance(lldp, dict) else None
    return neighbours_ if isinstance(neighbours_, dict) else None


def _of_nvue(content: dict[str, object]) -> Iterator[tuple[str, SeenEnd, float | None]]:
    """Ports, their neighbours, and the speed of the link in Gb/s if stated."""
    for port, entry in content.items():
        about = _mapping(entry)
        speed = _SPEED.fullmatch(_text(_mapping(about.get("link")).get("speed")))
        for name, neighbour in (_neighbours_at(about) or {}).items():
            chassis, far = _mapping(_mapping(neighbour).get("chassis")), _mapping(neighbour).get("port")
            names = [_text(far.get(key)) for key in ("name", "description")] if isinstance(far, dict) else [_text(far)]
            system = _text(chassis.get("system-name")) or name
            yield port, remote(system, *names), float(speed[1]) if speed else None


# -- lldpctl --------------------------------------------------------------------------------------------------------


def _of_lldpctl(content: object) -> Iterator[tuple[str, SeenEnd]]:
    """Ports and their neighbours: ``interface`` is a list, or a mapping where there is only one; json0 has lists."""
    for report in _all(content):
        for entry in _all(_mapping(report).get("interface")):
            interface = _mapping(entry)
            if "chassis" in interface or "port" in interface:
                yield str(interface["name"]), _neighbour(interface)
            else:
                for name, inner in interface.items():
                    yield from ((name, _neighbour(_mapping(neighbour))) for neighbour in _all(inner))


def _neighbour(interface: dict[str, object]) -> SeenEnd:
    chassis, port = _mapping(_first(interface.get("chassis"))), _mapping(_first(interface.get("port")))
    name, identity = _text(chassis.get("name")), _mapping(_first(chassis.get("id")))
    if not name and len(chassis) == 1 and "id" not in chassis:
        name, inner = next(iter(chassis.items()))
        identity = _mapping(_first(_mapping(inner).get("id")))
    number = _mapping(_first(port.get("id")))
    names = [_text(number), _text(port.get("descr"))]
    return remote(name or _text(identity), *names)


def remote(device: str, *names: str) -> SeenEnd:
    """The far end of a cable by names of its device and port; a MAC is an address, no name."""
    mac = next(filter(None, map(address, names)), "")
    return SeenEnd(device, tuple(dict.fromkeys(name for name in names if name and not address(name))), guid=mac)


def _all(value: object) -> list[object]:
    """A list unchanged, an empty one for None, another value as a list of one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _first(value: object) -> object:
    return next(iter(_all(value)), None)


def _mapping(value: object) -> dict[str, object]:
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise TypeError("not a mapping")


def _text(value: object) -> str:
    """The text of a value, which may be in a list or below ``value``."""
    value = _first(value)
    if isinstance(value, dict):
        value = _first(value.get("value"))
    return "" if value is None else str(value).strip()


# -- EOS ------------------------------------------------------------------------------------------------------------


def _of_eos(content: object) -> Iterator[tuple[str, SeenEnd]]:
    """Ports and their neighbours: a list of one entry each, or with ``detail`` a mapping of lists."""
    if isinstance(content, dict):
        for port, entry in content.items():
            for neighbour in _all(_mapping(entry).get("lldpNeighborInfo")):
                info = _mapping(neighbour)
                interface = _mapping(info.get("neighborInterfaceInfo"))
                names = [_text(interface.get(key)).strip('"') for key in _EOS_PORTS]
                yield port, remote(_text(info.get("systemName")) or _text(info.get("chassisId")), *names)
        return
    for neighbour in _all(content):
        info = _mapping(neighbour)
        yield str(info["port"]), remote(_text(info.get("neighborDevice")), _text(info.get("neighborPort")))


_EOS_PORTS = ("interfaceId_v2", "interfaceId", "interfaceDescription")
