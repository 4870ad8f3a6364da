"""What else there is: the best design of each other kind, against the one that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.other_choices import with_mixed_spines, with_one_product, with_own_last_group
from fabopt.problem.problem import Problem, estimating
from fabopt.problem.rules_kept import (
    OF_GENERATIONS,
    OF_MANAGERS,
    OF_NICS,
    OF_REDUNDANCY,
    is_bound,
    left_out,
    without_rules,
)
from fabopt.problem.subnet_manager import INFINIBAND
from fabopt.program.lexicographic import Optimum, optimum_of
from fabopt.program.orders import sums_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.default_rules import INTERCHANGEABLE, NIC_PAIRING, ONE_GENERATION, SUBNET_MANAGER
from fabopt.schema.design import Alternative
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.solution.baselines import baseline_plans
from fabopt.solution.cliff import cliffs_of, other_settings
from fabopt.solution.compared import BEST_FOUND, NONE_FOUND, NOTHING_CHEAPER, beside
from fabopt.solution.fewer_switches import LEAST_SWITCHES, boxes_beside, with_fewer_switches
from fabopt.solution.other_settings import RAILS, last_group_words, service_beside, set_free, without_its_only_switch
from fabopt.solution.part_numbers import part_numbers_of, with_fewer_part_numbers
from fabopt.solution.rival_kinds import kinds_of
from fabopt.solution.rivals import Rivals
from fabopt.solution.row_searches import (
    OF_FEWER_SWITCHES,
    SHARE_OF_KINDS,
    SHARE_OF_RAILS,
    SHARE_OF_RULES,
    SHARE_OF_SETTINGS,
    RowSearches,
)
from fabopt.solution.sources import SOURCING, SourcingRule, sourcing_rules, without_sources
from fabopt.solution.summaries import summaries_of
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.network import clos_of
from fabopt.topology.family import Restriction
from fabopt.topology.subnet_manager import with_managers, without_twins
from fabopt.topology.ways import in_every_way
from fabopt.units import some

# What one plans with before there is a floor plan.
FLAT_RUN_M = 30
MANAGEMENT = ("in-band", "oob")
# Candidates that are compared for a design of another kind, where its proof would take more.
MOST_OF_A_KIND = 200
# What a design without some default rules is called, and those rules.
WITHOUT_RULES = (
    ("redundancy", OF_REDUNDANCY),
    (NIC_PAIRING, OF_NICS),
    (ONE_GENERATION, OF_GENERATIONS),
    (SUBNET_MANAGER, OF_MANAGERS),
)
# Of so many rules of procurement one search without all of them is quicker than one without each.
MANY_RULES = 2
Look = Callable[[], Iterator[Alternative]]
PART_NUMBERS = "part numbers"
SWITCHES = "switches"
GROUPS = "groups"
SPINES = "spines"


def alternatives_of(answer: Answer, settings: Settings, clock: Clock) -> Iterator[Alternative]:
    """The best design of each kind that lost: other protocol, tier count, port speed, leaf switch; on a floor (where
    they are the best that were found) other places of the switches, and what flat runs would have cost. Kinds of
    networks for management are not compared: they cost little. Raises ``StoppedError`` when the clock is over.
    """
    searches = RowSearches(answer.problem, settings, clock)
    rows = _RivalRows(answer, replace(settings, most_candidates=MOST_OF_A_KIND), clock, searches)
    for look in settings.share.over(rows.looks()):
        yield from look()
    clock.look()


class _RivalRows(Rivals):
    """The rows of an answer, by what is another in them."""

    def looks(self) -> list[Look]:
        """All that is looked for, what matters most first: time may be over before the end.

        Rules of whose parts are used ask for their cost, and the first lines of an answer tell of cliffs.
        """
        fabrics = range(len(self.answer.problem.fabrics))
        roles = [fabric.role for fabric in self.answer.problem.fabrics]
        return [
            self.other_sources,
            self.below_cliffs,
            *(partial(self.without_its_only_switch, index) for index in fabrics),
            self.without_default_rules,
            self.other_plans,
            *(partial(self.set_free, index) for index in fabrics if roles[index] == "compute"),
            self.fewer_switches,
            *(
                partial(look, index)
                for index in fabrics
                if roles[index] not in MANAGEMENT
                for look in (self.other_kinds, self.flat_runs)
            ),
            *(
                partial(look, index)
                for index in fabrics
                for look in (self.own_last_group, self.equal_groups, self.mixed_spines)
            ),
            self.fewer_part_numbers,
        ]

    def other_kinds(self, index: int) -> Iterator[Alternative]:
        """The best design of each other kind of one fabric."""
        fabric = self.problem.fabrics[index]
        for what, value, restriction in kinds_of(self.problem, fabric, self.answer.picked[index][0]):
            self.clock.look()
            self.settings.progress(f"looking at the best design with {what} {value}")
            # of another leaf switch all leaves are
            others = self if restriction.not_leaf is None else self.with_problem(with_one_product(self.problem))
            rival = others.rival({fabric.name: restriction}, SHARE_OF_KINDS)
            if rival.value is not None:
                yield self.alternative(rival, index, self.named(index, what), value)
            else:
                yield from self.none_met(self.named(index, what), value, [rival])

    def flat_runs(self, index: int) -> Iterator[Alternative]:
        """The design with the same hardware and all links as long as one would plan them without a floor."""
        fabric, design = self.problem.fabrics[index], self.answer.picked[index][0].design
        if not isinstance(design, ClosDesign) or not self.problem.site.policies or len(self.problem.fabrics) > 1:
            return
        self.clock.look()
        flat = replace(fabric, runs_m=dict.fromkeys(fabric.runs_m, FLAT_RUN_M))
        clos = clos_of(flat, design.network.parts, design.network.shape)
        flat_candidates = in_every_way(self.problem, flat, candidates_of(self.problem, flat, clos, True))
        candidate = next(iter(flat_candidates), None)
        optimum = search_of(self.problem, self.settings, self.clock, context=self.context).of_one(candidate)
        if optimum.value is not None:
            yield self.alternative(optimum, index, "flat runs", f"{FLAT_RUN_M} m")

    def may_be_cheaper_without_rules(self) -> bool:
        """Whether any design may be cheaper that keeps none of the default rules; of a ratio that is not known."""
        self.clock.look()
        value, free = self.answer.optimum.value, without_rules(self.problem)
        if not is_bound(self.problem) or value is None or self.answer.ratio is not None or self.rows.is_large:
            return is_bound(self.problem)
        with self.rows.of_row(SHARE_OF_RULES):
            return search_of(free, self.quiet, self.clock, context=self.context).may_beat(value)

    def without_default_rules(self) -> Iterator[Alternative]:
        """The best design without each of the default rules, where it is cheaper for that."""
        if self.may_be_cheaper_without_rules():
            for what, rules in WITHOUT_RULES:
                yield from self.without_rules(what, rules)

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
            rival = free.cheaper_rival(part, SHARE_OF_RULES)
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

    def own_last_group(self, index: int) -> Iterator[Alternative]:
        """The best design of two tiers whose last leaf group is unlike the others, where it is cheaper for that."""
        fabrics = self.answer.problem.fabrics
        other = with_own_last_group(fabrics[index], self.answer.problem.case)
        if other is not None:
            progress = "looking at the best design with a last leaf group of its own"
            yield from self._of_two_tiers(index, other, (GROUPS, "any"), progress)

    def mixed_spines(self, index: int) -> Iterator[Alternative]:
        """The best design of two tiers whose spines are of two types, where it is cheaper for that."""
        other = with_mixed_spines(self.answer.problem.fabrics[index], self.answer.problem.case)
        if other is not None:
            progress = "looking at the best design with spines of two types"
            yield from self._of_two_tiers(index, other, (SPINES, "mixed"), progress)

    def _of_two_tiers(
        self, index: int, other: FabricProblem, setting: tuple[str, str], progress: str
    ) -> Iterator[Alternative]:
        """The best design of two tiers with a fabric that may be more than the answer's, where it is cheaper."""
        fabrics, (what, value) = self.answer.problem.fabrics, setting
        if other.role in MANAGEMENT:
            return
        self.clock.look()
        self.settings.progress(progress)
        problem = replace(self.answer.problem, fabrics=(*fabrics[:index], other, *fabrics[index + 1 :]))
        free = self.with_problem(problem)
        rival = free.cheaper_rival({other.name: Restriction(tiers=2)}, SHARE_OF_KINDS)
        if rival.value is None:
            yield from self.none_met(self.named(index, what), value, [rival])
        else:
            alternative = free.alternative(rival, index, self.named(index, what), value)
            if alternative.objective_delta < 0:
                structure = list(rival.picked)[index][0].design.file_part().structure
                yield alternative.model_copy(update={"summary": alternative.summary + last_group_words(structure)})

    def equal_groups(self, index: int) -> Iterator[Alternative]:
        """The best design whose leaf groups are all alike, where in the answer the last one is not."""
        fabrics, design = self.answer.problem.fabrics, self.answer.picked[index][0].design
        last = last_group_words(design.file_part().structure)
        if not isinstance(design, ClosDesign) or not last or fabrics[index].role in MANAGEMENT:
            return
        self.clock.look()
        self.settings.progress("looking at the best design with equal leaf groups")
        alike = replace(fabrics[index], last_group="equal")
        problem = replace(self.answer.problem, fabrics=(*fabrics[:index], alike, *fabrics[index + 1 :]))
        equal = self.with_problem(problem)
        rival = equal.rival({})
        if rival.value is not None:
            alternative = equal.alternative(rival, index, self.named(index, GROUPS), "equal")
            service = service_beside(list(rival.picked)[index][0].design, design, self.problem)
            summary = f"{alternative.summary}{service} (here{last.removeprefix(';')})"
            yield alternative.model_copy(update={"summary": summary})

    def below_cliffs(self) -> Iterator[Alternative]:
        """The best designs with settings that may do with a tier less, where the answer is just above a cliff; where it
        has three tiers those that are cheaper.
        """
        problem = self.answer.problem
        for cliff in cliffs_of(problem, self.answer.picked):
            name = problem.fabrics[cliff.fabric].name
            for other in other_settings(problem, cliff):
                self.clock.look()
                self.settings.progress(f"looking at the best design with {other.what} {other.value}")
                free = self.with_problem(other.problem)
                look = free.rival if cliff.is_of_ports else free.cheaper_rival
                rival = look({name: other.restriction})
                if rival.value is not None and (cliff.is_of_ports or self.is_cheaper(rival)):
                    self.told.add((cliff.fabric, other.what.replace("family", "topologies")))
                    yield free.alternative(rival, cliff.fabric, self.named(cliff.fabric, other.what), other.value)

    def set_free(self, index: int) -> Iterator[Alternative]:
        """The best designs with other settings of a Clos fabric, where they are cheaper, and that there is none where
        that is proven; but for settings that have a row below a cliff. Of a ratio they are not looked for.
        """
        answer = self.answer
        value, design = answer.optimum.value, answer.picked[index][0].design
        if answer.ratio is not None or value is None or not isinstance(design, ClosDesign) or design.tiers == 1:
            return
        for other in set_free(answer.problem, index):
            if (index, other.what) in self.told:
                continue
            self.clock.look()
            self.settings.progress(f"looking at the best design with {other.what} {other.value}")
            free = self.with_problem(other.problem)
            rival = free.cheaper_rival({}, SHARE_OF_RAILS if other.what == RAILS else SHARE_OF_SETTINGS)
            if rival.value is not None and rival.value < value:
                alternative = free.alternative(rival, index, self.named(index, other.what), other.value)
                service = service_beside(list(rival.picked)[index][0].design, design, self.problem)
                yield alternative.model_copy(update={"summary": alternative.summary + service})
            elif rival.has_none_below(value):
                yield beside(
                    self.problem, self.sums, self.sums, self.named(index, other.what), other.value, NOTHING_CHEAPER
                )
            else:
                self.clock.look()
                yield beside(self.problem, self.sums, self.sums, self.named(index, other.what), other.value, NONE_FOUND)

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

    def _part_without(self, rules: frozenset[str]) -> dict[str, Restriction]:
        """The part of the space in which some rules leave designs out: those of InfiniBand alone concern only that."""
        if not rules <= OF_GENERATIONS | OF_MANAGERS or len(self.problem.fabrics) > 1:
            return {}
        return {self.problem.fabrics[0].name: Restriction(protocol=INFINIBAND)}

    def fewer_part_numbers(self) -> Iterator[Alternative]:
        """What the devices of the answer cost, joined with fewer part numbers."""
        if self.answer.ratio is not None:
            return
        self.clock.look()
        picked = self.answer.picked
        rival = with_fewer_part_numbers(self.answer.problem, picked, self.quiet, self.clock)
        if rival is not None:
            before, after = (part_numbers_of(self.problem, parts) for parts in (picked, list(rival.picked)))
            alternative = self.alternative(rival, 0, PART_NUMBERS, str(after))
            summary = f"the same devices, joined by other parts: {some(after, 'part number')} for {before}"
            yield alternative.model_copy(update={"summary": summary})

    def fewer_switches(self) -> Iterator[Alternative]:
        """The best design with half the switches, where it costs little more; of a ratio it is not looked for."""
        value, switches = self.answer.optimum.value, self.sums.switches
        if self.answer.ratio is not None or value is None or switches < LEAST_SWITCHES:
            return
        self.clock.look()
        self.settings.progress("looking at the best design with half the switches")
        with self.rows.of_row(more=OF_FEWER_SWITCHES):
            likely, quiet = self.rows.likeliest(self.problem), self.rows.hasty
            rival = with_fewer_switches(likely, value, switches, quiet, self.clock, self.context)
        if rival.value is not None:
            if likely is not self.problem:  # the best of a part of the space is proven for that part alone
                rival = replace(rival, verdict="feasible")
            sums = sums_of(self.problem, list(rival.picked))
            alternative = self.alternative(rival, 0, SWITCHES, str(sums.switches))
            summary = self.other_fabrics(rival) + boxes_beside(sums, self.sums)
            yield alternative.model_copy(update={"summary": summary})

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

    def other_plans(self) -> Iterator[Alternative]:
        """What growth would cost if it were not planned; of a ratio it is not known, as these plans are only bills."""
        if self.answer.ratio is not None:
            return
        self.clock.look()
        for plan in baseline_plans(self.problem, self.answer.picked, self.context, self.settings, self.clock):
            yield beside(self.problem, self.sums, plan.sums, plan.what, plan.value, plan.summary)
