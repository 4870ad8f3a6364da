"""The command that writes a design as a page for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path, PurePath
from urllib.parse import quote

from fabopt.cli.evidence import check_whole, design_of_point, proven, saved_design, told_of
from fabopt.cli.output import PAGES, check_targets, deliver, tell
from fabopt.cli.signals import ATTENDANT
from fabopt.cli.solving import EXIT_OF_STATUS
from fabopt.errors import EXIT_NO_ANSWER, refusal
from fabopt.io.design import read_design_or_front, read_front
from fabopt.io.library import STANDARD_STREAM, ending_of, make_folder
from fabopt.output.charts.points import shown_points
from fabopt.output.html.build import page_bytes
from fabopt.output.html.front_page import plot_page
from fabopt.output.terminal.answer import headline
from fabopt.schema.design import Design, Front

PAGES_OPTION = "--pages"
_OF_FRONT = ("the front", "run the command that wrote it again")


def write_report(
    path: str, output: str, front: str | None, unchecked: bool, point: int | None = None, pages: bool = False
) -> int:
    """Write the page of a saved design, with a front of the same case if one is given.

    The design is proven again first; with ``unchecked`` a banner says that it fails. A file without a design gives a
    page that says why; the exit code is then that of ``solve``. A sweep or front has a page of its own, but for a
    ``point`` of it (from 1), which is a design. ``pages``: of a front, a page of each point too.
    """
    if output != STANDARD_STREAM:
        ending_of(output, "a report", PAGES)
    if front == path == STANDARD_STREAM:
        raise refusal("--front", "", "only one input can come from standard input")
    check_targets([output])
    saved = read_design_or_front(path) if point is None else saved_design(path, point)
    if isinstance(saved, Front):
        return _write_front(saved, path, output, front, unchecked, pages)
    if pages:
        raise refusal(PAGES_OPTION, "", f"{path} is one design", hint=f"leave {PAGES_OPTION} out")
    deliver(output, _page(saved, path, unchecked, front))
    if not saved.fabrics:
        tell(headline(saved))
    return EXIT_OF_STATUS[saved.status]


def _page(design: Design, path: str, unchecked: bool, front: str | None = None) -> bytes:
    """The page of a design that is proven again."""
    check_whole(design, path)
    shown_front = _front(front, design) if front is not None else None
    evidence = proven(design, path, unchecked)
    # beside a design that was proven, only the front can be inconsistent
    is_of_front = shown_front is not None and not evidence.mark
    with evidence.written(path), told_of(str(front), *_OF_FRONT) if is_of_front else nullcontext():
        ATTENDANT.draw()
        return page_bytes(design, evidence.design.checks, shown_front, evidence.mark)


def _write_front(front: Front, path: str, output: str, other: str | None, unchecked: bool, pages: bool) -> int:
    """Write the page of a sweep or front as its file states it, after the pages of its points if they are asked for."""
    if other is not None:
        raise refusal(
            "--front", "", f"{path} is no design", other, hint="leave --front out, or take a point of it with --point"
        )
    links = dict(_write_points(front, path, output, unchecked)) if pages else {}
    with told_of(path, *_OF_FRONT):
        ATTENDANT.draw()
        page = plot_page(front, links)
    deliver(output, page)
    statuses = [point.status for point in front.points]
    return min((EXIT_OF_STATUS[status] for status in statuses), default=EXIT_NO_ANSWER)


def _write_points(front: Front, path: str, output: str, unchecked: bool) -> Iterator[tuple[int, str]]:
    """Write the pages of the points shown into a folder beside the front's page; yield their numbers and links."""
    if output == STANDARD_STREAM:
        raise refusal(PAGES_OPTION, "", "pages of points stand beside a file", output, hint="-o FRONT.html")
    folder = make_folder(Path(output).with_name(f"{PurePath(output).stem}-points"))
    for stale in folder.glob("[0-9]*.html"):
        stale.unlink()
    for number, point in shown_points(front):
        if point.fabrics:
            page = folder / f"{number}.html"
            deliver(str(page), _page(design_of_point(front, path, number), f"{path}#{number}", unchecked))
            yield number, f"{quote(folder.name)}/{page.name}"


def _front(path: str, design: Design) -> Front:
    """Return the front; one of a case with another name is a mistake."""
    front = read_front(path)
    if front.case.name != design.case.name:
        raise refusal(path, "case.name", "the front is of another case", front.case.name, allowed=design.case.name)
    return front
