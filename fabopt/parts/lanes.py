"""Signalling lanes behind the cages of a switch."""

from __future__ import annotations

from fabopt.schema.catalog import Switch

# By form factor; eight where it is none of these.
SIGNAL_LANES = {"QSFP28": 4, "QSFP56": 4, "QSFP112": 4, "QSFP+": 4, "SFP28": 1, "SFP56": 1, "SFP+": 1, "RJ45": 1}
ALL_LANES = 8


def lanes_of(form_factor: str, ports: int = 1) -> int:
    """Lanes of a port where a cage is split into so many."""
    return max(1, SIGNAL_LANES.get(form_factor, ALL_LANES) // ports)


def signal_lanes(switch: Switch) -> dict[int, int]:
    """Lanes of every cage of a switch, by its number from 1."""
    lanes = [lanes_of(cage.form_factor) for cage in switch.cages for _ in range(cage.count)]
    return dict(enumerate(lanes, 1))
