"""The integer program, written once in PuLP: candidates, parts on their links, quantities to buy.

Variables are ``PICK`` and ``LINKS``, and those of orders by stage (``fabopt.program.purchases``). Each constraint's
name is that of the method that adds it, of its line in docs/formulation.md or a page below it, and of the check in
``fabopt.verify`` where there is one. All coefficients are integers. An item whose every unit costs the same has no
``buy``: its price at the stage stands on the variables that use it. The cost of the cheapest option of every kind of
link is moved from ``links`` to ``pick`` and the least cost of any candidate out of the objective (``offset``), so that
solvers work on small differences; the optimum is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from fabopt.parts.finance import Weights
from fabopt.parts.items import CABLE_KINDS, Item
from fabopt.problem.limits import ExactLimits
from fabopt.problem.problem import Problem, of_item
from fabopt.program.labour import BeyondService, Visits, with_work
from fabopt.program.levels import LACKING, Level
from fabopt.program.libraries import pulp
from fabopt.program.naming import Variables, add_rules, rule, rules_of
from fabopt.program.part_bounds import Ranges, most_between, most_used
from fabopt.program.payments import Deliveries, Payments
from fabopt.program.purchases import Purchases, Use, is_ordered
from fabopt.program.regret import Regrets
from fabopt.program.sourcing import Sourcing
from fabopt.topology.candidate import Candidate, Option, Uses, by_fabric
from fabopt.units import grouped

# Of links of a kind: their fabric, and a number.
Key = tuple[str, int]
# of one unit of an item that a stage adds
Weight = Callable[[int, Item], int]

MODEL = "docs/formulation.md"
SEVERAL_NETWORKS = "docs/formulation/several-networks.md"
PICK = Variables("pick", ("candidate",), "", "1 if the candidate is built")
LINKS = Variables("links", ("kind", "option"), "units of links", "how many of the kind the option makes")
PART = Variables("part", ("item",), "", "1 if the item is in use, where ties go to fewer part numbers")
# What has part numbers: all but servers and work.
PART_KINDS = ("switch", "nic", "transceiver", *CABLE_KINDS)
FIXED = Variables("fixed", (), "", "carries the part of the objective that every design has")


@dataclass
class Program:
    """The program for a set of candidates; see the module."""

    problem: Problem
    candidates: Sequence[Candidate]
    lp: pulp.LpProblem = field(init=False)
    pick: list[pulp.LpVariable] = field(init=False)
    numbers: dict[Hashable, int] = field(init=False, default_factory=dict)
    links: dict[tuple[Key, int], pulp.LpVariable] = field(init=False, default_factory=dict)
    purchases: Purchases = field(init=False)
    installed: BeyondService = field(init=False)
    visits: Visits = field(init=False)
    regrets: Regrets | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.lp = pulp.LpProblem("fabopt", pulp.LpMinimize)
        self.pick = [PICK.binary(index) for index in range(len(self.candidates))]
        self._add_links()
        links = [(key[0], var, self.options[key][a].uses) for (key, a), var in self.links.items()]
        self.installed = BeyondService(self.problem, self.lp, list(zip(self.pick, self.candidates, strict=True)), links)
        self.visits = Visits(self.installed)
        self.purchases = Purchases(self.problem, self.lp, *self._purchased())
        add_rules(self, first=True)
        add_rules(self.purchases)
        add_rules(self)
        given = self.problem, self.lp, self.purchases, self._level
        add_rules(Payments(*given))
        add_rules(Deliveries(*given))
        if self.problem.best_alone:
            self.regrets = Regrets(*given)
            add_rules(self.regrets)
        add_rules(self.installed)
        add_rules(self.visits)
        of_links = ((var, key[0], self.options[key][a].items) for (key, a), var in self.links.items())
        add_rules(Sourcing(self.problem, self.lp, list(zip(self.candidates, self.pick, strict=True)), of_links))

    # -- variables --------------------------------------------------------------------------------------------

    def _add_links(self) -> None:
        self.options: dict[Key, tuple[Option, ...]] = {}
        self.counts: dict[Key, dict[int, int]] = {}
        for index, candidate in enumerate(self.candidates):
            for choice in candidate.choices:
                key = candidate.fabric, self.numbers.setdefault(choice.key, len(self.numbers))
                self.options.setdefault(key, choice.options)
                counts = self.counts.setdefault(key, {})
                counts[index] = counts.get(index, 0) + choice.count
        for number, (key, options) in enumerate(self.options.items()):
            most = max(self.counts[key].values())
            for a in range(len(options)):
                self.links[key, a] = LINKS.integer(0, most, number, a)

    def _purchased(self) -> tuple[dict[Item, list[Use]], dict[Item, int], dict[Item, Ranges]]:
        """Uses by stage of all items that are ordered or counted, and upper bounds of their units in any design."""
        most = most_used(self.problem, self.candidates)
        wanted = {item for item in most if is_ordered(self.problem, item) or item.sold_by.counted}
        terms = grouped(
            ((stage, item), (var, count))
            for var, uses in (
                *zip(self.pick, (one.devices for one in self.candidates), strict=True),
                *self._unit_uses(),
            )
            for (stage, item), count in uses.items()
            if item in wanted and count
        )
        server, adds = self.problem.server_item, self.problem.server_adds
        uses_of = {
            item: [Use(terms.get((stage, item), []), add if item is server else 0) for stage, add in enumerate(adds)]
            for item in wanted
        }
        between = most_between(self.problem, self.candidates, frozenset(wanted))
        return uses_of, {item: most[item] for item in wanted}, between

    def _unit_uses(self) -> Iterator[tuple[pulp.LpVariable, Uses]]:
        for (key, a), var in self.links.items():
            yield var, self.options[key][a].uses

    # -- sums -------------------------------------------------------------------------------------------------

    def _sum(self, weight: Weight) -> tuple[dict[int, int], dict[tuple[Key, int], int]]:
        """A weighted sum over all items in use, as coefficients of ``pick`` and of ``links``."""
        on_pick = {
            index: sum(weight(stage, item) * count for (stage, item), count in candidate.devices.items())
            for index, candidate in enumerate(self.candidates)
        }
        on_links = {
            (key, a): sum(weight(stage, item) * count for (stage, item), count in self.options[key][a].uses.items())
            for key, a in self.links
        }
        return on_pick, on_links

    def _level(self, name: str, weight: Weight, orders: Sequence[tuple[pulp.LpVariable, int]] = ()) -> Level:
        """A weighted sum of uses with their labour, servers and ``orders``, with its coefficients reduced."""
        weight = with_work(weight)
        on_pick, on_links = self._sum(weight)
        for key, options in self.options.items():
            least = min(on_links[key, a] for a in range(len(options)))
            for a in range(len(options)):
                on_links[key, a] -= least
            for index, count in self.counts[key].items():
                on_pick[index] += least * count
        offset = self._of_servers(weight)
        for indices in by_fabric(self.candidates).values():
            least = min(on_pick[index] for index in indices)
            offset += least
            for index in indices:
                on_pick[index] -= least
        terms = [(self.pick[index], value) for index, value in on_pick.items() if value]
        terms += [(self.links[key], value) for key, value in on_links.items() if value]
        # a constant that is no whole number would round those of rows that hold the sum
        terms += [*self.visits.terms(weight), *self.installed.terms(weight)]
        return Level(name, pulp.LpAffineExpression([*terms, *orders], constant=0), offset)

    def _of_servers(self, weight: Weight) -> int:
        """The weighted sum of the servers, if they count, and of the labour of every design."""
        server, adds = self.problem.server_item, self.problem.server_adds
        fixed = sum(weight(stage, item) * units for (stage, item), units in self.problem.labour.standing.items())
        return fixed + sum(weight(stage, server) * count for stage, count in enumerate(adds) if server is not None)

    def _cents(self, stage: int, item: Item, present: bool = False) -> int:
        """Price of a unit on the variables that use it, in cents; 0 for an item that is ordered by itself."""
        return 0 if is_ordered(self.problem, item) else item.cost(stage, 1, present)

    def objective(self) -> Level:
        """The quantity that the case minimizes."""
        if self.regrets is not None:
            return Level("regret", self.regrets.worst, 0)
        return self._weighed("objective", self.problem.weights)

    def ties(self) -> Iterator[Level]:
        """Quantities that break ties, in order (docs/formulation/search.md); part numbers add their own rows."""
        weights = self.problem.weights
        if self.regrets is not None:
            yield self.regrets.expected
        for metric in self.problem.then:
            yield self._weighed(metric, self.problem.weights_in(metric))
        if weights != Weights(1, 0, 0, 1):
            yield self._level("capex", self._cents, self.purchases.cost())
        yield self._level_of_candidates(LACKING, lambda candidate: candidate.evenness.lacking_mbps)
        yield self._level_of_candidates("own_last_groups", lambda candidate: candidate.evenness.own_last)
        yield self._level("power", self._of_network(lambda stage, item: item.power_mw))
        yield self._level("rack_units", self._of_network(lambda stage, item: item.rack_milliunits))
        yield self._level("switches", lambda stage, item: int(item.kind == "switch"))
        yield self._level("cables", lambda stage, item: int(item.kind in CABLE_KINDS))
        yield self._level_of_candidates("spread_of_groups", lambda candidate: candidate.evenness.spread)
        yield self._level_of_candidates("cut_racks", lambda candidate: candidate.evenness.cut_racks)
        yield self.part_numbers()
        yield from self._rank_levels()
        yield self._option_level()

    def _weighed(self, name: str, weights: Weights) -> Level:
        """Money, power, rack units or counts; the servers' power only where its energy is paid."""
        present = bool(weights.energy)

        def weight(stage: int, item: Item) -> int:
            money = weights.per_cent * self._cents(stage, item, present)
            if item.kind == "server" and not weights.per_cent:
                return money
            return money + of_item(weights, stage, item)

        orders = [(var, weights.per_cent * count) for var, count in self.purchases.cost(None, present)]
        return self._level(name, weight, [term for term in orders if term[1]])

    @staticmethod
    def _of_network(weight: Weight) -> Weight:
        return lambda stage, item: 0 if item.kind == "server" else weight(stage, item)

    def part_numbers(self) -> Level:
        """Number of part numbers; those that every design has are ``offset``. Adds rows that count them."""
        uses: dict[Item, dict[str, tuple[pulp.LpVariable, int]]] = {}
        for var, used in (*zip(self.pick, (one.devices for one in self.candidates), strict=True), *self._unit_uses()):
            for _, item in used:
                if item.kind in PART_KINDS:
                    uses.setdefault(item, {})[var.name] = var, int(var.upBound)
        unavoidable = uses.keys() & self._unavoidable()
        open_items = sorted(uses.keys() - unavoidable, key=lambda item: item.index)
        terms = [(self._part(item, uses[item].values()), 1) for item in open_items]
        return Level("part_numbers", pulp.LpAffineExpression(terms), len(unavoidable))

    def _part(self, item: Item, uses: Iterable[tuple[pulp.LpVariable, int]]) -> pulp.LpVariable:
        """A variable that is 1 if an item is in use: by any of some variables, each up to its upper bound."""
        part = PART.binary(item.index)
        for var, most in uses:
            self.lp += var - most * part <= 0, f"part_numbers_{item.index}_{var.name}"
        return part

    def _unavoidable(self) -> set[Item]:
        """Items that are in every candidate of some fabric, with any options."""
        of_fabric: dict[str, set[Item]] = {}
        for candidate in self.candidates:
            items = {item for _, item in candidate.devices}
            for choice in candidate.choices:
                items |= set.intersection(*(set(option.items) for option in choice.options))
            of_fabric[candidate.fabric] = of_fabric.get(candidate.fabric, items) & items
        return set().union(*of_fabric.values())

    def _level_of_candidates(self, name: str, value: Callable[[Candidate], int]) -> Level:
        """A quantity of the candidates that are built, the least of each fabric moved to the offset."""
        terms: list[tuple[pulp.LpVariable, int]] = []
        offset = 0
        for indices in by_fabric(self.candidates).values():
            values = {index: value(candidate) for index, candidate in indices.items()}
            least = min(values.values())
            terms += [(self.pick[index], number - least) for index, number in values.items() if number > least]
            offset += least
        return Level(name, pulp.LpAffineExpression(terms), offset)

    def _rank_levels(self) -> Iterator[Level]:
        for fabric, indices in by_fabric(self.candidates).items():
            ranked = sorted(indices, key=lambda index: self.candidates[index].order)
            terms = [(self.pick[index], rank) for rank, index in enumerate(ranked)]
            yield Level(f"rank_{fabric}", pulp.LpAffineExpression(terms), 0)

    def _option_level(self) -> Level:
        names = sorted({option.name for options in self.options.values() for option in options})
        rank = {name: number for number, name in enumerate(names)}
        terms = [(var, rank[self.options[key][a].name]) for (key, a), var in self.links.items()]
        return Level("options", pulp.LpAffineExpression(terms), 0)

    # -- constraints ------------------------------------------------------------------------------------------

    @rule(MODEL, first=True)
    def one_candidate_per_fabric(self) -> None:
        """Every fabric is built, once: sum over its candidates of pick = 1."""
        for fabric in self.problem.fabrics:
            picks = [self.pick[i] for i, candidate in enumerate(self.candidates) if candidate.fabric == fabric.name]
            self.lp += pulp.lpSum(picks) == 1, f"one_candidate_per_fabric_{_word(fabric.name)}"

    @rule(MODEL, first=True)
    def parts_cover_links(self) -> None:
        """For every kind of link: units over all options = units that the picked candidates need."""
        for number, (key, options) in enumerate(self.options.items()):
            terms = [(self.links[key, a], 1) for a in range(len(options))]
            terms += [(self.pick[index], -count) for index, count in self.counts[key].items()]
            self.lp += pulp.LpAffineExpression(terms) == 0, f"parts_cover_links_{number}"

    @rule("docs/formulation/clos.md", first=True)
    def ports_fit_radix(self) -> None:
        """Cables below and above a switch that its cages hold singly, not together: at most one of the two."""
        for index, candidate in enumerate(self.candidates):
            for number, clash in enumerate(candidate.clashes):
                taken = [self.pick[index]]
                taken += [self.links[(candidate.fabric, self.numbers[key]), a] for key, a in clash]
                self.lp += pulp.lpSum(taken) <= 2, f"ports_fit_radix_{index}_{number}"

    @rule(SEVERAL_NETWORKS)
    def nics_fit_slots(self) -> None:
        """NICs chosen over all fabrics fit the server's slots."""
        if self.problem.shares_slots:
            cards = [(self.pick[i], built.nic_slots) for i, built in enumerate(self.candidates) if built.nic_slots]
            self.lp += pulp.LpAffineExpression(cards) <= self.problem.nic_slots, "nics_fit_slots"

    @rule(SEVERAL_NETWORKS)
    def oob_covers_boxes(self) -> None:
        """An out-of-band fabric has ports for just the switches of all fabrics installed at each stage, its own too.

        sum over its candidates of counted * pick = sum over all candidates of switches * pick, for every stage. Ports
        of servers and of what no design changes are in every candidate.
        """
        for fabric in self.problem.fabrics:
            for stage in range(len(self.problem.stages)) if fabric.per_switch is not None else ():
                terms = [
                    (var, (built.counted[stage] if built.fabric == fabric.name else 0) - built.switches(stage))
                    for var, built in zip(self.pick, self.candidates, strict=True)
                ]
                name = f"oob_covers_boxes_{_word(fabric.name)}" + (f"_{stage}" if len(self.problem.stages) > 1 else "")
                self.lp += pulp.LpAffineExpression(terms) == 0, name

    @rule(MODEL)
    def limits_hold(self) -> None:
        """Budget, power and rack units over all fabrics, and the servers' own if they count; of the case, then of every
        stage: what is spent at it, the power and rack units of what is installed from it on.
        """
        last = len(self.problem.stages) - 1
        self._limit_sums()
        self._limit("", self.problem.limits, range(last + 1), range(last + 1))
        for stage, of_stage in enumerate(self.problem.stages):
            name = f"_{stage}" if last else "_stage"
            self._limit(name, of_stage.limits, range(stage, stage + 1), range(stage + 1))

    def _limit(self, name: str, limits: ExactLimits, spent: range, standing: range) -> None:
        """Limits on the money of stages ``spent``, and on the power and rack units that stages ``standing`` add."""
        orders = self.purchases.cost(spent)
        for key, most, stages, weight, terms in (
            ("budget", limits.capex_cents, spent, self._cents, orders),
            ("power", limits.power_mw, standing, lambda stage, item: item.power_mw, []),
            ("rack_units", limits.rack_milliunits, standing, lambda stage, item: item.rack_milliunits, []),
        ):
            if most is not None:
                used = self._level(key, partial(_within, stages, weight), terms)
                self.lp += used.expression <= most - used.offset, f"limits_hold_{key}{name}"

    def _limit_sums(self) -> None:
        """Limits of fronts on switches, cables and total cost of ownership, over all stages."""
        limits = self.problem.limits
        for name, most in (("switches", limits.switches), ("cables", limits.cables), ("tco_usd", limits.tco_scaled)):
            if most is not None:
                used = self._weighed(name, self.problem.weights_in(name))
                self.lp += used.expression <= most - used.offset, f"limits_hold_{name}"

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to decide once every fabric has a candidate."""
        return (
            len(self.candidates) == len(self.problem.fabrics)
            and all(len(options) == 1 for options in self.options.values())
            and not self.purchases.buy
        )

    def standalone(self) -> pulp.LpProblem:
        """The program for other solvers, its objective complete: ``fixed`` is 1 and carries the offset."""
        level = self.objective()
        fixed = FIXED.integer(1, 1)
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

    def keys_of(self, candidate: Candidate) -> list[Key]:
        """The choices of a candidate, each once."""
        return list(dict.fromkeys((candidate.fabric, self.numbers[choice.key]) for choice in candidate.choices))

    def units(self, values: Mapping[str, int], candidate: Candidate) -> list[tuple[Option, int]]:
        """Units of each option in a picked candidate's links."""
        return [
            (option, count)
            for key in self.keys_of(candidate)
            for a, option in enumerate(self.options[key])
            if (count := values.get(self.links[key, a].name, 0))
        ]


RULES = (
    *rules_of(Program, first=True), *rules_of(Purchases), *rules_of(Program), *rules_of(Payments),
    *rules_of(Deliveries), *rules_of(Regrets), *rules_of(BeyondService), *rules_of(Visits), *rules_of(Sourcing),
)  # fmt: skip


def _within(stages: range, weight: Weight, stage: int, item: Item) -> int:
    return weight(stage, item) if stage in stages else 0


def _word(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)
