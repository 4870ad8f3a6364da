"""Costs of a design in each future of a growth that may end, and of plans for one future."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.words import count, money, percent, signed_money
from fabopt.schema.design import Design
from fabopt.schema.futures import Number

TITLE = "If growth ends"
COLUMNS = (
    ("ends after", False), ("probability", True), ("servers", True), ("bought by then", True),
    ("TCO", True), ("best for it alone", True), ("regret", True),
)  # fmt: skip
PLANS_TITLE = "Plans for one future"
PLAN_COLUMNS = (("made for", False), ("expected TCO", True), ("more", True), ("most regret", True))
UNKNOWN = "-"


def future_rows(design: Design) -> Iterator[list[str]]:
    """A row for every future, cells as ``COLUMNS``; none where growth is certain."""
    for future in design.futures.futures if design.futures is not None else ():
        yield [
            future.ends_after if future.scenario is None else f"{future.scenario}: {future.ends_after}",
            percent(float(future.probability)),
            count(future.servers),
            money(future.capex_usd),
            money(future.tco_usd),
            _money(future.best_tco_usd),
            _money(future.regret_usd),
        ]


def _money(usd: Number | None) -> str:
    return UNKNOWN if usd is None else money(usd)


def plan_rows(design: Design) -> Iterator[list[str]]:
    """A row for every plan that counts on one future, cells as ``PLAN_COLUMNS``."""
    for plan in design.futures.plans if design.futures is not None else ():
        more = plan.expected_tco_usd - (_expected(design) or 0)
        yield [plan.made_for, money(plan.expected_tco_usd), signed_money(round(more, 2)), money(plan.regret_usd)]


def future_lines(design: Design) -> Iterator[str]:
    """State the expected cost, the average cost of not knowing the future, and the largest."""
    futures, expected = design.futures, _expected(design)
    if futures is None or expected is None:
        return
    yield f"expected total cost of ownership {money(expected)}, each stage as often as growth comes to it"
    if futures.hedge_usd is not None and futures.regret_usd is not None:
        yield (
            f"not knowing which future comes costs {money(futures.hedge_usd)} on average, "
            f"and at most {money(futures.regret_usd)}, against the best plan for each future alone"
        )


def _expected(design: Design) -> Number | None:
    return None if design.totals is None else design.totals.expected_tco_usd
