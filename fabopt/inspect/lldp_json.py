"""Neighbours that LLDP found, as JSON: of ``lldpctl -f json`` and ``-f json0``, and of EOS."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import InputError, fault
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, address
from fabopt.io.design import parse_json
from fabopt.io.kinds import Kind

_TABLES = ("tablesLastChangeTime", "tablesAgeOuts", "tablesInserts", "tablesDeletes", "tablesDrops")
REPORT = Kind(
    "report of LLDP neighbours",
    ("lldp", "lldpNeighbors", *_TABLES),
    "write it with `lldpctl -f json`, or `show lldp neighbors | json` of EOS",
)


def neighbours(text: str, file: str, device: str) -> Discovery:
    """What a device sees, as ``lldpctl`` or EOS writes it; ``InputError`` for other JSON."""
    content = parse_json(text.encode(), file, REPORT)
    entries = _of_eos(content["lldpNeighbors"]) if "lldpNeighbors" in content else _of_lldpctl(content.get("lldp"))
    try:
        sightings = [Sighting(SeenEnd(device, (port,)), far) for port, far in entries]
    except (LookupError, TypeError, ValueError, AttributeError):
        what = "the neighbours are not as `lldpctl` or EOS writes them"
        raise InputError([fault(file, "", what, hint=REPORT.hint)]) from None
    return Discovery(file, sightings, frozenset([device]), is_whole=False)


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
    """The far end of a cable by the name of its device, and what its port is called; a MAC is no name."""
    mac = next(filter(None, map(address, names)), "")
    return SeenEnd(device, tuple(dict.fromkeys(name for name in names if name and not address(name))), guid=mac)


def _all(value: object) -> list[object]:
    """A list as it is, nothing for None, anything else alone."""
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
    """Text that stands alone, or below ``value``, in a list or not."""
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
