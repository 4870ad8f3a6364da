"""The whole optimum of small floors with trunks equals enumeration: every size, plan and layout, every set of trunks.

Sizes, plans and places are those that the search makes with nothing pruned; what each costs is counted link by link,
with every number of every trunk and panel at every stage.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from math import ceil
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from fabopt.floor.racks import height_m
from fabopt.network.clos_stages import of_links
from fabopt.parts.items import Item
from fabopt.parts.switches import CageUse
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos import candidates
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.stage_links import kinds_of, links_of_kind
from fabopt.wiring.model import Ints
from tests.samples.small import Json, usd
from tests.samples.trunked import LABOUR, STRAIGHT, UNIVERSAL, broken_out, cassettes, hall, random_parts, solved
from tests.solution.test_trunks_in_growth import failed

UPLINKS = ("leaf", "spine")
WORDS = ("when_lit", "ahead", "any")


def paid(uses: Mapping[tuple[int, Item], int]) -> int:
    """Cents of items, installed at their stages."""
    return sum(count * item.unit_costs[stage] for (stage, item), count in uses.items())


@cache
def pieces_for(needs: tuple[int, ...], priced: tuple[tuple[int, tuple[int, ...]], ...], word: str) -> int:
    """Least cents of pieces, each (how much it holds, cents by stage), over all numbers of each at each stage."""
    least, needed = 10**15, (needs[-1],) * len(needs) if word == "ahead" else needs
    most = [range(-(-needs[-1] // holds) + 1) for holds, _ in priced]
    for numbers in product(product(*most), repeat=len(needs)):
        there, spent, fits = 0, 0, True
        for stage, (added, need) in enumerate(zip(numbers, needed, strict=True)):
            there += sum(number * holds for number, (holds, _) in zip(added, priced, strict=True))
            spent += sum(number * cents[stage] for number, (_, cents) in zip(added, priced, strict=True))
            smallest = min((holds for number, (holds, _) in zip(added, priced, strict=True) if number), default=there)
            fits = fits and there >= need and (word == "any" or not any(added) or there - smallest < need)
        if fits:
            least = min(least, spent)
    return least


class Counted:
    """What the links between leaves and spines of a placed Clos cost through trunks, counted one by one.

    ``fibre``: that jumpers are; ``panels``: those that may stand at the ends of a trunk.
    """

    def __init__(self, problem: Problem, clos: ClosNetwork, products: Json, fibre: Json, panels: list[Json]) -> None:
        self.problem, self.clos, self.fibre = problem, clos, fibre
        self.products = {**products, "panels": panels}
        self.per_leg = len(panels[0]["back"]["positions"]) if "back" in panels[0] else 1

    def uplinks(self) -> int | None:
        """Cents; None where there are no such links."""
        kinds = [kind for kind in kinds_of(self.clos) if kind.name == "leaf-spine"]
        links = links_of_kind(self.problem, self.clos, kinds[0]) if kinds else None
        cabling = None if links is None else links.cabling(numbers_of(self.clos.parts.nic, self.clos.shape))
        near, far = self.clos.parts.leaf_up, self.clos.parts.spine_down
        if cabling is None or near is None or far is None:
            return None
        placement, items, plan = self.clos.placement, self.problem.item_table, self.problem.floor.plan
        assert isinstance(placement, RackPlacement)
        below, above = placement.ends("leaf-spine")
        stages = of_links(cabling.numbers, self.clos.stages, "leaf-spine", cabling.links).tolist()
        zone, low_m, run_m = self.zones(), height_m(1, 0), plan.longest_in_rack_m
        for a, b in zip(cabling.links.a.tolist(), cabling.links.b.tolist(), strict=True):
            (rack, up_m), (other, down_m) = ((int(of.rack[at]), of.height_m[at]) for of, at in ((below, a), (above, b)))
            if zone[rack] == zone[other]:
                run_m = max(run_m, float(plan.run_m(rack, up_m, other, down_m)))
            elif self.in_rows:
                ends = (rack, up_m), (other, down_m)
                run_m = max(run_m, *(float(plan.run_m(at, high_m, zone[at], low_m)) for at, high_m in ends))
        jumper = next((item for item in items.lengths(self.fibre["id"]) if (item.length_m or 0.0) >= run_m), None)
        if jumper is None:
            return None
        total = self.modules(near, cabling.links.a) + self.modules(far, cabling.links.b)
        on_route = defaultdict[tuple[int, int], Counter[int]](Counter)
        for a, b, stage in zip(cabling.links.a.tolist(), cabling.links.b.tolist(), stages, strict=True):
            racks = sorted((zone[int(below.rack[a])], zone[int(above.rack[b])]))
            total += (1 + (racks[0] != racks[1])) * jumper.unit_costs[stage]
            if racks[0] != racks[1]:
                on_route[racks[0], racks[1]][stage] += 1
        return total + self.trunks(on_route) if on_route else None

    @property
    def in_rows(self) -> bool:
        """Whether panels are in the first racks of their rows."""
        return self.problem.case.site.zones == "rows"

    def zones(self) -> list[int]:
        """The rack of the panels of every rack."""
        plan = self.problem.floor.plan
        first = {row: min(np.flatnonzero(plan.row == row).tolist()) for row in set(plan.row.tolist())}
        return [first[row] if self.in_rows else rack for rack, row in enumerate(plan.row.tolist())]

    def modules(self, use: CageUse, of_links: Ints) -> int:
        """Cents of the modules at one end of links, those of a switch filling one cage after another."""
        suit = [one["id"] for one in self.products["transceivers"]
                if one["form_factor"] in use.port.fits and one["split"] == use.split
                and one["connector"] == self.fibre["connectors"][0]]  # fmt: skip
        cents = min(self.problem.item_table.single[id_].unit_costs[0] for id_ in suit)
        return sum(-(-links // use.lane.ports) * cents for links in Counter(of_links.tolist()).values())

    def trunks(self, on_route: Mapping[tuple[int, int], Counter[int]]) -> int:
        """Cents of trunks on every route and panels of every rack."""
        numbers, plan, ports = range(len(self.problem.stages)), self.problem.floor.plan, Counter[tuple[int, int]]()
        total = 0
        for (a, b), added in on_route.items():
            links = [sum(added[at] for at in range(stage + 1)) for stage in numbers]
            needs = tuple(ceil(number / self.per_leg) for number in links)
            for rack, stage in product((a, b), numbers):
                ports[rack, stage] += needs[stage]
            run_m = float(plan.trunks_m(np.array([a]), np.array([b]))[0])
            total += self.cheapest(needs, "trunks", run_m)
        for rack in {rack for rack, _ in ports}:
            total += self.cheapest(tuple(ports[rack, stage] for stage in numbers), "panels", 0.0)
        return total

    def cheapest(self, needs: tuple[int, ...], kind: str, run_m: float) -> int:
        """Cents of the cheapest pieces of a kind."""
        items, priced = self.problem.item_table, []
        for one in self.products[kind]:
            sold = items.lengths(one["id"]) if kind == "trunks" else (items.single[one["id"]],)
            item = next(item for item in sold if (item.length_m or run_m) >= run_m)
            priced.append((one["legs"] if kind == "trunks" else one["ports"] // self.per_leg, item.unit_costs))
        return pieces_for(needs, tuple(priced), self.problem.case.growth.trunks)


def least_of_all(content: Json, products: Json, patched: pytest.MonkeyPatch) -> int:
    """Cents of the cheapest of all designs: with leads where links may be leads, and through trunks."""
    made: list[tuple[Problem, Candidate]] = []
    real = candidates.candidates_of

    def recorded(problem: Problem, *args: Any) -> tuple[Candidate, ...]:
        found = real(problem, *args)
        made.extend((problem, one) for one in found)
        return found

    patched.setattr(candidates, "candidates_of", recorded)
    solved(content, products, prune=False)
    assert made
    costs = [(problem, cost_of(problem, one, products)) for problem, one in made]
    return min(problem.fixed_cents + cost for problem, cost in costs if cost is not None)


def cost_of(problem: Problem, candidate: Candidate, products: Json) -> int | None:
    """Cents of a design: through trunks if it has any."""
    design, total = candidate.design, paid(candidate.devices)
    assert isinstance(design, ClosDesign)
    for choice in candidate.choices:
        row = choice.options[0].rows[0]
        if not candidate.trunked or (row.near, row.far) != UPLINKS:
            total += choice.count * min(paid(option.uses) for option in choice.options)
    if not candidate.trunked:
        return total
    uplinks = (Counted(problem, design.network, products, *way).uplinks() for way in ways_of(products))
    through = [cents for cents in uplinks if cents is not None]
    return total - sum(paid(kind.uses) for kind in candidate.trunked) + min(through) if through else None


def ways_of(products: Json) -> Iterator[tuple[Json, list[Json]]]:
    """Fibres that jumpers may be, each with feed-through panels for it, or with cassettes that lead fibres alike."""
    for fibre in products["fibres"]:
        (connector, _), panels = fibre["connectors"], products["panels"]
        plain = [one for one in panels if "back" not in one and connector.startswith(one["connector"])]
        yield from ([(fibre, plain)] if plain else [])
        cassettes = [one for one in panels if "back" in one and one["connector"] == connector]
        for table in {str(one["back"]["positions"]) for one in cassettes}:
            yield fibre, [one for one in cassettes if str(one["back"]["positions"]) == table]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(34))
def test_the_whole_optimum_is_the_cheapest_of_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four racks, three types of trunk, two of panel, two stages; with leads too in some."""
    rng = random.Random(seed)
    solved_and_counted(rng, random_parts(seed), monkeypatch)


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("seed", range(24))
def test_the_whole_optimum_with_cassettes_is_the_cheapest_of_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, with cassettes of two tables at random prices; in some with feed-through panels and jumpers too."""
    rng, products = random.Random(seed), random_parts(seed)
    broken = broken_out([
        cassettes(f"c{legs}-{len(table)}", legs, rng.randint(20, 100) * legs, back={"positions": table})
        for legs, table in product(rng.sample([1, 2, 3, 6], 2), rng.sample([UNIVERSAL, UNIVERSAL[:2], STRAIGHT], 2))
    ])  # fmt: skip
    if rng.random() < 0.5:
        for kind in ("fibres", "panels"):
            products[kind] += broken[kind]
        products["transceivers"] += [
            {**one, "id": f"{one['id']}-lc", "price_usd": one["price_usd"] + rng.randint(-200, 200)}
            for one in broken["transceivers"]
        ]
    else:
        products.update({kind: broken[kind] for kind in ("fibres", "panels", "transceivers")})
    solved_and_counted(rng, products, monkeypatch)


# Of other seeds the small trunks that hold all links between two rows are too many to number.
@pytest.mark.long
@pytest.mark.parametrize("seed", (0, 1, 2, 3, 5, 6, 7, 9))
def test_the_whole_optimum_with_panels_at_ends_of_rows_is_the_cheapest_of_all(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above, in two rows whose first racks are for panels, with an aisle of any width between them."""
    rng, products = random.Random(seed), random_parts(seed)
    if seed % 3 == 0:
        products.update({kind: broken_out()[kind] for kind in ("fibres", "panels", "transceivers")})
    for fibre in products["fibres"]:
        fibre["lengths"] = [{"m": m, "price_usd": rng.randint(10, 60) + m} for m in (3, 7, 8, 10, 30, 60)]
    floor = {"rows": 2, "racks_per_row": 3, "aisle_m": rng.choice([1.2, 20])}
    solved_and_counted(rng, products, monkeypatch, floor, "rows")


def solved_and_counted(
    rng: random.Random,
    products: Json,
    monkeypatch: pytest.MonkeyPatch,
    floor: Mapping[str, object] = MappingProxyType({"racks_per_row": 4}),
    zones: str = "racks",
) -> None:
    """The optimum of a hall with random stages and words costs what the cheapest of all designs does."""
    products.update({kind: [one for one in products[kind] if one["id"] in ("small", "nic-400")]
                     for kind in ("switches", "nics")})  # fmt: skip
    sizes = rng.choice([(1, 2), (2, 3), (1, 3), (2, 4)])
    stages = [{"name": f"s{at}", "month": 12 * at, "servers": size} for at, size in enumerate(sizes)]
    fall = {kind: rng.choice([0, 0.1, 0.3]) for kind in ("trunk", "panel", "fibre", "switch")}
    word = rng.choice(["structured", "any"])  # leads of a hall of rows stand in all its racks: too many places
    content = hall(
        {"leaf-spine": word if zones == "racks" else "structured", "zones": zones}, LABOUR, floor=floor, stages=stages,
        finance={"price_decline": fall}, growth={"trunks": rng.choice(WORDS)},
    )  # fmt: skip
    design = solved(content, products)
    assert (design.status, failed(design)) == ("optimal", [])
    assert round(100 * usd(design)) == least_of_all(content, products, monkeypatch)
