"""Names that other systems refuse."""

from __future__ import annotations

import re

from fabopt.errors import refusal
from fabopt.operate.model import SWITCHES, NamedDevice, OperationPlan
from fabopt.units import some

_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


def switches_running(plan: OperationPlan, system: str, name: str) -> list[NamedDevice]:
    """Switches that run a system, called ``name``; refused where none does."""
    switches = [device for device in plan.devices if device.role in SWITCHES and device.system == system]
    if not switches:
        raise refusal(
            f"--to {system}",
            "",
            f"no switch of this design runs {name}; `operate.systems` of the case says what runs on a product",
        )
    return switches


def require_names(format_name: str, plan: OperationPlan) -> None:
    """Refuse names of devices that no object of Kubernetes can have: small letters, digits, - and . only."""
    unfit = [device.name for device in plan.devices if not _OBJECT.fullmatch(device.name)]
    if unfit:
        raise refusal(
            f"--to {format_name}",
            "operate.names",
            f"{some(len(unfit), 'name')} of devices are none of Kubernetes, which takes small letters",
            unfit[0],
        )
