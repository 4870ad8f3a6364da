"""Bounds that are worked out once for all fabrics with the same hardware over the same runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast


class Scope:
    """A store of bounds by method and arguments, for some weights, hardware and runs."""

    def __init__(self) -> None:
        self.known: dict[Hashable, object] = {}


class Scoped(Protocol):
    """An object that works out bounds."""

    def scope(self, runs: tuple[str, ...]) -> Scope:
        """The store of bounds that depend on the runs of these kinds of links."""


Of = TypeVar("Of", bound=Scoped)
Arguments = ParamSpec("Arguments")
Bound = TypeVar("Bound")
_Method = Callable[Concatenate[Of, Arguments], Bound]


def remembered(*runs: str) -> Callable[[_Method[Of, Arguments, Bound]], _Method[Of, Arguments, Bound]]:
    """Work a method out once for each set of (positional, hashable) arguments.

    ``runs``: the kinds of links whose runs it depends on; fabrics that differ in other ways share its results.
    """

    def wrap(method: _Method[Of, Arguments, Bound]) -> _Method[Of, Arguments, Bound]:
        def look_up(self: Of, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Bound:
            known, key = self.scope(runs).known, (method, args)
            try:
                return cast(Bound, known[key])
            except KeyError:
                pass
            bound = known[key] = method(self, *args, **kwargs)
            return bound

        return look_up

    return wrap
