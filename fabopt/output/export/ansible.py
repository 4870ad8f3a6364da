"""An inventory for Ansible: devices by role, with the addresses and numbers of the plan."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fabopt.operate.model import NamedDevice, OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import head_lines

FILE = "ansible/inventory.yml"
# What groups of devices are called, by role.
GROUPS = {"leaf": "leaf", "spine": "spine", "core": "core", "server": "gpu", "attachment": "attachment"}


def files_of(asked: Exported) -> Files:
    """Return ``ansible/inventory.yml``."""
    return {FILE: inventory_lines(asked.plan)}


def inventory_lines(plan: OperationPlan) -> Iterator[str]:
    """Yield the groups that have devices, each with its hosts, a line a host."""
    yield from head_lines(plan)
    yield "all:"
    yield "  children:"
    for role, group in GROUPS.items():
        devices = [device for device in plan.devices if device.role == role]
        if devices:
            yield f"    {group}:"
            yield "      hosts:"
            yield from (f"        {json.dumps(device.name)}: {_variables(device)}" for device in devices)


def _variables(device: NamedDevice) -> str:
    values = {
        "ansible_host": device.management, "loopback": device.loopback, "asn": device.asn or "",
        "system": device.system, "fabric": device.fabric, "plane": device.plane, "pod": device.pod,
        "group": device.group, "rail": device.rail, "rack": device.rack, "unit": device.unit or "",
    }  # fmt: skip
    known = {key: value for key, value in values.items() if value not in ("", -1)}
    return "{" + ", ".join(f"{key}: {json.dumps(value)}" for key, value in known.items()) + "}"
