"""Fronts and sweeps: points as they come, kept in a journal below the folder, from which a stopped one goes on.

Jobs that solve: the answer to a case with what is known on the way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabopt.design.points import design_at
from fabopt.errors import (
    EXIT_CHECK_FAILED,
    EXIT_DONE,
    EXIT_INFEASIBLE,
    EXIT_NO_ANSWER,
    did_you_mean,
    refusal,
)
from fabopt.inspect.why_not import why_not as why_products_not
from fabopt.io.case import Inputs
from fabopt.io.journal import journal_path
from fabopt.io.keys import content_of
from fabopt.io.library import write_whole
from fabopt.io.recognition import meant_id
from fabopt.output.charts.points import Quantity, axes_of, dots_of
from fabopt.output.export.design import design_bytes
from fabopt.output.export.front import readable
from fabopt.output.terminal.why_not import why_not_line
from fabopt.parts.price_books import products
from fabopt.program.copies import processors
from fabopt.program.settings import ProgressWatch, Settings
from fabopt.schema.design import Design, Front, FrontAnswer, FrontPoint
from fabopt.solution import optimize
from fabopt.solution.question import ALTERNATIVES_S
from fabopt.studio.edit import inputs_of
from fabopt.studio.folder import kept_in
from fabopt.studio.showing import facts, screen_rows
from fabopt.studio.worker import Bench, Message
from fabopt.study.front import fronts
from fabopt.study.front.journal import Entry, PointJournal, journaled
from fabopt.study.front.measures import USUAL
from fabopt.study.sweep import sweep as sweeps

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
        compared=lambda row: bench.tell("compared", row=row.model_dump(mode="json")),
        bracket=progress.bracket,
        share=progress.share,
        kept=lambda design: bench.tell("best", answer=kept(bench, design), facts=facts(design)),
    )
    if known is not None and design.status not in PROVEN:
        # stopped on the way to the comparisons: what was proven before stays so
        design = known
    _reached(bench, design, asked, design.alternatives_complete)
    return {"code": EXIT_CHECK_FAILED if design.failed else CODES[design.status], "answer": kept(bench, design)}


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
    if design.status in PROVEN and not design.failed:
        bench.known.pop(asked, None)
        bench.known[asked] = design, is_whole
        if len(bench.known) > MOST_KNOWN:
            del bench.known[next(iter(bench.known))]
    _answer(bench, design)


def _answer(bench: Bench, design: Design) -> None:
    screen = screen_rows(design)
    bench.tell("answer", answer=kept(bench, design), status=design.status, screen=screen, facts=facts(design))


def why_not(
    bench: Bench, text: str, part: str, path: str | None = None, prices: Mapping[str, float] | None = None
) -> Message:
    """Say what keeps a product out of the answer to a case, or how much dearer it is."""
    inputs = inputs_of(bench, text, path, prices)
    known = {product.id for product in products(inputs.catalog)}
    id_ = meant_id(part, inputs.catalog)
    if id_ not in known:
        raise refusal("part", "", "the catalog has no such product", part, hint=did_you_mean(part, known))
    told = next(iter(why_products_not(inputs, [id_], Settings(), bench.clock)))
    return {"words": why_not_line(told), "verdict": told.verdict, "dearer": told.dearer, "below_usd": told.below_usd}


MOST_VALUES = 200
UNASKED = "No key of this case asks for this point: what its network must give follows from the model, or by stage."
_LESS_IS_BETTER = ("capex_usd", "power_w", "tco_usd", "rack_units", "usd_per_effective_gpu")


def front(
    bench: Bench,
    text: str,
    metric: str = "gbps_per_gpu",
    path: str | None = None,
    prices: Mapping[str, float] | None = None,
    jobs: int | None = None,
) -> Message:
    """Find the front of money and a metric: each point is told as it comes, the whole front at the end.

    ``prices``: changes of prices by kind, in percent; ``jobs``: processes, None for as many as there are processors.
    """
    inputs = inputs_of(bench, text, path, prices)
    sense = ("minimize" if metric in _LESS_IS_BETTER else "maximize", metric)
    minimize = [word for option, word in (*USUAL, (f"--{sense[0]}", metric)) if option == "--minimize"]
    maximize = [metric] if sense[0] == "maximize" else []
    objectives = fronts.objectives_of(list(dict.fromkeys(minimize)), maximize, None)
    empty = fronts.empty_front(inputs, objectives)
    target = _target(bench, empty, metric)
    told = _Points(bench, empty)
    with journaled(target, _before(target), empty, told.tell) as journal:
        result = fronts.pareto_front(
            inputs, objectives, None, Settings(progress=told.say), bench.clock, lambda designs: None, journal,
            jobs or processors(),
        )  # fmt: skip
        return _ended(bench, result, inputs, target, journal)


def sweep(
    bench: Bench,
    text: str,
    over: str,
    values: Sequence[Any],
    path: str | None = None,
    prices: Mapping[str, float] | None = None,
    jobs: int | None = None,
) -> Message:
    """Solve a case at values of a key, or of the budget, in as many processes as a front."""
    inputs = inputs_of(bench, text, path, prices)
    if not 0 < len(values) <= MOST_VALUES:
        raise refusal("values", "", "a sweep has points", len(values), allowed=f"1 to {MOST_VALUES}")
    listed = ",".join(map(str, values))
    grid = sweeps.grid_of(inputs, *((listed, []) if over == "budget" else (None, [f"{over}={listed}"])))
    empty = sweeps.empty_front(inputs, grid)
    target = _target(bench, empty, f"{over} {listed}")
    execution = sweeps.Execution(jobs or processors())
    with journaled(target, _before(target), empty, _Points(bench, empty).tell) as journal:
        result = sweeps.sweep(
            inputs, grid, execution, journal.known, Settings(), bench.clock,
            lambda points, done, new: journal.keep(points),
        )  # fmt: skip
        return _ended(bench, result, inputs, target, journal)


class _Points:
    """Tells points as they are kept."""

    def __init__(self, bench: Bench, empty: Front) -> None:
        self._bench, self._empty, self._told = bench, empty, set[str]()

    def say(self, doing: str) -> None:
        self._bench.tell("front-progress", doing=doing)

    def tell(self, new: Sequence[Entry]) -> None:
        for entry in new:
            point = entry.point if isinstance(entry, FrontAnswer) else entry
            shown = [] if point is None else _rows(self._empty.model_copy(update={"points": (point,)}))
            # several questions of a front may have the same answer
            for row in shown if str(shown) not in self._told else ():
                self._told.add(str(shown))
                self._bench.tell(
                    "point", front=self._empty.kind, number=len(self._told), axes=_axes(self._empty), **row
                )


def _target(bench: Bench, empty: Front, asked: str) -> Path:
    """Return the file of a front: its name follows from the case and what is asked of it."""
    key = "\0".join((empty.case.sha256, empty.catalog_sha256, empty.kind, asked))
    return kept_in(bench.folder, "fronts") / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"


def _before(target: Path) -> str | None:
    """Return the file to go on from: the whole one, or the journal of one that was stopped."""
    if target.is_file():
        return str(target)
    journal = journal_path(target)
    return str(journal) if journal.is_file() and journal.stat().st_size else None


def _ended(bench: Bench, result: Front, inputs: Inputs, target: Path, journal: PointJournal) -> Message:
    """Write a front that is whole; return all its points, each with its design as an answer and as edits."""
    if result.complete:
        with journal.until_written():
            write_whole(target, readable(result)[1])
    rows = _rows(result)
    for number, (row, point) in enumerate(zip(rows, result.points, strict=False), start=1):
        if point.fabrics:
            design = design_at(result, number)
            row["point"]["answer"] = kept(bench, design)
            row["point"]["edits"] = edits = _edits(design, point, result)
            if not edits and design.status != point.status:
                row["point"] |= {"edits": None, "why": UNASKED}
    _also_back(rows, inputs)
    bench.tell("front-points", axes=_axes(result), points=[row["point"] for row in rows])
    notes = list(map(_in_words, result.notes))
    return {"code": EXIT_DONE if result.complete else EXIT_NO_ANSWER, "complete": result.complete, "notes": notes}


def _in_words(note: str) -> str:
    """Return a note with metrics as people say them: ``Gb/s per GPU`` for ``gbps_per_gpu``."""
    return re.sub(r"(?<![\w.])[a-z][a-z_]{0,60}_[a-z]+(?![\w.:])", lambda name: Quantity(name[0]).title, note)


def _axes(front_: Front) -> Message:
    axes = axes_of(front_)
    return {"x": {"words": axes.x.title, "key": axes.x.name}, "y": {"words": axes.y.title, "key": axes.y.name}}


def _rows(front_: Front) -> list[Message]:
    """Return the points of a front as the page draws them."""
    return [
        {
            "point": {
                "x": dot.x,
                "y": dot.y,
                "capex_usd": dot.point.totals.capex_usd if dot.point.totals is not None else None,
                "status": dot.point.status,
                "summary": dot.point.summary,
                "label": dot.label,
                "words": dot.words,
                "family": dot.point.fabrics[0].topology if dot.point.fabrics else None,
                "protocol": dot.point.fabrics[0].protocol if dot.point.fabrics else None,
                "budget_usd": dot.point.budget_usd,
                "knee": dot.point.knee,
            }
        }
        for dot in dots_of(front_, axes_of(front_))
    ]


def _also_back(rows: Sequence[Message], inputs: Inputs) -> None:
    """Let the edits of each point take back what those of the others set."""
    points = [row["point"] for row in rows if row["point"].get("edits") is not None]
    written = content_of(inputs.case)
    for key in dict.fromkeys(key for point in points for key, _ in point["edits"]):
        for point in points:
            if key not in dict(point["edits"]):
                point["edits"].append([key, _at(written, key)])


def _at(content: Any, key: str) -> Any:
    """Return the value of a dotted key as a case says it; None where it does not."""
    for name in key.split("."):
        if isinstance(content, Mapping):
            content = content.get(name)
        elif isinstance(content, Sequence) and name.isdecimal() and int(name) < len(content):
            content = content[int(name)]
        else:
            return None
    return content


def _edits(design: Design, point: FrontPoint, result: Front) -> list[list[Any]]:
    """Return the keys whose values make the design of a point the answer to the case, both as settled."""
    own = {**point.over, **({} if point.budget_usd is None else {"limits.budget_usd": point.budget_usd})}
    return [[key, value] for key, value in own.items()] or _changes(result.case.content, design.case.content, "")


def _changes(before: Any, after: Any, key: str) -> list[list[Any]]:
    """Return the dotted keys of a case's content that are of other values."""
    if isinstance(after, Mapping) and isinstance(before, Mapping):
        inner = [(str(name), before.get(name), value) for name, value in after.items()]
    elif isinstance(after, list) and isinstance(before, list) and len(after) == len(before):
        inner = [(str(number), *pair) for number, pair in enumerate(zip(before, after, strict=True))]
    else:
        return [] if before == after else [[key, after]]
    return [change for name, old, new in inner for change in _changes(old, new, f"{key}.{name}" if key else name)]
