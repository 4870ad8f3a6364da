"""Random cases without a design, of every limit, and what their advice comes to when it is followed.

``python -m tests.samples.infeasible 300`` looks at so many.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.io.keys import with_change
from fabopt.problem.problem import problem_of
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Conflict, Design
from fabopt.search.context import Context
from fabopt.search.rules_kept import best_answer
from fabopt.solution import optimize
from fabopt.topology.families import most_servers
from tests.samples.small import Json, case, catalog, inputs, product, solved

SWITCHES = ("large", "lean", "small")
# Share of cases under default rules.
RULED = 0.6
MOST_RATIO = 8
# Words of limits that have to fall where they change together with others.
FALLING = ("lead_time_weeks", "distances_m", "gbps", "servers")
# Words of limits in the order in which people pull levers: ratio, shape, speed, vendors and products, servers, dates,
# money.
PULLED = (
    ("max_oversubscription",),
    ("topologies", "tiers", "planes", "rails", "striping", "homing", "groups", "spines", "hops", "reserve_ports"),
    ("gbps",),
    ("protocol", "nics", "switches.", "procurement.max", "procurement.forbidden"),
    ("servers",),
    ("month",),
    ("limits.",),
)
# A thousandth of a number that may be a fraction.
SHARE = 0.001
WHOLE = ("servers", ".month", "order_from_month", ".supply", "max_part_numbers", "max_switch_hops")


class Sample(NamedTuple):
    """A case and its catalog. ``rules``: whether default rules hold; else it is of the bare space."""

    content: Json
    parts: Json
    rules: bool = False

    @property
    def inputs(self) -> Inputs:
        """The case as it is solved."""
        return inputs_from_objects(self.content, self.parts) if self.rules else inputs(self.content, self.parts)


# Few candidates, so that it is soon proven that there is no design.
ONE_CARD = {"tiers": 2, "nics": ["nic-400"], "nics_per_server": 2}
Maker = Callable[[random.Random], Sample]


def _base(chance: random.Random, **changes: Any) -> Sample:
    fabric = {"tiers": chance.choice([2, "any"]), "min_gbps_per_gpu": chance.choice([200, 300])}
    return Sample(case(fabric, servers=chance.randint(4, 7), **changes), catalog())


def _staged(chance: random.Random, *months: int) -> Sample:
    sizes = sorted(chance.sample(range(2, 7), len(months)))
    stages = [{"name": f"s{month}", "month": month, "servers": size} for month, size in zip(months, sizes, strict=True)]
    return Sample(case(ONE_CARD, stages=stages), catalog())


def _totals(sample: Sample) -> dict[str, float]:
    totals = solved(sample.content, sample.parts).totals
    assert totals is not None
    return {"budget_usd": totals.capex_usd, "power_w": totals.power_w, "rack_units": totals.rack_units}


def _spending(*keys: str) -> Maker:
    def make(chance: random.Random) -> Sample:
        sample = _base(chance)
        free = _totals(sample)
        limits = {key: round(free[key] * chance.uniform(0.1, 0.6), 2) for key in keys}
        return Sample({**sample.content, "limits": limits}, sample.parts)

    return make


def _stage_limits(*keys: str) -> Maker:
    def make(chance: random.Random) -> Sample:
        sample = _staged(chance, 0, 12)
        design = solved(sample.content, sample.parts)
        assert design.totals is not None
        stages = copy.deepcopy(sample.content["stages"])
        for stage, bought in zip(stages, design.stages, strict=True):
            most = {"budget_usd": bought.capex_usd, "power_w": bought.power_w}
            stage["limits"] = {key: round(most[key] * chance.uniform(0.3, 0.8), 2) for key in keys}
        return Sample({**sample.content, "stages": stages}, sample.parts)

    return make


def _supply(*ids: str) -> Maker:
    def make(chance: random.Random) -> Sample:
        sample = _staged(chance, *chance.choice([(0,), (0, 12)]))
        for part in ids:
            product(sample.parts, part)["supply"] = chance.choice([0, 1, [{"from_month": 9, "quantity": 2}]])
        return sample

    return make


def _late(*ids: str) -> Maker:
    def make(chance: random.Random) -> Sample:
        sample = _staged(chance, *chance.choice([(2,), (5,), (3, 15)]))
        for part in ids:
            product(sample.parts, part)["lead_time_weeks"] = chance.choice([23, 24.5, 40, 52])
        return sample

    return make


def _late_and_short(chance: random.Random) -> Sample:
    sample = _late(*SWITCHES)(chance)
    product(sample.parts, "nic-400")["supply"] = 1
    return sample


def _demand(key: str, *values: float) -> Maker:
    def make(chance: random.Random) -> Sample:
        only = chance.choice(SWITCHES)
        switches = {"leaf": [only], "spine": [only]}
        fabric = {"nics": ["nic-400"], "nics_per_server": 1, "min_gbps_per_gpu": 100, "switches": switches}
        servers = chance.choice([20, 30, 40])
        return Sample(case({**fabric, key: chance.choice(values)}, servers=servers), catalog())

    return make


def _run(chance: random.Random) -> Sample:
    site = {"distances_m": {"leaf-spine": chance.choice([55, 120, 600])}}
    return Sample(case({"tiers": 2}, servers=chance.randint(5, 12), site=site), catalog())


def _servers(chance: random.Random) -> Sample:
    return Sample(case({"tiers": chance.choice([1, 2])}, servers=chance.randint(80, 3000)), catalog())


def _part_numbers(chance: random.Random) -> Sample:
    sample = _base(chance, procurement={"max_part_numbers": {"transceiver": 1}})
    sample.content["fabrics"][0]["tiers"] = 2
    return sample


def _keys_together(chance: random.Random) -> Sample:
    only = chance.choice(SWITCHES)
    fabric = {"tiers": 1, "planes": chance.choice([3, 4]), "switches": {"leaf": [only], "spine": [only]}}
    fabric |= {"nics_per_server": 4, "min_gbps_per_gpu": chance.choice([200, 400])}
    return Sample(case(fabric, servers=chance.choice([13, 30])), catalog())


def _runs_together(chance: random.Random) -> Sample:
    site = {"distances_m": {"server-leaf": chance.choice([60, 600]), "leaf-spine": chance.choice([55, 700])}}
    return Sample(case({"tiers": chance.choice([2, "any"])}, servers=chance.randint(4, 30), site=site), catalog())


def _ratio_and_money(chance: random.Random) -> Sample:
    sample = _demand("max_oversubscription", 0.3, 0.5)(chance)
    limits = {"budget_usd": chance.choice([1000, 50_000]), "power_w": chance.choice([500, 1_000_000])}
    return Sample({**sample.content, "limits": limits}, sample.parts)


def _vendors_and_size(chance: random.Random) -> Sample:
    parts = catalog()
    for part, vendor in zip(SWITCHES, ("Alpha", "Beta", "Gamma"), strict=True):
        product(parts, part)["vendor"] = vendor
    procurement = {"forbidden_vendors": chance.choice([["Alpha"], ["Alpha", "Gamma"], ["Alpha", "Beta", "Gamma"]])}
    return Sample(case({"tiers": 1}, servers=chance.choice([3, 5, 9]), procurement=procurement), parts)


MAKERS: dict[str, Maker] = {
    "budget": _spending("budget_usd"),
    "power": _spending("power_w"),
    "rack units": _spending("rack_units"),
    "budget and power": _spending("budget_usd", "power_w"),
    "budgets of stages": _stage_limits("budget_usd"),
    "power of stages": _stage_limits("power_w"),
    "supply of switches": _supply(*SWITCHES),
    "supply of NICs": _supply("nic-400"),
    "supply of both": _supply(*SWITCHES, "nic-400"),
    "late switches": _late(*SWITCHES),
    "late switches and NICs": _late(*SWITCHES, "nic-400"),
    "late and short": _late_and_short,
    "ratio": _demand("max_oversubscription", 0.3, 0.5, 1.0),
    "bandwidth": _demand("min_gbps_per_gpu", 150, 230, 390),
    "bisection": _demand("min_bisection_gbps_per_gpu", 150, 230),
    "all-to-all": _demand("min_alltoall_gbps_per_gpu", 150, 230),
    "run": _run,
    "servers": _servers,
    "part numbers": _part_numbers,
    "hops": _demand("max_switch_hops", 1),
    "keys together": _keys_together,
    "runs together": _runs_together,
    "ratio and money": _ratio_and_money,
    "vendors and size": _vendors_and_size,
}


def sample_of(seed: int) -> tuple[str, Sample]:
    """A random case, of every limit in turn; under its default rules where they are kept in its space."""
    name = list(MAKERS)[seed % len(MAKERS)]
    sample = MAKERS[name](random.Random(seed))
    return name, sample._replace(rules=random.Random(f"rules {seed}").random() < RULED)


# -- what advice comes to ------------------------------------------------------------------------------------------


def changes_of(conflict: Conflict) -> dict[str, Any]:
    """By limit, what advice says that it would have to be."""
    return {change.limit: change.needed for change in conflict.together} or {conflict.limit: conflict.needed}


def followed(sample: Sample, changes: dict[str, Any]) -> Inputs:
    """The case and the catalog with other values of some limits."""
    parts, keys = copy.deepcopy(sample.parts), dict[str, Any]()
    for limit, value in changes.items():
        first, *path = limit.split(".")
        if first == "catalog":
            _follow_part(parts, path, value)
        else:
            keys[limit] = None if first == "procurement" and value == "any" else value
    return with_change(sample._replace(parts=parts).inputs, keys)


def _follow_part(parts: Json, path: list[str], value: Any) -> None:
    entry = product(parts, path[0])
    if path[1:] == ["lengths"]:
        before, last = entry["lengths"][-2:] if len(entry["lengths"]) > 1 else (entry["lengths"][-1],) * 2
        per_metre = (last["price_usd"] - before["price_usd"]) / max(1, last["m"] - before["m"])
        usd = round(last["price_usd"] + per_metre * (value - last["m"]), 2)
        entry["lengths"].append({**last, "m": value, "price_usd": usd})
        return
    if "lengths" in path:
        entry = next(one for one in entry["lengths"] if f"{one['m']:g}" == ".".join(path[2:-1]))
    if path[-1] == "supply" and isinstance(entry["supply"], list):
        later = [one for one in entry["supply"] if one["quantity"] > value]
        entry["supply"] = [{"from_month": 0, "quantity": value}, *later]
    else:
        entry[path[-1]] = value


def tighter(limit: str, needed: float, direction: str | None) -> float:
    """A value that is a thousandth nearer to where it came from, or one."""
    step = 1 if any(word in limit for word in WHOLE) else max(SHARE * abs(needed), 0.0011)
    if limit.endswith(".lengths"):
        step = 0.1
    return round(needed - step if direction == "up" else needed + step, 6)


def answer_of(given: Inputs) -> Optimum:
    """The best that a search alone comes to, bound to the default rules that structure lets some design keep."""
    problem = problem_of(given.case, given.catalog)
    if problem.servers > most_servers(problem):
        return Optimum("infeasible")
    return best_answer(problem, Settings(), Clock(None), Context()).optimum


def verdict(given: Inputs) -> str:
    """Whether there is a design, by a search alone."""
    return answer_of(given).verdict


def faults_of(sample: Sample, conflict: Conflict) -> Iterator[str]:
    """What is wrong with advice: there is no design with it, one of another price, or one with less."""
    changes = changes_of(conflict)
    design = optimize.solve(followed(sample, changes), alternatives_s=0)
    if design.status != "optimal" or design.totals is None:
        yield f"{changes}: no design"
        return
    if conflict.capex_usd is not None and design.totals.capex_usd != conflict.capex_usd:
        yield f"{changes}: ${design.totals.capex_usd:,} in the place of ${conflict.capex_usd:,}"
    if not conflict.minimal:
        return
    for limit, needed in changes.items():
        if not isinstance(needed, int | float):
            others = {other: value for other, value in changes.items() if other != limit}
            if others and verdict(followed(sample, others)) != "infeasible":
                yield f"{limit} can be spared"
            continue
        if len(changes) > 1 and (limit.endswith(".month") or (".servers" in limit and limit != conflict.limit)):
            continue  # stages that go live later push those behind them; no stage has more servers than the last one
        direction = conflict.direction
        if len(changes) > 1:
            direction = "down" if any(word in limit for word in FALLING) else "up"
        less = tighter(limit, needed, direction)
        along = [other for other in changes if ".servers" in limit and ".servers" in other]
        if (
            less >= 0
            and verdict(followed(sample, {**changes, limit: less, **dict.fromkeys(along, less)})) != "infeasible"
        ):
            yield f"{limit}: {less} in the place of {needed} does, too"


def faults_of_all(sample: Sample, design: Design) -> Iterator[str]:
    """What is wrong with advice as a whole: its order, a ratio that nobody builds, or one choice in two keys."""
    pulled = [place for conflict in design.conflicts if (place := _place(conflict)) is not None]
    if pulled != sorted(pulled):
        yield f"in another order than they are pulled: {[conflict.limit for conflict in design.conflicts]}"
    chosen: dict[str, str] = {}
    for conflict in design.conflicts:
        for limit, needed in changes_of(conflict).items():
            if "max_oversubscription" in limit and isinstance(needed, int | float) and needed > MOST_RATIO:
                yield f"{limit}: {needed}:1 is advised"
        if isinstance(conflict.needed, str | tuple) and not conflict.limit.startswith(("rules.", "site.")):
            solved_so = optimize.solve(followed(sample, changes_of(conflict)), alternatives_s=0)
            networks = repr([(fabric.structure, fabric.tiers, fabric.nic) for fabric in solved_so.fabrics])
            if networks in chosen:
                yield f"{conflict.limit} is the choice of {chosen[networks]}"
            chosen[networks] = conflict.limit


def _place(conflict: Conflict) -> int | None:
    """Where a lever stands in the order in which people pull them; None of what is told by its price."""
    places = [place for place, words in enumerate(PULLED) if any(word in conflict.limit for word in words)]
    return places[0] if places else None


def looked_at(seed: int) -> str:
    """What the advice of a random case comes to, in words: what is wrong with it, or how many values it has."""
    name, sample = sample_of(seed)
    if verdict(sample.inputs) != "infeasible":
        return "ok: has a design"
    design = optimize.solve(sample.inputs, alternatives_s=0)
    told = [conflict for conflict in design.conflicts if conflict.needed is not None]
    faults = [*faults_of_all(sample, design), *(fault for conflict in told for fault in faults_of(sample, conflict))]
    if faults:
        return f"FAULTS of {name}, seed {seed}: {'; '.join(faults)}"
    return f"ok: {len(told)} changes of {name}"


def main(number: int) -> int:
    """Follow the advice of so many cases; returns how many have a fault."""
    told = [looked_at(seed) for seed in range(number)]
    faulty = [words for words in told if not words.startswith("ok")]
    infeasible = [words for words in told if "has a design" not in words]
    print("\n".join(faulty))
    print(f"{len(infeasible)} cases without a design, {len(faulty)} with a fault")
    return len(faulty)


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]))))
