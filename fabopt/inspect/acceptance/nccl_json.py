"""JSON reports of nccl-tests (``-J``): their tables with ranks and settings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from fabopt.errors import InputError, fault
from fabopt.inspect.acceptance.nccl_text import collective_in, wrong_elements
from fabopt.inspect.acceptance.row_figures import collective_misfit, ranks_of_a_group
from fabopt.inspect.acceptance.runs import MeasuredRun, Measurement, servers_of

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
        what, allowed = "which collective was run is not said", "args: [all_reduce_perf, ...]"
        raise InputError([fault(file, "args", what, program, allowed=allowed)])
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
            hint = "is the file cut off?"
            raise InputError([fault(file, f"results.{number}", "a row without size or bandwidth", hint=hint)])
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
