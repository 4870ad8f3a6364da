"""Names and meanings of the variables and rows of the program, declared beside the code that adds them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fabopt.program.libraries import pulp

Method = TypeVar("Method", bound=Callable[..., None])


@dataclass(frozen=True)
class Variables:
    """The variables of one meaning. ``places``: the sets that the numbers after the prefix count; ``unit``: of their
    values.
    """

    prefix: str
    places: tuple[str, ...]
    unit: str
    meaning: str

    def integer(self, least: int, most: int, *places: object) -> pulp.LpVariable:
        """The variable at a place, an integer from ``least`` to ``most``."""
        return pulp.LpVariable(self._name(places), least, most, cat="Integer")

    def binary(self, *places: object) -> pulp.LpVariable:
        """The variable at a place, 0 or 1."""
        return pulp.LpVariable(self._name(places), cat="Binary")

    def _name(self, places: tuple[object, ...]) -> str:
        return "_".join((self.prefix, *map(str, places)))


@dataclass(frozen=True)
class Rule:
    """A method that adds rows, whose names begin with its own. ``page``: where it is explained."""

    add: Callable[..., None]
    page: str

    @property
    def name(self) -> str:
        """The rule's name, shared with the check in ``fabopt.verify`` if there is one."""
        return self.add.__name__

    @property
    def meaning(self) -> str:
        """The first paragraph of the method's docstring."""
        return " ".join((inspect.getdoc(self.add) or "").partition("\n\n")[0].replace("`", "").split())


# The page of every method that is marked as a rule, and whether its rows come before those of purchases.
_MARKED: dict[Callable[..., None], tuple[str, bool]] = {}


def rule(page: str, first: bool = False) -> Callable[[Method], Method]:
    """Mark a method that adds rows, as one of the rules of its class. ``first``: its rows come before all others."""

    def marked(method: Method) -> Method:
        _MARKED[method] = page, first
        return method

    return marked


def rules_of(holder: type, first: bool = False) -> tuple[Rule, ...]:
    """The rules of a class in the order of its methods: those that come ``first``, or the others."""
    methods = (method for method in vars(holder).values() if inspect.isfunction(method) and method in _MARKED)
    return tuple(Rule(method, _MARKED[method][0]) for method in methods if _MARKED[method][1] == first)


def add_rules(holder: object, first: bool = False) -> None:
    """Add the rows of the rules of an object's class."""
    for added in rules_of(type(holder), first):
        added.add(holder)
