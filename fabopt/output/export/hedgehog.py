"""Wiring diagrams of Hedgehog's fabric: switches, servers and connections of every fabric of Ethernet that routes.

Fields are those of ``wiring.githedgehog.com/v1beta1`` (githedgehog/fabric, ``api/wiring/v1beta1``). Serial number or
MAC address, by which a switch is known when it starts, are filled in once it has arrived.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

from fabopt.errors import Fault, fault, refusal
from fabopt.io.faults import refuse_any
from fabopt.operate.model import SWITCHES, NamedDevice, NamedLink, NamedPort, OperationPlan
from fabopt.operate.refusals import require_names
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import head_lines
from fabopt.schema.operate import span

FOLDER = "hedgehog"
OWN_FILES = r"[^/]*\.yaml"
ROLES = {"leaf": "server-leaf", "spine": "spine"}
_API = "wiring.githedgehog.com/v1beta1"


def files_of(asked: Exported) -> Files:
    """Return ``hedgehog/FABRIC.yaml`` for each fabric that routes; ``InputError`` for links that a diagram has no words
    for.
    """
    plan = asked.plan
    names = list(dict.fromkeys(network.fabric for network in plan.networks if network.routed))
    if not names:
        raise refusal("--to hedgehog", "", "Hedgehog runs Ethernet, and no switch of this design routes")
    links = {name: [link for link in plan.links if link.fabric == name] for name in names}
    faults = [problem for name in names for problem in _faults(plan, name, links[name])]
    refuse_any(faults)
    require_names("hedgehog", plan)
    return {f"{name}.yaml": wiring_lines(plan, name, links[name]) for name in names}


def _faults(plan: OperationPlan, fabric: str, links: Sequence[NamedLink]) -> Iterator[Fault]:
    """Devices and links without a place in a diagram: it has leaves, spines between them, and servers on leaves."""
    joined = {(plan.device_at[link.a.device].role, plan.device_at[link.b.device].role) for link in links}
    if any("core" in roles for roles in joined):
        yield fault("--to hedgehog", "", f"{fabric} has a third tier of switches, and Hedgehog knows leaves and spines")
    if any(a not in SWITCHES and b not in SWITCHES for a, b in joined):
        yield fault(
            "--to hedgehog", "", f"the servers of {fabric} are joined to each other, and Hedgehog knows none so"
        )
    if any(a not in SWITCHES and b == "spine" for a, b in joined):
        yield fault("--to hedgehog", "", f"{fabric} has hosts on spines, and Hedgehog joins hosts to leaves")
    if ("spine", "spine") in joined:
        yield fault("--to hedgehog", "", f"spines of {fabric} are joined to each other, and Hedgehog joins leaves so")


def wiring_lines(plan: OperationPlan, fabric: str, links: Sequence[NamedLink]) -> Iterator[str]:
    """Yield the objects of a fabric, a document each."""
    yield from head_lines(plan, ". Fill in boot.serial or boot.mac of each switch.", fabric)
    first, last = span(plan.operate.vlans)
    objects = [_object("VLANNamespace", "default", {"ranges": [{"from": first, "to": last}]})]
    devices = plan.at_ends(links)
    objects += [_switch(plan, device) for device in devices if device.role in SWITCHES]
    objects += [_object("Server", device.name, {"description": device.product}) for device in devices
                if device.role not in SWITCHES]  # fmt: skip
    objects += _connections(plan, links)
    yield from (text for number, text in enumerate(objects) for text in (["---"] if number else []) + [text])


def _object(kind: str, name: str, spec: object) -> str:
    head = {"apiVersion": _API, "kind": kind, "metadata": {"name": name}}
    return json.dumps({**head, "spec": spec})


def _switch(plan: OperationPlan, device: NamedDevice) -> str:
    """A switch; its profile is called as the catalog calls the product."""
    breakouts = {f"E1/{port.cage}": f"{port.lanes}x{link.gbps:g}G" for port, link in plan.ports_at[device.row]
                 if port.lanes > 1}  # fmt: skip
    spec: dict[str, object] = {"role": ROLES[device.role], "profile": device.product, "description": device.device}
    if device.rack:
        spec["description"] = f"{device.rack} U{device.unit}"
    return _object("Switch", device.name, {**spec, "portBreakouts": breakouts} if breakouts else spec)


def _port(plan: OperationPlan, port: NamedPort) -> dict[str, str]:
    device = plan.device_at[port.device]
    if device.role not in SWITCHES:
        return {"port": f"{device.name}/{port.name}"}
    return {"port": f"{device.name}/E1/{port.cage}{f'/{port.lane + 1}' if port.lanes > 1 else ''}"}


def _connections(plan: OperationPlan, links: Sequence[NamedLink]) -> Iterator[str]:
    """A connection for each port of a host; one for all links between two switches."""
    between: dict[tuple[int, int], list[NamedLink]] = defaultdict(list)
    for link in links:
        near, far = plan.device_at[link.a.device], plan.device_at[link.b.device]
        if near.role in SWITCHES:
            between[near.row, far.row].append(link)
        else:
            name = f"{near.name}--{link.a.name}--unbundled--{far.name}".lower().replace("_", "-").replace("/", "-")
            ends = {"server": _port(plan, link.a), "switch": _port(plan, link.b)}
            yield _object("Connection", name, {"unbundled": {"link": ends}})
    for (row, far_row), own in between.items():
        near, far = plan.device_at[row], plan.device_at[far_row]
        kind, keys = ("fabric", ("leaf", "spine")) if far.role == "spine" else ("mesh", ("leaf1", "leaf2"))
        rows = [dict(zip(keys, (_port(plan, link.a), _port(plan, link.b)), strict=True)) for link in own]
        yield _object("Connection", f"{far.name}--{kind}--{near.name}", {kind: {"links": rows}})
