"""The page of a comparison: sides in columns with their drawings, differences in colour, why the money differs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fabopt.inspect.differences.compare import Against, Contrast
from fabopt.inspect.differences.figures import Difference
from fabopt.output.differences import (
    BETTER,
    CABLE_TITLES,
    LETTERS,
    about,
    bill_cells,
    cable_rows,
    grouped,
    marked,
    moves_any,
    name_of,
    names_of,
    paragraphs,
    step_words,
)
from fabopt.output.html.build import fabric_views
from fabopt.output.html.rendering import drawn, render
from fabopt.output.words import money, signed_money
from fabopt.schema.version import VERSION
from fabopt.units import usd

# A device or several alike in a drawing, as that is written, and what it says of itself.
_BOX = re.compile(r'<g class="box ([\w-]+)"([^>]*?aria-label="([^"]*)")')
_WIDTH = 100.0


class Bar(NamedTuple):
    """A cause of a difference in price: words, amount, its bar from ``start`` in percent of the width, its class."""

    what: str
    amount: str
    start: float
    width: float
    look: str


def differences_page(contrast: Contrast, mark: str = "") -> bytes:
    """Return the page as HTML, the same bytes for the same input. ``mark``: the sentence on files not proven."""
    letters = LETTERS[: len(contrast.sides)]
    others = zip(LETTERS[1:], contrast.against, strict=False)
    return render(
        "compare.html",
        version=VERSION,
        mark=mark,
        verdict=paragraphs(contrast),
        letters=letters,
        better=BETTER,
        sides=[
            (letter, about(name, side), side.notes)
            for letter, name, side in zip(letters, names_of(contrast), contrast.sides, strict=True)
        ],
        groups=[(group, [_cells(row) for row in rows]) for group, rows in grouped(contrast)],
        fabrics=list(_pictures(contrast)),
        staged=any(len(side.design.stages) > 1 for side in contrast.sides),
        against=[_against(contrast, letter, other) for letter, other in others],
        cable_titles=CABLE_TITLES,
    )


def _cells(row: Difference) -> tuple[str, list[tuple[str, str]]]:
    """Name of a figure, and text and class of each side's cell: those that are not as in A are coloured."""
    cells = []
    for number, figure in enumerate(row.figures):
        look = "differs" if figure.value != row.figures[0].value else ""
        if row.better and figure.value is not None:
            look = "good" if number in row.better else "bad"
        cells.append((marked(row, number), look))
    return name_of(row.name), cells


def _pictures(contrast: Contrast) -> Iterator[tuple[str, list[tuple[str, Any]], list[str]]]:
    """Of each fabric its name, the drawings of sides, boxes marked that the first side has not, and sides without."""
    columns = [
        {view.name: str(view.picture) for view in fabric_views(side.design, side.design.checks) if view.picture}
        for side in contrast.sides
    ]
    alone = len({len(column) for column in columns} | {1}) == 1
    columns = [dict(zip([""], column.values(), strict=True)) for column in columns] if alone else columns
    names = list(dict.fromkeys(name for column in columns for name in column))
    for name in names:
        drawings = dict(zip(LETTERS, (column.get(name, "") for column in columns), strict=False))
        lacking = [letter for letter, picture in drawings.items() if not picture]
        yield name, list(_beside(drawings)), lacking


def _beside(drawings: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    known = {match.group(3) for match in _BOX.finditer(drawings["A"])}

    def box(match: re.Match[str]) -> str:
        look = "" if match.group(3) in known else " other"
        return f'<g class="box {match.group(1)}{look}"{match.group(2)}'

    for letter, picture in drawings.items():
        if picture:
            yield letter, drawn(_BOX.sub(box, picture))


def _against(contrast: Contrast, letter: str, against: Against) -> tuple[Any, ...]:
    bill = [bill_cells(change) for change in against.bill]
    cables = cable_rows(against) if moves_any(against) else []
    return letter, list(_bars(contrast, letter, against)) if against.steps else [], bill, cables


def _bars(contrast: Contrast, letter: str, against: Against) -> Iterator[Bar]:
    """The price of the first side, each cause where the ones before end, and the price of the other side."""
    first, last = contrast.sides[0].cents, against.side.cents
    sums = [first]
    for step in against.steps:
        sums.append(sums[-1] + step.cents)
    low, high = min(0, *sums), max(1, *sums)

    def bar(what: str, amount: str, ends: tuple[int, int], look: str) -> Bar:
        start, end = ((_WIDTH * (cents - low)) / (high - low) for cents in sorted(ends))
        return Bar(what, amount, round(start, 2), round(max(end - start, 0.3), 2), look)

    yield bar("A", money(usd(first)), (0, first), "whole")
    for step, before, after in zip(against.steps, sums, sums[1:], strict=False):
        look = "more" if step.cents > 0 else "less"
        yield bar(step_words(step), signed_money(usd(step.cents)), (before, after), look)
    yield bar(letter, money(usd(last)), (0, last), "whole")
