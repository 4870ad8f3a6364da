"""Signalling lanes behind the cages of a switch."""

from __future__ import annotations

from itertools import islice

from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.product import Cage

# By form factor; eight where it is none of these.
SIGNAL_LANES = {"QSFP28": 4, "QSFP56": 4, "QSFP112": 4, "QSFP+": 4, "SFP28": 1, "SFP56": 1, "SFP+": 1, "RJ45": 1}
ALL_LANES = 8


def lanes_of(form_factor: str, ports: int = 1) -> int:
    """Lanes of a port where a cage is split into ``ports`` ports."""
    return max(1, SIGNAL_LANES.get(form_factor, ALL_LANES) // ports)


def signal_lanes(switch: Switch) -> dict[int, int]:
    """Lanes of every cage of a switch, by its number from 1."""
    lanes = [lanes_of(cage.form_factor) for cage in switch.cages for _ in range(cage.count)]
    return dict(enumerate(lanes, 1))


def lanes_of_slower(switch: Switch, cage: int, ports: int, mbps: int) -> int:
    """Lanes of a port, or of a slower one, of a cage (from 1) that is split into ``ports``; 0 for a whole cage at full
    speed.

    A port has as many of the lanes as its share of the speed takes, at the speed that lanes have when all are in use.
    """
    fastest = max(split.ports * split.port_mbps for split in map(parse_split, cage_of(switch, cage).splits))
    if ports == 1 and mbps >= fastest:
        return 0
    signals = signal_lanes(switch)[cage]
    return max(1, min(signals // ports, -(-signals * mbps // fastest)))


def lanes_in_use(switch: Switch, cage: int, ports: int, mbps: int) -> int:
    """Lanes of a port of a cage (from 1) that is split into ``ports``: all of a whole cage at full speed."""
    return lanes_of_slower(switch, cage, ports, mbps) or signal_lanes(switch)[cage]


def cage_of(switch: Switch, number: int) -> Cage:
    """The cage of a switch with a number, from 1."""
    return next(islice((cage for cage in switch.cages for _ in range(cage.count)), number - 1, None))
