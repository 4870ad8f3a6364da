"""Notes on the kinds of prices in a bill, and whether guessed prices decide the choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from fabopt.parts.price_basis import GUESSED, PRICES, RESTS_ON, UNKNOWN, basis_of
from fabopt.rules.buying import PRICE_RULES
from fabopt.rules.defaults import NO_RULES
from fabopt.schema.design import Design
from fabopt.search.answer import Answer
from fabopt.solution.question import Answers, Question
from fabopt.units import cents, summed, whole_shares

# The switches of an answer that are asked about.
MOST_DERIVED = 3
DERIVED = "derived"
_WORDS = {"list": "list prices", "street": "street prices", "quote": "quotes", "paper": "prices of papers",
          "compatible": "compatible parts", "estimate": "estimates", "derived": "derived prices",
          UNKNOWN: "prices of unknown source"}  # fmt: skip


def price_notes(question: Question, answers: Answers, design: Design) -> Iterator[str]:
    """One note on a bill with several kinds of prices, or of a case that asks for some of them; of the rest a case
    without rules says nothing.
    """
    case, shares = question.inputs.case, shares_by_basis(design)
    asked = [f"`{rule.path}`" for rule in PRICE_RULES if getattr(case, rule.path) != rule.free]
    if shares and (asked or (len(shares) > 1 and case.rules != NO_RULES)):
        told = ", ".join(f"{share} {_WORDS[basis]}" for basis, share in zip(shares, _percents(shares), strict=True))
        told += f", all that {' and '.join(asked)} {'let' if len(asked) > 1 else 'lets'} it pay" if asked else ""
        guessed = any(basis in GUESSED for basis in shares)
        verdict = _verdict(question, answers.best) if guessed else ""
        yield f"{PRICES} the bill is {told}{verdict}{_of_server(question, design) if verdict else ''}"


def derived_notes(question: Question, answers: Answers, design: Design) -> Iterator[str]:
    """A note on each switch of the answer whose price is derived from those of like ones, with the price above which
    another design is the cheapest; none for a case without rules.
    """
    rows = {row.id: row.unit_price_usd for row in design.bom if row.kind == "switch" and row.quantity}
    derived = [id_ for id_ in rows if basis_of(design.parts[id_], None) == DERIVED]
    if question.inputs.case.rules == NO_RULES:
        return
    for id_ in derived[:MOST_DERIVED]:
        told = f"{RESTS_ON} a price of ${rows[id_]:,.0f} for {id_}, derived from those of like switches"
        until = _until(question, answers.best, design, id_)
        yield told + until + (_of_server(question, design) if until else "")


def _verdict(question: Question, answer: Answer | None) -> str:
    """Words on whether the choice is stable under other guesses; empty without alternatives asked for."""
    if answer is None or not _looks_further(question, answer):
        return ""
    from fabopt.solution.other_prices import verdict

    return verdict(question, answer)


def _until(question: Question, answer: Answer | None, design: Design, id_: str) -> str:
    """Words on the price of a switch up to which the answer stays; empty without alternatives asked for."""
    if answer is None or not _looks_further(question, answer):
        return ""
    from fabopt.solution.other_prices import until

    return until(question, answer, design, id_)


def _looks_further(question: Question, answer: Answer) -> bool:
    """Whether other prices are looked at: what does that is imported then."""
    return question.alternatives_s > 0 and answer.problem.case.objective == "capex_usd"


def _of_server(question: Question, design: Design) -> str:
    """Words on the server that designs at other prices have too, where the case lists several."""
    return f", with {design.case.content['server']} again" if question.compared else ""


def shares_by_basis(design: Design) -> dict[str, Fraction]:
    """Shares of the purchase price by kind of price, the largest first."""
    sums = summed(
        (basis_of(design.parts[row.id], row.length_m), cents(row.total_usd))
        for row in design.bom
        if row.total_usd and row.id in design.parts
    )
    whole = sum(sums.values())
    order = sorted(sums, key=lambda basis: (-sums[basis], basis))
    return {basis: Fraction(sums[basis], whole) for basis in order}


def _percents(shares: Mapping[str, Fraction]) -> list[str]:
    """Shares of one in whole percents that add up to 100."""
    whole = whole_shares([100 * share for share in shares.values()], 1)
    return [
        f"{percent} %" if 100 * share >= 1 else "under 1 %"
        for percent, share in zip(whole, shares.values(), strict=True)
    ]
