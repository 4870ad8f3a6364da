"""The Python face: from a case to an answer in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabopt.io.case import inputs_from_objects
from fabopt.io.library import write_whole
from fabopt.output.export.bill import bill_rows
from fabopt.output.export.design import design_bytes
from fabopt.program.settings import Progress, ProgressWatch
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Check, Design, Status

if TYPE_CHECKING:
    import pandas as pd

    from fabopt.program.settings import Cancel


@dataclass(frozen=True)
class Result:
    """An answer: the design, or the proof that there is none (``status``, ``design.conflicts``)."""

    design: Design

    @property
    def status(self) -> Status:
        """``optimal``, ``feasible`` (stopped early), ``infeasible`` (proven) or ``unknown`` (stopped with nothing)."""
        return self.design.status

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every rule, proven again without the solver; empty without a design."""
        return self.design.checks

    @cached_property
    def bom(self) -> pd.DataFrame:
        """The bill of materials, one row a line; prices in dollars, power in watts."""
        import pandas as pd

        rows = bill_rows(self.design)
        return pd.DataFrame([row.values() for row in rows], columns=list(rows[0])) if rows else pd.DataFrame()

    @property
    def screen(self) -> list[tuple[str, str]]:
        """The first screen of the command line: labels and sentences; an empty label goes on with the one above."""
        from fabopt.output.terminal.first_screen import compared_rows, first_rows
        from fabopt.output.terminal.no_screen import no_rows

        design = self.design
        rows = [*first_rows(design), *compared_rows(design)] if design.fabrics else no_rows(design)
        return [(row.label, row.words) for row in rows]

    def _repr_html_(self) -> str:
        """What notebooks show: the first screen, the drawing of each fabric, and the bill."""
        from fabopt.output.html.build import notebook_html

        return notebook_html(self.design, self.screen)

    def save(self, path: Path | str) -> None:
        """Write the design file (JSON), whole or not at all; ``OutputError`` if that is impossible."""
        write_whole(Path(path), design_bytes(self.design))


def solve(
    case: Case | Mapping[str, Any] | Path | str,
    catalog: Catalog | Mapping[str, Any] | None = None,
    engine: str = "cp-sat",
    time_limit_s: float | None = None,
    catalogs: Sequence[str] | None = None,
    price_changes: Sequence[str] = (),
    alternatives_s: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: Cancel | None = None,
) -> Result:
    """Return the cheapest design that meets a case: a path, a mapping like a case file's content, or a ``Case``.

    ``catalog`` or ``catalogs`` (names or paths) replace the case's; ``price_changes`` are like ``"switch=+20%"``.
    ``alternatives_s``: seconds after which the look at what else there is is cut off, None: never, 0: none.
    ``progress`` takes a ``Progress`` at each change, in the thread that solves. ``cancel``: a ``threading.Event``; once
    another thread sets it, the best design so far is returned (``feasible``, or ``unknown`` without one).
    Raises ``InputError`` with all faults of wrong input; an infeasible case is a ``Result``, not an error.
    """
    from fabopt.solution import optimize
    from fabopt.solution.question import ALTERNATIVES_S

    inputs = inputs_from_objects(case, catalog, catalogs, price_changes)
    looks = ALTERNATIVES_S if alternatives_s is None else alternatives_s
    watch = None if progress is None else ProgressWatch(progress)
    design = optimize.solve(
        inputs,
        engine=engine,
        time_limit_s=time_limit_s,
        progress=None if watch is None else watch.say,
        alternatives_s=looks,
        bracket=None if watch is None else watch.bracket,
        share=None if watch is None else watch.share,
        cancel=cancel,
    )
    return Result(design)
