"""Whether the figures of one row fit each other: what a program prints of one measurement in several columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from fabopt.inspect.acceptance.expected import Collective

# What programs take away before they print a column is far below, an edited figure far above.
_SLACK: Final = 0.02
# Of n ranks: bus bandwidth for each unit of algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md).
_BUS_FACTORS: Final[Mapping[Collective, Callable[[int], float]]] = {
    "all_reduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "all_gather": lambda ranks: (ranks - 1) / ranks,
    "reduce_scatter": lambda ranks: (ranks - 1) / ranks,
    "alltoall": lambda ranks: (ranks - 1) / ranks,
}
_BYTES_PER_GB: Final = 10**9
_US_PER_S: Final = 10**6
_BITS: Final = 8


def ranks_of_a_group(ranks: Iterable[tuple[int, str]]) -> int | None:
    """Ranks of a communicator, of numbers of ranks with their groups; None where some lack, or groups differ."""
    told = set(ranks)
    sizes = {*Counter(group for _, group in told).values()}
    is_whole = {number for number, _ in told} == set(range(len(told)))
    return sizes.pop() if is_whole and len(sizes) == 1 else None


def collective_misfit(test: str, size: int, ranks: int | None, time_us: str, algorithm: str, bus: str) -> str:
    """What does not fit in a row of nccl-tests, in words; empty where all fits, or is not known.

    ``time_us``, ``algorithm``, ``bus``: cells as printed, the bandwidths in GB/s; empty where there is no such column.
    """
    factor = next((factor for name, factor in _BUS_FACTORS.items() if name == test), None)
    if factor is None:
        return ""
    time, rate = _span(time_us), _span(algorithm)
    if time and rate and time[0] > 0:
        given = [size / limit * _US_PER_S / _BYTES_PER_GB for limit in time]
        if not _meet(given, rate):
            return f"{size} bytes in {time_us} us are {_middle(given):.4g} GB/s, and {algorithm} are printed"
    carried = _span(bus)
    if rate and carried and ranks is not None and ranks > 1:
        given = [limit * factor(ranks) for limit in rate]
        if not _meet(given, carried):
            told = f"{ranks} ranks of {test} give {_middle(given):.4g} GB/s of bus bandwidth"
            return f"{algorithm} GB/s over {told}, and {bus} are printed"
    return ""


def message_misfit(size: int, gbps: float, messages: str, directions: Sequence[int]) -> str:
    """What does not fit in a row of bandwidth of perftest; ``messages``: millions a second, of so many directions."""
    told = _span(messages)
    given = gbps * _BYTES_PER_GB / _BITS / size / _US_PER_S if size else 0
    # nothing was printed in the column, or the rate is told by other checks
    if not told or told[1] <= 0 or not float(messages) or not 0 < given < math.inf:
        return ""
    if any(_meet([given / ways], told) for ways in directions):
        return ""
    return f"{gbps:.4g} Gb/s are {given:.4g} million messages of {size} bytes a second, and {messages} are printed"


def latency_misfit(least: str, typical: str, most: str) -> str:
    """What does not fit in a row of latency of perftest: the typical one lies between the least and the most."""
    spans = [_span(cell) for cell in (least, typical, most)]
    low, middle, high = spans
    if not low or not middle or not high or (low[0] <= middle[1] and middle[0] <= high[1]):
        return ""
    return f"{typical} us are not between the least, {least}, and the most, {most}"


def _span(cell: str) -> tuple[float, float] | None:
    """From and to what a printed figure can stand for, rounded or cut; None where it is no finite number."""
    try:
        value = float(cell)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    unit = abs(value) * _SLACK if "e" in cell.lower() else 10.0 ** -len(cell.partition(".")[2])
    return value - unit, value + unit


def _middle(ends: Sequence[float]) -> float:
    return sum(ends) / len(ends)


def _meet(given: Sequence[float], told: tuple[float, float]) -> bool:
    """Whether two spans have a point in common, but for the slack."""
    return min(given) * (1 - _SLACK) <= told[1] and told[0] <= max(given) * (1 + _SLACK)
