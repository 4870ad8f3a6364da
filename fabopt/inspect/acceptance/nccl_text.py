"""Tables of nccl-tests, of every version since 2019, in logs as launchers leave them.

Whether the figures of one row fit each other: what a program prints of one measurement in several columns.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from fabopt.errors import refusal
from fabopt.inspect.acceptance.plan import Collective
from fabopt.inspect.acceptance.runs import (
    MeasuredRun,
    Measurement,
    is_failure,
    is_warning,
    servers_of,
    untagged,
    without_messages,
)

# What programs take away before they print a column is far below, an edited figure far above.
_SLACK: Final = 0.02
# Of n ranks: bus bandwidth for each unit of algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md).
_BUS_FACTORS: Final[Mapping[Collective, Callable[[int], float]]] = {
    "all_reduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "all_gather": lambda ranks: (ranks - 1) / ranks,
    "reduce_scatter": lambda ranks: (ranks - 1) / ranks,
    "alltoall": lambda ranks: (ranks - 1) / ranks,
}
_BYTES_PER_GB: Final = 10**9
_US_PER_S: Final = 10**6
_BITS: Final = 8


def ranks_of_a_group(ranks: Iterable[tuple[int, str]]) -> int | None:
    """Ranks of a communicator, of numbers of ranks with their groups; None where some lack, or groups differ."""
    told = set(ranks)
    sizes = {*Counter(group for _, group in told).values()}
    is_whole = {number for number, _ in told} == set(range(len(told)))
    return sizes.pop() if is_whole and len(sizes) == 1 else None


def collective_misfit(test: str, size: int, ranks: int | None, time_us: str, algorithm: str, bus: str) -> str:
    """What does not fit in a row of nccl-tests, in words; empty where all fits, or is not known.

    ``time_us``, ``algorithm``, ``bus``: cells as printed, the bandwidths in GB/s; empty where there is no such column.
    """
    factor = next((factor for name, factor in _BUS_FACTORS.items() if name == test), None)
    if factor is None:
        return ""
    time, rate = _span(time_us), _span(algorithm)
    if time and rate and time[0] > 0:
        given = [size / limit * _US_PER_S / _BYTES_PER_GB for limit in time]
        if not _meet(given, rate):
            return f"{size} bytes in {time_us} us are {_middle(given):.4g} GB/s, and {algorithm} are printed"
    carried = _span(bus)
    if rate and carried and ranks is not None and ranks > 1:
        given = [limit * factor(ranks) for limit in rate]
        if not _meet(given, carried):
            told = f"{ranks} ranks of {test} give {_middle(given):.4g} GB/s of bus bandwidth"
            return f"{algorithm} GB/s over {told}, and {bus} are printed"
    return ""


def message_misfit(size: int, gbps: float, messages: str, directions: Sequence[int]) -> str:
    """What does not fit in a row of bandwidth of perftest; ``messages``: millions a second, of so many directions."""
    told = _span(messages)
    given = gbps * _BYTES_PER_GB / _BITS / size / _US_PER_S if size else 0
    # nothing was printed in the column, or the rate is told by other checks
    if not told or told[1] <= 0 or not float(messages) or not 0 < given < math.inf:
        return ""
    if any(_meet([given / ways], told) for ways in directions):
        return ""
    return f"{gbps:.4g} Gb/s are {given:.4g} million messages of {size} bytes a second, and {messages} are printed"


def latency_misfit(least: str, typical: str, most: str) -> str:
    """What does not fit in a row of latency of perftest: the typical one lies between the least and the most."""
    spans = [_span(cell) for cell in (least, typical, most)]
    low, middle, high = spans
    if not low or not middle or not high or (low[0] <= middle[1] and middle[0] <= high[1]):
        return ""
    return f"{typical} us are not between the least, {least}, and the most, {most}"


def _span(cell: str) -> tuple[float, float] | None:
    """From and to what a printed figure can stand for, rounded or cut; None where it is no finite number."""
    try:
        value = float(cell)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    unit = abs(value) * _SLACK if "e" in cell.lower() else 10.0 ** -len(cell.partition(".")[2])
    return value - unit, value + unit


def _middle(ends: Sequence[float]) -> float:
    return sum(ends) / len(ends)


def _meet(given: Sequence[float], told: tuple[float, float]) -> bool:
    """Whether two spans have a point in common, but for the slack."""
    return min(given) * (1 - _SLACK) <= told[1] and told[0] <= max(given) * (1 + _SLACK)


_COLLECTIVE: Final = re.compile(
    r"(all_reduce|all_gather|reduce_scatter|alltoallv?|sendrecv|broadcast|reduce|gather|scatter|hypercube)(?:_perf|\b|_)"
)
_HEADING: Final = re.compile(r"#\s+(?:nccl-tests version|Collective test starting)")
_SETTINGS: Final = re.compile(r"#\s+nThread\b")
# Whatever a launcher puts before each line, as it does before this one.
_TAG: Final = re.compile(r"^([^#\n]{1,200})#\s+nThread\b", re.MULTILINE)
_RANK: Final = re.compile(r"#\s+Rank\s+(\d{1,15})\b(?:\s+Group\s+(\d{1,15}))?.*?\bon\s+(\S+)\s+device")
_TITLES: Final = re.compile(r"#\s*size\s+count\s+type\b.*\b(?:cpu)?time\b.*")
_ROW: Final = re.compile(r"\s*\d{1,15}\s+\d{1,15}\s+[a-z]\w*(?:\s.*)?")
_REST: Final = re.compile(r"\s*(?:(?:[\d.eE+-]+|-?nan|-?inf|N/A)(?:\s+|$))+", re.IGNORECASE)
_OUT_OF_BOUNDS: Final = re.compile(r"#\s*Out of bounds values\s*:\s*(\d{1,15})(?!\d)")
_ITERATIONS: Final = re.compile(r"(?<!warmup )\biters: (\d{1,15})(?!\d)")
_VALIDATION: Final = re.compile(r"\bvalidation: (\d{1,15})(?!\d)")
# Columns where a file has rows without their titles.
_USUAL: Final = [
    *("size", "count", "type", "redop", "root"),
    *("time", "algbw", "busbw", "#wrong"),
    *("time", "algbw", "busbw", "#wrong"),
]
_BUS, _WRONG = "busbw", "#wrong"


def nccl_runs(text: str, file: str, above: int = 0) -> list[MeasuredRun]:
    """The runs of a log, in order; those without rows, ranks and failures left out.

    ``above``: lines of the file before the text.
    """
    tag = _TAG.search(text)
    lines = [untagged(line.removeprefix(tag[1] if tag else "")) for line in text.splitlines()]
    starts = _starts(lines)
    ends = [*starts[1:], len(lines)]
    log = _Log(lines, above, file, collective_in(PurePath(file).name) or _test_of(lines))
    parts = [_RunLines(log, start, end) for start, end in zip(starts, ends, strict=True)]
    runs = [part.run() for part in _without_mpi(parts)]
    return [run for run in runs if run.rows or run.hosts or run.failures]


def begins_run(line: str) -> bool:
    """Whether a line is one with which nccl-tests begin."""
    return bool(_HEADING.match(line) or _SETTINGS.match(line))


def _starts(lines: Sequence[str]) -> list[int]:
    """First lines of runs: each run has one line of settings, with heading lines before it; the first run begins at the
    top.
    """
    starts: list[int] = []
    for number, line in enumerate(lines):
        if _SETTINGS.match(line):
            while number and _HEADING.match(lines[number - 1]):
                number -= 1
            starts.append(number)
    return [0, *starts[1:]]


def _whole_rows(lines: Sequence[str]) -> list[str]:
    """Lines without NCCL's messages; a row cut by a message is joined with its rest on a later line, which becomes
    empty.
    """
    whole: list[str] = []
    cut: int | None = None
    for number, line in enumerate(lines):
        plain = without_messages(line)
        if cut is not None and _REST.fullmatch(plain):
            whole[cut] = f"{whole[cut]} {plain.strip()}"
            plain, cut = "", None
        elif plain.strip():
            cut = number if _ROW.fullmatch(plain) else None
        whole.append(plain)
    return whole


class _Log(NamedTuple):
    """Lines of a file below so many ``above``; ``test``: the collective that its name or any line names, or empty."""

    lines: Sequence[str]
    above: int
    file: str
    test: str


class _RunLines:
    """The lines of a run, from ``start`` up to ``end`` of a log; ``number``: its first line in the file."""

    def __init__(self, log: _Log, start: int, end: int, programs: int = 1) -> None:
        self.log, self.start, self.end, self.programs = log, start, end, programs
        self.file, self.number = log.file, log.above + start + 1
        self.told = log.lines[start:end]
        self.own = _whole_rows(self.told)
        self.ranks = [(int(match[1]), match[2] or "", match[3]) for match in map(_RANK.match, self.own) if match]
        self.sizes = [line.split()[0] for line in self.own if _ROW.fullmatch(line)]
        self.has_end = any(_OUT_OF_BOUNDS.match(line) for line in self.own)

    def joined(self, last: _RunLines, programs: int) -> _RunLines:
        """The lines from this part to the end of ``last``, as one part."""
        return _RunLines(self.log, self.start, last.end, programs)

    def run(self) -> MeasuredRun:
        """The run that these lines are of."""
        hosts = tuple(host for _, _, host in self.ranks)
        test = _test_of(self.own) or self.log.test
        early: list[tuple[int, str]] = []
        rows = tuple(self._rows(test, servers_of(hosts), early))
        if rows and not test:
            raise refusal(
                self.file,
                "",
                "which collective was run is not said",
                allowed="all_reduce, all_gather, ...",
                hint="call the file after it, as in all_reduce.txt",
            )
        wrong = [int(match[1]) for match in map(_OUT_OF_BOUNDS.match, self.own) if match]
        return MeasuredRun(
            self.file, self.number, test, hosts, rows,
            ended=self.has_end, failures=(*early, *self._told(is_failure)), warnings=tuple(self._told(is_warning)),
            out_of_bounds=sum(wrong), validated=_setting(_VALIDATION, self.own) != 0 and not self._is_unchecked(),
            programs=self.programs,
        )  # fmt: skip

    def _is_unchecked(self) -> bool:
        """Whether no row states a number of wrong elements."""
        rows = [line.split() for line in self.own if _ROW.fullmatch(line)]
        return bool(rows) and all("N/A" in cells for cells in rows)

    def _told(self, tells: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
        """The lines that match ``tells``, with their numbers."""
        for number, line in enumerate(self.told, self.number):
            if tells(line):
                yield number, line[len(without_messages(line)) :].strip() or line.strip()

    def _rows(self, test: str, servers: int | None, early: list[tuple[int, str]]) -> Iterator[Measurement]:
        """The measurements; ``early`` takes the last line where it ends before its last column."""
        titles = _USUAL
        iterations = _setting(_ITERATIONS, self.own)
        ranks = ranks_of_a_group((rank, group) for rank, group, _ in self.ranks)
        for number, line in enumerate(self.own, self.number):
            if _TITLES.match(line):
                titles = line.replace("#", " ", 1).split()
            elif _ROW.fullmatch(line):
                cells = line.split()
                sides = _sides(titles, cells)
                if not sides:
                    if any(_ROW.fullmatch(later) for later in self.own[number - self.number + 1 :]):
                        raise refusal(self.file, f"line {number}", "a row that ends early", hint="is the file cut off?")
                    early.append((number, "a row that ends early"))
                    continue
                rates = [_number(side.bus, self.file, number) for side in sides]
                size = int(cells[0])
                best = next((rate for rate in rates if not 0 < rate < math.inf), max(rates))
                wrong = sum(wrong_elements(side.wrong) for side in sides)
                misfits = (collective_misfit(test, size, ranks, side.time, side.rate, side.bus) for side in sides)
                misfit = next(filter(None, misfits), "")
                yield Measurement(self.file, number, test, size, best, "GB/s", servers, wrong, iterations, misfit)


def _without_mpi(parts: Sequence[_RunLines]) -> Iterator[_RunLines]:
    """The parts, with independent programs that ran at once joined.

    Each of them lists its ranks from 0 before any prints a row, and then each prints every size.
    """
    index = 0
    while index < len(parts):
        last = index
        while last + 1 < len(parts) and parts[last].ranks and not parts[last].sizes and not parts[last].has_end:
            last += 1
        programs = last - index + 1
        repeats = min(Counter(parts[last].sizes).values(), default=1)
        if programs > 1 and repeats > 1:
            yield parts[index].joined(parts[last], max(programs, repeats))
        else:
            yield from parts[index : last + 1]
        index = last + 1


class _Side(NamedTuple):
    """Cells of a row out-of-place or in-place; ``time`` and ``rate`` are empty where there is no such column."""

    time: str
    rate: str
    bus: str
    wrong: str


def _sides(titles: Sequence[str], cells: Sequence[str]) -> list[_Side]:
    """Out-of-place and in-place; empty where the row ends early.

    Tables of before 2022 have no root for all-reduce, and the largest error in place of wrong elements. With ``-C`` the
    time is that of the CPU, ``cputime``, which bandwidths are not of.
    """
    places = [bus for bus, title in enumerate(titles) if title == _BUS]
    if not places or len(cells) <= places[-1] + 1:
        # a single side is whole
        places = [bus for bus in places[:1] if len(cells) == bus + 2]

    def cell(place: int, *names: str) -> str:
        return cells[place] if place < len(titles) and titles[place] in names else ""

    return [
        _Side(cell(bus - 2, "time"), cell(bus - 1, "algbw"), cells[bus], cell(bus + 1, _WRONG) or "0") for bus in places
    ]


def wrong_elements(told: object) -> int:
    """Wrong elements; 0 where they were not counted, which the settings say."""
    try:
        return int(float(str(told)))
    except (ValueError, OverflowError):
        return 0


def _setting(pattern: re.Pattern[str], lines: Sequence[str]) -> int | None:
    return next((int(match[1]) for line in lines if _SETTINGS.match(line) and (match := pattern.search(line))), None)


def _test_of(lines: Sequence[str]) -> str:
    """The collective that the program names; else empty."""
    told = (
        match for line in lines if "_perf" in line or "Collective test" in line for match in _COLLECTIVE.finditer(line)
    )
    first = next(told, None)
    return first[1] if first is not None else ""


def collective_in(name: str) -> str:
    """The collective in the name of a program or file; else empty."""
    match = _COLLECTIVE.search(name.lower().replace("-", "_") + "_")
    return match[1] if match is not None else ""


def _number(text: str, file: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise refusal(file, f"line {line}", "not a number", text) from None
