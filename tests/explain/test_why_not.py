"""Why a product is not in the answer: what it lacks, which key lets it in, and by how much it is dearer."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from fabopt.explain.conflicts import inquiry_of
from fabopt.explain.why_not import Obstacles, obstacles_to
from fabopt.inspect.why_not import WhyNot, why_not
from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.parts.price_books import products
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.context import Context
from fabopt.solution import optimize
from tests.samples.bare import bare
from tests.samples.bases import designed, saved
from tests.samples.growth_samples import eight
from tests.samples.small import bought, case, catalog, product
from tests.solution.test_brute_force import cage, switch
from tests.solution.test_in_service import in_stages

Json = dict[str, Any]
ONE_TIER = {"tiers": 1, "min_gbps_per_gpu": 100, "nics": ["nic-400"], "nics_per_server": 1}


def _inputs(parts: Json, fabric: Json | None = None, **keys: Any) -> Inputs:
    return inputs_from_objects(bare(case(fabric or ONE_TIER, **keys)), parts)


def obstacles(inputs: Inputs, id_: str) -> Obstacles:
    problem = problem_of(inputs.case, inputs.catalog, prune=False)
    inquiry = inquiry_of(problem, Settings(), Clock(60), Context())
    return obstacles_to(inquiry, next(one for one in products(inputs.catalog) if one.id == id_))


def told(inputs: Inputs, id_: str) -> WhyNot:
    return next(why_not(inputs, [id_], Settings(), Clock(60)))


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("price_usd", "has no price, so it is listed, never chosen"),
        ("power_w", "has no power figure, so it is listed, never chosen"),
    ],
)
def test_what_lacks_a_figure_only(key: str, why: str) -> None:
    parts = catalog()
    del product(parts, "small")[key]
    of_small = obstacles(_inputs(parts), "small")
    assert (of_small.lacks_only, [lack.why for lack in of_small.lacks]) == (
        key,
        [why],
    )
    assert told(_inputs(parts), "small").verdict == "left out"


def test_what_lacks_a_split_or_a_matching_part() -> None:
    """A switch of 800G alone has no split for NICs of 400G; one of another cage has no part that joins it."""
    parts = catalog()
    cages = [{"count": 8, "form_factor": "QSFP-DD", "splits": ["1x800"]}]
    fast = {**product(parts, "small"), "id": "fast", "cages": cages}
    odd = {**product(parts, "small"), "id": "odd", "cages": [{"count": 8, "form_factor": "CFP8", "splits": ["1x400"]}]}
    parts["switches"] += [fast, odd]
    inputs = _inputs(parts)
    assert obstacles(inputs, "fast").lacks_only == "cages"
    assert obstacles(inputs, "odd").lacks_only == "parts"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"procurement": {"forbidden_parts": ["small"]}}, "without `procurement.forbidden_parts`"),
        ({"fabrics": [{"name": "compute", **ONE_TIER, "switches": {"leaf": ["lean"]}}]}, "switches.leaf: any"),
    ],
)
def test_what_a_key_leaves_out(keys: Json, says: str) -> None:
    of_small = obstacles(inputs_from_objects(bare({**case(ONE_TIER), **keys}), catalog()), "small")
    assert not of_small.lacks and says in of_small.others[0]


def test_what_is_at_the_end_of_its_life() -> None:
    parts = catalog()
    product(parts, "small")["end_of_life"] = True
    assert "end of its life" in obstacles(_inputs(parts), "small").others[0]


def test_what_does_not_go_with_what_is_in_service(tmp_path: Path) -> None:
    """Of a base more of its switches come, and those that are interchangeable: no part that lacks is blamed."""
    parts = eight()
    parts["switches"] += [switch("nine", cage(9, "1x100")), switch("twin", cage(8, "1x100"))]
    only = {"switches": {"leaf": ["eight"], "spine": ["eight"]}}
    said = {"base": {"file": str(saved(designed(parts, in_stages(4, **only)), tmp_path))}}
    for fabric, ids, ways in (
        ({}, ("nine",), ["`base: null` (beside {file} come more of its own, or what is interchangeable with them)"]),
        ({}, ("twin", "eight"), []),
        (
            only,
            ("nine",),
            [f"`fabrics.compute.switches.{role}: any` (nine) with `base: null`" for role in ("leaf", "spine")],
        ),
        (only, ("twin",), [f"`fabrics.compute.switches.{role}: any` (twin)" for role in ("leaf", "spine")]),
    ):
        asked = inputs_from_objects({**in_stages(8, **fabric), **said}, parts)
        for id_ in ids:
            found = obstacles(asked, id_)
            assert found.lacks == () and len(found.others) == len(ways)
            for words, way in zip(found.others, ways, strict=True):
                assert words.startswith(way.format(**said["base"])), (fabric, id_)


def test_by_how_much_a_candidate_is_dearer() -> None:
    """Lean costs 19,000 where small costs 16,000: it takes over below that."""
    of_lean = told(_inputs(catalog()), "lean")
    assert (of_lean.verdict, of_lean.dearer, of_lean.below_usd) == ("not chosen", 3000, 15998)
    assert told(_inputs(catalog()), "small").verdict == "in the answer"
    assert told(_inputs(catalog()), "gpu-4").verdict == "not a choice"


def test_a_case_without_a_design_has_obstacles_too() -> None:
    inputs = _inputs(catalog(), limits={"budget_usd": 1})
    assert told(inputs, "lean").verdict == "no answer"
    parts = catalog()
    del product(parts, "lean")["price_usd"]
    assert told(_inputs(parts, limits={"budget_usd": 1}), "lean").obstacles.lacks_only == "price_usd"


@pytest.mark.long(but=("2", "4", "6", "8"))
@pytest.mark.parametrize("seed", range(10))
def test_what_lacks_only_a_price_is_a_candidate_with_one(seed: int) -> None:
    """Random catalogs and fabrics: with a price that beats all, what lacks only that is in the answer."""
    dice = random.Random(seed)
    parts = catalog()
    for kind, keys in (("switches", ("price_usd", "power_w")), ("nics", ("price_usd",))):
        for entry in parts[kind]:
            entry["price_usd"] = dice.randrange(500, 30000)
            for key in keys:
                if dice.random() < 0.4 and entry["id"] not in ("large", "nic-400"):
                    entry.pop(key)
    fabric = {"tiers": dice.choice([1, "any"]), "min_gbps_per_gpu": dice.choice([25, 50]), "nics_per_server": 1}
    for entry in [*parts["switches"], *parts["nics"]]:
        lacks = obstacles(_inputs(parts, fabric), entry["id"]).lacks_only == "price_usd"
        assert lacks is ("price_usd" not in entry and "power_w" in entry)
        if lacks:
            priced = copy.deepcopy(parts)
            for other in [*priced["switches"], *priced["nics"]]:
                if other["id"] == entry["id"]:
                    other["price_usd"] = 1
            assert obstacles(_inputs(priced, fabric), entry["id"]) == Obstacles()
            design = optimize.solve(_inputs(priced, fabric), alternatives_s=0)
            assert design.status == "infeasible" or entry["id"] in bought(design)
