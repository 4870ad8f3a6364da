"""The integer program of a case as text, for other solvers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

from fabopt.errors import InfeasibleError, InputError, fault
from fabopt.io.case import Inputs
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE
from fabopt.search.search import Search


def formulation_text(inputs: Inputs, form: Literal["lp", "mps"]) -> str:
    """The integer program of a case as LP or MPS text, over the candidates that could be optimal.

    Variable ``fixed`` is 1 and carries the part of the objective that every candidate has.
    """
    if inputs.case.objective == EFFECTIVE:
        hint = "write objective: capex_usd for the program of the cheapest design"
        raise InputError([fault(inputs.case_file, "objective", "a ratio is no linear program", EFFECTIVE, hint=hint)])
    problem = problem_of(inputs.case, inputs.catalog)
    optimum = Search(problem, Settings(), Clock(None)).run(ties=False)
    if optimum.program is None:
        raise InfeasibleError(f"{inputs.case_file}: no candidate meets the case, so there is no program to write")
    program = optimum.program.standalone()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"program.{form}"
        if form == "lp":
            program.writeLP(str(path))
        else:
            program.writeMPS(str(path))
        return path.read_text()
