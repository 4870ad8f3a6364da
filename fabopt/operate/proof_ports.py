"""Whether names of ports lead back to their cages, by what each system is known to do.

How a platform numbers is not asked: names must fit some first port and some step that all ports of a switch share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product

# Cage from 1, lane from 0, lanes of the cage.
CageLane = tuple[int, int, int]
_CUMULUS = re.compile(r"swp(\d+)(?:s(\d+))?")
_SONIC = re.compile(r"Ethernet(\d+)")
_EOS = re.compile(r"Ethernet(\d+)(?:/(\d+))?")
_STEPS = (1, 2, 4, 8, 16)


def number_of_port(system: str | None, places: Mapping[str, CageLane]) -> str:
    """The first name that leads elsewhere than to its place; empty where all are right."""
    choices = _CHOICES.get(system or "", (_cumulus,))
    wrong = [next((name for name, place in places.items() if not right(name, place)), "") for right in choices]
    return "" if "" in wrong else wrong[0]


def _cumulus(name: str, place: CageLane) -> bool:
    """``swp1s0``, as the design calls ports too where nothing else is known."""
    cage, lane, lanes = place
    match = _CUMULUS.fullmatch(name)
    return match is not None and (int(match[1]), match[2]) == (cage, str(lane) if lanes > 1 else None)


def _infiniband(per_cage: int) -> Callable[[str, CageLane], bool]:
    def right(name: str, place: CageLane) -> bool:
        cage, lane, lanes = place
        return lanes <= per_cage and name.isdigit() and divmod(int(name) - 1, per_cage) == (cage - 1, lane)

    return right


def _sonic(first: int, step: int) -> Callable[[str, CageLane], bool]:
    def right(name: str, place: CageLane) -> bool:
        cage, lane, lanes = place
        match = _SONIC.fullmatch(name)
        if match is None or step % lanes:
            return False
        number, rest = divmod(int(match[1]) - first, step)
        return (number, rest) == (cage - 1, lane * step // lanes)

    return right


def _eos(signals: int) -> Callable[[str, CageLane], bool]:
    def right(name: str, place: CageLane) -> bool:
        cage, lane, lanes = place
        match = _EOS.fullmatch(name)
        if match is None or int(match[1]) != cage or signals % lanes:
            return False
        return match[2] is None if signals == 1 else match[2] == str(1 + lane * signals // lanes)

    return right


_CHOICES: Mapping[str, tuple[Callable[[str, CageLane], bool], ...]] = {
    "infiniband": tuple(map(_infiniband, range(1, 9))),
    "sonic": (*(_sonic(first, step) for first, step in product((0, 1), _STEPS)), _cumulus),
    "eos": tuple(map(_eos, (1, 4, 8))),
}
