"""Verdicts on measurements against a design's expected values, with the likely cause of a failure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabopt.inspect.acceptance.plan import (
    COLLECTIVES,
    LEAST_BYTES,
    LINK_SHARE,
    AcceptanceTest,
    Collective,
    ExpectedBandwidths,
    acceptance_plan,
    pass_mark,
)
from fabopt.inspect.acceptance.runs import MeasuredRun, Measurement
from fabopt.schema.design import Design
from fabopt.units import some

# A link is measured with large messages; others say nothing of its line.
_LEAST_MESSAGE = 65536
_MOST_LATENCY_MESSAGE = 64
# Shares of what is expected, from and to, and what gives them.
_LOOKS = (
    (0.0, 0.13, "about a tenth: no RDMA (NCCL_IB_HCA, peer memory), so sockets are used"),
    (0.20, 0.29, "a quarter: NICs behind two PCIe switches only (wrong slots), or two of eight NICs are used"),
    (0.44, 0.56, "half: NICs in Gen4 or x8 slots, half of the NICs used, or links at half their lanes"),
    (0.84, 0.90, "seven of eight: one NIC of a server is down or left out, or one server is slow; test by pairs"),
    (0.91, 0.955, "6 % less: NCCL_CROSS_NIC=0, with which channels run at 45 of 48 GB/s"),
)


# What no line can carry is a fault of the measurement; rounding and clocks take a little.
_OVER = 1.02
# Of warnings and failures so many are told, each up to so many characters.
_MOST_LINES, _MOST_LETTERS = 3, 120
FAULTS = ("slow", "wrong-data", "late", "failed", "impossible")


@dataclass(frozen=True)
class Verdict:
    """A measurement with its expected value; None without one.

    ``kind``: ``pass``, ``not-compared`` or one of ``FAULTS``: ``failed`` for a run that failed or has no end,
    ``impossible`` for a value above the line rate.
    """

    kind: str
    measurement: Measurement
    expected: float | None
    pass_mark: float | None
    text: str

    @property
    def is_fault(self) -> bool:
        """Whether it fails."""
        return self.kind in FAULTS


@dataclass(frozen=True)
class Acceptance:
    """All verdicts in the order of files. ``notes``: on missing measurements."""

    verdicts: Sequence[Verdict]
    notes: Sequence[str]

    @property
    def faults(self) -> list[Verdict]:
        """The verdicts of measurements that fail."""
        return [verdict for verdict in self.verdicts if verdict.is_fault]

    @property
    def ok(self) -> bool:
        """Whether none fails."""
        return not self.faults


def accepted(design: Design, runs: Sequence[MeasuredRun]) -> Acceptance:
    """Hold runs against a design."""
    expected, plan = ExpectedBandwidths(design), acceptance_plan(design)
    verdicts = [verdict for run in runs for verdict in _verdicts(expected, plan.tests, run)]
    warnings = [note for run in runs for note in _warnings(run)]
    return Acceptance(verdicts, [*plan.notes, *warnings, *_not_measured(plan.tests, verdicts)])


def _warnings(run: MeasuredRun) -> Iterator[str]:
    """The first warnings of NCCL, and the number of further ones."""
    for line, text in run.warnings[:_MOST_LINES]:
        yield f"{run.file}, line {line}: {text[:_MOST_LETTERS]}"
    if len(run.warnings) > _MOST_LINES:
        yield f"{run.file}: {some(len(run.warnings) - _MOST_LINES, 'warning')} of NCCL more"


def _verdicts(expected: ExpectedBandwidths, tests: Sequence[AcceptanceTest], run: MeasuredRun) -> Iterator[Verdict]:
    """Verdicts on a run as a whole, then on its rows."""
    if run.programs > 1:
        ranks = len(run.hosts) // run.programs or 1
        what = f"built without MPI: {run.programs} programs of {'one rank' if ranks == 1 else some(ranks, 'rank')}"
        yield _skipped(run.as_a_whole(), f"{what}, none of which knew of the others: make MPI=1")
        return
    if run.failures:
        line, text = run.failures[0]
        what = f"the run ended in a failure, line {line}: {text[:_MOST_LETTERS]}"
        yield Verdict("failed", run.as_a_whole(line), None, None, what)
    elif not run.ended:
        what = "its closing lines are not there: the run did not end, or the file was cut"
        yield Verdict("failed", run.as_a_whole(), None, None, what)
    if run.out_of_bounds and not any(row.wrong for row in run.rows):
        yield _wrong(run.as_a_whole())
    for row in run.rows:
        yield _verdict(expected, tests, run, row)


def _verdict(
    expected: ExpectedBandwidths, tests: Sequence[AcceptanceTest], run: MeasuredRun, measurement: Measurement
) -> Verdict:
    name, servers, value = measurement.test, measurement.servers, measurement.value
    if measurement.wrong:
        return _wrong(measurement)
    if measurement.iterations == 0:
        return _impossible(measurement, "0 iterations: nothing was measured")
    if value is None or not math.isfinite(value) or value <= 0:
        return _impossible(measurement, f"{value} {measurement.unit} is no measurement: run it again")
    if measurement.misfit:
        return _impossible(measurement, f"{measurement.misfit}: the row was changed, or is of two programs")
    if name in ("ib_write_bw", "ib_write_lat"):
        return _of_link(expected, tests, measurement, value)
    if name not in COLLECTIVES:
        return _skipped(measurement, f"{name} has no expected number")
    if not run.validated:
        return _skipped(measurement, "the data was not looked at (validation: 0): run it with -c 1")
    if servers is None:
        return _skipped(measurement, "how many servers took part is not said (no lines `# Rank`)")
    if servers > expected.servers:
        return _skipped(measurement, f"{servers} servers took part, {expected.servers} are planned")
    if (ranks := run.fewest_ranks or 0) < expected.gpus:
        return _skipped(measurement, f"{ranks} of {expected.gpus} GPUs of a server took part")
    if (ranks := run.most_ranks or 0) > expected.gpus:
        return _skipped(measurement, f"{ranks} ranks on a server that has {expected.gpus} GPUs")
    most = expected.most_gbytes_s(_collective(name), servers)
    if most is not None and value > _OVER * most:
        what = f"{value:.4g} {measurement.unit}, where {servers_words(servers)} can carry {most:.4g} at most"
        return _impossible(measurement, what)
    if servers == 1:
        return _of_server(tests, measurement, value)
    if (measurement.size or 0) < LEAST_BYTES:
        return _skipped(measurement, "below 512 MiB: not compared")
    return _of_collective(expected, _collective(name), servers, measurement, value)


def servers_words(servers: int) -> str:
    """``the links within one server``, ``the NICs of 4 servers``."""
    return "the links within one server" if servers == 1 else f"the NICs of {some(servers, 'server')}"


def _wrong(measurement: Measurement) -> Verdict:
    what = f"{some(measurement.wrong, 'element')} wrong: memory, NVLink or a NIC corrupts data; take the server out"
    return Verdict("wrong-data", measurement, None, None, what)


def _impossible(measurement: Measurement, what: str) -> Verdict:
    return Verdict("impossible", measurement, None, None, what)


def _collective(name: str) -> Collective:
    return next(collective for collective in COLLECTIVES if collective == name)


def _skipped(measurement: Measurement, why: str) -> Verdict:
    return Verdict("not-compared", measurement, None, None, why)


def _of_collective(
    expected: ExpectedBandwidths, name: Collective, servers: int, measurement: Measurement, value: float
) -> Verdict:
    size = measurement.size or 0
    rate = expected.bus_gbytes_s(name, servers, size)
    if rate is None:
        return _skipped(measurement, "the model knows no number for these servers")
    mark, _ = pass_mark(expected, name, servers, size, rate)
    return _compared(measurement, value, rate, mark)


def _of_server(tests: Sequence[AcceptanceTest], measurement: Measurement, value: float) -> Verdict:
    own = next((test for test in tests if test.scope == "server" and test.name == measurement.test), None)
    is_small = own is not None and (measurement.size or 0) < (own.size or 0) // 2
    if own is None or own.expected is None or own.pass_mark is None or is_small:
        return _skipped(measurement, "one server: only all_reduce of 8 GiB and more has a pass mark")
    return _compared(measurement, value, own.expected, own.pass_mark, own.failure)


def _of_link(
    expected: ExpectedBandwidths, tests: Sequence[AcceptanceTest], measurement: Measurement, value: float
) -> Verdict:
    size = measurement.size or 0
    if measurement.test == "ib_write_bw":
        if value > _OVER * float(expected.fabric.nic.gbps):
            line = f"the line gives {float(expected.fabric.nic.gbps):g}"
            return _impossible(measurement, f"{value:.4g} Gb/s, where {line}: another port, or a report in other units")
        if size < _LEAST_MESSAGE:
            return _skipped(measurement, "messages below 64 KiB do not fill a line")
        return _compared(measurement, value, expected.link_gbps, LINK_SHARE * expected.link_gbps)
    mark = next(test.pass_mark for test in tests if test.name == "ib_write_lat")
    if size > _MOST_LATENCY_MESSAGE or mark is None:
        return _skipped(measurement, "latency is of messages up to 64 bytes")
    if value <= mark:
        return Verdict("pass", measurement, None, mark, f"{value:g} us, at most {mark:g}")
    what = f"{value:g} us where {mark:g} us pass: a detour, congestion, or power saving of the CPU"
    return Verdict("late", measurement, None, mark, what)


def _compared(measurement: Measurement, value: float, rate: float, mark: float, failure: str = "") -> Verdict:
    share = value / rate
    told = f"{value:.4g} {measurement.unit} of {rate:.4g} expected ({share:.0%})"
    if value >= mark:
        return Verdict("pass", measurement, rate, mark, told)
    look = failure or looks_like(share)
    return Verdict("slow", measurement, rate, mark, f"{told}, {mark:.4g} pass: {look}")


def looks_like(share: float) -> str:
    """The likely cause, in words, of a measured share of the expected value."""
    known = next((text for least, most, text in _LOOKS if least <= share <= most), "")
    return known or "no known picture: cables first (as-built), then pairs of servers, then groups"


def _not_measured(tests: Sequence[AcceptanceTest], verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Tests of the plan with a number that no measurement is of."""
    there = {
        (verdict.measurement.test, verdict.measurement.servers)
        for verdict in verdicts
        if verdict.kind != "not-compared"
    }
    names = {name for name, _ in there}
    link = ("ib_write_bw", "ib_write_lat")
    missing: dict[str, None] = {}
    for test in tests:
        if test.name in link and test.name not in names:
            missing[test.name] = None
        elif test.unit == "GB/s" and (test.name, test.servers) not in there:
            missing[f"{test.name} over {some(test.servers, 'server')}"] = None
    if missing:
        yield f"not measured: {', '.join(missing)}"
