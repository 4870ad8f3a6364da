"""The command line. ``main`` maps every outcome to its exit code; the commands are in ``fabopt.cli.app``."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Sequence

from fabopt.cli.output import nowhere, tell
from fabopt.cli.signals import ATTENDANT, STARTED, end_process
from fabopt.errors import EXIT_DONE, EXIT_INPUT, EXIT_NO_ANSWER, FaboptError, cut

_INTERRUPTED = 130
# A command is over soon and makes few cycles: looking for them as often as by default takes a tenth of its time.
_OBJECTS_BETWEEN_COLLECTIONS = 300_000
# Of an error of our own, which may quote a file.
_LONGEST_REASON = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never a traceback unless ``FABOPT_DEBUG`` is set.

    ``arguments``: None for those of the process, which is then the command's: it began with it, and ends with it.
    """
    _prepare_streams()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    with ATTENDANT.listening(STARTED if arguments is None else time.monotonic()):
        code = _run(arguments)
        if arguments is None:
            end_process(code)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command; every outcome is an exit code."""
    try:
        from fabopt.cli.app import app

        code = app(arguments, standalone_mode=False, prog_name="fabopt")
    except FaboptError as error:
        tell(str(error))
        return error.exit_code
    except SystemExit:
        # Typer ends itself like this only when the reader of its help has gone, which is no error.
        return EXIT_DONE
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except MemoryError:
        return _out_of_memory()
    except Exception as error:
        return _unexpected(error)
    if code == _INTERRUPTED:
        tell("interrupted")
        return EXIT_NO_ANSWER
    return code if isinstance(code, int) else EXIT_DONE


def _prepare_streams() -> None:
    """Stand in for closed streams, and let no character that a terminal cannot show stop an answer."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, nowhere())
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _out_of_memory() -> int:
    """Say that memory ended: of an input that is too large while it is read, of the search once a clock runs."""
    if ATTENDANT.keeps_clock:
        tell("memory ended before there was an answer; `--alternatives 0` and fewer products to choose from take less")
        return EXIT_NO_ANSWER
    tell("memory ended while the input was read; it is too large for this machine")
    return EXIT_INPUT


def _unexpected(error: Exception) -> int:
    """Report a wrong command line (which shows itself), or a fault of fabopt's own."""
    show = getattr(error, "show", None)
    if show is not None and hasattr(error, "exit_code"):
        show(sys.stderr)
        return EXIT_INPUT
    if os.environ.get("FABOPT_DEBUG"):
        raise error
    message = cut(" ".join(str(error).split()), _LONGEST_REASON) or "no message"
    tell(f"internal error: {type(error).__name__}: {message}; please report it (FABOPT_DEBUG=1 shows where)")
    return EXIT_NO_ANSWER
