"""Bounds that are worked out once for all fabrics with the same hardware over the same runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class Scope:
    """A store of bounds by method and arguments, for some weights, hardware and runs."""

    def __init__(self) -> None:
        self.known: dict[Hashable, object] = {}


class Scopes(dict[tuple[str, ...], Scope]):
    """The stores of bounds by the kinds of links on whose runs they depend; ``scope_of``: of some kinds, made once."""

    def __init__(self, scope_of: Callable[[tuple[str, ...]], Scope]) -> None:
        self._scope_of = scope_of

    def __missing__(self, runs: tuple[str, ...]) -> Scope:
        scope = self[runs] = self._scope_of(runs)
        return scope


class Scoped(Protocol):
    """An object that works out bounds."""

    @property
    def scopes(self) -> Scopes:
        """The stores of bounds by the kinds of links on whose runs they depend."""


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
            known, key = self.scopes[runs].known, (method, args)
            try:
                return known[key]  # type: ignore[return-value]  # of this method; a cast is one call more
            except KeyError:
                pass
            bound = known[key] = method(self, *args, **kwargs)
            return bound

        return look_up

    return wrap
