"""Random small halls with some limits, and each of these relaxed by itself, which never raises the cost.

``python -m tests.samples.relaxed_halls 200 0`` looks at so many halls, from a seed on.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

from fabopt.io.case import inputs_from_objects
from fabopt.program.settings import Clock
from fabopt.rules.defaults import DEFAULT_RULES, FILL_RULES
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify.trays import fullest
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import paths_of
from tests.oracles.brute_floor import toy_with_halls
from tests.samples.relaxed import UnprovenError

Json = dict[str, Any]
# Where in a case each limit is.
PLACES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tray_fill", "manager_fill", "rack_air_w", "row_air_w", "rack_kg", "floor_kg_m2", "rack_power_w",
                     "breaker_share"), ("site", "floor")),
    "optical_margin_db": ("site",), "max_lengths": (), "max_latency_us": ("fabrics",),
    **dict.fromkeys(("budget_usd", "power_w", "rack_units"), ("limits",)),
}  # fmt: skip
SIZES = {"tray_width_mm": 60, "tray_depth_mm": 20, "manager_width_mm": 60, "manager_depth_mm": 60}
FILLS = ("tray_fill", "manager_fill")
SECONDS = 8


class Hall(NamedTuple):
    """A catalog, a case without its limits, and the limits by name."""

    catalog: Json
    case: Json
    limits: dict[str, float]

    def cost(self, **changes: float | None) -> float:
        """The cost with other values of some limits, where None is no limit; infinite without a design."""
        design = self.solved(**changes)
        return design.totals.capex_usd if design.totals is not None and design.fabrics else inf

    def solved(self, seconds: float = SECONDS, **changes: float | None) -> Design:
        """The design with other values of some limits, found in some seconds, of which every check holds."""
        case = copy.deepcopy(self.case)
        for name, value in {**self.limits, **changes}.items():
            if value is not None:
                _at(case, PLACES[name])[name] = value
        clock = Clock(seconds)
        design = optimize.solve(inputs_from_objects(case, self.catalog), alternatives_s=0, clock=clock)
        if clock.is_over():
            raise UnprovenError(str(changes))
        assert [check.name for check in design.checks if not check.ok] == []
        return design


def _at(case: Json, place: tuple[str, ...]) -> Json:
    found: Any = case
    for key in place:
        found = found.setdefault(key, {})
        found = found[0] if isinstance(found, list) else found
    assert isinstance(found, dict)
    return found


def without_limits(seed: int) -> tuple[random.Random, Hall, dict[str, float]]:
    """A random hall without limits, the dice that made it, and those that it was drawn with."""
    dice, (case, catalog) = random.Random(f"relaxed hall {seed}"), toy_with_halls(seed)
    _sized(dice, catalog)
    case["rules"] = dict.fromkeys(DEFAULT_RULES.keys() - set(FILL_RULES.values()), False)
    floor = case["site"]["floor"]
    floor |= SIZES
    said = {key: floor.pop(key) for key, place in PLACES.items() if "floor" in place and key in floor}
    return dice, Hall(catalog, case, {}), said


def a_hall(seed: int) -> Hall:
    """A random hall with three limits or fewer, and now and then a budget."""
    dice, hall, said = without_limits(seed)
    free = hall.solved()
    if not free.fabrics:
        return hall
    fills = {what: float(full.share) for what, full in fullest(free, wiring_of(free)).items()}
    drawn = list((said | _drawn(dice, free, fills)).items())
    for name, value in dice.sample(drawn, len(drawn)):
        # those that leave no design are no limits of the hall
        if hall.cost(**{name: value}) < inf:
            hall.limits[name] = value
            if name == "rack_power_w" and dice.random() < 0.5:
                hall.limits.update({name: value / 0.8, "breaker_share": 0.8})
        if len(hall.limits) > 2:
            break
    if dice.random() < 0.4:  # what just fits, and a little more
        hall.limits["budget_usd"] = round(hall.cost() * dice.choice([1, 1, 1.05]), 2)
    return hall


def _sized(dice: random.Random, catalog: Json) -> None:
    """Cables of several diameters, of which the thin ones are dear; budgets of optics, and times."""
    for one in list(catalog["cables"]):
        one |= {"diameter_mm": dice.choice([6, 8, 10]), "bend_radius_mm": dice.choice([20, 40])}
        if dice.random() < 0.7:
            lengths = [{**length, "price_usd": round(length["price_usd"] * 1.4)} for length in one["lengths"]]
            catalog["cables"].append(
                {**one, "id": f"{one['id']}-thin", "diameter_mm": dice.choice([3, 4]), "lengths": lengths}
            )
    for one in catalog["fibres"]:
        one |= {"diameter_mm": dice.choice([2, 3]), "bend_radius_mm": 20}
    for switch in catalog["switches"]:
        switch["asic"] = "X1"
    for module in list(catalog["transceivers"]):
        module["loss_budget_db"] = dice.choice([1.5, 2, 4])
        catalog["transceivers"].append(
            {**module, "id": f"{module['id']}-far", "loss_budget_db": 6, "price_usd": module["price_usd"] + 40}
        )
    source = {"url": "https://example.org", "date": "2026-01-01"}
    catalog["facts"] = {
        "latency": [
            {"part": "nic", "ns": 50.0}, {"part": "switch", "of": "X1", "ns": 250.0}, {"part": "module", "ns": 30.0},
            {"part": "cable", "of": "DAC", "ns": 0.0}, {"part": "metre", "of": "copper", "ns": 4.6},
            {"part": "metre", "of": "fibre", "ns": 4.96},
        ],
        "optics": {
            "budgets": [{"standard": f"{gbps}G-LR", "fibre": "smf", "budget_db": 4.0, "source": source}
                        for gbps in (100, 200)],
            "pairs": [{"connector": "LC", "fibre": "smf", "largest_db": 0.5, "source": source}],
        },
    }  # fmt: skip


def _drawn(dice: random.Random, free: Design, fills: dict[str, float]) -> dict[str, float]:
    totals = free.totals
    assert totals is not None
    server = Embedded(free).server
    of_rack = free.case.content["site"]["servers_per_rack"] * (server.power_w or 0)
    lengths = len({row.length_m for row in free.bom if row.length_m})
    time = [*paths_of(Embedded(free), free.fabrics[0])][-1].round_trip_ns / 1000
    return {
        **{f"{what}_fill": min(0.999, max(0.001, round(full * dice.choice([0.3, 0.5, 0.7, 0.9]), 4)))
           for what, full in fills.items()},
        **({"max_lengths": max(1, lengths - dice.choice([0, 1, 1, 2]))} if dice.random() < 0.2 else {}),
        "max_latency_us": round(float(time) * dice.choice([0.9, 0.97, 1]) + 0.001, 3),
        "optical_margin_db": dice.choice([0.5, 1, 2, 3]),
        "rack_power_w": of_rack * dice.choice([1.1, 1.2, 1.4, 1.8]),
        "power_w": round(float(totals.power_w) * dice.choice([0.9, 0.97, 1]), 2),
        "rack_units": max(1, totals.rack_units - dice.choice([0, 1])),
    }  # fmt: skip


def wider(hall: Hall, dice: random.Random) -> Iterator[tuple[str, float | None]]:
    """Each limit by itself, without it or a little wider."""
    for name, value in hall.limits.items():
        if name == "optical_margin_db":
            yield name, dice.choice([0, value / 2])
        elif name == "breaker_share":
            yield name, dice.choice([None, 0.9])
        elif name in FILLS:
            yield name, dice.choice([None, min(0.999, round(value * 1.5, 4))])
        else:
            without = [] if "breaker_share" in hall.limits and name == "rack_power_w" else [None]
            yield name, dice.choice([*without, round(value * 1.2 + 0.5) if name != "max_latency_us" else value * 1.2])


def dearer(seed: int) -> Iterator[str]:
    """What costs more, or has no design, when one limit of a random hall is relaxed; what takes long is left out."""
    dice = random.Random(f"wider {seed}")
    try:
        hall = a_hall(seed)
        least = hall.cost()
    except UnprovenError:
        return
    for name, value in wider(hall, dice) if least < inf else ():
        with suppress(UnprovenError):
            if (cost := hall.cost(**{name: value})) > least:
                yield f"seed {seed}: {name} {hall.limits[name]:g} -> {value}: {least} -> {cost} ({hall.limits})"


def main(halls: int, first: int = 0) -> int:
    """Look at so many halls; how many limits cost more when they are relaxed."""
    lines = (line for seed in range(first, first + halls) for line in dearer(seed))
    told = sum(print(line, flush=True) is None for line in lines)
    print(f"{halls} halls, {told} limits whose relaxation costs more")
    return told


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
