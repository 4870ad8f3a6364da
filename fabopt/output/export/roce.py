"""Queues and headroom of every lossless port, from the speed and the length that was bought for each link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fabopt.errors import refusal
from fabopt.operate.lossless import LosslessPort, LosslessSwitch, lossless_switches
from fabopt.operate.model import NamedDevice, OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.hosts import CAN_MARK
from fabopt.output.export.lines import head_lines, yaml_lines
from fabopt.schema.operate import Queues
from fabopt.units import summed

FILE = "roce/roce.yaml"
# A queue that is paused for so long is dropped, and tried again so long after the pauses end.
WATCHDOG_MS = 200


def files_of(asked: Exported) -> Files:
    """Return ``roce/roce.yaml``; ``InputError`` where no switch routes."""
    plan = asked.plan
    switches = list(lossless_switches(asked.design, plan))
    if not switches:
        raise refusal(
            "--to roce",
            "",
            "RoCE is for fabrics of Ethernet with RDMA (compute, storage, or with `roce`), and none is here",
        )
    return {FILE: roce_lines(plan, switches)}


def roce_lines(plan: OperationPlan, switches: Sequence[LosslessSwitch]) -> Iterator[str]:
    """Yield the queues, each switch's pool and marking thresholds, each port's headroom; unknown ones are counted."""
    yield from head_lines(plan, ": bytes a port and lossless priority, by the length of its cable")
    ports = [(switch.device, port) for switch in switches for port in switch.ports]
    yield from yaml_lines({
        "queues": plan.queues.model_dump(),
        "classes": _classes(plan.queues),
        "hosts": _hosts(plan.queues),
        "switches": list(map(_switch, switches)),
        "marking": list(_marking(switches)),
        "ports": [_port(device, port) for device, port in ports if port.room],
        "xoff_of_all_ports": summed((device.name, port.room.xoff) for device, port in ports if port.room),
        "ports_without_a_table": Counter(
            device.product for device, port in ports if port.link.length_m and port.room is None
        ),
        "ports_without_a_length": Counter(device.name for device, port in ports if not port.link.length_m),
    })  # fmt: skip


def _classes(queues: Queues) -> Mapping[str, Mapping[str, object]]:
    """DSCP, priority and scheduling of each class, and the watchdog that ends a storm of pauses."""
    watchdog = {"detection_ms": WATCHDOG_MS, "restoration_ms": WATCHDOG_MS, "action": "drop"}
    share = queues.rdma_share
    return {
        "rdma": {"dscp": queues.rdma_dscp, "priority": queues.rdma_priority, "lossless": True, "dwrr": share,
                 "watchdog": watchdog},
        "notifications": {"dscp": queues.cnp_dscp, "priority": queues.cnp_priority, "lossless": False, "strict": True},
        "others": {"priority": 0, "lossless": False, "dwrr": 100 - share},
    }  # fmt: skip


def _hosts(queues: Queues) -> Mapping[str, object]:
    """The same queue settings for a server's NICs (``--to hosts`` has the commands)."""
    pauses = [int(priority == queues.rdma_priority) for priority in range(8)]
    return {"mtu": queues.mtu, "trust": "dscp", "pfc": pauses, "traffic_class": queues.rdma_dscp << 2 | CAN_MARK}


def _switch(switch: LosslessSwitch) -> Mapping[str, object]:
    pool, verdict = switch.switch.buffer_pool, switch.verdict
    known = {} if verdict is None else {
        "demand": verdict.demand, "left": verdict.left, "fits": verdict.spare >= 0,
    }  # fmt: skip
    return {
        "device": switch.device.name, "product": switch.device.product, "priorities": switch.priorities,
        "ports": len(switch.ports), "pool": pool and pool.size, "shared_headroom": pool and pool.shared_headroom,
        **known, "says": switch.says,
    }  # fmt: skip


def _marking(switches: Sequence[LosslessSwitch]) -> Iterator[Mapping[str, object]]:
    """The thresholds of each switch and speed. ``least`` and ``most`` may be set between the two of ``range``."""
    for switch in switches:
        for gbps in sorted({port.link.gbps for port in switch.ports}):
            marks = switch.marking(gbps)
            yield {
                "device": switch.device.name, "gbps": gbps, "rtt_us": round(switch.rtt_ns / 1000, 2),
                "least": marks.least, "most": marks.most, "probability": marks.probability,
                "range": [marks.bandwidth_delay, marks.share], "reason": marks.reason,
            }  # fmt: skip


def _port(device: NamedDevice, port: LosslessPort) -> Mapping[str, object]:
    assert port.room is not None
    own = {"device": device.name, "port": port.port.name, "gbps": port.link.gbps, "length_m": port.link.length_m}
    return {**own, **port.room._asdict()}
