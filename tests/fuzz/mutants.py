"""Values and texts with something wrong in them, drawn from a seed."""

from __future__ import annotations

import copy
import json
import math
from random import Random
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 0.5, -0.0, 1e-300, 1e308, math.inf, -math.inf, math.nan, 10**6, 10**9, 10**12,
    10**30, "", " ", "any", "none", "1", "-1", "1e9", "0x10", "1x400", "0x0", "4x100", "NxG", "QSFP-DD", "leaf",
    "../x", "/etc/passwd", "~", "a,b", "leaf-001", "\uff1d1+1", " =1", "\xad=1", "\x00", "\ud800", "x" * 500,
    "9" * 5000, [], {}, [None], [1, 2, 3], ["any"], {"name": "x"}, {"from": 1, "usd": 1}, [{}], [[]],
)  # fmt: skip
SNIPPETS = (
    "\t", "\n", "&a ", "*a", "<<: ", "!!int ", "!x ", "---\n", "...\n", "{", "}", "[", "]", ": ", "- ", "? ", "| ",
    "> ", "%YAML 1.1\n", "#", '"', "'", "\\", "\x00", "\x85", "\u2028", "\ufeff", "1e999", ".nan", "0o7", "1_0",
    "[" * 80, "{a: " * 80, "&a [*a, *a]", "9" * 60, '"\\ud800"', "yes", "2026-01-01", "null", "-1", "0",
)  # fmt: skip


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a nested object, the outermost aside."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [place for key, value in items for place in ((*path, key), *places(value, (*path, key)))]


def near(dice: Random, value: Any) -> Any:
    """A value of the same type, not far from this one."""
    if isinstance(value, bool) or value is None:
        return dice.choice([True, False, None])
    if isinstance(value, int | float):
        return dice.choice([value + 1, value - 1, -value, value * 2, value / 2, value * 1000, round(value * 1.1, 3)])
    if isinstance(value, str):
        return dice.choice([value + " ", value.upper(), value[:-1], value + "x", value[::-1], value * 2])
    return copy.deepcopy(value)


def mutant(dice: Random, content: Any) -> Any:
    """A copy with one to three things changed: dropped, replaced, doubled, renamed, moved or added."""
    content = copy.deepcopy(content)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        options = places(content)
        if not options:
            return content
        *path, key = dice.choice(options)
        parent = content
        for step in path:
            parent = parent[step]
        _change(dice, content, parent, key)
    return content


def _change(dice: Random, content: Any, parent: Any, key: Any) -> None:
    how = dice.choice(["drop", "odd", "near", "near", "near", "near", "near", "double", "rename", "graft"])
    if how == "drop":
        del parent[key]
    elif how == "odd":
        parent[key] = copy.deepcopy(dice.choice(ODD_VALUES))
    elif how == "near":
        parent[key] = near(dice, parent[key])
    elif how == "double" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif how == "rename" and isinstance(parent, dict):
        parent[str(dice.choice(ODD_VALUES))[:40]] = parent.pop(key)
    else:
        *path, other = dice.choice(places(content))
        value = content
        for step in (*path, other):
            value = value[step]
        parent[key] = copy.deepcopy(value)


def spoilt(dice: Random, text: str) -> bytes:
    """The text with stretches of it replaced, in UTF-8 but for lone surrogates."""
    for _ in range(dice.randint(1, 4)):
        start, length = dice.randint(0, len(text)), dice.randint(0, 12)
        text = text[:start] + dice.choice(SNIPPETS) + text[start + length :]
    return text.encode("utf-8", "surrogatepass")


def as_text(content: Any) -> bytes:
    """JSON, which is YAML too; numbers that JSON does not have as YAML writes them."""
    text = json.dumps(content, indent=1)
    for word, yaml_word in (("-Infinity", "-.inf"), ("Infinity", ".inf"), ("NaN", ".nan")):
        text = text.replace(f": {word}", f": {yaml_word}")
    return text.encode("utf-8", "surrogatepass")
