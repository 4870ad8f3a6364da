"""The integer program of a case as text, for other solvers."""

from __future__ import annotations

from fabopt.errors import InfeasibleError, fault, refusal
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse_any
from fabopt.problem.certain import limited_cables
from fabopt.problem.problem import problem_of
from fabopt.program.formulation import Program
from fabopt.program.legend import Form, program_text
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE
from fabopt.search.answer import answer_in
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.rules_kept import relaxed


def formulation_text(inputs: Inputs, form: Form) -> str:
    """The integer program of a case as LP or MPS text, over the candidates that could be optimal."""
    if inputs.case.objective == EFFECTIVE:
        raise refusal(
            inputs.case_file,
            "objective",
            "a ratio is no linear program",
            EFFECTIVE,
            hint="write objective: capex_usd for the program of the cheapest design",
        )
    faults = list(limited_cables(inputs.case, inputs.case_file, "one program is not written"))
    if inputs.case.site.trunked:
        what = "one program is not written where links run through trunks: panels get room between several"
        faults.append(fault(inputs.case_file, "site.cabling", what, hint="leave it out, or use `fabopt solve`"))
    refuse_any(faults)
    problem = problem_of(inputs.case, inputs.catalog)
    optimum = answer_in(problem, Settings(), Clock(None), Context()).optimum
    if optimum.value is None:
        problem = relaxed(problem, Settings(), Clock(None), Context()) or problem
        optimum = search_of(problem, Settings(), Clock(None)).run(ties=False)
    if optimum.program is None:
        raise InfeasibleError(f"{inputs.case_file}: no candidate meets the case, so there is no program to write")
    # without rows that hold one quantity while another one is minimized
    return program_text(Program(optimum.program.problem, optimum.program.candidates), form)
