"""Expanding the space on a floor: every fabric in every layout that is wanted, its candidates with switches placed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.search.coefficients import least_of
from fabopt.search.context import Context
from fabopt.search.expansion import MOST_SAMPLED, Expanded, Expansion
from fabopt.search.floor.chosen import Placed
from fabopt.search.floor.variants import layouts_of
from fabopt.topology.batch import Sizing
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.layouts import in_places
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.cutoff import RELATIVE_SLACK
from fabopt.topology.family import Restriction


class FloorExpansion(Expansion):
    """The space of a problem in the layouts of a floor."""

    def _searched(self, costs: BoundedCosts, fabric: FabricProblem, slack: float, first: bool = False) -> Sizing:
        """Search a fabric in every layout."""
        sizing = Sizing()
        for variant in self.wanted(fabric, costs):
            self.space(variant, costs).search(slack, sizing)
        return sizing

    def wanted(self, fabric: FabricProblem, costs: BoundedCosts) -> list[FabricProblem]:
        """The fabric in the layouts that are in the part of the space that is searched."""
        part = self.restrictions.get(fabric.name, Restriction())
        return [
            variant
            for number, variant in enumerate(self.variants(fabric, costs))
            if part.layout in (None, number) and part.policy in (None, variant.arrangement.policy)
        ]

    def variants(self, fabric: FabricProblem, costs: BoundedCosts) -> tuple[FabricProblem, ...]:
        """The fabric in all layouts; worked out once."""
        known = self.context.variants
        if fabric not in known:
            known[fabric] = self._variants(fabric, costs)
        return known[fabric]

    def _variants(self, fabric: FabricProblem, costs: BoundedCosts) -> tuple[FabricProblem, ...]:
        return layouts_of(self.problem, fabric, partial(self._whole, costs))

    def _whole(self, costs: BoundedCosts, fabric: FabricProblem) -> ClosSpace:
        """The Clos candidates of a fabric, whatever part of the space is searched."""
        return ClosSpace(self.problem, fabric, costs, self.caps, Restriction(), self.settings.prune)

    def _candidates_of(self, sizing: Sizing, expanded: Expanded, most: int | None, in_order: bool) -> list[Candidate]:
        return self._near(self._in_time(self._sizes(sizing, most, in_order)), expanded, sizing)

    @property
    def keeps_candidates(self) -> bool:
        """Yes, as to place their switches takes a while."""
        return True

    def _near(self, candidates: list[Candidate], expanded: Expanded, sizing: Sizing) -> list[Candidate]:
        """Candidates whose exact least is below the cutoff too; a few of the best while that is the bound itself.

        In a layout the cost of a batch is a bound, as runs are known only once switches are placed.
        """
        if not self.settings.prune:
            return candidates
        least = [least_of(candidate, expanded.weights) for candidate in candidates]
        order = sorted(range(len(least)), key=least.__getitem__)
        limit = (sizing.least + expanded.slack) * (1 + RELATIVE_SLACK)
        below = sum(1 for value in least if value <= limit)
        return [candidates[index] for index in order[: max(below, MOST_SAMPLED)]]

    def weigh_up_to(self, value: int) -> bool:
        """Nothing changes: the bounds of layouts are not worked out again."""
        return False


class PlaceExpansion(FloorExpansion):
    """The space of a problem on a small floor, every switch in any rack."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        restrictions: Mapping[str, Restriction],
        context: Context | None = None,
    ) -> None:
        super().__init__(problem, settings, clock, restrictions, context)
        self.together.measures = False
        self.placed = Placed(problem, self.table, settings.prune, self.context)

    def _variants(self, fabric: FabricProblem, costs: BoundedCosts) -> tuple[FabricProblem, ...]:
        return in_places(self.problem, fabric)

    def _candidates_of(self, sizing: Sizing, expanded: Expanded, most: int | None, in_order: bool) -> list[Candidate]:
        limit = (sizing.least + expanded.slack) * (1 + RELATIVE_SLACK)
        sizes = self._sizes(sizing, most, in_order=True)
        return self._near(self.placed.candidates(sizes, expanded.weights, limit), expanded, sizing)
