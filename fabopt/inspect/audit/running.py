"""A fabric that runs, as a design to be audited: what discovery and neighbours say, and what labs and systems hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Any, Final, NamedTuple

from fabopt.errors import refusal
from fabopt.inspect.audit.tables import (
    NO_CABLE,
    HandCable,
    HandDevice,
    HandLink,
    HandMade,
    Role,
    role_of_words,
    with_ends,
)
from fabopt.inspect.reading import device_of, recognised
from fabopt.inspect.sightings import Discovery, SeenEnd, is_unnamed
from fabopt.io.design import parse_json
from fabopt.io.text import Kind, parse_yaml

CONFIG_DB: Final = Kind(
    "config_db.json of SONiC",
    ("DEVICE_METADATA", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "PORT", "MGMT_PORT", "MGMT_INTERFACE",
     "CABLE_LENGTH", "INTERFACE", "LOOPBACK_INTERFACE", "BGP_NEIGHBOR", "VLAN", "VLAN_MEMBER", "FEATURE"),
    "copy /etc/sonic/config_db.json of every switch into a folder",
    ("DEVICE_METADATA", "DEVICE_NEIGHBOR"),
)  # fmt: skip
EXPECTED: Final = Kind(
    "topology of `fabopt export --to topo`", ("topology", "case", "sha256", "stage", "interfaces"),
    "name its expected-topology.json",
)  # fmt: skip
# Tiers as SONiC calls them, from the servers up; names of devices tell first.
_TIERS: Final[Mapping[str, Role]] = {"torrouter": "leaf", "leafrouter": "spine", "spinerouter": "core"}
# Words of containerlab's groups and of SONiC's neighbours for what is no switch.
_HOST_WORDS: Final = ("server", "host", "client", "node", "gpu")


class _LinkEnd(NamedTuple):
    """A port of a device."""

    device: str
    port: str


class _LinkRow(NamedTuple):
    """A link as a file has it, at a place in it; both its ends may say it."""

    line: int
    near: _LinkEnd
    far: _LinkEnd
    cable: HandCable = NO_CABLE


def _each_once(rows: Iterable[_LinkRow]) -> list[HandLink]:
    """The links of rows whose ends are known, each once."""
    links: dict[frozenset[_LinkEnd], HandLink] = {}
    for row in rows:
        (a, a_port), (b, b_port) = row.near, row.far
        if all((*row.near, *row.far)):
            link = HandLink(row.line, intern(a), intern(a_port), intern(b), intern(b_port), row.cable)
            links.setdefault(frozenset((row.near, row.far)), link)
    return list(links.values())


def discovered_fabric(texts: Mapping[str, str], file: str, kind: str) -> HandMade:
    """The links that files of discovery or neighbours see, each once. ``texts``: by the names of their files."""
    discoveries = [recognised(text, name, device_of(name)) for name, text in texts.items()]
    is_fabric = [discovery.is_whole for discovery in discoveries]
    if any(own != (kind == "ibnetdiscover") for own in is_fabric):
        raise refusal(
            file,
            "",
            f"this is not what --as {kind} reads",
            allowed="text of `ibnetdiscover`" if kind == "ibnetdiscover" else "neighbours that LLDP found",
        )
    own_ports: dict[str, set[str]] = {}
    for discovery in discoveries:
        for sighting in discovery.sightings:
            own_ports.setdefault(_name(sighting.near), set()).update(_ports(sighting.near))
    switches = {name for discovery in discoveries for name in discovery.reporters} if kind == "ibnetdiscover" else set()
    links = _each_once(_sighted(discoveries, own_ports))
    if not links:
        raise refusal(file, "", "no link between two ports is in it")
    hosts = set(_adapters(discoveries)) - switches
    names = dict.fromkeys(name for link in links for name in (link.a, link.b))
    devices = {
        name: HandDevice(is_host=True if name in hosts else False if name in switches else None) for name in names
    }
    return HandMade(file, kind, devices, links)


def _name(end: SeenEnd) -> str:
    """The name of a device; its GUID if it has none."""
    return intern(end.node if is_unnamed(end.device) and end.node else end.device)


def _ports(end: SeenEnd) -> tuple[str, ...]:
    return end.ports or ((str(end.number),) if end.number is not None else (end.guid,))


def _adapters(discoveries: Iterable[Discovery]) -> Iterator[str]:
    """Devices whose ports are those of adapters, which no switch has."""
    for discovery in discoveries:
        for sighting in discovery.sightings:
            for end in (sighting.near, sighting.far):
                if end.number is None and discovery.is_whole:
                    yield _name(end)


def _sighted(discoveries: Sequence[Discovery], own_ports: Mapping[str, set[str]]) -> Iterator[_LinkRow]:
    """Cables as their ends see them: a far port has the name that its own device has for it."""
    sightings = (sighting for discovery in discoveries for sighting in discovery.sightings)
    for line, sighting in enumerate(sightings, 1):
        far, far_ports = _name(sighting.far), _ports(sighting.far)
        far_port = next((port for port in far_ports if port in own_ports.get(far, ())), far_ports[0])
        yield _LinkRow(line, _LinkEnd(_name(sighting.near), _ports(sighting.near)[0]), _LinkEnd(far, far_port))


# -- SONiC ----------------------------------------------------------------------------------------------------------


def configured_fabric(texts: Mapping[str, str], file: str) -> HandMade:
    """The links that configurations of SONiC say their switches have (``DEVICE_NEIGHBOR``)."""
    devices: dict[str, HandDevice] = {}
    port_by_alias: dict[_LinkEnd, str] = {}
    configs: dict[str, Mapping[str, Any]] = {}
    for name, text in texts.items():
        config = parse_json(text.encode(), name, CONFIG_DB)
        own = _rows(_rows(config.get("DEVICE_METADATA")).get("localhost"))
        device = intern(str(own.get("hostname") or device_of(name)))
        configs[device] = config
        role = role_of_words(device) or _TIERS.get(str(own.get("type") or "").lower(), "")
        devices[device] = HandDevice(role, "", "", False)
        for port, about in _rows(config.get("PORT")).items():
            port_by_alias[_LinkEnd(device, str(_rows(about).get("alias") or port))] = port
    for config in configs.values():
        for far, about in _rows(config.get("DEVICE_NEIGHBOR_METADATA")).items():
            word = str(_rows(about).get("type") or "").lower()
            is_host = True if any(known in word for known in _HOST_WORDS) else None
            devices.setdefault(intern(far), HandDevice(is_host=is_host))
    links = _each_once(_neighbours(configs, port_by_alias))
    if not links:
        raise refusal(
            file,
            "DEVICE_NEIGHBOR",
            "no neighbour is in it",
            allowed="the table DEVICE_NEIGHBOR with a name and a port for each port",
        )
    return HandMade(file, "config_db", with_ends(devices, links), links)


def _neighbours(configs: Mapping[str, Mapping[str, Any]], port_by_alias: Mapping[_LinkEnd, str]) -> Iterator[_LinkRow]:
    rows = (
        (_LinkEnd(device, port), _rows(about))
        for device, config in configs.items()
        for port, about in _rows(config.get("DEVICE_NEIGHBOR")).items()
    )
    for line, (near, about) in enumerate(rows, 1):
        far = _LinkEnd(*(str(about.get(key) or "") for key in ("name", "port")))
        yield _LinkRow(line, near, far._replace(port=port_by_alias.get(far, far.port)))


def _rows(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


# -- labs and topologies --------------------------------------------------------------------------------------------


def links_of_clab(text: str, file: str) -> HandMade:
    """The nodes and links of a lab of containerlab."""
    topology = _rows(_rows(parse_yaml(text.encode(), file)).get("topology"))
    nodes, rows = _rows(topology.get("nodes")), topology.get("links")
    if not nodes or not isinstance(rows, list) or not rows:
        raise refusal(
            file,
            "topology",
            "no nodes and links of a lab are in it",
            allowed='`topology.nodes` and `topology.links` with two endpoints each, as in "leaf1:eth1"',
        )
    devices = {
        intern(str(name)): _node(str(name), str(_rows(about).get("group") or "")) for name, about in nodes.items()
    }
    links: list[_LinkRow] = []
    for number, row in enumerate(rows, 1):
        endpoints = _rows(row).get("endpoints")
        ends = [_endpoint(end) for end in endpoints] if isinstance(endpoints, list) else []
        where = f"topology.links.{number}"
        if len(ends) != 2 or not all((*ends[0], *ends[1])):
            raise refusal(file, where, "not a link with two endpoints", allowed='["a:eth1", "b:eth1"]')
        if unknown := [end.device for end in ends if end.device not in devices]:
            raise refusal(file, where, "no such node", unknown[0], allowed="a name under topology.nodes")
        links.append(_LinkRow(number, ends[0], ends[1]))
    return HandMade(file, "clab", devices, _each_once(links))


def _node(name: str, group: str) -> HandDevice:
    role = role_of_words(group) or role_of_words(name)
    is_host = role == "server" if role else (True if any(word in group.lower() for word in _HOST_WORDS) else None)
    return HandDevice(role, "", "", is_host)


def _endpoint(end: object) -> _LinkEnd:
    """Node and port of an endpoint: ``leaf1:eth1``, or a mapping with both."""
    if isinstance(end, dict):
        return _LinkEnd(str(end.get("node") or ""), str(end.get("interface") or ""))
    device, _, port = str(end).partition(":")
    return _LinkEnd(device, port)


def links_of_topology(text: str, file: str) -> HandMade:
    """The links of an expected topology, each of which both its ends name."""
    rows = parse_json(text.encode(), file, EXPECTED).get("interfaces")
    devices: dict[str, HandDevice] = {}
    links: list[_LinkRow] = []
    for number, row in enumerate(rows if isinstance(rows, list) else [], 1):
        peer, about = _rows(_rows(row).get("peer")), _rows(_rows(row).get("cable"))
        near, far = (
            _LinkEnd(*(str(end.get(key) or "") for key in ("device", "interface"))) for end in (_rows(row), peer)
        )
        if not all((*near, *far)):
            raise refusal(file, f"interfaces.{number}", "a port without its device or its peer")
        role = role_of_words(str(row.get("role") or ""))
        devices[intern(near.device)] = HandDevice(role, "", "", role in ("server", "attachment"))
        devices.setdefault(intern(far.device), HandDevice())
        length = about.get("length_m")
        metres = float(length) if isinstance(length, int | float) else None
        label, medium = (intern(str(about.get(key) or "")) for key in ("label", "medium"))
        links.append(_LinkRow(number, near, far, HandCable(label, "", medium, metres)))
    if not links:
        raise refusal(file, "interfaces", "no link is in it")
    return HandMade(file, "topology", devices, _each_once(links))
