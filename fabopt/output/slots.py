"""The server slots that limit the NICs of a design, where their ports could carry more."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fabopt.output.words import plain
from fabopt.schema.design import Design, NicUse, Number
from fabopt.units import exact

if TYPE_CHECKING:
    from fabopt.schema.design import Front


class SlotLimit(NamedTuple):
    """Gb/s of each NIC that its slot passes, of those of its ports; the slot of the server, and as what it runs."""

    passed: Fraction
    ports: Fraction
    slot: str
    run: str


def slot_limit(design: Design, nic: NicUse, injection: Number) -> SlotLimit | None:
    """What slots pass; None where the ports are the limit."""
    server = str(design.case.content.get("server"))
    slot, card = (design.parts.get(part, {}).get("pcie") for part in (server, nic.id))
    stage = design.stages[-1] if design.stages else None
    if not isinstance(slot, dict) or not isinstance(card, dict) or stage is None or not stage.gpus:
        return None
    passed = _gbps_of_nic(nic, stage.gpus // stage.servers, injection)
    ports = nic.ports_per_nic * exact(nic.gbps)
    scale_up = design.parts[server].get("scale_up")
    if passed >= ports or (isinstance(scale_up, dict) and scale_up.get("gbps_per_gpu") == injection):
        return None
    run = f"Gen{min(slot['generation'], card['generation'])} x{min(slot['lanes'], card['lanes'])}"
    return SlotLimit(passed, ports, f"Gen{slot['generation']} x{slot['lanes']}", run)


def slot_words(design: Design, nic: NicUse, injection: Number) -> str:
    """``252 of the 400 Gb/s of each NIC pass dgx's Gen4 x16 slots``; empty where the ports are the limit."""
    limit = slot_limit(design, nic, injection)
    if limit is None:
        return ""
    passed, ports = (plain(float(gbps)) for gbps in limit[:2])
    whose = f"{design.case.content.get('server')}'s {limit.slot} slots"
    return f"{passed} of the {ports} Gb/s of each NIC pass {whose} (at {limit.run})"


def slots_at(front: Front, number: int) -> str:
    """The slots that limit the NICs of a point, from 1, of a sweep or front; empty where none does."""
    if not front.points[number - 1].fabrics:
        return ""
    from fabopt.design.points import design_at

    design = design_at(front, number)
    words = (slot_words(design, fabric.nic, fabric.metrics.injection_gbps_per_gpu) for fabric in design.fabrics)
    return "; ".join(dict.fromkeys(text for text in words if text))


def _gbps_of_nic(nic: NicUse, gpus: int, injection: Number) -> Fraction:
    """Gb/s of each NIC where the slowest GPU gets ``injection`` Gb/s: NICs are shared evenly, or by whole GPUs."""
    if nic.per_server % gpus == 0 or gpus % nic.per_server == 0:
        return exact(injection) * gpus / nic.per_server
    return exact(injection) * -(-gpus // nic.per_server)
