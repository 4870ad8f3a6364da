"""The wiring of a stage: what the plan has then, no more, each link where it is plugged in."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import NOTHING, wiring_at
from tests.samples.designs_of_families import designed
from tests.samples.export_samples import text_table
from tests.samples.operate import grown, planned
from tests.samples.shipped import shipped

GROWING = {
    "two stages": grown, "moves": lambda: designed("growth"),
    "attachments": lambda: designed("growth with attachments"),
    "four stages": lambda: shipped("h100-growth-128"),
}  # fmt: skip
# Said here, since nothing is solved where tests are only looked for.
STAGES = {"two stages": 2, "moves": 2, "attachments": 2, "four stages": 4}


def test_all_stages_are_looked_at() -> None:
    assert {name: len(make().stages) for name, make in GROWING.items()} == STAGES


@pytest.mark.long(but=("attachments-1", "four stages-1", "moves-0", "two stages-0"))
@pytest.mark.parametrize(("name", "stage"), [(name, stage) for name, count in STAGES.items() for stage in range(count)])
def test_devices_links_and_cables_are_the_plans(name: str, stage: int) -> None:
    design: Design = GROWING[name]()
    plan = planned(design, stage)
    wiring = wiring_at(wiring_of(design), stage)
    names, links = wiring.devices.name, wiring.links
    assert list(names) == [device.device for device in plan.devices]
    cables = [*wiring.cables.name, ""]
    rows = zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, links.cable.tolist(), strict=True)
    at = plan.device_at
    assert [(names[a], near, names[b], far, cables[cable]) for a, near, b, far, cable in rows] == [
        (at[link.a.device].device, link.a.port, at[link.b.device].device, link.b.port, link.cable)
        for link in plan.links
    ]
    used = set(links.cable.tolist()) - {NOTHING}
    assert used == set(range(len(wiring.cables)))
    assert all(0 <= row < len(names) for row in wiring.modules.device.tolist())


@pytest.mark.parametrize("name", GROWING)
def test_the_last_stage_is_all_of_it(name: str) -> None:
    whole = wiring_of(GROWING[name]())
    last = wiring_at(whole, len(GROWING[name]().stages) - 1)
    for table in ("devices", "links", "cables", "modules"):
        for column in fields(getattr(whole, table)):
            one, other = (getattr(getattr(wiring, table), column.name) for wiring in (whole, last))
            assert np.array_equal(np.array(one), np.array(other)), (table, column.name)


def test_files_of_a_stage_are_of_what_is_there(tmp_path: Path) -> None:
    """Point to point: the links of the first stage; no port of a device that comes later."""
    design = shipped("h100-growth-128")
    paths = {
        path.name: path for path in export(design, wiring_of(design), ["cables", "ports"], tmp_path, Options(stage=0))
    }
    plan = planned(design, 0)
    assert len(text_table(paths["point-to-point.csv"])) == len(plan.links)
    ports = text_table(paths["ports.csv"])
    assert set(ports["device"]) == {device.device for device in plan.switches("compute")}
    ends = sum(
        device.row in (link.a.device, link.b.device) for device in plan.switches("compute") for link in plan.links
    )
    assert (ports["state"] == "used").sum() == ends
