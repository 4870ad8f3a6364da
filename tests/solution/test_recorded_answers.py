"""Status, price, bound and bill of 200 random cases over all families are what they were when they were recorded."""

from __future__ import annotations

import pytest

from tests.samples.answers import answer, recorded
from tests.samples.widened import FAMILIES

# Twenty of them, of all families, in `make test`.
RECORDED = recorded()


@pytest.mark.long(
    "hosted-7010",
    "limited-7004",
    "linear-7000",
    "moving_twins-7004",
    "procurement-7008",
    "staged-7007",
    "staged_attached-7008",
)
@pytest.mark.long("ruled-7001")
@pytest.mark.long(but_every=11)
@pytest.mark.parametrize("row", RECORDED, ids=[f"{row['family']}-{row['seed']}" for row in RECORDED])
def test_answers_are_as_recorded(row: dict[str, str]) -> None:
    assert answer(row["family"], int(row["seed"])) == row


def test_they_are_of_all_families_and_most_have_a_design() -> None:
    assert len(RECORDED) == 200 and {row["family"] for row in RECORDED} == set(FAMILIES)
    assert sum(row["status"] == "optimal" for row in RECORDED) > 120
