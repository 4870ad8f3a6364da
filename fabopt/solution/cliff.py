"""Answers just above a cliff: a few servers less would do with a tier less, and so would these with other settings.

That a fabric is above one follows from arithmetic (``most_servers_of``), or, where switches for a tier less are there
but dear, from what a ratio a little higher saves. What other settings cost is looked at beside the answer, as all other
kinds of designs are. See docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.schema.cliff import CLIFF
from fabopt.schema.design import Alternative
from fabopt.schema.topologies import refused
from fabopt.solution.other_settings import LITTLE_HIGHER, OtherSettings, at_ratio, may_have_other_ratio, with_setting
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.most_servers import most_servers_of
from fabopt.topology.family import Restriction
from fabopt.units import some

# How far above a cliff is just above it, in servers; the highest ratio that is looked at, and its steps.
ABOVE = Fraction(1, 10)
MOST_RATIO = Fraction(11, 10)
STEP = Fraction(1, 100)
# What a ratio a little higher has to save of the purchase price for that to be called a cliff.
MUCH_LESS = 0.1
SETTINGS = ("oversubscription", "planes", "family")
_TIERS = {1: "one tier", 2: "two tiers"}


class Cliff(NamedTuple):
    """A fabric, by its place, with a tier more than ``tiers``, which at its settings join at most ``most`` servers.

    ``is_of_ports``: these are just too few; else the fabric has three tiers, and may be above a cliff of cost.
    """

    fabric: int
    tiers: int
    most: int
    is_of_ports: bool = True


def cliffs_of(problem: Problem, picked: Sequence[Picked]) -> Iterator[Cliff]:
    """The fabrics of an answer that are, or may be, just above a cliff."""
    if len(problem.stages) > 1 or problem.site.policies:
        return
    for index, (fabric, (candidate, _)) in enumerate(zip(problem.fabrics, picked, strict=True)):
        design = candidate.design
        if not isinstance(design, ClosDesign) or design.tiers == 1 or design.tiers - 1 not in fabric.tiers:
            continue
        most = most_servers_of(problem, replace(fabric, tiers=(design.tiers - 1,)))
        is_of_ports = 0 < most < problem.servers <= most * (1 + ABOVE)
        if is_of_ports or design.tiers > 2:
            yield Cliff(index, design.tiers - 1, most, is_of_ports)


def other_settings(problem: Problem, cliff: Cliff) -> Iterator[OtherSettings]:
    """A ratio a few percent higher, any number of planes, and rail-only, each where it may do with a tier less."""
    index, asked = cliff.fabric, problem.case.fabrics[cliff.fabric]
    part = Restriction(topology="clos", tiers=cliff.tiers)
    ratio = _higher_ratio(problem, cliff)
    if ratio is not None:
        yield at_ratio(problem, index, ratio, part if cliff.is_of_ports else Restriction(topology="clos"))
    changed: list[OtherSettings] = []
    if asked.planes == 1:
        other = with_setting(problem, index, asked.model_copy(update={"planes": "any"}))
        changed.append(OtherSettings("planes", "any", other, part))
    if asked.topologies == ("clos",) and not any(refused(problem.case, asked, "rail-only")):
        other = with_setting(problem, index, asked.model_copy(update={"topologies": ("rail-only",)}))
        changed.append(OtherSettings("family", "rail-only", other, Restriction(topology="rail-only")))
    tiers = tuple(number for number in (1, 2) if number <= cliff.tiers)
    for settings in changed:
        fabric = replace(settings.problem.fabrics[index], tiers=tiers)
        if most_servers_of(settings.problem, fabric) >= problem.servers:
            yield settings


def _higher_ratio(problem: Problem, cliff: Cliff) -> Fraction | None:
    """The least ratio above the fabric's, in hundredths, at which a tier less may do; none up to a tenth higher. Where
    a tier less may do at any, one a little higher.
    """
    fabric, tiers = problem.fabrics[cliff.fabric], cliff.tiers
    least = fabric.oversubscription_leaf
    if not may_have_other_ratio(problem, cliff.fabric):
        return None
    if not cliff.is_of_ports:
        return least * LITTLE_HIGHER
    steps = int((MOST_RATIO - 1) / STEP)
    for ratio in (least * (1 + step * STEP) for step in range(1, steps + 1)):
        if most_servers_of(problem, replace(fabric, tiers=(tiers,), oversubscription_leaf=ratio)) >= problem.servers:
            return ratio
    return None


def cliff_notes(problem: Problem, picked: Sequence[Picked], alternatives: Sequence[Alternative]) -> Iterator[str]:
    """The line on each cliff that an answer is just above, with the other settings that are cheaper for it."""
    for cliff in cliffs_of(problem, picked):
        name = problem.fabrics[cliff.fabric].name
        prefix = f"{name} " if len(problem.fabrics) > 1 else ""
        rows = [row for row in alternatives if row.capex_delta_usd < 0 and row.what in {prefix + w for w in SETTINGS}]
        cheaper = sorted((row.capex_usd, f"${row.capex_usd:,.0f} with {row.what} {row.value}") for row in rows)
        if not cliff.is_of_ports:
            shares = (-row.capex_delta_usd / (row.capex_usd - row.capex_delta_usd)
                      for row in rows if row.what == prefix + "oversubscription")  # fmt: skip
            if max(shares, default=0) >= MUCH_LESS:
                yield f"{CLIFF} {name} would cost {', '.join(words for _, words in cheaper)}"
            continue
        more = problem.servers - cliff.most
        text = (
            f"{CLIFF} at these settings {_TIERS[cliff.tiers]} of {name} join at most {some(cliff.most, 'server')}, "
            f"{more} fewer"
        )
        yield f"{text}; it would cost {', '.join(words for _, words in cheaper)}" if cheaper else text
