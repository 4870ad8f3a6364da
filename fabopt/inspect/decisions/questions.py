"""The questions that a case leaves open, as two cases each that differ in the one thing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabopt.io.case import Inputs
from fabopt.problem.demand import stages_of
from fabopt.schema.base import parse_split
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Nic
from fabopt.units import MBPS_PER_GBPS


@dataclass(frozen=True)
class QuestionSide:
    """One side of a question: what it is called, and its case; ``why_not``: why there is none, where that is known."""

    name: str
    case: Case | None
    why_not: str = ""


@dataclass(frozen=True)
class OpenQuestion:
    """Two sides of which one is to be chosen."""

    name: str
    sides: tuple[QuestionSide, QuestionSide]


def questions_of(inputs: Inputs) -> Iterator[OpenQuestion]:
    """The questions on a case's compute fabric, and on its stages."""
    case = inputs.case
    index = next((number for number, fabric in enumerate(case.fabrics) if fabric.role == "compute"), 0)
    open_questions: tuple[tuple[str, list[tuple[str, dict[str, object]]]], ...] = (
        ("protocol", [("InfiniBand", {"protocol": "infiniband"}), ("Ethernet", {"protocol": "ethernet"})]),
        ("tiers", [("two tiers", {"tiers": 2}), ("three tiers", {"tiers": 3})]),
        ("servers to leaves", [("rails", {"rails": "aligned", "group_by": "any"}),
                               ("top of rack", {"rails": "any", "group_by": "rack"})]),
    )  # fmt: skip
    for name, sides in open_questions:
        first, second = (QuestionSide(label, _with(case, index, update)) for label, update in sides)
        yield OpenQuestion(name, (first, second))
    yield OpenQuestion("speed", (_of_speed(inputs, index, 400), _of_speed(inputs, index, 800)))
    if case.stages is not None and len(case.stages) > 1:
        yield OpenQuestion("buying", (QuestionSide("in stages", case), QuestionSide("all now", _at_once(inputs))))


def _with(case: Case, index: int, update: dict[str, object]) -> Case:
    """A case with its compute fabric changed."""
    fabrics: tuple[Fabric, ...] = tuple(
        fabric.model_copy(update=update) if number == index else fabric for number, fabric in enumerate(case.fabrics)
    )
    return case.model_copy(update={"fabrics": fabrics})


def _of_speed(inputs: Inputs, index: int, gbps: int) -> QuestionSide:
    """The case with NICs whose fastest port has a speed."""
    name = f"{gbps}G NICs"
    fabric = inputs.case.fabrics[index]
    server = next((server for server in inputs.catalog.servers if server.id == inputs.case.server), None)
    built_in = {nic.id for nic in server.nics if nic.role == fabric.role} if server is not None else set()
    allowed = None if fabric.nics == "any" else set(fabric.nics)
    ids = tuple(
        nic.id
        for nic in inputs.catalog.nics
        if _fastest(nic) == gbps * MBPS_PER_GBPS and (allowed is None or nic.id in allowed)
        and (not built_in or nic.id in built_in)
    )  # fmt: skip
    if not ids:
        what = f"the NICs built into {inputs.case.server} are not" if built_in else "no NIC of the catalog is"
        return QuestionSide(name, None, f"{what} of {gbps} Gb/s a port")
    return QuestionSide(name, _with(inputs.case, index, {"nics": ids}))


def _fastest(nic: Nic) -> int:
    return max(parse_split(split).port_mbps for cage in nic.cages for split in cage.splits)


def _at_once(inputs: Inputs) -> Case | None:
    """The case with all that its last stage has from the start."""
    server = next((server for server in inputs.catalog.servers if server.id == inputs.case.server), None)
    if server is None:
        return None
    last = stages_of(inputs.case, server)[-1]
    return inputs.case.model_copy(update={"stages": None, "servers": last.servers, "gpus": None})
