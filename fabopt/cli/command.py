"""Running one command: every outcome is an exit code."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache

from fabopt.cli.ends import interrupted, is_of_memory, memory_ended
from fabopt.cli.output import nowhere, tell, wipe
from fabopt.cli.signals import ATTENDANT, end_process
from fabopt.cli.supervisor import STARTED, Copy
from fabopt.errors import EXIT_DONE, EXIT_INPUT, EXIT_NO_ANSWER, FaboptError, cut

# What Typer returns of a command that Ctrl-C ended.
_INTERRUPTED = 130
# A command is over soon and makes few cycles: looking for them as often as by default takes a tenth of its time.
_OBJECTS_BETWEEN_COLLECTIONS = 300_000
# Letters of an internal error's message, which may quote a file.
_LONGEST_REASON = 300


def run(arguments: Sequence[str] | None, copy: Copy | None = None) -> int:
    """Run a command in this process, which is the command's own where ``arguments`` is None, and then ends with it.

    ``copy``: this process's link to the one that watches over it.
    """
    _prepare_streams()
    if copy is not None:
        # nothing here takes matrices to a power; room for threads that would is not kept on many cores
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    with ATTENDANT.listening(STARTED if arguments is None else time.monotonic(), copy):
        try:
            code = _outcome(arguments)
            wipe()
            ATTENDANT.finish()
        except KeyboardInterrupt:
            ATTENDANT.finish()
            code = interrupted()
        except MemoryError:
            if copy is None:
                raise
            # not even the words found room: whoever watches over this process says them
            os._exit(EXIT_NO_ANSWER)
        if arguments is None:
            end_process(code, copy)
    return code


@cache
def _commands() -> Callable[..., object]:
    """The tree of commands: reading it off their functions takes a tenth of a second, once a process."""
    from typer.main import get_command

    from fabopt.cli.app import app

    return get_command(app)


def _outcome(arguments: Sequence[str] | None) -> int:
    """Run a command: its exit code."""
    try:
        code = _commands()(arguments, standalone_mode=False, prog_name="fabopt")
    except FaboptError as error:
        tell(str(error))
        return error.exit_code
    except SystemExit:
        # Typer ends itself like this only when the reader of its help has gone, which is no error.
        return EXIT_DONE
    except Exception as error:
        return _unexpected(error)
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else EXIT_DONE


def _prepare_streams() -> None:
    """Replace closed streams, and let no character that a terminal cannot show stop an answer."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, nowhere())
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _unexpected(error: Exception) -> int:
    """Report a wrong command line (which shows itself), or a fault of fabopt's own."""
    show = getattr(error, "show", None)
    wipe()
    if show is not None and hasattr(error, "exit_code"):
        show(sys.stderr)
        return EXIT_INPUT
    if ATTENDANT.interrupts:
        raise KeyboardInterrupt from error
    if os.environ.get("FABOPT_DEBUG"):
        raise error
    if is_of_memory(error):
        return memory_ended(ATTENDANT.keeps_clock, draws=ATTENDANT.draws)
    message = cut(" ".join(str(error).split()), _LONGEST_REASON) or "no message"
    tell(f"internal error: {type(error).__name__}: {message}; please report it (FABOPT_DEBUG=1 shows where)")
    return EXIT_NO_ANSWER
