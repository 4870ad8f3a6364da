"""Rules of growth that may end: costs of a design in each future, counted again from its bill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from fabopt.schema.futures import Future, Futures, OneFuturePlan
from fabopt.schema.scenarios import GrowthScenario
from fabopt.units import cents, exact, plain_fraction, rounded, some, usd
from fabopt.verify.charges import charge_rows, charges_cents
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.purchases import BilledOrder, breaks_in, cents_at
from fabopt.verify.terms_of_sale import energy_cents as energy_of_a_milliwatt, of_kind
from fabopt.verify.totals import counted_milliwatts, totals_of


def names_futures(evidence: Evidence) -> bool:
    """Whether growth may end in the case, or the file states costs of futures."""
    totals = evidence.design.totals
    said = evidence.design.futures is not None or (totals is not None and totals.expected_tco_usd is not None)
    return said or evidence.case.is_uncertain


class FutureWay(NamedTuple):
    """A way in which growth may come: its probability, and the month of each stage (None: never)."""

    name: str
    probability: Fraction
    months: list[int | None]
    scenario: GrowthScenario | None = None

    @property
    def last(self) -> int:
        """The number of its last stage."""
        return max(stage for stage, month in enumerate(self.months) if month is not None)


@since("0.2.0", "futures", "case.content.stages.probability", "case.content.scenarios")
@where(names_futures)
def futures_are_recounted(proof: Proof, evidence: Evidence) -> None:
    """The stated costs of the design in each future, and the expected cost, follow from its bill.

    Where stages have probabilities, growth ends with a stage as often as it comes to it and not to the next one;
    probabilities of scenarios are the case's. capex = orders of all stages that come, at the prices of their months and
    of the scenario; tco = their present value + the energy of each stage until the next one, of the last to the end of
    the years; expected = sum of probability x tco. Regrets are differences to the best of each future, which no plan of
    the file undercuts; where the worst one decides, no plan has less. Source: case file, ``stages[].probability``,
    ``scenarios``; design file, ``futures``.
    """
    design = evidence.design
    proof.holds(design.futures is not None, "the file does not say what the design costs in each future")
    if design.futures is None:
        return
    ways = _ways(evidence)
    proof.equal("probability of all futures", plain_fraction(sum((way.probability for way in ways), Fraction(0))), 1)
    spent = [_tco_cents(evidence, way) for way in ways]
    expected = sum((way.probability * tco for way, tco in zip(ways, spent, strict=True)), Fraction(0))
    proof.equal("expected_tco_usd", totals_of(evidence).expected_tco_usd, usd(rounded(expected)))
    proof.equal("number of futures", len(design.futures.futures), len(ways))
    for future, way, tco in zip(design.futures.futures, ways, spent, strict=False):
        for name, recounted in (
            ("ends_after", evidence.stage_names[way.last]),
            ("scenario", None if way.scenario is None else way.name),
            ("probability", plain_fraction(way.probability)),
            ("servers", evidence.servers_by_stage[way.last]),
            ("capex_usd", usd(_orders_cents(evidence, way, present=False))),
            ("tco_usd", usd(rounded(tco))),
        ):
            proof.equal(f"{name} of {way.name}", getattr(future, name), recounted)
    _regrets(proof, design.futures, ways, design.alternatives_complete)
    for plan in design.futures.plans:
        _plan(proof, evidence, design.futures.futures, plan)
    proof.note(f"{some(len(ways), 'future')}, {usd(rounded(expected))} USD expected")


def ways_to_grow(evidence: Evidence) -> list[list[int | None]]:
    """The month of each stage (None: never), in every future; the case's months where growth is certain."""
    return [way.months for way in _ways(evidence)]


def _ways(evidence: Evidence) -> list[FutureWay]:
    """All futures: the case's scenarios, or an end with each stage that may be the last."""
    stages, months = evidence.case.stages or (), evidence.months
    if evidence.case.scenarios:
        return [
            FutureWay(scenario.name, exact(scenario.probability), _months(evidence, scenario), scenario)
            for scenario in evidence.case.scenarios
        ]
    chances, left = [exact(stage.probability) for stage in stages], Fraction(1)
    ways = []
    for number, chance in enumerate(chances):
        left *= chance
        goes_on = chances[number + 1] if number + 1 < len(chances) else Fraction(0)
        if goes_on < 1:
            come = [month if at <= number else None for at, month in enumerate(months)]
            ways.append(FutureWay(stages[number].name, left * (1 - goes_on), come))
    return ways


def _months(evidence: Evidence, scenario: GrowthScenario) -> list[int | None]:
    """The month of each stage: its own, or that of the next larger stage that comes."""
    months: list[int | None] = [evidence.months[0]]
    for number in range(1, len(evidence.stage_names)):
        later = (scenario.months.get(name) for name in evidence.stage_names[number:])
        months.append(next((month for month in later if month is not None), None))
    return months


def _orders_cents(evidence: Evidence, way: FutureWay, present: bool) -> int:
    """Cents of the orders of the stages that come, or their present value; charges are on prices without changes."""
    changes = {} if way.scenario is None else way.scenario.price_change
    total = 0
    for (stage, item), units in BilledOrder(evidence).bought.items():
        month = way.months[stage]
        if month is not None and units:
            factor = 1 + exact(of_kind(changes, item.kind) or 0) if stage else Fraction(1)
            total += cents_at(evidence, item, units, breaks_in(evidence, item, month, present, factor))
    moved = _moved(evidence, way)
    if present:
        return total + sum(charges_cents(moved, stage) for stage in range(way.last + 1))
    come = evidence.stage_names[: way.last + 1]
    return total + sum(cents(row.total_usd) for row in charge_rows(moved) if row.stage in come)


def _moved(evidence: Evidence, way: FutureWay) -> Evidence:
    """The file as if its stages came in the months of a future."""
    record, last = evidence.design.case, way.months[way.last] or 0
    months = [last if month is None else month for month in way.months]
    stages = [
        {**stage, "month": month} for stage, month in zip(record.content.get("stages") or (), months, strict=True)
    ]
    growth = {key: value for key, value in record.content.get("growth", {}).items() if key != "decide_by"}
    content = {key: value for key, value in record.content.items() if key != "scenarios"}
    content |= {"stages": stages, "growth": growth}
    return Evidence(evidence.design.model_copy(update={"case": record.model_copy(update={"content": content})}))


def _tco_cents(evidence: Evidence, way: FutureWay) -> Fraction:
    """The total cost of ownership in a future."""
    months = [month for month in way.months if month is not None]
    worth = [*energy_of_a_milliwatt(evidence.case.finance, months), Fraction(0)]
    dearer = 1 if way.scenario is None else 1 + exact(way.scenario.energy_change)
    energy = sum(
        (counted_milliwatts(evidence, stage) * (worth[stage] - worth[stage + 1]) for stage in range(len(months))),
        Fraction(0),
    )
    return _orders_cents(evidence, way, present=True) + dearer * energy


def _regrets(proof: Proof, said: Futures, ways: Sequence[FutureWay], is_whole: bool) -> None:
    regrets = list(_differences(said.futures, [future.tco_usd for future in said.futures]))
    given = [said.hedge_usd, said.regret_usd, *(future.regret_usd for future in said.futures)]
    names = [way.name for way in ways]
    if not regrets:
        proof.holds(given == [None] * len(given) and not said.plans, "regrets without what would have been best")
        return
    proof.holds(
        None not in given and len(regrets) == len(names), "what would have been best is not said of all futures"
    )
    if said.plans or is_whole:  # a file that was cut off has none
        proof.equal("plans for one future", [plan.made_for for plan in said.plans], names)
    for future, regret in zip(said.futures, regrets, strict=True):
        proof.holds(regret >= 0, f"the best of {future.ends_after} is above the design")
        _agrees_to_cent(proof, f"regret_usd of {future.ends_after}", future.regret_usd, Fraction(regret))
    hedge = sum((way.probability * regret for way, regret in zip(ways, regrets, strict=True)), Fraction(0))
    _agrees_to_cent(proof, "hedge_usd", said.hedge_usd, hedge)
    _agrees_to_cent(proof, "regret_usd", said.regret_usd, Fraction(max(regrets)))


def _agrees_to_cent(proof: Proof, name: str, claimed: float | None, recounted: Fraction) -> None:
    """Whether a figure is as recounted, to the cent, from figures that are rounded to the cent."""
    told = f"{name} is {claimed}, recounted {usd(rounded(recounted))}"
    proof.holds(claimed is not None and abs(cents(claimed) - recounted) <= 1, told)


def _differences(futures: Sequence[Future], tco_usd: Sequence[float]) -> Iterator[int]:
    """Cents beyond the best of each future; none where that is not stated."""
    for future, spent in zip(futures, tco_usd, strict=True):
        if future.best_tco_usd is not None:
            yield cents(spent) - cents(future.best_tco_usd)


def _plan(proof: Proof, evidence: Evidence, futures: Sequence[Future], plan: OneFuturePlan) -> None:
    """A plan for one future is no better than the best in any future, nor, if the design is proven, in all together."""
    where = f"the plan for {plan.made_for}"
    regrets = list(_differences(futures, plan.tco_usd))
    proof.holds(min(regrets, default=0) >= 0, f"{where} is better than the best of a future")
    _agrees_to_cent(proof, f"regret_usd of {where}", plan.regret_usd, Fraction(max(regrets, default=0)))
    expected = sum(
        (exact(future.probability) * cents(spent) for future, spent in zip(futures, plan.tco_usd, strict=True)),
        Fraction(0),
    )
    _agrees_to_cent(proof, f"expected_tco_usd of {where}", plan.expected_tco_usd, expected)
    if evidence.case.growth.decide_by == "regret":
        if evidence.design.objective.decision is not None:
            worst = cents(evidence.design.objective.decision.regret_usd or 0)
            proof.holds(cents(plan.regret_usd) >= worst - 1, f"{where} has less regret than the design")
    elif evidence.design.status == "optimal":
        least = totals_of(evidence).expected_tco_usd or 0
        proof.holds(plan.expected_tco_usd >= least, f"{where} is expected to cost less than the design")
