"""What is bought beside what is in service: the page, the first screen, and money by GPU that joins."""

from __future__ import annotations

import html
import io
from pathlib import Path

import openpyxl
from rich.console import Console

from fabopt.output.bought import beside, bought_words, usd_per_gpu
from fabopt.output.export.bill import bill_bytes
from fabopt.output.html.answer import answer, key_figures
from fabopt.output.html.assumptions import case_text
from fabopt.output.html.bill import bill_view
from fabopt.output.html.build import page_bytes
from fabopt.output.terminal.answer import headline, spares_line, totals_line
from fabopt.output.terminal.first_screen import first_rows
from fabopt.output.terminal.summary import summary
from fabopt.output.words import sentence
from fabopt.schema.design import Design
from fabopt.schema.in_service import IN_SERVICE
from fabopt.units import some
from tests.samples.bases import designed, gone_on
from tests.samples.growth_samples import eight
from tests.samples.moves import moved
from tests.solution.test_in_service import in_stages


def quantity(design: Design, *kinds: str) -> int:
    return sum(row.quantity for row in design.bom if row.kind in kinds)


def test_what_is_in_service_is_not_bought(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10})
    assert design.totals is not None and base.totals is not None
    switches, cables = quantity(design, "switch"), quantity(design, "cable", "fibre")
    assert 0 < switches == design.totals.switches - base.totals.switches
    assert 0 < cables == design.totals.cables - base.totals.cables
    said = answer(design)
    assert said.startswith(f"Buy {some(switches, 'switch')}")
    assert f"{some(cables, 'cable')} beside 8 servers in service for " in said
    units = design.totals.rack_units - base.totals.rack_units
    assert bought_words(design).startswith(f"{some(switches, 'switch')} ({some(int(units), 'rack unit')})")
    both = f"{design.totals.switches} switches ({switches} bought) for "
    assert both in headline(design) and f"{design.totals.rack_units} rack units ({units} bought)" in totals_line(design)
    figures = {figure.name: (figure.value, figure.about) for figure in key_figures(design)}
    assert figures["Switches"][0] == f"{design.totals.switches} ({switches} bought)"
    assert figures["Cables and fibres"][0] == f"{design.totals.cables} ({cables} bought)"
    assert "bought" not in headline(base) + totals_line(base) + str(key_figures(base))
    joined = design.stages[-1].gpus - base.stages[-1].gpus
    assert usd_per_gpu(design) == (design.totals.capex_usd / joined, "GPU added")
    rows = {row.label: row.words for row in first_rows(design)}
    there = f"8 servers and {some(base.totals.switches, 'switch')} before"
    moves = f"{some(design.stages[-1].moved_cables, 'cable')} to recable: about 1.3 hours of work (20 minutes a cable)"
    assert rows["In service"] == f"{there}; {moves}"
    page = html.unescape(page_bytes(design, design.checks).decode())
    shown = io.StringIO()
    Console(file=shown, width=200).print(summary(design))
    assert all(
        sentence(f"{there}; {moves}") in text or f"{there}; {moves}" in text for text in (page, shown.getvalue())
    )


def test_what_is_in_service_is_neither_ordered_nor_in_stock(tmp_path: Path) -> None:
    """Three switches in service, one in stock, one bought: each number has its own word; orders have two."""
    base = designed(eight(), in_stages(8))
    content = {**in_stages(12), "have": {"eight": 1}}
    one_stage = moved(eight(), content, base, tmp_path, {"cable": 10})
    assert " besides: 1 of the switches; in service besides: 3 of the switches, " in str(spares_line(one_stage))
    planned = designed(eight(), in_stages(5, 8))
    in_two = gone_on(eight(), in_stages(8), planned, tmp_path, "stage-1")
    for design, title, owned in ((one_stage, "In service or from own stock", 1), (in_two, "In service", None)):
        book = openpyxl.load_workbook(io.BytesIO(bill_bytes(design, ".xlsx")))
        titles, *lines = book["Orders"].iter_rows(values_only=True)
        orders = [dict(zip(titles, line, strict=True)) for line in lines if line[titles.index("Kind")]]
        assert all(row["Order"] or row["From own stock"] for row in orders)
        assert [row["From own stock"] for row in orders if row["Kind"] == "switch"] == ([owned] if owned else [])
        assert title in [cell.value for cell in book["Bill"][1]]
        assert title in [cell.column for cell in bill_view(design)[0].cells]
        basis = [row[0].value for row in book["Basis"].iter_rows()]
        assert "base.file" in basis and not any(str(key).startswith("base.design") for key in basis)
        assert "server_racks" not in case_text(design)
    assert IN_SERVICE not in [row[0].value for row in book["Deliveries"].iter_rows()]
    assert beside(base) is None and usd_per_gpu(base) == (base.totals.capex_usd_per_gpu, "GPU")
