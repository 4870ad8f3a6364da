"""Files of strangers that once were believed, or refused without need: what each comes to now."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.paths import TESTS
from tests.samples.cli_samples import Run

pytestmark = pytest.mark.usefixtures("folder")
STRANGERS = TESTS / "strangers"


@pytest.fixture(autouse=True)
def strangers(folder: Path) -> None:
    """Their files in the working folder."""
    shutil.copytree(STRANGERS, folder, dirs_exist_ok=True)


@pytest.mark.parametrize(("command", "code", "told"), [
    ("quote import adders.csv -o book.yaml", 1, "its price may be a difference or an addition, not a price"),
    ("quote import currency-words.csv -o book.yaml", 1, "there is no rate for AUD"),
    ("quote import net-unknown.csv -o book.yaml", 1, "is not the unit price 28,800, which is taken"),
    ("quote import total-wrong.csv -o book.yaml", 1, "but the lines above come to 366,000: 146,000 more"),
    ("quote import german-net.csv --rate EUR=1.09 -o book.yaml", 0, "$29,804.69"),
    ("quote import tiers.csv -o book.yaml", 0, "one of 3 prices by quantity"),
    ("audit no-uplinks.csv --as counts --claimed 1:1", 1, "0 links from 8 leaves to 4 spines: 8 have none"),
    ("audit ratio-zero.csv --as counts --claimed 1:0", 2, "--claimed: not a ratio; found '1:0'"),
    ("audit ratio-zero.csv --as counts --claimed 2abc", 2, "--claimed: not a ratio; found '2abc'"),
    ("audit ratio-zero.csv --as counts --claimed 1:-1", 2, "--claimed: not a ratio; found '1:-1'"),
    ("audit ratio-zero.csv --as counts --claimed 1e999", 2, "--claimed: not a ratio; found '1e999'"),
    ("audit whole-and-split.dot --as dot", 1, "leaf-1 swp1 is used as a whole (line 4) and split, as swp1s0"),
])  # fmt: skip
def test_what_it_comes_to(run: Run, command: str, code: int, told: str) -> None:
    ran = run(*command.split())
    assert ran.code == code
    assert told in " ".join((ran.out + ran.err).split())


def test_prices_that_stand_in_doubt(run: Run) -> None:
    """Of additions, fees and lots no price is taken; of net prices that is, whatever stands beside them."""
    run("quote", "import", "adders.csv", "-o", "book.yaml")
    assert "prices: {}" in Path("book.yaml").read_text()
    run("quote", "import", "net-unknown.csv", "-o", "book.yaml")
    assert "prices: {nvidia-qm9790: 28800}" in Path("book.yaml").read_text()
    run("quote", "import", "german-net.csv", "--rate", "EUR=1.09", "-o", "book.yaml")
    assert "prices: {nvidia-qm9790: 29804.69, nvidia-mma4z00-ns: 981}" in Path("book.yaml").read_text()


def test_a_whole_fabric_whose_neighbours_give_no_name_needs_no_move(run: Run) -> None:
    assert run("solve", "blank-names-case.yaml", "--json", "design.json", "--alternatives", "0").code == 0
    ran = run("as-built", "design.json", "--lldp", "blank-names")
    assert ran.code == 0 and "160 of 160 cables are as planned" in ran.out
    assert "12 ends of devices that give no name of their own" in " ".join(ran.out.split())


def test_charges_that_a_file_calls_older_than_they_are(run: Run) -> None:
    assert run("solve", "charges-case.yaml", "--json", "design.json", "--alternatives", "0").code == 0
    design = json.loads(Path("design.json").read_text())
    off = sum(row["total_usd"] for row in design["bom"] if row.get("charge"))
    design["bom"] = [row for row in design["bom"] if not row.get("charge")]
    sums = ((design["totals"], "capex_usd"), (design["objective"], "value"), (design["objective"], "bound"))
    for place, key in (*sums, (design["stages"][0], "capex_usd")):
        place[key] = round(place[key] - off, 2)
    design["totals"]["capex_usd_per_gpu"] = round(design["totals"]["capex_usd"] / design["stages"][-1]["gpus"], 2)
    design["objective"]["floor"] = None
    design["fabopt"] = design["rules"] = "0.1.0"
    Path("forged.json").write_text(json.dumps(design))
    ran = run("check", "forged.json")
    assert off > 60_000 and ran.code == 1 and "charges: 2 of" in ran.out
    refused = run("bom", "forged.json", "-o", "bill.csv")
    assert refused.code == 1 and "charges_are_counted" in refused.err and not Path("bill.csv").exists()
