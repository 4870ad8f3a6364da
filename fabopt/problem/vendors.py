"""The most vendors of a tier's switches, or of parts of a kind: by arithmetic, before any search.

Rule ``vendors_are_kept``. A tier has one type of switches; leaves two where the last group may have a type of its own.
A tier whose vendors are counted has no stand-ins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.procurement import SOURCE_TIERS, SourceWord, kinds_of_one_vendor

# Networks with spines; others are of leaves alone, or of no switch.
_WITH_SPINES = ("clos", "rail-only", "dragonfly+")
# By the name of a tier, vendors of its switches.
VendorsByTier = Mapping[str, frozenset[str]]


class Shortage(NamedTuple):
    """A kind or tier for which fewer vendors can be in use than ``min_sources`` asks for.

    ``sellers``: its possible vendors; ``types``: the most products in one design, None: any number.
    """

    place: SourceWord
    wanted: int
    sellers: frozenset[str]
    types: int | None = None

    @property
    def most(self) -> int:
        """The most vendors that can be in use."""
        return len(self.sellers) if self.types is None else min(len(self.sellers), self.types)


def shortages(problem: Problem) -> Iterator[Shortage]:
    """Where fewer vendors can be in use than the case asks for, whatever the design."""
    for place, wanted in problem.case.procurement.min_sources.items():
        shortage = Shortage(place, wanted, *_supply_of(problem, place))
        if shortage.most < wanted:
            yield shortage


def sources_are_short(problem: Problem) -> bool:
    """Rule ``vendors_are_kept``, before any search: whether no design has as many vendors as the case asks for."""
    return any(True for _ in shortages(problem))


def _supply_of(problem: Problem, place: str) -> tuple[frozenset[str], int | None]:
    """Vendors of whom a kind or tier may be, and the most products that it has at once."""
    if place in SOURCE_TIERS:
        return _sellers(problem.fabrics, (place,)), _most_types(problem.fabrics, (place,))
    if place == "switch" and not any(_may_be_exchanged(problem, fabric) for fabric in problem.fabrics):
        return _sellers(problem.fabrics, SOURCE_TIERS), _most_types(problem.fabrics, SOURCE_TIERS)
    return frozenset(item.sold_by.seller for item in problem.item_table.items if item.kind == place), None


def _most_types(fabrics: tuple[FabricProblem, ...], roles: tuple[str, ...]) -> int:
    """The most types of switches that some tiers of some fabrics have together."""
    return sum(_types_of(fabric, role, max(fabric.shapes.tiers)) for fabric in fabrics for role in roles)


def _types_of(fabric: FabricProblem, role: str, tiers: int) -> int:
    """The most types of switches in a tier of a fabric with ``tiers`` tiers."""
    if role == "leaf":
        return 2 if fabric.last_may_differ and fabric.leaf_groups.last.own_leaf else 1
    is_tiered = any(name in _WITH_SPINES for name in fabric.shapes.topologies)
    return int(is_tiered and tiers > SOURCE_TIERS.index(role))


def _sellers(fabrics: tuple[FabricProblem, ...], roles: tuple[str, ...]) -> frozenset[str]:
    """Possible vendors of the switches of some tiers."""
    tiers = (of[role] for fabric in fabrics for of in fabric.switches.values() for role in roles)
    return frozenset(switch.item.sold_by.seller for switches in tiers for switch in switches)


def _may_be_exchanged(problem: Problem, fabric: FabricProblem) -> bool:
    """Whether switches of a fabric may be exchanged for those of other vendors: stand-ins, managed twins."""
    twins = {} if fabric.rules.managers is None else fabric.rules.managers.twins
    own = ((problem.item_table.item(id_), twin.item) for id_, twin in twins.items())
    of_others = (item is not None and item.sold_by.seller != twin.sold_by.seller for item, twin in own)
    return fabric.interchangeable is not None or any(of_others)


# -- candidates ---------------------------------------------------------------------------------------------------


def vendors_that_do(problem: Problem, fabric: FabricProblem) -> Callable[[VendorsByTier], bool] | None:
    """A test whether a fabric with these vendors by tier may be in a design that keeps the rule, whatever the other
    fabrics are; None where the rule does not limit switches, or they may be exchanged.
    """
    rules = problem.case.procurement
    beside = _beside(problem, fabric)
    of_one = switches_of_one_vendor(problem, fabric)
    if not beside and not of_one:
        return None

    def do(vendors: VendorsByTier) -> bool:
        if of_one and len(frozenset().union(*vendors.values())) > 1:
            return False
        for place, others in beside.items():
            own = len(frozenset().union(*(vendors.get(role, frozenset()) for role in _roles(place))))
            if own + others < rules.min_sources.get(place, 0) or own > rules.max_vendors.get(place, own):
                return False
        return True

    return do


def switches_of_one_vendor(problem: Problem, fabric: FabricProblem) -> bool:
    """Whether all switches of a candidate must be of one vendor; False where they may be exchanged."""
    what = problem.case.procurement.single_vendor.get(fabric.name, "optics")
    return "switch" in kinds_of_one_vendor(what) and not _may_be_exchanged(problem, fabric)


def optics_of_switch_vendor(problem: Problem, fabric: FabricProblem) -> bool:
    """Whether transceivers and cables of a candidate are to be of the vendor of its switches."""
    both = problem.case.procurement.single_vendor.get(fabric.name) == "both"
    return both and switches_of_one_vendor(problem, fabric)


def tiers_that_do(problem: Problem, fabric: FabricProblem) -> tuple[int, ...]:
    """Numbers of tiers with which a Clos may be in a design that keeps the rule, whatever the other fabrics are."""
    wanted, beside = problem.case.procurement.min_sources, _beside(problem, fabric)
    return tuple(
        tiers
        for tiers in fabric.shapes.tiers
        if all(
            sum(_types_of(fabric, role, tiers) for role in _roles(place)) + others >= wanted.get(place, 0)
            for place, others in beside.items()
        )
    )


def _beside(problem: Problem, fabric: FabricProblem) -> dict[SourceWord, int]:
    """The most products of the other fabrics, by place (tier, or all switches) whose vendors are counted."""
    rules = problem.case.procurement
    places: list[SourceWord] = [*SOURCE_TIERS]
    if not _may_be_exchanged(problem, fabric):
        places.append("switch")
    others = tuple(other for other in problem.fabrics if other is not fabric)
    return {
        place: _most_types(others, _roles(place))
        for place in places
        if place in rules.min_sources or place in rules.max_vendors
    }


def _roles(place: str) -> tuple[str, ...]:
    return SOURCE_TIERS if place == "switch" else (place,)
