"""Notes on default rules about NICs: chosen NICs where rules exclude others, and broken rules."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.rules.defaults import DEFAULT_RULES, NIC_PAIRING, NIC_RULES, ONE_PORT, SLOT_SPEED, is_kept
from fabopt.schema.design import Design, NicUse
from fabopt.units import MBPS_PER_GBPS, plain_fraction, some


class ChosenNics(NamedTuple):
    """The chosen NICs of a fabric, or of a logical one on its switches; ``name``: of either."""

    fabric: FabricProblem
    name: str
    nic: NicOption


def nic_rule_notes(problem: Problem, design: Design) -> Iterator[str]:
    """A note for each kept rule about NICs that excludes some, with the chosen NICs."""
    equipped = list(_chosen(problem, design))
    for rule in NIC_RULES:
        kept = [
            f"{chosen.nic.nics_per_server if rule == NIC_PAIRING else _shown(rule, problem, chosen)} of {chosen.name}"
            for chosen in equipped
            if _is_left(rule, problem, chosen)
        ]
        if kept:
            gpus = f" for {problem.server.gpus} GPUs" if rule == NIC_PAIRING else ""
            yield DEFAULT_RULES[rule].note(f"{' and '.join(kept)}{gpus}")


def broken_nic_rules(problem: Problem, design: Design) -> Iterator[tuple[str, str, str]]:
    """Rules about NICs that a case asks for and a fabric breaks: rule, fabric, and the NICs' figure in words."""
    for rule in (rule for rule in NIC_RULES if is_kept(problem.case.rules, rule)):
        for chosen in _chosen(problem, design):
            if rule in chosen.nic.breaks:
                yield rule, chosen.name, _shown(rule, problem, chosen)


def _chosen(problem: Problem, design: Design) -> Iterator[ChosenNics]:
    """The NICs of all fabrics of a design that are not built in, as their problem has them."""
    for fabric, designed in zip(problem.fabrics, design.fabrics, strict=False):
        offered = (*fabric.nics.get(designed.protocol, ()), *fabric.left_out_nics.get(designed.protocol, ()))
        own = next((option for option in offered if _is_use(option, designed.nic, designed.planes)), None)
        if own is not None and own.item is not None:
            yield ChosenNics(fabric, designed.name, own)
        for logical in fabric.logical_fabrics:
            use = next(carried.nic for carried in designed.logical if carried.name == logical.name)
            options = (*logical.nics.get(designed.protocol, ()), *logical.left_out_nics.get(designed.protocol, ()))
            yield from (ChosenNics(fabric, logical.name, nic) for nic in options if _is_use(nic, use, 1) and nic.item)


def _is_use(option: NicOption, use: NicUse, planes: int) -> bool:
    """Whether a design file says so of a way to equip servers."""
    said = use.id, use.per_server, use.ports_per_nic, use.split, use.cage_group, planes
    file_planes = option.planes // option.rails_per_plane
    return said == (
        option.nic_id, option.nics_per_server, option.ports_per_nic, option.split, option.group, file_planes,
    )  # fmt: skip


def _is_left(rule: str, problem: Problem, chosen: ChosenNics) -> bool:
    """Whether chosen NICs keep a rule that excludes others."""
    is_kept_by = is_kept(problem.case.rules, rule) and rule not in chosen.nic.breaks
    return is_kept_by and _says_something(rule, problem, chosen)


def _says_something(rule: str, problem: Problem, chosen: ChosenNics) -> bool:
    """Whether a rule excludes NICs of a fabric; ``nic-pairing``: whether it limits their number."""
    if rule != NIC_PAIRING:
        return chosen.fabric.leaves_nics_out(rule)
    numbers = {fabric.name: fabric.nics_per_server for fabric in problem.case.fabrics}
    numbers |= {carried.name: carried.nics_per_server for fabric in problem.case.fabrics for carried in fabric.carries}
    return problem.server.gpus > 1 and numbers[chosen.name] == "any"


def _shown(rule: str, problem: Problem, chosen: ChosenNics) -> str:
    """The figure of the chosen NICs that a rule limits, in words."""
    nic = chosen.nic
    if rule == NIC_PAIRING:
        return f"{some(nic.nics_per_server, 'NIC')} for {some(problem.server.gpus, 'GPU')}"
    if rule == SLOT_SPEED:
        ports = plain_fraction(Fraction(nic.ports_per_nic * nic.port.lane.port_mbps, MBPS_PER_GBPS))
        return f"{ports} Gb/s of ports of {nic.nic_id} in {_slot_of(problem, nic)}"
    if rule == ONE_PORT:
        asked = plain_fraction(Fraction(chosen.fabric.gpu_mbps, MBPS_PER_GBPS))
        return f"a port of {plain_fraction(nic.flow_mbps / MBPS_PER_GBPS)} Gb/s for the {asked} Gb/s of a GPU"
    return nic.nic_id


def _slot_of(problem: Problem, nic: NicOption) -> str:
    slot = problem.server.pcie
    if slot is None:
        return "slots of which nothing is known"
    gives = "" if not nic.is_slowed else f", which give {plain_fraction(nic.nic_mbps / MBPS_PER_GBPS)}"
    return f"Gen{slot.generation} x{slot.lanes} slots{gives}"
