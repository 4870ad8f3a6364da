"""Bounds that fabrics with equal keys share, each worked out for every fabric anew and compared with the first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.remembered import Scope


class _OwnBounds(dict[Hashable, object]):
    """The bounds of one fabric, each held against that of the first fabric with the same key."""

    def __init__(self, shared: dict[Hashable, object], told: Path) -> None:
        self.shared = shared
        self.told = told

    def __setitem__(self, key: Hashable, bound: object) -> None:
        super().__setitem__(key, bound)
        if not alike(self.shared.setdefault(key, bound), bound):
            method = key[0] if isinstance(key, tuple) else key
            with self.told.open("a") as told:  # processes that look at rows write too
                told.write(f"{getattr(method, '__qualname__', method)}\n")


def alike(one: Any, other: Any) -> bool:
    """Whether two bounds are equal, arrays and objects field by field."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool((one == other).all())
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, Sequence) and not isinstance(one, str | bytes):
        return len(one) == len(other) and all(map(alike, one, other))
    if not is_dataclass(one) and not hasattr(one, "__dict__"):
        return bool(one == other)
    if is_dataclass(one):
        return all(alike(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return alike(vars(one), vars(other))


def compare_shared_bounds(patch: pytest.MonkeyPatch, told: Path) -> None:
    """From now on, share no bounds, and write the method of each that would have been wrong into a file."""
    known = BoundedCosts.scope

    def scope(costs: BoundedCosts, hardware: Hashable) -> Scope:
        own = Scope()
        own.known = _OwnBounds(known(costs, hardware).known, told)
        return own

    patch.setattr(BoundedCosts, "scope", scope)
