"""The work at hand, results so far and elapsed time, on standard error while a command works.

A terminal has one line that changes; a log gets a line a minute.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabopt.cli.output import tell, wipe
from fabopt.cli.signals import ATTENDANT

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.live import Live
    from rich.text import Text

    from fabopt.program.settings import ProgressShare
    from fabopt.schema.design import Number

# A log gets the first line after so long, and no more than one in it.
LOG_EVERY_S = 60.0
_BETWEEN = " · "


@dataclass
class ProgressLine:
    """The line. ``metric``: of the best design; ``limit_s``: the time limit of the command."""

    metric: str = ""
    limit_s: float | None = None
    live: Live | None = None
    doing: str = "reading"
    known: str = ""
    last_s: float = field(default_factory=time.monotonic)
    share: ProgressShare = field(init=False)

    def __post_init__(self) -> None:
        from fabopt.program.settings import ProgressShare

        self.share = ProgressShare(self._show)

    def say(self, doing: str) -> None:
        """Take words for the work at hand: a part of a step, or of a loop."""
        self.doing = doing
        self.share.begin_part()
        self._show()

    def bracket(self, best: Number | None, bound: Number | None) -> None:
        """Take the objective of the best design met by the search at hand, and its bound."""
        from fabopt.output.words import percent, value_text

        parts = [] if best is None else [f"best so far {value_text(self.metric, best)}"]
        if bound is not None and bound > 0:
            parts.append(f"bound {value_text(self.metric, bound)}")
            parts += [f"gap {percent(max(0.0, (best - bound) / best))}"] if best else []
        self.known = ", ".join(parts)
        self._show()

    @contextlib.contextmanager
    def still(self) -> Iterator[None]:
        """Within, no thread updates the seconds of the line: the process can be forked."""
        turning = self.live
        if turning is None or not turning.auto_refresh:
            yield
            return
        threads = [thread for thread in threading.enumerate() if type(thread).__module__ == type(turning).__module__]
        turning.stop()
        for thread in threads:
            thread.join()
        try:
            with _live(self, turns=False) as self.live:
                yield
        finally:
            self.live = turning
            turning.start()

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Within, the line is not on the screen, so that others can write there."""
        if self.live is None:
            yield
            return
        self.live.stop()
        try:
            yield
        finally:
            self.live.start()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The line, in as many lines of the screen as it takes, broken between its parts."""
        from rich.text import Text

        lines = [""]
        for part in self._parts:
            longer = f"{lines[-1]}{_BETWEEN}{part}" if lines[-1] else part
            lines[-1:] = [longer] if len(longer) < options.max_width else [lines[-1], part]
        yield Text("\n".join(filter(None, lines)), overflow="fold")

    @property
    def line(self) -> str:
        """The line as it is now, with the seconds since the command was started."""
        return _BETWEEN.join(self._parts)

    @property
    def _parts(self) -> list[str]:
        spent = f"{time.monotonic() - ATTENDANT.started:,.0f}"
        of = f"{spent} s" if self.limit_s is None else f"{spent} of {self.limit_s:,.0f} s"
        return [part for part in (of, str(self.share), self.known, self.doing) if part]

    def _show(self) -> None:
        if self.live is not None:
            self.live.refresh()
        elif time.monotonic() - self.last_s >= LOG_EVERY_S:
            self.last_s = time.monotonic()
            tell(self.line)


@contextlib.contextmanager
def progress_shown(metric: str = "", limit_s: float | None = None, turns: bool = True) -> Iterator[ProgressLine]:
    """Show how far a command is on standard error.

    ``turns``: a thread updates the seconds; without, processes can be forked.
    """
    progress = ProgressLine(metric, limit_s)
    if not sys.stderr.isatty():
        yield progress
        return
    with _live(progress, turns) as progress.live:
        yield progress


def _live(progress: ProgressLine, turns: bool) -> Live:
    from rich.console import Console
    from rich.live import Live

    wipe()
    return Live(progress, console=Console(stderr=True), auto_refresh=turns, transient=True)
