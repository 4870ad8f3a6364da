"""Links of one kind with their runs, and the open choices of their parts; flat runs, where all are alike.

``fabopt.topology.clos.placement`` has the links of a floor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from fabopt.network.clos_links import ClosNumbers
from fabopt.parts.assemblies import Assembly
from fabopt.parts.items import Item
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Choice, Option, choices_of
from fabopt.topology.clos.cabling import Cabling, Joins, LinkType, cabling_of


class KindLinks(ABC):
    """Links of one kind.

    ``longest_m``: the longest run; ``flat_m``: the run of all, if they are alike; ``joins``: assemblies by run.
    """

    longest_m: float
    flat_m: float | None

    def __init__(self, problem: Problem, kind: LinkType, joins: Joins) -> None:
        self.problem = problem
        self.kind = kind
        self._joins = joins

    @abstractmethod
    def joins(self, run_m: float, all_: bool) -> Sequence[Assembly]:
        """Assemblies for links of a run; ``all_``: with dominated ones."""

    @abstractmethod
    def choices(self, prune: bool) -> Sequence[Choice] | None:
        """The open choices of parts; None if nothing on sale makes some of the links."""

    @abstractmethod
    def cabling(self, numbers: ClosNumbers) -> Cabling | None:
        """Every link with the class of its run; None if nothing on sale is long enough for one of them."""

    @abstractmethod
    def noted_runs_m(self, runs_m: tuple[float, ...]) -> tuple[float, ...] | None:
        """Runs in metres as a row of links states them; None if its kind states them."""

    @abstractmethod
    def named(self, assembly: Assembly) -> Assembly:
        """An assembly of all links with the length that a row of links states."""

    @abstractmethod
    def breakout(self, assembly: Assembly) -> Item | str:
        """Key of breakouts at a leaf, equal where one may carry links of both."""

    @abstractmethod
    def cables(self, assembly: Assembly) -> Sequence[Item]:
        """Cables of an assembly in every length that some of the links need."""

    @abstractmethod
    def in_lengths(self, option: Option, shared: Sequence[int], run_m: float) -> Option:
        """An option whose first row is all these links, with cables as long as each needs them.

        ``shared``: leaves where the last breakout carries links of attachments too, whose run is ``run_m``.
        """


class FlatLinks(KindLinks):
    """Links of one run."""

    def __init__(self, problem: Problem, kind: LinkType, joins: Joins, run_m: float) -> None:
        super().__init__(problem, kind, joins)
        self.longest_m = self.flat_m = run_m

    def joins(self, run_m: float, all_: bool) -> Sequence[Assembly]:
        """The assemblies over the one run."""
        return self._joins(self.longest_m, all_)

    def choices(self, prune: bool) -> Sequence[Choice] | None:
        """The choices that ``choices_of`` gives for all links at once or for equal cages."""
        kind = self.kind
        joins = self.joins(self.longest_m, False)
        return choices_of(self.problem.links, kind.need, joins, kind.ends, kind.key, kind.mixes, prune)

    def cabling(self, numbers: ClosNumbers) -> Cabling | None:
        """The links, all with the class of their one run."""
        return cabling_of(self.problem, self.kind, numbers, lambda links: np.full(len(links.a), self.longest_m))

    def noted_runs_m(self, runs_m: tuple[float, ...]) -> tuple[float, ...] | None:
        """Always None: the kind states the run of its links."""
        return None

    def named(self, assembly: Assembly) -> Assembly:
        """The assembly as it is sold."""
        return assembly

    def breakout(self, assembly: Assembly) -> Item | str:
        """The cable of an assembly in its length."""
        return assembly.cable

    def cables(self, assembly: Assembly) -> Sequence[Item]:
        """The cable of an assembly, in its only length."""
        return (assembly.cable,)

    def in_lengths(self, option: Option, shared: Sequence[int], run_m: float) -> Option:
        """The option unchanged: all links have the length that it states."""
        return option
