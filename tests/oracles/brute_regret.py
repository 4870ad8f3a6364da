"""The least worst regret of growing clusters, by looking at every design in every future.

Designs and plans are those of ``tests.oracles.brute_growth``, priced once for each future as if it came for certain.
Scope: as there, with one way to make every link, so that a design costs what it costs whatever is minimized.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby

from tests.oracles import brute_growth
from tests.oracles.brute_cable_runs import Laying
from tests.oracles.brute_force import structures
from tests.oracles.brute_growth import Future, GrowthSpace, Market, Planner, Pricer, plus, servers_cost
from tests.oracles.brute_parts import Json


def least_regret(catalog: Json, case: Json) -> Fraction | None:
    """The least of the largest differences to the best plan for each future, in cents; None without any design."""
    space = GrowthSpace(catalog, case)
    futures = [future for future in space.market.futures if future.chance]
    best = [brute_growth.solve(catalog, alone(case, number, one)) for number, one in enumerate(futures)]
    costs = list(_costs(space, futures))
    if not costs or None in best:
        return None
    scale = space.market.scale
    return min(
        max(
            Fraction(0),
            *(Fraction(value, scale) - one.objective for value, one in zip(values, best, strict=True) if one),
        )
        for values in costs
    )


def alone(case: Json, number: int, future: Future) -> Json:
    """The case in which a future comes for certain; it is that of a scenario of the same number, if there are any."""
    stages, scenarios = case["stages"], case.get("scenarios")
    come = {
        stage["name"]: month for stage, month in zip(stages[1:], future.months[1:], strict=True) if month is not None
    }
    own = scenarios[number].get("months", {}) if scenarios else come
    kept = [stages[0], *({**stage, "month": own[stage["name"]]} for stage in stages[1:] if stage["name"] in own)]
    if len(kept) == 1:
        # the oracle wants a second stage: one that adds nothing
        kept, own = [*kept, {**stages[0], "name": "same"}], {"same": future.months[0]}
    certain = [{key: value for key, value in stage.items() if key != "probability"} for stage in kept]
    way = (
        {**scenarios[number], "probability": 1, "months": own}
        if scenarios
        else {"name": "alone", "probability": 1, "months": own}
    )
    return {**case, "stages": certain, "scenarios": [way]}


def _priced_in(space: GrowthSpace, future: Future) -> GrowthSpace:
    priced = copy.copy(space)
    priced.market = Market(space)
    priced.market.futures = [future._replace(chance=Fraction(1))]
    return priced


def _costs(space: GrowthSpace, futures: list[Future]) -> Iterator[list[int]]:
    """What every design and plan costs in each future."""
    designs = list(structures(space))
    pricers = [Pricer(_priced_in(space, future)) for future in futures]
    for _, same in groupby(designs, key=lambda one: id(one[0])):
        choices = list(same)
        structure = choices[0][0]
        for plan in Planner(space, structure).plans():
            laying = Laying(structure, plan)
            for _, choice in choices:
                priced = [
                    plus(
                        pricer.boxes(laying, laying.moves()), servers_cost(pricer.space), *pricer.links(laying, choice)
                    )
                    for pricer in pricers
                ]
                yield [cost[0] for cost in priced]
