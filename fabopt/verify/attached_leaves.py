"""Where ports of attachments are that are dealt over leaves: round by round, or stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fabopt.units import ceil_div


def dealt_round(ends: Sequence[int], place: int, leaves: int) -> tuple[int, ...]:
    """Ports of each attachment on the leaf at a place of the round; ``ends``: 0, and where the ports of each end."""
    return tuple(_hits(end, place, leaves) - _hits(start, place, leaves) for start, end in pairwise(ends))


def _hits(ports: int, place: int, leaves: int) -> int:
    """How many of the first ports fall on the leaf at a place."""
    return max(0, ceil_div(ports - place, leaves))


def dealt_as_it_grows(
    leaves: int, adds: Sequence[Sequence[int]], there: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], ...]:
    """Ports of each attachment on every leaf.

    ``adds``: of each attachment, the ports that a stage adds; ``there``: the leaves at each stage. Stage by stage, in
    the order of the attachments, every port goes to the leaf that is there with the fewest ports of all attachments,
    the first of such.
    """
    hosted = [[0] * len(adds) for _ in range(leaves)]
    for stage, hosts in enumerate(there):
        for index, own in enumerate(adds):
            _spread(hosted, hosts, index, own[stage] if stage < len(own) else 0)
    return tuple(map(tuple, hosted))


def _spread(hosted: list[list[int]], hosts: Sequence[int], index: int, ports: int) -> None:
    """Put ports of an attachment on some of the leaves, level by level."""
    level = min((sum(hosted[number]) for number in hosts), default=0)
    while ports > 0 and hosts:
        for number in [one for one in hosts if sum(hosted[one]) == level][:ports]:
            hosted[number][index] += 1
            ports -= 1
        level += 1
