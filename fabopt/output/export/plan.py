"""The plan of names, ports and addresses as one file, which ``fabopt check`` proves again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from fabopt.operate.model import NamedPort, OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import yaml_list
from fabopt.schema.plan import PLAN_FORMAT

FILE = "plan.yaml"
Row = Mapping[str, object]


def files_of(asked: Exported) -> Files:
    """Return ``plan.yaml``."""
    return {FILE: plan_lines(asked.plan, asked.options.source)}


def plan_lines(plan: OperationPlan, design: str = "") -> Iterator[str]:
    """Yield the file: a line for each row of a table, as flow mappings, so that it is read by eye and by diff.

    ``design``: path of the design file from the plan's folder; empty where there is none.
    """
    yield "---"
    yield f"# The plan of {_text(plan.case)}: names, ports, addresses, queues. Proven again by: fabopt check {FILE}"
    head = {
        "plan": PLAN_FORMAT, "case": plan.case, "sha256": plan.sha256, "design": design, "stage": plan.stage,
        "number": plan.number, "site": plan.operate.site, "asns": plan.operate.asns,
    }  # fmt: skip
    head = {key: value for key, value in head.items() if key != "design" or design}
    yield from (f"{key}: {_text(value)}" for key, value in head.items())
    yield f"queues: {_flow(plan.queues.model_dump())}"
    tables = {
        "pools": (pool._asdict() for pool in plan.pools),
        "networks": _networks(plan),
        "devices": _devices(plan),
        "ports": _ports(plan),
        "links": _links(plan),
        **({"vrf_links": _vrf_links(plan)} if plan.vrf_links else {}),
    }
    for key, rows in tables.items():
        yield from yaml_list(key, map(_flow, rows))
    yield from yaml_list("notes", map(_text, plan.notes))


def _networks(plan: OperationPlan) -> Iterator[Row]:
    for network in plan.networks:
        subnets = [
            _known({"device": plan.device_at[row].name, "subnet": subnet})
            for row, subnet in network.subnets.items() if row in plan.device_at
        ]  # fmt: skip
        yield _known({**network._asdict(), "vlan": network.vlan or "", "subnets": subnets or ""})


def _devices(plan: OperationPlan) -> Iterator[Row]:
    for device in plan.devices:
        columns = {key: value for key, value in vars(device).items() if key != "row"}
        yield _known({"name": columns.pop("name"), **columns, "unit": device.unit or -1, "asn": device.asn or -1})


def _ports(plan: OperationPlan) -> Iterator[Row]:
    for row, ports in plan.ports_at.items():
        for port, _ in ports:
            yield _known({
                "device": plan.device_at[row].name, "name": port.name, "alias": port.alias, "port": port.port,
                "cage": port.cage, "lane": port.lane, "lanes": port.lanes, "address": port.address,
            })  # fmt: skip


def _links(plan: OperationPlan) -> Iterator[Row]:
    for link in plan.links:
        yield _known({
            "network": link.network, "kind": link.kind, "a": _end(plan, link.a), "b": _end(plan, link.b),
            "gbps": link.gbps, "cable": link.cable, "medium": link.medium, "length_m": link.length_m or "",
            "subnet": link.subnet,
        })  # fmt: skip


def _vrf_links(plan: OperationPlan) -> Iterator[Row]:
    """Links of VRFs, by the ports that carry them."""
    carrying = {link.row: link for link in plan.links}
    for link in plan.vrf_links:
        yield {
            "network": link.network, "vlan": plan.network_of[link.network].vlan,
            "a": _end(plan, carrying[link.row].a), "b": _end(plan, carrying[link.row].b),
            "a_address": link.a.address, "b_address": link.b.address, "subnet": link.subnet,
        }  # fmt: skip


def _end(plan: OperationPlan, port: NamedPort) -> Row:
    return {"device": plan.device_at[port.device].name, "port": port.name}


def _known(row: Row) -> Row:
    """A row without empty values."""
    return {key: value for key, value in row.items() if value not in ("", -1)}


def _flow(row: Row) -> str:
    return "{" + ", ".join(f"{key}: {_text(value)}" for key, value in row.items()) + "}"


def _text(value: object) -> str:
    """A value as JSON, which YAML reads too."""
    if isinstance(value, Mapping):
        return _flow(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return json.dumps(value, ensure_ascii=True)
