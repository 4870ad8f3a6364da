"""Links between switches through trunks and panels: the cheapest way, and rules that a file breaks."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from math import ceil

import pytest

from fabopt.errors import InputError
from fabopt.output.terminal.first_screen import cost_shares, first_rows
from fabopt.parts.polarity import Mated, mated
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.catalog import Fibre, Panel, Transceiver, Trunk
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.expansion import WORK_OF_TRUNKS
from fabopt.solution import optimize
from fabopt.solution.question import finishing_s
from fabopt.units import some
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring
from fabopt.wiring.structured import structured_of
from tests.samples import trunked
from tests.samples.small import Json, bought, comparable, usd
from tests.samples.trunked import (
    BROKEN_OUT,
    LABOUR,
    UNIVERSAL,
    broken_out,
    hall,
    inputs,
    panel,
    parts,
    random_parts,
    solved,
    trunk,
)


def failed(design: Design) -> list[str]:
    """Names of the checks that fail."""
    return [check.name for check in design.checks if not check.ok]


def test_links_between_racks_run_through_trunks() -> None:
    design = solved(hall())
    assert (design.status, failed(design)) == ("optimal", [])
    (kind,) = design.fabrics[0].structured
    links = sum(route.links for route in kind.routes)
    assert kind.kind == "leaf-spine" and links == kind.far_jumpers > 0
    assert bought(design)["t4"] == sum(row.count for row in kind.trunks)
    assert {place.rack for place in kind.panels} == {rack for route in kind.routes for rack in (route.a, route.b)}
    assert design.totals is not None
    assert design.totals.capex_usd == pytest.approx(sum(row.total_usd for row in design.bom))


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_nothing_cheaper_is_pruned(seed: int) -> None:
    """The first in four racks with one type of switch and of NIC, so that the whole space is small."""
    products = random_parts(seed)
    if not seed:
        products.update({kind: [one for one in products[kind] if one["id"] in ("small", "nic-400")]
                         for kind in ("switches", "nics")})  # fmt: skip
    floor = {} if seed else {"racks_per_row": 4}
    for content in (hall(servers=2 + (seed > 0), floor=floor), hall("any", LABOUR, servers=4))[: 1 + (seed > 0)]:
        few, all_ = solved(content, products), solved(content, products, prune=False)
        assert failed(few) == failed(all_) == []
        assert (few.status, usd(few)) == ("optimal", usd(all_))


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("seed", range(3))
def test_what_is_cheaper_is_taken(seed: int) -> None:
    products = random_parts(seed)
    either, leads, through = (solved(hall(word, LABOUR), products) for word in ("any", "direct", "structured"))
    assert usd(either) <= min(usd(leads), usd(through))
    assert (either.status, failed(either)) == ("optimal", [])


def test_a_budget_is_kept_by_the_cheaper_way_and_is_proven() -> None:
    """Leads alone fit into a budget that trunks do not, to the cent."""
    parts_ = {**parts(), "switches": [one for one in parts()["switches"] if one["id"] == "small"]}
    content = hall("any", LABOUR, servers=3, floor={"racks_per_row": 4})
    least = usd(solved(content, parts_))
    leads = solved({**content, "limits": {"budget_usd": least}}, parts_)
    assert (leads.status, usd(leads), leads.objective.bound) == ("optimal", least, least)


@pytest.mark.long
def test_a_budget_below_both_ways_has_no_design() -> None:
    content = hall("any", LABOUR, servers=3, floor={"racks_per_row": 4}, limits={"budget_usd": 1000})
    assert solved(content).status == "infeasible"


def broken(design: Design, **update: object) -> set[str]:
    """Checks that fail once the kind of links through trunks has other values."""
    fabric = design.fabrics[0]
    kind = fabric.structured[0].model_copy(update=update)
    changed = fabric.model_copy(update={"structured": (kind,)})
    return {check.name for check in verify(design.model_copy(update={"fabrics": (changed,)})) if not check.ok}


def with_part(design: Design, id_: str, **keys: object) -> set[str]:
    """Checks that fail once an embedded part has other keys."""
    entry = {**design.parts[id_], **keys}
    changed = design.model_copy(update={"parts": {**design.parts, id_: entry}})
    return {check.name for check in verify(changed) if not check.ok}


def test_files_that_break_rules_are_refused() -> None:
    design = solved(hall())
    (kind,) = design.fabrics[0].structured
    route, *others = kind.routes
    few = route.trunks[0].model_copy(update={"count": route.trunks[0].count - 1})
    fewer = route.model_copy(update={"trunks": (few, *route.trunks[1:])})
    assert {"trunks_hold_legs", "bom_covers_parts"} <= broken(design, routes=(fewer, *others))
    assert "trunks_hold_legs" in broken(design, routes=(route.model_copy(update={"links": route.links + 1}), *others))
    assert "trunks_hold_legs" in broken(design, jumper_m=1)
    assert "schedule_matches_bill" in broken(design, far_jumpers=kind.far_jumpers - 1)
    assert "panels_hold_trunks" in broken(design, panels=kind.panels[1:])
    switch = design.fabrics[0].places.leaf[0]
    moved = kind.panels[0].model_copy(update={"rack": switch[0], "unit": switch[1]})
    assert "panels_fit_racks" in broken(design, panels=(moved, *kind.panels[1:]))
    assert "panels_fit_racks" in broken(
        design, panels=(kind.panels[0].model_copy(update={"unit": 0}), *kind.panels[1:])
    )
    bought_trunk = next(trunk.id for trunk in kind.trunks)
    assert "polarity_crosses" in with_part(design, bought_trunk, polarity="A")
    assert "ends_mate" in with_part(design, bought_trunk, connector="MPO-12-UPC")
    assert "ends_mate" in with_part(design, kind.panels[0].id, connector="MPO-16")
    assert "trunks_hold_legs" in {
        check.name
        for check in verify(
            design.model_copy(update={"fabrics": (design.fabrics[0].model_copy(update={"structured": ()}),)})
        )
        if not check.ok
    }


def test_files_that_break_rules_of_cassettes_are_refused() -> None:
    """Positions, pins and connectors of cassettes, legs that are too many or few, and two that are not alike."""
    design = solved(*BROKEN_OUT["in order"])
    assert (design.status, failed(design)) == ("optimal", [])
    (kind,) = design.fabrics[0].structured
    (id_,), back = {place.id for place in kind.panels}, {"connector": "MPO-12-APC", "pinned": False}
    assert all(route.legs == -(-ceil(route.links * 1.5) // 4) for route in kind.routes)
    for positions, names in (
        ([[1, 2], [12, 11], [3, 10], [4, 9]], {"polarity_crosses"}),
        ([[1, 3], [2, 12], [4, 9], [5, 8]], {"polarity_crosses"}),
        ([[1, 12]], {"trunks_hold_legs"}),
    ):
        assert names <= with_part(design, id_, back={**back, "positions": positions}, ports=len(positions))
    assert "ends_mate" in with_part(design, id_, back={**back, "pinned": True, "positions": UNIVERSAL})
    assert "ends_mate" in with_part(design, id_, back={**back, "connector": "MPO-12-UPC", "positions": UNIVERSAL})
    assert "ends_mate" in with_part(design, id_, connector="LC-simplex")
    assert "polarity_crosses" in with_part(design, next(kind.trunks).id, polarity="A")
    of_trunk = design.parts[next(kind.trunks).id]
    assert with_part(design, of_trunk["id"], fibres=8 * of_trunk["legs"]) == {"facts_match_hash"}
    assert "ends_mate" in with_part(design, of_trunk["id"], fibres=6 * of_trunk["legs"])
    route, *others = kind.routes
    assert "trunks_hold_legs" in broken(design, routes=(route.model_copy(update={"legs": route.links}), *others))
    assert "panels_hold_trunks" in broken(design, panels=kind.panels[1:])
    other = {**design.parts, "other": {**design.parts[id_], "loss_db": 0.1}}
    places = (kind.panels[0].model_copy(update={"id": "other"}), *kind.panels[1:])
    fabric = design.fabrics[0].model_copy(update={"structured": (kind.model_copy(update={"panels": places}),)})
    mixed = design.model_copy(update={"parts": other, "fabrics": (fabric,)})
    assert "polarity_crosses" in {check.name for check in verify(mixed) if not check.ok}


@pytest.mark.parametrize(("said_db", "is_kept"), [(None, False), (0.9, True), (1.3, False)])
def test_what_cassettes_lose_counts(said_db: float | None, is_kept: bool) -> None:
    """Modules stand 3 dB: two pairs of 0.5 at them leave 2 for two cassettes, of 0.5 and 0.6 if nothing is said."""
    products, source = broken_out(), {"url": "https://example.org", "date": "2026-01-01"}
    products.update({kind: [one for one in products[kind] if one["id"] in ("small", "nic-400")]
                     for kind in ("switches", "nics")})  # fmt: skip
    for one in products["panels"] if said_db is not None else ():
        one["loss_db"] = said_db
    losses = {"LC-duplex": 0.5, "MPO-12-APC": 0.6}
    products["facts"] = {"optics": {
        "budgets": [{"standard": "400G-DR4", "fibre": "smf", "budget_db": 3.0, "source": source}],
        "pairs": [{"connector": one, "fibre": "smf", "largest_db": db, "source": source} for one, db in losses.items()],
    }}  # fmt: skip
    few = hall(servers=2, floor={"racks_per_row": 4})
    read = inputs(few, products)
    problem = problem_of(read.case, read.catalog)
    assert (search_of(problem, Settings(), Clock(None), context=Context()).run().value is not None) == is_kept
    if is_kept:
        design = solved(few, products)
        assert (design.status, failed(design)) == ("optimal", [])
        panel_id = design.fabrics[0].structured[0].panels[0].id
        assert "ends_mate" in with_part(design, panel_id, loss_db=1.3) & with_part(design, panel_id, loss_db=None)


def lossy_parts(plug_db: float) -> Json:
    """Modules that stand 3 dB, and plugs that lose so much."""
    products, source = parts(), {"url": "https://example.org", "date": "2026-01-01"}
    products["facts"] = {"optics": {
        "budgets": [{"standard": "400G-DR4", "fibre": "smf", "budget_db": 3.0, "source": source}],
        "pairs": [{"connector": "MPO-12-APC", "fibre": "smf", "largest_db": plug_db, "source": source}],
    }}  # fmt: skip
    return products


def test_links_that_stand_four_pairs_of_plugs_run_through_trunks() -> None:
    kept = solved(hall(), lossy_parts(0.7))
    assert (kept.status, failed(kept)) == ("optimal", []) and kept.fabrics[0].structured
    budget = with_part(kept, "dr4-hot", loss_budget_db=2.8)
    assert "ends_mate" in budget


def is_lost(design: Design) -> bool:
    """Whether there is no design, as links have to run through trunks."""
    return design.status == "infeasible" and "site.cabling" in {conflict.limit for conflict in design.conflicts}


@pytest.mark.long
@pytest.mark.parametrize(("margin_db", "plug_db"), [(0.0, 0.8), (0.3, 0.7)])
def test_links_that_do_not_have_no_design(margin_db: float, plug_db: float) -> None:
    """All switches in one rack, where nothing runs through trunks, are not what `structured` asks for."""
    assert is_lost(solved(hall(site={"optical_margin_db": margin_db}), lossy_parts(plug_db)))


def test_links_that_lose_too_much_have_no_design_on_a_small_floor() -> None:
    """As above, in few racks with one type of switch and of NIC, and without the reason."""
    products = lossy_parts(0.8)
    for kind in ("switches", "nics"):
        products[kind] = [one for one in products[kind] if one["id"] in ("small", "nic-400")]
    few = hall(servers=2, floor={"racks_per_row": 4})
    read = inputs(few, products)
    problem = problem_of(read.case, read.catalog)
    assert search_of(problem, Settings(), Clock(None), context=Context()).run().value is None
    assert solved(few, {**products, "facts": lossy_parts(0.7)["facts"]}).fabrics[0].structured


def test_switches_of_one_rack_have_no_trunks_and_are_not_structured() -> None:
    """A design that `direct` has in one rack says so to the verifier: the case wants trunks."""
    few = hall("direct", servers=2, floor={"racks_per_row": 1, "rack_units": 30}, site={"servers_per_rack": 2},
               rules={"rack-spread": False})  # fmt: skip
    leads = solved(few)
    assert leads.fabrics and not leads.fabrics[0].structured
    content = {**leads.case.content, "site": {**leads.case.content["site"], "cabling": "structured"}}
    said = leads.model_copy(update={"case": leads.case.model_copy(update={"content": content})})
    assert "trunks_hold_legs" in {check.name for check in verify(said) if not check.ok}


def test_links_that_have_to_run_through_trunks_run_through_no_shuffle() -> None:
    """Shuffles are so cheap that leads would be shuffles."""
    products = parts()
    products["transceivers"].append({"id": "dr2", "form_factor": "QSFP-DD", "split": "2x200", "standard": "200G-DR2",
                                     "fibre": "smf", "connector": "MPO-12-APC", "reach_m": 500, "power_w": 9,
                                     "price_usd": 40})  # fmt: skip
    products["fibres"].append({"id": "shuffle", "fibre": "smf", "ends": [{"connector": "MPO-12-APC", "count": 2}] * 2,
                               "lengths": [{"m": 50, "price_usd": 10}]})  # fmt: skip
    assert "shuffle" in bought(solved(hall("direct"), products))
    design = solved(hall(), products)
    assert (design.status, failed(design)) == ("optimal", [])
    assert design.fabrics[0].structured and "shuffle" not in bought(design)


def test_spare_legs_and_kinds_are_as_said() -> None:
    """Half as many legs again on every route; links of servers too where the case says so."""
    design = solved(hall({"leaf-spine": "structured", "spare_legs": 0.5}))
    (kind,) = design.fabrics[0].structured
    assert all(route.legs == -(-route.links * 3 // 2) for route in kind.routes)
    assert (design.status, failed(design)) == ("optimal", [])
    both = solved(hall({"leaf-spine": "structured", "server-leaf": "structured"}))
    assert {one.kind for one in both.fabrics[0].structured} == {"server-leaf", "leaf-spine"}
    assert (both.status, failed(both)) == ("optimal", [])


@pytest.mark.long
def test_leads_are_a_row_of_what_else() -> None:
    """What the same case with leads costs, as `fabopt check` proves it; a case with leads has no such row."""
    design = optimize.solve(inputs(hall(labour=LABOUR)), alternatives_s=20)
    assert failed(design) == []
    (row,) = (row for row in design.alternatives if row.change == {"site.cabling": "direct"})
    leads = solved(hall("direct", LABOUR))
    assert row.finished and row.capex_usd == usd(leads)
    others = optimize.solve(inputs(hall("direct", LABOUR)), alternatives_s=20).alternatives
    assert all("site.cabling" not in row.change for row in others)


@pytest.mark.parametrize("word", [None, {"leaf-spine": "structured", "server-leaf": "structured"}])
def test_trunks_and_panels_whose_loss_takes_nics_are_listed(word: object) -> None:
    """How many there are and how many servers each hits, counted by following links from every server."""
    few = parts([trunk("t12", 12, 300)], [panel("p24", 24, 300)])
    design = solved(hall(word or "structured"), few)
    assert failed(design) == []
    wiring, rows = wiring_of(design), design.single_points_of_failure or ()
    patched = structured_of(design, wiring).patched(wiring)
    for device in ("trunk", "panel"):
        lost: dict[str, set[int]] = defaultdict(set)
        for row, link in patched.items():
            names = (link.trunk.name,) if device == "trunk" else (link.near.panel, link.far.panel)
            for name in names:
                lost[name].add(row)
        hit = {name: servers_hit(wiring, links) for name, links in lost.items()}
        told = [row for row in rows if row.device == device]
        assert max(hit.values(), default=0) == max((row.servers for row in told), default=0)
        assert sum(number > 0 for number in hit.values()) == sum(row.count for row in told)
    assert any(row.device == "trunk" for row in rows) == bool(word)


def servers_hit(wiring: Wiring, lost: set[int]) -> int:
    """Servers of which some port reaches no switch of the part that most ports reach."""
    part = list(range(len(wiring.devices)))
    ends = list(enumerate(zip(wiring.links.a.tolist(), wiring.links.b.tolist(), strict=True)))
    is_switch = [role in ("leaf", "spine") for role in wiring.devices.role]
    for _ in part:
        for row, (a, b) in ends:
            if row not in lost and is_switch[a] and is_switch[b]:
                part[a] = part[b] = min(part[a], part[b])
    ports = [(a, part[b] if row not in lost else -1) for row, (a, b) in ends if wiring.devices.role[a] == "server"]
    main, _ = Counter(at for _, at in ports if at >= 0).most_common(1)[0]
    return len({server for server, at in ports if at != main})


def test_devices_of_attachments_in_racks_change_nothing_of_trunks() -> None:
    store = {"name": "store", "ports": 2, "form_factor": "QSFP112", "split": "1x400", "rack_units": 2, "racks": ["A08"]}
    content = hall(fabric={"attachments": [store]})
    design = solved(content)
    assert (design.status, failed(design)) == ("optimal", []) and design.fabrics[0].structured


def test_switches_stand_where_racks_have_room_for_panels() -> None:
    """Racks that servers fill have a unit for a switch, and none for its panels: an optimum with room is proven."""
    full = hall(
        floor={"rack_units": 6},
        rules={"rack-rules": True},
        site={"rack_rules": {"manager_units_per_switch": 0, "management_units": 0}},
    )
    design = solved(full)
    assert (design.status, failed(design)) == ("optimal", [])
    assert all(place.unit for kind in design.fabrics[0].structured for place in kind.panels)


def test_leads_alone_are_as_without_the_key() -> None:
    said, unsaid = hall("direct"), hall()
    del unsaid["site"]["cabling"]
    assert comparable(solved(said)) == comparable(solved(unsaid))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"site": {"floor": None}}, "routes between racks are not known"),
        ({"cabling": "any"}, "give `site.labour` with `usd_per_hour` and `minutes`"),
        ({"cabling": {"leaf-core": "any"}}, "leaf-core"),
        ({"cabling": {"leaf-spine": "structured", "spare_legs": 2}}, "spare_legs"),
    ],
)
def test_what_cannot_be_planned_is_refused(change: Json, told: str) -> None:
    content = hall(**change)
    with pytest.raises(InputError, match=told):
        inputs(content)


def test_a_catalog_without_trunks_is_refused() -> None:
    with pytest.raises(InputError, match="the catalog has no trunk"):
        inputs(hall(), parts(trunks=[]))


@pytest.mark.long(but=("15", "21"))
@pytest.mark.parametrize("seed", range(24))
def test_what_does_not_mate_is_refused(seed: int) -> None:
    """Types, pins, polish and keys at random, panels of two products: wherever one link does not work, as far as that
    is known, the verifier refuses the file; where all work it does not.
    """
    rng, design = random.Random(seed), solved(hall(), parts(panels=[panel("p24", 24, 300)]))
    (kind,) = design.fabrics[0].structured
    products = dict(design.parts)
    for id_, keys in (("mpo", JUMPERS), *((one.id, TRUNKS) for one in kind.trunks)):
        for key, values in keys.items():
            products[id_] = {**products[id_], key: rng.choice(values)}
    products["q24"] = {**products["p24"], "id": "q24", "keys": rng.choice(KEYS)}
    products["p24"] = {**products["p24"], "keys": rng.choice(KEYS)}
    places = tuple(one.model_copy(update={"id": rng.choice(("p24", "p24", "q24"))}) for one in kind.panels)
    fabric = design.fabrics[0].model_copy(update={"structured": (kind.model_copy(update={"panels": places}),)})
    changed = design.model_copy(update={"parts": products, "fabrics": (fabric,)})
    found = {check.name for check in verify(changed) if not check.ok} & {"polarity_crosses", "ends_mate"}
    works = all(result == Mated() for result in channels_of(changed))
    assert bool(found) >= (not works)
    if len({one.id for one in places}) == 1:
        assert bool(found) == (not works)


KEYS = (None, "aligned", "aligned", "opposed")
JUMPERS = {"polarity": ("B", "B", "B", "B", "A"), "pinned": (False, False, False, True)}
TRUNKS = {
    "polarity": ("B", "B", "B", "A", None),
    "pinned": (True, True, True, None),
    "connector": ("MPO-12-APC", "MPO-12-APC", "MPO-12-APC", "MPO-12-UPC"),
}


def channels_of(design: Design) -> Iterator[Mated]:
    """Whether each link through trunks works, by the function that exports ask."""
    embedded, wiring = Embedded(design), wiring_of(design)
    laid = structured_of(design, wiring)
    product_of = {one.name: embedded.part(one.product, Panel) for one in laid.panels}
    for row, patched in laid.patched(wiring).items():
        cable = wiring.links.cable[row]
        ids = wiring.cables.a_module[cable], wiring.cables.b_module[cable]
        near, far = (embedded.part(id_, Transceiver) for id_ in ids)
        jumper = embedded.part(patched.trunk.of.jumper, Fibre)
        pieces = jumper, embedded.part(patched.trunk.product, Trunk), jumper
        yield mated((near, far), pieces, [product_of[port.panel] for port in (patched.near, patched.far)])


def test_trunks_and_panels_are_parts_on_the_first_screen() -> None:
    design = solved(hall())
    trunks, panels = (sum(row.quantity for row in design.bom if row.kind == kind) for kind in ("trunk", "panel"))
    rows = {row.label: row.words for row in first_rows(design)}
    assert f"{some(trunks, 'trunk')}, {some(panels, 'panel')}" in rows["Parts"]
    assert "charges and work" not in cost_shares(design)


def test_more_time_is_kept_for_each_kind_of_links_through_trunks() -> None:
    """Each trunk and panel may be lost, which takes longer to look at than servers do."""

    def kept_s(cabling: object) -> float:
        given = trunked.inputs(trunked.hall(cabling))
        return finishing_s(problem_of(given.case, given.catalog))

    direct, one, all_ = kept_s("direct"), kept_s({"leaf-spine": "structured"}), kept_s("structured")
    assert direct < one < all_
    assert all_ - direct == pytest.approx(2 * (one - direct))


def test_what_is_made_with_trunks_counts_as_work() -> None:
    """So that rows of what else there is end: each size is placed, and its trunks chosen."""

    def work(cabling: object) -> int:
        given, settings = trunked.inputs(trunked.hall(cabling)), Settings()
        search_of(problem_of(given.case, given.catalog), settings, Clock(None), context=Context()).run()
        return settings.work.done

    assert work("structured") >= work("direct") + WORK_OF_TRUNKS
