"""Explanations of infeasible cases, and the least changes that give a design."""
