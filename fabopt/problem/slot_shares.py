"""NICs of one fabric that no design has, since they leave too few slots to the other fabrics' NICs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.nic_rules import Nics


def slots_of_nics(nic: NicOption) -> int:
    """Slots of a server for an option of NICs; 0 for built-in ones."""
    return 0 if nic.item is None else nic.nics_per_server


def within_slots(fabrics: Sequence[FabricProblem], slots: int) -> tuple[FabricProblem, ...]:
    """The fabrics without NICs that leave, of ``slots`` of a server, too few for the fewest NICs of the others.

    Rule ``nics_fit_slots``. Where the fewest of all are too many, the fabrics are as they were.
    """
    fewest = [sum(_fewest(fabric)) for fabric in fabrics]
    spare = slots - sum(fewest)
    if spare < 0 or len(fabrics) < 2:
        return tuple(fabrics)
    return tuple(_with_at_most(fabric, spare + own) for fabric, own in zip(fabrics, fewest, strict=True))


def _fewest(fabric: FabricProblem) -> Iterator[int]:
    """Fewest slots for the NICs of a fabric, and of each logical one on it, NICs that rules exclude among them."""
    yield _least(fabric.nics, fabric.other_nics.by_rules)
    yield from (_least(logical.nics, logical.left_out_nics) for logical in fabric.logical_fabrics)


def _least(nics: Nics, left_out: Nics) -> int:
    every = (*nics.values(), *left_out.values())
    return min((slots_of_nics(nic) for options in every for nic in options), default=0)


def _with_at_most(fabric: FabricProblem, slots: int) -> FabricProblem:
    if all(slots_of_nics(nic) <= slots for options in fabric.nics.values() for nic in options):
        return fabric
    nics = {
        protocol: tuple(nic for nic in options if slots_of_nics(nic) <= slots)
        for protocol, options in fabric.nics.items()
    }
    return replace(fabric, nics=nics)
