"""Bounds that are worked out once for all fabrics that have the same hardware over the same runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast


class Scope:
    """The weights, the hardware and the runs that bounds follow from, with these bounds by method and arguments."""

    def __init__(self) -> None:
        self.known: dict[Hashable, object] = {}


class Scoped(Protocol):
    """Whatever works bounds out."""

    def scope(self, runs: tuple[str, ...]) -> Scope:
        """What its bounds follow from that depend on the runs of these kinds of links."""


Of = TypeVar("Of", bound=Scoped)
Arguments = ParamSpec("Arguments")
Bound = TypeVar("Bound")
_Method = Callable[Concatenate[Of, Arguments], Bound]


def remembered(*runs: str) -> Callable[[_Method[Of, Arguments, Bound]], _Method[Of, Arguments, Bound]]:
    """Work a method out once for each set of (positional, hashable) arguments.

    ``runs``: the kinds of links whose runs it depends on; fabrics that differ in other ways share what it gives.
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
