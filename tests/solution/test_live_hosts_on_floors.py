"""Devices of attachments in service on a floor, apart or with switches: they keep their places as a cluster grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.io.library import data_folder
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_stays, live, saved
from tests.samples.once import once

Json = dict[str, Any]


def shipped(name: str) -> Json:
    """A case as it is shipped."""
    content: Json = yaml.safe_load((data_folder("cases") / f"{name}.yaml").read_text())
    return content


def of_two_fabrics() -> Json:
    """Compute, and storage with its nodes in racks of their own, in a row of a hall."""
    content = shipped("floor-four-fabrics-32")
    compute, storage, *_ = content["fabrics"]
    return {**content, "fabrics": [compute, {**storage, "homing": "single"}]}


def base_of(content: Json) -> Design:
    return once(lambda: optimize.solve(inputs_from_objects(content), alternatives_s=0), content)


def after(content: Json, folder: Path, servers: int, rows: int = 1) -> Design:
    """The design of so many servers that goes on from the one of a case, on a floor of so many rows."""
    floor = {**content["site"]["floor"], "rows": rows}
    base = {"file": str(saved(base_of(content), folder))}
    grown = {**content, "servers": servers, "base": base, "site": {**content["site"], "floor": floor}}
    return optimize.solve(inputs_from_objects(grown), alternatives_s=0)


def places(design: Design) -> dict[str, Any]:
    """Places of devices of attachments by fabric."""
    return {fabric.name: fabric.places.attachments for fabric in design.fabrics}


def assert_is_the_base(design: Design, base: Design) -> None:
    assert_stays(design, base, 0)
    assert design.totals is not None and design.totals.capex_usd == 0
    assert live(wiring_of(design)) == live(wiring_of(base))


def test_hosts_of_managers_stay_with_their_switch_and_servers_come_to_other_racks(tmp_path: Path) -> None:
    """Eight DGX B300, whose switch and hosts stand apart by their airflow: no new server comes to their rack."""
    content = shipped("floor-b300-xdr-64")
    base, design = base_of(content), after(content, tmp_path, 10)
    assert places(base)["compute"]["subnet-manager"]
    assert_stays(design, base, 0)
    assert places(design) == places(base)
    with_switches = {rack for rack, _ in design.fabrics[0].places.leaf}
    assert design.floor is not None and not with_switches.intersection(design.floor.server_racks)
    content = json.loads(design.model_dump_json(by_alias=True))
    (rack, unit), *others = content["fabrics"][0]["placement"]["attachments"]["subnet-manager"]
    content["fabrics"][0]["placement"]["attachments"]["subnet-manager"] = [[rack, unit - 4], *others]
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert "base_stays" in failed


@pytest.mark.long
def test_with_nothing_new_hosts_are_where_they_were(tmp_path: Path) -> None:
    content = shipped("floor-b300-xdr-64")
    assert_is_the_base(after(content, tmp_path, 8), base_of(content))


@pytest.mark.long
@pytest.mark.parametrize(("servers", "rows"), [(4, 1), (6, 1), (4, 2)])
def test_nodes_stay_in_racks_of_their_own_on_larger_floors_too(servers: int, rows: int, tmp_path: Path) -> None:
    """Free racks are taken from the end of the floor, which is another one on a floor of two rows."""
    content = of_two_fabrics()
    base, design = base_of(content), after(content, tmp_path, servers, rows)
    assert_stays(design, base, 0)
    assert places(design) == places(base) and places(base)["storage"]["storage-nodes"]
    if servers == 4:
        assert_is_the_base(design, base)
