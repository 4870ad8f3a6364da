"""Names of devices: the templates of the case, filled in; no two alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from fabopt.errors import Fault, fault
from fabopt.operate.model import Numbered, numbered_devices
from fabopt.schema.design import Design
from fabopt.schema.operate import NameTemplates, Operate
from fabopt.units import grouped, some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring

_LONGEST = 63
_END = re.compile(r"(\d{1,15})$")
_SHOWN = 3


def templated_names(design: Design, wiring: Wiring) -> dict[str, str]:
    """The design's name of each device by its name under the case's templates, in small letters.

    Empty where the templates are the defaults, or cannot name the devices.
    """
    operate, faults = Embedded(design).case.operate, list[Fault]()
    if operate.names == NameTemplates():
        return {}
    names = names_of(design.case.name, operate, numbered_devices(design, wiring), faults)
    return {} if faults else {name.lower(): own for name, own in zip(names, wiring.devices.name, strict=True)}


def names_of(case: str, operate: Operate, devices: Sequence[Numbered], faults: list[Fault]) -> list[str]:
    """The name of every device; devices that a template cannot name, and names given twice, are added to ``faults``."""
    names, unknown = [], defaultdict(list)
    for device in devices:
        template = str(getattr(operate.names, device.role))
        name, lacking = _filled_template(template, device, operate.site)
        names.append(name)
        for field in lacking:
            unknown[device.role, field].append(device.device)
    for (role, field), lacking_devices in unknown.items():
        problem = f"{some(len(lacking_devices), 'device')} have no {field}: {_listed(lacking_devices)}"
        faults.append(fault(case, f"operate.names.{role}", problem, str(getattr(operate.names, role))))
    if not unknown:
        faults += _faults(case, names, devices)
    return names


def _filled_template(template: str, device: Numbered, site: str) -> tuple[str, list[str]]:
    """A template filled in, and its fields that the device lacks."""
    if template == "{name}":
        return device.device, []
    number = _END.search(device.device)
    values: dict[str, str | int] = {
        "name": device.device, "site": site, "fabric": device.fabric, "role": device.role,
        "number": int(number[1]) if number else 1, "plane": device.plane, "pod": device.pod, "group": device.group,
        "rail": device.rail, "rack": device.rack, "unit": device.unit or -1,
    }  # fmt: skip
    lacking = [key for key, value in values.items() if value in ("", -1) and f"{{{key}" in template]
    return ("" if lacking else template.format(**values)), lacking


def _faults(case: str, names: Sequence[str], devices: Sequence[Numbered]) -> list[Fault]:
    by_name = grouped((name.lower(), device.device) for name, device in zip(names, devices, strict=True))
    twice = {name: called for name, called in by_name.items() if len(called) > 1}
    faults = []
    if twice:
        name, called = next(iter(twice.items()))
        problem = f"{some(len(twice), 'name')} of {some(sum(map(len, twice.values())), 'device')} collide"
        faults.append(fault(case, "operate.names", f"{problem}: {name} is {_listed(called)}"))
    long = [name for name in names if max(map(len, name.split("."))) > _LONGEST]
    if long:
        problem = f"{some(len(long), 'name')} have more than {_LONGEST} letters between dots"
        faults.append(fault(case, "operate.names", problem, long[0]))
    return faults


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
