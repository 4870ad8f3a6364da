"""A run of a measuring program, as its log or its JSON has it: who took part, what it printed, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A row that a program printed. ``test``: as ``AcceptanceTest.name``; ``value`` in ``unit``; ``size`` in bytes.

    ``servers``: that took part, None where the file does not say; ``wrong``: elements that were wrong;
    ``iterations``: None where they are not said. ``size`` and ``value`` are None of what is said of a run as a whole.
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


@dataclass(frozen=True)
class MeasuredRun:
    """A run. ``hosts``: of each rank, empty where the file does not say; ``programs``: that ran each on its own.

    ``ended``: whether its closing lines are there; ``failures``: line numbers and lines that say that it failed;
    ``warnings``: the same of NCCL's warnings; ``out_of_bounds``: wrong elements that its last lines count;
    ``validated``: whether it looked at the data.
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
        """What a verdict on all of it is about."""
        return Measurement(self.file, line or self.line, self.test, None, None, "", self.servers, self.out_of_bounds)


def servers_of(hosts: Sequence[str]) -> int | None:
    """How many servers ranks are on; None where that is not known."""
    return len(set(hosts)) or None
