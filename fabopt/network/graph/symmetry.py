"""Classes of switches and links of a graph under its symmetries.

Arrays that renumber switches (``moves``) hold the new number of each and have shape (switches,).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fabopt.network.graph.network import Ints, Network


class Kinds(NamedTuple):
    """A member of every class: ``switches`` with endpoints or without, and ``rows`` of links, each of shape
    (classes,).
    """

    switches: Ints
    rows: Ints


def lattice_moves(sides: Sequence[int], any_order: bool) -> list[Ints]:
    """Renumberings of a lattice of switches, first coordinate fastest, that may be symmetries of its network.

    A step along each dimension, and exchanges of dimensions of one length; ``any_order``: the first two places of
    a line too, so that all orders can be made.
    """
    number = np.arange(int(np.prod(sides))).reshape(tuple(sides)[::-1])
    axes = [len(sides) - 1 - at for at in range(len(sides))]
    moves = [np.roll(number, -1, axis).ravel() for axis in axes]
    for place, axis in enumerate(axes):
        if any_order:
            order = np.arange(sides[place])
            order[:2] = order[:2][::-1]
            moves.append(np.take(number, order, axis).ravel())
        moves += [
            np.swapaxes(number, axis, axes[other]).ravel() for other in range(place) if sides[other] == sides[place]
        ]
    return moves


def group_moves(groups: int, group: int) -> list[Ints]:
    """Two renumberings of groups of switches: every group by the next one, and all switches in reverse order."""
    number = np.arange(groups * group)
    return [np.roll(number, -group), number[::-1].copy()]


def place_moves(groups: int, group: int) -> list[Ints]:
    """Renumberings that exchange two places next to each other, in all groups at once.

    Together they make all orders of the places.
    """
    number, moves = np.arange(groups * group).reshape(groups, group), []
    for place in range(group - 1):
        order = np.arange(group)
        order[[place, place + 1]] = order[[place + 1, place]]
        moves.append(number[:, order].ravel())
    return moves


def kinds_of(network: Network, moves: Iterable[Ints]) -> Kinds:
    """Classes of switches and rows of links under those of ``moves`` that are symmetries of the graph."""
    code = network.a * network.switches + network.b
    order = np.argsort(code)
    symmetries = [(move, rows) for move in moves if (rows := _moved(network, move, code, order)) is not None]
    return Kinds(
        _first_of_each(network.switches, [move for move, _ in symmetries]),
        _first_of_each(len(network.a), [rows for _, rows in symmetries]),
    )


def _moved(network: Network, move: Ints, code: Ints, order: Ints) -> Ints | None:
    """The row that each becomes; None if the renumbering is no symmetry. ``order``: rows sorted by ``code``."""
    a, b = move[network.a], move[network.b]
    wanted = np.minimum(a, b) * network.switches + np.maximum(a, b)
    place = np.minimum(np.searchsorted(code[order], wanted), max(0, len(code) - 1))
    rows = np.asarray(order[place])
    alike = (code[rows] == wanted) & (network.mbps[rows] == network.mbps) & (network.length[rows] == network.length)
    return rows if alike.all() and (network.hosts[move] == network.hosts).all() else None


def _first_of_each(size: int, moves: Sequence[Ints]) -> Ints:
    label = np.arange(size)
    while True:
        before = label.copy()
        for move in moves:
            lowest = np.minimum(label, label[move])
            label = lowest.copy()
            np.minimum.at(label, move, lowest)
        if (label == before).all():
            return np.unique(label)
        label = label[label]
