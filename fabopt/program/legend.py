"""The program as text for other solvers and for readers: it opens with a legend of its sets, variables and rows."""

from __future__ import annotations

import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from fabopt.parts.finance import Weights
from fabopt.parts.items import Item
from fabopt.program.formulation import FIXED, LINKS, MODEL, PICK, RULES, Program
from fabopt.program.labour import BEYOND, VISIT
from fabopt.program.libraries import pulp
from fabopt.program.purchases import BUY, HELD, PAID, SHARED, SPARE
from fabopt.program.regret import REGRET
from fabopt.program.sourcing import SOURCE
from fabopt.topology.candidate import RowShare
from fabopt.units import grouped, some

Form = Literal["lp", "mps"]
COMMENT: dict[Form, str] = {"lp": "\\", "mps": "*"}
VARIABLES = (PICK, LINKS, BUY, PAID, SPARE, HELD, SHARED, SOURCE, REGRET, BEYOND, VISIT, FIXED)
# PuLP's own.
EMPTY = "__dummy"
COLUMNS = 116
REDUCED = (
    "The cost of the cheapest option of a kind stands on pick, and the least cost of any candidate on fixed, so that"
    " solvers compare small numbers. The optimum is the same."
)


def program_text(program: Program, form: Form) -> str:
    """The program with its objective, as text that other solvers read, under a legend in comment lines."""
    lp = program.standalone()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"program.{form}"
        if form == "lp":
            lp.writeLP(str(path))
        else:
            lp.writeMPS(str(path))
        written = path.read_text()
    comments = (f"{COMMENT[form]} {line}".rstrip() for line in legend(program, lp))
    return "\n".join((*comments, written))


def legend(program: Program, lp: pulp.LpProblem) -> Iterator[str]:
    """Lines that explain the objective, the sets, the variables and the rows of a written program."""
    problem = program.problem
    objective = f"{problem.case.objective}, in {_unit(problem.weights)}. {REDUCED}"
    if program.regrets is not None:
        objective = f"the worst regret of {problem.case.objective}, in cents times {program.regrets.scale}. {REDUCED}"
    yield from _wrapped(f'The integer program of the case "{problem.case.name}". See {MODEL}.')
    yield from ("", "OBJECTIVE", *_wrapped(objective))
    yield from ("", "SETS, counted from 0", *_entries(_sets(program)))
    yield from ("", "VARIABLES", *_entries(_variables(lp, len(problem.stages) > 1)))
    yield from ("", "ROWS, whose names begin with", *_entries(_rows(lp)))
    yield from ("", "CANDIDATES", *_entries(_candidates(program)))
    yield from ("", "OPTIONS", *_entries(_options(program)))
    if program.purchases.items:
        yield from ("", "ITEMS", *_entries((str(item.index), item_words(item)) for item in program.purchases.items))
    yield ""


def item_words(item: Item) -> str:
    """The kind, id and length of an item."""
    return f"{item.kind} {item.id}" + ("" if item.length_m is None else f" {item.length_m:g} m")


def _unit(weights: Weights) -> str:
    """The unit of the objective's integers."""
    if not weights.per_cent:
        return "milliwatts"
    return "cents" if weights.scale == 1 else f"cents times {weights.scale}"


def _sets(program: Program) -> Iterator[tuple[str, str]]:
    problem = program.problem
    yield "fabrics", f"{len(problem.fabrics)} ({', '.join(fabric.name for fabric in problem.fabrics)})"
    yield "stages", f"{len(problem.stages)} ({', '.join(stage.name for stage in problem.stages)})"
    yield "candidates", f"{len(program.candidates)}, sized designs of a fabric that could be the cheapest"
    yield "kinds", f"{len(program.options)}, units of links that have the same options"
    yield "options", f"{len(program.links)}, each a way to make a unit of one kind"
    yield "items", f"{len(program.purchases.items)}, products or lengths of one, of which orders or part numbers count"


def _variables(lp: pulp.LpProblem, staged: bool) -> Iterator[tuple[str, str]]:
    bounds = grouped((family_of(var.name), (int(var.lowBound), int(var.upBound))) for var in lp.variables())
    for family in VARIABLES:
        if known := bounds.get(family.prefix):
            places = [f"<{place}>" for place in family.places if staged or place != "stage"]
            least, most = min(low for low, _ in known), max(high for _, high in known)
            values = f"{least} to {most} {family.unit}".rstrip()
            yield "_".join((family.prefix, *places)), f"{some(len(known), 'variable')}, {values}: {family.meaning}"
    if not all(len(row) for row in lp.constraints.values()):
        yield EMPTY, "0, written where a row has no variable"


def _rows(lp: pulp.LpProblem) -> Iterator[tuple[str, str]]:
    counts = Counter(rule_of(name) for name in lp.constraints)
    for rule in RULES:
        if counts[rule.name]:
            yield rule.name, f"{some(counts[rule.name], 'row')}, {rule.page}: {rule.meaning}"


def family_of(variable: str) -> str:
    """The prefix of a variable's name."""
    return variable.partition("_")[0]


def rule_of(row: str) -> str:
    """The rule whose name a row's name begins with."""
    return next(rule.name for rule in RULES if row == rule.name or row.startswith(f"{rule.name}_"))


def _candidates(program: Program) -> Iterator[tuple[str, str]]:
    for candidate, var in zip(program.candidates, program.pick, strict=True):
        devices = ", ".join(f"{count} {item_words(item)}" for item, count in candidate.fixed.items() if count)
        yield var.name, f"{candidate.fabric}: {candidate.topology}, {devices}"


def _options(program: Program) -> Iterator[tuple[str, str]]:
    stages = [stage.name for stage in program.problem.stages]
    for (key, place), var in program.links.items():
        rows = (_row_words(row, stages) for row in program.options[key][place].rows)
        yield var.name, f"{key[0]}: {'; '.join(rows)}"


def _row_words(row: RowShare, stages: Sequence[str]) -> str:
    when = f", at {stages[row.stage]}" if len(stages) > 1 else ""
    links = f"{row.links} {row.attachment or row.near}-{row.far}{when}"
    if row.assembly is None:
        return f"{links}, nothing is bought"
    return f"{links}, {row.assembly.name} {row.assembly.length_m:g} m"


def _entries(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from _wrapped(f"  {name}: {text}", "      ")


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
