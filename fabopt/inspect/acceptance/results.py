"""Output of nccl-tests and perftest: runs of logs and of JSON reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from fabopt.errors import InputError, fault
from fabopt.inspect.acceptance.log_lines import untagged
from fabopt.inspect.acceptance.nccl_json import nccl_json
from fabopt.inspect.acceptance.nccl_text import begins_run, nccl_runs
from fabopt.inspect.acceptance.perftest import perftest_json, perftest_kind, perftest_run
from fabopt.inspect.acceptance.runs import MeasuredRun
from fabopt.inspect.sightings import text_of
from fabopt.io.files import (
    MAX_LINES,
    MAX_LIST_BYTES,
    STANDARD_STREAM,
    check_lines,
    read_bytes,
    read_standard_input,
    shown,
)

# Above the name of perftest, and of its server.
_DASHES, _BANNER = "-" * 9, re.compile(r"\*{9,}\s*$|\* Waiting for client")
_CLOSES = {"{": "}", "[": "]"}


def measured(paths: Sequence[str]) -> list[MeasuredRun]:
    """All runs of files, in order; ``InputError`` for a file without a run."""
    runs: list[MeasuredRun] = []
    for path in paths:
        if path == STANDARD_STREAM:
            runs += runs_of(text_of(read_standard_input(), "<standard input>"), "<standard input>")
        else:
            file = shown(Path(path))
            runs += runs_of(text_of(read_bytes(Path(path), MAX_LIST_BYTES), file), file)
    return runs


def runs_of(text: str, file: str) -> list[MeasuredRun]:
    """The runs of one file."""
    if text.lstrip().startswith("{"):
        return [_reported(text, file)]
    check_lines(text, file, MAX_LINES)
    runs = [run for part in _by_program(text) for run in _runs_of_program(part, file)]
    if not any(run.rows or run.failures or run.hosts for run in runs):
        allowed = "what all_reduce_perf and the like, ib_write_bw or ib_write_lat printed, with their table"
        what = "no row of a measurement is in it"
        raise InputError([fault(file, "", what, allowed=allowed, hint="did the program end early?")])
    return runs


def _by_program(text: str) -> Iterator[str]:
    """The output of each run of perftest, and of runs of nccl-tests in a row, below as many empty lines as are before
    it, so that lines keep their numbers.
    """
    lines = text.splitlines()
    kinds = [perftest_kind(line) for line in lines]
    starts = [0]
    is_perftest: bool | None = None
    for number, (line, kind) in enumerate(zip(lines, kinds, strict=True)):
        begins = kind is not None or (is_perftest is not False and "# nThread" in line)
        if begins and is_perftest is not None:
            starts.append(_heading_of(lines, number))
        if begins:
            is_perftest = kind is not None
    for start, end in pairwise([*starts, len(lines)]):
        yield "\n" * start + "\n".join(lines[start:end])


def _heading_of(lines: Sequence[str], number: int) -> int:
    """The first of the lines with which a program begins; one of dashes above them may end the last one."""
    number -= lines[number - 1].endswith(_DASHES)
    while begins_run(untagged(lines[number - 1])) or _BANNER.search(lines[number - 1]):
        number -= 1
    return number


def _runs_of_program(text: str, file: str) -> list[MeasuredRun]:
    kind = perftest_kind(text)
    return [perftest_run(text, file, kind)] if kind else nccl_runs(text, file)


def _reported(text: str, file: str) -> MeasuredRun:
    content, is_whole = _parsed(text, file)
    if isinstance(content.get("test_info"), dict):
        return perftest_json(content, file)
    if "results" in content or "config" in content:
        return nccl_json(content, file, is_whole=is_whole)
    allowed = "a report of nccl-tests (-J) or of perftest (--out_json)"
    raise InputError([fault(file, "", "no results are in it", allowed=allowed)])


def _parsed(text: str, file: str) -> tuple[dict[str, Any], bool]:
    """The content of a report, and whether it was closed; an unclosed one is closed here after its last row."""
    try:
        return json.loads(text), True
    except RecursionError:
        raise InputError([fault(file, "", "brackets in brackets without end")]) from None
    except ValueError as error:
        for cut in _ends_of_values(text):
            try:
                return json.loads(cut), False
            except (ValueError, RecursionError):
                continue
        hint = "is the file cut off?"
        raise InputError([fault(file, "", "not JSON", str(error), hint=hint)]) from None


def _ends_of_values(text: str, tries: int = 3) -> list[str]:
    """The text cut after each of its last values with open brackets closed, the longest first."""
    closed: list[str] = []
    open_, in_text, escaped = "", False, False
    for place, letter in enumerate(text):
        if in_text:
            in_text = letter != '"' or escaped
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            in_text = True
        elif letter in _CLOSES:
            open_ += letter
        elif letter in _CLOSES.values():
            open_ = open_[:-1]
            closed.append(f"{place}:{open_}")
            del closed[:-tries]
    places = (entry.partition(":") for entry in reversed(closed))
    return [
        text[: int(place) + 1] + "".join(_CLOSES[bracket] for bracket in reversed(left)) for place, _, left in places
    ]
