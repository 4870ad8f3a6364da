"""The least worst regret on toy floors, against every design in every layout, each priced in every future by itself."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.one_future import only_future
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.topology.candidate import Candidate, Option
from tests.samples.growth_samples import grown, solved
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cable, cage, card, catalog, switch
from tests.solution.test_futures import NO_ENERGY, futures_of

Json = dict[str, Any]
Costs = tuple[Fraction, ...]
BY_REGRET = {"growth": {"decide_by": "regret"}}
# What prices of later stages may change by; energy costs nothing.
CHANGES = (0.0, 0.5, 1.0, -0.5)


def priced(problem: Problem, option: Option, count: int) -> Costs:
    """What units of an option cost in each future, in cents."""
    totals = []
    for future in range(len(problem.case.futures)):
        units = sum(item.future_cents(future, stage, 1, present=True) * many
                    for (stage, item), many in option.uses.items())  # fmt: skip
        totals.append(Fraction(count * units))
    return tuple(totals)


def plus(*costs: Costs) -> Costs:
    return tuple(map(sum, zip(*costs, strict=True)))


def ways(problem: Problem, candidate: Candidate) -> Iterator[Costs]:
    """What a candidate costs in each future, for every choice of its parts."""
    devices = [
        tuple(Fraction(item.future_cents(future, stage, count, present=True)) for future in futures_in(problem))
        for (stage, item), count in candidate.devices.items()
    ]
    choices = [[priced(problem, option, choice.count) for option in choice.options] for choice in candidate.choices]
    for chosen in product(*choices):
        yield plus(*devices, *chosen)


def futures_in(problem: Problem) -> range:
    return range(len(problem.case.futures))


def every_cost(problem: Problem) -> set[Costs]:
    """What each design costs in each future: any candidates of the fabrics that are in one layout."""
    costs: set[Costs] = set()
    for part in search_of(problem, Settings(prune=False), Clock(None)).parts():
        _, candidates = part.below(np.inf)
        by_fabric: dict[str, set[Costs]] = {fabric.name: set() for fabric in problem.fabrics}
        for candidate in candidates:
            by_fabric[candidate.fabric] |= set(ways(problem, candidate))
        costs |= {plus(*chosen) for chosen in product(*by_fabric.values())}
    return costs


def least_regret(case: Json, parts: Json) -> Fraction:
    """The least of the largest differences to the best plan for each future, in cents."""
    inputs = inputs_from_objects(case, parts)
    problem = problem_of(inputs.case, inputs.catalog, prune=False)
    best = [min(every_cost(only_future(problem, future)))[0] for future in futures_in(problem)]
    return min(max(cents - least for cents, least in zip(costs, best, strict=True)) for costs in every_cost(problem))


def changes(dice: Dice) -> Json:
    """How prices of a scenario differ from today's."""
    return {"switch": dice.one(CHANGES), "cable": dice.one(CHANGES)}


def on_floor(seed: int, fabrics: int) -> tuple[Json, Json]:
    """A case on seven racks, in scenarios, with one cable of three lengths whose prices matter."""
    dice = Dice(f"regret on floors {seed}")
    case = grown(2, dice.one([3, 4]), objective="tco_usd", finance=NO_ENERGY, fabric={"tiers": 2}, **BY_REGRET)
    case["site"] = {"floor": {"rack_units": 12, "rack_pitch_m": dice.one([0.6, 4]), "rows": 1, "racks_per_row": 7}}
    case["scenarios"] = [
        {"name": "end", "probability": 0.25},
        {"name": "soon", "probability": 0.25, "months": {"stage-2": 6}, "price_change": changes(dice)},
        {"name": "late", "probability": 0.5, "months": {"stage-2": 18}, "price_change": changes(dice)},
    ]
    if fabrics == 2:
        case["fabrics"] = [{**case["fabrics"][0], "name": name, "role": name, "min_gbps_per_gpu": 100}
                           for name in ("compute", "storage")]  # fmt: skip
    prices = (dice.number(300, 700), dice.number(600, 1400))
    switches = [switch(f"of-{ports}", cage(ports, "1x100"), usd=usd, rack_units=1)
                for ports, usd in zip((4, 6), prices, strict=True)]  # fmt: skip
    parts = catalog(switches=switches, nics=[card("card", cage(1, "1x100"))])
    parts["cables"] = [cable("cable", "1x100", "1x100", (10, dice.number(20, 150), dice.number(160, 400)))]
    parts["servers"][0] |= {"rack_units": 4}
    return case, parts


def regret_of(design: Design) -> float:
    """The worst regret of a design that is proven, in dollars."""
    decision = design.objective.decision
    assert design.status == "optimal" and decision is not None and decision.regret_usd is not None
    assert decision.regret_usd == futures_of(design).regret_usd
    return decision.regret_usd


@pytest.mark.long
@pytest.mark.parametrize(("seed", "fabrics"), [(0, 1), (1, 2)])
def test_toy_floors_have_the_least_regret_of_all_designs(seed: int, fabrics: int) -> None:
    case, parts = on_floor(seed, fabrics)
    design = solved(parts, case)
    assert regret_of(design) == pytest.approx(float(least_regret(case, parts)) / 100, abs=0.011)
    assert all(plan.regret_usd >= regret_of(design) for plan in futures_of(design).plans)
