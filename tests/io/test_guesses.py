"""Words that are nearly right: the one that is meant is named first, whatever the word is of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabopt.errors import did_you_mean, guesses
from fabopt.io.catalog import read_catalog
from fabopt.io.library import names
from fabopt.io.schema_types import keys_at
from fabopt.output.export import FORMATS
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS
from fabopt.schema.workload import PROFILES
from fabopt.study.front.measures import MEASURES
from tests.conftest import Run

SERVERS = [server.id for server in read_catalog(["reference"], Path()).servers]
VOCABULARIES = {
    "cases": names("cases"),
    "models": names("models"),
    "servers": SERVERS,
    "formats": FORMATS,
    "metrics": list(MEASURES),
    "profiles": list(PROFILES),
    "kinds": KINDS,
    "keys": keys_at(Case, ()),
    "keys of a fabric": keys_at(Case, ("fabrics", 0)),
}
# Shorter words have no letters to spare.
SHORTEST = 5


def slips(word: str) -> Iterator[str]:
    """A letter left out, doubled or swapped with the next; capitals and underscores for hyphens."""
    for place in range(1, len(word) - 1):
        yield word[:place] + word[place + 1 :]
        yield word[:place] + word[place] + word[place:]
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    yield word.upper()
    yield word.replace("-", "_")


@pytest.mark.long("keys of a fabric")
@pytest.mark.long("cases", "servers")
@pytest.mark.parametrize("what", VOCABULARIES)
def test_a_slip_is_seen_through(what: str) -> None:
    words = list(VOCABULARIES[what])
    tried = [(slip, word) for word in words if len(word) >= SHORTEST for slip in slips(word) if slip not in words]
    best = [guesses(slip, words)[:1] == [word] for slip, word in tried]
    assert sum(best) >= 0.95 * len(tried)
    assert all(word in guesses(slip, words, 5) for slip, word in tried)


@pytest.mark.parametrize(
    ("word", "words", "first"),
    [
        ("capex", ["power_w", "tco_usd", "capex_usd"], "capex_usd"),
        ("Capex USD", ["tco_usd", "capex_usd"], "capex_usd"),
        ("hall", ["hall-1024-gpus", "small"], "hall-1024-gpus"),
        ("torus", ["torus-216-gpus", "torus-21"], "torus-21"),
    ],
)
def test_a_part_of_a_word_is_enough(word: str, words: list[str], first: str) -> None:
    assert did_you_mean(word, words) == f"did you mean `{first}`?"


def test_what_is_like_nothing_has_no_guess() -> None:
    for words in VOCABULARIES.values():
        assert did_you_mean("zzqqzz", words) == did_you_mean("", words) == did_you_mean("-", words) == ""


# -- keys of a case that stand where people look for them --------------------------------------------------------------

Written = Callable[[str], str]


@pytest.fixture
def told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """What is said of a case with a line more."""
    monkeypatch.chdir(tmp_path)

    def told(line: str) -> str:
        Path("case.yaml").write_text(f"name: a\nserver: nvidia-dgx-h100\nservers: 16\n{line}\nfabrics: [{{name: a}}]\n")
        ran = run("formulation", "case.yaml", "-o", "case.lp")
        assert ran.code == 2
        return ran.err

    return told


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("racks: 2", "`site.servers_per_rack: 4`"),
        ("site: {racks: 2}", "`site.servers_per_rack: 4`"),
        ("rack_power_w: 45", "rack_power_w: 45 kW}`"),
        ("site: {floor: {rows: 1, racks_per_row: 8, rack_power_w: 45}}", "it is in watts: write `45 kW`"),
        ("growth: {servers: 64, months: 12}", "`stages: [{name: day-1, month: 0"),
        ("growth: [{servers: 64, month: 12}]", "`stages: [{name: day-1, month: 0"),
        ("budget: 2M", "did you mean `limits.budget_usd`?"),
        ("limits: {budget: 2M}", "did you mean `budget_usd`?"),
        ("oversubscription: 2", "did you mean `fabrics[0].max_oversubscription`?"),
        ("protocl: ethernet", "did you mean `fabrics[0].protocol` or "),
        ("protocol: ethernet", "did you mean `fabrics[0].protocol` or "),
        ("workload: {profile: pretrain}", "did you mean `pretraining`?"),
        ("objective: capx", "did you mean `capex_usd`?"),
        ("descripton: none", "did you mean `description`?"),
    ],
)
def test_the_key_that_is_meant_is_named(line: str, hint: str, told: Written) -> None:
    assert hint in told(line)
