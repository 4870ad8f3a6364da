"""Rows of what else there is of another kind: other hardware, places, fewer switches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from fabopt.problem.other_choices import with_one_product
from fabopt.program.orders import sums_of
from fabopt.schema.design import Alternative
from fabopt.search.choice import search_of
from fabopt.solution.fewer_switches import LEAST_SWITCHES, boxes_beside, with_fewer_switches
from fabopt.solution.rival_kinds import kinds_of
from fabopt.solution.rivals import Looks, Rivals
from fabopt.solution.row_searches import OF_FEWER_SWITCHES, SHARE_OF_KINDS
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.network import clos_of
from fabopt.topology.ways import in_every_way

# What one plans with before there is a floor plan.
FLAT_RUN_M = 30
MANAGEMENT = ("in-band", "oob")
SWITCHES = "switches"


class KindRows(Rivals):
    """The best designs of each other kind. Kinds of networks for management are not compared: they cost little."""

    def looks(self) -> Looks:
        """Half the switches first, then fabric by fabric."""
        hardware = [
            partial(look, index)
            for index, fabric in enumerate(self.answer.problem.fabrics)
            if fabric.role not in MANAGEMENT
            for look in (self.other_kinds, self.flat_runs)
        ]
        return [self.fewer_switches], hardware

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
