"""Runs of what is in service where nothing says them: each of several fabrics has its own, by its groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.library import data_folder
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_stays, designed, gone_on, live, saved
from tests.samples.growth_samples import grown
from tests.solution.test_floors_in_service import parts_of_two, two_fabrics
from tests.solution.test_mixed_bases import capex

Json = dict[str, Any]


def parts(step_m: float = 0.5) -> Json:
    """Cables in many lengths, so that each run has its own."""
    found = parts_of_two()
    found["cables"][0]["lengths"] = [{"m": 3 + step * step_m, "price_usd": 5 + step} for step in range(34)]
    return found


def of_two(servers: int) -> Json:
    """A server in each rack; groups of six servers, and of four where nothing is oversubscribed."""
    content = two_fabrics(grown(servers, fabric={"max_oversubscription": 3}), max_oversubscription=1)
    stages = [{**stage, "month": 0} for stage in content["stages"]]
    return {**content, "stages": stages, "site": {"servers_per_rack": 1}}


def to_leaves(design: Design) -> list[float]:
    """Metres from servers to leaves, fabric by fabric."""
    of_rows = (
        (fabric.name, row.length_m) for fabric in design.fabrics for row in fabric.links if row.from_ == "server"
    )
    return [length_m for _, length_m in dict.fromkeys(of_rows)]


def test_the_smaller_groups_of_one_fabric_keep_their_shorter_cables(tmp_path: Path) -> None:
    base = designed(parts(), of_two(12))
    assert to_leaves(base) == [6.8, 6.2]
    same = gone_on(parts(), of_two(12), base, tmp_path)
    assert_stays(same, base, 0)
    assert capex(same) == 0 and live(wiring_of(same)) == live(wiring_of(base))


@pytest.mark.long
def test_a_further_group_has_the_runs_of_its_fabric(tmp_path: Path) -> None:
    base = designed(parts(), of_two(12))
    more = gone_on(parts(), of_two(13), base, tmp_path)
    assert_stays(more, base, 0)
    assert to_leaves(more) == [6.8, 6.2]
    again = gone_on(parts(), of_two(13), more, tmp_path)
    assert_stays(again, more, 1)
    assert capex(again) == 0


def test_groups_that_make_runs_longer_than_live_cables_are_named(tmp_path: Path) -> None:
    base = designed(parts(), of_two(12))
    with pytest.raises(InputError, match=r"leaf-spine: links of storage would run up to .* on cables of 8 m"):
        gone_on(parts(), of_two(20), base, tmp_path)


@pytest.mark.long
def test_four_fabrics_are_their_own_base(tmp_path: Path) -> None:
    """Storage has smaller groups than compute, and its cables are shorter."""
    content = yaml.safe_load((data_folder("cases") / "live-four-fabrics-64.yaml").read_text())
    first = {key: value for key, value in content.items() if key != "base"} | {"servers": 32}
    base = optimize.solve(inputs_from_objects(first), alternatives_s=0)
    assert len(set(to_leaves(base))) > 1
    same = {**first, "base": {"file": str(saved(base, tmp_path))}}
    design = optimize.solve(inputs_from_objects(same), alternatives_s=0)
    assert_stays(design, base, 0)
    assert capex(design) == 0 and to_leaves(design) == to_leaves(base)
