"""PuLP and CP-SAT, in the order in which they must be imported: docs/decisions, 2.

Everything that states or solves a program takes both from here.
"""

import ortools.sat.python.cp_model as cp_model
import pulp

__all__ = ["cp_model", "pulp"]
