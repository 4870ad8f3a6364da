"""Single points of failure on the terminal, the page and the workbook: the same words, on top."""

from __future__ import annotations

import io
import re

import openpyxl
from rich.console import Console

from fabopt.output.export.workbook import workbook_bytes
from fabopt.output.html.build import page_bytes
from fabopt.output.statements import lead_line, point_rows, rack_line
from fabopt.output.terminal.answer import headline
from fabopt.output.terminal.summary import summary
from fabopt.schema.design import Design
from tests.samples.designs_of_families import designed


def printed(design: Design) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(summary(design))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_lines_say_which_device_what_and_how_many() -> None:
    """Racks A01 and A02 have two servers each; the leaves are in A01, the spine is in A02."""
    design = designed("floor")
    assert list(point_rows(design)) == [
        ["compute", "rack A01", "every path", "2", "cut off"],
        ["compute", "any of 2 racks", "stores", "-", "cut off"],
        ["compute", "any of 2 leaves", "1 of 2 NICs", "4", "degraded"],
        ["compute", "the only spine", "paths between rails", "4", "degraded"],
        ["compute", "rack A02", "paths between rails", "2", "degraded"],
    ]
    assert (
        rack_line(design) == "the loss of rack A01 takes most servers with it: 2 servers in it and 2 elsewhere cut off"
    )


def test_what_one_device_takes_is_one_line() -> None:
    (line,) = point_rows(designed("growth with attachments"))
    assert line == ["compute", "the only leaf", "every path, extra-0, extra-1", "3", "cut off"]
    assert lead_line(designed("growth with attachments")) == "one device cuts something off if it fails"


def test_racks_are_no_devices() -> None:
    assert lead_line(designed("floor")) == "any of 2 racks cuts something off if it fails"
    points = designed("growth with attachments").single_points_of_failure
    assert points is not None
    both = (*points, points[0].model_copy(update={"device": "rack", "count": 2}))
    design = designed("floor").model_copy(update={"single_points_of_failure": both})
    assert lead_line(design) == "any of 1 device and 2 racks cuts something off if it fails"


def test_none_is_said_too() -> None:
    assert lead_line(designed("planes")) == "no switch cuts anything off if it fails"
    assert "Single points of failure  no switch cuts anything off" in printed(designed("planes"))


def test_older_files_say_nothing() -> None:
    design = designed("planes").model_copy(update={"single_points_of_failure": None})
    assert "Single points of failure" not in printed(design)
    assert b"Single points of failure" not in page_bytes(design, ())


def test_they_are_on_top() -> None:
    design = designed("floor")
    lines = printed(design).splitlines()
    assert " ".join(lines[:4]).startswith(headline(design)[:40])
    assert next(line for line in lines[1:] if line.startswith(("Single", "Fabric"))).startswith("Single")
    headings = re.findall(r"<h2[^>]*>([^<]*)", page_bytes(design, ()).decode())
    assert headings[0] == "Single points of failure"
    book = openpyxl.load_workbook(io.BytesIO(workbook_bytes(design)))
    labels, sheet = [cell.value for cell in book["Summary"]["A"]], book["Basis"]
    assert labels.index("Worst loss") < labels.index("Proof")
    assert "without rack A01, lost every path, servers 2, these are cut off" in [cell.value for cell in sheet["B"]]
