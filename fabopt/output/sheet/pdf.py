"""Sheets as the pages of a PDF of their true size, with texts that can be searched.

Its fonts are Helvetica and Courier, which every reader has (ISO 32000-1, 9.6.2.2).
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from functools import cache

from fabopt.output.sheet.model import BEHIND, Box, Code, DrawnSheet, Stroke, Text
from fabopt.output.words import printable

_POINTS = 72 / 25.4
_ESCAPES = str.maketrans({letter: f"\\{ord(letter):03o}" for letter in "()\\"})
_DASHES, _SOLID = "[1.6 1.1] 0 d", "[] 0 d"
_FONTS = "".join(
    f"/F{number} << /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >> "
    for number, name in enumerate(("Helvetica", "Helvetica-Bold", "Courier", "Courier-Bold"))
)


def pdf_bytes(sheets: Sequence[DrawnSheet]) -> bytes:
    """Return sheets as one PDF; letters that its fonts have not are question marks."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(sheets)))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Count {len(sheets)} /Kids [{kids}] >>".encode()]
    objects.append(f"<< /Font << {_FONTS}>> >>".encode())
    for index, sheet in enumerate(sheets):
        size = f"[0 0 {sheet.width * _POINTS:.2f} {sheet.height * _POINTS:.2f}]"
        parts = f"/Resources 3 0 R /Contents {5 + 2 * index} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox {size} {parts} >>".encode())
        content = zlib.compress("\n".join(_content(sheet)).encode("ascii"))
        head = f"<< /Length {len(content)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + content + b"\nendstream")
    # a line of bytes above 127 tells programs that the file is not text
    file, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), list[int]()
    for number, entry in enumerate(objects, start=1):
        places.append(len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, entry)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head_of_table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(file)}\n%%EOF\n"
    return bytes(file) + f"{head_of_table}{table}{trailer}".encode()


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
        yield from (_text(text, sheet.mono) for text in box.texts)
    yield from (_text(text, sheet.mono) for text in sheet.texts)
    yield from map(_code, sheet.codes)


def _rect(box: Box, off: float = 0.0) -> str:
    place = f"{box.x + off:.2f} {box.y + off:.2f} {box.width:.2f} {box.height:.2f} re"
    return f"{_colour(box.fill)} rg {_colour(box.edge)} RG 0.3 w {_DASHES if box.dashed else _SOLID} {place} B"


def _line(line: Stroke) -> str:
    (x, y), *others = line.points
    path = f"{x:.2f} {y:.2f} m " + " ".join(f"{x:.2f} {y:.2f} l" for x, y in others)
    return f"{_colour(line.colour)} RG {line.width:.2f} w {_DASHES if line.dashed else _SOLID} {path} S"


def _text(text: Text, mono: bool) -> str:
    ground = ""
    if text.ground:
        place = f"{text.left:.2f} {text.y - text.size * 0.85:.2f} {text.width:.2f} {text.size * 1.1:.2f}"
        ground = f"{_colour(text.ground)} rg {place} re f "
    font = f"/F{2 * mono + text.bold} {text.size:g} Tf 1 0 0 -1 {text.inked_left(mono):.2f} {text.y:.2f} Tm"
    return f"{ground}BT {_colour(text.fill)} rg {font} ({_words(text.words)}) Tj ET"


def _code(code: Code) -> str:
    scale = code.side / code.path.size
    return f"q {scale:.4f} 0 0 {scale:.4f} {code.x:.2f} {code.y:.2f} cm 0 g {code.path.rectangles} f Q"


def _words(words: str) -> str:
    """Text between brackets: each letter that is not plain as the number that it has in Windows-1252."""
    if words.isascii() and words.isprintable():
        return words.translate(_ESCAPES)
    plain = "".join(letter for letter in _decomposed(printable(words)) if not unicodedata.combining(letter))
    codes = plain.encode("cp1252", "replace")
    return "".join(chr(code) if 32 <= code < 127 and chr(code) not in "()\\" else f"\\{code:03o}" for code in codes)


def _decomposed(words: str) -> str:
    """Letters with an accent that Windows-1252 has not as the letter and its accent."""
    has = (letter.encode("cp1252", "ignore") for letter in words)
    return "".join(
        letter if code else unicodedata.normalize("NFKD", letter) for letter, code in zip(words, has, strict=True)
    )


@cache
def _colour(colour: str) -> str:
    return " ".join(f"{int(colour[at : at + 2], 16) / 255:.3f}" for at in (1, 3, 5))
