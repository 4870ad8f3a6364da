"""Bandwidths that a design should give: links by their lines and slots, collectives by the model of NCCL's tuner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from fabopt.parts.nics import PCIE_X16_GBPS, bus_limit_mbps
from fabopt.schema.catalog import Nic
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.structure import Structure
from fabopt.units import MBPS_PER_GBPS
from fabopt.wiring.design_file import Embedded
from fabopt.workload.nccl import MIB, Generation, Servers

Collective = Literal["all_reduce", "all_gather", "reduce_scatter", "alltoall"]
COLLECTIVES: tuple[Collective, ...] = ("all_reduce", "all_gather", "reduce_scatter", "alltoall")
# Below 512 MiB the model is loose.
LEAST_BYTES = 512 * MIB
SIZES = tuple(LEAST_BYTES * factor for factor in (1, 2, 8, 16, 32))
# GPUs by how their names begin, as NCCL tunes them.
_GENERATIONS: Mapping[str, Generation] = {
    "A100": "ampere", "H100": "hopper", "H200": "hopper", "B200": "blackwell", "B300": "blackwell",
}  # fmt: skip
# Rails that never meet need NCCL_CROSS_NIC=0, with which a channel of 48 GB/s is tried with 45 (NCCL's graph search).
RAIL_ONLY_SPEED_GBPS = 360
_BITS = 8


@dataclass(frozen=True, eq=False)
class ExpectedBandwidths:
    """Expected bandwidths of the compute fabric of a design."""

    design: Design

    @cached_property
    def embedded(self) -> Embedded:
        """The case and the parts."""
        return Embedded(self.design)

    @cached_property
    def fabric(self) -> FabricDesign:
        """The compute fabric, or the first if there is none."""
        compute = [fabric for fabric in self.design.fabrics if fabric.role == "compute"]
        return (compute or list(self.design.fabrics))[0]

    @property
    def servers(self) -> int:
        """Servers at the last stage."""
        return self.design.stages[-1].servers

    @property
    def gpus(self) -> int:
        """GPUs of a server, one at least."""
        return max(1, self.embedded.server.gpus)

    @property
    def generation(self) -> Generation | None:
        """The GPU as NCCL tunes it; None where the model does not know it, or NVLink joins several servers."""
        server = self.embedded.server
        domain = server.scale_up.domain_gpus if server.scale_up is not None else 0
        known = [value for name, value in _GENERATIONS.items() if (server.gpu or "").upper().startswith(name)]
        return known[0] if known and domain == server.gpus else None

    @cached_property
    def slot_gbps(self) -> float | None:
        """Usable Gb/s of the slot of a NIC; None where unknown."""
        nic = self.embedded.part(self.fabric.nic.id, Nic)
        limit = bus_limit_mbps(nic.pcie, self.embedded.server.pcie, PCIE_X16_GBPS)
        return None if limit is None else float(limit) / MBPS_PER_GBPS

    @property
    def link_gbps(self) -> float:
        """Gb/s of a NIC's port: its line rate, or its share of the slot if lower."""
        line = float(self.fabric.nic.gbps)
        return line if self.slot_gbps is None else min(line, self.slot_gbps / self.fabric.nic.ports_per_nic)

    @property
    def servers_per_group(self) -> int:
        """Servers on one set of leaves; all servers without leaf groups."""
        structure = self.fabric.structure
        return structure.servers_per_group if isinstance(structure, Structure) else self.servers

    def ratio(self, servers: int) -> float:
        """The oversubscription that slows rings over ``servers`` packed servers.

        By default NCCL leaves a server on another rail than it entered, so rails of one group meet in the spines.
        """
        fabric = self.fabric
        alone = servers <= self.servers_per_group and (fabric.rails == 1 or fabric.topology == "rail-only")
        leaf, spine = (max(1.0, float(fabric.oversubscription.get(tier, 1))) for tier in ("leaf", "spine"))
        if alone:
            return 1
        return leaf if servers <= self.servers_per_group else leaf * spine

    def nic_gbps(self, servers: int) -> float:
        """Gb/s of a GPU out of its server in collectives over ``servers`` servers."""
        metrics = self.fabric.metrics
        rate = float(metrics.injection_gbps_per_gpu) / self.ratio(servers)
        if self.fabric.topology == "rail-only":
            rate = min(rate, RAIL_ONLY_SPEED_GBPS)
        if not isinstance(self.fabric.structure, Structure) and metrics.allreduce_gbps_per_gpu:
            rate = min(rate, float(metrics.allreduce_gbps_per_gpu))
        return rate

    def bus_gbytes_s(self, collective: Collective, servers: int, size: int) -> float | None:
        """Bus bandwidth, as nccl-tests print it, in GB/s; None where the model does not know it."""
        if collective == "alltoall":
            return self._all_to_all(servers)
        generation, rate = self.generation, int(self.nic_gbps(servers))
        if generation is None or servers < 2 or rate < self.least_gbps:
            return None
        group = Servers(servers, rate, generation, self.gpus)
        ranks = group.members
        if collective == "all_reduce":
            return 2 * size * (ranks - 1) / ranks / float(group.all_reduce_us(size)) / 1000
        return size * (ranks - 1) / ranks / float(group.all_gather_us(size)) / 1000

    def most_gbytes_s(self, collective: Collective, servers: int) -> float | None:
        """Upper bound of bus bandwidth of any algorithm, in GB/s, regardless of oversubscription; None where unknown.

        Of ``s`` bytes all-reduce sends ``s`` out of every server where switches add (InfiniBand, NVSwitch), else
        ``2 s (n - 1) / n``; all-gather and reduce-scatter take ``s (n - 1) / n`` into or out of every one.
        """
        ranks = servers * self.gpus
        if servers == 1:
            inside = self.embedded.server.scale_up
            return None if inside is None or ranks < 2 else 2 * (ranks - 1) / ranks * inside.gbps_per_gpu / _BITS
        per_gpu = float(self.fabric.metrics.injection_gbps_per_gpu) / _BITS
        if collective == "alltoall":
            return per_gpu * (ranks - 1) / (ranks - self.gpus)
        everything = per_gpu * self.gpus * (ranks - 1) / ranks
        if collective == "all_reduce" and self.fabric.protocol == "infiniband":
            return 2 * everything
        return everything * servers / (servers - 1)

    @property
    def least_gbps(self) -> float:
        """NICs that are slower are beyond the speeds that the model has."""
        return 3 * _BITS

    def _all_to_all(self, servers: int) -> float | None:
        """Upper bound in GB/s: each GPU sends to all GPUs of other servers through its share of NICs."""
        ranks = servers * self.gpus
        if servers < 2:
            return None
        rate = float(self.fabric.metrics.injection_gbps_per_gpu) / self.ratio(servers)
        if servers == self.servers:
            rate = min(rate, float(self.fabric.metrics.alltoall_gbps_per_gpu))
        return rate / _BITS * (ranks - 1) / (ranks - self.gpus)
