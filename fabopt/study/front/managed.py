"""Answers of studies that keep rule ``subnet-manager`` as ``solve`` does: other switches, or hosts that are attached.

Where no switch of the best design under some demands manages a subnet, both parts of the space that have a manager are
searched under the same demands (``fabopt.solution.subnet_hosts``), and the better of their best is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fabopt.problem.attachments import INFINIBAND
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike, lifted, managed_by_switches
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE
from fabopt.search.answer import Answer
from fabopt.search.context import Context
from fabopt.solution.subnet_hosts import Host, Unmanaged, hosts_of, note_of_cost, unmanaged_fabrics
from fabopt.study.front.finder import PRICE, SPENDING, Demands, Finder, GradedDesign, Managed
from fabopt.study.front.measures import Measure
from fabopt.topology.candidate import Candidate
from fabopt.topology.subnet_manager import is_manageable


class ManagedFinder(Finder):
    """Answers for one problem, each with a manager in every subnet that can have one.

    ``decided``: fabrics managed by their own switches or by hosts, or left without a manager; ``hosts``: those attached
    already.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        context: Context | None = None,
        decided: frozenset[str] = frozenset(),
        hosts: tuple[Host, ...] = (),
    ) -> None:
        super().__init__(problem, settings, clock, context)
        self._decided = decided
        self._hosts = hosts
        self._others: dict[object, ManagedFinder] = {}
        self._managed: dict[object, GradedDesign | None] = {}
        self._manageable: dict[object, bool] = {}
        self._checked: set[tuple[Candidate, ...]] = set()

    def _least(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        key = tuple(measure.name for measure in measures), frozenset(demands.items())
        if key not in self._managed:
            self._managed[key] = self._least_managed(measures, demands)
        return self._managed[key]

    def _least_managed(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        graded = super()._least(measures, demands)
        if graded is None or EFFECTIVE in demands:
            return graded
        unmanaged = next(unmanaged_fabrics(Answer(self.problem, graded.optimum), self._decided), None)
        if unmanaged is None:
            own = graded.managed or Managed(self.problem)
            managed = own._replace(decided=self._decided, hosts=self._hosts)
            return replace(graded, managed=managed) if self._decided else graded
        self.settings.progress(f"no switch manages {unmanaged.fabric}: looking at other switches, and at hosts")
        ways = [way for way in self._ways(unmanaged, measures, demands) if way is not None]
        if not ways:
            if self._can_be_managed(unmanaged, demands):
                return None
            return self._without(unmanaged)._least(measures, demands)
        best = min(ways, key=lambda way: tuple(measure.worth(way.grades[measure.name]) for measure in measures))
        return _costed(best, best.grades[PRICE.name] - graded.grades[PRICE.name])

    def lacks_managers(self, designs: Iterable[GradedDesign]) -> bool:
        """Whether any of some designs has a subnet without a manager; each combination of candidates is
        checked once.
        """
        picked = {tuple(candidate for candidate, _ in graded.optimum.picked): graded.optimum for graded in designs}
        new = [optimum for key, optimum in picked.items() if key not in self._checked]
        self._checked.update(picked)
        return any(any(unmanaged_fabrics(Answer(self.problem, optimum), self._decided)) for optimum in new)

    def _ways(
        self, unmanaged: Unmanaged, measures: Sequence[Measure], demands: Demands
    ) -> Iterator[GradedDesign | None]:
        """The best design with each way to manage a fabric."""
        name = unmanaged.fabric
        yield self._other(name, managed_by_switches(self.problem, frozenset({name})), name)._least(measures, demands)
        for host in hosts_of(self.problem, unmanaged):
            graded = self._other((name, host.attachment), self._attached(host), name, host)._least(measures, demands)
            if graded is not None:
                yield graded
                return

    def _can_be_managed(self, unmanaged: Unmanaged, demands: Demands) -> bool:
        """Whether a fabric can have a manager with every limit lifted, also limits among the demands: then designs
        without one are excluded.
        """
        kept = {metric: grade for metric, grade in demands.items() if metric not in SPENDING}
        key = unmanaged.fabric, frozenset(kept.items())
        if key not in self._manageable:
            free = ManagedFinder(
                lifted(self.problem), self.settings, self.clock, self.context.beside(), self._decided, self._hosts
            )
            self._manageable[key] = any(way is not None for way in free._ways(unmanaged, (PRICE,), kept))
        return self._manageable[key]

    def _without(self, unmanaged: Unmanaged) -> ManagedFinder:
        """The finder for designs that leave a fabric without a manager."""
        return self._other((unmanaged.fabric, "given up"), self.problem, unmanaged.fabric)

    def _other(self, key: object, problem: Problem, decided: str, *hosts: Host) -> ManagedFinder:
        if key not in self._others:
            beside = self.context.beside()
            self._others[key] = ManagedFinder(
                problem, self.settings, self.clock, beside, self._decided | {decided}, (*self._hosts, *hosts)
            )
        return self._others[key]

    def _attached(self, host: Host) -> Problem:
        """The problem with its hosts attached."""
        before = self.problem
        problem = problem_of(host.attached(before.case), before.catalog, offering=before.offering)
        return bound_alike(replace(problem, asked=before.asked, limits=before.limits), before)


def _costed(graded: GradedDesign, more_cents: int) -> GradedDesign:
    managed = graded.managed
    if managed is None:
        return graded
    return replace(graded, managed=managed._replace(notes=(*managed.notes, note_of_cost(more_cents))))


def may_lack_managers(problem: Problem) -> bool:
    """Whether some designs may have a subnet that no switch with the ports of its NICs manages."""
    for fabric in problem.fabrics:
        attached = sum(attachment.ports for attachment in fabric.attachments)
        managers = fabric.rules.binding_managers
        if managers is None:
            continue
        for nic in fabric.nics.get(INFINIBAND, ()):
            nodes, speed_mbps = problem.servers * nic.ports_per_server + attached, nic.port.lane.port_mbps
            if not is_manageable(fabric, managers, nodes, speed_mbps):
                return True
    return False
