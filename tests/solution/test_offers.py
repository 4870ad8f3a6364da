"""Offers of several vendors for one part: in an optimum as brute force finds it, on the bill, and under rules."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.output.html.bill import bill_view
from fabopt.parts.price_books import with_price_books
from fabopt.schema.design import Design
from fabopt.schema.price_book import PriceBook
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.oracles.brute_parts import cheapest_award
from tests.samples.adapter import run
from tests.solution.test_brute_force import case, catalog

Json = dict[str, Any]
VENDORS = ("One", "Two", "Three")
DISTANCES = {"distances_m": {"server-leaf": 3, "leaf-spine": 30}}


def offer(chance: random.Random, usd: int, need: int) -> Json:
    """A vendor's price and terms of a part, of which some such number is needed."""
    price: Any = round(usd * chance.uniform(0.8, 1.3))
    if chance.random() < 0.3:
        price = [{"from": 1, "usd": price}, {"from": chance.randint(2, need), "usd": round(price * 0.9)}]
    terms: Json = {"price_usd": price}
    if chance.random() < 0.5:
        terms["supply"] = chance.randint(1, need)
    if chance.random() < 0.3:
        terms["pack_size"] = chance.randint(2, 4)
    if chance.random() < 0.3:
        terms["minimum_order"] = terms.get("pack_size", 1) * chance.randint(1, 3)
    return terms


def books_of(offers: Json) -> list[Json]:
    """Price books of vendors from offers by part, or by part and length."""
    books: dict[str, Json] = {}
    for part, by_vendor in offers.items():
        for vendor, sold in by_vendor.items():
            book = books.setdefault(vendor, {"name": vendor.lower(), "vendor": vendor, "prices": {}, "terms": {}})
            if "price_usd" in sold:
                book["prices"][part] = sold["price_usd"]
                terms = {key: value for key, value in sold.items() if key != "price_usd"}
                book["terms"] |= {part: terms} if terms else {}
            else:
                book["prices"][part] = {m: one["price_usd"] for m, one in sold.items()}
                terms = {m: {key: value for key, value in one.items() if key != "price_usd"} for m, one in sold.items()}
                book["terms"][part] = terms
    return list(books.values())


def both(parts: Json, offers: Json, wanted: Json, **options: Any) -> tuple[Json, Json]:
    """What is designed with the offers as books, and the catalog that the brute force reads, with the offers in it."""
    books = books_of(offers)
    designed = run({**parts, "prices": books}, {**wanted, "prices": [book["name"] for book in books]}, **options)
    return designed, offered(parts, offers)


def as_design(content: Json) -> Design:
    return Design.model_validate_json(json.dumps(content))


def offered(parts: Json, offers: Json) -> Json:
    """The catalog that the brute force reads, with the offers in it."""
    brute = copy.deepcopy(parts)
    for device in (*brute["switches"], *brute["nics"]):
        if device["id"] in offers:
            device["offers"] = list(offers[device["id"]].values())
    for cable in brute["cables"]:
        for length in cable["lengths"]:
            own = [sold[length["m"]] for sold in offers.get(cable["id"], {}).values() if length["m"] in sold]
            if own:
                length["offers"] = own
    return brute


@pytest.mark.long(but=("1", "2"))
@pytest.mark.parametrize("seed", [pytest.param(s, marks=[pytest.mark.long] if s >= 8 else []) for s in range(120)])
def test_offers_as_brute_force_awards_them(seed: int) -> None:
    """Vendors of switch, card, and cable in each length, with supply, packs, minimums and breaks."""
    chance = random.Random(seed)
    servers = chance.choice((4, 6, 8))
    vendors = chance.sample(VENDORS, chance.choice((2, 3)))
    offers = {"switch": {vendor: offer(chance, 1000, 6) for vendor in vendors}}
    if chance.random() < 0.5:
        offers["cable"] = {
            vendor: {m: offer(chance, usd, 12) for m, usd in ((3, 10), (30, 20))}
            for vendor in chance.sample(VENDORS, 2)
        }  # fmt: skip
    if chance.random() < 0.5:
        offers["card"] = {
            vendor: offer(chance, 100, servers * 2) for vendor in chance.sample(VENDORS, chance.choice((2, 3)))
        }
    wanted = case(servers, {"topologies": ["clos"]}, site={"distances_m": {"server-leaf": 3, "leaf-spine": 30}},
                  rules="none" if chance.random() < 0.3 else {"subnet-manager": False})  # fmt: skip
    designed, brute = both(catalog(), offers, wanted)
    best = solve(brute, wanted)
    assert (best is None) == (designed["status"] == "infeasible"), (best, designed["status"])
    if best is not None:
        assert round(designed["totals"]["capex_usd"] * 100) == best.capex_cents, (offers, designed["bom"])
        assert all(check["ok"] for check in designed["checks"])


@pytest.mark.long("4", "0")
@pytest.mark.parametrize("seed", [pytest.param(s, marks=[pytest.mark.long] if s >= 3 else []) for s in range(40)])
def test_one_vendor_as_brute_force_chooses_it(seed: int) -> None:
    """With `max_vendors: {switch: 1}`, the cheapest of the designs with the switches of one vendor alone."""
    chance = random.Random(seed)
    offers = {"switch": {vendor: offer(chance, 1000, 6) for vendor in VENDORS}}
    wanted = case(chance.choice((4, 6, 8)), {"topologies": ["clos"]}, site=DISTANCES, rules={"subnet-manager": False})
    designed, _ = both(catalog(), offers, {**wanted, "procurement": {"max_vendors": {"switch": 1}}})
    best = [solve(offered(catalog(), {"switch": {vendor: sold}}), wanted) for vendor, sold in offers["switch"].items()]
    cents = [one.capex_cents for one in best if one is not None]
    assert (not cents) == (designed["status"] == "infeasible"), (cents, designed["status"])
    if cents:
        assert round(designed["totals"]["capex_usd"] * 100) == min(cents), (offers, designed["bom"])
        assert all(check["ok"] for check in designed["checks"])


def test_an_award_is_split_where_supply_ends() -> None:
    """Six switches: four of the cheaper vendor, who has no more, two of the other; each row says whose."""
    offers = {"switch": {"One": {"price_usd": 900, "supply": 4}, "Two": {"price_usd": 1100}}}
    designed, _ = both(catalog(), offers, case(8, site={"distances_m": {"server-leaf": 3, "leaf-spine": 30}}))
    rows = {row["id"]: row for row in designed["bom"] if row["kind"] == "switch"}
    assert {id_: (row["quantity"], row["total_usd"]) for id_, row in rows.items()} == {
        "switch": (4, 3600), "switch.two": (2, 2200),
    }  # fmt: skip
    assert {id_: part.get("sold_by") for id_, part in designed["parts"].items() if id_ in rows} == {
        "switch": "One", "switch.two": "Two",
    }  # fmt: skip
    assert {row["id"]: row["sold_by"] for row in rows.values()} == {"switch": "One", "switch.two": "Two"}
    assert {note for note in designed["notes"] if " is paid to " in note} == {
        "$3,600 is paid to One, for 4 x switch", "$2,200 is paid to Two, for 2 x switch",
    }  # fmt: skip
    page = [{cell.column: cell.words for cell in row.cells} for row in bill_view(as_design(designed))]
    assert {row["Vendor"] for row in page if row["Kind"] == "switches"} == {"One", "Two"}
    assert cheapest_award(list(offers["switch"].values()), 6) == (6, 580_000)


CARDS = {"card": {"One": {"price_usd": 90, "supply": 5}, "Two": {"price_usd": 110}}}


@pytest.mark.long("rule2-bought2")
@pytest.mark.parametrize(
    ("rule", "bought"),
    [
        ({}, {"card": 5, "card.two": 3}),
        ({"max_vendors": {"nic": 1}}, {"card.two": 8}),
        ({"min_sources": {"nic": 2}}, {"card": 5, "card.two": 3}),
    ],
)
def test_an_award_of_cards_is_split(rule: Json, bought: Json) -> None:
    """Eight cards of one product: five of the vendor who has no more, the others of the dearer one."""
    wanted = case(8, site=DISTANCES) | {"procurement": rule}
    designed, _ = both(catalog(), CARDS, wanted)
    assert {row["id"]: row["quantity"] for row in designed["bom"] if row["kind"] == "nic"} == bought
    assert all(check["ok"] for check in designed["checks"])


def test_stages_split_their_own_awards_of_cards() -> None:
    """What is left of the cheaper vendor's supply after the first stage goes to the second."""
    wanted = case(8, site=DISTANCES)
    del wanted["servers"]
    wanted["stages"] = [{"name": "first", "month": 0, "servers": 4}, {"name": "second", "month": 12, "servers": 8}]
    designed, _ = both(catalog(), CARDS, wanted)
    rows = {(row["stage"], row["id"]): row["quantity"] for row in designed["bom"] if row["kind"] == "nic"}
    assert rows == {("first", "card"): 4, ("second", "card"): 1, ("second", "card.two"): 3}
    (fabric,) = designed["fabrics"]
    assert fabric["nic"]["id"] == "card" and fabric["nic"]["stand_ins"] == [
        {"stage": "second", "id": "card.two", "count": 3}
    ]
    assert all(check["ok"] for check in designed["checks"])


def test_a_file_whose_offers_of_cards_are_changed_fails() -> None:
    """Other numbers, another product, an offer twice, one of nobody."""
    designed, _ = both(catalog(), CARDS, case(8, site=DISTANCES))

    def failed(change: Callable[[Json], Any]) -> list[str]:
        content = copy.deepcopy(designed)
        change(content)
        return [check.name for check in verify(as_design(content)) if not check.ok]

    def stand_ins(content: Json) -> list[Json]:
        found: list[Json] = content["fabrics"][0]["nic"]["stand_ins"]
        return found

    rule = "nics_are_of_one_product"
    assert failed(lambda _: None) == []
    assert "bom_covers_parts" in failed(lambda content: stand_ins(content)[0].update(count=2))
    assert rule in failed(lambda content: stand_ins(content)[0].update(count=9))
    assert rule in failed(lambda content: stand_ins(content)[0].update(count=-1))
    assert rule in failed(lambda content: stand_ins(content).append(stand_ins(content)[0]))
    assert rule in failed(lambda content: content["parts"]["card.two"].pop("offer_of"))
    assert rule in failed(lambda content: content["parts"]["card.two"].pop("sold_by"))


def test_a_card_that_another_beats_is_kept_for_its_other_vendor() -> None:
    """Another card is cheaper than one vendor's offer, not than that of the vendor who has no more than some."""
    parts = catalog()
    parts["nics"].append({**parts["nics"][0], "id": "other", "price_usd": 100})
    designed, brute = both(parts, CARDS, case(8, site=DISTANCES))
    best = solve(brute, case(8, site=DISTANCES))
    assert best is not None and round(designed["totals"]["capex_usd"] * 100) == best.capex_cents


def test_no_more_vendors_than_the_case_allows() -> None:
    """With one vendor of switches all six are of the dearer one, who has them."""
    offers = {"switch": {"One": {"price_usd": 900, "supply": 4}, "Two": {"price_usd": 1100}}}
    wanted = case(8, site={"distances_m": {"server-leaf": 3, "leaf-spine": 30}})
    wanted["procurement"] = {"max_vendors": {"switch": 1}}
    designed, _ = both(catalog(), offers, wanted)
    assert [(row["id"], row["quantity"]) for row in designed["bom"] if row["kind"] == "switch"] == [("switch.two", 6)]
    assert all(check["ok"] for check in designed["checks"])


def test_prices_in_doubt_are_told_where_they_are_paid() -> None:
    """A doubted price that the design pays is a note of it; one that it does not pay is none."""
    source = {"kind": "quote", "date": "2026-11-01", "url": "quote q.xlsx", "confidence": "medium"}
    doubted = {"name": "doubted", "source": source, "prices": {"switch": 1000, "spare": 5},
               "doubts": {"switch": ["`per pair` stands on the line"], "spare": ["too cheap"]}}  # fmt: skip
    parts = catalog()
    parts["switches"].append({**parts["switches"][0], "id": "spare", "end_of_life": True})
    parts["prices"] = [doubted]
    wanted = case(4, site={"distances_m": {"server-leaf": 3, "leaf-spine": 30}}, prices=["doubted"])
    (note,) = [note for note in run(parts, wanted)["notes"] if "in doubt" in note]
    assert note == "in doubt: 1 price, as the quotes' books say: switch: `per pair` stands on the line"


def book(**content: Any) -> PriceBook:
    return PriceBook.model_validate_json(json.dumps(content))


def test_an_offer_replaces_the_catalog_and_books_without_a_vendor() -> None:
    """Of one vendor the later book wins, part by part; books without a vendor count for other parts alone."""
    parts = inputs_from_objects(case(4), catalog()).catalog
    priced = with_price_books(parts, [
        book(vendor="One", prices={"switch": 900}), book(prices={"switch": 10, "card": 20}),
        book(vendor="Two", prices={"cable": {3: 5}}), book(vendor="One", prices={"switch": 800}),
    ])  # fmt: skip
    assert [(one.id, one.price_usd, one.sold_by) for one in priced.switches] == [("switch", 800, "One")]
    assert [(one.price_usd, one.sold_by) for one in priced.nics] == [(20, None)]
    both = [book(vendor="One", prices={"switch": 900}), book(vendor="Two", prices={"switch": 950})]
    once = with_price_books(parts, both)
    assert [one.id for one in once.switches] == ["switch", "switch.two"] and with_price_books(once, both) == once
    assert [(one.m, one.price_usd) for one in priced.cables[0].lengths] == [(3, 5), (30, None), (50, None)]


def test_terms_of_an_earlier_book_end_with_its_price() -> None:
    """A later offer has its own smallest order, delivery and firm day; lengths that it does not price keep theirs."""
    terms = {"switch": {"minimum_order": 4, "lead_time_weeks": 9}, "cable": {3: {"supply": 2}, 30: {"supply": 2}}}
    prices = {"switch": 900, "cable": {3: 5, 30: 9}}
    early = book(vendor="One", firm_until="2028-01-01", prices=prices, terms=terms)
    late = book(vendor="One", prices={"switch": 800, "cable": {3: 4}}, terms={"switch": {"supply": 6}})
    priced = with_price_books(inputs_from_objects(case(4), catalog()).catalog, [early, late])
    (switch,), lengths = priced.switches, priced.cables[0].lengths
    assert (switch.price_usd, switch.minimum_order, switch.lead_time_weeks, switch.supply, switch.firm_until) == (
        800, None, None, 6, None,
    )  # fmt: skip
    assert [(one.m, one.price_usd, one.supply, one.firm_until) for one in lengths] == [
        (3, 4, None, None), (30, 9, 2, "2028-01-01"), (50, None, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(("firm_until", "usd"), [("2028-03-01", 1000), ("2028-02-29", 500), (None, 500)])
def test_prices_are_firm_until_a_day(firm_until: str | None, usd: int) -> None:
    """A year after March 2027 prices of switches, which fall by half a year, are as quoted where they are firm."""
    parts = catalog()
    parts["prices"] = [{"name": "firm", "prices": {"switch": 1000}, "firm_until": firm_until}]
    wanted = case(4, site={"distances_m": {"server-leaf": 3, "leaf-spine": 30}}, start="2027-03", prices=["firm"],
                  finance={"price_decline": {"switch": 0.5}})  # fmt: skip
    del wanted["servers"]
    wanted["stages"] = [{"name": "first", "month": 0, "servers": 4}, {"name": "second", "month": 12, "servers": 8}]
    designed = run(parts, wanted)
    later = {row["unit_price_usd"] for row in designed["bom"] if row["kind"] == "switch" and row["stage"] == "second"}
    assert later == {usd} and all(check["ok"] for check in designed["checks"])
    told = f"until {firm_until} prices are firm, and do not fall by `finance.price_decline`: switch"
    assert (told in designed["notes"]) == (firm_until is not None)


def test_the_dearer_of_two_offers_is_a_source_too() -> None:
    """Two sources are asked for: an offer that another vendor's undercuts everywhere is one of them."""
    offers = {"switch": {"One": {"price_usd": 900}, "Two": {"price_usd": 901}}}
    wanted = case(8, site={"distances_m": {"server-leaf": 3, "leaf-spine": 30}})
    wanted["procurement"] = {"min_sources": {"switch": 2}}
    designed, _ = both(catalog(), offers, wanted)
    assert designed["status"] == "optimal" and all(check["ok"] for check in designed["checks"])
    bought = {row["sold_by"]: row["quantity"] for row in designed["bom"] if row["kind"] == "switch"}
    assert bought == {"One": 5, "Two": 1}
