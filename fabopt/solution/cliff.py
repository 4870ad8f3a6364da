"""Cliffs: the next figure at which the bill of a fabric falls by a larger share than the figure.

A bill falls in steps, as ports fill switches: a slightly higher ratio, slightly less bandwidth, a few servers or ports
of attachments less may need a leaf, a NIC or a tier less. Candidates for steps follow from ports: for a ratio, from
designs of the fabric alone, off the floor; the design at the far end shows whether there is a step, and its own ratio
where the step begins. Each reported figure is confirmed by a solve of the case. See docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, floor
from typing import NamedTuple

from fabopt.design.bill import bill
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.limits import ExactLimits
from fabopt.problem.other_choices import with_tiers
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import left_out_of_fabrics
from fabopt.program.lexicographic import Optimum
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import EFFECTIVE, Case, CaseLimits
from fabopt.schema.design import Alternative
from fabopt.search.answer import Answer
from fabopt.solution.changed import Keys, Outcome
from fabopt.solution.changes import MANAGEMENT, FabricPlace, places_of
from fabopt.solution.cliff_notes import ATTACHMENTS, BANDWIDTH, RATIO, SERVERS
from fabopt.solution.rows import CaseChange, Rows, RowsShown
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.most_servers import most_servers_of
from fabopt.units import MBPS_PER_GBPS, cents, exact, plain_fraction, some

# The farthest figure as a share of the demand; and the most solves for a fabric.
FAR = Fraction(15, 100)
MOST_SOLVES = 4
# The most designs of the fabric alone for finding steps of its bill.
MOST_STEPS = 5
# The resolution of ratios; that of bandwidths is 1 Gb/s.
STEP = Fraction(1, 100)

Look = Callable[[Rows], Iterator[Alternative]]


def cliffs_of(case: Case, answer: Answer) -> Iterator[Look]:
    """Searches for cliffs of each fabric; none for the objective of cost per effective GPU, which weighs figures."""
    if case.objective != EFFECTIVE:
        yield from (partial(_cliffs, case, one) for one in places_of(case, answer) if one.asked.role not in MANAGEMENT)


def _cliffs(case: Case, place: FabricPlace, rows: Rows) -> Iterator[Alternative]:
    look = _Look(case, place, rows)
    for figures in (look.ratios, look.bandwidths, look.servers, look.attachments):
        yield from figures()


@dataclass(frozen=True)
class _Figure:
    """A figure below the demand of the case: its change, and the share by which the bill has to fall."""

    change: CaseChange
    share: Fraction


class _BillStep(NamedTuple):
    """A ratio at which the bill of a fabric falls, and the total share of the fall."""

    ratio: Fraction
    fall: Fraction


class _Look:
    """The search for cliffs of one fabric."""

    def __init__(self, case: Case, place: FabricPlace, rows: Rows) -> None:
        self.case, self.place, self.rows = case, place, rows
        self.problem: Problem = rows.answer.problem
        self.fabric: FabricProblem = place.fabric
        self.solves = MOST_SOLVES

    @cached_property
    def _own_cents(self) -> int:
        return self._cents_of(self.rows.answer)

    def _cents_of(self, answer: Answer) -> int:
        """Purchases of the fabric in cents."""
        rows = bill(answer.problem, answer.picked)
        return sum(cents(row.total_usd) for row in rows if row.fabric == self.fabric.name)

    def _solved(self, figure: _Figure) -> tuple[Outcome | None, Fraction, Alternative | None]:
        """The outcome at a figure, the share by which the bill falls, and the row of an unfinished solve."""
        self.solves -= 1
        outcome = self.rows.solved(figure.change)
        if not outcome.finished:
            return None, Fraction(0), self.rows.unfinished(figure.change)
        if outcome.answer is None or not self._own_cents:
            return None, Fraction(0), None
        return outcome, 1 - Fraction(self._cents_of(outcome.answer), self._own_cents), None

    def _row(self, figure: _Figure, outcome: Outcome) -> Alternative:
        assert outcome.answer is not None
        row = self.rows.row(figure.change, outcome)
        tiers = outcome.answer.picked[self.place.index][0].design.file_part().tiers
        counts = " + ".join(str(tier.num_switches) for tier in tiers)
        return row.model_copy(update={"summary": f"{counts} switches: {row.summary}"})

    def _change(self, what: str, value: str, keys: Keys) -> CaseChange:
        return CaseChange(what, value, keys, RowsShown.CHEAPER, self.place.index)

    # -- ratio --------------------------------------------------------------------------------------------------------

    def ratios(self) -> Iterator[Alternative]:
        """The least ratio, in hundredths, at which the bill falls by a larger share than the ratio rises, from the last
        step before it or from the case's.
        """
        ratio = self.fabric.ratios.leaf
        stages_say = any(self.fabric.name in stage.fabrics for stage in self.case.stages or ())
        if not isinstance(self.place.design, ClosDesign) or self.place.design.tiers == 1 or stages_say:
            return
        figures, before = list[_Figure](), _BillStep(ratio, Fraction(0))
        for step in sorted(self._steps()):
            rise, fall = (step.ratio - before.ratio) / ratio, step.fall - before.fall
            if fall > rise or step.fall > step.ratio / ratio - 1:
                figures.append(_Figure(self._at_ratio(step.ratio), min(rise, step.ratio / ratio - 1)))
            before = step
        yield from self._nearest(figures[:1])

    def _steps(self) -> Iterator[_BillStep]:
        """Steps of the bill of the fabric alone, from the far end downwards.

        The bill never rises with the ratio, so the next step is below the design's own ratio.
        """
        ratio = self.fabric.ratios.leaf
        own = self._answered_alone or self._sketched(ratio)
        hundredths, left = floor(ratio * (1 + FAR) / STEP), MOST_STEPS
        while own.verdict == "optimal" and own.value and hundredths * STEP > ratio and left:
            left -= 1
            lower = self._sketched(hundredths * STEP, own.value)
            if lower.verdict != "optimal" or lower.value is None or lower.value >= own.value:
                return
            begins = min(hundredths, ceil(self._ratio_of(lower) / STEP))
            yield _BillStep(begins * STEP, 1 - Fraction(lower.value, own.value))
            hundredths = begins - 1

    @property
    def _answered_alone(self) -> Optimum | None:
        """The answer's optimum, if it is that of the fabric alone; else None."""
        problem, optimum = self.problem, self.rows.answer.optimum
        limits = (problem.limits, *(stage.limits for stage in problem.stages))
        is_alone = len(problem.fabrics) == 1 and problem.site.runs_are_alike and not problem.fixed_objective
        keeps_all = not any(limit.are_set for limit in limits) and not any(left_out_of_fabrics(problem))
        return optimum if is_alone and keeps_all and not problem.case.is_uncertain else None

    def _sketched(self, ratio: Fraction, lower_than: int | None = None) -> Optimum:
        """The optimum of the fabric alone, off the floor, at a ratio."""
        problem = self.problem
        asked = next(one for one in problem.case.fabrics if one.name == self.fabric.name)
        site = problem.case.site.model_copy(update={"floor": None})
        update = {
            "fabrics": (asked.model_copy(update={"racks": None}),),
            "site": site,
            "limits": CaseLimits(),
            "include_servers": False,
        }
        alone = problem_of(problem.case.model_copy(update=update), problem.catalog, offering=problem.offering)
        spine = ratio if self.fabric.ratios.are_one else self.fabric.ratios.spine
        first = alone.fabrics[0]
        fabric = replace(first, ratios=replace(first.ratios, leaf=ratio, spine=spine))
        demand = {fabric.name: (ratio, spine)}
        stages = tuple(replace(stage, limits=ExactLimits(), oversubscription=demand) for stage in alone.stages)
        return self.rows.cases.sketched(replace(alone, fabrics=(fabric,), stages=stages), lower_than)

    @property
    def _ratio_key(self) -> str:
        return self.place.key("max_oversubscription" if self.fabric.ratios.are_one else "max_oversubscription.leaf")

    def _at_ratio(self, ratio: Fraction) -> CaseChange:
        return self._change(RATIO, f"{plain_fraction(ratio)}:1", {self._ratio_key: plain_fraction(ratio)})

    def _ratio_of(self, alone: Optimum) -> Fraction:
        """The least ratio of the case that a design of the fabric alone keeps."""
        ratios = alone.picked[0][0].design.least_ratios(self.problem.gpus)
        return max(
            (ratio for where, ratio in ratios.items() if self.fabric.ratios.are_one or where == "leaf"),
            default=Fraction(1),
        )

    # -- bandwidth, servers, attachments ------------------------------------------------------------------------------

    def bandwidths(self) -> Iterator[Alternative]:
        """The bandwidth of the fastest NICs that give a little less than the case asks for."""
        asked = self.place.asked
        if asked.storage is not None or asked.oob is not None:
            return
        needed, gpus = Fraction(self.fabric.gpu_mbps), self.problem.server.gpus
        key = "min_gbps_per_server" if asked.min_gbps_per_server is not None else "min_gbps_per_gpu"
        case = self.problem.asked
        said = next(fabric for fabric in case.fabrics if fabric.name == self.fabric.name)
        of_gpu = exact(getattr(said, key) or 0) / (gpus if key == "min_gbps_per_server" else 1)
        own = of_gpu * MBPS_PER_GBPS or needed
        given = self._injections_below(key, own, needed)
        figures = []
        for injection in sorted(given, reverse=True):
            less = floor((own - (needed - injection)) / MBPS_PER_GBPS)
            value = less * (gpus if key == "min_gbps_per_server" else 1)
            if less > 0:
                keys = {self.place.key(key): value}
                share = 1 - less * MBPS_PER_GBPS / Fraction(own)
                figures.append(_Figure(self._change(BANDWIDTH, f"{value} Gb/s", keys), share))
        yield from self._nearest(figures[:1])

    def _injections_below(self, key: str, own: Fraction, needed: Fraction) -> set[Fraction]:
        """Injection of slightly too slow NICs, in Mb/s per GPU."""
        least = needed - own * FAR
        servers = self.problem.server.gpus if key == "min_gbps_per_server" else 1
        lower = plain_fraction((own * (1 - FAR)) / MBPS_PER_GBPS * servers)
        fabrics = tuple(
            one.model_copy(update={key: lower}) if one.name == self.fabric.name else one
            for one in self.problem.asked.fabrics
        )
        case = self.problem.asked.model_copy(update={"fabrics": fabrics})
        problem = problem_of(case, self.problem.catalog, offering=self.problem.offering)
        fabric = next(fabric for fabric in problem.fabrics if fabric.name == self.fabric.name)
        options = (option for of_protocol in fabric.nics.values() for option in of_protocol)
        return {Fraction(option.injection) for option in options if least <= option.injection < needed}

    def servers(self) -> Iterator[Alternative]:
        """Look at as many servers as a tier less can join, or as fill a leaf group less."""
        stages, design, now = self.case.stages or (), self.place.design, self.problem.servers
        if len(stages) > 1 or not isinstance(design, ClosDesign) or not design.tiers or design.tiers < 2:
            return
        group = int(design.network.shape.g)
        numbers = {(-(-now // group) - 1) * group}
        if design.tiers - 1 in self.fabric.shapes.tiers:
            numbers.add(most_servers_of(self.problem, with_tiers(self.fabric, design.tiers - 1)))
        near = sorted((number for number in numbers if now * (1 - FAR) <= number < now and number > 0), reverse=True)
        yield from self._nearest([self._with_servers(number) for number in near])

    def _with_servers(self, servers: int) -> _Figure:
        stage = next(iter(self.case.stages or ()), None)
        counts_gpus = (self.case if stage is None else stage).gpus is not None
        name = "gpus" if counts_gpus else "servers"
        number = servers * (self.problem.server.gpus if counts_gpus else 1)
        keys: dict[str, int | None] = {f"stages.{stage.name}.{name}": number} if stage is not None else {name: number}
        if stage is None:
            keys |= {"gpus" if name == "servers" else "servers": None, "stages": None}
        change = self._change(SERVERS, some(servers, "server"), keys)
        return _Figure(change, 1 - Fraction(servers, self.problem.servers))

    def attachments(self) -> Iterator[Alternative]:
        """Rows of fewer ports of each attachment."""
        for attachment in self.place.asked.attachments:
            ports = ceil(attachment.ports * (1 - FAR))
            if ports < attachment.ports:
                yield from self._nearest([self._with_ports(attachment, ports)])

    def _with_ports(self, attachment: Attachment, ports: int) -> _Figure:
        keys = {self.place.key(f"attachments.{attachment.name}.ports"): ports}
        change = self._change(ATTACHMENTS, f"{attachment.name} with {some(ports, 'port')}", keys)
        return _Figure(change, 1 - Fraction(ports, attachment.ports))

    def _nearest(self, figures: Sequence[_Figure]) -> Iterator[Alternative]:
        """The row of the first figure, in order of distance, at which the bill falls by a larger share."""
        for figure in figures[: max(0, self.solves)]:
            outcome, fall, unfinished = self._solved(figure)
            if unfinished is not None:
                yield unfinished
                return
            if outcome is not None and fall > figure.share:
                yield self._row(figure, outcome)
                return
