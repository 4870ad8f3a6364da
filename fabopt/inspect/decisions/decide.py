"""Both sides of each open question solved, which is better by the case's objective, and what would tip it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from fabopt.errors import InputError
from fabopt.inspect.decisions.rent import RentComparison, compared_rent, rents_of
from fabopt.io.case import Inputs
from fabopt.io.keys import with_change
from fabopt.problem.demand import stages_of
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import problem_of
from fabopt.problem.separation import first_combination
from fabopt.schema.case import EFFECTIVE, Case
from fabopt.schema.design import Design, Number
from fabopt.schema.in_service import IN_SERVICE
from fabopt.schema.stages import Stage
from fabopt.solution.changed import Keys, dumped
from fabopt.solution.changes import all_at_once, nics_by_speed
from fabopt.units import gbps

# -- the questions that a case leaves open, as two sides each ---------------------------------------------------------


SPEEDS_MBPS = (400_000, 800_000)


@dataclass(frozen=True)
class QuestionSide:
    """One side of a question: what it is called, and the keys of the case that have other values.

    ``why_not``: why there is no such case, where that is known.
    """

    name: str
    change: Keys
    why_not: str = ""


@dataclass(frozen=True)
class OpenQuestion:
    """Two sides of which one is to be chosen."""

    name: str
    sides: tuple[QuestionSide, QuestionSide]


def questions_of(inputs: Inputs) -> Iterator[OpenQuestion]:
    """The questions on a case's compute fabric, and on its stages."""
    case = inputs.case
    problem = problem_of(first_combination(case, inputs.catalog), inputs.catalog)
    fabric = next((fabric for fabric in problem.fabrics if fabric.role == "compute"), problem.fabrics[0])
    open_questions: tuple[tuple[str, list[tuple[str, dict[str, object]]]], ...] = (
        ("protocol", [("InfiniBand", {"protocol": "infiniband"}), ("Ethernet", {"protocol": "ethernet"})]),
        ("tiers", [("two tiers", {"tiers": 2}), ("three tiers", {"tiers": 3})]),
        ("servers to leaves", [("rails", {"rails": "aligned", "group_by": "any"}),
                               ("top of rack", {"rails": "any", "group_by": "rack"})]),
    )  # fmt: skip
    for name, sides in open_questions:
        first, second = (
            QuestionSide(label, {f"fabrics.{fabric.name}.{key}": value for key, value in keys.items()})
            for label, keys in sides
        )
        yield OpenQuestion(name, (first, second))
    slow, fast = (_of_speed(inputs, fabric, mbps) for mbps in SPEEDS_MBPS)
    yield OpenQuestion("speed", (slow, fast))
    if len(case.own_stages) > 1:
        yield OpenQuestion(
            "buying", (QuestionSide("in stages", {}), QuestionSide("all now", all_at_once(case, problem)))
        )


def _of_speed(inputs: Inputs, fabric: FabricProblem, mbps: int) -> QuestionSide:
    """The NICs whose fastest port has a speed, of those that give what is asked for and keep the default rules."""
    speed = f"{gbps(mbps):g}"
    ids = nics_by_speed(fabric, inputs.catalog).get(mbps, [])
    if ids:
        return QuestionSide(f"{speed}G NICs", {f"fabrics.{fabric.name}.nics": ids})
    if any(option.item is None for options in fabric.nics.values() for option in options):
        what = f"the NICs built into {inputs.case.server_id} are not of {speed} Gb/s a port"
    else:
        what = f"no NIC of {speed} Gb/s a port gives what is asked for and keeps the default rules"
    return QuestionSide(f"{speed}G NICs", {}, what)


# -- both sides of each open question solved, which is better by the case's objective, and what would tip it ----------


# Prices that have to move further than this tip nothing in practice.
MOST_OF_A_PRICE = 0.9
MOST_TIPS = 4
Solve = Callable[[Inputs], Design]


@dataclass(frozen=True)
class SolvedSide:
    """A side: the keys in which its case differs, and its best design; ``why_not``: why there is none.

    ``status``: of its design file; infeasible where there is no such case.
    """

    name: str
    change: Keys
    design: Design | None
    why_not: str = ""
    status: str = "infeasible"

    @property
    def objective(self) -> Number | None:
        """The objective of the side's best design."""
        return None if self.design is None else self.design.objective.value

    @property
    def capex_usd(self) -> float | None:
        """The cost of the side's best design."""
        return None if self.design is None or self.design.totals is None else float(self.design.totals.capex_usd)


@dataclass(frozen=True)
class SideAtSize:
    """Which side is better with other numbers of servers, by how much of what is minimized; empty where neither is.

    ``changes``: the keys of both sides.
    """

    servers: int
    better: str
    by: Number
    changes: tuple[Keys, Keys]


@dataclass(frozen=True)
class Decision:
    """A question with both sides solved. ``better``: the side with less of the case's objective, which is ``metric``;
    empty where neither has a design, or one was not answered in time. ``by``: how much less; ``by_usd``: how much less
    it costs, negative if more.

    ``tips``: sentences on what would turn it; ``sizes``: as asked.
    """

    question: str
    sides: tuple[SolvedSide, SolvedSide]
    metric: str
    better: str
    by: Number | None
    by_usd: float | None
    tips: Sequence[str]
    sizes: Sequence[SideAtSize] = ()


@dataclass(frozen=True)
class Decisions:
    """All decisions on a case, and renting beside building where a price is known.

    ``complete``: every design is proven, and where there is none, that.
    """

    best: Design
    decisions: Sequence[Decision]
    rent: RentComparison | None
    complete: bool = True


@dataclass(frozen=True)
class Wanted:
    """Options beside the case: factors of its servers, dollars per GPU and hour, dollars per server."""

    sizes: Sequence[float] = ()
    rent_usd: float | None = None
    server_usd: float | None = None


def decided(inputs: Inputs, solve: Solve, wanted: Wanted) -> Decisions:
    """Solve both sides of all questions on a case; ``solve`` gives the best design of inputs."""
    statuses: set[str] = set()

    def noted(asked: Inputs) -> Design:
        design = solve(asked)
        statuses.add(design.status)
        return design

    best = noted(inputs)
    decisions = [_decision(inputs, question, noted, wanted.sizes) for question in questions_of(inputs)]
    adds = best.totals is not None and inputs.case.gpus_added(best.stages[-1].gpus) > 0
    rents = rents_of(best, inputs.catalog.facts.rents, wanted.rent_usd) if adds else ()
    rent = compared_rent(best, inputs.case, rents, wanted.server_usd) if rents else None
    return Decisions(best, decisions, rent, statuses <= {"optimal", "infeasible"})


def _decision(inputs: Inputs, question: OpenQuestion, solve: Solve, sizes: Sequence[float]) -> Decision:
    first, second = (_solved(inputs, side, solve) for side in question.sides)
    ranked = _ranked(first, second)
    by, by_usd, tips = None, None, list[str]()
    if len(ranked) > 1:
        better, worse = ranked
        by, by_usd = _by(better, worse), round((worse.capex_usd or 0) - (better.capex_usd or 0), 2)
        tips = list(islice(_tips(better, worse, by), MOST_TIPS))
    return Decision(
        question=question.name,
        sides=(first, second),
        metric=next((side.design.objective.metric for side in ranked if side.design is not None), ""),
        better=ranked[0].name if ranked else "",
        by=by,
        by_usd=by_usd,
        tips=tips,
        sizes=[_at_size(inputs, question, solve, factor) for factor in sizes] if ranked else [],
    )


def _ranked(first: SolvedSide, second: SolvedSide) -> list[SolvedSide]:
    """The sides that have a design, that with less of the objective first; none while one is not answered."""
    if "unknown" in (first.status, second.status):
        return []
    return sorted(
        (side for side in (first, second) if side.objective is not None), key=lambda side: side.objective or 0
    )


def _by(better: SolvedSide, worse: SolvedSide) -> Number:
    """The difference of the objective between the sides."""
    rest = round((worse.objective or 0) - (better.objective or 0), 3)
    return int(rest) if rest == int(rest) else rest


def _solved(inputs: Inputs, side: QuestionSide, solve: Solve) -> SolvedSide:
    if side.why_not:
        return SolvedSide(side.name, side.change, None, side.why_not)
    try:
        changed = with_change(inputs, side.change)
    except InputError as error:
        return SolvedSide(side.name, side.change, None, f"no such case: {error.faults[0].problem}")
    design = solve(changed)
    if design.totals is None:
        limits = [conflict.limit for conflict in design.conflicts]
        why = next((limit for limit in limits if limit.startswith("limits.")), limits[0] if limits else design.status)
        why = "not answered in time" if design.status == "unknown" else f"no design ({design.status}: {why})"
        return SolvedSide(side.name, side.change, None, why, design.status)
    return SolvedSide(side.name, side.change, design, status=design.status)


def _at_size(inputs: Inputs, question: OpenQuestion, solve: Solve, factor: float) -> SideAtSize:
    """A question solved again with ``factor`` times the servers."""
    first, second = (replace(side, change=_sized(inputs, side.change, factor)) for side in question.sides)
    ranked = _ranked(_solved(inputs, first, solve), _solved(inputs, second, solve))
    server = next(server for server in inputs.catalog.servers if server.id == inputs.case.server_id)
    servers = _times(inputs.case, stages_of(inputs.case, server)[-1], factor)
    by = _by(*ranked) if len(ranked) > 1 else 0
    return SideAtSize(servers, ranked[0].name if ranked else "", by, (first.change, second.change))


def _sized(inputs: Inputs, change: Keys, factor: float) -> Keys:
    """The keys of a side with ``factor`` times the servers at every stage."""
    try:
        case = with_change(inputs, change).case
    except InputError:
        return change
    server = next(server for server in inputs.catalog.servers if server.id == case.server_id)
    stages = [
        dumped(stage.model_copy(update={"servers": _times(case, stage, factor)})) for stage in stages_of(case, server)
    ]
    if case.stages is None:
        return {**change, "servers": stages[0]["servers"]}
    return {**change, "stages": stages}


def _times(case: Case, stage: Stage, factor: float) -> int:
    """Servers of a stage, ``factor`` times; what is in service stays, and is the least."""
    least = 1 if case.base is None else case.base.servers
    return least if stage.name == IN_SERVICE else max(least, round((stage.servers or 0) * factor))


def _tips(better: SolvedSide, worse: SolvedSide, by: Number) -> Iterator[str]:
    """How far prices of a kind of parts have to move for both sides to have the same of the objective, their designs
    as they are: of what is bought, or of what it costs for a working GPU. Of other objectives nothing is said.
    """
    if by == 0:
        yield "both have the same: any price tips it"
        return
    for side, other, word, most in ((worse, better, "fall", MOST_OF_A_PRICE), (better, worse, "rise", 1)):
        needed = by * _dollars_per_unit(side)
        for kind, usd in sorted(_by_kind(side).items(), key=lambda pair: -pair[1]):
            if usd > 0 and 0 < needed / usd <= most:
                both = " (those of the other side stay)" if _by_kind(other).get(kind) else ""
                yield f"{kind} prices of {side.name} {word} by {needed / usd:.0%}{both}"


def _dollars_per_unit(side: SolvedSide) -> float:
    """By how many dollars the parts of a design have to be cheaper for one less of its objective; 0 if not known."""
    design = side.design
    if design is None or design.objective.metric == "capex_usd":
        return 1
    use, decision = design.workload, design.objective.decision
    if design.objective.metric != EFFECTIVE or use is None or (decision is not None and decision.by == "regret"):
        return 0
    return use.gpus * float(use.gpu_utilization)


def _by_kind(side: SolvedSide) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for row in side.design.bom if side.design is not None else ():
        sums[row.kind] += float(row.total_usd)
    return sums
