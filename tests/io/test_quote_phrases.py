"""What vendors write beside part numbers in six languages: no price of anything else is taken in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.io.test_quote_traps import taken
from tests.samples.quote_phrases import PhraseLine, phrase_lines
from tests.samples.quote_traps import Trap

# Of these in `make test`; all by `make long`.
SHARE = 32


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, id=line.name, marks=[pytest.mark.long] if index % SHARE else [])
        for index, line in enumerate(phrase_lines())
    ],
)
def test_words_beside_a_part_number_are_read(line: PhraseLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quote, prices = taken(Trap(line.name, line.text, line.id, None))
    if line.outcome == "not the price":
        assert not prices or not quote.is_clear
    elif line.outcome == "noted":
        assert any(read.remarks or read.reason for read in quote.lines)
    else:
        assert prices == {line.id: line.usd} and quote.is_clear, (quote.lines, quote.doubts)
