"""Bandwidth left by random failures, one line for each fabric and kind."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fabopt.output.words import count, plain, printable
from fabopt.units import some
from fabopt.verify.outages import Outages

SHARES = (0.05, 0.5, 0.95)
_COLUMNS = ("least", "5 %", "median", "95 %", "mean")


def outage_report(outages: Sequence[Outages], seed: int) -> RenderableType:
    """Return a table: Gb/s per GPU of the worst-hit server, and servers cut off, over all draws."""
    title = Text(f"left per GPU of the worst-hit server after random failures, Gb/s (seed {seed})", style="bold")
    grid = Table.grid(padding=(0, 2))
    for column in range(5 + len(_COLUMNS)):
        grid.add_column(justify="left" if column < 2 else "right")
    grid.add_row("fabric", "failed", "samples", *_COLUMNS, "most cut off", "mean", style="dim")
    for outage in outages:
        grid.add_row(
            printable(outage.fabric),
            some(outage.count, outage.failed),
            f"all {count(outage.ways)}" if outage.is_complete else count(len(outage.gbps_per_gpu)),
            *(_shown(rate) for rate in (outage.gbps_per_gpu[0], *map(outage.quantile, SHARES), outage.mean)),
            count(outage.cut_off[-1]),
            _shown(sum(outage.cut_off) / len(outage.cut_off)),
        )
    return Group(title, grid)


def _shown(number: float) -> str:
    return plain(round(number, 3))
