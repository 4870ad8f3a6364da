"""Why a case has no design, on standard error: that there is none as soon as it is proven, then a screen; or, in full,
all obstacles as they are found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabopt.cli.output import say_aside, tell
from fabopt.output.terminal.answer import clash_line, conflict_line, headline, infeasible_lines, nearest_line, no_design

if TYPE_CHECKING:
    from fabopt.schema.design import Conflict, Design


class Advice:
    """What a case without a design was told of so far; ``full``: every obstacle."""

    def __init__(self, case: str, full: bool = False) -> None:
        self._case, self._full = case, full
        self._told: list[Conflict] = []
        self._began = False

    def take(self, conflict: Conflict | None) -> None:
        """Tell a conflict; None: that there is no design, before any conflict is known."""
        if conflict is None:
            self._began = True
            tell(no_design(self._case))
            return
        if self._full:
            self._told.append(conflict)
            tell(conflict_line(conflict))

    def finish(self, design: Design) -> None:
        """Tell the untold conflicts of a case without a design, or show them on a screen."""
        if not self._full:
            from fabopt.output.terminal.no_screen import no_screen

            if not self._began:
                tell(headline(design))
            say_aside(no_screen(design))
            return
        if not self._began:
            lines = infeasible_lines(design) if design.conflicts else [headline(design)]
        else:
            lines = [line for conflict in design.conflicts if (line := self._rest(conflict)) is not None]
            lines += [*clash_line(design.conflicts), *nearest_line(design)]
        if lines or design.notes:
            tell("\n".join([*lines, *design.notes]))

    def _rest(self, conflict: Conflict) -> str | None:
        """The untold part of a conflict; None if all has been told."""
        for told in self._told:
            same = (told.limit, told.needed, told.together) == (conflict.limit, conflict.needed, conflict.together)
            if same and conflict.detail.startswith(told.detail):
                more = conflict.detail.removeprefix(told.detail).strip("; ")
                return f"  {conflict.limit}: {more}" if more else None
        return conflict_line(conflict)
