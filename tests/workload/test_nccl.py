"""NCCL's own times against the model of its tuner: bus bandwidths that the maker's code gave."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean

import pytest

from fabopt.workload.collectives import Algorithm, Operation, Spread, factor, payloads, running
from fabopt.workload.nccl import MIB, Generation, Protocol, Servers, channels_of, tree_share

GIB = 1024 * MIB
# Bus bandwidth in Gbytes/s that NCCL 2.30.7 computes (src/graph/tuning.cc, commit 5067397c) for 8 GPUs and 8 NICs a
# server: servers, then all-reduce of 512 MiB, 1, 4, 8, 16 GiB, and all-gather of 8 and 16 GiB.
SIZES = [("all_reduce_us", size) for size in (512 * MIB, GIB, 4 * GIB, 8 * GIB, 16 * GIB)]
SIZES += [("all_gather_us", size) for size in (8 * GIB, 16 * GIB)]
TABLE: dict[tuple[Generation, int], list[tuple[float, ...]]] = {
    ("hopper", 400): [
        (2, 447.88, 454.64, 459.84, 460.72, 461.16, 382.72, 383.36),
        (4, 350.67, 357.85, 377.11, 380.52, 382.25, 381.44, 382.71),
        (8, 346.08, 354.81, 370.23, 376.99, 380.46, 378.89, 381.43),
        (16, 341.57, 352.43, 361.04, 370.11, 376.93, 373.91, 378.89),
        (32, 337.15, 350.06, 360.41, 362.2, 370.05, 364.31, 373.9),
        (64, 332.82, 347.71, 359.79, 361.88, 362.94, 346.54, 364.31),
        (128, 328.59, 345.39, 359.16, 361.56, 362.78, 315.72, 346.53),
    ],
    ("hopper", 200): [
        (2, 301.9, 306.14, 309.4, 309.95, 310.22, 191.68, 191.84),
        (4, 188.23, 190.09, 191.52, 191.76, 191.88, 191.36, 191.68),
        (8, 186.89, 189.41, 191.35, 191.67, 191.84, 190.71, 191.36),
        (16, 185.57, 188.73, 191.17, 191.59, 191.79, 189.44, 190.71),
        (32, 184.26, 188.05, 191.0, 191.5, 191.75, 186.95, 189.44),
        (64, 182.96, 187.37, 190.82, 191.41, 191.7, 182.15, 186.95),
        (128, 181.67, 186.69, 190.65, 191.32, 191.66, 173.27, 182.15),
    ],
    ("blackwell", 400): [
        (2, 434.64, 489.21, 495.24, 496.26, 496.77, 382.72, 383.36),
        (4, 335.03, 376.45, 382.09, 383.04, 383.52, 381.44, 382.71),
        (8, 329.4, 373.79, 381.4, 382.69, 383.35, 378.89, 381.43),
        (16, 325.32, 371.14, 380.7, 382.34, 383.17, 373.91, 378.89),
        (32, 321.31, 368.52, 380.01, 381.99, 382.99, 364.31, 373.9),
        (64, 317.37, 365.92, 379.31, 381.64, 382.82, 346.54, 364.31),
        (128, 313.52, 363.35, 378.62, 381.29, 382.64, 315.72, 346.53),
    ],
}
# The share of NICs of 400 Gb/s that SimAI counts with, on servers of 8 GPUs and NICs: of all-gather and reduce-scatter
# around a ring on 2, 4, 8, 16, 32, 64 and 128 of them, of all-to-all on 2, 4, 8 and 16. Source: aliyun/SimAI at
# cef83f9, astra-sim-alibabacloud/inputs/ratio/nic_ratio.csv and ata_ratio.csv; of what: system/calbusbw.cc.
SIMAI_RING = {
    512 * MIB: (0.89, 0.85, 0.78, 0.73, 0.562, 0.384, 0.1902),
    GIB: (0.92, 0.93, 0.9, 0.76, 0.74, 0.563, 0.314575),
    2 * GIB: (0.94, 0.94, 0.94, 0.92, 0.758, 0.745, 0.553525),
    4 * GIB: (0.95, 0.95, 0.95, 0.95, 0.923, 0.755, 0.740175),
    8 * GIB: (0.95, 0.96, 0.96, 0.96, 0.953, 0.914, 0.7648),
    16 * GIB: (0.96, 0.96, 0.96, 0.96, 0.957, 0.958, 0.919175),
}
SIMAI_ALL_TO_ALL = {
    512 * MIB: (0.8, 0.94, 0.89, 0.81),
    GIB: (0.81, 0.94, 0.92, 0.85),
    2 * GIB: (0.81, 0.95, 0.93, 0.88),
    4 * GIB: (0.8, 0.95, 0.94, 0.89),
    8 * GIB: (0.8, 0.95, 0.94, 0.9),
    16 * GIB: (0.8, 0.95, 0.94, 0.9),
}
ROWS = [(key, row) for key, rows in TABLE.items() for row in rows]


@pytest.mark.parametrize(("key", "row"), ROWS, ids=lambda value: str(value[:2]))
def test_bus_bandwidth_is_what_nccl_counts(key: tuple[Generation, int], row: tuple[float, ...]) -> None:
    servers = Servers(int(row[0]), key[1], key[0])
    for (name, vector), expected in zip(SIZES, row[1:], strict=True):
        passes = 2 if name == "all_reduce_us" else 1
        sent = passes * vector * (servers.members - 1) / servers.members
        assert sent / float(getattr(servers, name)(vector)) / 1000 == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("operation", "table"), [("all-gather", SIMAI_RING), ("all-to-all", SIMAI_ALL_TO_ALL)], ids=["ring", "all-to-all"]
)
def test_shares_of_nics_are_those_of_simai(operation: Operation, table: dict[int, tuple[float, ...]]) -> None:
    """From 512 MiB up, 42 and 24 shares: less than 10 % off in the mean."""
    way: Algorithm = "ring" if operation == "all-gather" else "direct"
    errors = []
    for vector, shares in table.items():
        for power, published in enumerate(shares, 1):
            servers, members = 2**power, 8 * 2**power
            out = factor(operation, way, members) / 8 if way == "ring" else Fraction(members - 8, members)
            wire_s = out * vector / (50 * 10**9)
            spread = Spread(members, 8, servers, channels_of("hopper", 8, Fraction(400)))
            ways = [running(operation, way, one, Fraction(vector), spread, "hopper") for one in payloads(way)]
            errors.append(float(wire_s / min(one.time_s(wire_s) for one in ways)) / published - 1)
    assert fmean(map(abs, errors)) < 0.10


def test_servers_without_reducing_switches_use_rings_and_trees() -> None:
    """By hand: four servers with 200G: a ring of 8 x 24 GB/s, 1.4 (8.4 + 56 x 3.4 + 6 x 14) us before the last byte."""
    ring = 1.4 * (8.4 + 56 * 3.4 + 6 * 14) + GIB * 62 / 32 / (192 * 1000)
    assert float(Servers(4, 200, "ampere").all_reduce_us(GIB)) == pytest.approx(ring)


@pytest.mark.parametrize(
    ("way", "protocol", "inside", "domains", "gbytes_s"),
    [
        ("ring", "LL", 8, 4, 20.4),
        ("ring", "LL", 8, 2, 39),
        ("ring", "LL", 8, 1, 141),
        ("ring", "LL128", 8, 4, 8 * 36.7),
        # four channels become eight, which carry more than the lines
        ("ring", "LL128", 4, 4, 8 * 36.7),
        ("ring", "Simple", 8, 4, None),
        ("tree", "LL128", 8, 4, 8 * 29),
        ("tree", "LL128", 8, 2, 8 * 36.7),
        ("tree", "Simple", 8, 4, 8 * 36),
        ("tree", "Simple", 8, 2, 8 * 41.4),
    ],
)
def test_protocols_have_limits_of_their_own(
    way: Algorithm, protocol: Protocol, inside: int, domains: int, gbytes_s: float | None
) -> None:
    """Hopper on 400G, tuning.cc at 5067397c: where lines are fast without end, bytes over the most Gbytes a second."""
    members, channels = inside * domains, channels_of("hopper", inside, Fraction(400))
    vector = Fraction(GIB)
    run = running("all-reduce", way, protocol, vector, Spread(members, inside, domains, channels), "hopper")
    sent = float(vector) * (2 if way == "tree" else 2 * (members - 1) / members)
    expected = sent / (gbytes_s * 10**9) if gbytes_s else 0
    assert float(run.time_s(Fraction(0)) - run.latency_s) == pytest.approx(expected)


def test_trees_reach_less_of_their_bandwidth_at_medium_sizes() -> None:
    """Powers of two from 64 bytes (treeCorrectionFactor): 1 MiB is the 15th, 256 KiB with LL the 13th."""
    assert tree_share("Simple", Fraction(MIB)) == Fraction(1, 2)
    assert tree_share("LL", Fraction(MIB, 4)) == tree_share("LL", Fraction(MIB, 2) - 1) == Fraction(4, 10)
    assert tree_share("LL128", Fraction(512 * MIB)) == tree_share("LL128", Fraction(10)) == 1


def test_channels_are_doubled_where_they_are_few_or_fast() -> None:
    """search.cc, ncclTopoDupChannels: 24 Gbytes/s of 200G never; 48 of 400G up to four on Hopper; 96 of 800G always."""
    known: list[tuple[Generation, int, int, int]] = [
        ("ampere", 8, 200, 8), ("hopper", 8, 400, 8), ("hopper", 4, 400, 8), ("hopper", 1, 200, 1),
        ("blackwell", 8, 800, 16), ("blackwell", 8, 400, 8),
    ]  # fmt: skip
    for generation, nics, gbps, channels in known:
        assert channels_of(generation, nics, Fraction(gbps)) == channels


def test_other_makers_have_none_that_are_known() -> None:
    run = running("all-reduce", "tree", "LL", Fraction(MIB), Spread(32, 8, 4, 8), None)
    assert run.least_s == 0 and run.payload == payloads("tree")["LL"]
