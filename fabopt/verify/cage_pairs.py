"""Rules of neighbouring cages that share a limit of ports: on paper, and in the wiring."""

from __future__ import annotations

import numpy as np

from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import PortUse
from fabopt.units import MBPS_PER_GBPS, ceil_div, some
from fabopt.verify.proof import Proof, combined
from fabopt.wiring.model import Floats, Ints


def pairs_fit(
    proof: Proof, switch: Switch, where: str, below: tuple[PortUse, int], above: tuple[PortUse | None, int]
) -> None:
    """Pairs of neighbouring cages of a group are enough for the ports below and above; a pair may have one cage of each
    side.
    """
    sides = [(use, count) for use, count in (below, above) if use is not None]
    groups = [use.cage_group for use, _ in sides]
    if len(set(groups)) < len(groups):
        _pairs_suffice(proof, where, switch, sides)
    else:
        for side in sides:
            _pairs_suffice(proof, where, switch, [side])


def _pairs_suffice(proof: Proof, where: str, switch: Switch, sides: list[tuple[PortUse, int]]) -> None:
    """Pairs of one group are enough. ``sides``: the use of cages and their count, by side."""
    group = switch.cages[sides[0][0].cage_group]
    most = switch.ports_per_cage_pair
    if most is None and not group.every_second:
        return
    ports = [parse_split(use.split).ports for use, _ in sides]
    every_second = [use.split in group.every_second for use, _ in sides]
    alone = [1 if lonely or _exceeds(2 * own, most) else 2 for own, lonely in zip(ports, every_second, strict=True)]
    shares = len(sides) > 1 and not all(every_second) and not _exceeds(sum(ports), most)
    needed = min(
        both + sum(ceil_div(count - both, fill) for (_, count), fill in zip(sides, alone, strict=True))
        for both in range(min(count for _, count in sides) + 1 if shares else 1)
    )
    driven = "" if most is None else f", which drive {some(most, 'port')} each"
    proof.holds(needed <= group.count // 2, f"{where}: {needed} of {group.count // 2} pairs of cages{driven}")


def _exceeds(ports: int, most: int | None) -> bool:
    return most is not None and ports > most


def pairs_are_driven(proof: Proof, switch: Switch, device: Ints, cage: Ints, lanes: Ints, gbps: Floats) -> None:
    """Two neighbouring cages are split into no more ports than they drive together, and at most one has a split of
    every second cage. Ends of links at switches of one type, in columns of shape (ends,): device, cage from 1, ports
    of the cage, their speed.
    """
    most = switch.ports_per_cage_pair
    cages = enumerate((group for group in switch.cages for _ in range(group.count)), 1)
    every_second = {(number, parse_split(split)) for number, group in cages for split in group.every_second}
    if not len(device) or (most is None and not every_second):
        return
    first = np.unique(combined(device, cage), return_index=True)[1]
    pair = np.unique(combined(device[first], (cage[first] - 1) // 2), return_inverse=True)[1]
    if most is not None:
        busiest = int(np.bincount(pair, weights=lanes[first]).max())
        where = f"{switch.id}: two cages of {len(first)}"
        proof.holds(busiest <= most, f"{where} split into {busiest} ports, they drive {most}")
    mbps = np.rint(gbps[first] * MBPS_PER_GBPS).tolist()  # what is no number is no split's speed
    ends = zip(cage[first].tolist(), lanes[first].tolist(), mbps, strict=True)
    alone = np.array([(number, (ports, speed)) in every_second for number, ports, speed in ends])
    twice = int(np.bincount(pair[alone], minlength=1).max())
    proof.holds(twice <= 1, f"{switch.id}: two neighbouring cages are split as only one of them can be")
