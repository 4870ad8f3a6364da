"""``fabopt.inspect.repairs``: no list of moves is shorter, as shown by trying all of them on small fabrics."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import pytest

from fabopt.inspect.planned import PlannedLink, PortName, Slot
from fabopt.inspect.repairs import Move, Pair, fewest_moves, renumbered
from tests.samples.as_built import pairs, repaired

MOST_MOVES = 5
MOST_CABLES = 4
A = [PortName("a", str(number)) for number in range(1, 4)]
B = [PortName("b", str(number)) for number in range(1, 4)]
FREE = PortName("c", "1")
PORTS = [*A, *B, FREE]
PLANNED = [(a, b) for a, b in zip(A, B, strict=True)]
Cables = tuple[Pair, ...]


def links(planned: Sequence[Pair]) -> list[PlannedLink]:
    return [PlannedLink(a, b, 400, f"C{number}", 0, "compute", "infiniband") for number, (a, b) in enumerate(planned)]


def alone(port: PortName) -> Slot:
    return (port,)


def moves_of(found: Sequence[Pair], planned: Sequence[Pair] = PLANNED) -> list[Move]:
    """The moves of what is not right."""
    wrong = [pair for pair in planned if pair not in found]
    return fewest_moves(links(wrong), [pair for pair in found if pair not in planned], alone, lambda x, y: 0)


def ordered(x: PortName, y: PortName) -> Pair:
    return (x, y) if x < y else (y, x)


def before(state: Cables) -> Iterator[Cables]:
    """States from which one move leads to this: an end was elsewhere, a planned cable was not there, another was."""
    for index, (x, y) in enumerate(state):
        rest = state[:index] + state[index + 1 :]
        for port in PORTS:
            for stays in {x, y} - {port}:
                yield tuple(sorted([*rest, ordered(stays, port)]))
        if (x, y) in PLANNED:
            yield rest
    if len(state) < MOST_CABLES:
        for x, y in combinations(PORTS, 2):
            yield tuple(sorted([*state, ordered(x, y)]))


def distances() -> dict[Cables, int]:
    """The fewest moves from each state to the plan, ports with several ends on the way allowed."""
    least: dict[Cables, int] = {tuple(sorted(PLANNED)): 0}
    open_ = deque(least)
    while open_:
        state = open_.popleft()
        if least[state] < MOST_MOVES:
            for other in before(state):
                if other not in least:
                    least[other] = least[state] + 1
                    open_.append(other)
    return least


def test_no_list_is_shorter() -> None:
    """All 232 ways in which cables can join seven ports, of which three pairs are planned."""
    states = [
        (state, least)
        for state, least in distances().items()
        if len({port for pair in state for port in pair}) == 2 * len(state)
    ]
    assert len(states) == 1 + 21 + 105 + 105
    for state, least in states:
        moves = moves_of(state)
        assert len(moves) == least, state
        assert repaired(state, moves) == pairs(PLANNED), state


def test_a_move_stays_where_it_can() -> None:
    """Of two ends that could move, the one that goes less far does: here both are on one device."""
    one, other = (PortName("leaf", "1"), PortName("server-1", "1")), (PortName("leaf", "2"), PortName("server-2", "1"))
    found = [(one[0], other[1]), (other[0], one[1])]
    moves = fewest_moves(links([one, other]), found, alone, lambda x, y: x.device != y.device)
    assert {(move.source.device, move.target.device) for move in moves} == {("leaf", "leaf")}


def test_chains_are_numbered() -> None:
    swapped = [(A[0], B[1]), (A[1], B[0])]
    moves = renumbered(
        [*moves_of(swapped), Move("lay", PortName("x", "1"), PortName("y", "1"), "", PortName("", ""), 0)]
    )
    assert [(move.move, move.chain) for move in moves] == [("move", 1), ("move", 1), ("lay", 2), ("lay", 3)]


# -- splitters ------------------------------------------------------------------------------------------------------

HEADS: list[Slot] = [tuple(PortName("leaf", f"{cage}/{lane}") for lane in (1, 2)) for cage in (1, 2)]
LEGS = [PortName(f"server-{number}", "1") for number in range(1, 5)]
SPLITTERS = ((0, 0, 1), (1, 2, 3))
Splitters = tuple[tuple[int, int, int], ...]


def slot_of(port: PortName) -> Slot:
    return next((head for head in HEADS if port in head), (port,))


def split(state: Splitters) -> list[Pair]:
    return [(HEADS[head][lane], LEGS[leg]) for head, *legs in state for lane, leg in enumerate(legs)]


def splitter_distances() -> dict[Splitters, int]:
    """The fewest moves from each state of two splitters to the plan: of a head as one, or of one of the other ends."""
    least: dict[Splitters, int] = dict.fromkeys(permutations(SPLITTERS), 0)
    open_ = deque(least)
    while open_:
        state = open_.popleft()
        for index, other in product(range(6), range(4)):
            if index % 3 or other < len(HEADS):
                first, second = (list(splitter) for splitter in state)
                (first, second)[index // 3][index % 3] = other
                changed = (first[0], first[1], first[2]), (second[0], second[1], second[2])
                if changed not in least:
                    least[changed] = least[state] + 1
                    open_.append(changed)
    return least


def test_no_list_is_shorter_with_splitters() -> None:
    """Two splitters with two far ends each, in every way in which all their ends are plugged in."""
    planned = [
        PlannedLink(*pair, 200, f"C{index // 2}", 0, "compute", "infiniband")
        for index, pair in enumerate(split(SPLITTERS))
    ]
    states = [(order, legs) for order in permutations(range(2)) for legs in permutations(range(4))]
    least = splitter_distances()
    for heads, legs in states:
        state = ((heads[0], *legs[:2]), (heads[1], *legs[2:]))
        moves = fewest_moves(planned, split(state), slot_of, lambda x, y: 0)
        assert len(moves) == least[state], state
        assert {move.move for move in moves} <= {"move"}


def test_a_head_moves_as_one() -> None:
    planned = [
        PlannedLink(*pair, 200, f"C{index // 2}", 0, "compute", "infiniband")
        for index, pair in enumerate(split(SPLITTERS))
    ]
    moves = fewest_moves(planned, split(((1, 0, 1), (0, 2, 3))), slot_of, lambda x, y: 0)
    assert sorted((move.source, move.target) for move in moves) == [
        (HEADS[0][0], HEADS[1][0]),
        (HEADS[1][0], HEADS[0][0]),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_as_many_moves_as_wrong_cables_and_those_too_many(seed: int) -> None:
    """What no list can be shorter than: a move for each planned cable that is not there, and for each one too many."""
    draw = random.Random(seed)
    near, far = [PortName("a", str(n)) for n in range(60)], [PortName("b", str(n)) for n in range(60)]
    planned = list(zip(near[:50], far[:50], strict=True))
    draw.shuffle(far)
    found = list(zip(near, far, strict=True))[: draw.randrange(30, 60)]
    moves = moves_of(found, planned)
    wrong = [pair for pair in planned if pair not in found]
    assert repaired(found, moves) == pairs(planned)
    assert sum(move.move != "remove" for move in moves) == len(wrong)
