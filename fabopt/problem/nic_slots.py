"""NIC slots of a server, shared by fabrics without built-in NICs: the fewest that they need, by arithmetic."""

from __future__ import annotations

from fabopt.problem.problem import Problem
from fabopt.units import some


def nics_at_least(problem: Problem) -> dict[str, int]:
    """Fewest NICs of a server that give each fabric its bandwidth, by fabric; built-in ones take no slot."""
    fewest = {}
    equipment = [(fabric.name, fabric.nics) for fabric in problem.fabrics]
    equipment += [(logical.name, logical.nics) for fabric in problem.fabrics for logical in fabric.logical_fabrics]
    for name, options in equipment:
        slots = [0 if nic.item is None else nic.nics_per_server for nics in options.values() for nic in nics]
        if slots:
            fewest[name] = min(slots)
    return fewest


def slots_are_short(problem: Problem) -> bool:
    """Rule ``nics_fit_slots`` before any search: whether no choice of NICs fits the slots."""
    return sum(nics_at_least(problem).values()) > problem.nic_slots


def sum_of_nics(problem: Problem) -> str:
    """The fewest NICs as a sum: ``compute 8 + storage 1 = 9 NICs at least, of 8 slots``."""
    fewest = {name: count for name, count in nics_at_least(problem).items() if count}
    parts = " + ".join(f"{name} {count}" for name, count in fewest.items())
    return f"{parts} = {some(sum(fewest.values()), 'NIC')} at least, of {some(problem.nic_slots, 'slot')}"
