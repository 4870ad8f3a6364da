"""Jobs that solve: the answer to a case with what is known on the way."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_INFEASIBLE, EXIT_NO_ANSWER
from fabopt.io.files import write_whole
from fabopt.output.export.design import design_bytes
from fabopt.program.share_done import ProgressShare
from fabopt.schema.design import Alternative, Design, Number
from fabopt.solution import optimize
from fabopt.solution.question import ALTERNATIVES_S
from fabopt.studio.reading import inputs_of
from fabopt.studio.showing import facts, screen_rows
from fabopt.studio.wire import Message
from fabopt.studio.worker import Bench

# Seconds between two reports of progress.
BETWEEN_S = 0.1
CODES = {"optimal": EXIT_DONE, "feasible": EXIT_DONE, "infeasible": EXIT_INFEASIBLE, "unknown": EXIT_NO_ANSWER}


class _Progress:
    """Tells how far a solve is, not more often than a page can show."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self._told = bench, 0.0
        self._now: Message = {"doing": "reading", "best": None, "bound": None, "share": None}
        self.share = ProgressShare(lambda: self._tell(share=self.share.done, step=str(self.share)))

    def say(self, doing: str) -> None:
        self._tell(doing=doing)
        self.share.begin_part()

    def bracket(self, best: Number | None, bound: Number | None) -> None:
        self._tell(best=best, bound=bound)

    def _tell(self, **news: Any) -> None:
        self._now |= news
        if time.monotonic() - self._told >= BETWEEN_S:
            self._told = time.monotonic()
            self._bench.tell("progress", **self._now)


def solve(bench: Bench, text: str, path: str | None = None, alternatives: bool = True) -> Message:
    """Solve a case: the answer is told once it is proven, the comparisons as they come; the result is the last one."""
    progress = _Progress(bench)
    inputs = inputs_of(bench, text, path)
    progress.say("searching")
    design = optimize.solve(
        inputs,
        progress=progress.say,
        clock=bench.clock,
        alternatives_s=ALTERNATIVES_S if alternatives else 0,
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
