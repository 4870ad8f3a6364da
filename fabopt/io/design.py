"""Reading a saved design, or a plan: JSON, as strict as a case."""

from __future__ import annotations

import contextlib
import json
from functools import partial
from pathlib import Path
from typing import Any

from fabopt.errors import Fault, InputError, cut, fault, refusal
from fabopt.io.faults import MAX_FAULTS, document_of, refuse, refuse_any, validated
from fabopt.io.library import (
    MAX_FRONT_BYTES,
    MAX_INPUT_BYTES,
    STANDARD_STREAM,
    check_is_file,
    check_values,
    read_bytes,
    read_standard_input,
    shown,
    too_large,
)
from fabopt.io.text import DESIGN, FRONT, Kind, parse_yaml, recognized
from fabopt.schema.case import Case
from fabopt.schema.design import Design, Front
from fabopt.schema.plan import PlanFile

# The key that a sweep or front has and a design has not.
_POINTS = "points"


def read_design(path: Path | str) -> Design:
    """Return the design in a JSON file (``-``: standard input); ``InputError`` lists all faults.

    The case in it is read like a case file; whether the rest is true is not asked here.
    """
    file = _shown(path)
    return whole_design(document_of(Design, parse_json(_bytes(path, DESIGN), file, DESIGN), file), file)


def design_in(content: object, file: str) -> Design:
    """Return the design that is an entry of another file, read as strictly."""
    return whole_design(document_of(Design, content, file), file)


def read_front(path: Path | str) -> Front:
    """Return the sweep or front in a JSON file, like ``read_design``."""
    file = _shown(path)
    return document_of(Front, parse_json(_bytes(path, FRONT), file, FRONT), file)


def read_design_or_front(path: Path | str) -> Design | Front:
    """Return whichever of the two is in a JSON file."""
    file, data = _shown(path), _bytes(path, FRONT)
    if len(data) > MAX_INPUT_BYTES and f'"{_POINTS}"'.encode() not in data:
        raise too_large(file, MAX_INPUT_BYTES)
    content = parse_json(data, file)
    kind = FRONT if isinstance(content, dict) and _POINTS in content else DESIGN
    kind.refuse_others(content, file)
    return (
        document_of(Front, content, file) if kind is FRONT else whole_design(document_of(Design, content, file), file)
    )


def whole_design(design: Design, file: str) -> Design:
    """Return a design whose case can be read like a case file; ``InputError`` lists its faults."""
    faults: list[Fault] = []
    if validated(Case, design.case.content, file, faults, ("case", "content")) is None:
        raise refuse(faults)
    return design


def _bytes(path: Path | str, kind: Kind) -> bytes:
    most = MAX_FRONT_BYTES if kind is FRONT else MAX_INPUT_BYTES
    if str(path) == STANDARD_STREAM:
        return read_standard_input()
    check_is_file(str(path))
    return read_bytes(Path(path), most)


def _shown(path: Path | str) -> str:
    return "<standard input>" if str(path) == STANDARD_STREAM else shown(Path(path))


def parse_json(data: bytes, file: str, kind: Kind | None = None) -> Any:
    """Return the value of a JSON file; keys given twice and numbers that are not finite are refused.

    ``kind``: what the file must be, before any message quotes it. Values are counted before any is made.
    """
    check_values(data, file)
    faults: list[Fault] = []
    try:
        content = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=partial(_object, file, faults), parse_constant=_constant
        )
    except UnicodeDecodeError:
        raise refusal(file, "", "not UTF-8 text") from None
    except json.JSONDecodeError as error:
        if other := _refused_as_yaml(data, file, kind or DESIGN):
            raise other from None
        raise refusal(
            file, f"line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}", hint=(kind or DESIGN).hint
        ) from None
    except RecursionError:
        raise refusal(file, "", "nested too deeply") from None
    except ValueError as error:
        raise refusal(file, "", str(error)) from None
    if kind:
        kind.refuse_others(content, file)
    refuse_any(faults)
    return content


def _refused_as_yaml(data: bytes, file: str, kind: Kind) -> InputError | None:
    """The refusal of a file of another kind that is written as YAML."""
    with contextlib.suppress(InputError):
        content = parse_yaml(data, file)
        return kind.refusal(content, file) if recognized(content) else None
    return None


def _object(file: str, faults: list[Fault], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen and len(faults) <= MAX_FAULTS:
                faults.append(fault(file, "", f"the key `{cut(key)}` is given twice"))
            seen.add(key)
    return content


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not a finite number")


# -- plans ------------------------------------------------------------------------------------------------------------


PLAN = Kind("plan", tuple(PlanFile.model_fields), "`fabopt export DESIGN.json --to plan` writes one")
# Twice what a plan of 24,576 GPUs has.
MAX_PLAN_BYTES = 40_000_000


def read_plan(path: str) -> PlanFile:
    """Return the plan in a YAML file; ``InputError`` lists all faults."""
    file = shown(Path(path))
    content = parse_yaml(read_bytes(Path(path), MAX_PLAN_BYTES), file, PLAN)
    return document_of(PlanFile, content, file)
