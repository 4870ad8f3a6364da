"""Gaps of the plan, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fabopt.operate.model import Numbered
from fabopt.operate.ports import PortPlan
from fabopt.schema.operate import Operate
from fabopt.units import some


def notes_of(
    operate: Operate, devices: Sequence[Numbered], systems: Sequence[str], ports: PortPlan, peered: Sequence[str]
) -> list[str]:
    """Sentences about systems and names that the catalog lacks, and about fabrics with peer links."""
    unknown = Counter(device.product for device, system in zip(devices, systems, strict=True) if not system)
    notes = [
        f"what runs on {product} ({some(number, 'switch')}) is not known; its ports have the design's names "
        f"(operate.systems says it)"
        for product, number in unknown.items()
    ]
    notes += [f"SONiC's numbers of the ports of {product} are not known; they have the design's names"
              for product in ports.without_numbers]  # fmt: skip
    notes += [f"names of the RDMA devices of {fabric} are not known; ports of servers have the design's names "
              f"(operate.hcas.{fabric} says them)" for fabric in ports.without_hcas]  # fmt: skip
    notes += [f"ports of peer links of {fabric} are cabled and named, and not configured: MLAG has to match "
              "the bonds of servers, which are not known" for fabric in peered]  # fmt: skip
    unused = sorted(operate.systems.keys() - {device.product for device in devices})
    return notes + [f"operate.systems names {product}, which the design does not have" for product in unused]
