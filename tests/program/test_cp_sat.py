"""Programs are handed to CP-SAT as its own modelling language would hand them, without importing that."""

from __future__ import annotations

import pulp
import pytest
from ortools.sat.python import cp_model

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program import formulation, solvers
from fabopt.program.settings import Clock, Settings
from fabopt.search.expansion import Expansion
from tests.samples.growth_samples import eight, grown
from tests.samples.small import Json, case, catalog


def in_its_language(lp: pulp.LpProblem, hint: dict[str, int]) -> str:
    model = cp_model.CpModel()
    variables = {var.name: model.new_int_var(var.lowBound, var.upBound, var.name) for var in lp.variables()}
    for name, value in hint.items():
        model.add_hint(variables[name], value)

    def linear(expression: pulp.LpAffineExpression) -> cp_model.LinearExprT:
        weights = [int(weight) for weight in expression.values()]
        names = [variables[var.name] for var in expression]
        return cp_model.LinearExpr.weighted_sum(names, weights) + int(expression.constant)

    for constraint in lp.constraints.values():
        left = linear(constraint)
        if constraint.sense == pulp.LpConstraintEQ:
            model.add(left == 0)
        elif constraint.sense == pulp.LpConstraintLE:
            model.add(left <= 0)
        else:
            model.add(left >= 0)
    model.minimize(linear(lp.objective))
    return str(model)


@pytest.mark.parametrize(("content", "parts"), [(case(limits={"power_w": 30_000}), catalog()), (grown(2, 4), eight())])
def test_a_program_is_what_the_language_makes_of_it(content: Json, parts: Json) -> None:
    read = inputs_from_objects(content, parts)
    problem = problem_of(read.case, read.catalog)
    expansion = Expansion(problem, Settings(), Clock(None), {})
    candidates = expansion.candidates(expansion.expand(expansion.caps[1:] * 0))
    program = formulation.Program(problem, candidates)
    program.lp.setObjective(program.objective().expression)
    hint = {var.name: int(var.lowBound) for var in program.lp.variables()[::2]}
    assert str(solvers._cp_sat_model(program.lp, hint)) == in_its_language(program.lp, hint)
    assert len(program.lp.constraints) > 2


def test_terms_without_weight_are_left_out() -> None:
    lp = pulp.LpProblem("small")
    names = [pulp.LpVariable(name, 0, 9, cat="Integer") for name in "ba"]
    lp += 0 * names[0] + 3 * names[1] + 4
    lp += 2 * names[0] + 0 * names[1] >= 5
    lp += names[0] - names[1] == -1
    assert str(solvers._cp_sat_model(lp, {"a": 3})) == in_its_language(lp, {"a": 3})
