"""Pools of addresses and numbers, assigned by index, so that later stages never move earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from fabopt.errors import Fault, fault
from fabopt.schema.operate import span
from fabopt.units import some

BITS = 32


def dotted(number: int) -> str:
    """An address as text."""
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@dataclass(frozen=True)
class Addresses:
    """A pool that is dealt out in subnets of ``prefix`` bits, the ``skipped`` first ones left out."""

    key: str
    pool: str
    prefix: int
    skipped: int = 0

    @property
    def _network(self) -> IPv4Network:
        return IPv4Network(self.pool)

    @property
    def size(self) -> int:
        """Count of subnets in the pool."""
        kept_last = 1 if self.prefix == BITS else 0
        return max(0, (1 << max(0, self.prefix - self._network.prefixlen)) * (self.prefix >= self._network.prefixlen)
                   - self.skipped - kept_last)  # fmt: skip

    def starts(self, number: int) -> list[int]:
        """The first address of each of the first ``number`` subnets, as integers."""
        first, width = int(self._network.network_address), 1 << (BITS - self.prefix)
        return [first + (self.skipped + index) * width for index in range(number)]

    def lack(self, case: str, needed: int, what: str) -> list[Fault]:
        """The fault where the pool has fewer than ``needed`` subnets: one, or none."""
        if needed <= self.size:
            return []
        allowed = f"a pool with {needed:,} of /{self.prefix}"
        problem = f"too small: it has {some(self.size, 'place')} for {some(needed, what)}"
        return [fault(case, f"operate.{self.key}", problem, self.pool, allowed=allowed)]


@dataclass(frozen=True)
class NumberRange:
    """A pool of numbers as ``FIRST-LAST``."""

    key: str
    pool: str

    @property
    def first(self) -> int:
        """The first number."""
        return span(self.pool)[0]

    @property
    def size(self) -> int:
        """Count of numbers in the pool."""
        first, last = span(self.pool)
        return last - first + 1

    def lack(self, case: str, needed: int, what: str) -> list[Fault]:
        """The fault where the pool has fewer than ``needed`` numbers: one, or none."""
        if needed <= self.size:
            return []
        problem = f"too small: it has {some(self.size, 'number')} for {some(needed, what)}"
        return [fault(case, f"operate.{self.key}", problem, self.pool, allowed=f"a range of {needed:,}")]
