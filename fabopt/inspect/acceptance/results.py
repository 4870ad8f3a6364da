"""Output of nccl-tests and perftest: runs of logs and of JSON reports."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from fabopt.errors import refusal
from fabopt.inspect.acceptance.nccl_text import (
    begins_run,
    collective_in,
    collective_misfit,
    nccl_runs,
    ranks_of_a_group,
    wrong_elements,
)
from fabopt.inspect.acceptance.perftest import perftest_json, perftest_kind, perftest_run
from fabopt.inspect.acceptance.runs import MeasuredRun, Measurement, servers_of, untagged
from fabopt.io.library import (
    MAX_LINES,
    check_lines,
)
from fabopt.io.tables import text_given

# Above the name of perftest, and of its server.
_DASHES, _BANNER = "-" * 9, re.compile(r"\*{9,}\s*$|\* Waiting for client")
_CLOSES = {"{": "}", "[": "]"}


def measured(paths: Sequence[str]) -> list[MeasuredRun]:
    """All runs of files, in order; ``InputError`` for a file without a run."""
    return [run for path in paths for run in runs_of(*text_given(path))]


def runs_of(text: str, file: str) -> list[MeasuredRun]:
    """The runs of one file."""
    if text.lstrip().startswith("{"):
        return [_reported(text, file)]
    check_lines(text, file, MAX_LINES)
    runs = [run for above, part in _by_program(text) for run in _runs_of_program(part, file, above)]
    if not any(run.rows or run.failures or run.hosts for run in runs):
        raise refusal(
            file,
            "",
            "no row of a measurement is in it",
            allowed="what all_reduce_perf and the like, ib_write_bw or ib_write_lat printed, with their table",
            hint="did the program end early?",
        )
    return runs


def _by_program(text: str) -> Iterator[tuple[int, str]]:
    """The output of each run of perftest, and of runs of nccl-tests in a row, each with the number of lines above."""
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
        yield start, "\n".join(lines[start:end])


def _heading_of(lines: Sequence[str], number: int) -> int:
    """The first of the lines with which a program begins; one of dashes above them may end the last one."""
    number -= lines[number - 1].endswith(_DASHES)
    while begins_run(untagged(lines[number - 1])) or _BANNER.search(lines[number - 1]):
        number -= 1
    return number


def _runs_of_program(text: str, file: str, above: int) -> list[MeasuredRun]:
    kind = perftest_kind(text)
    return [perftest_run(text, file, kind, above)] if kind else nccl_runs(text, file, above)


def _reported(text: str, file: str) -> MeasuredRun:
    content, is_whole = _parsed(text, file)
    if isinstance(content.get("test_info"), dict):
        return perftest_json(content, file)
    if "results" in content or "config" in content:
        return nccl_json(content, file, is_whole=is_whole)
    raise refusal(file, "", "no results are in it", allowed="a report of nccl-tests (-J) or of perftest (--out_json)")


def _parsed(text: str, file: str) -> tuple[dict[str, Any], bool]:
    """The content of a report, and whether it was closed; an unclosed one is closed here after its last row."""
    try:
        return json.loads(text), True
    except RecursionError:
        raise refusal(file, "", "brackets in brackets without end") from None
    except ValueError as error:
        for cut in _ends_of_values(text):
            try:
                return json.loads(cut), False
            except (ValueError, RecursionError):
                continue
        raise refusal(file, "", "not JSON", str(error), hint="is the file cut off?") from None


def _ends_of_values(text: str) -> list[str]:
    """The text cut after each of its last three values with open brackets closed, the longest first."""
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
            del closed[:-3]
    places = (entry.partition(":") for entry in reversed(closed))
    return [
        text[: int(place) + 1] + "".join(_CLOSES[bracket] for bracket in reversed(left)) for place, _, left in places
    ]


# -- JSON reports of nccl-tests (``-J``) ------------------------------------------------------------------------------
# JSON reports of nccl-tests (``-J``): their tables with ranks and settings.


_VERDICTS = ("bitwise_mismatches", "average_bus_bandwidth")
_SIDES = ("out_of_place", "in_place")


def nccl_json(content: Mapping[str, Any], file: str, *, is_whole: bool) -> MeasuredRun:
    """The run of a report. ``is_whole``: whether the file was closed; a run that dies does not close it."""
    config = _mapping(content.get("config"))
    devices = _records(config.get("devices") or content.get("devices"))
    hosts = tuple(str(device.get("hostname", "")) for device in devices)
    arguments = content.get("args")
    program = str(arguments[0]) if isinstance(arguments, list) and arguments else ""
    test = collective_in(PurePath(program).name) or collective_in(PurePath(file).name)
    if not test:
        raise refusal(
            file, "args", "which collective was run is not said", program, allowed="args: [all_reduce_perf, ...]"
        )
    iterations = config.get("iterations")
    count = iterations if isinstance(iterations, int) else None
    numbered = [(device.get("rank"), str(device.get("group", ""))) for device in devices]
    ranks = ranks_of_a_group((rank, group) for rank, group in numbered if isinstance(rank, int))
    rows = tuple(_rows(_records(content.get("results")), file, test, servers_of(hosts), ranks, count))
    errors = content.get("errors")
    told = [str(error) for error in errors] if isinstance(errors, list) else []
    told += [f"{key} is not okay" for key in _VERDICTS if _mapping(content.get(key)).get("okay") == "false"]
    failures = tuple((1, error) for error in told)
    wrong = _mapping(content.get("out_of_bounds")).get("count")
    return MeasuredRun(
        file, 1, test, hosts, rows, ended=is_whole and wrong is not None, failures=failures,
        out_of_bounds=wrong if isinstance(wrong, int) else 0, validated=config.get("validation") != 0,
    )  # fmt: skip


def _rows(
    results: Sequence[Mapping[str, Any]],
    file: str,
    test: str,
    servers: int | None,
    ranks: int | None,
    iterations: int | None,
) -> Iterator[Measurement]:
    for number, row in enumerate(results, 1):
        sides = [_mapping(row.get(name)) for name in _SIDES]
        rates = [_rate(side["bus_bw"]) for side in sides if "bus_bw" in side]
        size = row.get("size")
        if not rates or not isinstance(size, int):
            raise refusal(file, f"results.{number}", "a row without size or bandwidth", hint="is the file cut off?")
        wrong = sum(wrong_elements(side.get("nwrong")) for side in sides)
        own = row.get("actual_iterations")
        best = next((rate for rate in rates if not 0 < rate < math.inf), max(rates))
        count = own if isinstance(own, int) else iterations
        figures = ([str(side.get(name, "")) for name in ("time", "alg_bw", "bus_bw")] for side in sides)
        misfit = next(filter(None, (collective_misfit(test, size, ranks, *told) for told in figures)), "")
        yield Measurement(file, number, test, size, best, "GB/s", servers, wrong, count, misfit)


def _rate(value: object) -> float:
    """A rate; NaN for words."""
    try:
        return float(str(value))
    except ValueError:
        return math.nan


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _records(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
