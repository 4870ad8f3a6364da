"""``fabopt.inspect.differences``: what differs is told, what does not is not, and money adds up to the cent."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fabopt.design.bill import KIND_OF
from fabopt.inspect.differences.cables import cable_changes
from fabopt.inspect.differences.compare import Contrast, Reason, contrast, waterfall
from fabopt.inspect.differences.sides import Compared, whole
from fabopt.io.case import inputs_from_objects
from fabopt.output.differences import bill_cells, names_of, verdict
from fabopt.output.export.differences import differences_json
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from tests.samples import bases as in_service, random_cases, small
from tests.samples.bare import with_equal_groups
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.growth_samples import eight
from tests.samples.moves import moved
from tests.samples.older import as_written_by
from tests.samples.once import once
from tests.samples.resilience import without_redundancy
from tests.solution import test_joins as joins
from tests.solution.test_in_service import in_stages

Json = dict[str, Any]
PAIRS = 300
FAMILIES = ("linear", "procurement", "ruled", "attached", "three_tier", "rails", "planes")


def held(*designs: Design) -> Contrast:
    sides = [whole(f"{letter}.json", design) for letter, design in zip("abcd", designs, strict=False)]
    return contrast(sides, lambda side: wiring_of(side.design))


def solved(parts: Json, content: Json) -> Design:
    content = without_redundancy(with_equal_groups({key: content[key] for key in content if key != "catalog"}))
    return once(lambda: optimize.solve(inputs_from_objects(content, parts), alternatives_s=0), content, parts)


# -- equal and different ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MAKERS)
def test_a_design_with_itself_is_equal(kind: str) -> None:
    design = designed(kind)
    again = Design.model_validate_json(design.model_dump_json(by_alias=True))
    result = held(design, again)
    assert result.is_equal
    assert "equal" in verdict(result)
    said = json.loads(differences_json(result))
    assert (said["differences"], said["waterfall"], said["equal"]) == ([], [], True)
    cables = result.against[0].cables
    assert cables and all(changes[1:] == (0, 0, 0) for changes in cables.values())
    assert sum(changes.stay for changes in cables.values()) == len(wiring_of(design).cables)


@pytest.mark.long(but=("0.1.0",))
@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_a_file_of_an_earlier_version_is_equal_to_the_same_of_this(version: str) -> None:
    """What the earlier file cannot say is no difference; it has no charges, models or loose attachments in 0.1.0."""
    later = {"uncertain growth", "floor", "model"} if version == "0.1.0" else set()
    for kind in MAKERS.keys() - later:
        content = json.loads(designed(kind).model_dump_json(by_alias=True))
        as_written_by(version, content)
        result = held(Design.model_validate_json(json.dumps(content)), designed(kind))
        assert result.is_equal, (kind, [row.name for row in result.rows])


def test_how_it_was_searched_is_no_difference() -> None:
    design = designed("clos, two tiers")
    objective = design.objective.model_copy(update={"engine": "highs", "solve_s": 99, "candidates": 1})
    assert held(design, design.model_copy(update={"objective": objective, "alternatives": ()})).is_equal


def test_other_links_at_equal_figures_are_a_difference() -> None:
    design = designed("clos, two tiers")
    fabric = design.fabrics[0]
    longer = fabric.links[0].model_copy(update={"length_m": fabric.links[0].length_m + 0.5})
    other = fabric.model_copy(update={"links": (longer, *fabric.links[1:])})
    result = held(design, design.model_copy(update={"fabrics": (other,)}))
    assert [row.name.what for row in result.rows] == ["links and places"]
    assert not result.is_equal


def test_families_are_compared_with_each_other() -> None:
    """Every kind of design with the next: what is told of one side is told of the other."""
    kinds = list(MAKERS)
    for kind, other in zip(kinds, [*kinds[1:], kinds[0]], strict=True):
        result = held(designed(kind), designed(other))
        assert not result.is_equal
        assert all(len(row.figures) == 2 for row in result.rows)
        assert_adds_up(result.sides[0], result.sides[1], result.against[0].steps)
        gone, left = ({(row.kind, row.id, row.length_m) for row in designed(name).bom if row.quantity}
                      for name in (kind, other))  # fmt: skip
        cables = result.against[0].cables
        assert cables is not None
        counted = [sum(getattr(row, name) for row in cables.values()) for name in ("stay", "move", "go", "come")]
        assert counted[0] + counted[1] + counted[2] == len(wiring_of(designed(kind)).cables)
        assert counted[0] + counted[1] + counted[3] == len(wiring_of(designed(other)).cables)
        changed = {change.part for change in result.against[0].bill}
        assert (gone ^ left) - {part for part in gone ^ left if part[0] == "other"} <= changed


def test_a_rule_left_out_and_a_single_point_come_first() -> None:
    design = designed("clos, two tiers")
    lost: Json = {"rule": "two-spines", "part": "two-spines", "fabric": "compute", "why": "no part does"}
    point = {"fabric": "compute", "device": "spine", "count": 1, "worst": "compute-spine-001", "loses": "every path",
             "servers": 6, "fewest_servers": 6, "degraded": False}  # fmt: skip
    content = json.loads(design.model_dump_json(by_alias=True))
    worse, better = (
        Design.model_validate_json(json.dumps(content | {"rules_left_out": rules, "single_points_of_failure": points}))
        for rules, points in (([lost], [point]), ([], []))
    )
    words = verdict(held(better, worse))
    assert words.startswith(
        "With B (b.json) this is lost against A (a.json): rule two-spines of compute is left out and "
        "switches that cut something off: 1 instead of 0. B costs the same as A"
    )
    assert "Gained: rule two-spines of compute is kept" in verdict(held(worse, better))
    ranked = [(row.name.what, row.better) for row in held(better, worse).rows]
    assert ranked == [("rule two-spines", (0,)), ("switches that cut something off", (0,))]


def test_a_fabric_that_one_side_lacks_is_lost_first() -> None:
    """Of such a fabric no keys and sizes are told; of a quote it is known which fabrics it has."""
    several = whole("several.json", designed("several fabrics"))
    names = [fabric.name for fabric in several.design.fabrics]
    kept = {**several.design.case.content, "fabrics": several.design.case.content["fabrics"][:1]}
    record = several.design.case.model_copy(update={"content": kept})
    alone = several.design.model_copy(update={"case": record, "fabrics": several.design.fabrics[:1]})
    for side in (whole("alone.json", alone), Compared("alone.json", alone, 0, offer=alone.bom)):
        result = contrast([several, side], lambda side: None)
        assert verdict(result).startswith(
            f"With B (alone.json) this is lost against A (several.json): fabric {names[1]} is not there"
        )
        assert f"fabric {names[1]} is there" in verdict(contrast([side, several], lambda side: None))
        assert not [row for row in result.rows if row.name.group == "case"]


def test_what_a_failure_leaves_is_held_against_that_of_the_same_fabric() -> None:
    """One fabric against several: what is left of it, as its bandwidth, is known on both sides."""
    several = whole("several.json", designed("several fabrics"))
    first = several.design.fabrics[0]
    worse = first.failures[0].model_copy(update={"gbps_per_gpu": first.failures[0].gbps_per_gpu + 1})
    other = first.model_copy(update={"failures": (worse, *first.failures[1:])})
    alone = whole("alone.json", several.design.model_copy(update={"fabrics": (other,)}))
    [row] = [row for row in contrast([several, alone], lambda side: None).rows if row.name.what.startswith("left ")
             and row.name.fabric == first.name]  # fmt: skip
    assert [figure.value for figure in row.figures] == [worse.gbps_per_gpu - 1, worse.gbps_per_gpu]
    assert row.better == (1,)


def test_oversubscription_of_other_families_is_not_better() -> None:
    rows = {
        row.name.what: row
        for row in held(designed("clos, two tiers"), designed("dragonfly")).rows
        if row.name.what.startswith("oversubscription")
    }
    assert rows and all(row.better == () for row in rows.values())


def test_sides_have_no_folders_where_their_files_are_told_apart() -> None:
    design = designed("clos, two tiers")
    for paths, shown in (
        (("a/x.json", "b/y.json@day-1"), ["x.json", "y.json@day-1"]),
        (("a/x.json", "b/x.json"), ["a/x.json", "b/x.json"]),
        (("a/x.json", "a/x.json"), ["x.json", "x.json"]),
    ):
        assert names_of(contrast([whole(path, design) for path in paths], lambda side: None)) == shown


# -- money ------------------------------------------------------------------------------------------------------------


def test_what_goes_on_from_a_design_is_held_against_it(tmp_path: Path) -> None:
    """Eight servers, then twelve: of 8 + 8 cables four move; each is 20 minutes of work."""
    base = in_service.designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10})
    both = held(base, design)
    assert "goes on from A (a.json): $2,560 beside the $4,040 spent, for 12 GPUs against 8" in verdict(both)
    said = "Of 16 cables 12 stay, 4 move and 0 go, and 8 are new; 4 cables to recable: about 1.3 hours of work (20 "
    assert said in verdict(both)
    assert "Gained: 4 servers with 4 GPUs" in verdict(both)
    money = {row.name.what: row for row in both.rows if row.name.group == "money"}
    assert [figure.value for figure in money["purchase price per GPU added"].figures] == [4040 / 8, 2560 / 4]
    assert [row.name.what for row in money.values() if row.better] == ["purchase price per GPU added"]
    assert not any("sha256" in row.name.what for row in both.rows)
    lines = json.loads(differences_json(both))["against"][0]["bill"]
    assert {row["change"] for row in lines} == {"more"}
    assert sum(row["total_usd"][1] - row["total_usd"][0] for row in lines) == 2560 - 4 * 10
    switches = [(row["quantity"], row["in_service"]) for row in lines if row["kind"] == "switch"]
    assert switches == [([0, 2], [3, 3])]
    cells = [bill_cells(change) for change in both.against[0].bill if change.row.kind == "switch"]
    assert [(cell.before, cell.after, cell.more) for cell in cells] == [
        ("3 in service", "2 at $1,000 + 3 in service", "+$2,000")
    ]
    steps = both.against[0].steps
    assert ("case", "base", -100 * (3 * 1000 + 8 * 100 + 8 * 10 + 8 * 20)) in steps
    assert sum(step.cents for step in steps) == 100 * (2560 - 4040)


def test_money_beside_something_in_service_says_so(tmp_path: Path) -> None:
    """Held against the plan whose first stage is in service, and the other way round."""
    planned = in_service.designed(eight(), in_stages(5, 8))
    design = in_service.gone_on(eight(), in_stages(6), planned, tmp_path, "stage-1")
    said = verdict(held(planned, design))
    assert "What B costs is beside what is in service" in said and "goes on from" not in said
    assert "Of A the stage stage-1 is in service: with `a.json@stage-1` for A all is told" in said
    back = held(design, planned)
    assert "What A costs is beside what is in service" in verdict(back)
    assert not any(row.better for row in back.rows if row.name.group == "power and space")
    early = replace(whole("a.json", planned), stage=0)
    both = contrast([early, whole("b.json", design)], lambda side: wiring_of(side.design))
    assert "goes on from A (a.json)" in verdict(both) and "to recable" not in verdict(both)
    same = held(design, design.model_copy(update={"status": "feasible"}))
    assert "beside what is in service" not in verdict(same)


def assert_adds_up(a: Compared, b: Compared, steps: tuple[Reason, ...]) -> None:
    """The causes add up to the difference, and those that a bill tells alone are what it tells."""
    totals = [side.design.totals for side in (a, b)]
    assert totals[0] is not None and totals[1] is not None
    assert sum(step.cents for step in steps) == round(100 * totals[1].capex_usd) - round(100 * totals[0].capex_usd)
    assert all(step.cents for step in steps)
    assert len({(step.cause, step.what) for step in steps}) == len(steps)
    expected = {cause: told_by_bill(a.design, b.design)[cause] for cause in ("prices", "terms", "charges")}
    parts = sum(len({(row.kind, row.id, row.length_m) for row in side.design.bom}) for side in (a, b))
    for cause, cents in expected.items():
        given = sum(step.cents for step in steps if step.cause == cause)
        assert abs(given - cents) <= parts / 2, (cause, given, float(cents))


def told_by_bill(a: Design, b: Design) -> Counter[str]:
    """Prices, terms and charges from the lines alone, by other sums than the package's."""
    told: Counter[str] = Counter()
    units: list[Counter[Any]] = []
    listed: list[Counter[Any]] = []
    for design, sign in ((a, -1), (b, 1)):
        number: Counter[Any] = Counter()
        whole_usd: Counter[Any] = Counter()
        for row in design.bom:
            paid = Fraction(str(row.total_usd)) * 100
            if row.kind == "other":
                told["charges"] += sign * paid
                continue
            single = Fraction(str(row.single_price_usd)) * row.quantity * 100
            number[row.kind, row.id, row.length_m] += row.quantity
            whole_usd[row.kind, row.id, row.length_m] += single
            told["terms"] += sign * (paid - single)
        units.append(number)
        listed.append(whole_usd)
    for part in units[0]:
        if units[0][part] and units[1][part]:
            unit = [listed[side][part] / units[side][part] for side in (0, 1)]
            told["prices"] += units[0][part] * (unit[1] - unit[0])
    return told


def pair(seed: int) -> tuple[Design, Design] | None:
    """Two designs: of a random case, and of it with prices, size, keys or all of it changed; None without both."""
    dice = random.Random(f"pair {seed}")
    parts, case = random_cases.generate(FAMILIES[seed % len(FAMILIES)], seed)
    others, other = copy.deepcopy((parts, case))
    what = dice.choice(["prices", "breaks", "servers", "charges", "spares", "counted", "all"])
    if what == "all":
        others, other = random_cases.generate(FAMILIES[(seed + 3) % len(FAMILIES)], seed + 1)
    products = [product for kind in KIND_OF for product in others.get(kind, ())]
    for product in products if what in ("prices", "breaks") else ():
        for priced in product.get("lengths", [product]):
            if isinstance(usd := priced.get("price_usd"), int | float):
                dearer = round(usd * dice.choice([0.5, 0.93, 1, 1.17, 3]), 2)
                breaks = [{"from": 1, "usd": dearer}, {"from": 4, "usd": round(dearer * 0.8, 2)}]
                priced["price_usd"] = breaks if what == "breaks" else dearer
    if what == "servers" and "servers" in other:
        other["servers"] = max(1, other["servers"] + dice.choice([-1, 1, 2]))
    if what == "charges":
        other["charges"] = [{"name": "tax", "percent": 19}, {"name": "licence", "usd": 7.5, "per": "unit"}]
    if what == "spares":
        other.setdefault("procurement", {})["spares"] = {"transceiver": {"fraction": 0.1, "minimum": 2}}
    if what == "counted":
        others["servers"][0]["price_usd"] = 1000.5
        other["include_servers"] = True
    designs = solved(parts, case), solved(others, other)
    return designs if all(design.totals is not None for design in designs) else None


def assert_pairs(seeds: range) -> None:
    causes: Counter[str] = Counter()
    known = [designs for seed in seeds if (designs := pair(seed)) is not None]
    for designs in known:
        a, b = whole("a", designs[0]), whole("b", designs[1])
        steps = waterfall(a, b)
        assert_adds_up(a, b, steps)
        back = waterfall(b, a)
        assert sum(step.cents for step in back) == -sum(step.cents for step in steps)
        causes.update({step.cause for step in steps})
    assert len(known) > len(seeds) / 2
    assert {"prices", "design", "charges"} <= causes.keys()


@pytest.mark.long
def test_waterfalls_of_random_pairs_add_up() -> None:
    assert_pairs(range(12))


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, PAIRS, 50))
def test_waterfalls_of_many_random_pairs_add_up(start: int) -> None:
    assert_pairs(range(1000 + start, 1050 + start))


def steps_of(parts: Json, case: Json, others: Json, other: Json) -> list[tuple[str, str, int]]:
    return [tuple(step) for step in waterfall(whole("a", solved(parts, case)), whole("b", solved(others, other)))]


def test_causes_of_one_change_each() -> None:
    """Six servers: 6 NICs of $1,500, by hand; a change of one thing has one cause."""
    parts, case = small.catalog(), small.case(servers=6)
    nics = sum(row.quantity for row in solved(parts, case).bom if row.kind == "nic")
    dearer = copy.deepcopy(parts)
    small.product(dearer, "nic-400")["price_usd"] = small.product(parts, "nic-400")["price_usd"] + 0.07
    assert steps_of(parts, case, dearer, case) == [("prices", "nic", 7 * nics)]
    spare = {**case, "procurement": {"spares": {"nic": {"minimum": 2}}}}
    nic_cents = round(100 * small.product(parts, "nic-400")["price_usd"])
    assert steps_of(parts, case, parts, spare) == [("case", "procurement.spares", 2 * nic_cents)]
    assert steps_of(parts, spare, parts, case) == [("case", "procurement.spares", -2 * nic_cents)]
    stocked = {**case, "have": {"nic-400": 3}}
    assert steps_of(parts, case, parts, stocked) == [("case", "have", -3 * nic_cents)]
    charged = {**case, "charges": [{"name": "freight", "usd": 12.34, "per": "unit"}]}
    assert [step[:2] for step in steps_of(parts, case, parts, charged)] == [("charges", "freight")]


def test_where_moves_are_paid_a_cable_with_another_label_moves() -> None:
    """Equal cables in each other's ports are told apart by their labels alone, as the bill of moves does."""
    wiring = wiring_of(solved(eight(), in_stages(4)))
    first, second, *rest = wiring.cables.name
    other = replace(wiring, cables=replace(wiring.cables, name=[second, first, *rest]))
    assert sum(of.stay for of in cable_changes(wiring, other).values()) == len(wiring.cables)
    paid = cable_changes(wiring, other, by_label=True).values()
    assert (sum(of.move for of in paid), sum(of.stay for of in paid)) == (2, len(rest))


def test_of_what_a_pod_joins_a_case_says_the_file_alone(tmp_path: Path) -> None:
    """None of its keys is one of the case, and no stage is named where money of both cannot be told together."""
    live = in_service.designed(joins.parts({"small": 6}, 8), joins.in_service(4, max_oversubscription=2))
    content = joins.pod(3, ["small"], max_oversubscription=2)
    both = held(live, joins.joined(joins.parts({"small": 6}, 8), content, live, tmp_path))
    keys = [row.name.what for row in both.rows if row.name.group == "case"]
    assert [key for key in keys if key.startswith("joins")] == ["joins.file"]
    assert "What B costs is beside what is in service" in verdict(both) and "for A all is told" not in verdict(both)
