"""Jobs that solve: the answer to a case with what is known on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

from fabopt.errors import (
    EXIT_CHECK_FAILED,
    EXIT_DONE,
    EXIT_INFEASIBLE,
    EXIT_NO_ANSWER,
    InputError,
    did_you_mean,
    fault,
)
from fabopt.inspect.why_not import why_not as why_products_not
from fabopt.io.case import Inputs
from fabopt.io.files import write_whole
from fabopt.io.keys import content_of, value_at, with_change
from fabopt.io.recognition import meant_id
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.no_screen import no_rows
from fabopt.output.terminal.why_not import why_not_line
from fabopt.parts.price_books import products
from fabopt.program.settings import Settings
from fabopt.program.share_done import ProgressWatch
from fabopt.schema.design import Alternative, Design
from fabopt.solution import optimize
from fabopt.solution.question import ALTERNATIVES_S
from fabopt.studio.edit import steps_of
from fabopt.studio.reading import inputs_of
from fabopt.studio.showing import facts, screen_rows
from fabopt.studio.wire import Message
from fabopt.studio.worker import Bench

# Seconds between two reports of progress.
BETWEEN_S = 0.1
# By a word in a key: values that are usual.
USUAL_VALUES: dict[str, list[float]] = {
    "gbps": [10, 25, 50, 100, 200, 400, 800, 1600],
    "oversubscription": [1, 1.5, 2, 3, 4, 6, 8],
}
FIGURES = {"budget_usd": "capex_usd", "power_w": "power_w", "rack_units": "rack_units"}
CODES = {"optimal": EXIT_DONE, "feasible": EXIT_DONE, "infeasible": EXIT_INFEASIBLE, "unknown": EXIT_NO_ANSWER}


def solve(bench: Bench, text: str, path: str | None = None, prices: Mapping[str, float] | None = None) -> Message:
    """Solve a case: the answer is told once it is proven, the comparisons as they come; the result is the last one."""
    progress = ProgressWatch(lambda now: bench.tell("progress", **asdict(now)), BETWEEN_S)
    inputs = inputs_of(bench, text, path, prices)
    progress.say("searching")
    design = optimize.solve(
        inputs,
        progress=progress.say,
        clock=bench.clock,
        alternatives_s=ALTERNATIVES_S,
        reached=lambda design: _answer(bench, design),
        compared=lambda row: _compared(bench, row),
        bracket=progress.bracket,
        share=progress.share,
        kept=lambda design: bench.tell("best", answer=kept(bench, design), facts=facts(design)),
    )
    _answer(bench, design)
    failed = [check.name for check in design.checks if not check.ok]
    return {"code": EXIT_CHECK_FAILED if failed else CODES[design.status], "answer": kept(bench, design)}


def kept(bench: Bench, design: Design) -> str:
    """Keep a design among the answers; its name there, which follows from its content."""
    data = design_bytes(design)
    name = hashlib.sha256(data).hexdigest()[:20]
    path = Path(bench.answers) / f"{name}.json"
    if not path.exists():
        write_whole(path, data)
    return name


def _answer(bench: Bench, design: Design) -> None:
    screen = screen_rows(design)
    bench.tell("answer", answer=kept(bench, design), status=design.status, screen=screen, facts=facts(design))


def _compared(bench: Bench, row: Alternative) -> None:
    bench.tell("compared", row=row.model_dump(mode="json"))


def why_not(bench: Bench, text: str, part: str, path: str | None = None) -> Message:
    """Say what keeps a product out of the answer to a case, or how much dearer it is."""
    inputs = inputs_of(bench, text, path)
    known = {product.id for product in products(inputs.catalog)}
    id_ = meant_id(part, inputs.catalog)
    if id_ not in known:
        raise InputError([fault("part", "", "the catalog has no such product", part, hint=did_you_mean(part, known))])
    told = next(iter(why_products_not(inputs, [id_], Settings(), bench.clock)))
    return {"words": why_not_line(told), "verdict": told.verdict, "dearer": told.dearer, "below_usd": told.below_usd}


def slider(
    bench: Bench, text: str, key: str, path: str | None = None, low: float | None = None, high: float | None = None
) -> Message:
    """Return values of a key that have a design, and the rule that stops each end: found by solving."""
    inputs = inputs_of(bench, text, path)
    content = content_of(inputs.case)
    dotted = ".".join(map(str, steps_of(key, content)))
    now = value_at(content, dotted)
    design = _answer_with(bench, inputs, {})
    start = now if isinstance(now, int | float) else _figure(design, dotted)
    values = steps_between(dotted, start, low, high)
    middle = min(range(len(values)), key=lambda place: abs(values[place] - start))
    least, low_rule = _end(bench, inputs, dotted, values[: middle + 1][::-1])
    most, high_rule = _end(bench, inputs, dotted, values[middle:])
    shown = [value for value in values if min(least, most) <= value <= max(least, most)]
    return {"values": shown, "low": {"value": least, "rule": low_rule}, "high": {"value": most, "rule": high_rule}}


def steps_between(key: str, start: float, low: float | None, high: float | None) -> list[float]:
    """Return values of a key to either side of one, in even steps of a ratio; usual ones of speeds and of ratios."""
    name = key.rpartition(".")[2]
    usual = next((numbers for word, numbers in USUAL_VALUES.items() if word in name), None)
    steps = usual or [start * 2 ** (number / 3) for number in range(-9, 10)]
    whole = name in ("servers", "gpus", "rack_units", "budget_usd", "power_w")
    kept_values = {round(value) if whole else value for value in [*steps, start]}
    if name == "gpus":
        kept_values = {max(1, round(value / 8)) * 8 for value in kept_values}
    least, most = low if low is not None else 0, high if high is not None else inf
    return sorted(value for value in kept_values if value > 0 and least <= value <= most) or [start]


def _end(bench: Bench, inputs: Inputs, key: str, values: Sequence[float]) -> tuple[float, str]:
    """Return the last of some values from which on there are designs, by halving, and what stops the next one."""
    works, fails, rule = 0, len(values), ""
    while fails - works > 1:
        half = (works + fails) // 2
        try:
            design = _answer_with(bench, inputs, {key: values[half]})
        except InputError as error:
            fails, rule = half, error.faults[0].problem
            continue
        if design.fabrics:
            works = half
        else:
            fails, rule = half, "; ".join(row.words for row in no_rows(design)[:1]) or design.status
    return values[works], rule


def _answer_with(bench: Bench, inputs: Inputs, change: dict[str, Any]) -> Design:
    bench.clock.look()
    changed = with_change(inputs, change) if change else inputs
    return optimize.solve(changed, clock=bench.clock, alternatives_s=0)


def _figure(design: Design, key: str) -> float:
    """Return the figure of a design that a limit without a value is about; 1 where there is none."""
    figure = FIGURES.get(key.rpartition(".")[2])
    value = getattr(design.totals, figure, None) if figure and design.totals is not None else None
    return float(value) if value else 1.0
