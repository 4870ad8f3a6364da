"""A laboratory of containerlab: the same devices and links as containers on one machine."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fabopt.operate.model import SWITCHES, NamedDevice, OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import head_lines

FILE = "containerlab/clab.yml"
# Kinds of nodes by system; others are plain Linux.
KINDS = {"sonic": "sonic-vs", "eos": "arista_ceos"}
# Linux itself, with FRR.
PLAIN = "cumulus"
GROUPS = {"core": "superspine", "spine": "spine", "leaf": "leaf"}


def files_of(asked: Exported) -> Files:
    """Return ``containerlab/clab.yml``."""
    return {FILE: lab_lines(asked.plan)}


def lab_lines(plan: OperationPlan) -> Iterator[str]:
    """Yield nodes and links. Ports of a node are ``eth1``, ``eth2`` ... in the order of its links.

    Linux cuts names of interfaces after fifteen letters, and kinds have words of their own for ports; those of Cumulus
    Linux are plain Linux, so their ports have the names that ``--to frr`` has. Images are named where it is run.
    """
    yield from head_lines(plan, "; images are set by kind, under topology.kinds")
    yield f"name: {json.dumps(plan.case)}"
    yield "topology:"
    yield "  nodes:"
    yield from (f"    {json.dumps(device.name)}: {_node(device)}" for device in plan.devices)
    yield "  links:"
    interface = {
        (row, port.port): port.name if plan.device_at[row].system == PLAIN else f"eth{index}"
        for row, ports in plan.ports_at.items() for index, (port, _) in enumerate(ports, 1)
    }  # fmt: skip
    for link in plan.links:
        ends = [f"{plan.device_at[end.device].name}:{interface[end.device, end.port]}" for end in (link.a, link.b)]
        yield f"  - endpoints: {json.dumps(ends)}"


def _node(device: NamedDevice) -> str:
    kind = KINDS.get(device.system, "linux") if device.role in SWITCHES else "linux"
    return f"{{kind: {kind}, group: {GROUPS.get(device.role, 'server')}}}"
