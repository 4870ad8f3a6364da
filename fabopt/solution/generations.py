"""What an answer says of the generations of its InfiniBand switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabopt.problem.generations import Generations
from fabopt.problem.problem import Problem
from fabopt.problem.subnet_manager import INFINIBAND
from fabopt.schema.catalog import Switch
from fabopt.schema.default_rules import DEFAULT_RULES, ONE_GENERATION
from fabopt.schema.design import Design
from fabopt.solution.question import Question
from fabopt.solution.rules_kept import not_kept
from fabopt.wiring.design_file import Embedded

RULE = DEFAULT_RULES[ONE_GENERATION]


def generation_notes(question: Question, problem: Problem, design: Design) -> Iterator[str]:
    """Of which generation the switches of each fabric are, where rule ``one-generation`` leaves some out."""
    embedded, rules = Embedded(design), {fabric.name: fabric.generations for fabric in problem.fabrics}
    for fabric in design.fabrics:
        rule = rules[fabric.name]
        switches: dict[str, Switch] = {tier.role: embedded.part(tier.id, Switch) for tier in fabric.tiers}
        judges = rule is not None and any(switches.keys() >= set(pair) for pair in rule.pairs)
        if fabric.protocol == INFINIBAND and rule is not None and judges:
            yield from _notes(question, fabric.name, rule, switches)


def _notes(question: Question, name: str, rule: Generations, switches: Mapping[str, Switch]) -> Iterator[str]:
    clash = rule.clash(switches)
    if clash is not None:
        mixed = " and ".join(f"{role} {switches[role].id} of {switches[role].generation}" for role in clash)
        yield not_kept(question, name, ONE_GENERATION, mixed)
        return
    known = dict.fromkeys(one.generation for one in switches.values() if one.generation is not None)
    if known:
        yield f"{name}: rule `{ONE_GENERATION}`: {RULE.sentence}: {' and '.join(known)} ({RULE.anchor})"
    for id_ in dict.fromkeys(one.id for one in switches.values() if one.generation is None):
        yield f"{name}: the catalog does not say of which generation {id_} is: it goes with any"
