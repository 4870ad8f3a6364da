"""Four engines behind one function: CP-SAT, HiGHS and SCIP through OR-Tools, CBC through PuLP.

CP-SAT gets the program term by term (exact integers). HiGHS and SCIP read the MPS text that PuLP writes. Every answer
is rounded to integers and checked against every constraint here, whatever the engine's status.
"""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from fabopt.program.engine_run import in_process, in_thread
from fabopt.program.levels import broken, value_of
from fabopt.program.libraries import cp_sat, pulp
from fabopt.program.settings import Clock
from fabopt.program.wide_sums import narrowed

Verdict = Literal["optimal", "feasible", "infeasible", "unknown"]
ENGINES = ("cp-sat", "highs", "scip", "cbc")
SEED = 0
# What CP-SAT may do at the least, in its deterministic seconds, so that a program of few candidates is always solved.
LEAST_EFFORT = 0.01
# What CP-SAT takes for no limit.
_LEAST, _MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Solution:
    """An engine's answer. ``values``: by variable name; ``bound``: lower bound of every solution (None: not given).

    ``effort``: CP-SAT's effort in its deterministic seconds, equal on every machine; others do not count it.
    """

    verdict: Verdict
    values: Mapping[str, int]
    bound: float | None
    seconds: float
    effort: float = 0.0


def solve(
    lp: pulp.LpProblem,
    engine: str,
    clock: Clock | None = None,
    hint: Mapping[str, int] | None = None,
    most_effort: float = math.inf,
) -> Solution:
    """Minimize a program of integer variables within the clock's time; None: without a limit.

    ``most_effort``: of CP-SAT, as ``Solution.effort``.
    """
    started = time.perf_counter()
    runs: Mapping[str, Callable[[pulp.LpProblem, Clock | None, Mapping[str, int] | None], Solution]] = {
        "cp-sat": partial(_cp_sat, most_effort),
        "highs": _highs,
        "scip": _scip,
        "cbc": _cbc,
    }
    solution = runs[engine](lp, clock, hint)
    if solution.values and broken(lp, solution.values):
        solution = replace(solution, verdict="unknown", values={})
    return replace(solution, seconds=time.perf_counter() - started)


def _cp_sat(most_effort: float, lp: pulp.LpProblem, clock: Clock | None, hint: Mapping[str, int] | None) -> Solution:
    """CP-SAT, one word of the objective after the other where its sum is too wide for it."""
    narrow, words = narrowed(lp)
    if words is None:
        return _cp_sat_at_once(narrow, clock, hint, most_effort)
    narrow.setObjective(words.high)
    first = _cp_sat_at_once(narrow, clock, hint, most_effort)
    constant = int(lp.objective.constant)
    if words.low is None or first.verdict != "optimal":
        bound = None if first.bound is None else words.unit * first.bound + constant
        return replace(first, bound=bound)
    high = value_of(words.high, first.values)
    narrow += words.high == high, "objective_high"
    narrow.setObjective(pulp.LpAffineExpression([(words.low, 1)]))
    last = _cp_sat_at_once(narrow, clock, first.values, most_effort - first.effort)
    low = 0.0 if last.bound is None else last.bound
    verdict: Verdict = "optimal" if last.verdict == "optimal" else "feasible"
    effort = first.effort + last.effort
    return Solution(verdict, last.values or first.values, words.unit * high + low + constant, 0.0, effort)


def _cp_sat_at_once(
    lp: pulp.LpProblem, clock: Clock | None, hint: Mapping[str, int] | None, most_effort: float
) -> Solution:
    model, parameters, engine = _cp_sat_model(lp, hint or {}), cp_sat.SatParameters(), cp_sat.SolveWrapper()
    parameters.num_workers = 1
    parameters.random_seed = SEED
    parameters.linearization_level = 2
    # with symmetries, its presolve ends the process on some small programs (a failed check inside OR-Tools 9.15)
    parameters.symmetry_level = 0
    if hint:
        # the rest of presolve takes longer than to break a tie
        parameters.cp_model_probing_level, parameters.max_presolve_iterations = 0, 1
        parameters.presolve_inclusion_work_limit = 0
    # it would take Ctrl-C to stop itself, say nothing, and leave no handler
    parameters.catch_sigint_signal = False
    if (seconds := _seconds(clock)) is not None:
        parameters.max_time_in_seconds = seconds
    if math.isfinite(most_effort):
        parameters.max_deterministic_time = max(LEAST_EFFORT, most_effort)
    engine.set_parameters(parameters)
    run: Callable[[cp_sat.CpModelProto], cp_sat.CpSolverResponse] = engine.solve
    response = in_thread(lambda: run(model), engine.stop_search, clock)
    status, statuses = None if response is None else response.status, cp_sat.CpSolverStatus
    if response is not None and status in (statuses.OPTIMAL, statuses.FEASIBLE):
        values = dict(zip((var.name for var in lp.variables()), response.solution, strict=True))
        verdict: Verdict = "optimal" if status == statuses.OPTIMAL else "feasible"
        return Solution(verdict, values, float(response.best_objective_bound), 0.0, response.deterministic_time)
    effort = 0.0 if response is None else response.deterministic_time
    return Solution("infeasible" if status == statuses.INFEASIBLE else "unknown", {}, None, 0.0, effort)


def _cp_sat_model(lp: pulp.LpProblem, hint: Mapping[str, int]) -> cp_sat.CpModelProto:
    """The program term by term, variables in its order."""
    model, numbers = cp_sat.CpModelProto(), {var.name: number for number, var in enumerate(lp.variables())}
    for var in lp.variables():
        variable = model.variables.add()
        variable.name = var.name
        variable.domain.extend([int(var.lowBound), int(var.upBound)])
        if var.name in hint:
            model.solution_hint.vars.append(numbers[var.name])
            model.solution_hint.values.append(hint[var.name])
    for constraint in lp.constraints.values():
        linear, most = model.constraints.add().linear, -int(constraint.constant)
        _add_terms(linear, constraint, numbers)
        linear.domain.extend(
            [
                _LEAST if constraint.sense == pulp.LpConstraintLE else most,
                _MOST if constraint.sense == pulp.LpConstraintGE else most,
            ]
        )
    _add_terms(model.objective, lp.objective, numbers)
    model.objective.offset = int(lp.objective.constant)
    model.objective.scaling_factor = 1.0
    return model


def _add_terms(
    to: cp_sat.LinearConstraintProto | cp_sat.CpObjectiveProto,
    expression: pulp.LpAffineExpression,
    numbers: Mapping[str, int],
) -> None:
    """Add the terms of an expression, variables in their order."""
    for number, weight in sorted((numbers[var.name], int(weight)) for var, weight in expression.items()):
        if weight:
            to.vars.append(number)
            to.coeffs.append(weight)


def _seconds(clock: Clock | None) -> float | None:
    """Seconds that an engine is given; None: no limit."""
    return None if clock is None else clock.left()


def _highs(lp: pulp.LpProblem, clock: Clock | None, hint: Mapping[str, int] | None) -> Solution:
    exact = "mip_rel_gap = 0\nmip_abs_gap = 0.5\nmip_feasibility_tolerance = 1e-9\n"
    return _model_builder(lp, "highs", clock, exact)


def _scip(lp: pulp.LpProblem, clock: Clock | None, hint: Mapping[str, int] | None) -> Solution:
    return _model_builder(lp, "scip", clock, "limits/gap = 0\nlimits/absgap = 0\n")


def _model_builder(lp: pulp.LpProblem, name: str, clock: Clock | None, exact: str) -> Solution:
    """Solve the MPS text of PuLP (its LP text is not understood); names are PuLP's own.

    ``exact``: parameters without which an engine calls an answer optimal that is near the optimum only.
    """
    from ortools.linear_solver.python import model_builder

    model = model_builder.Model()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mps"
        lp.writeMPS(str(path))
        if not model.import_from_mps_file(str(path)):
            return Solution("unknown", {}, None, 0.0)
    solver = model_builder.Solver(name)
    if (seconds := _seconds(clock)) is not None:
        solver.set_time_limit_in_seconds(seconds)
    solver.set_solver_specific_parameters(exact)
    status = in_thread(lambda: solver.solve(model), solver.stop_search, clock)
    statuses = model_builder.SolveStatus
    if status in (statuses.OPTIMAL, statuses.FEASIBLE):
        values = {var.name: round(solver.value(var)) for var in model.get_variables()}
        bound = float(solver.best_objective_bound)
        verdict: Verdict = "optimal" if status == statuses.OPTIMAL else "feasible"
        return Solution(verdict, values, bound if math.isfinite(bound) else None, 0.0)
    return Solution("infeasible" if status == statuses.INFEASIBLE else "unknown", {}, None, 0.0)


_CBC_BOUND = re.compile(r"^(?:Lower bound|Best possible):?\s+(-?[0-9.e+]+)", re.MULTILINE)


def _cbc(lp: pulp.LpProblem, clock: Clock | None, hint: Mapping[str, int] | None) -> Solution:
    """CBC. It calls a time-limited run optimal: the verdict is ``sol_status``, the bound is read from its log."""
    wanted = pulp.PULP_CBC_CMD(
        msg=False,
        timeLimit=_seconds(clock),
        gapRel=0.0,
        gapAbs=0.0,
        threads=1,
        options=[f"randomCbcSeed {SEED + 1}"],
    )
    with tempfile.TemporaryDirectory() as folder:
        program, answer, log = (Path(folder) / name for name in ("program.mps", "answer.sol", "cbc.log"))
        none, dummy = lp.fixObjective()
        variables, names, constraints, _ = lp.writeMPS(str(program), rename=1)
        lp.restoreObjective(none, dummy)
        with log.open("wb") as stream:
            ended = in_process(_cbc_command(wanted, program, answer), stream.fileno(), clock)
        if ended != 0 or not answer.exists():
            # it crashes on some small programs; then it has no answer
            return Solution("unknown", {}, None, 0.0)
        _, worth, *_, verdict = wanted.readsol_MPS(str(answer), lp, variables, names, constraints)
        text = log.read_text(errors="replace")
    if verdict in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        values = {var.name: round(worth[var.name] or 0) for var in variables}
        match = _CBC_BOUND.search(text)
        bound = float(match.group(1)) if match else None
        return Solution("optimal" if verdict == pulp.LpSolutionOptimal else "feasible", values, bound, 0.0)
    return Solution("infeasible" if verdict == pulp.LpSolutionInfeasible else "unknown", {}, None, 0.0)


def _cbc_command(wanted: pulp.PULP_CBC_CMD, program: Path, answer: Path) -> list[str]:
    """The command line that PuLP would run, in its order."""
    limit = [] if wanted.timeLimit is None else ["-sec", str(wanted.timeLimit)]
    options = [word for option in [*wanted.options, *wanted.getOptions()] for word in f"-{option}".split()]
    return [
        wanted.path, str(program), *limit, *options,
        "-solve", "-printingOptions", "all", "-solution", str(answer),
    ]  # fmt: skip
