"""Lists of hosts as schedulers write them: ``server-[0001-0032,0040]``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from fabopt.operate.model import NamedDevice

_NUMBERED = re.compile(r"(.*?)(\d{1,15})")


def compressed(names: Sequence[str]) -> str:
    """Names in the given order, runs of consecutive numbers as ranges."""
    return ",".join(_ranges(names))


def _ranges(names: Sequence[str]) -> Iterator[str]:
    split = [(match[1], match[2]) if (match := _NUMBERED.fullmatch(name)) else (name, "") for name in names]
    for (prefix, width), group in groupby(split, key=lambda part: (part[0], len(part[1]))):
        numbers = [int(digits) for _, digits in group if digits]
        if not width:
            yield prefix
            continue
        runs = list(_runs(numbers))
        shown = ",".join(f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in runs)
        yield f"{prefix}{shown}" if len(numbers) == 1 else f"{prefix}[{shown}]"


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of consecutive numbers."""
    start = 0
    for index in range(1, len(numbers) + 1):
        if index == len(numbers) or numbers[index] != numbers[index - 1] + 1:
            yield numbers[start], numbers[index - 1]
            start = index


def rank_order(servers: Sequence[NamedDevice]) -> list[NamedDevice]:
    """Servers by pod, then by group, then as they are."""
    return sorted(servers, key=lambda server: (server.pod, server.group))


def crossings(servers: Sequence[NamedDevice]) -> int:
    """Changes of group around a ring over servers in the given order."""
    following = [*servers[1:], *servers[:1]]
    return sum(a.group != b.group for a, b in zip(servers, following, strict=True))
