"""Names and meanings of the variables and rows of the program, declared beside the code that adds them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fabopt.program.libraries import pulp

Holder = TypeVar("Holder")


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
class Rule(Generic[Holder]):
    """A method that adds rows, whose names begin with its own. ``page``: where it is explained."""

    add: Callable[[Holder], None]
    page: str

    @property
    def name(self) -> str:
        """The rule's name, shared with the check in ``fabopt.verify`` if there is one."""
        return self.add.__name__

    @property
    def meaning(self) -> str:
        """The first paragraph of the method's docstring."""
        return " ".join((inspect.getdoc(self.add) or "").partition("\n\n")[0].replace("`", "").split())
