"""Saved designs from which files for others are made: only those proven again, or else with a mark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from fabopt.cli.ends import is_of_memory
from fabopt.cli.output import tell
from fabopt.errors import CheckError, FaboptError, Fault, InputError, fault
from fabopt.output.export.marks import MARK
from fabopt.output.words import AN_EARLIER_FILE, verdict_on
from fabopt.schema.design import Check, Design
from fabopt.units import some
from fabopt.verify import not_asked, verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring


@dataclass(frozen=True)
class Proven:
    """A design with its new checks. ``mark``: the sentence for its files if proof was not asked for or failed."""

    design: Design
    mark: str = ""

    @contextmanager
    def written(self, file: str) -> Iterator[None]:
        """Write files of it; an inconsistency in an unproven design is reported as a fault of its file."""
        with told_of(file) if self.mark else nullcontext():
            yield


def proven(design: Design, file: str, unchecked: bool) -> Proven:
    """Prove a design again, so that files for others can be made of it.

    Raises ``CheckError`` with every check that fails; with ``unchecked`` they are told, and the design has a mark for
    every file. A file without a design is only checked as a file.
    """
    return required(design.model_copy(update={"checks": verify(design)}), file, unchecked)


def required(design: Design, file: str, unchecked: bool = False) -> Proven:
    """Require that a design's new checks hold, as ``proven`` does: else raise ``CheckError``."""
    failed = [check for check in design.checks if not check.ok]
    lines = [f"check {check.name} FAILED: {check.detail}" for check in failed]
    if not unchecked and not failed:
        if spared := not_asked(design):
            tell(f"{file}: {verdict_on(len(design.checks), len(spared))}; {AN_EARLIER_FILE}")
        return Proven(design)
    if not unchecked:
        verdict = f"{file}: {len(failed)} of {some(len(design.checks), 'check')} FAILED, so nothing was written"
        raise CheckError("\n".join([*lines, f"{verdict}; --unchecked writes files that say so"]))
    for line in lines:
        tell(line)
    return Proven(design, _mark(failed))


def _mark(failed: Sequence[Check]) -> str:
    """The mark for every file; without text of the design file, so that any format can hold it."""
    if not failed:
        return f"{MARK}: written without asking for a proof of the design"
    names = list(dict.fromkeys(check.name for check in failed))
    shown = f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
    return f"{MARK}: the design fails {some(len(failed), 'check')} ({shown}). Do not buy or build from this"


@contextmanager
def told_of(
    file: str, what: str = "the design", hint: str = "`fabopt check` says what does not hold"
) -> Iterator[None]:
    """Report an inconsistency met while a saved file is shown as a fault of that file; a lack of memory is none."""
    try:
        yield
    except FaboptError:
        raise
    except Exception as error:
        if is_of_memory(error):
            raise
        raise InputError([apart(file, error, what, hint)]) from None


def apart(
    file: str, error: Exception, what: str = "the design", hint: str = "`fabopt check` says what does not hold"
) -> Fault:
    """Return the fault of an inconsistent design, or of another file."""
    return fault(file, "", f"{what} does not hold together: {_words(error)}", hint=hint)


def wired(design: Design, file: str) -> Wiring:
    """The wiring of a saved design; ``InputError`` where the file has none."""
    try:
        return wiring_of(design)
    except (LookupError, ValueError) as error:
        raise InputError([apart(file, error)]) from None


def _words(error: Exception) -> str:
    # Such errors hold text, but a KeyError shows it quoted, and an assertion of ours has none.
    return " ".join(str(error.args[0] if error.args else error).split()) or "some of its figures contradict others"
