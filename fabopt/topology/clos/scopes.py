"""What the bounds of a fabric follow from, as keys: fabrics with equal ones share these bounds."""

from __future__ import annotations

from collections.abc import Hashable

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.joins import runs_differ

RUNS_OF_TWO_TIERS = ("server-leaf", "leaf-spine", "spine-core", "attachment-leaf")


def scope_key(problem: Problem, fabric: FabricProblem, runs: tuple[str, ...], most: Hashable) -> Hashable:
    """What bounds follow from that depend on the runs of these kinds.

    ``most``: what shares of leaves follow from in the sizes that are looked at.
    """
    of_servers = "server-leaf" in runs
    if of_servers and not fabric.may_be_alike:  # there shares of leaves count all above them
        runs = RUNS_OF_TWO_TIERS
    lengths = tuple(
        (problem.links.length_on_sale_m(fabric.runs_m[run]), runs_differ(problem, fabric, run)) for run in runs
    )
    hardware = fabric.hardware if "attachment-leaf" in runs else fabric.hardware_above_leaves
    if not of_servers:
        return hardware, runs, lengths
    arrangement = fabric.arrangement
    # there servers' links run as far as it is to where leaves may be
    layout = arrangement.layout if arrangement.bounds == "measured" else None
    return hardware, runs, lengths, problem.servers, fabric.span is None, fabric.may_be_alike, most, layout
