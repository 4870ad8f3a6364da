"""What an object holds, all the way down, so that a change of any part of it can be seen."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import BaseModel

PLAIN = (str, bytes, int, float, Fraction, Enum, type(None))


def fields(one: object) -> dict[str, object]:
    """Attributes of an object, without those that follow from the others and are worked out when asked for."""
    return {
        name: value
        for name, value in vars(one).items()
        if not isinstance(getattr(type(one), name, None), cached_property)
    }


def parts(one: object) -> Iterator[object]:
    """What an object holds, one level down; nothing of plain values, models and arrays."""
    if isinstance(one, Mapping):
        yield from one
        yield from one.values()
    elif isinstance(one, (tuple, list, set, frozenset)):
        yield from one
    elif not isinstance(one, (*PLAIN, BaseModel, np.ndarray, type)) and hasattr(one, "__dict__"):
        yield from fields(one).values()


def within(one: object) -> Iterator[object]:
    """Everything that an object holds, itself first, each once."""
    open_, met = [one], dict[int, object]()
    while open_:
        each = open_.pop()
        if id(each) not in met:
            met[id(each)] = each
            yield each
            open_ += parts(each)


def fingerprint(one: object) -> Hashable:
    """Equal as long as nothing that an object holds is added, left out or exchanged."""
    return tuple((id(each), _own(each)) for each in within(one))


def _own(one: Any) -> Hashable:
    """What an object is, but for what is looked at one by one."""
    if isinstance(one, BaseModel):
        return one.model_dump_json()
    if isinstance(one, np.ndarray):
        return one.tobytes()
    if isinstance(one, (set, frozenset)):
        return frozenset(map(id, one))
    return tuple(map(id, parts(one))) if not isinstance(one, PLAIN) else repr(one)


MUTABLE = (list, dict, set, bytearray)


def mutable_parts(one: object) -> list[object]:
    """Containers within an object that could be changed in place."""
    return [each for each in within(one) if isinstance(each, MUTABLE)]
