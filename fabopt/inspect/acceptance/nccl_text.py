"""Tables of nccl-tests, of every version since 2019, in logs as launchers leave them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from fabopt.errors import InputError, fault
from fabopt.inspect.acceptance.log_lines import is_failure, is_warning, untagged, without_messages
from fabopt.inspect.acceptance.row_figures import collective_misfit, ranks_of_a_group
from fabopt.inspect.acceptance.runs import MeasuredRun, Measurement, servers_of

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


def nccl_runs(text: str, file: str) -> list[MeasuredRun]:
    """The runs of a log, in order; those without rows, ranks and failures left out."""
    tag = _TAG.search(text)
    lines = [untagged(line.removeprefix(tag[1] if tag else "")) for line in text.splitlines()]
    starts = _starts(lines)
    ends = [*starts[1:], len(lines)]
    parts = [_RunLines(lines, start, end, file) for start, end in zip(starts, ends, strict=True)]
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


class _RunLines:
    """The lines of a run, from ``start`` up to ``end`` of a file."""

    def __init__(self, lines: Sequence[str], start: int, end: int, file: str, programs: int = 1) -> None:
        self.lines, self.start, self.end, self.file, self.programs = lines, start, end, file, programs
        self.told = lines[start:end]
        self.own = _whole_rows(self.told)
        self.ranks = [(int(match[1]), match[2] or "", match[3]) for match in map(_RANK.match, self.own) if match]
        self.sizes = [line.split()[0] for line in self.own if _ROW.fullmatch(line)]
        self.has_end = any(_OUT_OF_BOUNDS.match(line) for line in self.own)

    def joined(self, last: _RunLines, programs: int) -> _RunLines:
        """The lines from this part to the end of ``last``, as one part."""
        return _RunLines(self.lines, self.start, last.end, self.file, programs)

    def run(self) -> MeasuredRun:
        """The run that these lines are of."""
        hosts = tuple(host for _, _, host in self.ranks)
        test = _test_of(self.own) or collective_in(PurePath(self.file).name) or _test_of(self.lines)
        early: list[tuple[int, str]] = []
        rows = tuple(self._rows(test, servers_of(hosts), early))
        if rows and not test:
            what, hint = "which collective was run is not said", "call the file after it, as in all_reduce.txt"
            raise InputError([fault(self.file, "", what, allowed="all_reduce, all_gather, ...", hint=hint)])
        wrong = [int(match[1]) for match in map(_OUT_OF_BOUNDS.match, self.own) if match]
        return MeasuredRun(
            self.file, self.start + 1, test, hosts, rows,
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
        for number, line in enumerate(self.told, self.start + 1):
            if tells(line):
                yield number, line[len(without_messages(line)) :].strip() or line.strip()

    def _rows(self, test: str, servers: int | None, early: list[tuple[int, str]]) -> Iterator[Measurement]:
        """The measurements; ``early`` takes the last line where it ends before its last column."""
        titles = _USUAL
        iterations = _setting(_ITERATIONS, self.own)
        ranks = ranks_of_a_group((rank, group) for rank, group, _ in self.ranks)
        for number, line in enumerate(self.own, self.start + 1):
            if _TITLES.match(line):
                titles = line.replace("#", " ", 1).split()
            elif _ROW.fullmatch(line):
                cells = line.split()
                sides = _sides(titles, cells)
                if not sides:
                    if any(_ROW.fullmatch(later) for later in self.own[number - self.start :]):
                        hint = "is the file cut off?"
                        raise InputError([fault(self.file, f"line {number}", "a row that ends early", hint=hint)])
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
        raise InputError([fault(file, f"line {line}", "not a number", text)]) from None
