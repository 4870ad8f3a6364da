"""A run of a measuring program from its log or JSON: its ranks, its rows, and its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A printed row. ``test``: as ``AcceptanceTest.name``; ``value`` in ``unit``; ``size`` in bytes.

    ``servers``: number of participating ones, None if not stated; ``wrong``: number of wrong elements; ``iterations``:
    None if not stated; ``misfit``: which of its figures contradict each other, empty where none do. ``size`` and
    ``value`` are None for a statement on a whole run.
    """

    file: str
    line: int
    test: str
    size: int | None
    value: float | None
    unit: str
    servers: int | None
    wrong: int = 0
    iterations: int | None = None
    misfit: str = ""


@dataclass(frozen=True)
class MeasuredRun:
    """A run. ``hosts``: by rank, empty if not stated; ``programs``: number of independent ones.

    ``ended``: whether its closing lines are present; ``failures``: line numbers and texts of failures; ``warnings``: of
    NCCL's warnings; ``out_of_bounds``: wrong elements counted by its last lines; ``validated``: whether it checked
    data.
    """

    file: str
    line: int
    test: str
    hosts: tuple[str, ...]
    rows: tuple[Measurement, ...]
    ended: bool
    failures: tuple[tuple[int, str], ...] = ()
    warnings: tuple[tuple[int, str], ...] = ()
    out_of_bounds: int = 0
    validated: bool = True
    programs: int = 1

    @property
    def servers(self) -> int | None:
        """Servers that took part; None where the file does not say."""
        return servers_of(self.hosts)

    @property
    def fewest_ranks(self) -> int | None:
        """Ranks on the server that has fewest; None where the file does not say."""
        return min(Counter(self.hosts).values(), default=None)

    @property
    def most_ranks(self) -> int | None:
        """Ranks on the server that has most; None where the file does not say."""
        return max(Counter(self.hosts).values(), default=None)

    def as_a_whole(self, line: int | None = None) -> Measurement:
        """A measurement that stands for the whole run."""
        return Measurement(self.file, line or self.line, self.test, None, None, "", self.servers, self.out_of_bounds)


def servers_of(hosts: Sequence[str]) -> int | None:
    """Number of distinct hosts of ranks; None if unknown."""
    return len(set(hosts)) or None
