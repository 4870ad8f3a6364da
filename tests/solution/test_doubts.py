"""Doubts about prices and data of parts that an answer rests on: in its notes, on its first screen, in its workbook."""

from __future__ import annotations

import io
import json
from typing import Any

import openpyxl
import pytest

from fabopt.output.export.workbook import workbook_bytes
from fabopt.output.terminal.first_screen import LEFT_OUT, first_rows
from fabopt.parts.price_basis import IN_DOUBT
from fabopt.schema.design import Design
from tests.samples.shipped import shipped
from tests.samples.small import case, catalog, product, solved

Json = dict[str, Any]
GUESS: Json = {"kind": "estimate", "confidence": "low"}
SEEN: Json = {"kind": "datasheet", "confidence": "high"}


def doubted(changes: Json, prices: Json | None = None) -> Design:
    """The small case's answer with some keys of products set, and a price book."""
    parts = catalog()
    for id_, keys in changes.items():
        product(parts, id_).update(keys)
    book = {"prices": [prices]} if prices else {}
    return solved(case(prices=[prices["name"]]) if prices else case(), {**parts, **book})


def told(design: Design) -> list[str]:
    return [note.removeprefix(IN_DOUBT) for note in design.notes if note.startswith(IN_DOUBT)]


def doubt_lines(design: Design) -> list[str]:
    return [row.words for row in first_rows(design) if row.style == LEFT_OUT]


def of(provenance: Json, **keys: Any) -> Json:
    return {"provenance": provenance, **keys}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"large": of({"cages": {**GUESS, "note": "a; b"}})}, ["1 part of low confidence: cages of large (a, b)"]),
        ({"large": {"confidence": "low", "source": SEEN}}, ["1 part of low confidence: large"]),
        ({"large": of({"cages": GUESS}, confidence="low")}, ["1 part of low confidence: cages of large (an estimate)"]),
        ({"large": {"confidence": "low", "source": {**SEEN, "kind": "estimate"}}}, []),
        # figures, and prices, of which other notes tell
        ({"large": of({"power_w": GUESS, "price_usd": GUESS, "rack_units": GUESS}, confidence="medium")}, []),
        # what is not in use, and a speed of which no link is
        ({"lean": {"confidence": "low"}, "nic-400": of({"8x100": GUESS})}, []),
        ({"nic-400": of({"1x400": GUESS})}, ["1 part of low confidence: 1x400 of nic-400 (an estimate)"]),
    ],
)  # fmt: skip
def test_what_a_part_joins_is_doubted_where_it_is_used(changes: Json, says: list[str]) -> None:
    design = doubted(changes)
    assert told(design) == says
    assert doubt_lines(design) == says


def test_the_dearest_is_told_first_and_the_screen_has_a_line() -> None:
    """All is in the notes and beside each part in the workbook; the screen has what fits, and how many there are."""
    why = "as those of another box that is sold under nearly the same name by a maker of such"
    changes: Json = {id_: of({"cages": {**GUESS, "note": why}}) for id_ in ("large", "nic-400")}
    design = doubted(changes)
    assert told(design) == [f"2 parts of low confidence: cages of large ({why}); cages of nic-400 ({why})"]
    assert doubt_lines(design) == ["2 parts of low confidence: cages of large"]
    design = doubted({**changes, "dac": {"confidence": "low"}})
    assert told(design) == [f"3 parts of low confidence: dac; cages of large ({why}); cages of nic-400 ({why})"]
    assert doubt_lines(design) == ["3 parts of low confidence: dac"]
    sheet = openpyxl.load_workbook(io.BytesIO(workbook_bytes(design)))["Prices & sources"]
    notes = {row[0]: row[-1] for row in sheet.iter_rows(min_row=2, values_only=True)}
    assert notes["large"] == f"{IN_DOUBT}cages of large ({why})" and notes["dac"] == f"{IN_DOUBT}dac"


def test_prices_of_quotes_are_doubted_on_the_screen() -> None:
    """Beside the data of parts, in the same words."""
    book: Json = {"name": "quoted", "source": {"kind": "quote", "url": "q.xlsx", "date": "2026-11-01"},
                  "prices": {"large": 24000}, "doubts": {"large": ["`per pair` stands on the line"]}}  # fmt: skip
    design = doubted({"nic-400": {"confidence": "low"}}, book)
    says = [
        "1 price, as the quotes' books say: large: `per pair` stands on the line",
        "1 part of low confidence: nic-400",
    ]
    assert told(design) == says == doubt_lines(design)


def test_the_pod_beside_ndr_rests_on_an_assumption() -> None:
    design = shipped("live-xdr-1536")
    (words,) = (row.words for row in first_rows(design) if row.label == "In doubt")
    assert words.endswith("parts of low confidence: cages of NVIDIA Q3400-RA-NDR (assumed to take NDR modules)")
    assert any(
        "cages of nvidia-q3400-ra-ndr (assumed" in note for note in json.loads(design.model_dump_json())["notes"]
    )
