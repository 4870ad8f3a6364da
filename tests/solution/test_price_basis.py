"""How prices are known: what may be used, what the answer says of a bill that mixes them, and what guesses decide."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.parts.price_basis import price_source
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Design
from fabopt.search.price_ends import MOST_STEPS, STEPS, EndFinder, LastStep
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.mutations import document_of, rehashed
from tests.samples.bare import bare
from tests.samples.once import once
from tests.samples.small import bought, case, catalog, product

Json = dict[str, Any]
# Six servers with a 400G NIC on one switch of eight (16,000 or 19,000) or twelve cages (24,000).
ONE_TIER = {"tiers": 1, "min_gbps_per_gpu": 100, "nics": ["nic-400"], "nics_per_server": 1}


def _catalog(**kinds: str) -> Json:
    """The small catalog at list prices, but for the products that are named (``small="estimate"``)."""
    parts = catalog()
    for entries in parts.values():
        for entry in entries:
            entry["source"] = {"kind": "list", "date": "2026-10"}
    for name, kind in kinds.items():
        product(parts, name)["provenance"] = {"price_usd": {"kind": kind}}
    return parts


def _solved(parts: Json, alternatives_s: float = 0, **keys: Any) -> Design:
    content = bare(case(ONE_TIER, **keys))

    def work() -> Design:
        return optimize.solve(inputs_from_objects(content, parts), alternatives_s=alternatives_s)

    return once(work, content, parts, alternatives_s)


def _prices(design: Design) -> list[str]:
    return [note for note in design.notes if note.startswith("prices:")]


def test_prices_of_other_kinds_are_not_used() -> None:
    """The small switch is the cheapest, by an estimate; where lists alone count, the lean one is."""
    parts = _catalog(small="estimate")
    assert "small" in bought(_solved(parts))
    lists = _solved(parts, price_basis=["list"])
    assert "lean" in bought(lists)
    assert _prices(lists) == ["prices: the bill is 100 % list prices, all that `price_basis` lets it pay"]
    assert _solved(parts, price_basis=["estimate"]).status == "infeasible"


def test_a_book_prices_alone() -> None:
    parts = _catalog()
    prices = {"large": 20000, "nic-400": 1400, "dac": {3: 140}}
    parts["prices"] = [{"name": "offer", "source": {"kind": "quote"}, "prices": prices}]
    design = _solved(parts, only_priced_by=["offer"])
    assert bought(design) == {"large": 1, "nic-400": 6, "dac": 6}
    assert all(check.ok for check in design.checks)
    assert _solved(parts, only_priced_by=["offer"], price_basis=["list"]).status == "infeasible"


def test_lengths_have_prices_of_their_own_kinds() -> None:
    """3 m of the cheap cable have a price made by a rule, 1 m a list price; another cable lists 3 m."""
    parts = _catalog()
    product(parts, "dac")["lengths"][1]["source"] = {"kind": "derived", "date": "2026-11"}
    listed = {**product(parts, "dac"), "id": "listed", "lengths": [{"m": 3, "price_usd": 180}]}
    parts["cables"].append(listed)
    assert [row.length_m for row in _solved(parts).bom if row.id == "dac"] == [3]
    assert _prices(_solved(parts))[0].endswith("derived prices")
    lists_alone = _solved(parts, price_basis=["list"])
    assert bought(lists_alone)["listed"] == 6 and all(check.ok for check in lists_alone.checks)
    short = {"site": {"distances_m": {"server-leaf": 1}}}
    assert "dac" in bought(_solved(parts, price_basis=["list"], **short))


def test_a_book_of_a_length_leaves_other_lengths_as_they_are_known() -> None:
    parts = _catalog()
    parts["prices"] = [{"name": "offer", "source": {"kind": "quote"}, "prices": {"dac": {3: 140}}}]
    kinds = {m: price_source(_solved(parts, prices=["offer"]).parts["dac"], m)["kind"] for m in (1, 3)}
    assert kinds == {1: "list", 3: "quote"}


def test_a_price_of_a_compatible_part_is_a_kind_of_its_own() -> None:
    """The small switch for 16,000 has the price of another maker's: it is neither a list price nor a guess."""
    parts = _catalog(small="compatible")
    assert _prices(_solved(parts)) == ["prices: the bill is 62 % compatible parts, 38 % list prices"]
    assert "lean" in bought(_solved(parts, price_basis=["list"]))
    assert "small" in bought(_solved(parts, price_basis=["list", "compatible"]))


def _orderable(**kinds: str) -> Json:
    """The small catalog at list prices, all with order codes, of the cables a code for each length."""
    parts = _catalog(**kinds)
    for kind, entries in parts.items():
        for entry in entries:
            entry["part_number"] = f"PN-{entry['id']}"
            for length in entry.get("lengths", ()) if kind in ("cables", "fibres") else ():
                length["part_number"] = f"PN-{entry['id']}-{length['m']}"
    return parts


@pytest.mark.parametrize("kind", ["estimate", "derived", "compatible", "paper"])
def test_only_what_can_be_ordered_at_its_price_is_bought(kind: str) -> None:
    """The small switch is the cheapest, at a price at which nobody sells it: the lean one is bought."""
    parts = _orderable(small=kind)
    design = _solved(parts, only_orderable=True)
    assert "lean" in bought(design) and all(check.ok for check in design.checks)
    assert _prices(design) == ["prices: the bill is 100 % list prices, all that `only_orderable` lets it pay"]
    assert "small" in bought(_solved(_orderable(), only_orderable=True))


def test_only_what_has_an_order_code_is_bought() -> None:
    parts = _orderable()
    del product(parts, "small")["part_number"]
    assert "lean" in bought(_solved(parts, only_orderable=True))
    del product(parts, "dac")["lengths"][1]["part_number"]
    assert [row.length_m for row in _solved(parts).bom if row.id == "dac"] == [3]
    dear = _solved(parts, only_orderable=True)
    assert "dac" not in bought(dear) and all(check.ok for check in dear.checks)


def test_what_is_there_already_needs_no_price() -> None:
    """A switch in stock is used whatever its price is, and no other one like it."""
    design = _solved(_orderable(small="estimate"), only_orderable=True, have={"small": 1})
    assert not bought(design)["small"] and "lean" not in bought(design) and all(check.ok for check in design.checks)
    more = bought(_solved(_orderable(small="estimate"), only_orderable=True, have={"small": 1}, servers=9))
    assert "large" in more and not more.get("small")


@pytest.mark.parametrize(
    "keys",
    [{"price_basis": ["list"]}, {"only_priced_by": ["offer"]}, {"only_orderable": True}],
    ids=lambda k: next(iter(k)),
)
def test_a_rule_of_prices_is_a_row_of_what_else_there_is(keys: Json) -> None:
    parts = _orderable(small="estimate")
    prices = {"lean": 19000, "nic-400": 1500, "dac": {3: 150}}
    parts["prices"] = [{"name": "offer", "source": {"kind": "quote"}, "prices": prices}]
    (key,) = keys
    row = next(row for row in _solved(parts, 20, **keys).alternatives if row.value == f"without {key}")
    assert (row.objective_delta, row.status) == (-3000, "optimal")


@pytest.mark.long(but=("10", "7"))
@pytest.mark.parametrize("seed", range(12))
def test_a_rule_of_prices_is_as_a_catalog_without_the_others(seed: int) -> None:
    """Kinds of prices drawn by chance: what a rule leaves out might as well have no price."""
    dice = random.Random(seed)
    parts = _orderable()
    sold = [one for entries in parts.values() for entry in entries for one in entry.get("lengths", (entry,))]
    sold = [one for one in sold if one not in parts["servers"]]
    kinds = [dice.choice(["list", "list", "quote", "compatible", "estimate"]) for _ in sold]
    for one, kind in zip(sold, kinds, strict=True):
        key = "source" if "m" in one else "provenance"
        one[key] = {"kind": kind} if key == "source" else {"price_usd": {"kind": kind}}
    rule: Json = dice.choice([{"price_basis": ["list", "compatible"]}, {"only_orderable": True}])
    kept = rule.get("price_basis", ["list", "quote"])
    ruled = _solved(parts, **rule)
    for one, kind in zip(sold, kinds, strict=True):
        if kind not in kept:
            del one["price_usd"]
    bare_of = _solved(parts)
    assert (ruled.status, ruled.objective.value) == (bare_of.status, bare_of.objective.value)
    assert all(check.ok for check in ruled.checks)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"price_basis": ["list"]}, "kind estimate"),
        ({"only_priced_by": ["offer"]}, "no book"),
        ({"only_orderable": True}, "at which nobody sells it"),
    ],
)
def test_the_verifier_sees_a_price_that_may_not_be_used(keys: Json, says: str) -> None:
    document = document_of(_solved(_catalog(small="estimate")))
    document["case"]["content"].update(keys)
    checks = verify(Design.model_validate_json(json.dumps(rehashed(document))))
    failed = {check.name: check.detail for check in checks if not check.ok}
    assert says in failed["parts_are_approved"]


def test_a_bill_of_one_kind_says_nothing() -> None:
    assert _prices(_solved(_catalog(), 20)) == []


def test_guesses_that_decide_are_told() -> None:
    """16,000 by an estimate against 19,000: the choice falls where the estimate is 30 % higher (20,800)."""
    assert _prices(_solved(_catalog(small="estimate"), 20)) == [
        "prices: the bill is 62 % estimates, 38 % list prices; with estimated and derived prices 30 % higher another "
        "design would be the cheapest, by $1,800: 1 switch of lean"
    ]


def _rests_on(design: Design) -> list[str]:
    return [note for note in design.notes if note.startswith("rests on")]


def test_a_switch_by_a_derived_price_is_told_with_the_price_at_which_it_falls() -> None:
    """16,000 by a rule against 19,000: 1.187 times as much is the last step at which it stays."""
    parts = _catalog(small="derived")
    of_small = "rests on a price of $16,000 for small, derived from those of like switches"
    assert _rests_on(_solved(parts)) == [of_small]
    assert _rests_on(_solved(parts, 20)) == [
        f"{of_small}; above $18,992 for small alone another design is the cheapest"
    ]
    assert _rests_on(_solved(_catalog(small="estimate"), 20)) == []
    assert _rests_on(_solved(parts, 20, rules="none")) == []


def test_a_switch_that_stays_at_any_price_is_told_so() -> None:
    parts = _catalog(small="derived")
    parts["switches"] = [product(parts, "small")]
    (told,) = _rests_on(_solved(parts, 20))
    assert told.endswith("; with small at 10 times that this design stays the cheapest")


def test_guesses_that_decide_on_cables_alone_are_told_so() -> None:
    """A cable for 150 by an estimate (195 where it is 30 % higher) beside one of the same ends for 180."""
    parts = _catalog(dac="estimate")
    parts["cables"].append({**product(parts, "dac"), "id": "dac-listed", "lengths": [{"m": 3, "price_usd": 180}]})
    del parts["cables"][-1]["provenance"]
    (told,) = _prices(_solved(parts, 20))
    assert told.endswith("another design would be the cheapest, by $90: the same devices with other cables and optics")


def test_guesses_that_do_not_decide_are_told() -> None:
    """Of the NICs' prices all designs have the same share."""
    told = _prices(_solved(_catalog(**{"nic-400": "estimate"}), 20))
    assert told[0].endswith("; with estimated and derived prices 30 % lower or higher this design stays the cheapest")


def test_without_a_look_at_what_else_there_is_shares_alone_are_told() -> None:
    assert _prices(_solved(_catalog(small="estimate"))) == ["prices: the bill is 62 % estimates, 38 % list prices"]


def test_a_case_without_rules_says_nothing_of_prices() -> None:
    assert _prices(_solved(_catalog(small="estimate"), 20, rules="none")) == []


def test_a_book_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"only_priced_by\[0\]"):
        _solved(_catalog(), only_priced_by=["offfer"])


def test_a_row_without_the_switch_bounds_its_price_where_no_end_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the small switch the best design costs 3,000 more, for one switch."""

    def stopped(*_: object) -> None:
        raise StoppedError

    monkeypatch.setattr(EndFinder, "last", stopped)
    (told,) = _rests_on(_solved(_catalog(small="derived"), 20))
    assert told.endswith("; above $19,000 for small alone at the latest another design is cheaper")


@pytest.mark.long("1-False-the cheapest that was found", "10-True-the cheapest")
@pytest.mark.parametrize(("proven", "ending"), [(True, "the cheapest"), (False, "the cheapest that was found")])
@pytest.mark.parametrize("many", [1, 10])
def test_a_price_up_to_which_it_is_not_proven_is_told_as_what_was_found(
    monkeypatch: pytest.MonkeyPatch, proven: bool, ending: str, many: int
) -> None:
    """Of an end that was searched, and of one that is the last price looked at."""
    whole = EndFinder.last

    def found(finder: EndFinder, *args: Any) -> LastStep:
        end = whole(finder, *args)
        return end._replace(is_proven=proven) if many == 1 else LastStep(MOST_STEPS, None, proven)

    monkeypatch.setattr(EndFinder, "last", found)
    (told,) = _rests_on(_solved(_catalog(small="derived"), 20))
    cheapest = "the cheapest" if proven else "cheaper"
    at_ten = f"with small at {MOST_STEPS // STEPS} times that this design stays {ending}"
    assert told.endswith(f"; {at_ten}" if many > 1 else f"above $18,992 for small alone another design is {cheapest}")
