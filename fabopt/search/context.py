"""Cache of intermediate results of searches, kept beside the immutable problem."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from math import inf
from typing import NamedTuple

from fabopt.floor.layouts import Layout
from fabopt.floor.plan import FloorPlan
from fabopt.parts.offering import Offering
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.logical_fabrics import equipped
from fabopt.problem.out_of_band import ByStage
from fabopt.problem.problem import Problem
from fabopt.problem.site import Method
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.family import Restriction, Sizing
from fabopt.topology.link_parts import Floats


class CostsKey(NamedTuple):
    """Weights of the items of an offering, as bytes: of the last stage by metric, and surcharges of earlier stages."""

    offering: Offering
    table: bytes
    steps: bytes


class SearchKey(NamedTuple):
    """Key of a search of one fabric: costs, limits, part of its space, and slack.

    ``most``: the highest wanted cost.
    """

    fabric: FabricProblem
    restriction: Restriction | None
    costs: BoundedCosts
    caps: bytes
    prune: bool
    slack: float
    most: float = inf


class OwnBest(NamedTuple):
    """The least bound of a fabric on a floor, and a lower bound on its best design with switches placed."""

    bound: float
    least: float


class BoundKey(NamedTuple):
    """Key of the bound of one fabric in layouts before any spine is placed."""

    search: SearchKey
    layouts: tuple[Layout, ...]


class AnywhereKey(NamedTuple):
    """Key of the search of one fabric outside all layouts of a floor; ``measured``: as ``FloorExpansion.anywhere``."""

    search: SearchKey
    plan: FloorPlan
    measured: bool


class PlacedKey(NamedTuple):
    """A candidate that is to be put on a small floor, and the weights of the items as bytes."""

    candidate: Hashable
    weights: bytes


class PlacedCandidates(NamedTuple):
    """Places of a candidate that cost ``limit`` or less, with their costs."""

    limit: float
    places: tuple[tuple[float, Candidate], ...]


@dataclass
class Context:
    """Cached results of searches of one problem, and of problems that differ in limits and weights only.

    Fabrics are compared by identity. ``costs`` serve all problems of one offering, ``anywhere`` all of one floor: see
    ``beside``.
    """

    costs: dict[CostsKey, BoundedCosts] = field(default_factory=dict)
    anywhere: dict[AnywhereKey, Sizing] = field(default_factory=dict)
    # what the search of one fabric found, where that is asked for again and again
    sizings: dict[SearchKey, Sizing] = field(default_factory=dict)
    # the least bound of a fabric in any layout of a floor, by its search without slack
    least_met: dict[SearchKey, float] = field(default_factory=dict)
    # the best of each fabric on a floor that it shares, by its search without slack
    own_best: dict[SearchKey, OwnBest] = field(default_factory=dict)
    # what each costs at least before its spines are placed
    before_placing: dict[BoundKey, float] = field(default_factory=dict)
    # candidates with their exact needs, by ``Batch.key`` and what they follow from beside
    candidates: dict[Hashable, tuple[Candidate, ...]] = field(default_factory=dict)
    placed: dict[PlacedKey, PlacedCandidates] = field(default_factory=dict)
    # a fabric in every layout of the floor that is looked at, beside all fabrics of a problem
    variants: dict[tuple[tuple[FabricProblem, ...], FabricProblem], tuple[FabricProblem, ...]] = field(
        default_factory=dict
    )
    # layouts of the floor that are worth looking at, by all fabrics of a problem and the name of one
    layouts: dict[tuple[FabricProblem, ...], dict[str, list[Layout]]] = field(default_factory=dict)
    # how far above its least bound the design of one fabric was proven, by the method of its search: that of a problem
    # that differs in little is about as far, so that its search starts there
    proven_within: dict[Method, float] = field(default_factory=dict)
    _layouts: dict[Hashable, Layout] = field(default_factory=dict)
    _equipped: dict[FabricProblem, tuple[FabricProblem, ...]] = field(default_factory=dict)
    _numbered: dict[tuple[FabricProblem, ByStage], FabricProblem] = field(default_factory=dict)

    def copied(self) -> Context:
        """A copy that shares no later results."""
        return Context(**{one.name: dict(getattr(self, one.name)) for one in fields(self)})

    def beside(self) -> Context:
        """The context of another problem, sharing ``costs``, ``anywhere`` and ``proven_within``."""
        return Context(self.costs, self.anywhere, proven_within=self.proven_within)

    def in_same_layouts(self, fabrics: tuple[FabricProblem, ...], others: tuple[FabricProblem, ...]) -> Context:
        """The context of a problem with other weights: ``others`` are searched in the layouts of ``fabrics``, if known.

        The choice of layouts depends on weights, and compared designs must be of one space.
        """
        known = self.layouts.get(fabrics)
        return Context(layouts={} if known is None else {others: known})

    def costs_at(self, offering: Offering, table: Floats, steps: Floats | None = None) -> BoundedCosts:
        """Costs at weights: ``table`` has shape (metrics, items), ``steps`` (stages - 1, items), as ``Costs``."""
        key = CostsKey(offering, table.tobytes(), b"" if steps is None else steps.tobytes())
        if key not in self.costs:
            self.costs[key] = BoundedCosts(table, steps)
        return self.costs[key]

    def forget_bounds(self) -> None:
        """Drop the bounds of fabrics that will not be searched again."""
        for costs in self.costs.values():
            costs.forget_bounds()

    def layout(self, layout: Layout) -> Layout:
        """The first met layout equal to this one, which has the cached places of switches."""
        return self._layouts.setdefault(layout.key, layout)

    def equipped(self, problem: Problem, fabric: FabricProblem, prune: bool) -> tuple[FabricProblem, ...]:
        """A host with every choice of NICs for the logical fabrics on it."""
        if fabric not in self._equipped:
            self._equipped[fabric] = equipped(problem, fabric, prune)
        return self._equipped[fabric]

    def numbered(self, fabric: FabricProblem, switches: ByStage) -> FabricProblem:
        """``FabricProblem.with_switches``, cached."""
        if (fabric, switches) not in self._numbered:
            self._numbered[fabric, switches] = fabric.with_switches(switches)
        return self._numbered[fabric, switches]
