"""Random cases without a design, of every limit, and what their advice comes to when it is followed.

``python -m tests.samples.infeasible 300`` looks at so many.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Conflict
from fabopt.search.choice import search_of
from fabopt.topology.families import most_servers
from tests.samples.small import Json, case, catalog, inputs, product, solved

SWITCHES = ("large", "lean", "small")
# A thousandth of a number that may be a fraction.
SHARE = 0.001
WHOLE = ("servers", ".month", "order_from_month", ".supply", "max_part_numbers", "max_switch_hops")


class Sample(NamedTuple):
    """A case and its catalog."""

    content: Json
    parts: Json


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
    totals = solved(*sample).totals
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
        design = solved(*sample)
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
}


def samples(number: int) -> Iterator[tuple[str, int, Sample]]:
    """So many random cases, of every limit in turn."""
    for seed in range(number):
        name = list(MAKERS)[seed % len(MAKERS)]
        yield name, seed, MAKERS[name](random.Random(seed))


# -- what advice comes to ------------------------------------------------------------------------------------------


def changes_of(conflict: Conflict) -> dict[str, Any]:
    """By limit, what advice says that it would have to be."""
    return {one.limit: one.needed for one in conflict.together} or {conflict.limit: conflict.needed}


def followed(sample: Sample, changes: dict[str, Any]) -> Sample:
    """The case and the catalog with other values of some limits."""
    content, parts = copy.deepcopy(sample.content), copy.deepcopy(sample.parts)
    for limit, value in changes.items():
        first, *path = limit.split(".")
        if first == "catalog":
            _follow_part(parts, path, value)
        elif first == "servers":
            content["servers"] = value
        elif first == "stages":
            _follow_stage(content, path, value)
        elif first == "fabrics":
            _follow_fabric(content["fabrics"][0], path[1:], value)
        else:
            _set(content, [first, *path], value)
    return Sample(content, parts)


def _set(content: Json, path: list[str], value: Any) -> None:
    for key in path[:-1]:
        content = content.setdefault(key, {})
    content[path[-1]] = value


def _follow_part(parts: Json, path: list[str], value: Any) -> None:
    entry = product(parts, path[0])
    if path[1:] == ["lengths"]:
        entry["lengths"].append({**entry["lengths"][-1], "m": value})
        return
    if "lengths" in path:
        entry = next(one for one in entry["lengths"] if f"{one['m']:g}" == ".".join(path[2:-1]))
    if path[-1] == "supply" and isinstance(entry["supply"], list):
        later = [one for one in entry["supply"] if one["quantity"] > value]
        entry["supply"] = [{"from_month": 0, "quantity": value}, *later]
    else:
        entry[path[-1]] = value


def _follow_stage(content: Json, path: list[str], value: Any) -> None:
    _set(next(stage for stage in content["stages"] if stage["name"] == path[0]), path[1:], value)


def _follow_fabric(fabric: Json, path: list[str], value: Any) -> None:
    if path[0] == "max_oversubscription":
        given = fabric.get("max_oversubscription", 1)
        both = given if isinstance(given, dict) else {"leaf": given, "spine": given}
        fabric["max_oversubscription"] = {**both, path[1]: value}
    else:
        _set(fabric, path, value)


def tighter(limit: str, needed: float, direction: str | None) -> float:
    """A value that is a thousandth nearer to where it came from, or one."""
    step = 1 if any(word in limit for word in WHOLE) else max(SHARE * abs(needed), 0.0011)
    if limit.endswith(".lengths"):
        step = 0.1
    return round(needed - step if direction == "up" else needed + step, 6)


def verdict(sample: Sample) -> str:
    """Whether there is a design, by a search alone."""
    given = inputs(*sample)
    problem = problem_of(given.case, given.catalog)
    if problem.servers > most_servers(problem):
        return "infeasible"
    return search_of(problem, Settings(), Clock(None)).run(ties=False).verdict


def faults_of(sample: Sample, conflict: Conflict) -> Iterator[str]:
    """What is wrong with advice: there is no design with it, or one with less."""
    changes = changes_of(conflict)
    if verdict(followed(sample, changes)) != "optimal":
        yield f"{changes}: no design"
    if not conflict.minimal:
        return
    for limit, needed in changes.items():
        if len(changes) > 1 and limit.endswith(".month"):
            continue  # stages that go live later push those behind them
        direction = conflict.direction
        if len(changes) > 1:
            direction = "down" if limit.endswith("lead_time_weeks") else "up"
        less = tighter(limit, needed, direction)
        if verdict(followed(sample, {**changes, limit: less})) != "infeasible":
            yield f"{limit}: {less} in the place of {needed} does, too"


def main(number: int) -> int:
    """Follow the advice of so many cases; returns how many have a fault."""
    faulty, infeasible, advised = 0, 0, 0
    for name, seed, sample in samples(number):
        if verdict(sample) != "infeasible":
            continue
        design = solved(*sample)
        infeasible += 1
        told = [conflict for conflict in design.conflicts if conflict.needed is not None]
        numbers = [conflict for conflict in told if not isinstance(conflict.needed, str)]
        advised += len(numbers)
        faults = [fault for conflict in numbers for fault in faults_of(sample, conflict)]
        faulty += bool(faults)
        for fault in faults:
            print(f"{name}, seed {seed}: {fault}")
    print(f"{infeasible} cases without a design, {advised} values advised, {faulty} cases with a fault")
    return faulty


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]))))
