"""Values worked out once for an unchanging owner, and kept as long as it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, ParamSpec, TypeVar
from weakref import finalize

Owner = TypeVar("Owner")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")


class Lookup(Generic[Owner, Key, Value]):
    """Values that follow from an owner and a key alone, each worked out once and forgotten with the owner.

    The owner is told apart by identity and is not changed. No value may lead back to its owner, which would then never
    be let go.
    """

    def __init__(self) -> None:
        self._tables: dict[int, dict[Key, Value]] = {}  # by the identity of owners that are alive

    def table(self, owner: Owner) -> dict[Key, Value]:
        """The values of an owner that have been worked out, by key."""
        table = self._tables.get(id(owner))
        if table is None:
            table = self._tables[id(owner)] = {}
            finalize(owner, self._tables.pop, id(owner)).atexit = False
        return table

    def of(
        self,
        owner: Owner,
        key: Key,
        work_out: Callable[Arguments, Value],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Value:
        """The value of a key; the first time that of ``work_out(*args, **kwargs)``."""
        try:
            return self._tables[id(owner)][key]
        except KeyError:
            pass
        value = self.table(owner)[key] = work_out(*args, **kwargs)
        return value

    def __len__(self) -> int:
        """Number of owners with any value."""
        return len(self._tables)
