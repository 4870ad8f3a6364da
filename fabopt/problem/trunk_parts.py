"""What is on sale to cable links through trunks: jumpers with the trunks and panels that go with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf

from fabopt.parts.assemblies import Assembly
from fabopt.parts.channels import DECIMALS, M_PER_KM, OpticalChannel, Plugs, db_per_km, loss_of, plugs_of
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.polarity import alike, jumper_connector, panel_goes, trunk_goes
from fabopt.parts.port_types import PortType
from fabopt.problem.problem import Problem
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Transceiver
from fabopt.schema.facts import Grade
from fabopt.schema.passive import Fibre, Panel, Trunk

# Panels that a link passes, each a pair of mated plugs.
PANELS = 2
GRADES: tuple[Grade, ...] = ("low-loss", "standard")


@dataclass(frozen=True, eq=False)
class TrunkParts:
    """Jumpers of one fibre and length, with the trunks and panels that go with them.

    ``number``: their place among all; ``grade``: of the worst plugs in panels (None: not known); ``trunks``: lengths of
    each type, shortest first, and its legs; ``panels``: each type with the legs that it has room for; ``panel``: one of
    them; ``modules``: on offer, by id.
    """

    number: int
    product: Fibre
    connector: str
    jumper: Item
    grade: Grade | None
    trunks: tuple[tuple[tuple[Item, ...], int], ...]
    panels: tuple[tuple[Item, int], ...]
    panel: Panel
    modules: Mapping[str, Transceiver]

    @property
    def fibre(self) -> str:
        """The kind of fibre of them all."""
        return self.product.fibre

    @property
    def links_per_leg(self) -> int:
        """Links that a leg carries."""
        return self.panel.links_per_leg

    @property
    def items(self) -> Iterator[Item]:
        """All of them, in every length."""
        yield from (self.jumper, *(item for items, _ in self.trunks for item in items))
        yield from (item for item, _ in self.panels)

    def longest_m(self, links: LinkTable, assembly: Assembly, ports: tuple[PortType, PortType]) -> float:
        """The longest trunk over which both modules of an assembly reach, in metres; infinite where no loss is known.

        Rule ``channels_fit_budgets``: jumpers + trunk + four pairs of mated plugs, or two and cassettes <= budget less
        the margin.
        """
        ends = zip((assembly.near, assembly.far), ports, strict=True)
        return min(self._reach_m(links, item, port) for item, port in ends if item is not None)

    def _reach_m(self, links: LinkTable, item: Item, port: PortType) -> float:
        module = self.modules[item.id]
        splits = module.standard_by_split
        standard = next(standard for split, standard in splits.items() if parse_split(split) == port.lane)
        jumpers_m = 2 * (self.jumper.length_m or 0.0)
        allowed, optics = links.limits.budget_db(module, standard), links.limits.optics
        left_m = module.reach_m - jumpers_m
        if allowed == inf or optics is None:
            return left_m
        at_modules, at_panels = (Plugs(self.connector, self.fibre, grade) for grade in (self.product.grade, self.grade))
        of_panel = (at_panels,) if self.panel.back is None else plugs_of(self.panel, self.fibre)
        plugs = (at_modules, *of_panel * PANELS, at_modules)
        inside_db = 2 * (self.product.loss_db or 0.0) + PANELS * (self.panel.loss_db or 0.0)
        channel = OpticalChannel(((self.fibre, jumpers_m),), plugs, inside_db=inside_db)
        left_db = allowed - loss_of(optics, channel).largest_db
        return min(left_m, round(left_db / db_per_km(optics, self.fibre) * M_PER_KM, DECIMALS))


_PARTS: Lookup[Problem, None, tuple[TrunkParts, ...]] = Lookup()


def trunk_parts(problem: Problem) -> tuple[TrunkParts, ...]:
    """Everything on sale for links through trunks: for each fibre, connector and panels that are alike once with all
    parts, and once with those of low loss alone. Rule ``polarity_crosses``.
    """
    return _PARTS.of(problem, None, lambda: tuple(_all_parts(problem)))


def with_panels_anywhere(problem: Problem) -> Problem:
    """The problem whose racks need no room for panels; itself without a floor."""
    is_flat = problem.site.runs_are_alike
    return problem if is_flat else replace(problem, site=replace(problem.floor, panels_fit=False))


def units_of_panels(problem: Problem) -> dict[Item, int]:
    """Whole units of every panel that trunks may end in."""
    heights = {one.id: ceil(one.rack_units) for one in problem.offering.offered.panels}
    return {item: heights[item.id] for parts in trunk_parts(problem) for item, _ in parts.panels}


def least_further_m(problem: Problem) -> float:
    """Metres of a link through the shortest trunk on sale, and one of its jumpers."""
    ways = [
        (parts.jumper.length_m or 0.0) + min((item.length_m or 0.0 for items, _ in parts.trunks for item in items))
        for parts in trunk_parts(problem)
    ]
    return min(ways, default=0.0)


def _all_parts(problem: Problem) -> Iterator[TrunkParts]:
    modules = {module.id: module for module in problem.offering.offered.transceivers}
    offered, run_m, number = problem.offering.offered, problem.floor.plan.longest_in_rack_m, 0
    for fibre in offered.fibres:
        connector = jumper_connector(fibre)
        lengths = problem.item_table.lengths(fibre.id)
        jumper = next((item for item in lengths if (item.length_m or 0.0) >= run_m), None)
        if connector is None or jumper is None:
            continue
        for group in alike(one for one in offered.panels if panel_goes(one, connector)):
            held = tuple(
                (item, one.legs) for one in group for item in (problem.item_table.item(one.id),) if item is not None
            )
            trunks = [one for one in offered.trunks if trunk_goes(one, fibre, group[0])]
            for grade in _grades(fibre.grade, trunks, group[0]):
                of_grade = [one for one in trunks if grade != GRADES[0] or one.grade == grade == fibre.grade]
                on_sale = [(problem.item_table.lengths(one.id), one.legs) for one in of_grade]
                pulled = tuple((items, legs) for items, legs in on_sale if items)
                if pulled and held:
                    yield TrunkParts(number, fibre, connector, jumper, grade, pulled, held, group[0], modules)
                    number += 1


def _grades(jumper: Grade | None, trunks: Sequence[Trunk], panel: Panel) -> Iterator[Grade | None]:
    """Grades of plugs that meet in panels; those of cassettes are not known."""
    yield from dict.fromkeys((worst(jumper, trunks), GRADES[0])) if panel.back is None else (None,)


def worst(jumper: Grade | None, trunks: Sequence[Trunk]) -> Grade | None:
    """The worst grade of plugs that meet in panels; None where one is not known."""
    grades = {jumper, *(trunk.grade for trunk in trunks)}
    return None if None in grades else max(grades, key=lambda grade: GRADES.index(grade or GRADES[-1]))
