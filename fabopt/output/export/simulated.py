"""Fabrics for simulators: nodes by number, links with their speed, lengths as the time of light."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabopt.errors import refusal
from fabopt.operate.model import SWITCHES, NamedDevice, NamedLink, OperationPlan
from fabopt.schema.design import Design, FabricDesign

# In glass and in copper: a signal goes 2e8 metres a second.
NS_PER_METRE = 5


@dataclass(frozen=True)
class SimulatedFabric:
    """A compute fabric at a stage: its links, and its devices in the order in which simulators number them."""

    fabric: FabricDesign
    links: Sequence[NamedLink]
    servers: Sequence[NamedDevice]
    attachments: Sequence[NamedDevice]
    switches: Sequence[NamedDevice]
    roles: Mapping[int, str]

    @cached_property
    def own_links(self) -> list[NamedLink]:
        """Links of the fabric's own network, without those of attachments and of logical fabrics."""
        return [
            link
            for link in self.links
            if link.network == self.fabric.name and self.roles[link.a.device] != "attachment"
        ]


def simulated_fabrics(design: Design, plan: OperationPlan, format_name: str) -> list[SimulatedFabric]:
    """The compute fabrics of a design; ``InputError`` where it has none."""
    fabrics = [fabric for fabric in design.fabrics if fabric.role == "compute"]
    if not fabrics:
        called = ", ".join(f"{fabric.name}: {fabric.role}" for fabric in design.fabrics)
        raise refusal(
            f"--to {format_name}", "", f"simulators are told compute fabrics, and this design has none ({called})"
        )
    return [_simulated(plan, fabric) for fabric in fabrics]


def _simulated(plan: OperationPlan, fabric: FabricDesign) -> SimulatedFabric:
    links = [link for link in plan.links if link.fabric == fabric.name]
    devices = plan.at_ends(links)
    return SimulatedFabric(
        fabric, links,
        [device for device in devices if device.role == "server"],
        [device for device in devices if device.role == "attachment"],
        [device for device in devices if device.role in SWITCHES],
        {device.row: device.role for device in devices},
    )  # fmt: skip


def latency_ms(link: NamedLink) -> str:
    """Time of flight of a link in milliseconds; 0 where no cable is bought, so that its length is not known."""
    return f"{link.length_m * NS_PER_METRE * 1e-6:.7f}".rstrip("0").rstrip(".") + "ms"


def link_line(a: int, b: int, link: NamedLink) -> str:
    """A link of ns-3: both nodes, speed, delay, share of packets lost."""
    return f"{a} {b} {link.gbps:g}Gbps {latency_ms(link)} 0"
