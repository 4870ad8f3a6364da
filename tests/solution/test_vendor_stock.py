"""What a vendor has in stock, in a whole design: bought for a stage that comes too soon for orders, no more of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.parts.price_books import with_price_books
from fabopt.schema.design import Design
from fabopt.schema.price_book import PriceBook
from fabopt.verify import verify
from tests.samples.growth_samples import eight, grown, solved
from tests.samples.small import assert_proven

Json = dict[str, Any]
# Four servers on a leaf; after three months eight, on two leaves and a spine. Switches take 20 weeks.
LATE = {"lead_time_weeks": 20}


def designed(**terms: Any) -> Design:
    """The design with such terms of sale of the switch."""
    parts = eight()
    parts["switches"][0] |= terms
    return solved(parts, grown(4, {"servers": 8, "month": 3}, start="2027-01"))


@pytest.mark.usefixtures("unadvised")
def test_a_stage_that_comes_too_soon_takes_what_the_vendor_has() -> None:
    design = designed(**LATE, in_stock=2)
    assert_proven(design)
    rows = [row for row in design.bom if row.kind == "switch"]
    assert [(row.quantity, row.total_usd, row.lead_time_weeks, row.order_by) for row in rows] == [
        (1, 1000, 20, "2026-08-14"),
        (2, 2000, 0, "2027-04-01"),
    ]
    # of one, three leaves of three servers: two with both spines at first, one more later
    other = designed(**LATE, in_stock=1)
    assert_proven(other)
    assert [row.quantity for row in other.bom if row.kind == "switch"] == [4, 1]
    assert designed(**LATE).status == "infeasible"
    assert designed(lead_time_weeks=12).totals == design.totals


def test_a_design_that_takes_more_than_there_is_fails() -> None:
    content = designed(**LATE, in_stock=2).model_dump(mode="json", by_alias=True)
    content["parts"]["eight"]["in_stock"] = 1
    checks = {check.name: check for check in verify(Design.model_validate_json(json.dumps(content)))}
    assert not checks["orders_arrive_in_time"].ok and "bought too late" in checks["orders_arrive_in_time"].detail


def test_terms_of_a_price_book_are_those_of_the_product() -> None:
    catalog = inputs_from_objects(grown(4, 8), eight()).catalog
    supply = [{"from_month": 0, "quantity": 4}, {"from_month": 6, "quantity": 9}]
    terms = {"eight": {"in_stock": 2, "supply": supply}, "cable": {3: {"in_stock": 5}}}
    book = PriceBook.model_validate_json(json.dumps({"prices": {"eight": 900, "cable": {3: 9}}, "terms": terms}))
    priced = with_price_books(catalog, [book])
    sold, cable = priced.switches[0], priced.cables[0]
    assert (sold.price_usd, sold.in_stock, sold.stock) == (900, 2, None)
    assert [(step.from_month, step.quantity) for step in sold.supply or ()] == [(0, 4), (6, 9)]
    assert [length.in_stock for length in cable.lengths] == [5, None, None]
