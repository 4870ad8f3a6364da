"""The summary on a terminal: an architect should see within ten seconds the design, its cost, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fabopt.output.cash import has_cash
from fabopt.output.left_out import TITLE, left_out_lines
from fabopt.output.space import floor_line, pages_line
from fabopt.output.terminal.answer import (
    about_lines,
    fabric_line,
    headline,
    leading_notes,
    search_line,
    spares_line,
    totals_line,
)
from fabopt.output.terminal.floor import floor_lines
from fabopt.output.terminal.futures import COLUMNS as FUTURE_COLUMNS
from fabopt.output.terminal.futures import PLAN_COLUMNS, PLANS_TITLE, future_lines, future_rows, plan_rows
from fabopt.output.terminal.futures import TITLE as FUTURES_TITLE
from fabopt.output.terminal.growth import COLUMNS, growth_rows, merged, moving_line
from fabopt.output.terminal.networks import SHARE_COLUMNS, network_shares
from fabopt.output.terminal.single_points import COLUMNS as POINT_COLUMNS
from fabopt.output.terminal.single_points import TITLE as POINTS_TITLE
from fabopt.output.terminal.single_points import lead_line, point_rows, rack_line, redundancy_line
from fabopt.output.terminal.workload import COLUMNS as WORKLOAD_COLUMNS
from fabopt.output.terminal.workload import workload_lines, workload_rows, workload_title
from fabopt.output.what_else import columns_of, name_of
from fabopt.output.words import (
    KIND_NAMES,
    count,
    joined,
    money,
    plain,
    power,
    printable,
    run,
)
from fabopt.schema.design import BomRow, Design, FabricDesign, LinkPart, LinkRow, TierUse
from fabopt.units import some

# Columns of ids and names, which must stay whole to be copied.
# The name of all charges together, in the list of kinds of parts.
CHARGES = "charges"
_WHOLE = ("id", "name", "switch", "tier")


def summary(design: Design) -> RenderableType:
    """Return the whole summary of a design that was found."""
    return Group(*_blocks(design))


def _blocks(design: Design) -> Iterator[RenderableType]:
    yield Text(headline(design), style="bold")
    leading = leading_notes(design)
    yield from (_line(note) for note in leading)
    if design.rules_left_out:
        yield Text(f"\n{TITLE}", style="bold yellow")
        yield from (_line(line) for line in left_out_lines(design.rules_left_out))
    yield from _single_points(design)
    for fabric in design.fabrics:
        yield from _fabric(design, fabric)
    if design.workload is not None:
        use = design.workload
        yield _heading("Workload", workload_title(use))
        yield table(WORKLOAD_COLUMNS, workload_rows(use))
        yield from (_line(line) for line in workload_lines(use))
    lines = floor_lines(design)
    if lines:
        yield _heading("Floor")
        yield from (_line(line) for line in lines)
    yield _heading("Cost and power")
    yield _cost_table(design)
    if shares := network_shares(design):
        yield table(SHARE_COLUMNS, [alternative.words for alternative in shares])
    if spares := spares_line(design):
        yield _line(spares)
    yield _line(totals_line(design))
    yield from _growth(design)
    yield from _cash(design)
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


def _growth(design: Design) -> Iterator[RenderableType]:
    """Purchases of each stage, and the costs of each future."""
    if len(design.stages) > 1:
        yield _heading("Growth")
        yield table(COLUMNS, growth_rows(design))
        moving = moving_line(design)
        if moving:
            yield _line(moving)
    yield from _futures(design)


def _futures(design: Design) -> Iterator[RenderableType]:
    """Costs of growth wherever it ends, where it may end early."""
    if design.futures is None:
        return
    yield _heading(FUTURES_TITLE)
    yield table(FUTURE_COLUMNS, future_rows(design))
    yield from (_line(line) for line in future_lines(design))
    if design.futures.plans:
        yield _heading(PLANS_TITLE)
        yield table(PLAN_COLUMNS, plan_rows(design))


def _cash(design: Design) -> Iterator[RenderableType]:
    """Payments of each year, for a case with terms of payment."""
    if has_cash(design):
        from fabopt.output.terminal.cash import TITLE as CASH_TITLE
        from fabopt.output.terminal.cash import cash_lines, cash_years

        yield _heading(CASH_TITLE)
        yield from (table(columns, rows) for columns, rows in cash_years(design))
        yield from (_line(line) for line in cash_lines(design))


def _fabric(design: Design, fabric: FabricDesign) -> Iterator[RenderableType]:
    yield _heading(f"Fabric {fabric.name}", fabric_line(fabric))
    if fabric.tiers:
        yield _switch_table(fabric)
    yield from (_line(line) for line in about_lines(design, fabric))
    yield Text()
    yield _link_table(fabric)


def _single_points(design: Design) -> Iterator[RenderableType]:
    """Losses with any one switch or rack; no lines where the file states none."""
    if design.single_points_of_failure is None:
        return
    yield _heading(POINTS_TITLE, lead_line(design))
    if design.single_points_of_failure:
        yield table(POINT_COLUMNS, list(point_rows(design)))
    if design.worst_rack is not None:
        yield _line(rack_line(design))
    if redundancy := redundancy_line(design):
        yield _line(redundancy)


def checks_line(design: Design) -> str:
    """State the count of rules proven again without the solver."""
    failed = [check.name for check in design.checks if not check.ok]
    if failed:
        return f"{len(failed)} of {some(len(design.checks), 'check')} FAILED: {', '.join(failed)}"
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


def _switch_table(fabric: FabricDesign) -> Table:
    columns = [("tier", False), ("switch", False), ("count", True), ("ports down", True), ("ports up", True)]
    columns += [("oversubscription", True)]
    return table(columns, [_tier_row(fabric, row) for row in fabric.switches])


def _tier_row(fabric: FabricDesign, tier: TierUse) -> list[str]:
    down = _ports(tier.down_ports, tier.gbps_down)
    if tier.reserved_ports:
        down += f" + {tier.reserved_ports} free"
    up = _ports(tier.up_ports, tier.gbps_up) if tier.up_ports else "-"
    ratio = fabric.oversubscription.get(tier.role)
    return [tier.role, tier.id, count(tier.count), down, up, f"{plain(ratio)}:1" if ratio is not None else "-"]


def _ports(number: int, gbps: int | float) -> str:
    return f"{number:,} x {plain(gbps)}G"


def _link_table(fabric: FabricDesign) -> Table:
    columns = [("links", False), ("count", True), ("Gb/s", True), ("run", True), ("medium", False), ("parts", False)]
    return table(columns, [_link_row(fabric, link) for link in merged(fabric.links)])


def _link_row(fabric: FabricDesign, link: LinkRow) -> list[str]:
    parts = "\n".join(_part(part) for part in link.parts) or "none bought"
    return [joined(link), count(link.count), plain(link.gbps), run(fabric, link), link.medium, parts]


def _part(part: LinkPart) -> str:
    length = f", {plain(part.length_m)} m" if part.length_m is not None else ""
    return f"{part.quantity:,} x {part.id}{length}"


def _cost_table(design: Design) -> Table:
    totals = design.totals
    assert totals is not None
    several = len(design.fabrics) > 1 or any(alternative.logical for alternative in design.fabrics)
    groups: dict[tuple[str, str], list[BomRow]] = {}
    for row in design.bom:
        kind = row.kind if row.charge is None else CHARGES
        groups.setdefault((row.fabric if several else "", kind), []).append(row)
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
    """The finished alternatives as a table, and the names of all others."""
    figures = columns_of(design)
    columns = [("instead", False), ("design", False), *((column.title, True) for column in figures)]
    finished = [row for row in design.alternatives if row.finished]
    rows = [[name_of(row), row.summary, *(column.cell(row) for column in figures)] for row in finished]
    if rows:
        yield table(columns, rows)
    others = [name_of(row) for row in design.alternatives if not row.finished]
    if others:
        yield _line(f"not finished, as they take more work than rows may: {'; '.join(others)}")
