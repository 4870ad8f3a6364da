"""Measurements against what a design should give: what passes, what fails, and what a failure looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabopt.inspect.acceptance.expected import COLLECTIVES, LEAST_BYTES, Collective, ExpectedBandwidths
from fabopt.inspect.acceptance.plan import LINK_SHARE, AcceptanceTest, acceptance_plan, pass_mark
from fabopt.inspect.acceptance.results import Measurement
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


@dataclass(frozen=True)
class Verdict:
    """A measurement with what was expected of it; None where nothing is. ``kind``: ``pass``, ``slow``, ``wrong-data``,
    ``late`` or ``not-compared``.
    """

    kind: str
    measurement: Measurement
    expected: float | None
    pass_mark: float | None
    text: str

    @property
    def is_fault(self) -> bool:
        """Whether it fails."""
        return self.kind in ("slow", "wrong-data", "late")


@dataclass(frozen=True)
class Acceptance:
    """All verdicts in the order of files. ``notes``: what was not measured."""

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


def accepted(design: Design, measurements: Sequence[Measurement]) -> Acceptance:
    """Hold measurements against a design."""
    expected, plan = ExpectedBandwidths(design), acceptance_plan(design)
    verdicts = [_verdict(expected, plan.tests, one) for one in measurements]
    return Acceptance(verdicts, [*plan.notes, *_not_measured(plan.tests, verdicts)])


def _verdict(expected: ExpectedBandwidths, tests: Sequence[AcceptanceTest], measurement: Measurement) -> Verdict:
    name, servers = measurement.test, measurement.servers
    if measurement.wrong:
        what = f"{some(measurement.wrong, 'element')} wrong: memory, NVLink or a NIC corrupts data; take the server out"
        return Verdict("wrong-data", measurement, None, None, what)
    if name in ("ib_write_bw", "ib_write_lat"):
        return _of_link(expected, tests, measurement)
    if name not in COLLECTIVES:
        return _skipped(measurement, f"{name} has no expected number")
    if servers is None:
        return _skipped(measurement, "how many servers took part is not said (no lines `# Rank`)")
    if servers > expected.servers:
        return _skipped(measurement, f"{servers} servers took part, {expected.servers} are planned")
    if servers == 1:
        return _of_server(tests, measurement)
    if measurement.size < LEAST_BYTES:
        return _skipped(measurement, "below 512 MiB: not compared")
    return _of_collective(expected, _collective(name), servers, measurement)


def _collective(name: str) -> Collective:
    return next(collective for collective in COLLECTIVES if collective == name)


def _skipped(measurement: Measurement, why: str) -> Verdict:
    return Verdict("not-compared", measurement, None, None, why)


def _of_collective(expected: ExpectedBandwidths, name: Collective, servers: int, measurement: Measurement) -> Verdict:
    rate = expected.bus_gbytes_s(name, servers, measurement.size)
    if rate is None:
        return _skipped(measurement, "the model knows no number for these servers")
    mark, _ = pass_mark(expected, name, servers, measurement.size, rate)
    return _compared(measurement, rate, mark)


def _of_server(tests: Sequence[AcceptanceTest], measurement: Measurement) -> Verdict:
    own = next((test for test in tests if test.scope == "server" and test.name == measurement.test), None)
    if own is None or own.expected is None or own.pass_mark is None or measurement.size < (own.size or 0) // 2:
        return _skipped(measurement, "one server: only all_reduce of 8 GiB and more has a pass mark")
    return _compared(measurement, own.expected, own.pass_mark, own.failure)


def _of_link(expected: ExpectedBandwidths, tests: Sequence[AcceptanceTest], measurement: Measurement) -> Verdict:
    if measurement.test == "ib_write_bw":
        if measurement.size < _LEAST_MESSAGE:
            return _skipped(measurement, "messages below 64 KiB do not fill a line")
        return _compared(measurement, expected.link_gbps, LINK_SHARE * expected.link_gbps)
    mark = next(test.pass_mark for test in tests if test.name == "ib_write_lat")
    if measurement.size > _MOST_LATENCY_MESSAGE or mark is None:
        return _skipped(measurement, "latency is of messages up to 64 bytes")
    if measurement.value <= mark:
        return Verdict("pass", measurement, None, mark, f"{measurement.value:g} us, at most {mark:g}")
    what = f"{measurement.value:g} us where {mark:g} us pass: a detour, congestion, or power saving of the CPU"
    return Verdict("late", measurement, None, mark, what)


def _compared(measurement: Measurement, rate: float, mark: float, failure: str = "") -> Verdict:
    share = measurement.value / rate
    told = f"{measurement.value:.4g} {measurement.unit} of {rate:.4g} expected ({share:.0%})"
    if measurement.value >= mark:
        return Verdict("pass", measurement, rate, mark, told)
    look = failure or looks_like(share)
    return Verdict("slow", measurement, rate, mark, f"{told}, {mark:.4g} pass: {look}")


def looks_like(share: float) -> str:
    """What gives such a share of what is expected."""
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
