"""Rows of what else there is with other groups, spines or part numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.other_choices import with_mixed_spines, with_own_last_group
from fabopt.schema.design import Alternative
from fabopt.solution.kind_rows import MANAGEMENT
from fabopt.solution.other_settings import last_group_words, service_beside
from fabopt.solution.part_numbers import part_numbers_of, with_fewer_part_numbers
from fabopt.solution.rivals import Looks, Rivals
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.family import Restriction
from fabopt.units import some

PART_NUMBERS = "part numbers"
GROUPS = "groups"
SPINES = "spines"


class GroupRows(Rivals):
    """The best designs with other last groups and spines, of two tiers, and the answer with fewer part numbers."""

    def looks(self) -> Looks:
        """Fabric by fabric."""
        fabrics = range(len(self.answer.problem.fabrics))
        groups = [
            partial(look, index)
            for index in fabrics
            for look in (self.own_last_group, self.equal_groups, self.mixed_spines)
        ]
        return groups, [self.fewer_part_numbers]

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
        rival = free.cheaper_rival({other.name: Restriction(tiers=2)})
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
