"""The purchase half of the integer program: orders by stage, for uses that other variables decide.

Each constraint is named like the method that adds it, its line in docs/formulation/procurement.md, and its check in
``fabopt.verify``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabopt.parts.items import Item
from fabopt.parts.order_terms import Piece
from fabopt.parts.procurement import spares_of
from fabopt.problem.problem import Problem
from fabopt.program.levels import Level
from fabopt.program.libraries import pulp
from fabopt.program.naming import Variables, rule
from fabopt.program.part_bounds import Ranges
from fabopt.schema.procurement import Spares
from fabopt.units import ceil_div, exact, summed

Terms = list[tuple[pulp.LpVariable, int]]
PROCUREMENT = "docs/formulation/procurement.md"

# With one stage their names have no stage.
BUY = Variables("buy", ("item", "stage", "break"), "packs", "what the stage orders of the item at the price break")
PAID = Variables("paid", ("item", "stage", "break"), "", "1 if the price break is the one that the stage's order pays")
SPARE = Variables("spare", ("item", "stage"), "units", "spares of the item that are there from the stage on")
HELD = Variables("held", ("item", "stage"), "", "1 if the item is in use by the stage")
SHARED = Variables(
    "shared", ("item", "stage"), "", "1 if the fraction, not the minimum, says how many spares are the most"
)


@dataclass(frozen=True)
class Use:
    """The units of an item that one stage adds: a weighted sum of variables, and a constant."""

    terms: Terms
    constant: int = 0


def is_ordered(problem: Problem, item: Item) -> bool:
    """Whether orders of an item are variables of their own, not just its uses at the time of use.

    So where its cost is not the same for every unit; and where later stages have budgets, or quarters and years have
    that several stages pay from, or its maker's supply a quarter is limited, as buying early may help.
    """
    if item.is_lump:
        return False
    later = problem.stages[1:]
    if item.is_ordered or (later and (item.supply.rationed or problem.limits.periods)):
        return True
    return any(stage.limits.capex_cents is not None for stage in later)


@dataclass
class Purchases:
    """Orders of all items for their uses at each stage. ``most``: upper bound of an item's units in any design;
    ``between``: from one stage to another.
    """

    problem: Problem
    lp: pulp.LpProblem
    uses: Mapping[Item, Sequence[Use]]
    most: Mapping[Item, int]
    between: Mapping[Item, Ranges]
    buy: dict[tuple[Item, int, Piece], pulp.LpVariable] = field(init=False, default_factory=dict)
    paid: dict[tuple[Item, int, Piece], pulp.LpVariable] = field(init=False, default_factory=dict)
    spare: dict[tuple[Item, int], pulp.LpVariable] = field(init=False, default_factory=dict)
    held: dict[tuple[Item, int], pulp.LpVariable] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.stages = range(len(self.problem.stages))
        self.items = sorted(self.uses, key=lambda item: item.index)
        self.ordered = [item for item in self.items if is_ordered(self.problem, item)]
        for item in self.items:
            self._add_rules(item)
        for item in self.ordered:
            self._add_orders(item)

    # -- variables --------------------------------------------------------------------------------------------

    def _name(self, item: Item, stage: int) -> str:
        return f"{item.index}_{stage}" if len(self.stages) > 1 else str(item.index)

    def _add_rules(self, item: Item) -> None:
        """Variables of items in use, where a rule counts part numbers; of spares, where some are kept."""
        rule = item.spares
        every_stage = rule is not None and (rule.minimum > 0 or rule.per == "site")
        for stage in self.stages:
            name = self._name(item, stage)
            if self._is_exact(item) or every_stage or (item.sold_by.counted and stage == self.stages[-1]):
                self.held[item, stage] = HELD.binary(name)
            if rule is not None:
                self.spare[item, stage] = SPARE.integer(0, self._most_spares(item), name)

    def _is_exact(self, item: Item) -> bool:
        """Whether spares may not exceed the rule: for late stages, spares kept before would save orders."""
        rivals = self._of_kind(item.kind) if item.spares is not None and item.spares.per == "site" else [item]
        return item.spares is not None and any(offer.time.late for rival in rivals for offer in rival.offers)

    def _most_spares(self, item: Item) -> int:
        """Upper bound of the spares of an item."""
        if item.spares is None:
            return 0
        rivals = self._of_kind(item.kind) if item.spares.per == "site" else [item]
        return spares_of(item.spares, sum(self.most[rival] for rival in rivals))

    def _add_orders(self, item: Item) -> None:
        """Orders up to the last stage that adds any (of the kind, if spares are of the site): later ones only cost."""
        shared = item.spares is not None and item.spares.per == "site"
        uses = [self.uses[rival] for rival in (self._of_kind(item.kind) if shared else [item])]
        wanted = [
            stage for stage in self.stages if any(of_item[stage].terms or of_item[stage].constant for of_item in uses)
        ]
        for stage in self._until(max(wanted, default=-1)):
            for piece, most in self._order_sizes(item, stage):
                name = self._name(item, stage)
                self.buy[item, stage, piece] = BUY.integer(0, most, name, piece.price_break)
                self.paid[item, stage, piece] = PAID.binary(name, piece.price_break)

    def _order_sizes(self, item: Item, stage: int) -> Iterator[tuple[Piece, int]]:
        """Most packs of an order at each break: up to the next one; at the last, as many as are needed."""
        offer = item.offers[stage]
        needed = ceil_div(self.most[item] + self._most_spares(item), item.orders.pack)
        for piece in item.pieces:
            most = max(needed, piece.fewest) if piece.most is None else piece.most
            in_stock = item.supply.in_stock if offer.time.closed else None
            caps = [most, *(cap // item.orders.pack for cap in (offer.most, in_stock) if cap is not None)]
            yield piece, min(caps)

    # -- sums -------------------------------------------------------------------------------------------------

    def _of_kind(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.kind == kind]

    def _bought(self, item: Item, stages: Sequence[int]) -> Terms:
        return [(self.buy[key], item.orders.pack) for key in self._orders(item) if key[1] in stages]

    def _orders(self, item: Item) -> list[tuple[Item, int, Piece]]:
        return [
            (item, stage, piece) for stage in self.stages for piece in item.pieces if (item, stage, piece) in self.buy
        ]

    def _used(self, item: Item, stages: Sequence[int], sign: int = 1) -> tuple[Terms, int]:
        """The units of an item that some stages add, as terms and a constant."""
        uses = [self.uses[item][stage] for stage in stages]
        merged = summed((var, sign * count) for use in uses for var, count in use.terms)
        return list(merged.items()), sign * sum(use.constant for use in uses)

    def _until(self, stage: int) -> range:
        return range(stage + 1)

    def cost(self, stages: Sequence[int] | None = None, present: bool = False) -> Terms:
        """Cents of the orders of some stages (None: of all), as terms."""

        def prices(item: Item, stage: int) -> Sequence[int]:
            offer = item.offers[stage]
            if stages is not None and stage not in stages:
                return (0,) * len(offer.cents)
            return offer.present if present else offer.cents

        return self.cost_at(prices)

    def cost_at(self, prices: Callable[[Item, int], Sequence[int]]) -> Terms:
        """Cents of all orders, by the price of a unit of an item at each break of a stage, as terms."""
        terms: Terms = []
        for (item, stage, piece), var in self.buy.items():
            of_unit = prices(item, stage)
            terms.append((var, item.orders.pack * of_unit[piece.price_break]))
            terms.append((self.paid[item, stage, piece], item.orders.base_at(of_unit, piece.price_break)))
        return [term for term in terms if term[1]]

    # -- constraints ------------------------------------------------------------------------------------------

    @rule(PROCUREMENT)
    def purchases_cover_use(self) -> None:
        """By every stage, what has been bought of an item and its stock are what is used by then and the spares."""
        for item in self.ordered:
            for stage in self.stages:
                terms, constant = self._used(item, self._until(stage), -1)
                terms += self._bought(item, self._until(stage))
                if item.spares is not None:
                    terms.append((self.spare[item, stage], -1))
                name = f"purchases_cover_use_{self._name(item, stage)}"
                self.lp += pulp.LpAffineExpression(terms) >= -constant - item.supply.stock, name

    @rule(PROCUREMENT)
    def large_orders_cover_no_more(self) -> None:
        """An order that is larger than all uses from its stage on covers no more than these uses.

        No solution is cut off. Without it a solver that allows fractions buys a hundredth of the order that reaches the
        best break, and its bound is far off. Source: the (l,S) inequalities of Barany, Van Roy and Wolsey, "Strong
        formulations for multi-item capacitated lot sizing", Management Science 30 (1984).
        """
        for item in self.ordered:
            spares = self._most_spares(item)
            for stage in self.stages:
                orders = [key for key in self._orders(item) if key[1] <= stage]
                useful = {key: self.between[item][key[1]][stage] + spares for key in orders}
                large = {key for key in orders if key[2].fewest * item.orders.pack > useful[key]}
                if large:
                    terms, constant = self._used(item, self._until(stage), -1)
                    terms += [
                        (self.paid[key], useful[key]) if key in large else (self.buy[key], item.orders.pack)
                        for key in orders
                    ]
                    if item.spares is not None:
                        terms.append((self.spare[item, stage], -1))
                    name = f"large_orders_cover_no_more_{self._name(item, stage)}"
                    self.lp += pulp.LpAffineExpression(terms) >= -constant - item.supply.stock, name

    @rule(PROCUREMENT)
    def prices_are_applied(self) -> None:
        """An order is bought at one break: from its first quantity on, and only if the break is taken."""
        for (item, stage, piece), var in self.buy.items():
            taken, most = self.paid[item, stage, piece], var.upBound
            name = f"{self._name(item, stage)}_{piece.price_break}"
            if most < piece.fewest:
                self.lp += taken <= 0, f"prices_are_applied_none_{name}"
            self.lp += var - piece.fewest * taken >= 0, f"prices_are_applied_from_{name}"
            self.lp += var - most * taken <= 0, f"prices_are_applied_to_{name}"
        for item in self.ordered:
            for stage in self.stages:
                taken_all = [self.paid[key] for key in self._orders(item) if key[1] == stage]
                self.lp += pulp.lpSum(taken_all) <= 1, f"prices_are_applied_{self._name(item, stage)}"

    @rule(PROCUREMENT)
    def supply_lasts(self) -> None:
        """By every stage no more has been bought than can be had by then (of one stage: the bound of ``buy``)."""
        for item in self.ordered:
            for stage in self.stages[1:]:
                most = item.offers[stage].most
                if most is not None:
                    bought = pulp.LpAffineExpression(self._bought(item, self._until(stage)))
                    self.lp += bought <= most, f"supply_lasts_{self._name(item, stage)}"

    @rule(PROCUREMENT)
    def orders_arrive_in_time(self) -> None:
        """What stages add for which an item can no longer be ordered comes out of its stock.

        The vendor's, of which so many are ordered for such stages, is as good; and expedited orders of these stages.
        """
        for item in self.ordered:
            late = [stage for stage in self.stages if item.offers[stage].time.late]
            closed = [stage for stage in late if item.offers[stage].time.closed]
            ready = item.supply.in_stock > 0 or len(closed) < len(late)
            for number in range(len(late) if ready else min(1, len(late))):
                stages = late[: number + 1] if ready else late
                terms, constant = self._used(item, stages)
                for stage in stages if item.spares is not None else ():
                    terms.append((self.spare[item, stage], 1))
                    if stage:
                        terms.append((self.spare[item, stage - 1], -1))
                if ready:
                    terms += [(var, -count) for var, count in self._bought(item, stages)]
                name = f"orders_arrive_in_time_{item.index}" + (f"_{stages[-1]}" if ready else "")
                self.lp += _sum(terms) <= item.supply.stock - constant, name
            if closed and ready:
                bought = pulp.LpAffineExpression(self._bought(item, closed))
                self.lp += bought <= item.supply.in_stock, f"orders_arrive_in_time_ready_{item.index}"

    @rule(PROCUREMENT)
    def held_if_used(self) -> None:
        """An item that is used by a stage is held at it; and only then, where a spare may be of it for that."""
        for (item, stage), held in self.held.items():
            terms, constant = self._used(item, self._until(stage))
            name = self._name(item, stage)
            over = pulp.LpAffineExpression([*terms, (held, -max(1, self.most[item]))])
            self.lp += over <= -constant, f"held_if_used_{name}"
            if item.spares is not None and (item.spares.per == "site" or self._is_exact(item)):
                self.lp += pulp.LpAffineExpression([*terms, (held, -1)]) >= -constant, f"held_if_used_only_{name}"

    @rule(PROCUREMENT)
    def spares_are_kept(self) -> None:
        """By every stage the spares are the fraction of what is in use and the minimum; none goes away again."""
        for item in self.items:
            for stage in self.stages if item.spares is not None else ():
                name, spare = self._name(item, stage), self.spare[item, stage]
                if stage:
                    before = self.spare[item, stage - 1]
                    self.lp += spare - before >= 0, f"spares_are_kept_on_{name}"
                assert item.spares is not None
                if item.spares.per == "sku":
                    self._keep([item], stage, item.spares, name)
                if item.spares.per == "site" or self._is_exact(item):
                    most = self._most_spares(item)
                    self.lp += spare - most * self.held[item, stage] <= 0, f"spares_are_kept_of_used_{name}"
        for kind, spares in self.problem.case.procurement.spares.items():
            items = self._of_kind(kind)
            for stage in self.stages if spares.per == "site" and items else ():
                self._keep(items, stage, spares, f"{kind}_{stage}")

    def _keep(self, items: Sequence[Item], stage: int, rule: Spares, name: str) -> None:
        """Spares of some items together: the fraction of the units in use by a stage, and the minimum if any is.

        Where they are exact, also no more than the larger one of both.
        """
        spares = [(self.spare[item, stage], 1) for item in items]
        share = exact(rule.fraction)
        if share:
            terms = [(var, share.denominator * count) for var, count in spares]
            constant = 0
            for item in items:
                more, fixed = self._used(item, self._until(stage), -share.numerator)
                terms, constant = terms + more, constant + fixed
            self.lp += _sum(terms) >= -constant, f"spares_are_kept_fraction_{name}"
        for item in items if rule.minimum else ():
            expression = _sum([*spares, (self.held[item, stage], -rule.minimum)])
            self.lp += expression >= 0, f"spares_are_kept_minimum_{name}_{item.index}"
        if any(map(self._is_exact, items)):
            self._keep_no_more(items, stage, rule, name)

    def _keep_no_more(self, items: Sequence[Item], stage: int, rule: Spares, name: str) -> None:
        """Spares of some items together are at most the minimum, or less than one more than the fraction."""
        share, most = exact(rule.fraction), sum(map(self._most_spares, items))
        shared = SHARED.binary(name)
        spares = [(self.spare[item, stage], 1) for item in items]
        self.lp += _sum([*spares, (shared, -most)]) <= rule.minimum, f"spares_are_kept_no_more_minimum_{name}"
        terms, constant = [(var, share.denominator) for var, _ in spares], 0
        for item in items:
            more, fixed = self._used(item, self._until(stage), -share.numerator)
            terms, constant = terms + more, constant + fixed
        slack = share.denominator * most
        self.lp += (
            _sum([*terms, (shared, slack)]) <= slack + share.denominator - 1 - constant,
            f"spares_are_kept_no_more_fraction_{name}",
        )

    @rule(PROCUREMENT)
    def part_numbers_are_few(self) -> None:
        """No more part numbers of a kind than allowed are in use in the end."""
        for kind, most in self.problem.case.procurement.max_part_numbers.items():
            held = [self.held[item, self.stages[-1]] for item in self._of_kind(kind)]
            if len(held) > most:
                self.lp += pulp.lpSum(held) <= most, f"part_numbers_are_few_{kind}"

    # -- solutions --------------------------------------------------------------------------------------------

    def units(self, values: Mapping[str, int]) -> dict[tuple[int, Item], int]:
        """Units of the ordered items that a solution orders at every stage."""
        packs = (((item, stage), values.get(var.name, 0)) for (item, stage, _), var in self.buy.items())
        return summed(((stage, item), item.orders.pack * number) for (item, stage), number in packs if number)

    def spares(self, values: Mapping[str, int]) -> dict[tuple[int, Item], int]:
        """Spares that a solution keeps from every stage on."""
        return {(stage, item): values.get(var.name, 0) for (item, stage), var in self.spare.items()}


@dataclass
class OfOrders:
    """Rows on orders and uses. ``level``: sums of weights of uses and of orders."""

    problem: Problem
    lp: pulp.LpProblem
    purchases: Purchases
    level: Callable[[str, Callable[[int, Item], int], Terms], Level]


def _sum(terms: Terms) -> pulp.LpAffineExpression:
    """A sum in which a variable may stand several times."""
    merged = summed(terms)
    return pulp.LpAffineExpression(list(merged.items()))
