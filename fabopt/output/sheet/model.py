"""What is on a sheet, in millimetres from its upper left corner: shapes and texts, each where it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.output.sheet.qr import QrPath
from fabopt.output.words import printable

# Sizes of texts in millimetres (7, 8.5, 11 and 17 points): the smallest is read on paper at arm's length.
SMALL, NORMAL, LARGE, HUGE = 2.5, 3.0, 4.0, 6.0
INK, FADED, LINE, PAPER, ALARM = "#1f2933", "#52606d", "#8796a5", "#ffffff", "#c00000"
# How far the edge of a box for several devices looks out behind it, in millimetres.
BEHIND = 1.2
# Fill and edge of what has a role.
ROLES = {
    "core": ("#fbeee6", "#9c4221"),
    "spine": ("#e4eef8", "#1d4e89"),
    "leaf": ("#e6f4ee", "#2a7f62"),
    "server": ("#efeaf6", "#7b5e9e"),
    "attachment": ("#f1f3f5", "#52606d"),
}
RAILS = ("#1b6ca8", "#c0392b", "#2e8b57", "#b7791f", "#7d3c98", "#0e7c86", "#a04070", "#5d6d1e")
# Widths of letters of Helvetica, which Arial and Liberation Sans share, in thousandths of their size.
_WIDTHS = {
    222: "ijl'|", 278: " !,./:;I[]\\ft", 333: '-()r`{}"', 389: "*", 500: "ckszxvyJ·–",
    556: "0123456789abdeghnopquL_?$#",
    584: "+<=>~×", 611: "FTZ", 667: "ABEKPSVXY&", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W",
}  # fmt: skip
_WIDTH_OF = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
# Letters that are not in the table are no wider; bold ones, and other fonts, not much.
_WIDEST, _SPARE, _BOLD = 1100, 1.04, 1.09
# The width of all letters of a monospaced font by its size: Courier's. DejaVu's are the widest.
MONO, WIDEST_MONO = 0.6, 0.603
# What of a text is left of its anchor.
_SHARES = {"start": 0.0, "middle": 0.5, "end": 1.0}


@dataclass(frozen=True)
class Text:
    """Words on a line. ``x``, ``y``: its base line; ``anchor``: start, middle or end; ``ground``: a colour behind."""

    x: float
    y: float
    words: str
    size: float = SMALL
    fill: str = INK
    anchor: str = "start"
    bold: bool = False
    ground: str = ""

    @property
    def width(self) -> float:
        """Millimetres from its first letter to its last, rather too many."""
        return width_of(self.words, self.size, self.bold)

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.x - _SHARES[self.anchor] * self.width

    def inked_left(self, mono: bool) -> float:
        """Where it begins when it is set in Helvetica, or in a monospaced font."""
        width = len(self.words) * MONO * self.size if mono else self.width / _SPARE
        return self.x - _SHARES[self.anchor] * width


@dataclass(frozen=True)
class Box:
    """A rectangle: a device, several alike (``stacked``), or what holds others (``node`` is below 0).

    ``layer``: the role of its devices, or what else it is; ``about``: in words, for who points at it, and
    ``name``: its devices in them. ``rail``: the colour of its rail.
    """

    x: float
    y: float
    width: float
    height: float
    fill: str
    edge: str
    layer: str
    texts: tuple[Text, ...] = ()
    node: int = -1
    stacked: bool = False
    dashed: bool = False
    about: str = ""
    rail: str = ""
    name: str = ""


@dataclass(frozen=True)
class Stroke:
    """Links of two boxes as a line through points.

    ``a``, ``b``: the nodes at its first and last point, below 0 where it is of several.
    """

    points: tuple[tuple[float, float], ...]
    colour: str = LINE
    width: float = 0.3
    dashed: bool = False
    a: int = -1
    b: int = -1


@dataclass(frozen=True)
class Code:
    """A QR code."""

    x: float
    y: float
    side: float
    path: QrPath


@dataclass(frozen=True)
class DrawnSheet:
    """A page: what holds others, then lines, boxes, texts and codes, in the order in which they are drawn.

    ``mono``: its font has letters of one width.
    """

    title: str
    width: float
    height: float
    holders: tuple[Box, ...]
    lines: tuple[Stroke, ...]
    boxes: tuple[Box, ...]
    texts: tuple[Text, ...]
    codes: tuple[Code, ...] = ()
    mono: bool = False


def width_of(words: str, size: float, bold: bool = False) -> float:
    """Return the width of words in millimetres, rather too wide than too narrow."""
    letters = sum(_WIDTH_OF.get(letter, _WIDEST) for letter in words)
    return letters * size * _SPARE * (_BOLD if bold else 1) / 1000


def fitting(room: float, size: float, *ways: str, bold: bool = False) -> str:
    """Return the first of several ways to say a thing that fits, else as much of the last as does."""
    ways = tuple(" ".join(printable(words).split()) for words in ways)
    for words in ways:
        if width_of(words, size, bold) <= room:
            return words
    cut = ways[-1]
    while cut and width_of(f"{cut}…", size, bold) > room:
        cut = cut[:-1]
    return f"{cut}…" if cut else ""


def wrapped(room: float, size: float, words: str, most: int) -> list[str]:
    """Return words as at most so many lines; what no line has room for is cut."""
    lines = [""]
    for word in " ".join(printable(words).split()).split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    kept = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [fitting(room, size, line) for line in kept if line]
