"""Quantities of a program to minimize in turn, and their exact values in an assignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabopt.program.libraries import pulp

# The level of the bandwidth lacking after the loss of a switch.
LACKING = "lacking_mbps"


@dataclass(frozen=True)
class Level:
    """A quantity to minimize in its turn. ``value``: the exact integer of a solution."""

    name: str
    expression: pulp.LpAffineExpression
    offset: int


def value_of(expression: pulp.LpAffineExpression, values: Mapping[str, int]) -> int:
    """The exact value of an integer expression."""
    return int(expression.constant) + sum(int(weight) * values.get(var.name, 0) for var, weight in expression.items())


def broken(lp: pulp.LpProblem, values: Mapping[str, int]) -> list[str]:
    """Constraints that an assignment breaks, by name."""
    names = []
    for name, constraint in lp.constraints.items():
        left = value_of(constraint, values)
        if (constraint.sense <= 0 and left > 0) or (constraint.sense >= 0 and left < 0):
            names.append(name)
    return names
