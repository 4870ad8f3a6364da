"""The part of the integer program that counts vendors: of kinds, of tiers, of a fabric's switches and optics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.problem.problem import Problem
from fabopt.program.libraries import pulp
from fabopt.program.naming import Variables, rule
from fabopt.schema.procurement import SOURCE_TIERS, kinds_of_one_vendor
from fabopt.topology.candidate import Candidate
from fabopt.units import summed

SOURCE = Variables("source", ("group", "vendor"), "", "1 if the group of parts has any of the vendor in use")


class Taken(NamedTuple):
    """Units of a vendor that a variable takes, for each of its own up to ``most``."""

    var: pulp.LpVariable
    units: int
    most: int


@dataclass(frozen=True)
class VendorGroup:
    """Parts whose vendors are counted: units by vendor, and limits of the number of vendors."""

    by_vendor: Mapping[str, Sequence[Taken]]
    fewest: int = 0
    most: int | None = None


# A variable, its fabric, and the units of each item that it takes.
Use = tuple[pulp.LpVariable, str, Mapping[Item, int]]


class Sourcing:
    """Vendors in use. ``candidates``: with ``pick``, variables that build them; ``links``: variables of options, each
    with its fabric and the items of one unit.
    """

    def __init__(
        self,
        problem: Problem,
        lp: pulp.LpProblem,
        candidates: Sequence[tuple[Candidate, pulp.LpVariable]],
        links: Iterable[Use],
    ) -> None:
        self.lp = lp
        self.rules = problem.case.procurement
        self.groups: list[VendorGroup] = []
        if not (self.rules.max_vendors or self.rules.min_sources or self.rules.single_vendor):
            return
        self._candidates = candidates
        self._uses: list[Use] = [(var, candidate.fabric, candidate.fixed) for candidate, var in candidates]
        self._uses += links
        self.groups = list(self._groups())

    def _groups(self) -> Iterator[VendorGroup]:
        rules = self.rules
        for place in dict.fromkeys((*rules.max_vendors, *rules.min_sources)):
            taken = self._of_tier(place) if place in SOURCE_TIERS else self._of_kinds((place,))
            yield VendorGroup(taken, rules.min_sources.get(place, 0), rules.max_vendors.get(place))
        for fabric, what in rules.single_vendor.items():
            yield VendorGroup(self._of_kinds(kinds_of_one_vendor(what), fabric), most=1)

    def _of_tier(self, role: str) -> dict[str, list[Taken]]:
        """The vendors of the switches of a tier, over all fabrics."""
        taken: dict[str, list[Taken]] = {}
        for candidate, var in self._candidates:
            tiers = (tier for tier in candidate.design.file_part().tiers if tier.role == role)
            for vendor in {switch.item.sold_by.seller for tier in tiers for switch, _ in tier.counts}:
                taken.setdefault(vendor, []).append(Taken(var, 1, 1))
        return taken

    def _of_kinds(self, kinds: Sequence[str], fabric: str | None = None) -> dict[str, list[Taken]]:
        """The vendors of all parts of some kinds, in a fabric or in all."""
        taken: dict[str, list[Taken]] = {}
        for var, name, uses in self._uses:
            if fabric in (None, name):
                units = summed(
                    (one.sold_by.seller, count) for one, count in uses.items() if one.kind in kinds and count
                )
                for vendor, count in units.items():
                    taken.setdefault(vendor, []).append(Taken(var, count, max(1, int(var.upBound))))
        return taken

    @rule("docs/formulation/procurement.md")
    def vendors_are_kept(self) -> None:
        """Few and many enough vendors are in use of every group of parts: a vendor's parts only where it is counted,
        and it is counted only where it has any.
        """
        for number, group in enumerate(self.groups):
            vendors = {vendor: SOURCE.binary(number, place) for place, vendor in enumerate(sorted(group.by_vendor))}
            for place, (vendor, counted) in enumerate(vendors.items()):
                name = f"vendors_are_kept_{number}_{place}"
                for taken in group.by_vendor[vendor]:
                    self.lp += taken.var - taken.most * counted <= 0, f"{name}_{taken.var.name}"
                if group.fewest:
                    sold = [(taken.var, taken.units) for taken in group.by_vendor[vendor]]
                    self.lp += pulp.LpAffineExpression([*sold, (counted, -1)]) >= 0, f"{name}_any"
            if group.most is not None and len(vendors) > group.most:
                self.lp += pulp.lpSum(vendors.values()) <= group.most, f"vendors_are_kept_most_{number}"
            if group.fewest:
                self.lp += pulp.lpSum(vendors.values()) >= group.fewest, f"vendors_are_kept_fewest_{number}"
