"""A catalog small enough to reason about, cases for it, and what two designs are compared by."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.solution import optimize
from tests.samples.bare import bare
from tests.samples.once import once

Json = dict[str, Any]

# What may differ between engines and between pruned and unpruned runs of one case.
RUN_KEYS = ("engine", "solve_s", "candidates", "candidates_in_program", "bound", "gap")

CATALOG: Json = {
    "switches": [
        {"id": "large", "protocol": "ethernet", "rack_units": 2, "power_w": 700, "price_usd": 24000,
         "cages": [{"count": 12, "form_factor": "QSFP-DD", "splits": ["1x400", "2x200"]}]},
        {"id": "lean", "protocol": "ethernet", "rack_units": 1, "power_w": 300, "price_usd": 19000,
         "cages": [{"count": 8, "form_factor": "QSFP-DD", "splits": ["1x400", "2x200"]}]},
        {"id": "small", "protocol": "ethernet", "rack_units": 1, "power_w": 500, "price_usd": 16000,
         "cages": [{"count": 8, "form_factor": "QSFP-DD", "splits": ["1x400", "2x200"]}]},
    ],
    "nics": [
        {"id": "nic-200", "protocols": ["ethernet"], "pcie": {"generation": 4, "lanes": 16}, "power_w": 12,
         "price_usd": 900, "cages": [{"count": 1, "form_factor": "QSFP56", "splits": ["1x200"]}]},
        {"id": "nic-400", "protocols": ["ethernet"], "pcie": {"generation": 5, "lanes": 16}, "power_w": 20,
         "price_usd": 1500, "cages": [{"count": 1, "form_factor": "QSFP112", "splits": ["1x400"]}]},
    ],
    "servers": [
        {"id": "gpu-4", "gpus": 4, "nic_slots": 4, "pcie": {"generation": 5, "lanes": 16}, "power_w": 4000,
         "price_usd": 100000},
        {"id": "gpu-4-gen-4", "gpus": 4, "nic_slots": 4, "pcie": {"generation": 4, "lanes": 16}, "power_w": 4000},
    ],
    "transceivers": [
        {"id": "dr4", "form_factor": "QSFP-DD", "split": "1x400", "standard": "400G-DR4", "fibre": "smf",
         "connector": "MPO-12-APC", "reach_m": 500, "power_w": 9, "price_usd": 700},
        {"id": "dr4-hot", "form_factor": "QSFP-DD", "split": "1x400", "standard": "400G-DR4", "fibre": "smf",
         "connector": "MPO-12-APC", "reach_m": 500, "power_w": 14, "price_usd": 600},
        {"id": "dr4-nic", "form_factor": "QSFP112", "split": "1x400", "standard": "400G-DR4", "fibre": "smf",
         "connector": "MPO-12-APC", "reach_m": 500, "power_w": 8, "price_usd": 650},
    ],
    "cables": [
        {"id": "dac", "medium": "DAC", "power_w": 0.2,
         "lengths": [{"m": 1, "price_usd": 120}, {"m": 3, "price_usd": 150}],
         "ends": [{"form_factor": "QSFP-DD", "split": "1x400"}, {"form_factor": "QSFP112", "split": "1x400"}]},
        {"id": "splitter", "medium": "DAC", "power_w": 0.2, "lengths": [{"m": 3, "price_usd": 170}],
         "ends": [{"form_factor": "QSFP-DD", "split": "2x200"},
                  {"form_factor": "QSFP56", "split": "1x200", "count": 2}]},
        {"id": "aoc", "medium": "AOC", "power_w": 20, "lengths": [{"m": 30, "price_usd": 1400}],
         "ends": [{"form_factor": "QSFP-DD", "split": "1x400"}, {"form_factor": "QSFP-DD", "split": "1x400"}]},
    ],
    "fibres": [
        {"id": "mpo", "fibre": "smf", "connectors": ["MPO-12-APC", "MPO-12-APC"],
         "lengths": [{"m": 10, "price_usd": 60}, {"m": 50, "price_usd": 110}]},
    ],
}  # fmt: skip


def catalog() -> Json:
    """A copy of the catalog, to be changed."""
    return copy.deepcopy(CATALOG)


def product(content: Json, product_id: str) -> Json:
    """The entry of a catalog with an id."""
    found: Json = next(one for kind in content.values() for one in kind if one["id"] == product_id)
    return found


def case(fabric: Json | None = None, **changes: Any) -> Json:
    """A case for the catalog: six servers at half bandwidth on two tiers, unless it says otherwise."""
    fabric = {"name": "compute", "min_gbps_per_gpu": 200, "max_oversubscription": 1, "tiers": 2, **(fabric or {})}
    content = {"name": "small", "server": "gpu-4", "servers": 6, "fabrics": [fabric], **changes}
    if "gpus" in changes or "stages" in changes:
        del content["servers"]
    return content


def inputs(content: Json, parts: Json | None = None) -> Inputs:
    """A case of the bare space (``bare``) with a catalog (default: the small one)."""
    return inputs_from_objects(bare(content), catalog() if parts is None else parts)


def solved(content: Json, parts: Json | None = None, engine: str = "cp-sat", prune: bool = True) -> Design:
    """The design of a case, without a look at alternatives."""

    def work() -> Design:
        return optimize.solve(inputs(content, parts), engine=engine, prune=prune, alternatives_s=0)

    return once(work, content, parts, engine, prune)


def solved_file(path: Path | str, engine: str = "cp-sat") -> Design:
    """The design of a case file, without a look at alternatives."""
    return optimize.solve(inputs_from_objects(path), engine=engine, alternatives_s=0)


def comparable(design: Design) -> str:
    """A design as text, without what may differ between runs."""
    content = design.model_dump(mode="json", by_alias=True)
    for key in RUN_KEYS:
        content["objective"].pop(key)
    return json.dumps(content, sort_keys=True, indent=1)


def counts(design: Design, fabric: int = 0) -> dict[str, int]:
    """Switches by tier and links by their ends (``server_leaf``) of one fabric."""
    one = design.fabrics[fabric]
    found: dict[str, int] = {tier.role: tier.count for tier in one.tiers}
    for row in one.links:
        ends = f"{row.from_}_{row.to}"
        found[ends] = found.get(ends, 0) + row.count
    return found


def bought(design: Design) -> dict[str, int]:
    """Quantities on the bill, by product id."""
    found: dict[str, int] = {}
    for row in design.bom:
        found[row.id] = found.get(row.id, 0) + row.quantity
    return found


def usd(design: Design) -> float:
    """What all is bought for."""
    assert design.totals is not None
    return design.totals.capex_usd


def designed(parts: Json, content: Json, alternatives: bool = False) -> Design:
    """The design, which is proven optimal; ``alternatives``: looked at too."""
    if alternatives:
        design = once(lambda: optimize.solve(inputs(content, parts), alternatives_s=60), content, parts, "alternatives")
    else:
        design = solved(content, parts)
    assert_proven(design)
    return design


def assert_proven(design: Design) -> None:
    """Assert that a design is optimal and that every rule was proven again."""
    assert design.status == "optimal", (design.status, design.conflicts)
    assert design.objective.value == design.objective.bound
    assert design.checks
    assert [check for check in design.checks if not check.ok] == []


def value_of(design: Design) -> float:
    """The objective of a design that was found."""
    assert design.objective.value is not None
    return design.objective.value


def solved_as(least: float | None, content: Json, parts: Json) -> Design | None:
    """The design of a case, proven, at an oracle's least cents; None if the oracle has none and there is none."""
    design = solved(content, parts)
    if least is None:
        assert design.status == "infeasible"
        return None
    assert_proven(design)
    assert round(value_of(design) * 100) == least
    return design


def assert_optimum(found: tuple[float, ...] | None, content: Json, parts: Json, name: str = "") -> None:
    """The answer is an oracle's: its cents, milliwatts, rack units, switches and cables; None: there is none."""
    text = f"{name} {json.dumps({'catalog': parts, 'case': content})}"
    if found is None:
        given = inputs(content, parts)
        problem = problem_of(given.case, given.catalog)
        assert search_of(problem, Settings(), Clock(None)).run(ties=False).verdict == "infeasible", text
        return
    made = solved(content, parts)
    totals = made.totals
    assert made.status == "optimal" and totals is not None, text
    theirs = round(totals.capex_usd * 100), round(totals.power_w * 1000)
    assert found == (*theirs, totals.rack_units, totals.switches, totals.cables), text
    assert [check for check in made.checks if not check.ok] == [], text
