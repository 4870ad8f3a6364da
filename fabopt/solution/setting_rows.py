"""Rows of what else there is with other settings of a fabric: a ratio a little higher, rails, stripes, planes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fabopt.schema.design import Alternative
from fabopt.solution.cliff import cliffs_of, other_settings
from fabopt.solution.compared import NONE_FOUND, NOTHING_CHEAPER, beside
from fabopt.solution.other_settings import RAILS, service_beside, set_free
from fabopt.solution.rivals import Looks, Rivals
from fabopt.solution.row_searches import SHARE, SHARE_OF_RAILS
from fabopt.topology.clos.design import ClosDesign


class SettingRows(Rivals):
    """The best designs with other settings of a Clos fabric than the case has."""

    def looks(self) -> Looks:
        """The first lines of an answer tell of cliffs; settings that have a row below one get no other."""
        fabrics = enumerate(self.answer.problem.fabrics)
        compute = [partial(self.set_free, index) for index, fabric in fabrics if fabric.role == "compute"]
        return [self.below_cliffs], compute

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
            rival = free.cheaper_rival({}, SHARE_OF_RAILS if other.what == RAILS else SHARE)
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
