"""The number of servers that has a design, where the wanted number has none."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.levers import UNSETTLED, advice
from fabopt.explain.relaxation import closest
from fabopt.explain.runs import most_in_reach
from fabopt.explain.torus import servers_are_points
from fabopt.explain.what_if import Inquiry, share_of_limits, size_of, with_servers
from fabopt.problem.demand import stages_of
from fabopt.schema.design import Conflict
from fabopt.topology.families import most_servers
from fabopt.units import some


def size_advice(inquiry: Inquiry, share: float = 1.0) -> Iterator[Conflict]:
    """The conflict of size: a number of servers with a design where one more has none. ``share``: a first guess."""
    wanted = inquiry.problem.servers
    if any(map(servers_are_points, inquiry.problem.fabrics)):
        return  # fewer servers may be no torus, and more one
    wanted_size = size_of(inquiry, wanted)
    inquiry.tell(wanted_size.limit)
    most = min(wanted - 1, most_servers(inquiry.problem), most_in_reach(inquiry.problem))
    largest, is_largest = _largest(inquiry, most, int(most * share))
    if largest:
        rest = "with one more there is none" if is_largest else UNSETTLED
        detail = f"with {some(largest, 'server')} there is a design; {rest}"
        size = size_of(inquiry, largest)
        conflict = advice(size.limit, wanted_size.number, size.number, detail, is_largest)
        before = enumerate(stages_of(inquiry.case, inquiry.problem.server)[:-1])
        along = [size_of(inquiry, largest, place).needed for place, stage in before if (stage.servers or 0) > largest]
        yield conflict.model_copy(update={"together": (size.needed, *along) if along else ()})


def _largest(inquiry: Inquiry, most: int, first_guess: int) -> tuple[int, bool]:
    """A number of servers up to ``most`` with a design, and whether one more has none; 0 if none has."""
    # of the scarcest limit that each design uses; None: there was no design
    shares: list[float | None] = []

    def ask(servers: int) -> int | None:
        problem = inquiry.problem_of(with_servers(inquiry.case, servers))
        design = inquiry.design_of(problem, in_reach=True)
        shares.append(None if design is None else share_of_limits(problem, design))
        return None if design is None else servers

    def guess(works: int, fails: int) -> int:
        if not shares:
            return first_guess
        if shares[-1]:
            return int(works / shares[-1])
        # until there is a design, ever further down
        return (works + fails) // 2 if works else fails - max(1, fails // 16) * 2 ** len(shares)

    def between(works: int, fails: int) -> int | None:
        return min(max(guess(works, fails), works + 1), fails - 1) if fails - works > 1 else None

    return closest(0, most + 1, ask, between)
