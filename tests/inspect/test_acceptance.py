"""``fabopt.inspect.acceptance``: numbers as NCCL's tuner and measurements have them, results read, failures told."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.inspect.acceptance import nccl_text as nccl_text_of_runs, perftest
from fabopt.inspect.acceptance.plan import ExpectedBandwidths, acceptance_plan
from fabopt.inspect.acceptance.results import runs_of
from fabopt.inspect.acceptance.runs import untagged
from fabopt.inspect.acceptance.verdicts import Acceptance, accepted
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.acceptance import PLAN_COLUMNS
from fabopt.output.export.design import design_bytes
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.workload.nccl import MIB
from tests.samples.as_built import wired
from tests.samples.cli_samples import Run
from tests.samples.shipped import shipped

IB, ETHERNET, RAILS = "dgx-superpod-32", "cluster-256-roce", "rail-only-1024-gpus"
GIB = 1024 * MIB
LOGS = Path(__file__).parent / "logs"


def nccl_text(rows: list[tuple[int, float, int]], servers: int = 4, test: str = "all_reduce_perf") -> str:
    """What nccl-tests print; rows of size, bus bandwidth, wrong elements."""
    ranks = 8 * servers
    factor = (2 if "all_reduce" in test else 1) * (ranks - 1) / ranks

    def side(size: int, rate: float) -> str:
        return f"{size * factor / rate / 1000:.1f}  {rate / factor:.2f}  {rate:.2f}"

    lines = [
        f"# Collective test starting: {test}",
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor)",
    ]
    lines += [
        f"#  Rank {rank:2d} Group  0 Pid 1 on node-{rank // 8} device {rank % 8} [0000:1b:00] NVIDIA H100 80GB HBM3"
        for rank in range(ranks)
    ]
    lines += ["#       size   count type redop root time algbw busbw #wrong time algbw busbw #wrong"]
    lines += [
        f"  {size}  {size // 4}  float  sum  -1  {side(size, rate - 1)}  0  {side(size, rate)}  {wrong}"
        for size, rate, wrong in rows
    ]
    return "\n".join([*lines, "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1"]) + "\n"


def perftest_text(kind: str, row: str, titles: str) -> str:
    return f"----\n   RDMA_Write {kind} Test\n Device : mlx5_0\n----\n #bytes #iterations {titles}\n {row}\n----\n"


BANDWIDTH = "   BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
LATENCY = "   t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"


def of(name: str, text: str) -> Acceptance:
    return accepted(shipped(name), runs_of(text, "result.txt"))


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
    for row, verdict in (("1048576 5000 391.21 390.87 0.04", "pass"), ("65536 5000 391.2 383.9 0.7322", "slow"),
                         ("2 5000 0.1 0.1 6.25", "not-compared")):  # fmt: skip
        assert kinds(of(IB, perftest_text("BW", row, BANDWIDTH))) == [verdict], row
    in_mib = BANDWIDTH.replace("Gb/sec", "MiB/sec")
    (rate,) = runs_of(perftest_text("BW", "1048576 5000 47000.0 46700.0 0.04", in_mib), "x")[0].rows
    assert rate.value == pytest.approx(46700 * 2**20 * 8 / 1e9)
    for row, verdict in (("2 1000 1.60 5.86 1.63 1.64 0.10", "pass"), ("2 1000 6.0 9.86 7.63 7.7 0.1", "late")):
        assert kinds(of(IB, perftest_text("Latency", row, LATENCY))) == [verdict]


@pytest.mark.parametrize(("text", "message"), [
    ("nothing here\n", "no row of a measurement is in it"),
    (nccl_text([(8 * GIB, 380.0, 0)] * 2).replace("  196.13  380.00  0", "", 1), "a row that ends early"),
    (nccl_text([(8 * GIB, 380.0, 0)]).replace("all_reduce_perf", "my program"), "which collective was run is not said"),
    (perftest_text("BW", "1048576 5000 391.21", BANDWIDTH), "a row that ends early"),
    (perftest_text("BW", "1048576 5000 391.21 fast 1", BANDWIDTH), "not a number; found 'fast'"),
])  # fmt: skip
def test_results_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        runs_of(text, "result.txt")


def failed(name: str, text: str) -> list[str]:
    """What is told of a run's faults."""
    return [f"{verdict.kind}: {verdict.text}" for verdict in of(name, text).faults]


@pytest.mark.parametrize(("name", "code", "told"), [
    ("died", 1, "the run ended in a failure, line 139: Test NCCL failure common.cu:1057 'internal error'"),
    ("out-of-bounds", 1, "3 elements wrong"),
    ("tagged", 0, "6 measurements: 6 pass, 0 fail"),
    ("no-mpi", 0, "built without MPI: 16 programs of one rank"),
])  # fmt: skip
def test_logs_as_people_have_them(name: str, code: int, told: str, tmp_path: Path, run: Run) -> None:
    design = tmp_path / "design.json"
    design.write_bytes(design_bytes(shipped(IB)))
    ran = run("accept", str(design), str(LOGS / f"{name}_all_reduce.txt"))
    assert ran.code == code
    assert told in " ".join(ran.out.split())


GOOD = nccl_text([(512 * MIB, 345.0, 0), (8 * GIB, 375.0, 0)])
TAGS = {
    "open-mpi": lambda line: f"[1,0]<stdout>:{line}",
    "open-mpi-5": lambda line: f"[1,0][node001]<stdout>: {line}",
    "slurm": lambda line: f"0: {line}",
    "slurm-wide": lambda line: f" 0: {line}",
    "pdsh": lambda line: f"node-0.cluster: {line}",
    "kubectl": lambda line: f"[pod/nccl-launcher-x7/nccl] {line}",
    "compose": lambda line: f"launcher-1  | {line}",
    "ts": lambda line: f"Nov 27 12:00:01 node-0 mpirun[433]: {line}",
    "iso": lambda line: f"2026-11-27T12:00:01.123456Z {line}",
    "bracketed": lambda line: f"[2026-11-27 12:00:01,123] {line}",
    "both": lambda line: f"12:00:01.2 [1,0]<stdout>:{line}",
    "open-mpi-timed": lambda line: f"Fri Nov 27 12:00:01 2026[1,0]<stdout>:{line}",
    "prte": lambda line: f"[prterun-node1-1234@1,0]<stdout>: {line}",
    "kubectl-timed": lambda line: f"[pod/a/b] 2026-11-27T12:00:01.123456789Z {line}",
    "journal": lambda line: f"2026-11-27T12:00:01+0000 node-0 nccl[12]: {line}",
    "ctime": lambda line: f"[Fri Nov 27 12:00:01 2026] {line}",
    "ray": lambda line: f"(Test pid=1234, ip=10.0.0.1) {line}",
    "torchrun": lambda line: f"[default0]:{line}",
    "logger": lambda line: f"2026-11-27 12:00:01,123 INFO {line}",
    "epoch": lambda line: f"1764244801.123 {line}",
    "containerd": lambda line: f"2026-11-27T12:00:01.123456789Z stdout F {line}",
    "stern": lambda line: f"nccl-launcher-x7 nccl {line}",
    "colours": lambda line: f"\x1b[32m{line}\x1b[0m",
    "dos": lambda line: f"{line}\r",
}


@pytest.mark.parametrize("tag", TAGS)
def test_what_launchers_put_before_lines_is_read_over(tag: str) -> None:
    text = "\n".join(map(TAGS[tag], GOOD.splitlines()))
    assert kinds(of(IB, text)) == kinds(of(IB, GOOD)) == ["pass", "pass"]


WARNING = "node-1:1234:5678 [3] NCCL WARN NET/IB : Got async event : port error"


@pytest.mark.parametrize("before", ["", "[2026-11-27 12:00:01] "])
@pytest.mark.parametrize("between", ["", "\n", "\n\n"])
def test_a_row_that_a_warning_cuts_goes_on_below_it(before: str, between: str) -> None:
    lines = GOOD.splitlines()
    number = next(place for place, line in enumerate(lines) if line.split()[0] == str(512 * MIB))
    near, far = lines[number].split("  3015.0")
    cut = f"{near} {between}{before}{WARNING}\n  3015.0{far}"
    for text in (cut, f"{lines[number]} {WARNING}", f"{lines[number]}\n{WARNING}"):
        acceptance = of(IB, "\n".join([*lines[:number], text, *lines[number + 1 :]]))
        assert [verdict.measurement.value for verdict in acceptance.verdicts] == [345.0, 375.0]
        assert any("Got async event" in note for note in acceptance.notes)


@pytest.mark.parametrize("name", ["gather", "scatter", "hypercube", "sendrecv", "broadcast", "alltoallv"])
def test_collectives_without_an_expected_number(name: str) -> None:
    assert kinds(of(IB, GOOD.replace("all_reduce_perf", f"{name}_perf"))) == ["not-compared", "not-compared"]


def test_a_run_that_died_before_its_first_row() -> None:
    assert kinds(of(IB, GOOD[: GOOD.index("#       size")])) == ["failed"]


def test_tests_of_other_makers() -> None:
    text = GOOD.replace("# Collective", "# rccl-tests: Version develop:1234\n# Collective").replace(
        "Group  0 Pid", "Pid"
    )
    assert kinds(of(IB, text.replace("NVIDIA H100 80GB HBM3", "AMD Instinct MI300X"))) == ["pass", "pass"]
    died = text.replace("# Out of", "Test HIP failure common.cu:300 'invalid device'\n# Out of")
    assert kinds(of(IB, died)) == ["failed", "pass", "pass"]


def test_tables_of_before_2022() -> None:
    titles = (
        "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error"
    )
    ranks = [line for line in GOOD.splitlines() if "Rank" in line]
    row = " 8589934592    2147483648   float     sum    99.0   180.0  375.00  2e-07    99.0   180.0  370.00  2e-07"
    end = "# Out of bounds values : 0 OK"
    text = "\n".join(["# nThread 1 nGpus 1 iters: 20 validation: 1", *ranks, titles, row, end])
    (own,) = runs_of(text, "all_reduce.txt")
    assert [(one.value, one.wrong) for one in own.rows] == [(375.0, 0)]
    gathered = text.replace("redop", "").replace("   sum ", "")
    assert [one.value for one in runs_of(gathered, "all_gather.txt")[0].rows] == [375.0]


def test_columns_of_each_iteration_are_passed_over() -> None:
    usual = "#       size   count type redop root time algbw busbw #wrong time algbw busbw #wrong"
    side = "time algbw busbw #wrong i_min i_max i_p99 i_cv%"
    text = GOOD.replace(usual, f"#       size   count type redop root {side} {side}")
    text = re.sub(r"(sum  -1)(.*?)  0  (\d.*?)  0$", r"\1\2  0  1 2 3 4  \3  0  1 2 3 4", text, flags=re.MULTILINE)
    assert " 1 2 3 4" in text
    assert kinds(of(IB, text)) == ["pass", "pass"]


def report(**changes: object) -> dict[str, object]:
    """What nccl-tests write with -J, of two servers."""
    devices = [{"rank": rank, "hostname": f"node-{rank // 8}", "device": rank % 8} for rank in range(32)]
    side = {"time": 44381.3287, "alg_bw": 193.5484, "bus_bw": 375.0, "nwrong": 0.0}
    other = {**side, "time": 44981.0764, "alg_bw": 190.9677, "bus_bw": 370.0}
    return {
        "version": 1,
        "args": ["./build/all_reduce_perf", "-b", "8G"],
        "config": {"nthreads": 1, "iterations": 20, "validation": 1, "devices": devices},
        "results": [{"size": 8 * GIB, "count": 2 * GIB, "out_of_place": side, "in_place": other}],
        "out_of_bounds": {"count": 0, "okay": "true"},
        **changes,
    }


def test_reports_are_read_like_tables() -> None:
    (own,) = runs_of(json.dumps(report()), "run.json")
    assert (own.servers, own.fewest_ranks, own.ended, own.rows[0].value) == (4, 8, True, 375.0)
    assert kinds(of(IB, json.dumps(report()))) == ["pass"]
    assert kinds(of(IB, json.dumps(report(out_of_bounds={"count": 2, "okay": "false"})))) == ["wrong-data", "pass"]
    assert kinds(of(IB, json.dumps(report(errors=["unhandled system error"])))) == ["failed", "pass"]
    for key in ("bitwise_mismatches", "average_bus_bandwidth"):
        assert kinds(of(IB, json.dumps(report(**{key: {"okay": "false"}})))) == ["failed", "pass"]
    nan = report(results=[{"size": 8 * GIB, "in_place": {"bus_bw": "nan", "nwrong": None}}])
    assert kinds(of(IB, json.dumps(nan))) == ["impossible"]
    uncounted = report(results=[{"size": 8 * GIB, "in_place": {"bus_bw": 375.0, "nwrong": "N/A"}}])
    assert kinds(of(IB, json.dumps(uncounted))) == ["pass"]
    died = json.dumps(report())
    died = died[: died.index(', "out_of_bounds"') - 1]
    assert kinds(of(IB, died)) == ["failed", "pass"]
    with pytest.raises(InputError, match="not JSON"):
        runs_of('{"a": ', "run.json")
    with pytest.raises(InputError, match="no results are in it"):
        runs_of('{"a": 1}', "run.json")
    with pytest.raises(InputError, match="which collective was run is not said"):
        runs_of(json.dumps(report(args=[])), "run.json")
    with pytest.raises(InputError, match="brackets"):
        runs_of('{"a":' + "[" * 200_000, "run.json")


def test_reports_of_perftest() -> None:
    results = {"MsgSize": 1048576, "n_iterations": 5000, "BW_peak": 392.0, "BW_average": 391.0, "MsgRate": 0.05}
    content = {"test_info": {"test": "RDMA_Write_BW_Test"}, "results": results}
    assert kinds(of(IB, json.dumps(content))) == ["pass"]
    assert kinds(of(IB, json.dumps({**content, "results": {**results, "BW_average": 46700.0}}))) == ["impossible"]
    late = {"test_info": {"test": "RDMA_Write_Latency_Test"}, "results": {"MsgSize": 2, "t_typical": 7.5}}
    assert kinds(of(IB, json.dumps(late))) == ["late"]
    with pytest.raises(InputError, match="no measurement is in it"):
        runs_of(json.dumps({**content, "results": {}}), "x.json")


@pytest.mark.parametrize(("before", "after", "told"), [
    ("# Out of bounds values : 0 OK", "", "failed: its closing lines are not there"),
    ("# Avg", "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED DUE TO TIME LIMIT ***\n# Avg", "failed: the run"),
    ("# Avg", "mpirun noticed that process rank 3 with PID 0 on node x exited on signal 11\n# Avg", "failed: the run"),
    ("# Avg", "n1: Test CUDA failure common.cu:401 'out of memory'\n# Avg", "failed: the run ended in a failure"),
    ("# Avg", "srun: error: node-1: task 3: Exited with exit code 1\n# Avg", "failed: the run ended in a failure"),
    ("# Avg", "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n# Avg", "failed: the run ended in a failure"),
    ("# Avg", "[ 12.5] NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.\n# Avg", "failed: the run"),
    ("# Avg", "Primary job terminated, but 1 process returned\na non-zero exit code.\n# Avg", "failed: the run"),
    ("# Avg", "node-1: CUDA error: an illegal memory access was encountered\n# Avg", "failed: the run"),
    ("# Avg", "[rank3] [PG ID 0] Watchdog caught collective operation timeout: SeqNum=1\n# Avg", "failed: the run"),
    ("# Avg", "node-1: Call to ibv_modify_qp failed with 110 Connection timed out\n# Avg", "failed: the run"),
    ("bandwidth    : 1", "bandwidth    : 1 FAILED", "failed: the run ended in a failure"),
    ("# Avg", "# Bitwise mismatches : 2 FAILED\n# Avg", "failed: the run ended in a failure"),
    ("values : 0 OK", "values : 7 FAILED", "wrong-data: 7 elements wrong"),
    ("193.55  375.00", "193.55  inf", "impossible: inf GB/s is no measurement"),
    ("374.00  0  44381.3  193.55  375.00", "nan  0  44381.3  193.55  nan", "impossible: nan GB/s is no measurement"),
    ("374.00  0  44381.3  193.55  375.00", "0.00  0  44381.3  193.55  0.00", "impossible: 0.0 GB/s is no measurement"),
    ("44381.3  193.55  375.00", "17069.7  503.23  975.00", "impossible: 975 GB/s, where the NICs of 4 servers can"),
    ("step: 2(factor)", "step: 2(factor) warmup iters: 5 iters: 0", "impossible: 0 iterations"),
    ("193.55  375.00", "193.55  -nan", "impossible: nan GB/s is no measurement"),
    ("193.55  375.00", "193.55  -375.00", "impossible: -375.0 GB/s is no measurement"),
])  # fmt: skip
def test_runs_that_are_no_measurement_fail(before: str, after: str, told: str) -> None:
    assert before in GOOD
    assert not failed(IB, GOOD)
    assert any(line.startswith(told) for line in failed(IB, GOOD.replace(before, after)))


# Of 32 ranks: 8 GiB in 44,381.3 us are 193.55 GB/s, of which all-reduce makes 2 x 31 / 32.
ROW = "44381.3  193.55  375.00"


@pytest.mark.parametrize(("row", "told"), [
    ("44381.3  193.55  395.00", "193.55 GB/s over 32 ranks of all_reduce give 375 GB/s of bus bandwidth, and 395.00"),
    ("44381.3  203.87  395.00", "8589934592 bytes in 44381.3 us are 193.5 GB/s, and 203.87 are printed"),
    ("50381.3  193.55  375.00", "8589934592 bytes in 50381.3 us are 170.5 GB/s, and 193.55 are printed"),
    ("44381.3  375.00  375.00", "8589934592 bytes in 44381.3 us are 193.5 GB/s, and 375.00 are printed"),
])  # fmt: skip
def test_figures_of_a_row_that_do_not_fit_each_other(row: str, told: str) -> None:
    (line,) = failed(IB, GOOD.replace(ROW, row))
    assert line.startswith(f"impossible: {told}")
    side = dict(zip(("time", "alg_bw", "bus_bw"), map(float, row.split()), strict=True))
    (line,) = failed(IB, json.dumps(report(results=[{"size": 8 * GIB, "in_place": side}])))
    assert line.startswith("impossible: ")


@pytest.mark.parametrize(("servers", "size", "rate"), [(2, 512 * MIB, 440.0), (4, 16 * GIB, 375.0), (32, GIB, 352.5)])
@pytest.mark.parametrize("test", ["all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "alltoall_perf"])
def test_figures_of_a_row_that_fit(test: str, servers: int, size: int, rate: float) -> None:
    """As they are printed: rounded, cut to whole microseconds, with the time of the CPU, or halved into groups."""
    text = nccl_text([(size, rate, 0), (8, 1.5, 0)], servers, test)
    rough = re.sub(r"  (\d{4,})\.\d  ", r"  \1  ", text)
    cpu = re.sub(r"  \d+\.\d  ", "  7.0  ", text.replace(" time ", " cputime "))
    for own in (text, rough, cpu):
        assert [row.misfit for row in runs_of(own, "result.txt")[0].rows] == ["", ""]
    groups = re.sub(r"Rank +(\d*)([02468]) Group  0", r"Rank \1\2 Group  1", text)
    half = nccl_text([(size, rate, 0)], servers // 2, test).partition("#       size")[2]
    (row,) = runs_of(groups.partition("#       size")[0] + "#       size" + half, "result.txt")[0].rows
    assert not row.misfit


@pytest.mark.parametrize(("kind", "row", "told"), [
    ("BW", "1048576 5000 391.21 390.87 0.0466", ""),
    ("BW", "65536 5000 196.21 195.63 0.373135", ""),
    ("BW", "65536 5000 0.00 195.63 0.000000", ""),
    ("Bidirectional BW", "65536 5000 394.3 391.26 0.746269", ""),
    ("Bidirectional BW", "65536 5000 394.3 391.26 0.373135", ""),
    ("BW", "65536 5000 392.4 391.26 0.373135", "391.3 Gb/s are 0.7463 million messages of 65536 bytes a second"),
    ("BW", "1048576 5000 391.21 390.87 0.0233", "390.9 Gb/s are 0.0466 million messages of 1048576 bytes a second"),
    ("Latency", "2 1000 1.60 5.86 1.63 1.64 0.10", ""),
    ("Latency", "2 1000 2.60 5.86 1.63 2.64 0.10", "1.63 us are not between the least, 2.60, and the most, 5.86"),
])  # fmt: skip
def test_figures_of_perftest_that_do_not_fit(kind: str, row: str, told: str) -> None:
    text = perftest_text(kind, row, LATENCY if kind == "Latency" else BANDWIDTH)
    (own,) = runs_of(text, "result.txt")[0].rows
    assert own.misfit.startswith(told) and bool(own.misfit) == bool(told)


def test_a_last_row_that_is_cut_is_a_run_that_did_not_end() -> None:
    (line,) = failed(IB, GOOD.rsplit("  193.55  375.00", 1)[0])
    assert line == "failed: the run ended in a failure, line 37: a row that ends early"


@pytest.mark.parametrize(("before", "after", "told"), [
    ("step: 2(factor)", "step: 2(factor) validation: 0", "the data was not looked at"),
    ("device 7 ", "gone 7 ", "7 of 8 GPUs of a server took part"),
    ("node-3", "node-2", "16 ranks on a server that has 8 GPUs"),
])  # fmt: skip
def test_runs_of_other_things_are_told_and_not_compared(before: str, after: str, told: str) -> None:
    acceptance = of(IB, GOOD.replace(before, after))
    assert kinds(acceptance) == ["not-compared", "not-compared"]
    assert told in acceptance.verdicts[0].text


def test_runs_in_one_file_are_told_apart() -> None:
    two = nccl_text([(8 * GIB, 445.0, 0)], servers=2) + GOOD + nccl_text([(8 * GIB, 379.0, 0)], test="all_gather_perf")
    runs = runs_of(two, "result.txt")
    assert [(run.test, run.servers, len(run.rows)) for run in runs] == [
        ("all_reduce", 2, 1), ("all_reduce", 4, 2), ("all_gather", 4, 1),
    ]  # fmt: skip
    assert of(IB, two).ok
    # a run that died without a word before the next
    died = GOOD[: GOOD.index("  536870912")] + GOOD
    assert kinds(of(IB, died)) == ["failed", "pass", "pass"]


LINK = perftest_text("BW", "1048576 5000 391.21 390.87 0.0466", BANDWIDTH)
LATE = perftest_text("Latency", "2 1000 6.0 9.86 7.63 7.7 0.1", LATENCY)
ROWLESS = re.sub(r"\n 1048576.*", "", LINK)
SERVED = f"\n{'*' * 36}\n* Waiting for client to connect... *\n{'*' * 36}\n{ROWLESS}"
SLOW = nccl_text([(8 * GIB, 200.0, 0)])


@pytest.mark.parametrize(("text", "told"), [
    (GOOD + LINK + GOOD, ["pass"] * 5),
    (LINK + LATE, ["pass", "late"]),
    (LATE + LINK, ["late", "pass"]),
    (SLOW + LINK, ["slow", "pass"]),
    (LINK + SLOW, ["pass", "slow"]),
    (LINK + ROWLESS, ["pass", "failed"]),
    (ROWLESS + LINK, ["failed", "pass"]),
    (LINK + GOOD[: GOOD.index("# Out of")], ["pass", "failed", "pass", "pass"]),
    (SERVED + LINK, ["pass"]),
    (LINK + SERVED, ["pass"]),
    (SERVED.removesuffix("----\n") + LINK, ["failed", "pass"]),
    (LINK + " Failed to complete run_iter_bw function successfully\n", ["failed", "pass"]),
])  # fmt: skip
def test_a_file_may_hold_runs_of_several_programs(text: str, told: list[str]) -> None:
    text = text.replace("----", "-" * 40)
    for tag in ("slurm", "open-mpi", "dos"):
        acceptance = of(IB, "\n".join(map(TAGS[tag], text.splitlines())) + "\n")
        assert kinds(acceptance) == told, tag
        rows = [verdict.measurement for verdict in acceptance.verdicts if verdict.measurement.size]
        assert all(text.splitlines()[row.line - 1].split()[0] == str(row.size) for row in rows)


def test_programs_without_mpi_of_all_gpus_of_a_server() -> None:
    head, _, rows = GOOD.partition("#       size")
    apart = [head.replace("on node-", f"on other{server}-") for server in range(3)]
    apart = ["\n".join(line for line in text.splitlines() if "Rank" not in line or re.search(r"Rank +[0-7] ", line))
             for text in apart]  # fmt: skip
    lines = rows.splitlines()
    table = [lines[0], *(line for line in lines[1:3] for _ in range(3)), *lines[3:]]
    (verdict,) = of(IB, "\n".join([*apart, "#       size" + table[0], *table[1:]])).verdicts
    assert verdict.kind == "not-compared"
    assert "3 programs of 8 ranks" in verdict.text


def test_more_than_a_line_gives_is_no_measurement() -> None:
    assert failed(IB, perftest_text("BW", "1048576 5000 791.2 790.9 0.0943", BANDWIDTH)) == [
        "impossible: 790.9 Gb/s, where the line gives 400: another port, or a report in other units"
    ]
    assert failed(IB, perftest_text("BW", "1048576 0 391.2 390.9 0.04", BANDWIDTH)) == [
        "impossible: 0 iterations: nothing was measured"
    ]


def test_the_file_says_which_collective() -> None:
    text = nccl_text([(8 * GIB, 380.0, 0)]).replace("all_reduce_perf", "unnamed")
    assert runs_of(text, "runs/all-gather-4.txt")[0].test == "all_gather"


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


def test_a_file_of_many_runs_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    for module in (perftest, nccl_text_of_runs):
        monkeypatch.setattr(module, "untagged", lambda line: read.append(line) or untagged(line))
    log = perftest_text("BW", "1048576 5000 391.2 390.9 0.0466", BANDWIDTH)
    both = f"{log}\n{nccl_text([(8 * GIB, 375.0, 0)])}\n"
    runs = runs_of(both * 40, "all_reduce.txt")
    rows = [row.line for run in runs for row in run.rows]
    lines = len(both.splitlines())
    assert rows == [row + turn * lines for turn in range(40) for row in rows[:2]]
    assert len(read) <= 2 * 40 * lines
