"""Rules of growth that may end: what a design costs in each future, counted again from its bill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fabopt.schema.futures import Future, Futures, OneFuturePlan
from fabopt.units import cents, exact, plain_fraction, rounded, some, usd
from fabopt.verify.editions import since
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof
from fabopt.verify.terms_of_sale import energy_cents as energy_of_a_milliwatt
from fabopt.verify.totals import capex_cents, counted_milliwatts, totals_of


def names_futures(evidence: Evidence) -> bool:
    """Whether the case says that growth may end, or the file what it costs then."""
    totals = evidence.design.totals
    said = evidence.design.futures is not None or (totals is not None and totals.expected_tco_usd is not None)
    return said or evidence.case.is_uncertain


@since("0.2.0")
def futures_are_recounted(proof: Proof, evidence: Evidence) -> None:
    """What the design costs if growth ends with each stage, and what is expected, are what its bill comes to.

    probability of an end = product up to its stage - product up to the next one; tco = present value of the orders of
    all stages up to the end + the energy of each until the next one, of the last one to the end of the years; expected
    = sum of probability x tco. Regrets are differences to the best of each future, which no plan of the file undercuts.
    Source: case file, ``stages[].probability``; design file, ``futures``.
    """
    design = evidence.design
    proof.holds(design.futures is not None, "the file does not say what the design costs in each future")
    if design.futures is None:
        return
    likely = _ends(evidence)
    spent = [_tco_cents(evidence, number) for number, _ in likely]
    expected = sum((chance * tco for (_, chance), tco in zip(likely, spent, strict=True)), Fraction(0))
    proof.equal("expected_tco_usd", totals_of(evidence).expected_tco_usd, usd(rounded(expected)))
    proof.equal(
        "futures",
        [one.ends_after for one in design.futures.futures],
        [evidence.stage_names[number] for number, _ in likely],
    )
    for future, (number, chance), tco in zip(design.futures.futures, likely, spent, strict=True):
        for name, recounted in (
            ("probability", plain_fraction(chance)),
            ("servers", evidence.servers_by_stage[number]),
            ("capex_usd", usd(sum(capex_cents(evidence, stage) for stage in range(number + 1)))),
            ("tco_usd", usd(rounded(tco))),
        ):
            proof.equal(f"{name} if growth ends with {future.ends_after}", getattr(future, name), recounted)
    _regrets(proof, design.futures, likely)
    for plan in design.futures.plans:
        _plan(proof, evidence, design.futures.futures, plan)
    proof.note(f"{some(len(likely), 'future')}, {usd(rounded(expected))} USD expected")


def _ends(evidence: Evidence) -> list[tuple[int, Fraction]]:
    """The stages with which growth may end, and how likely."""
    chances, left = [exact(stage.probability) for stage in evidence.case.stages or ()], Fraction(1)
    likely = []
    for number in range(len(chances)):
        left *= chances[number]
        goes_on = chances[number + 1] if number + 1 < len(chances) else Fraction(0)
        if goes_on < 1:
            likely.append((number, left * (1 - goes_on)))
    return likely


def _tco_cents(evidence: Evidence, last: int) -> Fraction:
    """The total cost of ownership if growth ends with a stage."""
    worth = energy_of_a_milliwatt(evidence.case.finance, evidence.months)
    total = Fraction(0)
    for stage in range(last + 1):
        until = worth[stage + 1] if stage < last else Fraction(0)
        total += capex_cents(evidence, stage, present=True)
        total += counted_milliwatts(evidence, stage) * (worth[stage] - until)
    return total


def _regrets(proof: Proof, said: Futures, likely: Sequence[tuple[int, Fraction]]) -> None:
    regrets = list(_differences(said.futures, [one.tco_usd for one in said.futures]))
    given = [said.hedge_usd, said.regret_usd, *(one.regret_usd for one in said.futures)]
    names = [one.ends_after for one in said.futures]
    if not regrets:
        proof.holds(given == [None] * len(given) and not said.plans, "regrets without what would have been best")
        return
    proof.holds(
        None not in given and len(regrets) == len(names), "what would have been best is not said of all futures"
    )
    proof.equal("plans for one future", [plan.made_for for plan in said.plans], names)
    for future, regret in zip(said.futures, regrets, strict=True):
        proof.holds(regret >= 0, f"the best of {future.ends_after} is above the design")
        _close(proof, f"regret_usd of {future.ends_after}", future.regret_usd, Fraction(regret))
    hedge = sum((chance * regret for (_, chance), regret in zip(likely, regrets, strict=True)), Fraction(0))
    _close(proof, "hedge_usd", said.hedge_usd, hedge)
    _close(proof, "regret_usd", said.regret_usd, Fraction(max(regrets)))


def _close(proof: Proof, name: str, claimed: float | None, recounted: Fraction) -> None:
    """Whether a figure is as recounted from others, which are rounded to the cent."""
    told = f"{name} is {claimed}, recounted {usd(rounded(recounted))}"
    proof.holds(claimed is not None and abs(cents(claimed) - recounted) <= 1, told)


def _differences(futures: Sequence[Future], tco_usd: Sequence[float]) -> Iterator[int]:
    """Cents beyond the best of each future; nothing where that is not said."""
    for future, spent in zip(futures, tco_usd, strict=True):
        if future.best_tco_usd is not None:
            yield cents(spent) - cents(future.best_tco_usd)


def _plan(proof: Proof, evidence: Evidence, futures: Sequence[Future], plan: OneFuturePlan) -> None:
    """A plan for one future is no better than the best of any, and where the design is proven, not in all together."""
    where = f"the plan for {plan.made_for}"
    regrets = list(_differences(futures, plan.tco_usd))
    proof.holds(min(regrets, default=0) >= 0, f"{where} is better than the best of a future")
    _close(proof, f"regret_usd of {where}", plan.regret_usd, Fraction(max(regrets, default=0)))
    expected = sum(
        (exact(future.probability) * cents(spent) for future, spent in zip(futures, plan.tco_usd, strict=True)),
        Fraction(0),
    )
    _close(proof, f"expected_tco_usd of {where}", plan.expected_tco_usd, expected)
    if evidence.design.status == "optimal":
        least = totals_of(evidence).expected_tco_usd or 0
        proof.holds(plan.expected_tco_usd >= least, f"{where} is expected to cost less than the design")
