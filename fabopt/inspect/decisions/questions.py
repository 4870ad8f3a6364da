"""The questions that a case leaves open, as two sides each: the keys in which their cases differ from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabopt.io.case import Inputs
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import problem_of
from fabopt.problem.separation import first_combination
from fabopt.solution.changed import Keys
from fabopt.solution.changes import all_at_once, nics_by_speed
from fabopt.units import gbps

SPEEDS_MBPS = (400_000, 800_000)


@dataclass(frozen=True)
class QuestionSide:
    """One side of a question: what it is called, and the keys of the case that have other values.

    ``why_not``: why there is no such case, where that is known.
    """

    name: str
    change: Keys
    why_not: str = ""


@dataclass(frozen=True)
class OpenQuestion:
    """Two sides of which one is to be chosen."""

    name: str
    sides: tuple[QuestionSide, QuestionSide]


def questions_of(inputs: Inputs) -> Iterator[OpenQuestion]:
    """The questions on a case's compute fabric, and on its stages."""
    case = inputs.case
    problem = problem_of(first_combination(case, inputs.catalog), inputs.catalog)
    fabric = next((fabric for fabric in problem.fabrics if fabric.role == "compute"), problem.fabrics[0])
    open_questions: tuple[tuple[str, list[tuple[str, dict[str, object]]]], ...] = (
        ("protocol", [("InfiniBand", {"protocol": "infiniband"}), ("Ethernet", {"protocol": "ethernet"})]),
        ("tiers", [("two tiers", {"tiers": 2}), ("three tiers", {"tiers": 3})]),
        ("servers to leaves", [("rails", {"rails": "aligned", "group_by": "any"}),
                               ("top of rack", {"rails": "any", "group_by": "rack"})]),
    )  # fmt: skip
    for name, sides in open_questions:
        first, second = (
            QuestionSide(label, {f"fabrics.{fabric.name}.{key}": value for key, value in keys.items()})
            for label, keys in sides
        )
        yield OpenQuestion(name, (first, second))
    slow, fast = (_of_speed(inputs, fabric, mbps) for mbps in SPEEDS_MBPS)
    yield OpenQuestion("speed", (slow, fast))
    if len(case.stages or ()) > 1:
        yield OpenQuestion(
            "buying", (QuestionSide("in stages", {}), QuestionSide("all now", all_at_once(case, problem)))
        )


def _of_speed(inputs: Inputs, fabric: FabricProblem, mbps: int) -> QuestionSide:
    """The NICs whose fastest port has a speed, of those that give what is asked for and keep the default rules."""
    speed = f"{gbps(mbps):g}"
    ids = nics_by_speed(fabric, inputs.catalog).get(mbps, [])
    if ids:
        return QuestionSide(f"{speed}G NICs", {f"fabrics.{fabric.name}.nics": ids})
    if any(option.item is None for options in fabric.nics.values() for option in options):
        what = f"the NICs built into {inputs.case.server} are not of {speed} Gb/s a port"
    else:
        what = f"no NIC of {speed} Gb/s a port gives what is asked for and keeps the default rules"
    return QuestionSide(f"{speed}G NICs", {}, what)
