"""No trap of 180 is silently wrong, and honest lines that look like them are read right."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.io.catalog import named_catalogs
from fabopt.io.quote.reading import quote_options, read_quote
from fabopt.parts.quotes import Quote, known_prices, with_band
from tests.samples.quote_samples import write_csv
from tests.samples.quote_traps import Trap, honest, traps

# Of these in `make test`; all by `make long`.
SHARE = 9
TRAPS, HONEST = traps(), list(honest())
CATALOG = named_catalogs(["reference"])
KNOWN = known_prices(CATALOG)


def shares(cases: list[Trap]) -> list[object]:
    return [
        pytest.param(case, id=case.name, marks=[pytest.mark.long] if index % SHARE else [])
        for index, case in enumerate(cases)
    ]


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def taken(trap: Trap) -> tuple[Quote, dict[str, float | None]]:
    options = quote_options(trap.rates, None, 1)
    quote, _ = read_quote(write_csv(trap.text), CATALOG, options)
    quote = with_band(quote, KNOWN, options.band)
    return quote, {line.id: quote.unit_usd(line) for line in quote.with_status("matched")}


def test_there_are_enough_of_them() -> None:
    assert len(TRAPS) >= 150 and len(HONEST) >= len(TRAPS)


@pytest.mark.parametrize("trap", shares(TRAPS))
def test_no_trap_is_silently_wrong(trap: Trap) -> None:
    quote, prices = taken(trap)
    assert prices == {trap.id: trap.usd} if trap.usd is not None else not quote.is_clear


@pytest.mark.parametrize("line", shares(HONEST))
def test_honest_lines_are_read(line: Trap) -> None:
    quote, prices = taken(line)
    assert prices == {line.id: line.usd} and quote.is_clear, (quote.lines, quote.doubts)
