"""The acceptance tests of a fabric, in order, each with expected value, pass mark, source and command.

Bandwidths that a design should give: links by their lines and slots, collectives by the model of NCCL's tuner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

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


_OCI = "OCI health checks (oracle-quickstart/oci-hpc, multi_node_active_healthcheck.py)"
_AZURE = "Azure node health checks (Azure/azurehpc-health-checks, conf/)"
_MODEL = "NCCL 2.30.7 src/graph/tuning.cc, for this design"
_KERNEL = "Linux kernel message (imbue-ai/cluster-health)"
PRACTICE = "practice"
Value = TypeVar("Value")
# Shares of what is expected that pass: of a link's line, of collectives over servers, of all-to-all.
LINK_SHARE, COLLECTIVE_SHARE, ALL_TO_ALL_SHARE = 0.96, 0.9, 0.8
LATENCY_US, LATENCY_RACK_US = 5, 9
# GB/s of bus bandwidth in one server: expected, and what passes, by how the GPU's name begins.
# Pass marks of Azure (A100, H100, H200, MI300X); 482 GB/s of H200 and 838 of B200 were measured
# (stas00/ml-engineering), of which nine tenths pass on B200.
_ONE_SERVER: Mapping[str, tuple[float, float]] = {
    "A100": (228, 228), "H100": (480, 460), "H200": (482, 431), "B200": (838, 754), "MI300X": (314, 314),
}  # fmt: skip
# Bus bandwidth of two servers that passes at OCI, GB/s.
_TWO_SERVERS: Mapping[str, float] = {"A100": 185, "H100": 440, "H200": 440, "B200": 440, "B300": 700}
_TWO_SERVER_NIC_GBPS: Mapping[str, float] = {"A100": 200, "B300": 800}
# What the kernel says of a slot, Gb/s, by generation and lanes.
_KERNEL_GBPS: Mapping[tuple[int, int], float] = {(5, 16): 504.112, (4, 16): 252.048, (5, 8): 252.056}
SOAK_H = 24
GIB = 1024 * MIB


@dataclass(frozen=True)
class AcceptanceTest:
    """A test. ``expected``, ``pass_mark``: in ``unit``, None where stated in words only; ``size``: bytes of a vector.

    ``scope``: link, server, pair, group, fabric or soak; ``servers``: number of participating servers.
    """

    step: int
    scope: str
    name: str
    servers: int
    size: int | None
    expected: float | None
    pass_mark: float | None
    unit: str
    passes: str
    command: str
    source: str
    failure: str


@dataclass(frozen=True)
class AcceptancePlan:
    """All tests of a design in order. ``notes``: on subjects without a test."""

    tests: tuple[AcceptanceTest, ...]
    notes: tuple[str, ...]


def acceptance_plan(design: Design) -> AcceptancePlan:
    """The tests of a design's compute fabric."""
    expected = ExpectedBandwidths(design)
    return AcceptancePlan(tuple(_tests(expected)), tuple(_notes(expected)))


def _tests(expected: ExpectedBandwidths) -> Iterator[AcceptanceTest]:
    yield from _cables(expected)
    yield from _links(expected)
    yield from _one_server(expected)
    fabric = expected.fabric
    sizes = dict.fromkeys(min(number, expected.servers) for number in (2, expected.servers_per_group, expected.servers))
    scopes = {2: "pair", expected.servers: "fabric"}
    for step, servers in enumerate((number for number in sizes if number > 1), 7):
        yield from _collectives(expected, step, scopes.get(servers, "group"), servers)
    hops = fabric.metrics.max_switch_hops
    yield AcceptanceTest(
        10, "fabric", "hops", expected.servers, None, hops, hops, "switches", "equal", _hops_command(expected),
        "the design", "more hops than planned: a cable is in a wrong port, or a spine is not in routing",
    )  # fmt: skip
    if fabric.protocol == "ethernet":
        yield from _lossless(expected)
    yield AcceptanceTest(
        12, "soak", "flaps", expected.servers, None, 0, 0, "link flaps", "none",
        f"all_reduce_perf -b 8G -e 8G -n 100000 for {SOAK_H} h; then count link_downed on every port", _AZURE,
        "flapping links: clean or exchange the optics at both ends",
    )  # fmt: skip


def _cables(expected: ExpectedBandwidths) -> Iterator[AcceptanceTest]:
    option = "--ibnetdiscover FILE" if expected.fabric.protocol == "infiniband" else "--lldp DIR"
    yield AcceptanceTest(
        1, "link", "cables", expected.servers, None, 0, 0, "findings", "none", f"fabopt as-built DESIGN.json {option}",
        "the design", "cables in wrong ports: repair them first, nothing below tells them from other faults",
    )  # fmt: skip
    slot = expected.embedded.server.pcie
    kernel = None if slot is None else _KERNEL_GBPS.get((slot.generation, slot.lanes))
    if slot is not None and kernel is not None:
        yield AcceptanceTest(
            2, "server", "pcie", 1, None, kernel, kernel, "Gb/s", "exact", "dmesg | grep 'PCIe bandwidth'", _KERNEL,
            f"a NIC or GPU that trained below Gen{slot.generation} x{slot.lanes}: reseat it, or it is in a wrong slot",
        )  # fmt: skip
    yield AcceptanceTest(
        3, "link", "errors", expected.servers, None, None, None, "", "within the vendor's limit",
        "mlxlink -d DEVICE -m -c; ibdiagnet --get_phy_info", PRACTICE,
        "raw errors above the vendor's limit: dirty or weak optics; ask the vendor for the limit of this module",
    )  # fmt: skip


def _links(expected: ExpectedBandwidths) -> Iterator[AcceptanceTest]:
    rate = expected.link_gbps
    line = float(expected.fabric.nic.gbps)
    why = "" if rate >= line else f" (the slot, not the {line:g} Gb/s line, is the limit)"
    yield AcceptanceTest(
        4, "link", "ib_write_bw", 2, None, rate, round(LINK_SHARE * rate, 1), "Gb/s", f"{LINK_SHARE:g} of the line",
        "ib_write_bw -d DEVICE --report_gbits -s 1048576 -D 10 HOST", _OCI,
        f"half: a Gen4 or x8 slot, or a 2-lane link; a little less: MTU or relaxed ordering{why}",
    )  # fmt: skip
    rack = expected.embedded.server.rack is not None
    mark = LATENCY_RACK_US if rack else LATENCY_US
    yield AcceptanceTest(
        5, "link", "ib_write_lat", 2, None, None, mark, "us", f"at most {mark}",
        "ib_write_lat -d DEVICE -s 2 HOST", _OCI, "more: a detour, congestion, or power saving of the CPU",
    )  # fmt: skip


def _one_server(expected: ExpectedBandwidths) -> Iterator[AcceptanceTest]:
    own = _of_gpu(expected, _ONE_SERVER)
    if own is not None:
        yield AcceptanceTest(
            6, "server", "all_reduce", 1, 16 * GIB, own[0], own[1], "GB/s", "bus bandwidth",
            _command("all_reduce", 1, expected), _AZURE, "NVLink or NVSwitch down, or the fabric manager does not run",
        )  # fmt: skip


def _of_gpu(expected: ExpectedBandwidths, table: Mapping[str, Value]) -> Value | None:
    gpu = (expected.embedded.server.gpu or "").upper()
    return next((value for name, value in table.items() if gpu.startswith(name)), None)


def _collectives(expected: ExpectedBandwidths, step: int, scope: str, servers: int) -> Iterator[AcceptanceTest]:
    for collective in COLLECTIVES:
        for size in SIZES:
            rate = expected.bus_gbytes_s(collective, servers, size)
            if rate is not None:
                mark, source = pass_mark(expected, collective, servers, size, rate)
                yield AcceptanceTest(
                    step, scope, collective, servers, size, round(rate, 2), round(mark, 2), "GB/s", "bus bandwidth",
                    _command(collective, servers, expected), source, _failure(collective),
                )  # fmt: skip


def pass_mark(
    expected: ExpectedBandwidths, collective: Collective, servers: int, size: int, rate: float
) -> tuple[float, str]:
    """The pass mark in GB/s for an expected ``rate``, and its source."""
    if collective == "alltoall":
        return ALL_TO_ALL_SHARE * rate, f"at most what NICs and fabric carry; {ALL_TO_ALL_SHARE:g} of it passes"
    published = _of_gpu(expected, _TWO_SERVERS)
    usual = _of_gpu(expected, _TWO_SERVER_NIC_GBPS) or 400
    is_usual = abs(float(expected.fabric.metrics.injection_gbps_per_gpu) - usual) < 1 and expected.ratio(servers) == 1
    is_large = collective == "all_reduce" and servers == 2 and size >= 8 * GIB
    if published is not None and is_large and is_usual and published < rate:
        return published, _OCI
    return COLLECTIVE_SHARE * rate, f"{_MODEL}; {COLLECTIVE_SHARE:g} of it passes"


def _command(collective: str, servers: int, expected: ExpectedBandwidths) -> str:
    rail_only = "NCCL_CROSS_NIC=0 " if expected.fabric.topology == "rail-only" else ""
    gpus, sizes = expected.gpus, "-b 512M -e 16G -f 2"
    if servers == 1:
        return f"{rail_only}{collective}_perf {sizes} -g {gpus}"
    ranks = f"mpirun -np {servers * gpus} -N {gpus} --hostfile HOSTS"
    return f"{rail_only}{ranks} {collective}_perf {sizes} -g 1"


def _failure(collective: str) -> str:
    if collective == "alltoall":
        return "much less than all_reduce of the same servers: uplinks that are missing or hashed unevenly"
    return "half: NICs in Gen4 or x8 slots; 7/8: one NIC is down; a tenth: no RDMA; less with more servers: uplinks"


def _hops_command(expected: ExpectedBandwidths) -> str:
    if expected.fabric.protocol == "infiniband":
        return "ibdmchk -s opensm-subnet.lst -f opensm.fdbs (it counts cables: one more than switches)"
    return "traceroute between servers of different groups (routed); bridges do not show"


def _lossless(expected: ExpectedBandwidths) -> Iterator[AcceptanceTest]:
    pairs = [row for row in expected.fabric.links if row.from_ == "leaf" and row.to == "spine"]
    structure = expected.fabric.structure
    width = getattr(structure, "links_per_pair", None) if pairs else None
    if width is not None:
        yield AcceptanceTest(
            10, "fabric", "ecmp", expected.servers, None, width, width, "next hops for each spine", "equal",
            "vtysh -c 'show ip route LOOPBACK' on every leaf", "the design",
            "fewer: a link is down or a session is not up; maximum-paths is too small",
        )  # fmt: skip
    yield AcceptanceTest(
        11, "fabric", "ecn", expected.servers, None, None, None, "", "marks before pauses, pauses near 0",
        "ethtool -S PORT | grep -e ecn -e prio3_pause while alltoall_perf runs", PRACTICE,
        "pauses without marks: ECN thresholds are above the headroom, or the host does not react to CNPs",
    )  # fmt: skip


def _notes(expected: ExpectedBandwidths) -> Iterator[str]:
    gpu = expected.embedded.server.gpu or expected.embedded.server.id
    if expected.generation is None:
        yield f"NCCL's model is not known for {gpu} here: no number for collectives but all-to-all, which is a bound"
    if expected.ratio(expected.servers) > 1:
        yield f"oversubscription takes {expected.ratio(expected.servers):g}:1 of rings over all servers"
    if expected.fabric.topology == "rail-only":
        yield "rails do not meet: NCCL_CROSS_NIC=0, at 45 GB/s a channel where 48 would do"
    yield "sizes below 512 MiB are not stated: the model is loose there"
