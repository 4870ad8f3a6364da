"""Planes that makers document of their NICs and servers; citations are in ``tests/published/planes-by-maker.yaml``."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.io.catalog import named_catalogs
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Catalog, Nic
from fabopt.schema.product import Pcie
from fabopt.solution import optimize
from tests.paths import ROOT

PUBLISHED: dict[str, Any] = yaml.safe_load((ROOT / "tests" / "published" / "planes-by-maker.yaml").read_text())
FAST_MBPS = 800_000
# Of cards with two ports of 400G, those whose slot carries both.
FAST_SLOTS = (None, Pcie(generation=6, lanes=16))


@cache
def reference() -> Catalog:
    return named_catalogs(["reference"])


def most_mbps(nic: Nic) -> int:
    """The most that its ports carry together."""
    return sum(cage.count * max(map(mbps_of, cage.splits)) for cage in nic.cages)


def mbps_of(split: str) -> int:
    lane = parse_split(split)
    return lane.ports * lane.port_mbps


def planes_of(nic: Nic) -> set[int]:
    """Numbers of planes that its ports spread over evenly at full speed: any that divides them."""
    ports = {
        cage.count * parse_split(split).ports
        for cage in nic.cages
        for split in cage.splits
        if cage.count * mbps_of(split) == most_mbps(nic)
    }
    return {planes for number in ports for planes in range(1, number + 1) if number % planes == 0}


def test_every_fast_nic_is_looked_up() -> None:
    """A NIC of 800G that comes in has what its maker says of planes, or that nothing was found."""
    fast = {nic.id for nic in reference().nics if most_mbps(nic) >= FAST_MBPS and nic.pcie in FAST_SLOTS}
    assert fast <= {row["nic"] for row in PUBLISHED["nics"]}


@pytest.mark.parametrize("row", PUBLISHED["nics"], ids=lambda row: str(row["nic"]))
def test_a_nic_offers_the_planes_of_its_maker(row: dict[str, Any]) -> None:
    nic = next(nic for nic in reference().nics if nic.id == row["nic"])
    assert set(row["planes"]) <= planes_of(nic)


@pytest.mark.long(but=("nvidia-dgx-b300-2",))
@pytest.mark.parametrize(
    ("server", "planes"),
    [(row["server"], planes) for row in PUBLISHED["servers"] for planes in row["planes"] if planes > 1],
)
def test_a_server_is_built_with_the_planes_of_its_maker(server: str, planes: int) -> None:
    """The shipped catalog has the modules, fibres and switches that these planes take."""
    case = {
        "name": "planes",
        "server": server,
        "servers": 8,
        "fabrics": [{"name": "compute", "protocol": "ethernet", "planes": planes, "min_gbps_per_gpu": 800}],
    }
    design = optimize.solve(inputs_from_objects(case), alternatives_s=0)
    assert design.status == "optimal"
    assert design.fabrics[0].planes == planes
