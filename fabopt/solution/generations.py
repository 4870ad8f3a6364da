"""Notes on the generations of InfiniBand switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabopt.problem.generations import Generations
from fabopt.problem.problem import Problem
from fabopt.problem.subnet_manager import INFINIBAND
from fabopt.rules.defaults import DEFAULT_RULES, ONE_GENERATION
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.wiring.design_file import Embedded


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
    embedded, rules = Embedded(design), {fabric.name: fabric.generations for fabric in problem.fabrics}
    for fabric in design.fabrics:
        rule = rules[fabric.name]
        switches: dict[str, Switch] = {tier.role: embedded.part(tier.id, Switch) for tier in fabric.tiers}
        if rule is None or fabric.protocol != INFINIBAND:
            continue
        if any(switches.keys() >= set(pair) for pair in rule.pairs):
            yield fabric.name, rule, switches
