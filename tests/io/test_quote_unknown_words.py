"""What is not understood beside a part number is told, and the plain vocabulary of the trade is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.io.test_quote_traps import taken
from tests.paths import TESTS
from tests.samples.quote_traps import PARTS, Trap, quote_of

PHRASES = yaml.safe_load((TESTS / "samples" / "unknown_phrases.yaml").read_text(encoding="utf-8"))
PART = "MQM9790-NS2F"
# Of the phrases of a language in `make test`; all by `make long`.
SHARE = 5


# Words that limit or deny what stands beside them: of plain words they make something else.
LIMITS = {
    "en": "only without not except unless", "de": "nur ohne kein nicht außer", "fr": "sans sauf uniquement pas",
    "es": "sólo sin salvo excepto", "it": "senza soltanto tranne non", "nl": "alleen zonder niet geen behalve",
    "pl": "bez tylko nie oprócz", "ja": "のみ", "zh": "仅", "ko": "만 제외",
}  # fmt: skip


def is_quiet(language: str, phrase: str, is_description: bool = False) -> bool:
    id_, usd, called = PARTS[PART]
    described, remark = (phrase, "") if is_description else (called[language], phrase)
    quote, prices = taken(Trap(phrase, quote_of(language, PART, described, usd, remark), id_, usd))
    return prices == {id_: usd} and quote.is_clear


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.long("5-bad", "5-honest")
@pytest.mark.parametrize("kind", PHRASES)
@pytest.mark.parametrize("share", [SHARE, pytest.param(1, marks=pytest.mark.long)])
def test_phrases_that_nobody_listed(kind: str, share: int) -> None:
    wrong = [
        phrase
        for language, phrases in PHRASES[kind].items()
        for phrase in phrases[::share]
        if is_quiet(language, phrase, is_description=kind == "described") != (kind == "honest")
    ]
    assert not wrong


@pytest.mark.parametrize("language", LIMITS)
def test_words_that_limit_are_never_understood(language: str) -> None:
    """Beside what a part is called, as `alleen switch`, whatever endings make of them."""
    called = PARTS[PART][2][language]
    for word in LIMITS[language].split():
        assert not is_quiet(language, f"{called} {word}" if language in ("ja", "ko") else f"{word} {called}"), word


@pytest.mark.parametrize("word", ["qwertzing", "ßüberworfen", "zzamalgamé", "蘭亭", "ヌルポ"])
def test_a_word_that_no_list_has_is_told_with_its_column(word: str) -> None:
    """Whatever it means: in remarks and after the name of the part; the price stays in the book."""
    id_, usd, called = PARTS[PART]
    for described, remark in ((called["en"], word), (f"{called['en']}, {word}", "")):
        quote, prices = taken(Trap(word, quote_of("en", PART, described, usd, remark), id_, usd))
        (doubt,) = quote.lines[0].doubts
        assert prices == {id_: usd} and not quote.is_clear
        # a column of which words were read is none that is not read
        assert quote.tables[0].not_read == (() if remark else ("F `Remarks`",))
        assert f"`{word}` is not understood" in doubt and doubt.startswith("column `Remarks`: ") == bool(remark)
