"""Four engines behind one function: CP-SAT, HiGHS and SCIP through OR-Tools, CBC through PuLP.

CP-SAT gets the program term by term (exact integers). HiGHS and SCIP read the MPS text that PuLP writes. Every answer
is rounded to integers and checked against every constraint here, whatever the engine said of it.
"""

from __future__ import annotations

import math
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabopt.program.formulation import broken
from fabopt.program.libraries import cp_model, pulp

Verdict = Literal["optimal", "feasible", "infeasible", "unknown"]
ENGINES = ("cp-sat", "highs", "scip", "cbc")
SEED = 0


@dataclass(frozen=True)
class Solution:
    """What an engine found. ``values``: by variable name; ``bound``: no solution is below it (None: not given)."""

    verdict: Verdict
    values: Mapping[str, int]
    bound: float | None
    seconds: float


def solve(
    lp: pulp.LpProblem,
    engine: str,
    time_limit_s: float | None = None,
    hint: Mapping[str, int] | None = None,
) -> Solution:
    """Minimize a program of integer variables. ``time_limit_s``: None for none."""
    started = time.perf_counter()
    run: Callable[[pulp.LpProblem, float | None, Mapping[str, int] | None], Solution] = {
        "cp-sat": _cp_sat,
        "highs": _highs,
        "scip": _scip,
        "cbc": _cbc,
    }[engine]
    solution = run(lp, time_limit_s, hint)
    if solution.values and broken(lp, solution.values):
        solution = Solution("unknown", {}, solution.bound, 0.0)
    return Solution(solution.verdict, solution.values, solution.bound, time.perf_counter() - started)


def _cp_sat(lp: pulp.LpProblem, time_limit_s: float | None, hint: Mapping[str, int] | None) -> Solution:
    model = cp_model.CpModel()
    variables: dict[str, cp_model.IntVar] = {}
    for var in lp.variables():
        variables[var.name] = model.new_int_var(int(var.lowBound), int(var.upBound), var.name)
        if hint is not None and var.name in hint:
            model.add_hint(variables[var.name], hint[var.name])
    for constraint in lp.constraints.values():
        left = _linear(constraint, variables)
        if constraint.sense == pulp.LpConstraintEQ:
            model.add(left == 0)
        elif constraint.sense == pulp.LpConstraintLE:
            model.add(left <= 0)
        else:
            model.add(left >= 0)
    model.minimize(_linear(lp.objective, variables))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = SEED
    solver.parameters.linearization_level = 2
    # with symmetries, its presolve ends the process on some small programs (a failed check inside OR-Tools 9.15)
    solver.parameters.symmetry_level = 0
    if time_limit_s is not None:
        solver.parameters.max_time_in_seconds = max(0.01, time_limit_s)
    status = _interruptible(solver, model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = {name: solver.value(var) for name, var in variables.items()}
        verdict: Verdict = "optimal" if status == cp_model.OPTIMAL else "feasible"
        return Solution(verdict, values, float(solver.best_objective_bound), 0.0)
    return Solution("infeasible" if status == cp_model.INFEASIBLE else "unknown", {}, None, 0.0)


def _interruptible(solver: cp_model.CpSolver, model: cp_model.CpModel) -> cp_model.CpSolverStatus:
    """Solve, and give Ctrl-C back to Python: CP-SAT takes it to stop itself, says nothing, and leaves no handler."""
    if threading.current_thread() is not threading.main_thread():
        solver.parameters.catch_sigint_signal = False
        return solver.solve(model)
    handler = signal.getsignal(signal.SIGINT)
    started = time.monotonic()
    status = solver.solve(model)
    if handler is not None:
        signal.signal(signal.SIGINT, handler)
    limit = solver.parameters.max_time_in_seconds
    if status in (cp_model.FEASIBLE, cp_model.UNKNOWN) and time.monotonic() - started < limit:
        signal.raise_signal(signal.SIGINT)
    return status


def _linear(expression: pulp.LpAffineExpression, variables: Mapping[str, cp_model.IntVar]) -> cp_model.LinearExprT:
    names = [variables[var.name] for var in expression]
    weights = [int(weight) for weight in expression.values()]
    return cp_model.LinearExpr.weighted_sum(names, weights) + int(expression.constant)


def _highs(lp: pulp.LpProblem, time_limit_s: float | None, hint: Mapping[str, int] | None) -> Solution:
    exact = "mip_rel_gap = 0\nmip_abs_gap = 0.5\nmip_feasibility_tolerance = 1e-9\n"
    return _model_builder(lp, "highs", time_limit_s, exact)


def _scip(lp: pulp.LpProblem, time_limit_s: float | None, hint: Mapping[str, int] | None) -> Solution:
    return _model_builder(lp, "scip", time_limit_s, "limits/gap = 0\nlimits/absgap = 0\n")


def _model_builder(lp: pulp.LpProblem, name: str, time_limit_s: float | None, exact: str) -> Solution:
    """Solve what PuLP writes as MPS (its LP text is not understood); names are PuLP's own.

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
    if time_limit_s is not None:
        solver.set_time_limit_in_seconds(max(0.01, time_limit_s))
    solver.set_solver_specific_parameters(exact)
    status = solver.solve(model)
    statuses = model_builder.SolveStatus
    if status in (statuses.OPTIMAL, statuses.FEASIBLE):
        values = {var.name: round(solver.value(var)) for var in model.get_variables()}
        bound = float(solver.best_objective_bound)
        verdict: Verdict = "optimal" if status == statuses.OPTIMAL else "feasible"
        return Solution(verdict, values, bound if math.isfinite(bound) else None, 0.0)
    return Solution("infeasible" if status == statuses.INFEASIBLE else "unknown", {}, None, 0.0)


_CBC_BOUND = re.compile(r"^(?:Lower bound|Best possible):?\s+(-?[0-9.e+]+)", re.MULTILINE)


def _cbc(lp: pulp.LpProblem, time_limit_s: float | None, hint: Mapping[str, int] | None) -> Solution:
    """CBC. It calls a time-limited run optimal: the verdict is ``sol_status``, the bound is read from its log."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cbc.log"
        command = pulp.PULP_CBC_CMD(
            msg=False,
            timeLimit=None if time_limit_s is None else max(0.01, time_limit_s),
            gapRel=0.0,
            gapAbs=0.0,
            threads=1,
            logPath=str(log),
            options=[f"randomCbcSeed {SEED + 1}"],
        )
        try:
            lp.solve(command)
        except pulp.PulpSolverError:
            # it crashes on some small programs; then it has no answer
            return Solution("unknown", {}, None, 0.0)
        text = log.read_text(errors="replace") if log.exists() else ""
    if lp.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        values = {var.name: round(var.varValue or 0) for var in lp.variables()}
        proven = lp.sol_status == pulp.LpSolutionOptimal
        match = _CBC_BOUND.search(text)
        bound = float(match.group(1)) if match else None
        return Solution("optimal" if proven else "feasible", values, bound, 0.0)
    infeasible = lp.sol_status in (pulp.LpSolutionInfeasible,)
    return Solution("infeasible" if infeasible else "unknown", {}, None, 0.0)
