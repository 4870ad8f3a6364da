"""Queues of SONiC: lossless classes, buffers of each port, marking thresholds, and the watchdog of pause storms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TypeAlias

from fabopt.operate.lossless import LosslessSwitch
from fabopt.operate.model import OperationPlan
from fabopt.output.export.roce import WATCHDOG_MS
from fabopt.parts.headroom import pipeline_bytes, threshold, xon_offset

# Rows by key, and fields of a row.
Row: TypeAlias = Mapping[str, "str | list[str]"]
Table: TypeAlias = dict[str, Row]
Tables: TypeAlias = Mapping[str, Table]

_MAP = "AZURE"
_PRIORITIES, _DSCPS = range(8), range(64)
_INGRESS, _EGRESS, _EGRESS_LOSSY = "ingress_lossless_pool", "egress_lossless_pool", "egress_lossy_pool"
_MOST_THRESHOLD = "7"


def queue_tables(plan: OperationPlan, lossless: LosslessSwitch) -> dict[str, Table]:
    """Tables of queues for the ports in use of a switch."""
    patience = str(WATCHDOG_MS)
    storm = {"action": "drop", "detection_time": patience, "restoration_time": patience}
    return {
        **_classes(plan, lossless.classes(plan.queues)),
        **_schedulers(plan),
        **_buffers(plan, lossless),
        **_ports(plan, lossless),
        "WRED_PROFILE": {_wred(port.link.gbps): _thresholds(lossless, port.link.gbps) for port in lossless.ports},
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": patience}, **{port.port.name: storm for port in lossless.ports}},
    }


def _classes(plan: OperationPlan, lossless: Sequence[int]) -> dict[str, Table]:
    """RDMA and its notifications have a class, a queue and a priority group each; other traffic is class 0."""
    queues = plan.queues
    classes = {queues.rdma_dscp: queues.rdma_priority, queues.cnp_dscp: queues.cnp_priority}
    same = {str(priority): str(priority) for priority in _PRIORITIES}
    return {
        "DSCP_TO_TC_MAP": {_MAP: {str(dscp): str(classes.get(dscp, 0)) for dscp in _DSCPS}},
        "TC_TO_QUEUE_MAP": {_MAP: same},
        "TC_TO_PRIORITY_GROUP_MAP": {_MAP: {str(tc): str(tc if tc in lossless else 0) for tc in _PRIORITIES}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {_MAP: same},
    }


def _schedulers(plan: OperationPlan) -> dict[str, Table]:
    share = plan.queues.rdma_share
    return {
        "SCHEDULER": {
            "scheduler.rdma": {"type": "DWRR", "weight": str(share)},
            "scheduler.other": {"type": "DWRR", "weight": str(100 - share)},
            "scheduler.cnp": {"type": "STRICT"},
        }
    }


def _wred(gbps: float) -> str:
    return f"RDMA_{gbps:.0f}G"


def _thresholds(lossless: LosslessSwitch, gbps: float) -> Row:
    marks = lossless.marking(gbps)
    levels = {f"{colour}_{end}_threshold": str(size) for colour in ("green", "yellow", "red")
              for end, size in (("min", marks.least), ("max", marks.most))}  # fmt: skip
    chances = {f"{colour}_drop_probability": str(marks.probability) for colour in ("green", "yellow", "red")}
    enabled = {f"wred_{colour}_enable": "true" for colour in ("green", "yellow", "red")}
    return {**levels, **chances, **enabled, "ecn": "ecn_all"}


def _ports(plan: OperationPlan, lossless: LosslessSwitch) -> dict[str, Table]:
    queues = plan.queues
    rdma = ",".join(map(str, lossless.classes(queues)))
    maps: Table = {
        port.port.name: {
            "dscp_to_tc_map": _MAP, "tc_to_queue_map": _MAP, "tc_to_pg_map": _MAP, "pfc_to_queue_map": _MAP,
            "pfc_enable": rdma, "pfcwd_sw_enable": rdma,
        }
        for port in lossless.ports
    }  # fmt: skip
    rows: Table = {}
    for port in lossless.ports:
        for queue in _PRIORITIES:
            named = {queues.rdma_priority: "rdma", queues.cnp_priority: "cnp"}.get(queue, "other")
            marked = {"wred_profile": _wred(port.link.gbps)} if queue == queues.rdma_priority else {}
            rows[f"{port.port.name}|{queue}"] = {"scheduler": f"scheduler.{named}", **marked}
    return {"PORT_QOS_MAP": maps, "QUEUE": rows}


def _buffers(plan: OperationPlan, lossless: LosslessSwitch) -> dict[str, Table]:
    """Pools and profiles; none where the pool is unknown or too small: the platform's own tables hold then."""
    verdict, pool, asic = lossless.verdict, lossless.switch.buffer_pool, lossless.switch.asic or ""
    if verdict is None or pool is None or verdict.spare < 0:
        return {}
    is_spectrum = pipeline_bytes(asic) is not None
    classes = lossless.classes(plan.queues)
    profiles = _spectrum_profiles(plan) if is_spectrum else _tomahawk_profiles(pool.size)
    groups: Table = {}
    for port in lossless.ports:
        assert port.room is not None
        name = f"pg_lossless_{port.link.gbps * 1000:.0f}_{ceil(port.link.length_m)}m_profile"
        offset = {"xon_offset": str(xon_offset(asic))} if xon_offset(asic) else {}
        profiles[name] = {
            "pool": _INGRESS, "size": str(port.room.size), "xon": str(port.room.xon), "xoff": str(port.room.xoff),
            "dynamic_th": str(threshold(asic)), **offset,
        }  # fmt: skip
        groups |= {f"{port.port.name}|{priority}": {"profile": name} for priority in classes}
        groups[f"{port.port.name}|0"] = {"profile": "ingress_lossy_profile"}
    queues: Table = {
        f"{port.port.name}|{queue}": {"profile": f"egress_{'lossless' if queue in classes else 'lossy'}_profile"}
        for port in lossless.ports for queue in _PRIORITIES
    }  # fmt: skip
    pools = (
        _spectrum_pools(pool.size, verdict.left) if is_spectrum else _tomahawk_pools(pool.size, verdict.shared_headroom)
    )
    return {"BUFFER_POOL": pools, "BUFFER_PROFILE": profiles, "BUFFER_PG": groups, "BUFFER_QUEUE": queues}


def _spectrum_pools(size: int, left: int) -> Table:
    return {
        _INGRESS: {"size": str(left), "type": "ingress", "mode": "dynamic"},
        _EGRESS: {"size": str(size), "type": "egress", "mode": "dynamic"},
        _EGRESS_LOSSY: {"size": str(left), "type": "egress", "mode": "dynamic"},
    }


def _spectrum_profiles(plan: OperationPlan) -> Table:
    return {
        "ingress_lossy_profile": {"pool": _INGRESS, "size": "0", "dynamic_th": _MOST_THRESHOLD},
        "egress_lossless_profile": {"pool": _EGRESS, "size": "0", "dynamic_th": _MOST_THRESHOLD},
        "egress_lossy_profile": {
            "pool": _EGRESS_LOSSY, "size": str(plan.queues.mtu), "dynamic_th": _MOST_THRESHOLD,
        },
    }  # fmt: skip


def _tomahawk_pools(size: int, shared_headroom: int) -> Table:
    return {
        _INGRESS: {"size": str(size), "type": "ingress", "mode": "dynamic", "xoff": str(shared_headroom)},
        _EGRESS: {"size": str(size), "type": "egress", "mode": "static"},
    }


def _tomahawk_profiles(size: int) -> Table:
    """Lossy traffic is bounded where it leaves, not where it comes in."""
    return {
        "ingress_lossy_profile": {"pool": _INGRESS, "size": "0", "static_th": str(size)},
        "egress_lossless_profile": {"pool": _EGRESS, "size": "0", "static_th": str(size)},
        "egress_lossy_profile": {"pool": _EGRESS, "size": "0", "dynamic_th": "0"},
    }
