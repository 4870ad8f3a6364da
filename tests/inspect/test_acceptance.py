"""``fabopt.inspect.acceptance``: numbers as NCCL's tuner and measurements have them, results read, failures told."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.inspect.acceptance.expected import ExpectedBandwidths
from fabopt.inspect.acceptance.plan import acceptance_plan
from fabopt.inspect.acceptance.results import rows_of
from fabopt.inspect.acceptance.verdicts import Acceptance, accepted
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.acceptance import PLAN_COLUMNS
from fabopt.output.export.design import design_bytes
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.workload.nccl import MIB
from tests.samples.as_built import shipped, wired
from tests.samples.cli_samples import Run

IB, ETHERNET, RAILS = "dgx-superpod-32", "cluster-256-roce", "rail-only-1024-gpus"
GIB = 1024 * MIB


def nccl_text(rows: list[tuple[int, float, int]], servers: int = 4, test: str = "all_reduce_perf") -> str:
    """What nccl-tests print; rows of size, bus bandwidth, wrong elements."""
    lines = [
        f"# Collective test starting: {test}",
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor)",
    ]
    lines += [
        f"#  Rank {rank:2d} Group  0 Pid 1 on node-{rank // 8} device {rank % 8} [0000:1b:00] NVIDIA H100 80GB HBM3"
        for rank in range(8 * servers)
    ]
    lines += ["#       size   count type redop root time algbw busbw #wrong time algbw busbw #wrong"]
    lines += [
        f"  {size}  {size // 4}  float  sum  -1  100.0  1.0  {rate - 1:.2f}  0  99.0  1.0  {rate:.2f}  {wrong}"
        for size, rate, wrong in rows
    ]
    return "\n".join([*lines, "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1"]) + "\n"


def perftest_text(kind: str, row: str, titles: str) -> str:
    return f"----\n   RDMA_Write {kind} Test\n Device : mlx5_0\n----\n #bytes #iterations {titles}\n {row}\n----\n"


BANDWIDTH = "   BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
LATENCY = "   t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"


def of(name: str, text: str) -> Acceptance:
    return accepted(shipped(name), rows_of(text, "result.txt"))


def kinds(acceptance: Acceptance) -> list[str]:
    return [verdict.kind for verdict in acceptance.verdicts]


# -- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("servers", "row"), [
    (2, (447.88, 454.64, 459.84, 460.72, 461.16, 382.72, 383.36)),
    (4, (350.67, 357.85, 377.11, 380.52, 382.25, 381.44, 382.71)),
    (8, (346.08, 354.81, 370.23, 376.99, 380.46, 378.89, 381.43)),
    (32, (337.15, 350.06, 360.41, 362.2, 370.05, 364.31, 373.9)),
])  # fmt: skip
def test_rows_that_nccl_computes(servers: int, row: tuple[float, ...]) -> None:
    """GB/s of NCCL 2.30.7 for H100 with 8 x 400G: all-reduce of 0.5, 1, 4, 8, 16 GiB, all-gather of 8 and 16."""
    expected = ExpectedBandwidths(shipped(IB))
    for factor, rate in zip((1, 2, 8, 16, 32), row[:5], strict=True):
        assert expected.bus_gbytes_s("all_reduce", servers, 512 * MIB * factor) == pytest.approx(rate, rel=0.01)
    for factor, rate in zip((16, 32), row[5:], strict=True):
        assert expected.bus_gbytes_s("all_gather", servers, 512 * MIB * factor) == pytest.approx(rate, rel=0.01)
        assert expected.bus_gbytes_s("reduce_scatter", servers, 512 * MIB * factor) == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize(("servers", "size", "rate"), [
    # coreweave/nccl-tests README: 64 H100, 8 x 400G.
    *((8, 512 * MIB * 2**power, rate) for power, rate in enumerate((356.0, 365.9, 380.7, 383.2, 386.6))),
    # drmysore/nebius-h100-16gpu-benchmark.
    (2, GIB, 434.99),
])  # fmt: skip
def test_published_measurements_are_near(servers: int, size: int, rate: float) -> None:
    assert ExpectedBandwidths(shipped(IB)).bus_gbytes_s("all_reduce", servers, size) == pytest.approx(rate, rel=0.06)


@pytest.fixture(scope="module")
def blackwell() -> ExpectedBandwidths:
    """Eight servers of eight B200 with 8 x 400G, none of which is oversubscribed."""
    case = {"name": "blackwell", "server": "nvidia-dgx-b200", "servers": 8}
    return ExpectedBandwidths(optimize.solve(inputs_from_objects(case), alternatives_s=0))


@pytest.mark.parametrize(("power", "rate"), list(enumerate((326.9, 362.0, 372.4, 377.3, 380.4, 381.8))))
def test_measurements_of_b200_are_near(blackwell: ExpectedBandwidths, power: int, rate: float) -> None:
    """All-reduce on four P6-B200 servers, 512 MiB and up: a published log of nccl-tests, whose address is not known."""
    assert blackwell.bus_gbytes_s("all_reduce", 4, 512 * MIB << power) == pytest.approx(rate, rel=0.06)


def test_all_to_all_is_bound_by_nics() -> None:
    """Two servers: each GPU sends 8 of its 15 parts through 400 Gb/s: 50 x 15 / 8 GB/s."""
    assert ExpectedBandwidths(shipped(IB)).bus_gbytes_s("alltoall", 2, GIB) == pytest.approx(50 * 15 / 8)


def changed(**fabric: object) -> ExpectedBandwidths:
    """The shipped design with its fabric changed, though it would not be proven."""
    design = shipped(IB)
    own = design.fabrics[0].model_copy(update=fabric)
    return ExpectedBandwidths(design.model_copy(update={"fabrics": (own,)}))


def test_what_holds_rings_back() -> None:
    """Published variants of 8 x 400G: 2:1 above rails that meet in spines is half; rails alone take 45 of 48."""
    full = ExpectedBandwidths(shipped(IB)).bus_gbytes_s("all_gather", 16, 16 * GIB)
    half = changed(oversubscription={"leaf": 2.0}).bus_gbytes_s("all_gather", 16, 16 * GIB)
    alone = changed(topology="rail-only", oversubscription={}).bus_gbytes_s("all_gather", 16, 16 * GIB)
    assert full is not None and half is not None and alone is not None
    assert half / full == pytest.approx(0.5, rel=0.02)
    assert alone / full == pytest.approx(45 / 48, rel=0.01)
    metrics = shipped(IB).fabrics[0].metrics.model_copy(update={"injection_gbps_per_gpu": 252})
    slots = changed(metrics=metrics).bus_gbytes_s("all_gather", 16, 16 * GIB)
    assert slots is not None and 0.5 < slots / full < 0.65


# -- plan -----------------------------------------------------------------------------------------------------------


def test_plan_is_in_order_and_names_its_sources(tmp_path: Path) -> None:
    for name, absent in ((IB, {"ecn", "ecmp"}), (ETHERNET, set())):
        plan = acceptance_plan(shipped(name))
        steps = [test.step for test in plan.tests]
        assert steps == sorted(steps) and set(steps) >= {1, 2, 3, 4, 5, 6, 7}
        assert all(test.source and test.command and test.failure and test.passes for test in plan.tests)
        assert {"hops", "flaps", "cables", "ib_write_bw", "all_reduce", "alltoall", "ecn", "ecmp"} - absent == {
            test.name for test in plan.tests
        } & {"hops", "flaps", "cables", "ib_write_bw", "all_reduce", "alltoall", "ecn", "ecmp"}
        rated = [test for test in plan.tests if test.unit == "GB/s"]
        assert all(0 < (test.pass_mark or 0) <= (test.expected or 0) for test in rated)
    files = export(shipped(IB), wired(IB), ["acceptance"], tmp_path, Options())
    table, whole = (file.read_text() for file in files)
    rows = list(csv.reader(io.StringIO(table)))
    content = json.loads(whole)
    assert tuple(rows[0]) == PLAN_COLUMNS
    assert [row[2] for row in rows[1:]] == [test["name"] for test in content["tests"]]
    hops = next(test for test in content["tests"] if test["name"] == "hops")
    assert hops["expected"] == 3


def test_rails_that_never_meet_are_told() -> None:
    plan = acceptance_plan(shipped(RAILS))
    assert all(test.command.startswith("NCCL_CROSS_NIC=0 ") for test in plan.tests if test.unit == "GB/s")
    assert any("rails do not meet" in note for note in plan.notes)


# -- results --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "picture"), [
    (0.5, "half: NICs in Gen4"), (0.25, "a quarter"), (0.08, "no RDMA"), (0.87, "seven of eight"), (0.7, "no known"),
])  # fmt: skip
def test_failures_have_a_picture(share: float, picture: str) -> None:
    rate = ExpectedBandwidths(shipped(IB)).bus_gbytes_s("all_reduce", 4, 8 * GIB)
    assert rate is not None
    (verdict,) = of(IB, nccl_text([(8 * GIB, share * rate, 0)])).verdicts
    assert verdict.kind == "slow"
    assert picture in verdict.text


def test_a_poor_cluster_is_called_out() -> None:
    """330.93 GB/s of all-reduce on four servers of H100 (aigatech/vpbenchmarking): 87 % of what they should give."""
    assert kinds(of(IB, nccl_text([(8 * GIB, 330.93, 0)]))) == ["slow"]


def test_good_results_pass() -> None:
    text = nccl_text([(512 * MIB, 345.0, 0), (8 * GIB, 375.0, 0), (1 * MIB, 5.0, 0)])
    acceptance = of(IB, text)
    assert kinds(acceptance) == ["pass", "pass", "not-compared"]
    assert acceptance.ok
    assert kinds(of(IB, nccl_text([(16 * GIB, 475.0, 0)], servers=1))) == ["pass"]
    assert kinds(of(IB, nccl_text([(16 * GIB, 367.6, 0)], servers=1))) == ["slow"]
    assert kinds(of(IB, nccl_text([(8 * GIB, 375.0, 0)], servers=33))) == ["not-compared"]


def test_wrong_data_fails_whatever_the_speed() -> None:
    assert kinds(of(IB, nccl_text([(8 * GIB, 380.0, 3)]))) == ["wrong-data"]


def test_links() -> None:
    for row, verdict in (("1048576 5000 391.21 390.87 0.04", "pass"), ("65536 5000 391.2 383.9 0.04", "slow"),
                         ("2 5000 0.1 0.1 0.04", "not-compared")):  # fmt: skip
        assert kinds(of(IB, perftest_text("BW", row, BANDWIDTH))) == [verdict], row
    in_mib = BANDWIDTH.replace("Gb/sec", "MiB/sec")
    (rate,) = rows_of(perftest_text("BW", "1048576 5000 47000.0 46700.0 0.04", in_mib), "x")
    assert rate.value == pytest.approx(46700 * 2**20 * 8 / 1e9)
    for row, verdict in (("2 1000 1.60 5.86 1.63 1.64 0.10", "pass"), ("2 1000 6.0 9.86 7.63 7.7 0.1", "late")):
        assert kinds(of(IB, perftest_text("Latency", row, LATENCY))) == [verdict]


@pytest.mark.parametrize(("text", "message"), [
    ("nothing here\n", "no row of a measurement is in it"),
    (nccl_text([(8 * GIB, 380.0, 0)]).rsplit("  1.0  380.00", 1)[0], "a row that ends early"),
    (nccl_text([(8 * GIB, 380.0, 0)]).replace("all_reduce_perf", "my program"), "which collective was run is not said"),
    (perftest_text("BW", "1048576 5000 391.21", BANDWIDTH), "a row that ends early"),
    (perftest_text("BW", "1048576 5000 391.21 fast 1", BANDWIDTH), "not a number; found 'fast'"),
])  # fmt: skip
def test_results_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows_of(text, "result.txt")


def test_the_file_says_which_collective() -> None:
    text = nccl_text([(8 * GIB, 380.0, 0)]).replace("all_reduce_perf", "unnamed")
    assert rows_of(text, "runs/all-gather-4.txt")[0].test == "all_gather"


def test_command(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    design: Design = shipped(IB)
    Path("design.json").write_bytes(design_bytes(design))
    Path("good.txt").write_text(nccl_text([(8 * GIB, 375.0, 0)]))
    Path("bad.txt").write_text(nccl_text([(8 * GIB, 180.0, 0)]))
    assert run("accept", "design.json", "good.txt").code == 0
    ran = run("accept", "design.json", "good.txt", "bad.txt", "--json", "out.json", "--findings", "out.csv")
    assert ran.code == 1
    assert "2 measurements: 1 pass, 1 fail" in ran.out
    content = json.loads(Path("out.json").read_text())
    assert not content["ok"]
    assert [one["kind"] for one in content["measurements"]] == ["pass", "slow"]
    assert [one["text"] for one in content["findings"]] == [row["text"] for row in csv.DictReader(
        io.StringIO(Path("out.csv").read_text()))]  # fmt: skip
    ran = run("accept", "design.json", "none.txt")
    assert (ran.code, ran.out) == (2, "")
