"""Trunks within limits of trays, managers, money and lengths: relaxed ones are never dearer, and what fits is found."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, product
from math import inf
from typing import Any, NamedTuple

import pytest

from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.study.front.fronts import pareto_front
from fabopt.study.front.measures import MEASURES
from fabopt.verify.trays import fullest
from fabopt.wiring.build import wiring_of
from tests.samples.small import Json, bought, usd
from tests.samples.trunked import LABOUR, hall, inputs, panel, parts, solved, trunk
from tests.solution.test_latency import ROWS, farthest
from tests.solution.test_trunks import failed

SIZES = {"tray_width_mm": 100, "tray_depth_mm": 20, "manager_width_mm": 60, "manager_depth_mm": 60}
FAT, LEAN, SMALL = (
    trunk(f"t{legs}", legs, usd, diameter_mm=mm, bend_radius_mm=bend)
    for legs, usd, mm, bend in ((4, 300, 16, 40), (12, 900, 12, 30), (2, 400, 8, 20))
)
# Leaves in one rack and spines in another one.
APART: Json = {"fabric": {"racks": {"leaf": ["A01"], "spine": ["A03"]}}, "rules": {"rack-spread": False}}


def products(*trunks: Json) -> Json:
    """One type of switch, thin jumpers and leads, and these trunks."""
    content = parts(list(trunks))
    content["switches"] = [one for one in content["switches"] if one["id"] == "small"]
    for kind in ("fibres", "cables"):
        content[kind][0].update({"diameter_mm": 2, "bend_radius_mm": 20})
    return content


def small_hall(cabling: object = "structured", labour: Json | None = None, **changes: Any) -> Json:
    """Three servers in four racks, whose trays and managers have sizes."""
    floor = {"racks_per_row": 4, **SIZES, **changes.pop("floor", {})}
    return hall(cabling, labour, servers=changes.pop("servers", 3), floor=floor, **changes)


def full(design: Design) -> dict[str, float]:
    return {what: float(one.share) for what, one in fullest(design, wiring_of(design)).items()}


@pytest.mark.long("tray")
@pytest.mark.parametrize("what", ["tray", "manager"])
def test_a_fill_that_thinner_trunks_keep_is_kept(what: str) -> None:
    """By trunks with fewer legs where links are few; without a limit the thick ones are cheaper."""
    free = solved(small_hall(), products(FAT, LEAN, SMALL))
    assert set(bought(free)) & {"t4", "t12", "t2"} == {"t4"}
    most = full(free)[what] * 0.4
    kept = solved(small_hall(floor={f"{what}_fill": most}), products(FAT, LEAN, SMALL))
    assert (kept.status, failed(kept)) == ("feasible", []) and kept.objective.bound == usd(free)
    assert set(bought(kept)) & {"t4", "t12", "t2"} == {"t2"} and full(kept)[what] <= most
    assert usd(kept) == usd(solved(small_hall(), products(SMALL)))


def test_a_fill_that_only_trunks_of_many_legs_keep_is_kept() -> None:
    """Twelve legs of 12 mm are leaner than three times four of 16 mm, where links fill them."""
    many = products({**FAT, "lengths": [{"m": 60, "price_usd": 100}]}, LEAN, SMALL)
    free = solved(small_hall(**APART), many)
    alone = solved(small_hall(**APART), products(LEAN))
    assert bought(free)["t4"] > 1 and full(alone)["tray"] < full(free)["tray"]
    kept = solved(small_hall(**APART, floor={"tray_fill": full(alone)["tray"] + 1e-4}), many)
    assert "t4" not in bought(kept) and failed(kept) == [] and usd(kept) <= usd(alone)


def test_trunks_that_cannot_turn_into_a_manager_are_left_out() -> None:
    kept = solved(small_hall(floor={"manager_fill": 0.9, "manager_depth_mm": 35}), products(FAT, LEAN, SMALL))
    assert "t4" not in bought(kept) and failed(kept) == []


def test_links_that_may_be_leads_are_where_all_trunks_are_too_thick() -> None:
    dear = {"usd_per_hour": 500, "minutes": {"pull": {"fibre": 60, "cable": 60, "trunk": 30, "jumper": 1}}}
    free = solved(small_hall("any", dear, **APART), products(FAT))
    most = full(free)["tray"] * 0.5
    assert free.fabrics[0].structured
    kept = solved(small_hall("any", dear, **APART, floor={"tray_fill": most}), products(FAT))
    assert (kept.status, failed(kept)) == ("feasible", []) and not kept.fabrics[0].structured


class Asked(NamedTuple):
    """How narrow a case is: fills as shares of those of the answer without limits, lengths, and trunks on sale."""

    tray: float = inf
    manager: float = inf
    lengths: float = inf
    trunks: frozenset[int] = frozenset(range(3))

    def is_within(self, other: Asked) -> bool:
        return all(mine <= wide for mine, wide in zip(self, other, strict=True))


def random_products(seed: int) -> tuple[Json, tuple[Json, ...]]:
    """Three types of trunk at random prices and diameters; jumpers of two diameters."""
    rng = random.Random(seed)
    trunks = tuple(
        trunk(f"t{legs}", legs, rng.randint(50, 900), diameter_mm=rng.choice([6, 8, 10, 12, 14]), bend_radius_mm=20)
        for legs in rng.sample([2, 3, 4, 6, 8, 12], 3)
    )
    content = products()
    (fibre, *_), (thin, thick) = content["fibres"], (1.5, rng.choice([2, 3, 5]))
    lean = [{**length, "price_usd": length["price_usd"] * 1.3} for length in fibre["lengths"]]
    content["fibres"] = [{**fibre, "diameter_mm": thick}, {**fibre, "id": "thin", "diameter_mm": thin, "lengths": lean}]
    content["panels"] = [panel(f"p{ports}", ports, rng.randint(20, 500)) for ports in rng.sample([4, 6, 12, 24], 2)]
    return content, trunks


def costs(content: Json, seed: int, ways: Sequence[Asked]) -> dict[Asked, float]:
    """What a case costs at its narrowest and wider; infinite without a design."""
    found, (parts_, trunks) = dict[Asked, float](), random_products(seed)
    shares = full(solved(content, {**parts_, "trunks": trunks}))
    for asked in ways:
        fills = {f"{what}_fill": round(shares[what] * share + 1e-4, 4)
                 for what, share in (("tray", asked.tray), ("manager", asked.manager)) if share < inf}  # fmt: skip
        limited = {**content, "site": {**content["site"], "floor": {**content["site"]["floor"], **fills}}}
        if asked.lengths < inf:
            limited["max_lengths"] = asked.lengths
        design = solved(limited, {**parts_, "trunks": [trunks[number] for number in sorted(asked.trunks)]})
        assert failed(design) == []
        found[asked] = usd(design) if design.fabrics else inf
    return found


def assert_wider_is_no_dearer(found: dict[Asked, float]) -> None:
    for asked, wider in product(found, repeat=2):
        if asked.is_within(wider):
            assert found[wider] <= found[asked], (asked, wider)


def test_a_long_fibre_is_no_jumper_because_a_short_one_is_left_out() -> None:
    content = small_hall("direct", LABOUR, servers=2, **APART)
    free, few = solved(content, products(LEAN)), solved({**content, "max_lengths": 1}, products(LEAN))
    assert failed(few) == [] and usd(free) < usd(few)


def test_trunks_are_made_to_order_and_no_lengths() -> None:
    content = small_hall(servers=2, **APART, max_lengths=2)
    design = solved(content, products(LEAN))
    assert failed(design) == [] and len({row.length_m for row in design.bom if row.length_m}) == 3


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_no_wider_limit_costs_more(seed: int) -> None:
    """Fills, lengths, types of trunk and budgets, one at a time and together, of which some are drawn."""
    cabling = ("structured", "any")[seed % 2]
    content = small_hall(cabling, LABOUR, **(APART if seed % 3 else {}))
    fills = [Asked(*(pair)) for pair in product((inf, 0.8, 0.5, 0.3), (inf, 0.8, 0.5))]
    short = [asked._replace(lengths=number) for asked in fills[::3] for number in (1, 2, 3)]
    sets = [frozenset(some) for number in (1, 2) for some in combinations(range(3), number)]
    fewer = [asked._replace(trunks=some) for asked in fills[::4] for some in sets]
    found = costs(content, seed, [Asked(), *random.Random(seed).sample([*fills[1:], *short, *fewer], 15)])
    assert_wider_is_no_dearer(found)
    parts_, trunks = random_products(seed)
    for asked, least in found.items():
        if least < inf and asked == Asked(lengths=asked.lengths):
            for budget, fits in ((least - 0.01, False), (least, True), (least * 2, True)):
                limits = {**({} if asked.lengths == inf else {"max_lengths": asked.lengths}),
                          "limits": {"budget_usd": round(budget, 2)}}  # fmt: skip
                design = solved({**content, **limits}, {**parts_, "trunks": trunks})
                assert (usd(design) if design.fabrics else inf) == (least if fits else inf)


def timed_products() -> Json:
    """Longer trunks are cheaper; 50 ns a NIC, 250 a switch, 30 a module, 4.96 a metre of fibre."""
    sold = products(*(trunk(f"t{legs}", legs, 1, lengths=[{"m": m, "price_usd": usd}]) for legs, m, usd in TIMED))
    sold["facts"] = {"latency": ROWS}
    return {**sold, "switches": [{**switch, "asic": "X1"} for switch in sold["switches"]]}


TIMED = ((4, 60, 100), (6, 30, 400), (12, 15, 900))


def timed_hall(most_us: float, cabling: object = "structured") -> Json:
    fabric = {"max_latency_us": most_us, **APART["fabric"]}
    return small_hall(cabling, servers=2, fabric=fabric, rules=APART["rules"])


def test_a_limit_of_latency_is_kept_by_shorter_trunks() -> None:
    """15 m in place of 30 m: 2 x 2 x 15 x 4.96 = 297.6 ns; two jumpers of 3 m and a trunk are a link."""
    far, near = (solved(timed_hall(us), timed_products()) for us in (2.9, 2.6))
    for design, id_, round_trip_ns in ((far, "t6", 2835.84), (near, "t12", 2835.84 - 297.6)):
        assert (design.status, failed(design)) == ("optimal", []) and set(bought(design)) & {"t4", "t6", "t12"} == {id_}
        assert farthest(design).round_trip_ns == pytest.approx(round_trip_ns)
    assert usd(near) == usd(far) + 500


@pytest.mark.long
@pytest.mark.parametrize("cabling", ["structured", {"leaf-spine": "structured", "server-leaf": "structured"}])
def test_a_front_of_latency_has_what_each_limit_gives(cabling: object) -> None:
    asked = inputs(small_hall(cabling, servers=2, **APART), timed_products())
    metrics = [MEASURES["capex_usd"], MEASURES["latency_us"]]
    found = pareto_front(asked, metrics, None, Settings(), Clock(None), lambda _: None)
    points = [(point.values["capex_usd"], point.values["latency_us"]) for point in found.points]
    assert found.complete and len(points) > 2 and points == sorted(points)
    for number, ((dollars, us), (dearer, _)) in enumerate(zip(points, [*points[1:], (inf, 0)], strict=True)):
        for most_us, cheapest in ((us, dollars), (us - 1e-6, dearer)):
            design = solved(timed_hall(most_us, cabling), timed_products(), prune=number % 2 == 0)
            assert (usd(design) if design.fabrics else inf) == cheapest
