"""Jobs that solve: the answer to a case with what is known on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

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
from fabopt.io.recognition import meant_id
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.why_not import why_not_line
from fabopt.parts.price_books import products
from fabopt.program.settings import Settings
from fabopt.program.share_done import ProgressWatch
from fabopt.schema.design import Alternative, Design
from fabopt.solution import optimize
from fabopt.solution.question import ALTERNATIVES_S
from fabopt.studio.edit import inputs_of
from fabopt.studio.showing import facts, screen_rows
from fabopt.studio.wire import Message
from fabopt.studio.worker import Bench

# Seconds between two reports of progress.
BETWEEN_S = 0.1
# Proven answers that a worker remembers, as undo asks for them again.
MOST_KNOWN = 20
PROVEN = ("optimal", "infeasible")
CODES = {"optimal": EXIT_DONE, "feasible": EXIT_DONE, "infeasible": EXIT_INFEASIBLE, "unknown": EXIT_NO_ANSWER}


def solve(bench: Bench, text: str, path: str | None = None, prices: Mapping[str, float] | None = None) -> Message:
    """Solve a case: the answer is told once it is proven, the comparisons as they come; the result is the last one.

    An answer that was proven before is told at once; it is not looked for again where its comparisons are whole.
    """
    progress = ProgressWatch(lambda now: bench.tell("progress", **asdict(now)), BETWEEN_S)
    inputs = inputs_of(bench, text, path, prices)
    asked = _name_of(inputs)
    known, is_whole = bench.known.get(asked, (None, False))
    if known is not None:
        _answer(bench, known)
        if is_whole:
            return {"code": CODES[known.status], "answer": kept(bench, known)}
    progress.say("searching")
    design = optimize.solve(
        inputs,
        progress=progress.say,
        clock=bench.clock,
        alternatives_s=ALTERNATIVES_S,
        reached=lambda design: _reached(bench, design, asked),
        compared=lambda row: _compared(bench, row),
        bracket=progress.bracket,
        share=progress.share,
        kept=lambda design: bench.tell("best", answer=kept(bench, design), facts=facts(design)),
    )
    if known is not None and design.status not in PROVEN:
        # stopped on the way to the comparisons: what was proven before stays so
        design = known
    _reached(bench, design, asked, design.alternatives_complete)
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


def _name_of(inputs: Inputs) -> str:
    """Return a name that follows from all that an answer does: the case and the catalog as they were read."""
    said = (inputs.case.model_dump_json(), inputs.catalog.model_dump_json(), inputs.case_file, *inputs.notes)
    return hashlib.sha256("\0".join(said).encode()).hexdigest()


def _reached(bench: Bench, design: Design, asked: str, is_whole: bool = False) -> None:
    """Tell an answer, and remember it where it is proven; ``is_whole``: with all that it is compared with."""
    if design.status in PROVEN and all(check.ok for check in design.checks):
        bench.known.pop(asked, None)
        bench.known[asked] = design, is_whole
        if len(bench.known) > MOST_KNOWN:
            del bench.known[next(iter(bench.known))]
    _answer(bench, design)


def _answer(bench: Bench, design: Design) -> None:
    screen = screen_rows(design)
    bench.tell("answer", answer=kept(bench, design), status=design.status, screen=screen, facts=facts(design))


def _compared(bench: Bench, row: Alternative) -> None:
    bench.tell("compared", row=row.model_dump(mode="json"))


def why_not(
    bench: Bench, text: str, part: str, path: str | None = None, prices: Mapping[str, float] | None = None
) -> Message:
    """Say what keeps a product out of the answer to a case, or how much dearer it is."""
    inputs = inputs_of(bench, text, path, prices)
    known = {product.id for product in products(inputs.catalog)}
    id_ = meant_id(part, inputs.catalog)
    if id_ not in known:
        raise InputError([fault("part", "", "the catalog has no such product", part, hint=did_you_mean(part, known))])
    told = next(iter(why_products_not(inputs, [id_], Settings(), bench.clock)))
    return {"words": why_not_line(told), "verdict": told.verdict, "dearer": told.dearer, "below_usd": told.below_usd}
