"""A reader of QR codes, written from ISO/IEC 18004: versions 1 and 2 at level M, alphanumeric, without damage."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
Grid = list[list[int]]
MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda y, x: (y + x) % 2 == 0,
    lambda y, x: y % 2 == 0,
    lambda y, x: x % 3 == 0,
    lambda y, x: (y + x) % 3 == 0,
    lambda y, x: (y // 2 + x // 3) % 2 == 0,
    lambda y, x: y * x % 2 + y * x % 3 == 0,
    lambda y, x: (y * x % 2 + y * x % 3) % 2 == 0,
    lambda y, x: ((y + x) % 2 + y * x % 3) % 2 == 0,
)


def grid_of(size: int, path: str) -> Grid:
    """The modules of a code that is drawn as lines from left to right, one for each row."""
    grid = [[0] * size for _ in range(size)]
    for row, line in re.findall(r"M0 ([\d.]+)((?:[hm]\d+(?: 0)?)+)", path):
        x = 0
        for step, length in re.findall(r"([hm])(\d+)", line):
            for at in range(x, x + int(length)):
                grid[int(float(row))][at] = int(step == "h")
            x += int(length)
        assert x == size
    return grid


def read(grid: Grid) -> str:
    """The letters of a code."""
    size = len(grid)
    assert size in (21, 25), "only versions 1 and 2"
    known = [grid[8][x] for x in (0, 1, 2, 3, 4, 5, 7, 8)] + [grid[y][8] for y in (7, 5, 4, 3, 2, 1, 0)]
    written = int("".join(map(str, known)), 2) ^ 0b101010000010010
    assert written >> 13 == 0b00, "level M"
    mask = MASKS[written >> 10 & 0b111]
    bits = [grid[y][x] ^ mask(y, x) for y, x in places(size)]
    data = bits[: (16 if size == 21 else 28) * 8]
    assert data[:4] == [0, 0, 1, 0], "alphanumeric"

    def number(first: int, length: int) -> int:
        return int("".join(map(str, data[first : first + length])), 2)

    count, at, letters = number(4, 9), 13, ""
    while len(letters) < count - 1:
        letters += ALPHANUMERIC[number(at, 11) // 45] + ALPHANUMERIC[number(at, 11) % 45]
        at += 11
    return letters + (ALPHANUMERIC[number(at, 6)] if len(letters) < count else "")


def places(size: int) -> Iterator[tuple[int, int]]:
    """Where the bits are: in columns of two from the right, up and down by turns."""
    upward = True
    for right in (x for x in range(size - 1, 0, -2)):
        column = right if right > 6 else right - 1
        for y in range(size - 1, -1, -1) if upward else range(size):
            yield from ((y, x) for x in (column, column - 1) if not is_function(y, x, size))
        upward = not upward


def is_function(y: int, x: int, size: int) -> bool:
    """Whether a module belongs to a pattern, or to what says which mask it is."""
    corner = (y < 9 and x < 9) or (y < 9 and x >= size - 8) or (y >= size - 8 and x < 9)
    aligned = size == 25 and 16 <= y <= 20 and 16 <= x <= 20
    return corner or aligned or y == 6 or x == 6
