"""Both sides of each open question solved: what differs in money, power, ports and risk, and what would tip it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from fabopt.inspect.decisions.questions import OpenQuestion, QuestionSide, questions_of
from fabopt.inspect.decisions.rent import RentComparison, compared_rent, rents_of
from fabopt.io.case import Inputs
from fabopt.parts.price_basis import GUESSED, price_source
from fabopt.problem.demand import stages_of
from fabopt.schema.case import Case
from fabopt.schema.design import Design

# Prices that have to move further than this tip nothing in practice.
MOST_OF_A_PRICE = 0.9
MOST_TIPS = 4
Solve = Callable[[Inputs], Design]


@dataclass(frozen=True)
class SolvedSide:
    """A side with its best design; ``why_not``: why there is none."""

    name: str
    design: Design | None
    why_not: str = ""

    @property
    def capex_usd(self) -> float | None:
        """What the best design of the side costs."""
        return None if self.design is None or self.design.totals is None else float(self.design.totals.capex_usd)


@dataclass(frozen=True)
class SideAtSize:
    """Which side is cheaper with other numbers of servers, and by how many dollars; empty where neither is."""

    servers: int
    better: str
    usd: float


@dataclass(frozen=True)
class Decision:
    """A question with both sides solved. ``better``: the cheaper side's name; empty where neither has a design.

    ``differences``: (what, first side, second side); ``tips``: sentences on what would turn it; ``sizes``: as asked.
    """

    question: str
    sides: tuple[SolvedSide, SolvedSide]
    better: str
    by_usd: float | None
    differences: Sequence[tuple[str, str, str]]
    tips: Sequence[str]
    sizes: Sequence[SideAtSize] = ()


@dataclass(frozen=True)
class Decisions:
    """All decisions on a case, and renting beside building where a price is known."""

    best: Design
    decisions: Sequence[Decision]
    rent: RentComparison | None


@dataclass(frozen=True)
class Wanted:
    """What is asked beside the case: factors of its servers, dollars for a GPU and hour, dollars for a server."""

    sizes: Sequence[float] = ()
    rent_usd: float | None = None
    server_usd: float | None = None


def decided(inputs: Inputs, solve: Solve, wanted: Wanted) -> Decisions:
    """Solve both sides of all questions on a case; ``solve`` gives the best design of inputs."""
    best = solve(inputs)
    decisions = [_decision(inputs, question, solve, wanted.sizes) for question in questions_of(inputs)]
    rents = rents_of(best, inputs.catalog.facts.rents, wanted.rent_usd) if best.totals is not None else ()
    rent = compared_rent(best, inputs.case, rents, wanted.server_usd) if rents else None
    return Decisions(best, decisions, rent)


def _decision(inputs: Inputs, question: OpenQuestion, solve: Solve, sizes: Sequence[float]) -> Decision:
    first, second = (_solved(inputs, side, solve) for side in question.sides)
    costs = [(side.capex_usd, side) for side in (first, second) if side.capex_usd is not None]
    better = min(costs, key=lambda pair: pair[0] or 0)[1].name if costs else ""
    by_usd = None
    tips: list[str] = []
    if len(costs) == 2:
        cheap, dear = sorted((first, second), key=lambda side: side.capex_usd or 0)
        by_usd = round((dear.capex_usd or 0) - (cheap.capex_usd or 0), 2)
        tips = list(islice(_tips(cheap, dear, by_usd), MOST_TIPS))
    others = [_at_size(inputs, question, solve, factor) for factor in sizes] if costs else []
    return Decision(question.name, (first, second), better, by_usd, _differences(first, second), tips, others)


def _solved(inputs: Inputs, side: QuestionSide, solve: Solve) -> SolvedSide:
    if side.case is None:
        return SolvedSide(side.name, None, side.why_not or "the case cannot be put like this")
    design = solve(replace(inputs, case=side.case))
    if design.totals is None:
        limits = [conflict.limit for conflict in design.conflicts]
        why = next((limit for limit in limits if limit.startswith("limits.")), limits[0] if limits else design.status)
        return SolvedSide(side.name, None, f"no design ({design.status}: {why})")
    return SolvedSide(side.name, design)


def _at_size(inputs: Inputs, question: OpenQuestion, solve: Solve, factor: float) -> SideAtSize:
    """A question asked again with so many times the servers."""
    sides = [_solved(inputs, replace(side, case=_sized(inputs, side.case, factor)), solve) for side in question.sides]
    costs = [(side.capex_usd, side.name) for side in sides if side.capex_usd is not None]
    server = next(server for server in inputs.catalog.servers if server.id == inputs.case.server)
    servers = max(1, round((stages_of(inputs.case, server)[-1].servers or 0) * factor))
    if not costs:
        return SideAtSize(servers, "", 0)
    cost, name = min(costs)
    return SideAtSize(servers, name, round(max(costs)[0] - cost, 2) if len(costs) > 1 else 0)


def _sized(inputs: Inputs, case: Case | None, factor: float) -> Case | None:
    if case is None:
        return None
    server = next(server for server in inputs.catalog.servers if server.id == inputs.case.server)
    stages = tuple(
        stage.model_copy(update={"servers": max(1, round((stage.servers or 0) * factor))})
        for stage in stages_of(case, server)
    )
    return case.model_copy(update={"stages": stages, "servers": None, "gpus": None})


def _differences(first: SolvedSide, second: SolvedSide) -> list[tuple[str, str, str]]:
    """Money, power, ports and risk of both sides."""
    columns = [dict(_figures(side)) for side in (first, second)]
    names = dict.fromkeys([*columns[0], *columns[1]])
    return [(name, columns[0].get(name, "-"), columns[1].get(name, "-")) for name in names]


def _figures(side: SolvedSide) -> Iterator[tuple[str, str]]:
    design = side.design
    if design is None or design.totals is None:
        yield "design", side.why_not
        return
    totals = design.totals
    yield "design", "; ".join(_tiers(design))
    yield "capex", f"${totals.capex_usd:,.0f} ({'proven' if design.status == 'optimal' else 'best found'})"
    if len(design.stages) > 1:
        yield "spent, by stage", ", ".join(f"{stage.name} ${stage.capex_usd:,.0f}" for stage in design.stages)
        moved = sum(stage.moved_cables for stage in design.stages)
        yield "risk: cables moved later", f"{moved:,}"
    yield "power", f"{float(totals.power_w) / 1000:,.1f} kW"
    yield "switches, transceivers, cables", f"{totals.switches:,}, {totals.transceivers:,}, {totals.cables:,}"
    fabric = design.fabrics[0]
    yield "Gb/s a GPU, oversubscription", f"{fabric.metrics.injection_gbps_per_gpu:g}, {_ratios(design)}"
    yield "default rules left out", "; ".join(_left_out(design)) or "none"
    yield "risk: parts of low confidence", _low_confidence(design)
    yield "risk: worst single failure", _worst_failure(design)


def _tiers(design: Design) -> Iterator[str]:
    for fabric in design.fabrics:
        tiers = " + ".join(f"{row.count} x {row.id}" for tier in fabric.tiers for row in tier.types)
        yield f"{fabric.name}: {tiers or 'no switches'}, {fabric.nic.gbps:g}G {fabric.protocol}"


def _ratios(design: Design) -> str:
    ratios = design.fabrics[0].oversubscription
    return " and ".join(f"{float(ratio):g}:1" for ratio in ratios.values()) or "none"


def _left_out(design: Design) -> Iterator[str]:
    """Parts of default rules that no design of a side keeps, by the key that turns each off."""
    yield from (f"{row.part} of {row.fabric}" if row.fabric else row.part for row in design.rules_left_out)


def _low_confidence(design: Design) -> str:
    """The share of the price whose parts have prices that are estimates or of low confidence."""
    total = sum(float(row.total_usd) for row in design.bom) or 1
    low = 0.0
    for row in design.bom:
        body = design.parts.get(row.id, {})
        source = price_source(body, row.length_m)
        if source.get("kind") in GUESSED or source.get("confidence") == "low":
            low += float(row.total_usd)
    return f"{low / total:.0%} of the price is estimated"


def _worst_failure(design: Design) -> str:
    fabric = design.fabrics[0]
    failures = [one for one in fabric.failures if one.failed != "plane" or fabric.planes > 1]
    if not failures:
        return "not known"
    worst = min(failures, key=lambda one: one.gbps_per_gpu)
    return f"{worst.count} {worst.failed}: {worst.gbps_per_gpu:g} Gb/s a GPU are left"


def _tips(cheap: SolvedSide, dear: SolvedSide, by_usd: float) -> Iterator[str]:
    """How far prices of a kind of parts have to move for both sides to cost the same, their designs as they are."""
    if by_usd == 0:
        yield "both cost the same: any price tips it"
        return
    for side, word, sign in ((dear, "fall", 1), (cheap, "rise", -1)):
        for kind, usd in sorted(_by_kind(side).items(), key=lambda pair: -pair[1]):
            other = _by_kind(cheap if side is dear else dear).get(kind, 0.0)
            if usd > 0 and by_usd / usd <= (MOST_OF_A_PRICE if sign > 0 else 1):
                both = " (those of the other side stay)" if other else ""
                yield f"{kind} prices of {side.name} {word} by {by_usd / usd:.0%}{both}"


def _by_kind(side: SolvedSide) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for row in side.design.bom if side.design is not None else ():
        sums[row.kind] += float(row.total_usd)
    return sums
