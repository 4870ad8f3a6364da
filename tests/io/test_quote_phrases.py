"""What vendors write beside part numbers in six languages: no price of anything else is taken in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.io.test_quote_traps import taken
from tests.samples.quote_phrases import PhraseLine, phrase_lines
from tests.samples.quote_traps import Trap

# One in so many is read in `make test`; the others by `make long`.
SHARE = 32
LINES = tuple(phrase_lines())


@pytest.mark.parametrize("line", LINES[::SHARE], ids=lambda line: line.name)
def test_words_beside_a_part_number_are_read(line: PhraseLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_read(line)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1, SHARE))
def test_all_words_beside_a_part_number_are_read(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in LINES[first::SHARE]:
        assert_read(line)


def assert_read(line: PhraseLine) -> None:
    quote, prices = taken(Trap(line.name, line.text, line.id, None))
    if line.outcome == "not the price":
        assert not prices or not quote.is_clear, line.name
    elif line.outcome == "noted":
        assert any(read.remarks or read.reason for read in quote.lines), line.name
    else:
        assert prices == {line.id: line.usd} and quote.is_clear, (line.name, quote.lines, quote.doubts)
