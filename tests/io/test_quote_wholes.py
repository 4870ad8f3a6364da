"""Whole quotes in six languages: what they say of all prices is read, and sums that do not fit are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.errors import InputError
from tests.io.test_quote_traps import taken
from tests.samples.quote_traps import Trap
from tests.samples.quote_wholes import LEAD_TIMES, Whole, wholes

# Of these in `make test`; all by `make long`.
SHARE = 6


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "whole",
    [
        pytest.param(whole, id=whole.name, marks=[pytest.mark.long] if index % SHARE else [])
        for index, whole in enumerate(wholes())
    ],
)
def test_what_a_quote_says_of_all_prices_is_read(whole: Whole) -> None:
    try:
        quote, prices = taken(Trap(whole.name, whole.text, "", None, whole.rates))
    except InputError:
        assert whole.usd is None
        return
    if whole.usd is None:
        assert not prices or not quote.is_clear
        return
    of_one: dict[str, float] = {}
    for line in quote.with_status("matched"):
        of_one[line.id] = max(of_one.get(line.id, 0), float(quote.unit_usd(line) or 0))
    assert of_one == whole.usd and (quote.is_clear or not whole.is_clear), (quote.lines, quote.doubts)


@pytest.mark.parametrize(("heading", "said", "weeks"), LEAD_TIMES)
def test_lead_times_are_read(heading: str, said: str, weeks: float) -> None:
    text = f"Part number,Description,Qty,Unit price USD,{heading}\nMQM9790-NS2F,Quantum-2 switch,10,31000,{said}\n"
    quote, _ = taken(Trap(said, text, "", None))
    assert quote.lines[0].lead_time_weeks == pytest.approx(weeks, abs=1)
