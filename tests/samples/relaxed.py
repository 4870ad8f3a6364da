"""Random cases of every family, each with one limit relaxed, which never raises the cost.

``python -m tests.samples.relaxed 500`` looks at so many pairs.
"""

from __future__ import annotations

import copy
import math
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.samples import random_cases, random_growth, random_sites
from tests.samples.adapter import run

Json = dict[str, Any]
# Changes a catalog and a case.
Relaxation = Callable[[Json, Json], object]

FREE: Json = {
    "rails": "any",
    "striping": "any",
    "groups": "any",
    "planes": "any",
    "tiers": "any",
    "protocol": "any",
    "nics": "any",
    "nics_per_server": "any",
    "group_by": "any",
    "topologies": "any",
    "reserve_ports": 0,
    "resilience": "none",
}
DEFAULTS: Json = {
    "rails": "aligned", "striping": "even", "planes": 1, "topologies": ["clos"], "groups": "equal",
}  # fmt: skip
# What a fabric may have to be relaxed from somewhere else; of rails nothing else need be changed.
WIDER: Json = {"groups": "any", "rails": "any", "striping": "any"}
DIRECT = ("torus", "hyperx", "dragonfly", "dragonfly+")
SITES = "sites"
FAMILIES = (*random_cases.FAMILIES, *random_growth.FAMILIES, SITES)


# Of a few random floors with management beside them all places are far too many.
SECONDS = 60


class UnprovenError(Exception):
    """Time was over before a cost was proven."""


class Pair(NamedTuple):
    """A catalog and a case, what of them is relaxed, and both again with it relaxed."""

    given: tuple[Json, Json]
    relaxed: str
    wider: tuple[Json, Json]

    def costs_no_more(self, time_limit_s: float | None = None) -> bool:
        """Whether the wider case is not the dearer one, both proven."""
        return cost(*self.wider, time_limit_s) <= cost(*self.given, time_limit_s)


def a_pair(family: str, seed: int) -> Pair:
    """A random case of a family, some of a direct network or in a wider space, with one limit relaxed."""
    dice = random.Random(f"{family} {seed}")
    catalog, case = _generate(family, seed)
    if family not in random_cases.FAMILIES:  # of what no design keeps, rules are given up
        case["rules"] = "none"
    fabric = case["fabrics"][0]
    own = {"attachments", "group_by", "planes", "nics_per_server"} & set(fabric) or {"stages", "floor"} & _keys(case)
    if dice.random() < 0.2 and not own:
        fabric["topologies"] = [dice.choice(DIRECT)]
    for key, wide in WIDER.items():
        if family not in random_cases.FAMILIES and dice.random() < 0.3:
            fabric.setdefault(key, wide)
    name, relax = dice.choice(list(relaxations(catalog, case)))
    wider = copy.deepcopy(catalog), copy.deepcopy(case)
    relax(*wider)
    return Pair((catalog, case), name, wider)


def _keys(case: Json) -> set[str]:
    """Keys of a case and its site."""
    return {*case, *case.get("site", {})}


def _generate(family: str, seed: int) -> tuple[Json, Json]:
    if family == SITES:
        return random_sites.generate(seed)
    makers = random_cases if family in random_cases.FAMILIES else random_growth
    return makers.generate(family, seed)


def relaxations(catalog: Json, case: Json) -> Iterator[tuple[str, Relaxation]]:
    """What of a case may be relaxed, each by a name and a change."""
    fabric = case["fabrics"][0]
    for key, free in FREE.items():
        if fabric.get(key, DEFAULTS.get(key, free)) != free:
            yield key, lambda _, wider, key=key, free=free: wider["fabrics"][0].update({key: free})
    for limit in case.get("limits", {}):
        yield f"limits.{limit}", lambda _, wider, limit=limit: wider["limits"].pop(limit)
    for rule in case.get("procurement", {}):
        yield f"procurement.{rule}", lambda _, wider, rule=rule: wider["procurement"].pop(rule)
    if len(case.get("stages", ())) > 1 and case.get("growth", {}).get("recabling", "never") == "never":
        yield "growth.recabling", lambda _, wider: wider.setdefault("growth", {}).update(recabling="allow")
    yield "max_oversubscription", _higher_ratios
    yield "min_gbps_per_gpu", lambda _, wider: wider["fabrics"][0].update(min_gbps_per_gpu=5)
    for key in ("supply", "minimum_order", "pack_size"):
        if any(key in sold for sold in _sold(catalog)):
            yield key, lambda wider, _, key=key: _drop(wider, key)


def _higher_ratios(_: Json, case: Json) -> None:
    fabric = case["fabrics"][0]
    ratio = fabric.get("max_oversubscription")
    if ratio is not None:
        fabric["max_oversubscription"] = (
            {tier: 1.5 * one for tier, one in ratio.items()} if isinstance(ratio, dict) else 1.5 * ratio
        )


def _sold(catalog: Json) -> Iterator[Json]:
    for products in catalog.values():
        for one in products if isinstance(products, list) else ():
            yield one
            yield from (length for length in one.get("lengths", ()) if isinstance(length, dict))


def _drop(catalog: Json, key: str) -> None:
    for sold in _sold(catalog):
        sold.pop(key, None)


def cost(catalog: Json, case: Json, time_limit_s: float | None = None) -> float:
    """The objective, proven; infinite if there is no design."""
    design = run(copy.deepcopy(catalog), copy.deepcopy(case), time_limit_s=time_limit_s)
    if design["status"] not in ("optimal", "infeasible"):
        raise UnprovenError(design["status"])
    assert [check for check in design["checks"] if not check["ok"]] == []
    return math.inf if design["status"] == "infeasible" else float(design["objective"]["value"])


def main(pairs: int, first: int = 2000) -> int:
    """Look at so many pairs, from a seed on; how many of them cost more when they are relaxed."""
    dearer = unproven = 0
    for number in range(pairs):
        family, seed = FAMILIES[number % len(FAMILIES)], first + number // len(FAMILIES)
        pair = a_pair(family, seed)
        try:
            holds = pair.costs_no_more(SECONDS)
        except UnprovenError:
            unproven += 1
            continue
        if not holds:
            dearer += 1
            print(f"{family}, seed {seed}: dearer with another {pair.relaxed}", flush=True)
    print(f"{pairs} pairs, {dearer} dearer when relaxed, {unproven} not proven in {SECONDS} s")
    return dearer


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
