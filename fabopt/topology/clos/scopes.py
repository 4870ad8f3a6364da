"""What the bounds of a fabric follow from, as keys: fabrics with equal ones share these bounds."""

from __future__ import annotations

from collections.abc import Hashable

from fabopt.floor.arrangements import InLayout, InPlaces
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.joins import runs_differ

RUNS_OF_TWO_TIERS = ("server-leaf", "leaf-spine", "spine-core", "attachment-leaf", "attachment-spine")


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
    arrangement = fabric.arrangement
    # there links run as far as it is to where leaves may be, and to as many spines as there are at least
    layout: Hashable = None
    match arrangement:
        case InPlaces(layouts):
            layout = layouts
        case InLayout(one, "nearest" | "measured"):
            layout = one
    of_spines: Hashable = None
    if layout is not None and "leaf-spine" in runs:
        stripes = fabric.even, fabric.kept_rules
        of_spines = layout, problem.servers, stripes, tuple(fabric.nics.items())
    if not of_servers:
        return hardware, runs, lengths, of_spines
    return hardware, of_spines, runs, lengths, problem.servers, fabric.span is None, fabric.may_be_alike, most, layout
