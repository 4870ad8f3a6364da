"""What a fabric would say of itself, port by port, in the names that exports give: ``ibnetdiscover``, and LLDP's forms.

A fabric is a list of cables by their ends as the plan of operation names them, so that cables can be exchanged first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations
from typing import Any, NamedTuple

from fabopt.inspect.reading import recognised
from fabopt.inspect.sightings import Discovery
from fabopt.io.case import inputs_from_objects
from fabopt.io.library import data_folder
from fabopt.operate.infiniband import subnets_among
from fabopt.operate.model import SWITCHES, NamedDevice, NamedPort, OperationPlan
from fabopt.schema.design import Design
from fabopt.solution import optimize

SERVERS = sorted(path.stem for path in (data_folder("catalogs") / "reference" / "servers").glob("*.yaml"))
# Fabrics that a case may have beside each other.
FABRICS: dict[str, dict[str, Any]] = {
    "compute-ib": {"name": "compute", "protocol": "infiniband", "min_gbps_per_gpu": 25, "tiers": 2},
    "compute-eth": {"name": "compute", "protocol": "ethernet", "min_gbps_per_gpu": 25, "tiers": 2},
    "storage-ib": {"name": "storage", "role": "storage", "protocol": "infiniband", "min_gbps_per_server": 100,
                   "tiers": 2},
    "storage-eth": {"name": "storage", "role": "storage", "protocol": "ethernet", "min_gbps_per_server": 100,
                    "tiers": 2},
    "in-band": {"name": "in-band", "role": "in-band", "protocol": "ethernet", "min_gbps_per_server": 25,
                "tiers": [1, 2]},
    "oob": {"name": "oob", "role": "oob", "tiers": [1, 2]},
}  # fmt: skip
PAIRS = [pair for pair in combinations(FABRICS, 2) if FABRICS[pair[0]]["name"] != FABRICS[pair[1]]["name"]]
IB_SPEEDS = {100: "4xEDR", 200: "4xHDR", 400: "4xNDR", 800: "4xXDR"}
BARE = {"rules": "none", "resilience": "none"}


@cache
def solved_pair(server: str, pair: tuple[str, ...], servers: int = 6) -> Design:
    """A design of some servers of the reference catalog with fabrics."""
    return pair_of_fabrics(server, pair, servers)


def pair_of_fabrics(server: str, pair: tuple[str, ...], servers: int, **operate: Any) -> Design:
    """The same, not kept, of a case that says how it is run."""
    own = [dict(FABRICS[key]) for key in pair]
    case = {"name": "trip", "server": server, "servers": servers, "fabrics": own, "operate": operate, **BARE}
    return optimize.solve(inputs_from_objects(case), alternatives_s=0)


def with_operate(design: Design, **operate: Any) -> Design:
    """A design whose case says how it is run; the case is not written out in full, as a file of a design needs it."""
    record = design.case.model_copy(update={"content": {**design.case.content, "operate": operate}})
    return design.model_copy(update={"case": record})


class CabledEnds(NamedTuple):
    """A cable between two ports of a plan, whichever they are to be."""

    a: NamedPort
    b: NamedPort
    gbps: float
    fabric: str


def as_planned(plan: OperationPlan) -> list[CabledEnds]:
    return [CabledEnds(link.a, link.b, link.gbps, link.fabric) for link in plan.links]


# -- LLDP -----------------------------------------------------------------------------------------------------------


class Told(NamedTuple):
    """What a device is told of a neighbour: own port, the neighbour's name, its port's id and description, Gb/s."""

    port: str
    device: str
    id: str
    description: str
    gbps: float


def _lldpctl(rows: Sequence[Told]) -> str:
    entries = [
        {row.port: {"via": "LLDP", "chassis": {row.device: {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}},
                    "port": {"id": {"type": "ifname", "value": row.id}, "descr": row.description}}}
        for row in rows
    ]  # fmt: skip
    return json.dumps({"lldp": {"interface": entries[0] if len(entries) == 1 else entries} if entries else {}})


def _json0(rows: Sequence[Told]) -> str:
    entries = [
        {"name": row.port, "chassis": [{"name": [{"value": row.device}]}],
         "port": [{"id": [{"type": "ifname", "value": row.id}], "descr": [{"value": row.description}]}]}
        for row in rows
    ]  # fmt: skip
    return json.dumps({"lldp": [{"interface": entries}]})


def _key_values(rows: Sequence[Told]) -> str:
    return "".join(
        f"lldp.{row.port}.via=LLDP\nlldp.{row.port}.chassis.name={row.device}\n"
        f"lldp.{row.port}.port.ifname={row.id}\nlldp.{row.port}.port.descr={row.description}\n"
        for row in rows
    )


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(str(row[column])) for row in (titles, *rows)) for column in range(len(titles))]
    lines = [titles, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def _sonic(rows: Sequence[Told]) -> str:
    cells = [(row.port, row.device, row.id, "BR", row.description) for row in rows]
    table = _table(("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"), cells)
    head = "Capability codes: (R) Router, (B) Bridge, (O) Other"
    return f"{head}\n{table}\n{'-' * 50}\nTotal entries displayed:  {len(rows)}\n"


def _cumulus(rows: Sequence[Told]) -> str:
    cells = [(row.port, f"{row.gbps:g}G", "swp", row.device, row.id) for row in rows]
    return _table(("Interface", "Speed", "Type", "Remote Host", "Remote Port"), cells) + "\n"


def _nvue(rows: Sequence[Told]) -> str:
    return json.dumps({
        row.port: {"link": {"speed": f"{row.gbps:g}G"}, "lldp": {"neighbor": {row.device: {
            "chassis": {"system-name": row.device}, "port": {"name": row.id, "description": row.description}}}}}
        for row in rows
    })  # fmt: skip


def _eos(rows: Sequence[Told]) -> str:
    rows_of_eos = [{"port": row.port, "neighborDevice": row.device, "neighborPort": row.id, "ttl": 120} for row in rows]
    return json.dumps({"lldpNeighbors": rows_of_eos})


def _eos_detail(rows: Sequence[Told]) -> str:
    return json.dumps({"lldpNeighbors": {row.port: {"lldpNeighborInfo": [
        {"systemName": row.device, "chassisId": "0200.0000.0001", "neighborInterfaceInfo": {
            "interfaceId": f'"{row.id}"', "interfaceId_v2": row.id, "interfaceDescription": row.description}}]}
        for row in rows}})  # fmt: skip


def _eapi(rows: Sequence[Told]) -> str:
    reply = json.loads(_eos(rows))
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": [reply]})


Writer = Callable[[Sequence[Told]], str]
# How each system prints its neighbours; a host prints them as lldpctl does.
FORMS: Mapping[str, Sequence[Writer]] = {
    "cumulus": (_nvue, _cumulus, _lldpctl, _json0, _key_values), "sonic": (_sonic, _lldpctl),
    "eos": (_eos, _eos_detail, _eapi), "host": (_lldpctl,), "": (_lldpctl,),
}  # fmt: skip


class FabricVoice:
    """Files that a fabric of a plan would give, with given cables; ``called``: devices that say other names, by row."""

    def __init__(
        self, design: Design, plan: OperationPlan, cables: Sequence[CabledEnds], called: Mapping[int, str] | None = None
    ) -> None:
        self.design, self.plan, self.cables, self.called = design, plan, cables, called or {}

    @cached_property
    def _at(self) -> dict[int, list[tuple[NamedPort, NamedPort, float, str]]]:
        rows: dict[int, list[tuple[NamedPort, NamedPort, float, str]]] = {}
        for cable in self.cables:
            for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
                rows.setdefault(near.device, []).append((near, far, cable.gbps, cable.fabric))
        return rows

    def told(self, device: NamedDevice, fabrics: set[str]) -> list[Told]:
        """What a device is told by its neighbours on Ethernet."""
        rows = []
        for near, far, gbps, fabric in self._at.get(device.row, ()):
            other = self.plan.device_at[far.device]
            if fabric in fabrics:
                id_ = far.alias if other.system == "sonic" and far.alias else far.name
                name = self.called.get(far.device, other.name)
                rows.append(Told(near.name, name, id_, far.name, gbps))
        return rows

    @cached_property
    def ethernet(self) -> set[str]:
        return {fabric.name for fabric in self.design.fabrics if fabric.protocol != "infiniband"}

    def texts(self, devices: Sequence[NamedDevice], form: int = 0) -> dict[str, str]:
        """What devices print of their neighbours, each in a form of its system, by their names."""
        texts = {}
        for device in devices:
            forms = FORMS.get(device.system, FORMS[""])
            texts[device.name] = forms[form % len(forms)](self.told(device, self.ethernet))
        return texts

    def lldp(self, devices: Sequence[NamedDevice], form: int = 0) -> list[Discovery]:
        """Reports of devices, each in a form of its system."""
        return [recognised(text, f"{name}.txt", name) for name, text in self.texts(devices, form).items()]

    def switches(self, fabrics: set[str]) -> list[NamedDevice]:
        return [device for device in self.plan.devices if device.role in SWITCHES and device.fabric in fabrics]

    # -- InfiniBand ---------------------------------------------------------------------------------------------------

    def ibnetdiscover(self) -> list[str]:
        """The text of each subnet, as far as its switches and adapters are on a cable."""
        fabrics = [fabric for fabric in self.design.fabrics if fabric.protocol == "infiniband"
                   and fabric.structure.has_switches]  # fmt: skip
        if not fabrics:
            return []
        texts = []
        for subnet in subnets_among(self.design, self.plan, fabrics, None):
            names = {(adapter.host.row, adapter.port.port): (adapter.guid, adapter.description)
                     for adapter in subnet.adapters}  # fmt: skip
            own = [
                cable for cable in self.cables
                if any(end.device in subnet.guids or (end.device, end.port) in names for end in cable[:2])
            ]  # fmt: skip
            texts.append("\n".join(self._ib_lines(own, subnet.guids, names)) + "\n")
        return texts

    def _ib_lines(
        self, cables: Sequence[CabledEnds], guids: Mapping[int, str], names: Mapping[tuple[int, str], tuple[str, str]]
    ) -> Iterator[str]:  # fmt: skip
        def node(port: NamedPort) -> tuple[str, str, int, str]:
            if port.device in guids:
                guid = guids[port.device]
                return f"S-{guid}", guid, int(port.name), self.plan.device_at[port.device].name
            guid, description = names[port.device, port.port]
            return f"H-{guid}", guid, 1, description

        peers: dict[str, list[tuple[NamedPort, NamedPort, float]]] = {}
        for cable in cables:
            for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
                peers.setdefault(node(near)[0], []).append((near, far, cable.gbps))
        yield from ("#", "# Topology file: generated on Sun Nov 22 12:00:00 2026", "#", "")
        for name, ends in sorted(peers.items(), reverse=True):
            _, guid, _, about = node(ends[0][0])
            kind, ports = ("Switch", 64) if name.startswith("S") else ("Ca", 1)
            yield from ("vendid=0x2c9", "devid=0xd2f2", f"sysimgguid=0x{guid}", f"{kind.lower()}guid=0x{guid}")
            yield f'{kind}\t{ports} "{name}"\t\t# "{about}"'
            for near, far, gbps in sorted(ends, key=lambda row: node(row[0])[2]):
                other, _, number, text = node(far)
                yield f'[{node(near)[2]}]\t"{other}"[{number}]\t\t# "{text}" lid 9 {IB_SPEEDS[gbps]}'
            yield ""
