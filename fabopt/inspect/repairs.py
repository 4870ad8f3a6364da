"""The fewest moves that put cables right.

A move takes one end of one cable to another port, lays a missing cable, or removes a surplus one. A found cable becomes
one planned cable or is removed; every other planned cable is laid. So a list of moves is a matching of found with
planned cables, whose cost for each pair is its number of differing ends. Only pairs that share an end are matched:
otherwise removing the one and laying the other needs as few moves. The cheapest matching of most pairs is an
assignment, solved exactly; docs/as-built.md proves that fewer moves are not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from fabopt.inspect.planned import NO_PORT, PlannedLink, PortName, Slot
from fabopt.network.components import components
from fabopt.units import grouped

Word = Literal["move", "lay", "remove"]
Pair = tuple[PortName, PortName]


class Move(NamedTuple):
    """A move: ``move`` takes the end at ``source`` to ``target``; ``lay`` joins the two; ``remove`` frees both.

    cable     label of the resulting planned cable; empty for a removed or unlabelled one
    stays     the final port of the cable's other end; ``NO_PORT`` except for a ``move``
    chain     moves with one number share ports, so that they are made together; 0 before they are in order
    """

    move: Word
    source: PortName
    target: PortName
    cable: str
    stays: PortName
    chain: int


@dataclass(frozen=True)
class _Cable:
    """A cable as ends in slots: ``pairs`` of ports that it joins, in order of the lanes of its first slot.

    ``head``: the slot that several links share while their other ends are apart; None for a straight cable.
    """

    label: str
    pairs: tuple[Pair, ...]
    slots: tuple[Slot, ...]
    head: Slot | None

    def legs(self) -> dict[int, PortName]:
        """The far ends of a splitter by their lanes in its head."""
        assert self.head is not None
        ports = {port: lane for lane, port in enumerate(self.head)}
        return {
            ports[near]: far
            for pair in self.pairs
            for near, far in (pair, pair[::-1])
            if near in ports and far not in ports
        }


def fewest_moves(
    planned: Sequence[PlannedLink],
    joined: Sequence[Pair],
    slot: Callable[[PortName], Slot],
    steps: Callable[[PortName, PortName], int],
) -> list[Move]:
    """The fewest moves from found pairs to planned links, then the fewest steps between places.

    ``slot``: the ports that share a connector with a port; ``steps``: distance of two ports. Links are those of all
    wrong cables.
    """
    wanted, there = _planned_cables(planned, slot), _found_cables(joined, slot)
    candidates = _candidates(wanted, there, steps)
    became = _matched(len(there), len(wanted), candidates)
    moves: list[Move] = []
    for index, cable in enumerate(there):
        target = became.get(index)
        moves += [Move("remove", *cable.pairs[0], "", NO_PORT, 0)] if target is None else _change(cable, wanted[target])
    became_wanted = set(became.values())
    for index, cable in enumerate(wanted):
        moves += [] if index in became_wanted else [Move("lay", *cable.pairs[0], cable.label, NO_PORT, 0)]
    return moves


# -- cables ---------------------------------------------------------------------------------------------------------


def _planned_cables(links: Sequence[PlannedLink], slot: Callable[[PortName], Slot]) -> list[_Cable]:
    cables = grouped((link.cable or link, link) for link in links)
    return [
        _cable(members[0].cable, [_sorted(link.a, link.b) for link in members], slot) for members in cables.values()
    ]


def _found_cables(pairs: Sequence[Pair], slot: Callable[[PortName], Slot]) -> list[_Cable]:
    """Found links as cables: links of one connector are one cable, whose kind is the plan's."""
    grouped: dict[object, list[Pair]] = {}
    for pair in pairs:
        several = [own for own in map(slot, pair) if len(own) > 1]
        key: object = several[0] if len(several) == 1 else tuple(sorted(several)) if several else pair
        grouped.setdefault(key, []).append(pair)
    return [_cable("", members, slot) for members in grouped.values()]


def _cable(label: str, pairs: Sequence[Pair], slot: Callable[[PortName], Slot]) -> _Cable:
    ordered = tuple(sorted(pairs))
    slots = tuple(dict.fromkeys(slot(port) for pair in ordered for port in pair))
    several = [own for own in slots if len(own) > 1]
    return _Cable(label, ordered, slots, several[0] if len(several) == 1 else None)


# -- matching -------------------------------------------------------------------------------------------------------


class _Candidate(NamedTuple):
    """A found cable and a planned one that it may become, with the moves and the steps between their ports."""

    there: int
    wanted: int
    moves: int
    steps: int


def _candidates(
    wanted: Sequence[_Cable], there: Sequence[_Cable], steps: Callable[[PortName, PortName], int]
) -> list[_Candidate]:
    holders = grouped((own, index) for index, cable in enumerate(wanted) for own in cable.slots)
    candidates = []
    for index, cable in enumerate(there):
        sharing = sorted({number for own in cable.slots for number in holders.get(own, ())})
        for number in sharing:
            if (cable.head is None) == (wanted[number].head is None):
                moves = _change(cable, wanted[number])
                walk = sum(steps(move.source, move.target) for move in moves if move.move == "move")
                candidates.append(_Candidate(index, number, len(moves), walk))
    return candidates


def _matched(there: int, wanted: int, candidates: Sequence[_Candidate]) -> dict[int, int]:
    """The planned cable of each found one: the most pairs, then the fewest moves, then the fewest steps.

    An exact assignment. Each cable may also be left unmatched, by dummy nodes that pair at no cost. One move outweighs
    any sum of steps, and one unmatched cable any sum of moves.
    """
    if not candidates:
        return {}
    from ortools.graph.python import linear_sum_assignment  # only faults need it

    move = 1 + sum(max(candidate.steps for candidate in group) for group in _by_found(candidates))
    most = 1 + move * (1 + sum(max(candidate.moves for candidate in group) for group in _by_found(candidates)))
    near, far, cost = [], [], []
    for candidate in candidates:
        near += [candidate.there, there + candidate.wanted]
        far += [candidate.wanted, wanted + candidate.there]
        cost += [candidate.moves * move + candidate.steps, 0]
    near += [*range(there), *range(there, there + wanted)]
    far += [*range(wanted, wanted + there), *range(wanted)]
    cost += [most] * (there + wanted)
    assignment = linear_sum_assignment.SimpleLinearSumAssignment()
    assignment.add_arcs_with_cost(np.array(near), np.array(far), np.array(cost))
    status = assignment.solve()
    if status != assignment.OPTIMAL:
        raise RuntimeError(f"the assignment has no optimum: {status}")
    mates = [assignment.right_mate(index) for index in range(there)]
    return {index: mate for index, mate in enumerate(mates) if mate < wanted}


def _by_found(candidates: Sequence[_Candidate]) -> Iterable[list[_Candidate]]:
    """Candidates of each found cable."""
    groups = grouped((candidate.there, candidate) for candidate in candidates)
    return groups.values()


# -- moves ----------------------------------------------------------------------------------------------------------


def _change(cable: _Cable, wanted: _Cable) -> list[Move]:
    """The moves that turn a found cable into the planned one; both are straight, or both have a head."""
    if cable.head is None or wanted.head is None:
        return _straightened(cable, wanted)
    moves = []
    if cable.head != wanted.head:
        stays = next(iter(wanted.legs().values()))
        moves.append(Move("move", cable.head[0], wanted.head[0], wanted.label, stays, 0))
    legs, planned = cable.legs(), wanted.legs()
    for lane, leg in sorted(planned.items()):
        head = wanted.head[lane]
        if lane not in legs:
            moves.append(Move("lay", head, leg, wanted.label, NO_PORT, 0))
        elif legs[lane] != leg:
            moves.append(Move("move", legs[lane], leg, wanted.label, head, 0))
    moves += [Move("remove", cable.head[lane], legs[lane], "", NO_PORT, 0) for lane in legs if lane not in planned]
    return moves


def _straightened(cable: _Cable, wanted: _Cable) -> list[Move]:
    loose = [own for own in cable.slots if own not in wanted.slots]
    open_ = [own for own in wanted.slots if own not in cable.slots]
    stays = next((own[0] for own in wanted.slots if own in cable.slots), NO_PORT)
    if loose or open_:
        return [Move("move", own[0], to[0], wanted.label, stays, 0) for own, to in zip(loose, open_, strict=False)]
    dark = [pair for pair in wanted.pairs if pair not in cable.pairs]
    return [Move("lay", *pair, wanted.label, NO_PORT, 0) for pair in dark[:1]]


def renumbered(moves: Iterable[Move]) -> list[Move]:
    """Number the chains of moves that share a port, from 1, in their order."""
    listed = list(moves)
    ends = ((port, index) for index, move in enumerate(listed) for port in (move.source, move.target))
    first: dict[PortName, int] = {}
    root = components(range(len(listed)), ((first.setdefault(port, index), index) for port, index in ends))
    chains: dict[int, int] = {}
    return [move._replace(chain=chains.setdefault(root[index], len(chains) + 1)) for index, move in enumerate(listed)]


def _sorted(x: PortName, y: PortName) -> Pair:
    return (x, y) if x <= y else (y, x)
