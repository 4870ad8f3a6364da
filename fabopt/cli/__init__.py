"""The command line: ``main``. Commands are in ``fabopt.cli.app``, imported once signal handlers are set."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fabopt.cli.supervisor import Mask, supervised


def main(arguments: Sequence[str] | None = None, mask: Mask | None = None) -> int:
    """Run one command and return its exit code; never a traceback unless ``FABOPT_DEBUG`` is set.

    ``arguments``: None for those of the process, which then ends with the command.
    ``mask``: the signals blocked when the process began, None if it has blocked none since.
    """
    copy = supervised(mask) if arguments is None else None
    if isinstance(copy, int):
        os._exit(copy)
    from fabopt.cli.command import run

    return run(arguments, copy)
