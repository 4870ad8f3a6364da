"""The written program: its legend explains every name in it, solvers skip it, three tiny ones are kept whole."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.formulation import RULES, Program
from fabopt.program.legend import VARIABLES, Form, program_text, rule_of
from fabopt.program.lexicographic import optimum_of
from fabopt.program.settings import Clock, Settings
from fabopt.program.solvers import pulp
from fabopt.search.answer import answer_in
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.rules_kept import relaxed
from fabopt.solution.formulation_text import formulation_text
from fabopt.topology.candidate import Clash
from tests.paths import ROOT
from tests.program.lp_goldens import CASES, golden_of, written
from tests.samples.small import case, inputs

ENTRY = re.compile(r"  (\S+): ")


def program_of(path: Path) -> Program:
    given = inputs_from_objects(path)
    problem = problem_of(given.case, given.catalog)
    program = answer_in(problem, Settings(), Clock(None), Context()).optimum.program
    if program is None and (kept := relaxed(problem, Settings(), Clock(None), Context())):
        # a default rule that no design of the case keeps is left out
        program = search_of(kept, Settings(), Clock(None)).run(ties=False).program
    assert program is not None
    return Program(program.problem, program.candidates)


def section(text: str, form: Form, title: str) -> dict[str, str]:
    """The entries of a legend below a title: name and text."""
    mark = {"lp": "\\ ", "mps": "* "}[form]
    lines = [line.removeprefix(mark) for line in text.splitlines()]
    start = next(index for index, line in enumerate(lines) if line.startswith(title))
    entries: dict[str, str] = {}
    name = ""
    for line in lines[start + 1 :]:
        if not line.startswith("  "):
            break
        if found := ENTRY.match(line):
            name = found[1]
            entries[name] = line[found.end() :]
        else:
            entries[name] += f" {line.strip()}"
    return entries


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_written_program_is_the_golden(path: Path) -> None:
    assert written(path) == golden_of(path).read_text(), "run `make goldens` and look at what changed"


@pytest.mark.long(
    but=(
        "lp-visits-case",
        "mps-example-case",
        "mps-growing-case",
        "mps-networks-case",
        "mps-regret-case",
        "mps-sources-case",
    )
)
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@pytest.mark.parametrize("form", ["lp", "mps"])
def test_legend_explains_every_name(path: Path, form: Form) -> None:
    program = program_of(path)
    text = program_text(program, form)
    families = section(text, form, "VARIABLES")
    prefixes = {name.partition("_")[0]: entry for name, entry in families.items()}
    for name in (var.name for var in program.lp.variables()):
        assert name.partition("_")[0] in prefixes, name
    rows = section(text, form, "ROWS")
    for rule in RULES:
        added = [name for name in program.lp.constraints if rule_of(name) == rule.name]
        assert (rule.name in rows) == bool(added)
        if added:
            count, page, meaning = re.fullmatch(r"(\d+) rows?, (\S+): (.+)", rows[rule.name]).groups()
            assert (int(count), page, meaning) == (len(added), rule.page, rule.meaning)
            assert (ROOT / page).exists() and len(meaning) > 20
    for name in ("pick", "links"):
        stated = {*section(text, form, "CANDIDATES"), *section(text, form, "OPTIONS")}
        assert {var.name for var in program.lp.variables() if var.name.startswith(name)} <= stated


def test_every_rule_and_variable_is_in_some_golden() -> None:
    """But for one that has a test of its own below, and what there is beside a base (`test_moves_with_labour`)."""
    programs = [program_of(path) for path in CASES]
    met = {rule_of(name) for program in programs for name in program.lp.constraints}
    assert {rule.name for rule in RULES} - met == {"ports_fit_radix", "labour_is_on_what_is_new"}
    used = {var.name.partition("_")[0] for program in programs for var in program.standalone().variables()}
    assert used == {family.prefix for family in VARIABLES} - {"beyond"}


def test_cables_that_cages_hold_singly_are_not_taken_together() -> None:
    """Copper below and the active cable above are the cheapest ones; where no switch holds both, one of them goes."""
    given = inputs(case())
    problem = problem_of(given.case, given.catalog)
    free = search_of(problem, Settings(prune=False), Clock(None)).run(ties=False)
    candidate, units = free.picked[0]
    (below, down), (above, up) = (
        (choice.key, place)
        for choice in candidate.choices
        for place, option in enumerate(choice.options)
        if (option, choice.count) in units
    )
    held = replace(candidate, clashes=(Clash((below, down), (above, up)),))
    found = optimum_of(problem, [held], Settings(prune=False), Clock(None))
    assert found.program is not None and free.value is not None and found.value is not None
    assert found.value > free.value
    assert rule_of("ports_fit_radix_0_0") in section(program_text(found.program, "lp"), "lp", "ROWS")


def test_a_row_without_variables_is_explained() -> None:
    """All candidates have as many rack units, so nothing is left in the row of a limit that all keep."""
    text = formulation_text(inputs(case(limits={"rack_units": 100})), "lp")
    assert "__dummy" in text.partition("Minimize")[2]
    assert "__dummy" in section(text, "lp", "VARIABLES")


@pytest.mark.long("growing-case", "regret-case")
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_solvers_read_it(path: Path, tmp_path: Path) -> None:
    """CBC both texts, HiGHS and SCIP the MPS text; all find the optimum."""
    program = program_of(path)
    wanted = search_of(program.problem, Settings(), Clock(None)).run(ties=False).value
    assert wanted is not None
    for form in ("lp", "mps"):
        file = tmp_path / f"program.{form}"
        file.write_text(program_text(program, form))
        command = [pulp.PULP_CBC_CMD().path, str(file), "ratio", "0", "solve", "solu", str(tmp_path / "cbc.sol")]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        assert by_cbc(tmp_path / "cbc.sol") == pytest.approx(wanted, rel=1e-9)
    for engine in ("highs", "scip"):
        assert by_or_tools(tmp_path / "program.mps", engine) == pytest.approx(wanted, rel=1e-9)


def by_cbc(solution: Path) -> float:
    first = solution.read_text().splitlines()[0]
    assert first.startswith("Optimal"), first
    return float(first.rsplit(maxsplit=1)[-1])


def by_or_tools(path: Path, engine: str) -> float:
    from ortools.linear_solver.python import model_builder

    model = model_builder.Model()
    assert model.import_from_mps_file(str(path))
    solver = model_builder.Solver(engine)
    assert solver.solve(model) == model_builder.SolveStatus.OPTIMAL
    return float(solver.objective_value)
