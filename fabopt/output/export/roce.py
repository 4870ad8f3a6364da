"""Queues and headroom of every lossless port, from the speed and the length that was bought for each link."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fabopt.errors import InputError, fault
from fabopt.operate.build import plan_of
from fabopt.operate.model import NamedDevice, OperationPlan
from fabopt.operate.port_names import signal_lanes
from fabopt.output.export.formats import Options
from fabopt.parts.headroom import headroom
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring

FILE = "roce/roce.yaml"


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write ``roce/roce.yaml``; ``InputError`` where no switch routes."""
    plan = plan_of(design, wiring, options.stage)
    switches = [device for device in plan.devices if device.asn]
    if not switches:
        raise InputError(
            [fault("--to roce", "", "RoCE is for fabrics of Ethernet, and no switch of this design routes")]
        )
    path = folder / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in roce_lines(Embedded(design), plan, switches)), encoding="utf-8")
    return [path]


def roce_lines(embedded: Embedded, plan: OperationPlan, switches: list[NamedDevice]) -> Iterator[str]:
    """Yield the queues, then the headroom of each port; ports of ASICs without a known table are named as such."""
    yield "---"
    yield f"# {plan.case}, stage {plan.stage}: bytes a port and lossless priority, by the length of its cable"
    yield f"queues: {json.dumps(plan.queues.model_dump())}"
    lines: list[str] = []
    sums: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    unmeasured: Counter[str] = Counter()
    for device in switches:
        part = embedded.part(device.product, Switch)
        signals = signal_lanes(part)
        for port, link in plan.ports_at[device.row]:
            if not link.length_m:
                unmeasured[device.name] += 1
                continue
            lanes = max(1, signals[port.cage] // port.lanes)
            room = headroom(part.asic or "", link.gbps, link.length_m, lanes, plan.queues.mtu)
            if room is None:
                unknown[device.product] += 1
                continue
            sums[device.name] += room.xoff
            row = {
                "device": device.name,
                "port": port.name,
                "gbps": link.gbps,
                "length_m": link.length_m,
                **room._asdict(),
            }
            lines.append(f"- {json.dumps(row)}")
    yield from ("ports:", *lines) if lines else ("ports: []",)
    yield f"xoff_of_all_ports: {json.dumps(sums)}"
    yield f"ports_without_a_table: {json.dumps(unknown)}"
    yield f"ports_without_a_length: {json.dumps(unmeasured)}"
