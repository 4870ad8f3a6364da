"""Whether the packet memory of a switch holds the headroom of its lossless ports, by ASIC.

Spectrum: the bytes that sonic-net/sonic-swss e6b0c5b5 (2026-08), ``cfgmgr/buffer_pool_mellanox.lua``, takes from its
memory for each port. Tomahawk: headroom is shared by all ports, which then are not full at once; SONiC's device folders
share it up to four times over (sonic-net/sonic-buildimage, pull request 29565).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fabopt.parts.headroom import WIDE_LANES, Headroom, headroom, pipeline_bytes
from fabopt.schema.operate import BufferPool

MOST_TIMES_OVER = 4
_MIRROR_BYTES = 10_240
_MANAGEMENT_POOL_BYTES = 262_144
# Of a port with lossless priorities where their headroom is shared.
_PRIVATE_BYTES = 10_240
_KIB = 1024
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


class LosslessPorts(NamedTuple):
    """Equal ports: number, Gb/s, metres of cable, and signalling lanes of each."""

    ports: int
    gbps: float
    length_m: float
    lanes: int


class PoolVerdict(NamedTuple):
    """Bytes of a switch's pool; it is too small if ``spare``, of the tightest limit, is below 0.

    ``left``: of the pool, for data; ``demand``: the ``xoff`` of all ports; ``shared_headroom``: where it is shared.
    """

    left: int
    demand: int
    shared_headroom: int
    spare: int


def pool_verdict(
    asic: str, pool: BufferPool | None, groups: Sequence[LosslessPorts], priorities: int, mtu: int = 9216,
    times_over: int | None = None,
) -> PoolVerdict | None:  # fmt: skip
    """Weigh the lossless ports of a switch against its pool; None where the pool or an ASIC's headroom is not known.

    ``times_over``: factor by which headroom is oversubscribed; None: 1 for Spectrum, at most ``MOST_TIMES_OVER`` for
    others.
    """
    rooms = [headroom(asic, group.gbps, group.length_m, group.lanes, mtu) for group in groups]
    known = [room for room in rooms if room is not None]
    if pool is None or len(known) < len(rooms):
        return None
    demand = priorities * sum(group.ports * room.xoff for group, room in zip(groups, known, strict=True))
    pipeline = pipeline_bytes(asic)
    if pipeline is not None:
        return _of_spectrum(pool, pipeline, list(zip(groups, known, strict=True)), priorities, demand, times_over)
    if pool.shared_headroom is None:
        return None
    kept = priorities * sum(group.ports * room.size for group, room in zip(groups, known, strict=True))
    left = pool.size - kept
    most = (times_over or MOST_TIMES_OVER) * pool.shared_headroom
    return PoolVerdict(left, demand, pool.shared_headroom, min(left, most - demand))


def _of_spectrum(
    pool: BufferPool, pipeline: int, groups: Iterable[tuple[LosslessPorts, Headroom]], priorities: int, demand: int,
    times_over: int | None,
) -> PoolVerdict:  # fmt: skip
    kept, ports = _MANAGEMENT_POOL_BYTES, 0
    for group, room in groups:
        lossy = 2 * pipeline - _KIB if group.lanes >= WIDE_LANES else pipeline
        own = room.xon * priorities + _PRIVATE_BYTES if times_over else room.size * priorities
        kept += group.ports * (own + 2 * lossy + _MIRROR_BYTES)
        ports += group.ports
    shared = (demand - _PRIVATE_BYTES * ports) // times_over if times_over else 0
    left = pool.size - kept - shared
    return PoolVerdict(left, demand, shared, left)


def ports_text(groups: Iterable[LosslessPorts], priorities: int) -> str:
    """Ports in words: ``128 x 400G at 300 m on two priorities``."""
    shown = " and ".join(f"{group.ports:,} x {group.gbps:g}G at {group.length_m:g} m" for group in groups)
    return f"{shown} on {_NUMBERS[priorities]} {'priority' if priorities == 1 else 'priorities'}"


def shortfall_text(groups: Sequence[LosslessPorts], priorities: int, verdict: PoolVerdict) -> str:
    """A pool's lack in words: ``128 x 400G at 300 m on two priorities: 26.8 MB short``."""
    of_shared = verdict.spare < verdict.left
    limit = f" of {MOST_TIMES_OVER} times its shared headroom" if of_shared else ""
    return f"{ports_text(groups, priorities)}: {-verdict.spare / 1e6:.1f} MB short{limit}"
