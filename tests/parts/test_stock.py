"""What a case has: used first and free, as part of the optimum; what is not there is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.mutations import document_of, rehashed
from tests.samples.small import bought, case, catalog, product, solved

Json = dict[str, Any]
# Six servers with a 400G NIC on one switch of eight cages: small (16,000) is cheaper than lean (19,000).
ONE_TIER = {"tiers": 1, "min_gbps_per_gpu": 100, "nics": ["nic-400"], "nics_per_server": 1}


def _solved(have: Json, parts: Json | None = None) -> Design:
    return solved(case(ONE_TIER, have=have), parts)


def _capex(design: Design) -> float:
    assert design.totals is not None
    return design.totals.capex_usd


def test_stock_is_used_first_and_decides() -> None:
    """One lean switch is there: the dearer one is free, and saves the 16,000 of a small one."""
    without, held = _solved({}), _solved({"lean": 1})
    assert "small" in bought(without)
    assert "small" not in bought(held) and _capex(without) - _capex(held) == 16000
    assert all(check.ok for check in held.checks)


def test_lengths_are_held_by_length() -> None:
    """Six DACs of 3 m at 150 are needed; four are there."""
    held = _solved({"dac": {3: 4}})
    assert _capex(_solved({})) - _capex(held) == 600
    assert bought(held)["dac"] == 2


def test_what_has_no_price_is_used_as_long_as_it_lasts() -> None:
    parts = catalog()
    del product(parts, "lean")["price_usd"]
    quantities = bought(_solved({"lean": 1}, parts))
    assert quantities.get("lean", 0) == 0 and "small" not in quantities
    assert "small" in bought(_solved({"lean": 0}, parts))


def test_cables_at_the_end_of_their_life_are_used_where_they_are_there() -> None:
    parts = catalog()
    product(parts, "dac")["end_of_life"] = True
    held = _solved({"dac": {3: 6}}, parts)
    assert held.totals is not None and held.totals.cables == 6 and "dr4-hot" not in bought(held)
    assert all(check.ok for check in held.checks)
    assert "dr4-hot" in bought(_solved({}, parts))


def test_a_stock_that_the_case_does_not_say_is_refused_by_the_verifier() -> None:
    document = document_of(_solved({"lean": 1}))
    document["case"]["content"]["have"] = {"lean": 0}
    checks = verify(Design.model_validate_json(json.dumps(rehashed(document))))
    assert "parts_are_approved" in {check.name for check in checks if not check.ok}


@pytest.mark.parametrize(
    ("have", "message"),
    [
        ({"leen": 1}, "have.leen: the catalog has no such product"),
        ({"dac": 3}, "have.dac: this product is sold by length"),
        ({"dac": {2: 3}}, "have.dac: the length 2 m is not sold"),
        ({"lean": {3: 1}}, "have.lean: this product is not sold by length"),
    ],
)
def test_what_cannot_be_there_is_refused(have: Json, message: str) -> None:
    with pytest.raises(InputError) as error:
        _solved(have)
    assert message in str(error.value)
