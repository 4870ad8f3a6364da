"""Keys of bounds: of every field of a fabric, but for those that are named as left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import problem_of
from fabopt.topology.clos.scopes import ASPECTS, NOT_HARDWARE, OF_LEAVES, hardware_key, with_aspects
from tests.samples.small import case, inputs

FIELDS = {*with_aspects(one.name for one in fields(FabricProblem))}


# Of these, what decides whether something is in the key.
IN_PART = {"runs.of_groups", "runs.span", "rules.managers", "rules.generations", "rules.kept", "latency"}


@dataclass(frozen=True, eq=False)
class WithMore(FabricProblem):
    """A fabric with a field that nobody has thought of."""

    more: int = 0


def a_fabric() -> FabricProblem:
    read = inputs(case())
    return problem_of(read.case, read.catalog).fabrics[0]


def with_other(fabric: FabricProblem, name: str, value: object) -> FabricProblem:
    """The fabric with another value of a field, or, with a dot in its name, of one of an object's."""
    owner, _, field = name.rpartition(".")
    if owner:
        return with_other(fabric, owner, replace(attrgetter(owner)(fabric), **{field: value}))
    return replace(fabric, **{field: value})


def test_objects_are_of_the_fields_that_are_looked_at() -> None:
    fabric = a_fabric()
    assert {name: type(attrgetter(name)(fabric)) for name in ASPECTS} == ASPECTS


def test_what_is_left_out_are_fields() -> None:
    assert NOT_HARDWARE < FIELDS
    assert OF_LEAVES < FIELDS - NOT_HARDWARE


def test_every_other_field_is_in_the_key() -> None:
    fabric = a_fabric()
    own = hardware_key(fabric), hardware_key(fabric, above_leaves=True)
    for name in FIELDS - NOT_HARDWARE:
        other = with_other(fabric, name, {} if name == "switches" else ("another",))
        assert hardware_key(other) != own[0], name
        assert (hardware_key(other, above_leaves=True) != own[1]) == (name not in OF_LEAVES), name
    for name in NOT_HARDWARE - IN_PART:
        mapping = isinstance(attrgetter(name)(fabric), Mapping)
        other = with_other(fabric, name, {} if mapping else ("another",))
        assert hardware_key(other) == own[0], name


def test_a_new_field_is_in_the_key() -> None:
    """One that is forgotten costs time, and never gives one fabric the bounds of another."""
    content = {one.name: getattr(a_fabric(), one.name) for one in fields(FabricProblem)}
    assert hardware_key(WithMore(**content, more=1)) != hardware_key(WithMore(**content, more=2))
