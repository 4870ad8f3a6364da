"""Rows of what else there is of another kind: other hardware, places, groups, spines, part numbers, fewer switches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.other_choices import with_mixed_spines, with_one_product, with_own_last_group
from fabopt.program.orders import sums_of
from fabopt.schema.design import Alternative
from fabopt.search.choice import search_of
from fabopt.solution.fewer_switches import LEAST_SWITCHES, boxes_beside, with_fewer_switches
from fabopt.solution.other_settings import last_group_words, service_beside
from fabopt.solution.part_numbers import part_numbers_of, with_fewer_part_numbers
from fabopt.solution.rival_kinds import kinds_of
from fabopt.solution.rivals import Looks, Rivals
from fabopt.solution.row_searches import OF_FEWER_SWITCHES, SHARE_OF_KINDS
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.network import clos_of
from fabopt.topology.family import Restriction
from fabopt.topology.ways import in_every_way
from fabopt.units import some

# What one plans with before there is a floor plan.
FLAT_RUN_M = 30
MANAGEMENT = ("in-band", "oob")
PART_NUMBERS = "part numbers"
SWITCHES = "switches"
GROUPS = "groups"
SPINES = "spines"


class KindRows(Rivals):
    """The best designs of each other kind. Kinds of networks for management are not compared: they cost little."""

    def looks(self) -> Looks:
        """Half the switches first, then fabric by fabric."""
        fabrics = list(enumerate(self.answer.problem.fabrics))
        hardware = [
            partial(look, index)
            for index, fabric in fabrics
            if fabric.role not in MANAGEMENT
            for look in (self.other_kinds, self.flat_runs)
        ]
        groups = [
            partial(look, index)
            for index, _ in fabrics
            for look in (self.own_last_group, self.equal_groups, self.mixed_spines)
        ]
        return [self.fewer_switches], hardware, groups, [self.fewer_part_numbers]

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
