"""The bill at other prices: quantities stay, breaks are honoured, every format says which book priced it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
import yaml

from fabopt.cli import main
from tests.mutations import document_of, rehashed
from tests.samples import small
from tests.samples.designs_of_families import designed

Json = dict[str, Any]
MONEY = ["unit_price_usd", "total_usd", "single_price_usd", "break_from", "present_value_usd", "REPRICED"]


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_text(json.dumps(document_of(designed("clos, one tier"))))
    return tmp_path


def book(name: str, **prices: Any) -> str:
    path = f"./{name}.yaml"
    Path(path).write_text(yaml.safe_dump({"prices": {part.replace("_", "-"): price for part, price in prices.items()}}))
    return path


def bill(*books: str) -> pd.DataFrame:
    options = [word for path in books for word in ("--prices", path)]
    assert main(["bom", "design.json", "-o", "bill.csv", *options]) == 0
    return pd.read_csv("bill.csv").set_index("id")


def test_prices_of_a_book_take_the_place_of_the_designs() -> None:
    before = bill()
    number = int(before.loc["nic-400", "quantity"])
    assert number >= 4
    after = bill(book("spring", nic_400=[{"from": 1, "usd": 1000}, {"from": 4, "usd": 900.25}], dac={1: 10, 3: 20}))
    assert after.loc["nic-400", ["single_price_usd", "unit_price_usd", "break_from"]].tolist() == [1000, 900.25, 4]
    assert after.loc["nic-400", "total_usd"] == number * 900.25
    cable = after.loc["dac"]
    assert cable["total_usd"] == cable["quantity"] * {1: 10, 3: 20}[int(cable["length_m"])]
    kept = [column for column in before.columns if column not in MONEY]
    assert after[kept].equals(before[kept])
    others = after.index.difference(["nic-400", "dac"])
    assert after.loc[others, "total_usd"].tolist() == before.loc[others, "total_usd"].tolist()


def test_later_books_win_and_break_even_prices_are_those_of_the_order() -> None:
    after = bill(book("one", nic_400=[{"from": 1, "usd": 7}, {"from": 1000, "usd": 1}]), book("two", dac={1: 5, 3: 5}))
    assert after.loc["nic-400", "unit_price_usd"] == 7 and after.loc["dac", "unit_price_usd"] == 5
    assert bill(book("one", nic_400=7), book("two", nic_400=8)).loc["nic-400", "unit_price_usd"] == 8


def test_the_designs_own_prices_give_its_own_bill() -> None:
    own = {part: body["price_usd"] for part, body in document_of(designed("clos, one tier"))["parts"].items()
           if body["kind"] in ("switch", "nic") and "price_usd" in body}  # fmt: skip
    assert bill(book("own", **own)).drop(columns="REPRICED").equals(bill())


def test_every_format_says_which_book_priced_it() -> None:
    path = book("spring", nic_400=1000)
    table = bill(path)
    mark = str(table["REPRICED"].iloc[0])
    assert mark.startswith("REPRICED with ./spring.yaml (sha256 ") and (table["REPRICED"] == mark).all()
    for ending in ("json", "xlsx"):
        assert main(["bom", "design.json", "-o", f"bill.{ending}", "--prices", path]) == 0
    assert json.loads(Path("bill.json").read_text())["repriced"] == mark
    workbook = openpyxl.load_workbook("bill.xlsx")
    assert workbook["REPRICED"]["A1"].value == mark
    summary = {row[0]: row[1] for row in workbook["Summary"].iter_rows(max_col=2, values_only=True) if row[0]}
    assert "cheapest" not in summary["Answer"] and summary["REPRICED"] == mark
    assert "proven" not in " ".join(map(str, summary.values()))
    basis = {row[0]: row[1] for row in workbook["Basis"].iter_rows(max_col=2, values_only=True) if row[0]}
    assert basis["capex_usd"] == round(table["total_usd"].sum(), 2)


def test_the_hash_is_of_what_the_book_says() -> None:
    first = str(bill(book("spring", nic_400=1000))["REPRICED"].iloc[0])
    assert str(bill(book("spring", nic_400=1001))["REPRICED"].iloc[0]) != first


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({"nic_500": 1}, "none of these products is in the design"),
        ({"dac": 5}, "this product is sold by length"),
        ({"dac": {2: 5}}, "the length 2 m is not sold"),
        ({"nic_400": {3: 5}}, "this product is not sold by length"),
    ],
)
def test_books_that_do_not_fit_are_refused(capsys: pytest.CaptureFixture[str], prices: Json, message: str) -> None:
    assert main(["bom", "design.json", "-o", "bill.csv", "--prices", book("wrong", **prices)]) == 2
    assert message in capsys.readouterr().err and not Path("bill.csv").exists()


@pytest.mark.parametrize("name", ["none", "./none.yaml"])
def test_books_that_are_not_there_are_refused(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["bom", "design.json", "-o", "bill.csv", "--prices", name]) == 2
    assert "none" in capsys.readouterr().err


def test_books_of_the_catalogs_of_a_case_have_names(desk: Path) -> None:
    autumn = {"name": "autumn", "prices": {"nic-400": 1}}
    (desk / "parts.yaml").write_text(yaml.safe_dump(small.catalog() | {"prices": [autumn]}))
    document = document_of(designed("clos, one tier"))
    document["case"]["content"]["catalog"] = ["./parts.yaml"]
    (desk / "design.json").write_text(json.dumps(rehashed(document)))
    assert bill("autumn").loc["nic-400", "unit_price_usd"] == 1


@pytest.mark.parametrize("option", [("--price-change", "cable=+20%"), ("--catalog", "reference")])
def test_a_saved_design_is_not_solved_again(capsys: pytest.CaptureFixture[str], option: tuple[str, str]) -> None:
    assert main(["bom", "design.json", "-o", "bill.csv", *option]) == 2
    assert f"{option[0]}: design.json is a saved design" in (told := capsys.readouterr().err) and "--prices" in told
    assert not Path("bill.csv").exists()
