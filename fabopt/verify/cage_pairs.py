"""Rules of neighbouring cages that drive only so many ports together: on paper, and in the wiring."""

from __future__ import annotations

import numpy as np

from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import PortUse
from fabopt.units import ceil_div, some
from fabopt.verify.codes import combined
from fabopt.verify.proof import Proof
from fabopt.wiring.model import Ints


def pairs_fit(
    proof: Proof, switch: Switch, where: str, below: tuple[PortUse, int], above: tuple[PortUse | None, int]
) -> None:
    """Neighbouring cages of a group, two and two, drive their ports: some number of pairs has one cage of each side."""
    most = switch.ports_per_cage_pair
    if most is None:
        return
    cages = [(parse_split(use.split).ports, count) for use, count in (below, above) if use is not None]
    groups = [use.cage_group for use, _ in (below, above) if use is not None]
    if len(set(groups)) < len(groups):
        _pairs_suffice(proof, where, switch, groups[0], cages)
    else:
        for group, side in zip(groups, cages, strict=True):
            _pairs_suffice(proof, where, switch, group, [side])


def _pairs_suffice(proof: Proof, where: str, switch: Switch, group: int, sides: list[tuple[int, int]]) -> None:
    """``sides``: ports of a cage and cages of each side that is in the group."""
    most, there = switch.ports_per_cage_pair or 0, switch.cages[group].count // 2
    alone = [2 if 2 * ports <= most else 1 for ports, _ in sides]
    shares = len(sides) > 1 and sum(ports for ports, _ in sides) <= most
    needed = min(
        both + sum(ceil_div(count - both, fill) for (_, count), fill in zip(sides, alone, strict=True))
        for both in range(min(count for _, count in sides) + 1 if shares else 1)
    )
    proof.holds(needed <= there, f"{where}: {needed} of {there} pairs of cages, which drive {some(most, 'port')} each")


def pairs_are_driven(proof: Proof, switch: Switch, device: Ints, cage: Ints, lanes: Ints) -> None:
    """Two neighbouring cages are split into no more ports than they drive together.

    Ends of links at switches of one type, in columns of shape (ends,): device, cage from 1, ports of the cage.
    """
    most = switch.ports_per_cage_pair
    if most is None or not len(device):
        return
    code, first = np.unique(combined(device, cage), return_index=True)
    pair = np.unique(combined(device[first], (cage[first] - 1) // 2), return_inverse=True)[1]
    busiest = int(np.bincount(pair, weights=lanes[first]).max())
    proof.holds(busiest <= most, f"{switch.id}: two cages of {len(code)} split into {busiest} ports, they drive {most}")
