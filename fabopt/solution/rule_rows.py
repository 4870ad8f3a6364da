"""Rows of what else there is without a rule: of whose parts are used, of a case's defaults, of a plan for growth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from fabopt.problem.other_choices import with_one_product
from fabopt.problem.problem import Problem, estimating
from fabopt.problem.rules_kept import (
    OF_GENERATIONS,
    OF_MANAGERS,
    OF_REDUNDANCY,
    is_bound,
    left_out,
    without_rules,
)
from fabopt.problem.subnet_manager import INFINIBAND
from fabopt.program.lexicographic import Optimum, optimum_of
from fabopt.program.orders import sums_of
from fabopt.schema.default_rules import INTERCHANGEABLE, NIC_RULES, ONE_GENERATION, SUBNET_MANAGER
from fabopt.schema.design import Alternative
from fabopt.search.choice import search_of
from fabopt.solution.baselines import baseline_plans
from fabopt.solution.compared import BEST_FOUND, NOTHING_CHEAPER, beside
from fabopt.solution.other_settings import without_its_only_switch
from fabopt.solution.rivals import Looks, Rivals
from fabopt.solution.sources import SOURCING, SourcingRule, sourcing_rules, without_sources
from fabopt.solution.summaries import summaries_of
from fabopt.topology.family import Restriction
from fabopt.topology.subnet_manager import with_managers, without_twins
from fabopt.units import some

# What a design without some default rules is called, and those rules.
WITHOUT_RULES = (
    ("redundancy", OF_REDUNDANCY),
    *((rule, frozenset({rule})) for rule in NIC_RULES),
    (ONE_GENERATION, OF_GENERATIONS),
    (SUBNET_MANAGER, OF_MANAGERS),
)
# Of so many rules of procurement one search without all of them is quicker than one without each.
MANY_RULES = 2


class RuleRows(Rivals):
    """The best designs that are bound to less than the answer; and to more, where a default rule allows one switch."""

    def looks(self) -> Looks:
        """Rules of whose parts are used ask for their cost, so that comes first."""
        fabrics = range(len(self.answer.problem.fabrics))
        only_switches = [partial(self.without_its_only_switch, index) for index in fabrics]
        return [self.other_sources], only_switches, [self.without_default_rules], [self.other_plans]

    def other_sources(self) -> Iterator[Alternative]:
        """What the best design costs without each rule of whose parts are used; of a ratio it is not looked for.

        Of several rules, one search without all of them tells that none costs anything; it is made first, and again
        after a rule that costs something.
        """
        if self.answer.ratio is not None:
            return
        if any(candidate.stand_ins for candidate, _ in self.answer.picked):
            yield from self._without_source(f"rules.{INTERCHANGEABLE}", with_one_product(self.answer.problem))
        left, may_be_free = sourcing_rules(self.answer.problem.case), True
        while left:
            if may_be_free and len(left) >= MANY_RULES and self._cost_nothing(left):
                for rule in left:
                    yield beside(self.problem, self.sums, self.sums, SOURCING, f"without {rule.name}", NOTHING_CHEAPER)
                return
            rule, *left = left
            may_be_free = False
            for alternative in self._without_source(rule.name, without_sources(self.answer, [rule])):
                may_be_free = alternative.objective_delta < 0
                yield alternative

    def _cost_nothing(self, rules: Sequence[SourcingRule]) -> bool:
        """Whether no design is cheaper without all these rules, so that each of them costs nothing."""
        value, free = self.answer.optimum.value, without_sources(self.answer, rules)
        self.clock.look()
        if value is None or not free.site.settles:
            return False
        self.settings.progress(f"looking at the best design without {len(rules)} rules of procurement")
        with self.rows.of_row():
            rival = search_of(estimating(free), self.quiet, self.clock, lower_than=value).run(ties=False)
        return rival.has_none_below(value)

    def _without_source(self, rule: str, problem: Problem) -> Iterator[Alternative]:
        """The best design of a problem that is without a rule."""
        self.clock.look()
        self.settings.progress(f"looking at the best design without {rule}")
        free = estimating(problem)
        with self.rows.of_row():
            rival = search_of(free, self.quiet, self.clock, near=self.answer.optimum.value).run(ties=False)
        if rival.value is not None:
            sums, summary = sums_of(free, list(rival.picked)), summaries_of(free, list(rival.picked))
            summary += BEST_FOUND if rival.verdict != "optimal" and free.site.settles else ""
            yield beside(self.problem, self.sums, sums, SOURCING, f"without {rule}", summary)
        else:
            yield from self.none_met(SOURCING, f"without {rule}", [rival])

    def without_its_only_switch(self, index: int) -> Iterator[Alternative]:
        """The best design that outlives the only switch of a fabric of storage or in-band, whatever it costs."""
        fabrics = self.answer.problem.fabrics
        other = without_its_only_switch(self.answer.problem, index, self.answer.picked[index][0].design)
        if other is None or self.answer.ratio is not None:
            return
        self.clock.look()
        self.settings.progress(f"looking at the best design that outlives the only switch of {fabrics[index].name}")
        free = self.with_problem(other.problem)
        rival = free.rival({})
        if rival.value is not None:
            planes = list(rival.picked)[index][0].design.nic.planes
            yield free.alternative(
                rival, index, self.named(index, other.what), f"{other.value}, {some(planes, 'plane')}"
            )

    def without_default_rules(self) -> Iterator[Alternative]:
        """The best design without each of the default rules, where it is cheaper for that."""
        if self.may_be_cheaper_without_rules():
            for what, rules in WITHOUT_RULES:
                yield from self.without_rules(what, rules)

    def may_be_cheaper_without_rules(self) -> bool:
        """Whether any design may be cheaper that keeps none of the default rules; of a ratio that is not known."""
        self.clock.look()
        value, free = self.answer.optimum.value, without_rules(self.problem)
        if not is_bound(self.problem) or value is None or self.answer.ratio is not None or self.rows.is_large:
            return is_bound(self.problem)
        with self.rows.of_row():
            return search_of(free, self.quiet, self.clock, context=self.context).may_beat(value)

    def without_rules(self, what: str, rules: frozenset[str]) -> Iterator[Alternative]:
        """The best design that need not keep some default rules, where it is cheaper for that."""
        if not is_bound(self.problem, rules):
            return
        self.clock.look()
        self.settings.progress(f"looking at the best design without the rule of {what}")
        cheaper: list[tuple[Alternative, Optimum]] = []
        rivals: list[Optimum] = []
        for problem in left_out(self.answer.problem, rules):
            free = self.with_problem(problem)
            part = free._part_without(rules)
            rival = free.cheaper_rival(part)
            if rival.verdict != "optimal" and self.answer.ratio is None:
                rival = self._better_of(rival, problem)
            rivals.append(rival)
            if rival.value is not None:
                alternative = self.alternative(rival, 0, what, "none")
                if alternative.objective_delta < 0:
                    cheaper.append((alternative, rival))
        for alternative, rival in sorted(cheaper, key=lambda pair: pair[0].objective)[:1]:
            yield alternative.model_copy(update={"summary": self.other_fabrics(rival)})
        if not cheaper:
            yield from self.none_met(what, "none", rivals)

    def _better_of(self, rival: Optimum, problem: Problem) -> Optimum:
        """Of what was found in a space with less rules, and the answer's own switches bound to them, the better."""
        fabrics = zip(problem.fabrics, self.answer.picked, strict=True)
        plain = [(fabric, without_twins(candidate)) for fabric, (candidate, _) in fabrics]
        ways = [one for fabric, own in plain for one in with_managers(fabric, problem.servers, [own])]
        own = optimum_of(problem, ways, self.quiet, self.clock)
        if own.value is None or (rival.value is not None and rival.value <= own.value):
            return rival
        return replace(own, verdict="feasible", bound=rival.bound)

    def _part_without(self, rules: frozenset[str]) -> dict[str, Restriction]:
        """The part of the space in which some rules leave designs out: those of InfiniBand alone concern only that."""
        if not rules <= OF_GENERATIONS | OF_MANAGERS or len(self.problem.fabrics) > 1:
            return {}
        return {self.problem.fabrics[0].name: Restriction(protocol=INFINIBAND)}

    def other_plans(self) -> Iterator[Alternative]:
        """What growth would cost if it were not planned; of a ratio it is not known, as these plans are only bills."""
        if self.answer.ratio is not None:
            return
        self.clock.look()
        for plan in baseline_plans(self.problem, self.answer.picked, self.context, self.settings, self.clock):
            yield beside(self.problem, self.sums, plan.sums, plan.what, plan.value, plan.summary)
