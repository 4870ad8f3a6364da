"""The acceptance tests of a fabric, in order, each with expected value, pass mark, source and command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fabopt.inspect.acceptance.expected import COLLECTIVES, SIZES, Collective, ExpectedBandwidths
from fabopt.schema.design import Design
from fabopt.workload.nccl import MIB

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
