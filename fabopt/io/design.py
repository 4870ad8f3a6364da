"""Reading a saved design: JSON, as strict as a case."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from fabopt.errors import Fault, InputError, cut, fault
from fabopt.io.faults import Model, refuse, validated
from fabopt.io.files import (
    MAX_FRONT_BYTES,
    MAX_INPUT_BYTES,
    STANDARD_STREAM,
    read_bytes,
    read_standard_input,
    shown,
)
from fabopt.io.kinds import DESIGN, FRONT, Kind
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.front import Front


def read_design(path: Path | str) -> Design:
    """Return the design in a JSON file (``-``: standard input); ``InputError`` lists all faults.

    The case in it is read like a case file; whether the rest is true is not asked here.
    """
    design, faults = _read(Design, path, DESIGN), list[Fault]()
    if validated(Case, design.case.content, _shown(path), faults, ("case", "content")) is None:
        raise refuse(faults)
    return design


def read_front(path: Path | str) -> Front:
    """Return the sweep or front in a JSON file, like ``read_design``."""
    return _read(Front, path, FRONT)


def _read(model: type[Model], path: Path | str, kind: Kind) -> Model:
    file = _shown(path)
    most = MAX_FRONT_BYTES if kind is FRONT else MAX_INPUT_BYTES
    data = read_standard_input() if str(path) == STANDARD_STREAM else read_bytes(Path(path), most)
    faults: list[Fault] = []
    document = validated(model, parse_json(data, file, kind), file, faults)
    if document is None:
        raise refuse(faults)
    return document


def _shown(path: Path | str) -> str:
    return "<standard input>" if str(path) == STANDARD_STREAM else shown(Path(path))


def parse_json(data: bytes, file: str, kind: Kind | None = None) -> Any:
    """Return the value of a JSON file; keys given twice and numbers that are not finite are refused.

    ``kind``: what the file must be, before any message quotes it.
    """
    faults: list[Fault] = []
    try:
        content = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=partial(_object, file, faults), parse_constant=_constant
        )
    except UnicodeDecodeError:
        raise InputError([fault(file, "", "not UTF-8 text")]) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError([fault(file, where, f"not JSON: {error.msg}", hint=kind.hint if kind else "")]) from None
    except RecursionError:
        raise InputError([fault(file, "", "nested too deeply")]) from None
    except ValueError as error:
        raise InputError([fault(file, "", str(error))]) from None
    refusal = kind and kind.refusal(content, file)
    if refusal:
        raise refusal
    if faults:
        raise refuse(faults)
    return content


def _object(file: str, faults: list[Fault], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                faults.append(fault(file, "", f"the key `{cut(key)}` is given twice"))
            seen.add(key)
    return content


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not a finite number")
