"""The lossless ports of a switch: headroom of each from its cable, the pool's verdict, marking thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fabopt.operate.model import NamedDevice, NamedLink, NamedPort, OperationPlan
from fabopt.parts.headroom import Headroom, headroom, threshold
from fabopt.parts.marking import Marking, marking, pool_share, round_trip_ns
from fabopt.parts.pools import LosslessPorts, PoolVerdict, pool_verdict, ports_text, shortfall_text
from fabopt.parts.switches import lanes_in_use
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.schema.operate import Queues
from fabopt.units import largest, mbps
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import paths_of

_PRIORITIES = range(8)


class LosslessPort(NamedTuple):
    """A port in use with its link. ``room``: None where the length or the table of the ASIC is not known."""

    port: NamedPort
    link: NamedLink
    lanes: int
    room: Headroom | None


@dataclass(frozen=True)
class LosslessSwitch:
    """A switch: its ports in use, lossless priorities of each, and the longest round trip through it in ns."""

    device: NamedDevice
    switch: Switch
    ports: Sequence[LosslessPort]
    priorities: int
    mtu: int
    rtt_ns: float

    @cached_property
    def groups(self) -> Sequence[LosslessPorts]:
        """Ports alike, fast and long ones last."""
        counts = Counter((port.link.gbps, port.link.length_m, port.lanes) for port in self.ports)
        return [LosslessPorts(number, *key) for key, number in sorted(counts.items())]

    @cached_property
    def verdict(self) -> PoolVerdict | None:
        """Whether the pool is enough for all ports; None where it, a length or a table is not known."""
        if not self.switch.asic or any(port.room is None for port in self.ports):
            return None
        return pool_verdict(self.switch.asic, self.switch.buffer_pool, self.groups, self.priorities, self.mtu)

    @property
    def says(self) -> str:
        """The pool's verdict on the ports in use, in a sentence."""
        groups, pool = [group for group in self.groups if group.length_m], self.switch.buffer_pool
        shown = ports_text(groups, self.priorities)
        if self.verdict is None:
            unknown = "a length" if len(groups) < len(self.groups) else "the headroom of its ASIC"
            known = any(port.room is None for port in self.ports)
            return f"{shown}: {unknown if known else 'the pool'} is not known, so nothing is proven"
        if self.verdict.spare < 0:
            return shortfall_text(groups, self.priorities, self.verdict)
        times = self.verdict.demand / (pool.shared_headroom if pool and pool.shared_headroom else self.verdict.demand)
        shared = f", its shared headroom given out {times:.2f} times" if pool and pool.shared_headroom else ""
        return f"{shown}: fits, {self.verdict.left / 1e6:.1f} MB left for data{shared}"

    def classes(self, queues: Queues) -> tuple[int, ...]:
        """Lossless priorities: that of RDMA, then the next ones not used by notifications."""
        others = (
            priority for priority in _PRIORITIES if priority not in (0, queues.rdma_priority, queues.cnp_priority)
        )
        later = sorted(others, key=lambda priority: (priority - queues.rdma_priority) % len(_PRIORITIES))
        return tuple(sorted((queues.rdma_priority, *later[: self.priorities - 1])))

    def marking(self, gbps: float) -> Marking:
        """Marking thresholds of packets to a port of a speed."""
        verdict, exponent = self.verdict, threshold(self.switch.asic or "")
        if verdict is None or exponent is None or verdict.left <= 0:
            return marking(gbps, self.rtt_ns, None)
        return marking(gbps, self.rtt_ns, pool_share(verdict.left, len(self.ports) * self.priorities, exponent))


def lossless_switches(design: Design, plan: OperationPlan) -> Iterator[LosslessSwitch]:
    """Every switch that routes and carries RDMA, in the order of the design."""
    embedded = Embedded(design)
    paths = {fabric.name: fabric.metrics.max_switch_hops for fabric in design.fabrics}
    farthest = {path.fabric: path for fabric in design.fabrics for path in paths_of(embedded, fabric)}
    wanted = {fabric.name: fabric for fabric in embedded.case.fabrics}
    lengths = largest((link.fabric, link.length_m) for link in plan.links)
    for device in plan.devices:
        if device.asn and wanted[device.fabric].lossless is not None:
            switch = embedded.part(device.product, Switch)
            said, switches = wanted[device.fabric].roce, paths[device.fabric]
            priorities, mtu = (said.lossless_priorities, said.mtu) if said else (1, plan.queues.mtu)
            path = farthest.get(device.fabric)
            if path is not None and not path.unknown:
                rtt_ns = path.round_trip_ns
            else:  # a path of n switches has n + 1 cables
                rtt_ns = round_trip_ns((switches + 1) * lengths[device.fabric], switches, switch.latency_ns)
            ports = list(_ports(plan, device, switch, mtu))
            yield LosslessSwitch(device, switch, ports, priorities, mtu, rtt_ns)


def _ports(plan: OperationPlan, device: NamedDevice, switch: Switch, mtu: int) -> Iterator[LosslessPort]:
    rooms: dict[tuple[float, float, int], Headroom | None] = {}
    for port, link in plan.ports_at[device.row]:
        lanes = lanes_in_use(switch, port.cage, port.lanes, mbps(link.gbps))
        key = link.gbps, link.length_m, lanes
        if key not in rooms:
            known = bool(switch.asic and link.length_m)
            rooms[key] = headroom(str(switch.asic), *key, mtu) if known else None
        yield LosslessPort(port, link, lanes, rooms[key])
