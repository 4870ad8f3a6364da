"""What nccl-tests and perftest printed: one measurement a row of their tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from fabopt.errors import InputError, fault
from fabopt.inspect.sightings import text_of
from fabopt.io.files import STANDARD_STREAM, read_bytes, read_standard_input, shown

MAX_BYTES = 64_000_000
_COLLECTIVE = re.compile(r"(all_reduce|all_gather|reduce_scatter|alltoall|sendrecv|broadcast|reduce)(?:_perf|\b|_)")
_RANK = re.compile(r"#\s+Rank\s+\d+.*?\bon\s+(\S+)\s+device")
_ROW = re.compile(r"\s*(\d+)\s+\d+\s+[a-z]\w*\s+\w+\s+-?\d+\s+(.+)")
_PERFTEST = re.compile(r"(RDMA_Write|RDMA_Read|Send|Write|Read)\s+(BW|Bidirectional BW|Latency)\s+Test", re.IGNORECASE)
_LINE_RATES = {"gb/sec": 1.0, "mb/sec": 0.008 * 1.048576, "mib/sec": 0.008 * 1.048576}


@dataclass(frozen=True)
class Measurement:
    """A row that a program printed. ``test``: as ``AcceptanceTest.name``; ``value`` in ``unit``; ``size`` in bytes.

    ``servers``: that took part, None where the file does not say; ``wrong``: elements that were wrong.
    """

    file: str
    line: int
    test: str
    size: int
    value: float
    unit: str
    servers: int | None
    wrong: int = 0


def measured(paths: Sequence[str]) -> list[Measurement]:
    """All measurements of files, in order; ``InputError`` for a file that has none or is cut off."""
    rows: list[Measurement] = []
    for path in paths:
        if path == STANDARD_STREAM:
            rows += rows_of(text_of(read_standard_input(), "<standard input>"), "<standard input>")
        else:
            file = shown(Path(path))
            rows += rows_of(text_of(read_bytes(Path(path), MAX_BYTES), file), file)
    return rows


def rows_of(text: str, file: str) -> list[Measurement]:
    """The measurements of one file."""
    perftest = _PERFTEST.search(text)
    rows = list(_perftest(text, file, perftest[2].lower()) if perftest else _nccl(text, file))
    if not rows:
        allowed = "what all_reduce_perf and the like, ib_write_bw or ib_write_lat printed, with their table"
        what = "no row of a measurement is in it"
        raise InputError([fault(file, "", what, allowed=allowed, hint="did the program end early?")])
    return rows


def _nccl(text: str, file: str) -> Iterator[Measurement]:
    """Rows of nccl-tests: size, count, type, operation, root, then time, algbw, busbw and wrong, twice."""
    lines = text.splitlines()
    hosts = [match[1] for match in map(_RANK.search, lines) if match]
    servers = len(set(hosts)) or None
    test = _test_of(lines, file)
    for number, line in enumerate(lines, 1):
        match = _ROW.fullmatch(line)
        if match is None:
            continue
        sides = match[2].split()
        if len(sides) not in (4, 8):
            raise InputError([fault(file, f"line {number}", "a row that ends early", hint="is the file cut off?")])
        if not test:
            what = "which collective was run is not said"
            hint = "call the file after it, as in all_reduce.txt"
            raise InputError([fault(file, "", what, allowed="all_reduce, all_gather, ...", hint=hint)])
        values = [sides[start : start + 4] for start in range(0, len(sides), 4)]
        best = max(_number(own[2], file, number) for own in values)
        wrong = sum(int(own[3]) for own in values if own[3].isdigit())
        yield Measurement(file, number, test, int(match[1]), best, "GB/s", servers, wrong)


def _test_of(lines: Sequence[str], file: str) -> str:
    """The collective: as the program says it, else as the file is called."""
    told = (
        match for line in lines if "_perf" in line or "Collective test" in line for match in _COLLECTIVE.finditer(line)
    )
    first = next(told, None) or _COLLECTIVE.search(PurePath(file).name.lower().replace("-", "_") + "_")
    return first[1] if first is not None else ""


def _number(text: str, file: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError([fault(file, f"line {line}", "not a number", text)]) from None


def _perftest(text: str, file: str, kind: str) -> Iterator[Measurement]:
    """Rows of perftest below their titles: the average of bandwidth, or the typical latency."""
    place, factor = None, 1.0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#bytes"):
            titles = re.findall(r"#?\w+(?: (?:peak|average))?\s*(?:\[[^\]]*\])?", line.strip())
            names = [title.lower() for title in titles]
            wanted = "t_typical" if "latency" in kind else "bw average"
            place = next((index for index, name in enumerate(names) if name.startswith(wanted)), None)
            unit = re.search(r"\[([^\]]*)\]", titles[place]) if place is not None else None
            factor = _LINE_RATES.get(unit[1].lower(), 1.0) if unit else 1.0
        elif place is not None and re.match(r"\s*\d+\s+\d+\s", line):
            cells = line.split()
            if len(cells) <= place:
                raise InputError([fault(file, f"line {number}", "a row that ends early", hint="is the file cut off?")])
            value = _number(cells[place], file, number)
            is_latency = "latency" in kind
            test, own_unit = ("ib_write_lat", "us") if is_latency else ("ib_write_bw", "Gb/s")
            bidirectional = 2 if "bidirectional" in kind else 1
            rate = value if is_latency else value * factor / bidirectional
            yield Measurement(file, number, test, int(cells[0]), rate, own_unit, None)
