"""The parts of default rules that an answer leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.nics import NicOption
from fabopt.problem.attachments import INFINIBAND
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.generations import Generations
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import RulePart, rack_parts_left_out
from fabopt.rules.defaults import (
    DEFAULT_RULES,
    NIC_PAIRING,
    NIC_RULES,
    ONE_GENERATION,
    ONE_PORT,
    SLOT_SPEED,
    SUBNET_MANAGER,
    YIELDING,
    is_kept,
)
from fabopt.schema.case import Case
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, NicUse
from fabopt.schema.left_out import NO_DESIGN, RuleLeftOut
from fabopt.solution.question import Question
from fabopt.solution.subnet_hosts import NOT_IN_TIME
from fabopt.units import MBPS_PER_GBPS, plain_fraction, some
from fabopt.wiring.design_file import Embedded

OUT_OF_TIME = "time was over before what manages it was looked for"
NOT_IN_STUDIES = "hosts that manage it, or dearer switches, are looked for where a case is solved alone"


def rules_left_out(question: Question, problem: Problem, design: Design) -> tuple[RuleLeftOut, ...]:
    """Parts of default rules that a case asks for and a design breaks, with reasons, in the order of ``YIELDING``."""
    asked = question.inputs.case
    broken = list(_broken(asked, problem, design))
    told = []
    for part, detail in sorted(broken, key=lambda pair: YIELDING.index(pair[0].rule)):
        why = NO_DESIGN if part.rule != SUBNET_MANAGER else _why_not_managed(question, part)
        words = f"{detail}; {why}" if detail else why
        told.append(RuleLeftOut(rule=part.rule, part=part.path, fabric=part.fabric, why=words))
    return tuple(told)


def _why_not_managed(question: Question, part: RulePart) -> str:
    if question.problem is not None and part.fabric not in question.managed:
        return NOT_IN_STUDIES
    return OUT_OF_TIME if NOT_IN_TIME in question.inputs.notes else NO_DESIGN


def _broken(asked: Case, problem: Problem, design: Design) -> Iterator[tuple[RulePart, str]]:
    """Parts of default rules that a design does not keep, with details."""
    yield from ((part, "") for part in rack_parts_left_out(problem, asked))
    yield from ((RulePart(rule, name), detail) for rule, name, detail in broken_nic_rules(problem, design))
    for fabric in design.fabrics:
        yield from ((RulePart(row.rule, fabric.name), row.detail) for row in fabric.redundancy if row.kept is False)
        said = fabric.subnet_manager
        if said is not None and said.kept is False:
            yield RulePart(SUBNET_MANAGER, fabric.name), said.detail
    for name, mixed in mixed_generations(problem, design):
        yield RulePart(ONE_GENERATION, name), mixed


# -- notes on the generations of InfiniBand switches ------------------------------------------------------------------


def generation_notes(problem: Problem, design: Design) -> Iterator[str]:
    """The generation of each fabric's switches, where rule ``one-generation`` excludes some."""
    for name, rule, switches in _judged(problem, design):
        known = dict.fromkeys(switch.generation for switch in switches.values() if switch.generation is not None)
        if rule.clash(switches) is not None:
            continue
        if known:
            yield f"{name}: {DEFAULT_RULES[ONE_GENERATION].note(' and '.join(known))}"
        for id_ in dict.fromkeys(switch.id for switch in switches.values() if switch.generation is None):
            yield f"{name}: the catalog does not say of which generation {id_} is: it goes with any"


def mixed_generations(problem: Problem, design: Design) -> Iterator[tuple[str, str]]:
    """Fabrics that do not keep the rule, with two of their switches that are of several generations."""
    for name, rule, switches in _judged(problem, design):
        clash = rule.clash(switches)
        if clash is not None:
            yield name, " and ".join(f"{role} {switches[role].id} of {switches[role].generation}" for role in clash)


def _judged(problem: Problem, design: Design) -> Iterator[tuple[str, Generations, Mapping[str, Switch]]]:
    """Fabrics that the rule binds, with their switches by tier."""
    embedded, rules = Embedded(design), {fabric.name: fabric.rules.generations for fabric in problem.fabrics}
    for fabric in design.fabrics:
        rule = rules[fabric.name]
        switches: dict[str, Switch] = {tier.role: embedded.part(tier.id, Switch) for tier in fabric.tiers}
        if rule is None or fabric.protocol != INFINIBAND:
            continue
        if any(switches.keys() >= set(pair) for pair in rule.pairs):
            yield fabric.name, rule, switches


# -- notes on default rules about NICs --------------------------------------------------------------------------------
# Notes on default rules about NICs: chosen NICs where rules exclude others, and broken rules.


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
        offered = (*fabric.nics.get(designed.protocol, ()), *fabric.other_nics.by_rules.get(designed.protocol, ()))
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
