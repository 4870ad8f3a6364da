"""What is lost without a device, a rack, a cable or a feed is what the design file says of such losses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_text
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.studio.breaking import lose
from fabopt.studio.trading import kept
from fabopt.studio.worker import Bench
from fabopt.wiring.build import wiring_of
from tests.samples.shipped import shipped
from tests.studio.test_studio import CASE

SMALL = (
    *("two-tier-example", "single-switch-64-gpus"),
    *(pytest.param(name, marks=pytest.mark.long) for name in ("dgx-h200-two-fabrics", "l40s-inference-256")),
)


class Broken:
    def __init__(self, design: Design, folder: Path) -> None:
        self.design = design
        self._bench = Bench(folder, folder, lambda message: None)
        self._answer = kept(self._bench, design)

    def without(self, kind: str, name: str, fabric: str | None = None) -> Any:
        return lose(self._bench, self._answer, fabric, kind, name)


@pytest.mark.parametrize("name", SMALL)
def test_losses_of_switches_are_those_of_the_file(name: str, tmp_path: Path) -> None:
    """The worst device of each tier leaves what ``failures`` says, and cuts off as many servers."""
    broken = Broken(shipped(name), tmp_path)
    devices = wiring_of(broken.design).devices
    for fabric in broken.design.fabrics:
        for row in fabric.failures:
            if row.count != 1 or row.failed not in ("leaf", "spine", "core"):
                continue
            own = [
                device
                for device, role, of in zip(devices.name, devices.role, devices.fabric, strict=True)
                if (role, of) == (row.failed, fabric.name)
            ]
            losses = [broken.without(row.failed, device)["fabrics"][fabric.name] for device in own]
            assert max(loss["cut"] for loss in losses) == row.servers_cut_off
            left = min(0 if loss["cut"] else loss["left_gbps_per_gpu"] for loss in losses)
            whole = fabric.metrics.bisection_gbps_per_gpu
            assert min(left, whole) == pytest.approx(float(row.gbps_per_gpu), abs=1e-5)


@pytest.mark.parametrize(
    "name", ["two-tier-example", pytest.param("l40s-inference-256", marks=pytest.mark.long), "torus-216-gpus"]
)
def test_losses_of_cables_are_those_of_the_file(name: str, tmp_path: Path) -> None:
    """Of cables that carry one link the worst leaves what ``failures`` says of a cable."""
    broken = Broken(shipped(name), tmp_path)
    wiring, fabric = wiring_of(broken.design), broken.design.fabrics[0]
    cables = wiring.links.cable.tolist()
    losses = [
        broken.without("cable", wiring.cables.name[cables[row]])["fabrics"][fabric.name]
        for row in range(0, len(cables), max(1, len(cables) // 50))
        if cables.count(cables[row]) == 1 and wiring.links.fabric[row] == 0
    ]
    told = next(row for row in fabric.failures if (row.failed, row.count) == ("cable", 1))
    assert max(loss["cut"] for loss in losses) == told.servers_cut_off
    if fabric.tiers:
        left = min(0 if loss["cut"] else loss["left_gbps_per_gpu"] for loss in losses)
        assert left == pytest.approx(float(told.gbps_per_gpu), abs=1e-5)


def test_a_cable_of_the_drawing_is_named_by_its_boxes(tmp_path: Path) -> None:
    broken = Broken(shipped("two-tier-example"), tmp_path)
    lost = broken.without("cable", "0-4")
    assert lost["words"].startswith("without cable C00129 from compute-leaf-001 to compute-spine-001: ")
    assert lost["words"] == broken.without("cable", "4-0")["words"] == broken.without("cable", "C00129")["words"]
    for name in ("", "-", "0-0", "0", "0-4-4", "9" * 5000 + "-1", "C99999", "²-1"):
        with pytest.raises(InputError, match="no such cable"):
            broken.without("cable", name)


@pytest.mark.long
def test_a_rack_is_that_of_the_file(tmp_path: Path) -> None:
    design = shipped("hall-1024-gpus")
    broken = Broken(design, tmp_path)
    row = next(row for row in design.fabrics[0].failures if row.failed == "rack")
    assert row.worst is not None
    lost = broken.without("rack", row.worst)
    assert lost["fabrics"]["compute"]["left_gbps_per_gpu"] == pytest.approx(float(row.gbps_per_gpu))
    assert f"degraded to {row.gbps_per_gpu:g} of 400 Gb/s a GPU" in lost["words"]
    assert lost["racks"][row.worst] == "down"


def with_site(design: Design, **changes: Any) -> Design:
    """A design of another site, which need not keep its rules there."""
    content = dict(design.case.content)
    site = content["site"]
    floor = site["floor"] | {key: value for key, value in changes.items() if key != "rack_rules"}
    content["site"] = site | {"floor": floor, "rack_rules": changes.get("rack_rules", site.get("rack_rules", {}))}
    return design.model_copy(update={"case": design.case.model_copy(update={"content": content})})


def test_feeds_take_racks_that_the_other_cannot_carry(tmp_path: Path) -> None:
    design = optimize.solve(inputs_from_text(CASE, tmp_path / "case.yaml"), alternatives_s=0)
    servers = design.stages[-1].servers
    assert Broken(design, tmp_path).without("feed", "A")["cut"] == 0
    short = Broken(with_site(design, rack_power_w=40_000), tmp_path).without("feed", "B")
    # a rack of five needs more than one feed gives, that of the last server does not
    assert short["cut"] == servers - 1
    assert "40,000 W that one feed gives" in short["words"]
    alone = Broken(with_site(design, rack_rules={"feeds": 1}), tmp_path)
    assert alone.without("feed", "A")["cut"] == servers
    assert alone.without("feed", "A")["racks"].keys() == {rack for rack in wiring_of(design).devices.rack if rack}
    with pytest.raises(InputError, match="no such feed"):
        alone.without("feed", "B")
    with pytest.raises(InputError, match="no floor"):
        Broken(shipped("two-tier-example"), tmp_path).without("feed", "A")


def test_servers_joined_to_each_other_lose_their_neighbours(tmp_path: Path) -> None:
    broken = Broken(shipped("torus-216-gpus"), tmp_path)
    lost = broken.without("server", "server-0001")
    assert (lost["cut"], lost["degraded"]) == (1, 6)
    assert broken.without("cable", "C00001")["degraded"] == 2
