"""Shipped cases over the reference catalog, at random sizes, each narrowed and widened by one key.

Under default rules both are compared with the same parts of them, as ``widened`` does.
``python -m tests.samples.widened_cases 100`` looks at so many pairs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from fabopt.errors import InputError
from fabopt.io.case import Inputs, read_inputs
from fabopt.io.keys import content_of, is_case, with_change
from fabopt.schema.catalog import Catalog
from fabopt.solution import optimize
from tests.samples.widened import Answer, UnprovenError, standing

# Cases that are answered within seconds at these numbers of servers.
SIZES = {
    "cluster-256-infiniband": (4, 8, 16, 32),
    "cluster-256-roce": (4, 9, 16, 32),
    "dgx-h200-two-fabrics": (4, 8, 16),
    "dgx-superpod-32": (7, 16, 31),
    "finetuning-1024-gpus": (8, 20, 33, 64),
    "gb200-nvl72-576": (36, 72),
    "l40s-inference-256": (6, 16, 32),
    "mi300x-inference-2048": (8, 31, 64),
    "procurement-128-gpus": (8, 16),
    "rail-only-1024-gpus": (16, 64),
    "roce-lab-200g": (4, 8),
    "single-switch-64-gpus": (4, 8),
    "twin-plane-1024-gpus": (16, 32),
    "two-tier-example": (16, 32),
}
SECONDS = 45
Keys = dict[str, Any]


class Widening(NamedTuple):
    """A narrow and a wide value of one key, by what is written for each; ``of``: another catalog of the wide case."""

    narrow: Keys
    wide: Keys
    of: Callable[[Catalog], Catalog] = lambda catalog: catalog

    @property
    def name(self) -> str:
        """What differs."""
        return f"{self.narrow} -> {self.wide}"


class ShippedPair(NamedTuple):
    """A narrow and a wide case with their catalogs."""

    name: str
    narrow: Inputs
    wide: Inputs

    def costs(self, time_limit_s: float | None = None) -> tuple[float, float]:
        """What both cost under the same rules."""
        narrow, wide = (answer(given, time_limit_s) for given in (self.narrow, self.wide))
        if wide.cost > narrow.cost and narrow.standing != wide.standing:
            off = {"rules": "none", "resilience": "none"}
            narrow, wide = (answer(with_change(given, off), time_limit_s) for given in (self.narrow, self.wide))
        return narrow.cost, wide.cost


def a_shipped_pair(number: int) -> ShippedPair:
    """A shipped case of random size and something of it narrow and wide."""
    dice = random.Random(f"shipped {number}")
    name = list(SIZES)[number % len(SIZES)]
    given = read_inputs(name)
    if given.case.stages is None:
        given = with_change(given, {"servers": dice.choice(SIZES[name])})
    content = content_of(given.case)
    widenings = [
        widening
        for widening in _widenings(dice, given)
        if is_case(content, widening.narrow) and is_case(content, widening.wide)
    ]
    while True:
        chosen = dice.choice(widenings)
        try:
            narrow, wide = with_change(given, chosen.narrow), with_change(given, chosen.wide)
        except InputError:
            continue  # what servers or roles do not allow
        return ShippedPair(f"{name} {chosen.name}", narrow, replace(wide, catalog=chosen.of(wide.catalog)))


def _widenings(dice: random.Random, given: Inputs) -> Iterator[Widening]:
    fabric = dice.choice(given.case.fabrics)
    yield from _of_shape(dice, f"fabrics.{fabric.name}")
    yield from _of_products(dice, given, f"fabrics.{fabric.name}")
    yield from _of_attachments(dice, f"fabrics.{fabric.name}.attachments")
    yield from _of_limits(dice, given)


def _of_shape(dice: random.Random, at: str) -> Iterator[Widening]:
    tiers = dice.choice([1, 2])
    planes = dice.choice([1, 2])
    ratio = dice.choice([1, 1.3, 2])
    for key, narrow, wide in (
        ("tiers", tiers, "any"),
        ("tiers", 2, [1, 2]),
        ("topologies", ["clos"], ["clos", "rail-only"]),
        ("topologies", ["rail-only"], ["clos", "rail-only"]),
        ("topologies", ["clos"], ["clos", "hyperx"]),
        ("groups", "equal", "any"),
        ("rails", "aligned", "any"),
        ("striping", "even", "any"),
        ("planes", planes, "any"),
        ("homing", dice.choice(["single", "dual", "pair"]), "any"),
        ("protocol", dice.choice(["ethernet", "infiniband"]), "any"),
        ("max_oversubscription", ratio, ratio * dice.choice([1.1, 1.5])),
        ("min_gbps_per_gpu", 100, dice.choice([50, 99])),
        ("reserve_ports", 0.2, 0),
    ):
        yield Widening({f"{at}.{key}": narrow}, {f"{at}.{key}": wide})


def _of_products(dice: random.Random, given: Inputs, at: str) -> Iterator[Widening]:
    """Lists of switches and NICs, a product more, stock and slots."""
    spoken = dice.choice(["ethernet", "infiniband"])
    switches = [switch.id for switch in given.catalog.switches if switch.protocol == spoken and switch.price_usd]
    nics = [nic.id for nic in given.catalog.nics if spoken in nic.protocols and nic.price_usd]
    few, more = dice.sample(switches, 3), dice.sample(switches, 4)
    for role in ("leaf", "spine"):
        key = f"{at}.switches.{role}"
        yield Widening({key: few}, {key: dice.choice(["any", [*few, *(id_ for id_ in more if id_ not in few)]])})
    cards = dice.sample(nics, min(3, len(nics)))
    yield Widening({f"{at}.nics": cards}, {f"{at}.nics": "any", "rules": {"tested-nics": False}})
    yield Widening({f"{at}.nics": cards[:1]}, {f"{at}.nics": cards})
    forbidden = dice.sample(switches, 5)
    yield Widening({"procurement.forbidden_parts": forbidden}, {"procurement.forbidden_parts": forbidden[1:]})

    def stocked(catalog: Catalog) -> Catalog:
        return _changed(catalog, "switches", switches[0], stock=dice.choice([1, 4]))

    def slots(catalog: Catalog) -> Catalog:
        server = next(server for server in catalog.servers if server.id == given.case.server)
        more = None if server.nic_slots is None else server.nic_slots + 1
        return _changed(catalog, "servers", server.id, nic_slots=more)

    yield Widening({}, {}, stocked)
    yield Widening({}, {}, slots)


def _changed(catalog: Catalog, kind: str, id_: str, **terms: object) -> Catalog:
    """The catalog with other terms of a product."""
    products = (
        product.model_copy(update=terms) if product.id == id_ else product for product in getattr(catalog, kind)
    )
    return catalog.model_copy(update={kind: tuple(products)})


def _of_attachments(dice: random.Random, key: str) -> Iterator[Widening]:
    """The tier of a host of management."""
    host = {"name": "host", "kind": "management", "ports": dice.choice([1, 2, 3]), "gbps": 400, "buys": "none"}
    for tier in ("leaf", "spine"):
        yield Widening({key: [{**host, "tier": tier}]}, {key: [{**host, "tier": "any"}]})
    yield Widening({key: [{**host, "tier": "any"}]}, {key: []})


def _of_limits(dice: random.Random, given: Inputs) -> Iterator[Widening]:
    """Money near the optimum, part numbers, vendors, racks."""
    kind = dice.choice(["switch", "transceiver", "cable", "fibre"])
    few = dice.choice([1, 2])
    yield Widening({"procurement.max_part_numbers": {kind: few}}, {"procurement.max_part_numbers": {}})
    yield Widening({"procurement.max_part_numbers": {kind: few}}, {"procurement.max_part_numbers": {kind: few + 1}})
    yield Widening({"procurement.max_vendors": {"switch": few}}, {"procurement.max_vendors": {}})
    money = dice.choice([300_000, 600_000, 1_000_000])
    yield Widening({"limits.budget_usd": money}, {"limits.budget_usd": money * dice.choice([1.01, 1.5])})
    floor = given.case.site.floor
    if floor is not None:
        more = {"site.floor.racks_per_row": floor.racks_per_row + 1}
        yield Widening({}, more)


# -- what they cost -----------------------------------------------------------------------------------------------


def answer(given: Inputs, time_limit_s: float | None = None) -> Answer:
    """The objective, proven, with what is kept of default rules."""
    design = optimize.solve(given, time_limit_s=time_limit_s, alternatives_s=0)
    if design.status not in ("optimal", "infeasible"):
        raise UnprovenError(design.status)
    assert [check for check in design.checks if not check.ok] == []
    if design.status == "infeasible":
        return Answer(inf, frozenset())
    content = design.model_dump(by_alias=True, mode="json")
    left_out = ((row.fabric or "", row.part, False) for row in design.rules_left_out)
    # of a robust choice the least, which its rule compares with
    cost = design.objective.value if design.objective.bound is None else design.objective.bound
    return Answer(float(cost or 0), frozenset((*standing(content), *left_out)))


def main(pairs: int) -> int:
    """Look at so many pairs; how many of them are dearer when wider."""
    dearer = 0
    for number in range(pairs):
        pair = a_shipped_pair(number)
        try:
            narrow, wide = pair.costs(SECONDS)
        except UnprovenError:
            print(f"{pair.name}: not proven", flush=True)
            continue
        dearer += wide > narrow
        print(f"{'DEARER ' if wide > narrow else ''}{pair.name}: {narrow} -> {wide}", flush=True)
    return dearer


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]))))
