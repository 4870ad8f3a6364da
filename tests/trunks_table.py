"""Trunks pulled with the links that need them, and ahead: ``python -m tests.trunks_table`` writes docs/stages.md.

Halls of 256 to 2,048 GPUs whose second half comes a year later. Minutes and wage are assumed, prices those of the
reference catalog.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any, NamedTuple

from fabopt.io.case import inputs_from_objects
from fabopt.io.catalog import named_catalogs
from fabopt.output.labour import work_rows
from fabopt.schema.design import Design
from fabopt.schema.passive import Trunk
from fabopt.solution import optimize
from fabopt.wiring.design_file import Embedded
from tests.paths import ROOT

PAGE = ROOT / "docs" / "stages.md"
START, END = "<!-- trunks -->\n", "<!-- end -->\n"
SIZES = (256, 512, 1024, 2048)
# Leads; panels in racks, by when their trunks come; and panels at the ends of rows.
WAYS = {"direct": "leads", "when_lit": "`when_lit`", "ahead": "`ahead`", "rows": "`when_lit`, `zones: rows`"}
LABOUR = {
    "usd_per_hour": 90, "visit_usd": 600,
    "minutes": {"rack": {"switch": 20, "server": 60, "panel": 20}, "pull": {"cable": 4, "fibre": 12, "trunk": 50},
                "label": 1, "inspect": 2, "test": 3, "plug": 0.5},
}  # fmt: skip


def hall(gpus: int, way: str) -> dict[str, Any]:
    """The case of a hall that doubles, with leads or trunks."""
    stages = [{"name": "first", "month": 0, "gpus": gpus // 2}, {"name": "second", "month": 12, "gpus": gpus}]
    rows = max(2, gpus // 256)
    zones = {"zones": "rows"} if way == "rows" else {}
    cabling = "direct" if way == "direct" else {"leaf-spine": "structured", **zones}
    site = {"servers_per_rack": 4, "floor": {"rows": rows, "racks_per_row": 16, "rack_units": 48, "aisle_m": 1.2},
            "cabling": cabling, "labour": LABOUR}  # fmt: skip
    growth = {} if way == "direct" else {"growth": {"trunks": "ahead" if way == "ahead" else "when_lit"}}
    return {"name": f"hall-{gpus}", "server": "generic-hgx-h100", "stages": stages, "site": site,
            "fabrics": [{"name": "compute", "protocol": "infiniband", "tiers": 2}], **growth}  # fmt: skip


class Figures(NamedTuple):
    """Money of each stage in dollars, hours of work, trunks pulled and legs that are dark after it."""

    status: str
    usd: tuple[float, ...]
    hours: tuple[Fraction, ...]
    pulls: tuple[int, ...]
    dark: tuple[int, ...]


def figures(design: Design) -> Figures:
    """What a design spends and works at each stage."""
    embedded, rows = Embedded(design), work_rows(design)
    kinds = [kind for fabric in design.fabrics for kind in fabric.structured]
    hours, pulls, dark, legs, lit = list[Fraction](), list[int](), list[int](), 0, 0
    for number, stage in enumerate(design.stages):
        trunks = [row for kind in kinds for row in kind.trunks if row.stage == stage.name]
        legs += sum(row.count * embedded.part(row.id, Trunk).legs for row in trunks)
        lit += sum(kind.far_by_stage[number] for kind in kinds)
        hours.append(sum((row.hours or Fraction(0) for row in rows if row.stage == number), Fraction(0)))
        pulls.append(sum(row.count for row in trunks))
        dark.append(legs - lit)
    spent = tuple(stage.capex_usd for stage in design.stages)
    return Figures(design.status, spent, tuple(hours), tuple(pulls), tuple(dark))


def solved(gpus: int, way: str) -> Design:
    """The design of a hall."""
    inputs = inputs_from_objects(hall(gpus, way), named_catalogs(["reference"]))
    return optimize.solve(inputs, alternatives_s=0, time_limit_s=100)


def line(gpus: int, way: str) -> str:
    """A row of the table."""
    of = figures(solved(gpus, way))
    visits = sum(pulled > 0 for pulled in of.pulls)
    cells = [f"{gpus:,}", WAYS[way], of.status, f"{sum(of.usd):,.0f}"]
    cells += [f"{of.usd[1]:,.0f}", *(f"{float(hours):,.0f}" for hours in of.hours), *(f"{n:,}" for n in of.pulls)]
    return f"| {' | '.join([*cells, str(visits), *(f'{legs:,}' for legs in of.dark)])} |"


HEAD = (
    "| GPUs | links between switches | status | USD | of the second stage | hours, first | second | trunks, first "
    "| second | stages that pull trunks | dark legs after the first | second |\n"
    "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)


def main() -> None:
    """Print the rows of the sizes that are named, or write the whole table into its page."""
    if named := [int(size) for size in sys.argv[1:]]:
        for gpus in named:
            for way in WAYS:
                print(line(gpus, way), flush=True)
        return
    before, _, rest = PAGE.read_text().partition(START)
    rows = "\n".join(line(gpus, way) for gpus in SIZES for way in WAYS)
    PAGE.write_text(before + START + HEAD + rows + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
