"""NICs that their slots hold back are said to be, with the slot."""

from __future__ import annotations

from fabopt.output.terminal.answer import about_lines
from tests.samples.small import case, solved


def test_the_slot_that_limits_is_named() -> None:
    """Four 400G NICs in Gen4 slots give four GPUs 252 Gb/s each."""
    fabric = {"nics": ["nic-400"], "nics_per_server": 4, "min_gbps_per_gpu": 250}
    design = solved(case(fabric, server="gpu-4-gen-4", servers=2))
    lines = list(about_lines(design, design.fabrics[0]))
    assert lines[0].endswith("252 Gb/s per GPU")
    assert lines[1] == "252 of the 400 Gb/s of each NIC pass gpu-4-gen-4's Gen4 x16 slots (at Gen4 x16)"


def test_ports_that_limit_are_not_blamed_on_slots() -> None:
    design = solved(case({"nics": ["nic-400"], "nics_per_server": 2}, servers=2))
    assert not any("slots" in line for line in about_lines(design, design.fabrics[0]))
