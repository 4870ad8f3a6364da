"""What searches work out of a problem and may need again, kept beside it: the problem itself does not change."""

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
from fabopt.topology.batch import Sizing
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.family import Restriction
from fabopt.topology.link_parts import Floats


class CostsKey(NamedTuple):
    """Weights of the items of an offering, as bytes: of the last stage by metric, and what earlier ones cost more."""

    offering: Offering
    table: bytes
    steps: bytes


class SearchKey(NamedTuple):
    """A search of one fabric: at which costs and limits, in which part of its space, up to which slack.

    ``most``: beyond what cost nothing is wanted.
    """

    fabric: FabricProblem
    restriction: Restriction | None
    costs: BoundedCosts
    caps: bytes
    prune: bool
    slack: float
    most: float = inf


class OwnBest(NamedTuple):
    """The least bound of a fabric on a floor, and what its best design costs at least with its switches placed."""

    bound: float
    least: float


class BoundKey(NamedTuple):
    """The bound of one fabric for which no spine is placed, in some layouts."""

    search: SearchKey
    layouts: tuple[Layout, ...]


class AnywhereKey(NamedTuple):
    """The search of one fabric outside all layouts of a floor; ``measured``: as ``FloorExpansion.anywhere``."""

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
    """What searches of one problem, and of those that differ from it in limits and weights only, have worked out.

    Fabrics are told apart by identity. ``costs`` serve all problems of one offering, ``anywhere`` all of one floor: see
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
        """What is known so far; what either works out from now on the other does not know."""
        return Context(**{one.name: dict(getattr(self, one.name)) for one in fields(self)})

    def beside(self) -> Context:
        """The context of another problem; what is known of prices, and of fabrics wherever they are, is shared."""
        return Context(self.costs, self.anywhere, proven_within=self.proven_within)

    def in_same_layouts(self, fabrics: tuple[FabricProblem, ...], others: tuple[FabricProblem, ...]) -> Context:
        """The context of a problem of other weights: its fabrics are looked at in the layouts of these, if of any.

        Which layouts are worth looking at follows from weights too, and designs are compared in one space.
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
        """Let go of the bounds of fabrics that will not be looked at again."""
        for costs in self.costs.values():
            costs.forget_bounds()

    def layout(self, layout: Layout) -> Layout:
        """The layout that is equal to this one and was met first: places of switches are kept beside it."""
        return self._layouts.setdefault(layout.key, layout)

    def equipped(self, problem: Problem, fabric: FabricProblem, prune: bool) -> tuple[FabricProblem, ...]:
        """A host with every choice of NICs for the logical fabrics on it."""
        if fabric not in self._equipped:
            self._equipped[fabric] = equipped(problem, fabric, prune)
        return self._equipped[fabric]

    def numbered(self, fabric: FabricProblem, switches: ByStage) -> FabricProblem:
        """An out-of-band fabric with the ports of so many switches of all fabrics at each stage; any other as it is."""
        if (fabric, switches) not in self._numbered:
            self._numbered[fabric, switches] = fabric.with_switches(switches)
        return self._numbered[fabric, switches]
