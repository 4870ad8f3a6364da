"""Lines of files for other programs: rows of JSON, keys of YAML, and XML."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, ElementTree, indent

from fabopt.operate.model import OperationPlan


def head_lines(plan: OperationPlan, about: str = "", fabric: str = "") -> tuple[str, str]:
    """The begin of a file of YAML: whose plan it has, and what is said of it."""
    return "---", f"# {plan.case}, {f'fabric {fabric}, ' * bool(fabric)}stage {plan.stage}{about}"


def json_rows(rows: Sequence[object]) -> Iterator[str]:
    """The entries of a list in JSON, a line each."""
    yield from (f"{json.dumps(row)}{',' if number < len(rows) else ''}" for number, row in enumerate(rows, 1))


def yaml_lines(content: Mapping[str, object]) -> Iterator[str]:
    """Keys with their values in YAML, a line each, and one for each entry of a list."""
    for key, value in content.items():
        if isinstance(value, list):
            yield from yaml_list(key, map(json.dumps, value))
        else:
            yield f"{key}: {json.dumps(value)}"


def yaml_list(key: str, rows: Iterable[str], margin: str = "") -> Iterator[str]:
    """A key with a list in YAML, an entry a line; ``margin``: before each line."""
    lines = [f"{margin}- {row}" for row in rows]
    yield from (f"{margin}{key}:", *lines) if lines else (f"{margin}{key}: []",)


def xml_bytes(root: Element) -> bytes:
    """An XML file of an element, indented."""
    indent(root)
    stream = io.BytesIO()
    ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
    return stream.getvalue() + b"\n"
