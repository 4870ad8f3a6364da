"""NICs that their slots hold back are said to be, with the slot."""

from __future__ import annotations

import csv

import pytest
from rich.console import Console

from fabopt.io.case import inputs_from_objects
from fabopt.output.export.front import front_csv
from fabopt.output.html.front_page import front_table
from fabopt.output.slots import slots_at
from fabopt.output.terminal.answer import about_lines
from fabopt.output.terminal.front import front_summary
from fabopt.program.settings import Clock, Settings
from fabopt.solution import optimize
from fabopt.study.front.fronts import objectives_of, pareto_front
from tests.samples.small import case, inputs, solved

WORDS = "252 of the 400 Gb/s of each NIC pass gpu-4-gen-4's Gen4 x16 slots (at Gen4 x16)"


def test_the_slot_that_limits_is_named() -> None:
    """Four 400G NICs in Gen4 slots give four GPUs 252 Gb/s each."""
    fabric = {"nics": ["nic-400"], "nics_per_server": 4, "min_gbps_per_gpu": 250}
    design = solved(case(fabric, server="gpu-4-gen-4", servers=2))
    lines = list(about_lines(design, design.fabrics[0]))
    assert lines[0].endswith("252 Gb/s per GPU")
    assert lines[1] == WORDS


def test_fabrics_that_no_slot_limits_are_passed_over() -> None:
    content = case(
        {"nics": ["nic-400"], "nics_per_server": 2, "min_gbps_per_gpu": 100}, server="gpu-4-gen-4", servers=2
    )
    content["fabrics"].append({"name": "in-band", "role": "in-band", "nics": ["nic-200"], "min_gbps_per_server": 25})
    objectives = objectives_of(["capex_usd"], ["gbps_per_gpu"], None)
    front = pareto_front(inputs(content), objectives, None, Settings(), Clock(None), lambda met: None)
    assert len(front.points[0].fabrics) == 2 and slots_at(front, 1) == WORDS


def test_ports_that_limit_are_not_blamed_on_slots() -> None:
    design = solved(case({"nics": ["nic-400"], "nics_per_server": 2}, servers=2))
    assert not any("slots" in line for line in about_lines(design, design.fabrics[0]))


def test_servers_without_gpus_have_no_gpu_to_hold_back() -> None:
    """The shipped CPU server, in slots of its own: as many ports as a server has are what it is asked for."""
    content = {"name": "cpu", "server": "dell-poweredge-r660", "servers": 4, "fabrics": [{"name": "compute"}]}
    design = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    assert next(iter(about_lines(design, design.fabrics[0]))).endswith("400 Gb/s per GPU")


def test_the_slot_is_named_wherever_a_front_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """With the point's design on the page, in a column of the table, and once below the table of a terminal."""
    content = case({"nics": ["nic-400"], "min_gbps_per_gpu": 1}, server="gpu-4-gen-4", servers=2)
    objectives = objectives_of(["capex_usd"], ["gbps_per_gpu"], None)
    front = pareto_front(inputs(content), objectives, None, Settings(), Clock(None), lambda met: None)
    assert len(front.points) > 1
    assert all(WORDS in details for details in front_table(front).details)
    rows = csv.DictReader(front_csv(front).decode().splitlines())
    assert [row["limited_by"] for row in rows] == [WORDS] * len(front.points)
    Console(width=200).print(front_summary(front))
    told = capsys.readouterr().out
    figures = [f"{point.fabrics[0].metrics.injection_gbps_per_gpu:g}" for point in front.points]
    assert told.count(WORDS) == 1 and f"{figures[-2]} and {figures[-1]} Gb/s per GPU: {WORDS}" in told


def test_designs_that_differ_in_their_nics_are_not_as_above(capsys: pytest.CaptureFixture[str]) -> None:
    content = case({"nics_per_server": 2}, servers=2)
    objectives = objectives_of(["capex_usd"], ["gbps_per_gpu"], None)
    front = pareto_front(inputs(content), objectives, None, Settings(), Clock(None), lambda met: None)
    first = front.points[0]
    fabric = first.fabrics[0]
    other = fabric.model_copy(update={"nic": fabric.nic.model_copy(update={"id": "another-nic"})})
    twice = front.model_copy(update={"points": (first, first.model_copy(update={"fabrics": (other,)}), first)})
    Console(width=200).print(front_summary(twice))
    assert capsys.readouterr().out.count("as above, with another-nic") == 1
