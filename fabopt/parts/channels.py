"""Optical channels: what glass, mated plugs and splices lose between two modules, and what their standard allows.

Every plug counts, the two at the modules too, which IEEE 802.3 leaves out of its budgets (TP2 to TP3): with plugs of
low loss that is safe by 0.7 dB, and it is what a tester reads. Where a loss is not known, the rest alone is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from fabopt.parts.latency import Delays
from fabopt.schema.catalog import Fibre, Panel, Transceiver, Trunk
from fabopt.schema.facts import Grade, Optics, PairLoss

# Attenuation to plan with, in dB a kilometre, where a catalog says none: indoor single-mode (TIA-568 as quoted for
# 400G-DR8), and multimode.
SINGLE_MODE, SINGLE_MODE_DB_PER_KM, MULTIMODE_DB_PER_KM = "smf", 0.4, 3.0
M_PER_KM = 1000
# What is below this many decimals of a dB, or of a metre, is rounding.
DECIMALS = 6


class Plugs(NamedTuple):
    """Two mated plugs: connector, kind of fibre, and the worse grade of both (None: not known)."""

    connector: str
    fibre: str
    grade: Grade | None = None


class OpticalChannel(NamedTuple):
    """What light passes from module to module: metres by kind of fibre, mated plugs, splices, and boxes.

    ``inside_db``: what boxes lose whose connections are not among ``plugs``, in dB.
    """

    glass_m: tuple[tuple[str, float], ...]
    plugs: tuple[Plugs, ...]
    splices: int = 0
    inside_db: float = 0.0


class ChannelLoss(NamedTuple):
    """Loss of a channel in dB: the largest, the typical one (None: not known), and what is not known of either."""

    largest_db: float
    typical_db: float | None
    unknown: tuple[str, ...] = ()


def channel_of(fibre: Fibre, length_m: float) -> OpticalChannel:
    """The channel of a fibre that is plugged into modules at both ends."""
    return channel_through([(fibre, length_m)])


def channel_through(pieces: Sequence[tuple[Fibre | Trunk, float]], cassette: Panel | None = None) -> OpticalChannel:
    """The channel of fibres and legs of trunks with their lengths in metres, each of which meets the next in a panel.

    n pieces have n + 1 mated pairs: jumper, trunk and jumper four. Where two pieces meet, the worse grade counts.
    ``cassette``: what they meet in, if no feed-through adapter.
    """
    glass: dict[str, float] = {}
    for piece, length_m in pieces:
        glass[piece.fibre] = glass.get(piece.fibre, 0.0) + length_m
    first, last = pieces[0][0], pieces[-1][0]
    plugs = [Plugs(_plug_at(first, 0), first.fibre, first.grade)]
    for (near, _), (far, _) in pairwise(pieces):
        adapter = Plugs(_plug_at(near, 1), near.fibre, _worse(near.grade, far.grade))
        plugs += (adapter,) if cassette is None else plugs_of(cassette, near.fibre)
    plugs.append(Plugs(_plug_at(last, 1), last.fibre, last.grade))
    inside_db = sum(piece.loss_db or 0.0 for piece, _ in pieces if isinstance(piece, Fibre))
    if cassette is not None:
        inside_db += (len(pieces) - 1) * (cassette.loss_db or 0.0)
    return OpticalChannel(tuple(glass.items()), tuple(plugs), inside_db=inside_db)


def plugs_of(cassette: Panel, fibre: str) -> tuple[Plugs, ...]:
    """Mated plugs in front of a cassette and behind it, whose grade is not known; none where its loss is said."""
    if cassette.back is None or cassette.loss_db is not None:
        return ()
    return tuple(Plugs(plug_of(one), fibre) for one in (cassette.connector, cassette.back.connector))


def _plug_at(piece: Fibre | Trunk, end: int) -> str:
    return plug_of(piece.connector if isinstance(piece, Trunk) else piece.both_ends[end].connector)


def _worse(grade: Grade | None, other: Grade | None) -> Grade | None:
    """Of one that is not known nothing is known of the pair."""
    return grade if grade == other else None if None in (grade, other) else "standard"


def plug_of(connector: str) -> str:
    """The kind of plug that a port's light passes: of ``2x MPO-12-APC`` that of each."""
    return connector.rpartition("x ")[2]


def db_per_km(optics: Optics, fibre: str) -> float:
    """Attenuation of a kind of fibre to plan with, in dB a kilometre."""
    usual = SINGLE_MODE_DB_PER_KM if fibre == SINGLE_MODE else MULTIMODE_DB_PER_KM
    return next((glass.db_per_km for glass in optics.glass if glass.fibre == fibre), usual)


def pair_loss(optics: Optics, plugs: Plugs) -> PairLoss | None:
    """The row of mated plugs with the largest loss of those that fit; None where none does."""
    fitting = (
        row
        for row in optics.pairs
        if row.connector == plugs.connector
        and row.fibre in (None, plugs.fibre)
        and (row.grade is None or plugs.grade in (None, row.grade))
    )
    return max(fitting, key=lambda row: row.largest_db, default=None)


def loss_of(optics: Optics, channel: OpticalChannel) -> ChannelLoss:
    """sum of metres x dB/km + mated plugs + splices + boxes, as far as these are known."""
    glass = sum(metres * db_per_km(optics, fibre) / M_PER_KM for fibre, metres in channel.glass_m)
    rows = [pair_loss(optics, plugs) for plugs in channel.plugs]
    splice = optics.splice.largest_db if optics.splice else 0.0
    fixed = glass + channel.splices * splice + channel.inside_db
    typical = [row.typical_db for row in rows if row is not None and row.typical_db is not None]
    unknown = [plugs.connector for plugs, row in zip(channel.plugs, rows, strict=True) if row is None]
    unknown += ["splices"] * bool(channel.splices and optics.splice is None)
    return ChannelLoss(
        round(fixed + sum(row.largest_db for row in rows if row is not None), DECIMALS),
        round(fixed + sum(typical), DECIMALS) if len(typical) == len(rows) and not unknown else None,
        tuple(dict.fromkeys(unknown)),
    )


def budget_db(optics: Optics, module: Transceiver, standard: str) -> float | None:
    """What a channel may lose by a module and its standard, in dB; None: not known.

    Its own figure, else that of the standard; where only its share for connections is known, that and the glass of the
    module's reach.
    """
    if module.loss_budget_db is not None:
        return module.loss_budget_db
    row = next((row for row in optics.budgets if row.standard == standard and row.fibre in (None, module.fibre)), None)
    if row is None or row.connections_db is None:
        return None if row is None else row.budget_db
    glass = module.reach_m * db_per_km(optics, module.fibre) / M_PER_KM
    return round(row.connections_db + glass, DECIMALS)


class ChannelLimits(NamedTuple):
    """What channels may lose, by which modules reach, and take. ``margin_db``: kept below every budget.

    ``optics``: None where rule ``optic-loss`` is off: then connections inside a fibre alone are counted. ``delays``:
    how long parts take; None where the case limits no times of paths.
    """

    optics: Optics | None
    margin_db: float = 0.0
    delays: Delays | None = None

    def budget_db(self, module: Transceiver, standard: str) -> float:
        """What a channel may lose, less the margin, in dB; infinite where it is not known."""
        allowed = budget_db(self.optics or Optics(), module, standard)
        return inf if allowed is None else allowed - (self.margin_db if self.optics else 0.0)

    def reach_m(self, fibre: Fibre, module: Transceiver, standard: str) -> float:
        """Longest run of a module over a fibre in metres, no more than its reach.

        known losses but for the glass + attenuation x length <= budget less the margin; below 0 where they alone are
        too much. The module's reach where the budget is not known. Rule ``channels_fit_budgets``.
        """
        allowed = self.budget_db(module, standard)
        if allowed == inf or (self.optics is None and fibre.loss_db is None):
            return module.reach_m
        optics = self.optics or Optics()
        left_db = allowed - loss_of(optics, channel_of(fibre, 0.0)).largest_db
        return min(module.reach_m, round(left_db / db_per_km(optics, fibre.fibre) * M_PER_KM, DECIMALS))
