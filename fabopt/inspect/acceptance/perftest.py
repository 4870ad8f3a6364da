"""Tables of perftest: the average of bandwidth, or the typical latency, in logs and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from fabopt.errors import refusal
from fabopt.inspect.acceptance.nccl_text import latency_misfit, message_misfit
from fabopt.inspect.acceptance.runs import MeasuredRun, Measurement, is_failure, untagged

_KIND: Final = re.compile(
    r"(?:RDMA_Write|RDMA_Read|Send|Write|Read)\s+(?:Post List )?(BW|Bidirectional (?:Post List )?BW|Latency)\s+Test",
    re.IGNORECASE,
)
_JSON_KIND: Final = re.compile(r"_(Bidirectional_(?:Post_List_)?BW|BW|Latency)_", re.IGNORECASE)
_LINE_RATES: Final = {"gb/sec": 1.0, "mb/sec": 0.008 * 1.048576, "mib/sec": 0.008 * 1.048576}
# Of a server.
_WAITS: Final = "Waiting for client to connect"
_DASHES: Final = re.compile(r"\s*-{9,}\s*")
_ROW: Final = re.compile(r"\s*\d{1,15}\s+\d{1,15}\s")


def perftest_kind(text: str) -> str | None:
    """``bw``, ``bidirectional bw`` or ``latency``; None where the text is not of perftest."""
    match = _KIND.search(text)
    return match[1].lower() if match else None


def perftest_run(text: str, file: str, kind: str, above: int = 0) -> MeasuredRun:
    """The run of a log; one without a row has not ended, but for a server's, which has none to the end.

    ``above``: lines of the file before the text.
    """
    lines = [untagged(line) for line in text.splitlines()]
    numbered = list(enumerate(lines, above + 1))
    rows = tuple(_rows(numbered, file, kind))
    failures = tuple((number, line.strip()) for number, line in numbered if is_failure(line))
    begun = next((number for number, line in numbered if _KIND.search(line)), 1)
    ended = bool(rows) or (_WAITS in text and any(map(_DASHES.fullmatch, lines[-1:])))
    return MeasuredRun(file, begun, _test(kind), (), rows, ended=ended, failures=failures)


def _test(kind: str) -> str:
    return "ib_write_lat" if "latency" in kind else "ib_write_bw"


def _rows(numbered: Iterable[tuple[int, str]], file: str, kind: str) -> Iterator[Measurement]:
    place, factor = None, 1.0
    names: list[str] = []
    for number, line in numbered:
        if line.lstrip().startswith("#bytes"):
            titles = re.findall(r"#?\w+(?: (?:peak|average))?\s*(?:\[[^\]]*\])?", line.strip())
            names = [title.lower() for title in titles]
            wanted = "t_typical" if "latency" in kind else "bw average"
            place = next((index for index, name in enumerate(names) if name.startswith(wanted)), None)
            unit = re.search(r"\[([^\]]*)\]", titles[place]) if place is not None else None
            factor = _LINE_RATES.get(unit[1].lower(), 1.0) if unit else 1.0
        elif place is not None and _ROW.match(line):
            cells = line.split()
            if len(cells) <= place:
                raise refusal(file, f"line {number}", "a row that ends early", hint="is the file cut off?")
            value = _number(cells[place], file, f"line {number}") * factor
            told = {name.partition("[")[0].strip(): cell for name, cell in zip(names, cells, strict=False)}
            yield _measurement(file, number, kind, int(cells[0]), int(cells[1]), value, told)


def _measurement(
    file: str, line: int, kind: str, size: int, iterations: int, value: float, told: Mapping[str, str]
) -> Measurement:
    """A row; ``value`` in Gb/s of both directions where there are two, or in microseconds; ``told``: cells by title."""
    if "latency" in kind:
        misfit = latency_misfit(*(told.get(name, "") for name in ("t_min", "t_typical", "t_max")))
        return Measurement(file, line, _test(kind), size, value, "us", None, 0, iterations, misfit)
    ways = 2 if "bidirectional" in kind else 1
    misfit = message_misfit(size, value, told.get("msgrate", ""), sorted({1, ways}))
    return Measurement(file, line, _test(kind), size, value / ways, "Gb/s", None, 0, iterations, misfit)


def _number(text: str, file: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise refusal(file, where, "not a number", text) from None


def perftest_json(content: Mapping[str, Any], file: str) -> MeasuredRun:
    """The run of a report that perftest wrote with ``--out_json``, whose rates are in Gb/s with ``--report_gbits``."""
    match = _JSON_KIND.search(str(content["test_info"].get("test", "")))
    kind = match[1].lower().replace("_", " ") if match else "bw"
    results = content.get("results")
    results = results if isinstance(results, Mapping) else {}
    name = "t_typical" if kind == "latency" else "BW_average"
    value, size = results.get(name), results.get("MsgSize")
    if not isinstance(value, int | float) or not isinstance(size, int):
        raise refusal(file, "results", "no measurement is in it", allowed=f"`results` with MsgSize and {name}")
    iterations = results.get("n_iterations")
    count = iterations if isinstance(iterations, int) else 1
    told = {str(key).lower(): str(cell) for key, cell in results.items()}
    row = _measurement(file, 1, kind, size, count, float(value), told)
    return MeasuredRun(file, 1, _test(kind), (), (row,), ended=True)
