"""The types of a schema at every place of its data."""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

# Steps to any entry of a list, and to what a word of the user's own names.
ENTRY = "[]"
OWN_WORD = "NAME"
Steps = tuple[str | int, ...]


def keys_at(model: type[BaseModel], steps: Steps) -> list[str]:
    """Return the keys a model knows at a place in its data; of every branch, where a union stands there."""
    return list(dict.fromkeys(key for branch in branches_at(model, steps) for key in _fields(branch)))


def branches_at(model: type[BaseModel], steps: Steps) -> list[Any]:
    """Return every type that a value may have at a place in a model's data."""
    kinds: list[Any] = [model]
    for step in steps:
        kinds = [inner for kind in kinds for inner in inside(kind, step)]
    return [branch for kind in kinds for branch in branches(kind)]


def _fields(kind: Any) -> dict[str, Any]:
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return {}
    return {field.alias or name: field.annotation for name, field in kind.model_fields.items()}


def branches(kind: Any) -> list[Any]:
    """Return every type that a value may have, without its bounds."""
    origin = get_origin(kind)
    if origin is Annotated:
        return branches(get_args(kind)[0])
    if origin in (Union, types.UnionType):
        return [branch for inner in get_args(kind) for branch in branches(inner)]
    return [kind]


def inside(kind: Any, step: str | int) -> list[Any]:
    """Return the types of the value at a key or an index of a type."""
    types: list[Any] = []
    for branch in branches(kind):
        arguments = get_args(branch)
        if isinstance(step, int) and get_origin(branch) is tuple:
            types.append(arguments[0])
        elif isinstance(step, str) and get_origin(branch) is dict:
            types.append(arguments[1])
        elif isinstance(step, str):
            fields = _fields(branch)
            types += [fields[step]] if step in fields else []
    return types


def entries(kind: Any) -> list[tuple[str, Any]]:
    """Return the types of the entries of a list, and of what words of the user's own name, each with the step to it."""
    arguments = get_args(kind)
    if get_origin(kind) is tuple:
        return [(ENTRY, inner) for inner in dict.fromkeys(arguments) if inner is not Ellipsis]
    return [(OWN_WORD, arguments[1])] if get_origin(kind) is dict else []
