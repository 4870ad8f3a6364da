"""A run of a measuring program from its log or JSON: its ranks, its rows, and its end.

Lines of a log without the prefixes of launchers and collectors, and lines of failures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


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


_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# What stands before a line, as Open MPI, Slurm, pdsh, clush, kubectl, containerd, docker compose, syslog
# and ts write it.
_TAGS: Final = re.compile(
    r"\s*(?:"
    r"(?:\[(?:[\w.@-]+@)?\d+,\d+\])?(?:\[[^\]]*\])?<std(?:out|err)>:"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:?(?=\s)"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?(?=\s)"
    r"|\[?[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \d{4}\]?(?=[\s\[<:])"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d [\w.-]+(?= )"
    r"|1[67]\d{8}\.\d+(?=\s)"
    r"|std(?:out|err) [FP](?=\s)"
    r"|\((?:\w+ )?pid=\d+[^)]*\)"
    r"|(?:DEBUG|INFO|WARNING)(?=\s)"
    r"|[\w.-]+ [\w./-]+\[\d+\]:(?=\s)"
    r"|\[[^\]\s]*\]:?"
    r"|[\w./-]+ *\|(?=\s)"
    r"|(?!srun:|slurmstepd:)[\w./-]+(?:\[\d+\])?:(?=\s|#)"
    r")"
)
# Words of nccl-tests, launchers and the kernel by which a run ends in a failure.
_FAILURES: Final = re.compile(
    r"Test (?:\w+ )?failure|# error:|exited on signal|exited with (?:non-zero|code [1-9])|mpirun (?:noticed|detected)"
    r"|prte(?:run)? (?:noticed|detected)|MPI_ABORT|srun: error|slurmstepd: error|CANCELLED|DUE TO TIME LIMIT|oom-kill"
    r"|Out Of Memory|Segmentation fault|Bus error|core dumped|terminate called|^\s*Killed\b|Aborted\b"
    r"|Couldn't|Failed status|Completion with error|Unable to (?:init|perform|open|find)|pp_\w+ failed|NVSHMEM ERROR"
    r"|BAD TERMINATION|ORTE (?:has lost|was unable)|PMIX ERROR|^\s*Terminated\b|Floating point exception|NODE_FAIL"
    r"|Illegal instruction|command terminated with (?:non-zero )?exit code [1-9]|unhandled (?:cuda|system) error"
    r"|non-zero exit (?:code|status)|[Jj]ob (?:step )?(?:has been )?aborted|(?:CUDA|NCCL) (?:error|failure)"
    r"|ncclUnhandledCudaError|nccl(?:Invalid(?:Usage|Argument)|(?:System|Internal|Remote)Error)"
    r"|fallen off the bus|NVRM: Xid(?!.*: (?:63|92|94),)|[Ww]atchdog caught|[Tt]imed out(?!.*retry)|^\s*Failed to "
    r"|^# (?:Bitwise mismatches|Avg bus bandwidth)\b.* FAILED",
)
_WARNING: Final = "NCCL WARN"
# What NCCL says of itself in the middle of another line, which goes on after it.
_SAID: Final = re.compile(
    r"(?:\[[\d: .,-]+\] ?)?[\w.-]+:\d+:\d+ (?:\[[\w-]+\] )?(?:\S+ )?(?:\S+:\d+ )?NCCL (?:WARN|INFO|TRACE|DEBUG)\b.*"
)


def untagged(line: str) -> str:
    """A line as the program printed it."""
    line = _COLOURS.sub("", line).rstrip()
    while match := _TAGS.match(line):
        line = line[match.end() :]
    return line.lstrip() if line.lstrip().startswith("#") else line


def without_messages(line: str) -> str:
    """A line up to NCCL's own message in it."""
    match = _SAID.search(line)
    return line[: match.start()] if match else line


def is_failure(line: str) -> bool:
    """Whether a line says that a run failed."""
    return _FAILURES.search(line) is not None


def is_warning(line: str) -> bool:
    """Whether a line is a warning of NCCL."""
    return _WARNING in line
