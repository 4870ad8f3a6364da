"""The summary on a terminal: an architect should see within ten seconds the design, its cost, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import RenderableType, group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fabopt.output.bought import beside
from fabopt.output.labour import labour
from fabopt.output.space import floor_line, pages_line
from fabopt.output.stated import StatedTable, Statement, table_of
from fabopt.output.statements import futures, growth, latency, links, single_points, tiers
from fabopt.output.terminal.answer import (
    about_lines,
    fabric_line,
    headline,
    leading_notes,
    search_line,
    spares_line,
    totals_line,
)
from fabopt.output.terminal.cash import cash_years
from fabopt.output.terminal.floor import floor_lines
from fabopt.output.terminal.networks import SHARE_COLUMNS, network_shares
from fabopt.output.terminal.serving import serving
from fabopt.output.terminal.workload import workload
from fabopt.output.what_else import BOUGHT, columns_of, name_of
from fabopt.output.words import (
    KIND_NAMES,
    TITLE,
    count,
    left_out_lines,
    money,
    power,
    printable,
)
from fabopt.schema.design import BomRow, Design, FabricDesign
from fabopt.units import grouped, some

# Columns of ids and names, which must stay whole to be copied.
# The name of all charges together, in the list of kinds of parts.
CHARGES = "charges"
_WHOLE = ("id", "name", "switch", "tier")


@group()
def summary(design: Design) -> Iterator[RenderableType]:
    """The whole summary of a design that was found."""
    yield Text(headline(design), style="bold")
    leading = leading_notes(design)
    yield from (_line(note) for note in leading)
    if design.rules_left_out:
        yield Text(f"\n{TITLE}", style="bold yellow")
        yield from (_line(line) for line in left_out_lines(design.rules_left_out))
    yield from _statement(single_points(design))
    for fabric in design.fabrics:
        yield from _fabric(design, fabric)
    yield from _statement(workload(design))
    yield from _statement(serving(design))
    lines = floor_lines(design)
    if lines:
        yield _heading("Floor")
        yield from (_line(line) for line in lines)
    yield _heading("Cost and power")
    yield _cost_table(design)
    if shares := network_shares(design):
        yield _rows(table_of(SHARE_COLUMNS, shares))
    if spares := spares_line(design):
        yield _line(spares)
    yield _line(totals_line(design))
    for stated in (latency, labour, beside, growth, futures, cash_years):
        yield from _statement(stated(design))
    yield _heading("Proof")
    yield _line(search_line(design))
    yield from (_line(line) for line in (floor_line(design), pages_line(design)) if line)
    if design.checks:
        yield _line(checks_line(design))
    if design.alternatives:
        yield _heading("What else", "the best design with other values of some keys, against this one")
        yield from _what_else(design)
    if len(design.notes) > len(leading):
        yield _heading("Notes")
        yield from (_line(note) for note in design.notes if note not in leading)


def _statement(statement: Statement | None) -> Iterator[RenderableType]:
    """A part of the design under its title."""
    if statement is None:
        return
    yield _heading(statement.title, statement.about)
    for part in statement.said:
        if isinstance(part, str):
            yield _line(part)
        else:
            if part.title:
                yield _heading(part.title)
            yield _rows(part)


def _rows(rows: StatedTable) -> Table:
    return table(rows.columns, rows.rows)


def _fabric(design: Design, fabric: FabricDesign) -> Iterator[RenderableType]:
    yield _heading(f"Fabric {fabric.name}", fabric_line(fabric))
    if fabric.tiers:
        yield _rows(tiers(fabric))
    yield from (_line(line) for line in about_lines(design, fabric))
    yield Text()
    yield _rows(links(fabric))


def checks_line(design: Design) -> str:
    """State the count of rules proven again without the solver."""
    if design.failed:
        names = ", ".join(check.name for check in design.failed)
        return f"{len(design.failed)} of {some(len(design.checks), 'check')} FAILED: {names}"
    return f"checked without the solver: all {len(design.checks)} rules hold"


def _heading(title: str, about: str = "") -> RenderableType:
    text = Text(f"\n{printable(title)}", style="bold cyan")
    return text.append(f"  {printable(about)}", style="not bold default") if about else text


def _line(text: str) -> RenderableType:
    return Padding(Text(printable(text)), (0, 0, 0, 2), expand=False)


def table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]], total: bool = False) -> Table:
    """Return a table of plain cells; a column is (title, numbers to the right). The last row may be a total."""
    result = Table(box=box.SIMPLE_HEAD, pad_edge=True, header_style="dim", show_edge=False)
    for title, right in columns:
        result.add_column(
            title, justify="right" if right else "left", no_wrap=right or title in _WHOLE, overflow="fold"
        )
    cells = [[Text(printable(cell)) for cell in row] for row in rows]
    for index, row in enumerate(cells):
        last = total and index == len(cells) - 1
        result.add_row(*row, style="bold" if last else None, end_section=total and index == len(cells) - 2)
    return result


def left_out(
    number: int, most: int, noun: str, where: str = "--json, --findings and --html have all"
) -> Iterator[Text]:
    """How many of so many things a terminal does not show, and which files have them; nothing where it shows all."""
    if number > most:
        yield Text(f"and {some(number - most, noun)} more; {where}", style="dim")


def _cost_table(design: Design) -> Table:
    totals = design.sums
    several = len(design.fabrics) > 1 or any(alternative.logical for alternative in design.fabrics)
    groups = grouped(
        ((row.fabric if several else "", row.kind if row.charge is None else CHARGES), row) for row in design.bom
    )
    rows = [_cost_row(_kind_name(*key), group, totals.capex_usd) for key, group in groups.items()]
    rows.append(["total", "", money(totals.capex_usd), "", power(totals.power_w)])
    yearly = sum(row.yearly_usd or 0 for row in design.bom)
    if yearly:
        rows.append(["charges a year", "", money(round(yearly, 2)), "", "-"])
    return table(
        [("parts", False), ("bought", True), ("cost", True), ("share", True), ("power", True)], rows, total=True
    )


def _kind_name(fabric: str, kind: str) -> str:
    return f"{fabric} {KIND_NAMES.get(kind, kind)}" if fabric else KIND_NAMES.get(kind, kind)


def _cost_row(name: str, rows: Sequence[BomRow], whole: int | float) -> list[str]:
    usd = round(sum(row.total_usd for row in rows), 2)
    watts = sum(row.power_w for row in rows)
    share = f"{100 * usd / whole:.0f} %" if whole else "-"
    return [name, count(sum(row.quantity for row in rows)), money(usd), share, power(watts) if watts else "-"]


def _what_else(design: Design) -> Iterator[RenderableType]:
    """The finished alternatives: what is bought, what it does where more is known; and the names of all others."""
    columns = columns_of(design)
    bought, done = columns[:BOUGHT], columns[BOUGHT:]
    finished = [row for row in design.alternatives if row.finished]
    if finished:
        rows = [[name_of(row), row.summary, *(column.cell(row) for column in bought)] for row in finished]
        yield table([("instead", False), ("design", False), *((column.title, True) for column in bought)], rows)
    if done:
        rows = [[name_of(row), *(column.cell(row) for column in done)] for row in finished]
        titles = [re.sub(" (per|of) ", r" \1\n", column.title) for column in done]
        yield table([("instead", False), *((title, True) for title in titles)], rows)
    others = [name_of(row) for row in design.alternatives if not row.finished]
    if others:
        yield _line(f"not finished, as they take more work than rows may: {'; '.join(others)}")
