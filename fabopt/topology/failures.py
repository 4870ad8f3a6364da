"""Bandwidth that a network has left when something fails at the worst place, worked out by its family."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from fabopt.parts.switches import TIER_ROLES
from fabopt.schema.design import Failure
from fabopt.schema.resilience import Failed, Surviving
from fabopt.units import MBPS_PER_GBPS, plain_fraction


class LostPlace(NamedTuple):
    """A rack by its id, and the servers in it."""

    rack: str
    servers: int


class Failures(Protocol):
    """Failures of one network, servers having a given number of GPUs."""

    def kinds(self) -> Sequence[Failed]:
        """Kinds of devices and links that can fail alone, where the bandwidth left is known: not on too large a
        graph.
        """

    def bandwidth_left(self, failed: Failed, count: int) -> Fraction:
        """Mb/s per GPU after ``count`` failures of a kind.

        Raises ``ValueError`` for a number of failures that is not supported.
        """

    def servers_cut_off(self, failed: Failed) -> int:
        """Servers that one failure cuts off from the largest part that stays joined."""

    def beside(self, failed: Failed) -> tuple[Fraction | None, Fraction | None]:
        """Mb/s per GPU after one failure where planes make up for each other; and of a plane, with a switch of another.

        None where they are no other than without.
        """
        return None, None

    def place(self, failed: Failed) -> LostPlace | None:
        """The rack whose loss is the worst; None for devices lost one by one."""
        return None


def failures_left(failures: Failures, asked: Sequence[tuple[Surviving, int]]) -> tuple[Failure, ...]:
    """The bandwidth left after one failure of each kind, and after the failures that the case asks about."""
    told: list[tuple[Failed, int]] = [(failed, 1) for failed in failures.kinds()]
    return tuple(_failure(failures, failed, count) for failed, count in dict.fromkeys([*told, *asked]))


def left_by_a_switch(failures: Failures) -> Fraction:
    """Mb/s per GPU without the worst single switch; raises ``ValueError`` where that is not known."""
    return min(failures.bandwidth_left(kind, 1) for kind in failures.kinds() if kind in TIER_ROLES)


def _failure(failures: Failures, failed: Failed, count: int) -> Failure:
    place = failures.place(failed)
    made_up, with_switch = failures.beside(failed) if count == 1 else (None, None)
    return Failure(
        failed=failed,
        count=count,
        gbps_per_gpu=plain_fraction(failures.bandwidth_left(failed, count) / MBPS_PER_GBPS),
        servers_cut_off=failures.servers_cut_off(failed) if count == 1 else None,
        made_up_gbps_per_gpu=None if made_up is None else plain_fraction(made_up / MBPS_PER_GBPS),
        with_switch_gbps_per_gpu=None if with_switch is None else plain_fraction(with_switch / MBPS_PER_GBPS),
        worst=None if place is None else place.rack,
        servers_lost=None if place is None else place.servers,
    )
