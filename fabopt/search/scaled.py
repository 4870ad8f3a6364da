"""A problem at other prices, exactly: money in a unit that makes every price an integer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import ceil, floor, gcd

from fabopt.parts.dominance import without_dominated_products
from fabopt.parts.finance import weights_of
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.offering import Offering, weighs_pools
from fabopt.problem.limits import ExactLimits
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike


@dataclass(frozen=True)
class Scaled:
    """A problem whose money is counted in ``unit`` cents."""

    problem: Problem
    unit: Fraction

    def cents(self, value: int) -> Fraction:
        """An objective integer of the problem in cents."""
        return Fraction(value, self.problem.weights.scale) * self.unit

    def value(self, cents: Fraction) -> int:
        """The least objective integer not below ``cents``."""
        return ceil(cents / self.unit * self.problem.weights.scale)


def at_factor(base: Problem, indices: frozenset[int], factor: Fraction, prune: bool = True) -> Scaled:
    """The problem with the prices of some items (by index) times a factor, all else the same.

    ``base`` has a whole offering. Prices are multiplied after they have been rounded to the cent for their stage, and
    are not rounded again.
    """
    up, down = factor.numerator, factor.denominator

    def raised(item: Item, cents: int) -> int:
        return cents * (up if item.index in indices else down)

    prices = [
        raised(item, cents)
        for item in base.item_table.items
        for offer in item.offers
        for cents in (*offer.cents, *offer.present, *chain.from_iterable(offer.bare or ()))
    ]
    common = gcd(*prices) or 1
    unit = Fraction(common, down)
    item_table = base.item_table.repriced(lambda item, cents: raised(item, cents) // common)
    old = base.offering
    if prune:
        item_table = without_dominated_products(old.offered, item_table, old.named)
    links = LinkTable(old.offered, item_table, prune and not weighs_pools(base.case))
    offering = Offering(old.named, old.terms, old.offered, item_table, old.ports, links)
    repriced = bound_alike(problem_of(base.case, base.catalog, prune, offering), base)
    energy = tuple(cents / unit for cents in base.energy_cents_per_mw)
    weights = weights_of(base.case.objective, energy)
    limits = _counted(base.limits, unit)
    # what is worked out of a site depends on no price
    priced = replace(repriced, weights=weights, energy_cents_per_mw=energy, limits=limits, site=base.site)
    return Scaled(priced, unit)


def _counted(limits: ExactLimits, unit: Fraction) -> ExactLimits:
    """Limits with the budgets in another unit of money; what is left of a unit buys nothing."""
    budget = None if limits.capex_cents is None else floor(limits.capex_cents / unit)
    # budgets of periods bound shares of prices: a fraction of a unit may count
    periods = tuple(
        period._replace(cents=tuple(None if most is None else most / unit for most in period.cents))
        for period in limits.periods
    )
    return replace(limits, capex_cents=budget, periods=periods)
