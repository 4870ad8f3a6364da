"""Saved designs from which files for others are made: only those proven again, or else with a mark."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Final

from fabopt.cli.ends import is_of_memory
from fabopt.cli.output import tell
from fabopt.design.points import design_at, within_budget
from fabopt.errors import CheckError, FaboptError, Fault, InputError, did_you_mean, fault, refusal
from fabopt.io.design import design_in, read_design_or_front, whole_design
from fabopt.output.export.marks import MARK
from fabopt.output.words import AN_EARLIER_FILE, verdict_on
from fabopt.schema.design import BUDGET_KEY, Check, Design, Front
from fabopt.schema.in_service import IN_SERVICE
from fabopt.study.sweep.sweep import budget_range
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
    failed = design.failed
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


# -- designs that commands are given as files -------------------------------------------------------------------------
# Designs that commands are given as files: a design file, or a point of a sweep or front.


OPTION = "--point"
BUDGET = "--budget"
NEAREST = "--nearest"
# In place of the number of a point, and the number of none: the nearest design to a case without one.
THE_NEAREST: Final = -sys.maxsize
WHAT = {"sweep": "sweep", "pareto": "front"}


def saved_design(path: str, point: int | None, asked: str = OPTION) -> Design:
    """Return the design of a file, or of a point (from 1) of a sweep or front, or ``THE_NEAREST`` of a file without a
    design; ``InputError`` if the file has no such design. ``asked``: what asks for the point, the option or ``FILE#3``.
    """
    saved = read_design_or_front(path)
    if point == THE_NEAREST:
        return _nearest(saved, path)
    if isinstance(saved, Front):
        return design_of_point(saved, path, point, asked)
    if point is not None:
        number = OPTION if asked == OPTION else f"#{point}"
        raise refusal(asked, "", f"{path} is one design, not a sweep or front", point, hint=f"leave {number} out")
    return saved


def _nearest(saved: Design | Front, path: str) -> Design:
    """The nearest design to the case of a file without a design."""
    nearest = None if isinstance(saved, Front) else saved.nearest
    if nearest is None or nearest.design is None:
        has_own = isinstance(saved, Front) or saved.fabrics
        what = "this file has designs of its own" if has_own else "no nearest design is in this file"
        raise refusal(
            NEAREST,
            "",
            f"{path}: {what}",
            hint=f"leave {NEAREST} out" if has_own else "it is where limits on spending alone leave no design",
        )
    return design_in(nearest.design, f"{path}, nearest.design")


def check_whole(design: Design, path: str) -> None:
    """Refuse a file with fabrics and without their totals or stages."""
    missing = [name for name in ("totals", "stages") if not getattr(design, name)]
    if design.fabrics and missing:
        hint = "solve the case again; `fabopt solve --json` writes whole designs"
        faults = [fault(path, name, "a design with fabrics has this too", hint=hint) for name in missing]
        raise InputError(faults)


def nearest_hint(design: Design) -> str:
    """The option that takes the nearest design of a file without a design, if it has one; else empty."""
    return f"{NEAREST} takes the nearest design" if design.nearest is not None and design.nearest.design else ""


def require_found(design: Design, path: str, use: str = "", hint: str = "") -> None:
    """Refuse a file without a design. ``use``: what the design is for; ``hint``: what to do, other than to ask why."""
    if not design.fabrics:
        raise refusal(
            path,
            "status",
            f"there is no design here{use}",
            design.status,
            allowed="a design that was found (status optimal or feasible)",
            hint=hint or "`fabopt show` says why there is none",
        )


def numbered_stage(design: Design, name: str | None) -> int | None:
    """The number of the stage that ``--stage`` names, from 0; what may move in service is no stage."""
    if name is None:
        return None
    names = [stage.name for stage in design.stages]
    if name not in names:
        hint = did_you_mean(name, names)
        if name == IN_SERVICE and (base := design.case.content.get("base")):
            hint = (
                f"with `base.move` it is no stage; {base['file']} is what is in service, as it stands before any move"
            )
        raise refusal("--stage", "", "no such stage", name, allowed=", ".join(names), hint=hint)
    return names.index(name)


def chosen_point(path: str, point: int | None, budget: str | None, nearest: bool = False) -> int | None:
    """Return the point (from 1) that options name: by its number, as the best within a budget, or ``THE_NEAREST``.

    ``InputError`` if several are given, if the file is no front and no sweep over budgets, or if no point costs that
    little.
    """
    if nearest:
        if point is not None or budget is not None:
            raise refusal(NEAREST, "", "another option names the design already", hint="leave one of them out")
        return THE_NEAREST
    if budget is None:
        return point
    if point is not None:
        raise refusal(BUDGET, "", f"{OPTION} names a point already", budget, hint="leave one of them out")
    amounts = budget_range(budget)
    if isinstance(amounts, Fault):
        raise InputError([amounts])
    if len(amounts) > 1:
        raise refusal(BUDGET, "", "a design has one budget", budget, hint="give one amount, such as 2.5M")
    usd = amounts[0]
    front = read_design_or_front(path)
    if not isinstance(front, Front) or (front.kind == "sweep" and BUDGET_KEY not in front.keys):
        raise refusal(
            BUDGET, "", f"{path} is not a front, nor a sweep over budgets", budget, hint=f"leave {BUDGET} out"
        )
    number = within_budget(front, usd)
    if number is None:
        costs = ((point.totals.capex_usd, point.budget_usd or 0) for point in front.points if point.totals is not None)
        least = min(map(max, costs), default=None)
        raise refusal(
            BUDGET,
            "",
            f"no point of {path} costs that little",
            budget,
            allowed="" if least is None else f"${least:,} or more",
        )
    return number


def design_of_point(front: Front, path: str, point: int | None, asked: str = OPTION) -> Design:
    """Return the design of a point (from 1); ``InputError`` if there is none."""
    what = f"a {WHAT[front.kind]} of {some(len(front.points), 'point')}"
    if point is None:
        takes = f"{OPTION} N" if asked == OPTION else f"`{path}#1`"
        raise refusal(path, "", f"this is {what}", hint=f"{takes} takes the design of one")
    if not 1 <= point <= len(front.points):
        raise refusal(
            asked, "", f"{path} is {what}", point, allowed=f"1 to {len(front.points)}" if front.points else "none"
        )
    if front.points[point - 1].fabrics and not front.points[point - 1].bom:
        raise refusal(
            path,
            f"points[{point - 1}].bom",
            "this point has no bill of materials",
            hint="run it again; points are written with their bills since 0.2.0",
        )
    return whole_design(design_at(front, point), path)
