"""Many candidates of the same hardware whose leaves are joined to each other, as arrays."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from fabopt.topology.clos.shape import Shape
from fabopt.topology.direct.loads import Ints


class NetworkArrays(Protocol):
    """Many networks of a family as arrays."""

    @property
    def numbers(self) -> Ints:
        """The family's own numbers, which tell networks apart, shape (networks, numbers)."""

    def take(self, index: Any) -> Self:
        """Some of the networks, by their places."""


AnyNetworks = TypeVar("AnyNetworks", bound=NetworkArrays)


@dataclass(frozen=True)
class SwitchedShape(Generic[AnyNetworks]):
    """Many candidates of the same hardware, as arrays: server groups, and the networks of their leaves."""

    servers: Shape
    net: AnyNetworks

    def take(self, index: Any) -> SwitchedShape[AnyNetworks]:
        """Some of the candidates, by their places."""
        return SwitchedShape(self.servers.take(index), self.net.take(index))

    def key(self, index: int) -> Hashable:
        """A key that tells a candidate apart from others."""
        return self.servers.row(index), self.net.numbers[index].tobytes()

    def row(self, index: int) -> SwitchedShape[AnyNetworks]:
        """One candidate, as arrays of one."""
        return SwitchedShape(self.servers.row(index), self.net.take(np.array([index])))
