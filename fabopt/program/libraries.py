"""PuLP and CP-SAT, in the order in which they must be imported: docs/decisions, 2.

All code that states or solves a program takes both from here. CP-SAT is the part of OR-Tools that its own modelling
language is written in: that language imports pandas, which takes as long as all else together and is not used here.
"""

import ortools.sat.python.cp_model_helper as cp_sat
import pulp

__all__ = ["cp_sat", "pulp"]
