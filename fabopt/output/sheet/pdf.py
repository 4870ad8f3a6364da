"""Sheets as the pages of a PDF of their true size, with texts that can be searched, in the Helvetica of readers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from fabopt.output.sheet.model import Box, DrawnSheet, Stroke, Text
from fabopt.output.sheet.svg import BEHIND
from fabopt.output.words import printable

_POINTS = 72 / 25.4
_DASHES, _SOLID = "[1.6 1.1] 0 d", "[] 0 d"
_FONTS = (
    "<< /Font << /F0 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    " /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >> >> >>"
)


def pdf_bytes(sheets: Sequence[DrawnSheet]) -> bytes:
    """Return sheets as one PDF; letters that Helvetica has not are question marks."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(sheets)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Count {len(sheets)} /Kids [{kids}] >>", _FONTS]
    for index, sheet in enumerate(sheets):
        size = f"[0 0 {sheet.width * _POINTS:.2f} {sheet.height * _POINTS:.2f}]"
        parts = f"/Resources 3 0 R /Contents {5 + 2 * index} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox {size} {parts} >>")
        content = "\n".join(_content(sheet))
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    file, places = "%PDF-1.7\n", list[int]()
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(file)}\n%%EOF\n"
    return f"{file}{head}{table}{trailer}".encode("ascii")


def _content(sheet: DrawnSheet) -> Iterator[str]:
    """The marks of a page: millimetres from its upper left corner, downwards."""
    yield f"{_POINTS:.5f} 0 0 {-_POINTS:.5f} 0 {sheet.height * _POINTS:.2f} cm"
    for holder in sheet.holders:
        yield _rect(holder)
    yield from map(_line, sheet.lines)
    for box in sheet.boxes:
        if box.stacked:
            yield _rect(box, BEHIND)
        yield _rect(box)
        if box.rail:
            yield f"{_colour(box.rail)} rg {box.x:.2f} {box.y + box.height - 1.4:.2f} {box.width:.2f} 1.4 re f"
        yield from map(_text, box.texts)
    yield from map(_text, sheet.texts)


def _rect(box: Box, off: float = 0.0) -> str:
    place = f"{box.x + off:.2f} {box.y + off:.2f} {box.width:.2f} {box.height:.2f} re"
    return f"{_colour(box.fill)} rg {_colour(box.edge)} RG 0.3 w {_DASHES if box.dashed else _SOLID} {place} B"


def _line(line: Stroke) -> str:
    (x, y), *others = line.points
    path = f"{x:.2f} {y:.2f} m " + " ".join(f"{x:.2f} {y:.2f} l" for x, y in others)
    return f"{_colour(line.colour)} RG {line.width:.2f} w {_DASHES if line.dashed else _SOLID} {path} S"


def _text(text: Text) -> str:
    ground = ""
    if text.ground:
        place = f"{text.left:.2f} {text.y - text.size * 0.85:.2f} {text.width:.2f} {text.size * 1.1:.2f}"
        ground = f"{_colour(text.ground)} rg {place} re f "
    font = f"/F{int(text.bold)} {text.size:g} Tf 1 0 0 -1 {text.inked_left:.2f} {text.y:.2f} Tm"
    return f"{ground}BT {_colour(text.fill)} rg {font} ({_words(text.words)}) Tj ET"


def _words(words: str) -> str:
    """Text between brackets: each letter that is not plain as the number that it has in Windows-1252."""
    plain = "".join(letter for letter in _decomposed(printable(words)) if not unicodedata.combining(letter))
    codes = plain.encode("cp1252", "replace")
    return "".join(chr(code) if 32 <= code < 127 and chr(code) not in "()\\" else f"\\{code:03o}" for code in codes)


def _decomposed(words: str) -> str:
    """Letters with an accent that Windows-1252 has not as the letter and its accent."""
    has = (letter.encode("cp1252", "ignore") for letter in words)
    return "".join(
        letter if code else unicodedata.normalize("NFKD", letter) for letter, code in zip(words, has, strict=True)
    )


def _colour(colour: str) -> str:
    return " ".join(f"{int(colour[at : at + 2], 16) / 255:.3f}" for at in (1, 3, 5))
