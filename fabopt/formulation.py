"""The integer program, written once in PuLP: which candidate, which parts on its links, how many to buy.

Variables
    pick[c]        1 if candidate c is built
    links[k,a]     units of links of kind k that are realised by option a
    buy[i,t]       items i bought at price break t;  tier[i,t] 1 if that break is taken
Each constraint's name is that of the method that adds it, of its line in docs/formulation.md, and of the check in
``fabopt.verify`` where there is one. All coefficients are integers.

An item whose price does not depend on the quantity has no ``buy``: its price stands on what uses it. The cost of the
cheapest option of every kind of link is moved from ``links`` to ``pick`` and the least cost of any candidate out of the
objective (``offset``), so that solvers work on small differences; the optimum is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import ortools.sat.python.cp_model  # noqa: F401 - before pulp: docs/decisions

import pulp  # isort: skip

from fabopt.goods import Item
from fabopt.problem import WIRES, Problem, Weights, weights_of
from fabopt.topology.candidate import Candidate, Option

Key = tuple[str, Hashable]


@dataclass(frozen=True)
class Level:
    """One quantity to minimize in its turn. ``value``: the exact integer of a solution."""

    name: str
    expression: pulp.LpAffineExpression
    offset: int


@dataclass
class Program:
    """The program for a set of candidates; see the module."""

    problem: Problem
    candidates: Sequence[Candidate]
    lp: pulp.LpProblem = field(init=False)
    pick: list[pulp.LpVariable] = field(init=False)
    links: dict[tuple[Key, int], pulp.LpVariable] = field(init=False, default_factory=dict)
    buy: dict[tuple[Item, int], pulp.LpVariable] = field(init=False, default_factory=dict)
    tier: dict[tuple[Item, int], pulp.LpVariable] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.lp = pulp.LpProblem("fabopt", pulp.LpMinimize)
        self._add_picks()
        self._add_links()
        self._add_purchases()
        self.one_candidate_per_fabric()
        self.links_are_realised()
        self.cages_hold_both()
        self.purchases_cover_use()
        self.one_break_is_paid()
        self.nics_fit_slots()
        self.limits_hold()

    # -- variables --------------------------------------------------------------------------------------------

    def _add_picks(self) -> None:
        self.pick = [pulp.LpVariable(f"pick_{index}", cat="Binary") for index in range(len(self.candidates))]

    def _add_links(self) -> None:
        self.options: dict[Key, tuple[Option, ...]] = {}
        self.counts: dict[Key, dict[int, int]] = {}
        for index, candidate in enumerate(self.candidates):
            for choice in candidate.choices:
                key = (candidate.fabric, choice.key)
                self.options.setdefault(key, choice.options)
                counts = self.counts.setdefault(key, {})
                counts[index] = counts.get(index, 0) + choice.count
        for number, (key, options) in enumerate(self.options.items()):
            most = max(self.counts[key].values())
            for a in range(len(options)):
                self.links[key, a] = pulp.LpVariable(f"links_{number}_{a}", 0, most, cat="Integer")

    def _add_purchases(self) -> None:
        self.most_used = self._most_used()
        for item in sorted(self.most_used, key=lambda one: one.index):
            if not item.varies:
                continue
            for t, most in enumerate(self._break_ends(item)):
                self.buy[item, t] = pulp.LpVariable(f"buy_{item.index}_{t}", 0, most, cat="Integer")
                self.tier[item, t] = pulp.LpVariable(f"tier_{item.index}_{t}", cat="Binary")

    def _break_ends(self, item: Item) -> list[int]:
        """The most that is ever bought at each break: up to the next one; at the last, what is used or its start."""
        ends = [start - 1 for start, _ in item.breaks[1:]]
        last = max(self.most_used[item], item.breaks[-1][0])
        ends.append(last)
        cap = item.supply if item.supply is not None else last
        return [min(end, cap) for end in ends]

    def _most_used(self) -> dict[Item, int]:
        """An upper bound on the use of each item: over fabrics the sum, over candidates the most."""
        total: dict[Item, int] = {}
        for fabric in dict.fromkeys(candidate.fabric for candidate in self.candidates):
            most: dict[Item, int] = {}
            for candidate in self.candidates:
                if candidate.fabric == fabric:
                    for item, count in _most_of(candidate).items():
                        most[item] = max(most.get(item, 0), count)
            for item, count in most.items():
                total[item] = total.get(item, 0) + count
        server = self.problem.server_item
        if server is not None:
            total[server] = total.get(server, 0) + self.problem.servers
        return total

    # -- sums -------------------------------------------------------------------------------------------------

    def _sum(self, weight: Callable[[Item], int]) -> tuple[dict[int, int], dict[tuple[Key, int], int]]:
        """A weighted sum over all items in use, as coefficients of ``pick`` and of ``links``."""
        on_pick = {
            index: sum(weight(item) * count for item, count in candidate.fixed.items())
            for index, candidate in enumerate(self.candidates)
        }
        on_links = {
            (key, a): sum(weight(item) * count for item, count in self.options[key][a].items.items())
            for key, a in self.links
        }
        return on_pick, on_links

    def _level(self, name: str, weight: Callable[[Item], int], purchases: int = 0, constant: int = 0) -> Level:
        """A quantity with its coefficients reduced; ``purchases`` weighs the cents that are paid at breaks."""
        on_pick, on_links = self._sum(weight)
        for key, options in self.options.items():
            least = min(on_links[key, a] for a in range(len(options)))
            for a in range(len(options)):
                on_links[key, a] -= least
            for index, count in self.counts[key].items():
                on_pick[index] += least * count
        offset = constant
        for fabric in dict.fromkeys(candidate.fabric for candidate in self.candidates):
            mine = [index for index, one in enumerate(self.candidates) if one.fabric == fabric]
            least = min(on_pick[index] for index in mine)
            offset += least
            for index in mine:
                on_pick[index] -= least
        terms = [(self.pick[index], value) for index, value in on_pick.items() if value]
        terms += [(self.links[key], value) for key, value in on_links.items() if value]
        if purchases:
            terms += [(var, purchases * item.breaks[t][1]) for (item, t), var in self.buy.items()]
        return Level(name, pulp.LpAffineExpression(terms), offset)

    def levels(self) -> list[Level]:
        """The objective, then what breaks ties, in order (docs/formulation.md, "Ties")."""
        weights = self.problem.weights
        fixed, varies = self.problem.fixed_cents, self._server_varies()
        levels = [
            self._level(
                "objective",
                partial(_weighed, weights),
                weights.per_cent,
                self.problem.fixed_objective - (weights.per_cent * fixed if varies else 0),
            )
        ]
        levels += [self._metric_level(metric) for metric in self.problem.then]
        if weights != Weights(1, 0, 0, 1):
            levels.append(self._level("capex", _cents, 1, 0 if varies else fixed))
        levels.append(self._level("power", _power_mw))
        levels.append(self._level("rack_units", _rack_milliunits))
        levels.append(self._level("switches", lambda item: int(item.kind == "switch")))
        levels.append(self._level("cables", lambda item: int(item.kind in WIRES)))
        levels += self._rank_levels()
        levels.append(self._option_level())
        return levels

    def _metric_level(self, metric: str) -> Level:
        """A metric of sums, in the units of its weights; what all designs have in common left out."""
        weights = weights_of(metric, self.problem.energy_cents_per_mw)
        return self._level(metric, partial(_weighed, weights), weights.per_cent)

    def _server_varies(self) -> bool:
        return self.problem.server_item is not None and self.problem.server_item.varies

    def _rank_levels(self) -> list[Level]:
        levels = []
        for fabric in dict.fromkeys(candidate.fabric for candidate in self.candidates):
            mine = [index for index, one in enumerate(self.candidates) if one.fabric == fabric]
            ranked = sorted(mine, key=lambda index: self.candidates[index].order)
            terms = [(self.pick[index], rank) for rank, index in enumerate(ranked)]
            levels.append(Level(f"rank_{fabric}", pulp.LpAffineExpression(terms), 0))
        return levels

    def _option_level(self) -> Level:
        names = sorted({option.name for options in self.options.values() for option in options})
        rank = {name: number for number, name in enumerate(names)}
        terms = [(var, rank[self.options[key][a].name]) for (key, a), var in self.links.items()]
        return Level("options", pulp.LpAffineExpression(terms), 0)

    # -- constraints ------------------------------------------------------------------------------------------

    def one_candidate_per_fabric(self) -> None:
        """Every fabric is built, once: sum over its candidates of pick = 1."""
        for fabric in self.problem.fabrics:
            mine = [self.pick[i] for i, one in enumerate(self.candidates) if one.fabric == fabric.name]
            self.lp += pulp.lpSum(mine) == 1, f"one_candidate_per_fabric_{_word(fabric.name)}"

    def links_are_realised(self) -> None:
        """For every kind of link: units over all options = units that the picked candidates need."""
        for number, (key, options) in enumerate(self.options.items()):
            terms = [(self.links[key, a], 1) for a in range(len(options))]
            terms += [(self.pick[index], -count) for index, count in self.counts[key].items()]
            self.lp += pulp.LpAffineExpression(terms) == 0, f"links_are_realised_{number}"

    def cages_hold_both(self) -> None:
        """Wires below and above a switch that its cages hold singly, not together: at most one of the two."""
        for index, candidate in enumerate(self.candidates):
            for number, clash in enumerate(candidate.clashes):
                taken = [self.pick[index]]
                taken += [self.links[(candidate.fabric, key), a] for key, a in clash]
                self.lp += pulp.lpSum(taken) <= 2, f"cages_hold_both_{index}_{number}"

    def purchases_cover_use(self) -> None:
        """For every item with a price that depends on the quantity: bought + stock >= used."""
        for item in dict.fromkeys(item for item, _ in self.buy):
            on_pick, on_links = self._sum(partial(_is_item, item))
            terms = [(self.pick[i], -n) for i, n in on_pick.items() if n]
            terms += [(self.links[key], -n) for key, n in on_links.items() if n]
            terms += [(self.buy[item, t], 1) for t in range(len(item.breaks))]
            standing = self.problem.servers if item is self.problem.server_item else 0
            self.lp += (
                pulp.LpAffineExpression(terms) >= standing - item.stock,
                f"purchases_cover_use_{item.index}",
            )

    def one_break_is_paid(self) -> None:
        """All of an item is bought at one break: from its first quantity on, and only if the break is taken."""
        for (item, t), var in self.buy.items():
            start, most = item.breaks[t][0], var.upBound
            taken = self.tier[item, t]
            name = f"{item.index}_{t}"
            if most < start:
                self.lp += taken <= 0, f"one_break_is_paid_none_{name}"
            self.lp += var - start * taken >= 0, f"one_break_is_paid_from_{name}"
            self.lp += var - most * taken <= 0, f"one_break_is_paid_to_{name}"
        for item in dict.fromkeys(item for item, _ in self.tier):
            taken_all = [self.tier[item, t] for t in range(len(item.breaks))]
            self.lp += pulp.lpSum(taken_all) <= 1, f"one_break_is_paid_{item.index}"

    def nics_fit_slots(self) -> None:
        """Cards chosen over all fabrics fit the server's slots."""
        if len(self.problem.fabrics) > 1:
            cards = [(self.pick[i], one.cards) for i, one in enumerate(self.candidates) if one.cards]
            self.lp += pulp.LpAffineExpression(cards) <= self.problem.nic_slots, "nics_fit_slots"

    def limits_hold(self) -> None:
        """Budget, power, rack units and (on fronts) other sums over all fabrics, and the servers' own if they count."""
        limits = self.problem.limits
        cents = 0 if self._server_varies() else self.problem.fixed_cents
        tco = weights_of("tco_usd", self.problem.energy_cents_per_mw)
        power_mw = self.problem.fixed_power_mw
        for name, most, weights, fixed in (
            ("budget", limits.capex_cents, Weights(1, 0, 0, 1), cents),
            ("power", limits.power_mw, Weights(0, 1, 0, 1), power_mw),
            ("rack_units", limits.rack_milliunits, Weights(0, 0, 1, 1), 0),
            ("switches", limits.switches, Weights(0, 0, 0, 1, per_switch=1), 0),
            ("cables", limits.cables, Weights(0, 0, 0, 1, per_wire=1), 0),
            ("tco", limits.tco_scaled, tco, tco.of(cents, power_mw, 0)),
        ):
            if most is not None:
                spent = self._level(name, partial(_weighed, weights), weights.per_cent, fixed)
                self.lp += spent.expression <= most - spent.offset, f"limits_hold_{name}"

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to decide once every fabric has a candidate."""
        return (
            len(self.candidates) == len(self.problem.fabrics)
            and all(len(options) == 1 for options in self.options.values())
            and not self.buy
        )

    def standalone(self) -> pulp.LpProblem:
        """The program for other solvers, its objective complete: ``fixed`` is 1 and carries the offset."""
        level = self.levels()[0]
        fixed = pulp.LpVariable("fixed", 1, 1, cat="Integer")
        copy: pulp.LpProblem = self.lp.copy()
        copy.setObjective(level.expression + level.offset * fixed)
        return copy

    # -- solutions --------------------------------------------------------------------------------------------

    def picked(self, values: Mapping[str, int]) -> list[Candidate]:
        """The candidates that a solution builds, in the order of the case's fabrics."""
        chosen = {
            one.fabric: one for one, var in zip(self.candidates, self.pick, strict=True) if values.get(var.name, 0) == 1
        }
        return [chosen[fabric.name] for fabric in self.problem.fabrics]

    def units(self, values: Mapping[str, int], candidate: Candidate) -> list[tuple[Option, int]]:
        """How many units of each option a picked candidate's links take."""
        found: list[tuple[Option, int]] = []
        for key in dict.fromkeys((candidate.fabric, choice.key) for choice in candidate.choices):
            for a, option in enumerate(self.options[key]):
                count = values.get(self.links[key, a].name, 0)
                if count:
                    found.append((option, count))
        return found


def value_of(expression: pulp.LpAffineExpression, values: Mapping[str, int]) -> int:
    """The exact value of an integer expression."""
    return int(expression.constant) + sum(int(weight) * values.get(var.name, 0) for var, weight in expression.items())


def broken(lp: pulp.LpProblem, values: Mapping[str, int]) -> list[str]:
    """Constraints that an assignment breaks, by name."""
    names = []
    for name, constraint in lp.constraints.items():
        left = value_of(constraint, values)
        if (constraint.sense <= 0 and left > 0) or (constraint.sense >= 0 and left < 0):
            names.append(name)
    return names


def _most_of(candidate: Candidate) -> dict[Item, int]:
    most = dict(candidate.fixed)
    for choice in candidate.choices:
        for item in {item for option in choice.options for item in option.items}:
            each = max(option.items.get(item, 0) for option in choice.options)
            most[item] = most.get(item, 0) + each * choice.count
    return most


def _is_item(item: Item, one: Item) -> int:
    return int(one is item)


def _cents(item: Item) -> int:
    return 0 if item.varies else item.first_cents


def _weighed(weights: Weights, item: Item) -> int:
    return weights.of_item(item, _cents(item))


def _power_mw(item: Item) -> int:
    return item.power_mw


def _rack_milliunits(item: Item) -> int:
    return item.rack_milliunits


def _word(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)
