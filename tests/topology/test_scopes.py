"""Keys of bounds: of every field of a fabric, but for those that are named as left out."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import problem_of
from fabopt.topology.clos.scopes import NOT_HARDWARE, OF_LEAVES, hardware_key
from tests.samples.small import case, inputs

FIELDS = {one.name for one in fields(FabricProblem)}


@dataclass(frozen=True, eq=False)
class WithMore(FabricProblem):
    """A fabric with a field that nobody has thought of."""

    more: int = 0


def a_fabric() -> FabricProblem:
    read = inputs(case())
    return problem_of(read.case, read.catalog).fabrics[0]


def test_what_is_left_out_are_fields() -> None:
    assert NOT_HARDWARE < FIELDS
    assert OF_LEAVES < FIELDS - NOT_HARDWARE


def test_every_other_field_is_in_the_key() -> None:
    fabric = a_fabric()
    own = hardware_key(fabric), hardware_key(fabric, above_leaves=True)
    for name in FIELDS - NOT_HARDWARE:
        other = replace(fabric, **{name: {} if name == "switches" else ("another",)})
        assert hardware_key(other) != own[0], name
        assert (hardware_key(other, above_leaves=True) != own[1]) == (name not in OF_LEAVES), name
    for name in NOT_HARDWARE - {"groups", "span", "managers", "generations", "kept_rules", "latency"}:
        mapping = isinstance(getattr(fabric, name), type(fabric.runs_m))
        other = replace(fabric, **{name: {} if mapping else ("another",)})
        assert hardware_key(other) == own[0], name


def test_a_new_field_is_in_the_key() -> None:
    """One that is forgotten costs time, and never gives one fabric the bounds of another."""
    content = {one.name: getattr(a_fabric(), one.name) for one in fields(FabricProblem)}
    assert hardware_key(WithMore(**content, more=1)) != hardware_key(WithMore(**content, more=2))
