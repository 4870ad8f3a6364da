"""Links of a Clos by kind: quantities of each kind, and the length class of every link's run.

Links of one kind with their runs, and the open choices of their parts; flat runs, where all are alike.

``fabopt.topology.clos.placement`` has the links of a floor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.group_runs import classes_of_runs
from fabopt.network.clos_links import ClosNumbers, TierLinks, server_leaf, shuffles
from fabopt.network.expand import links_of_clos
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.problem.problem import Problem
from fabopt.schema.design import DeviceRole
from fabopt.topology.candidate import Choice, Option, choices_of
from fabopt.topology.clos.shape import Ints, Shape
from fabopt.topology.link_parts import Floats, Need
from fabopt.units import summed

# Key of the parts that a kind of links may be made of: equal keys have equal options.
KindKey = tuple[Hashable, ...]
# Assemblies of a kind over a run in metres; True: with those that others beat.
Joins = Callable[[float, bool], Sequence[Assembly]]


class LinkType(NamedTuple):
    """A kind of links whose parts are open. ``mixes``: whole cages meet whole cages, which straight cables join;
    ``scope``: kind of links between switches of one role; ``crossed``: shuffles make all of them.
    """

    name: str
    ends: tuple[DeviceRole, DeviceRole]
    ports: tuple[PortType, PortType]
    need: Need
    mixes: bool
    key: KindKey
    scope: str | None = None
    crossed: bool = False


class Cabling(NamedTuple):
    """A kind of links with the length class of every run, shape (links,).

    ``near_device``: number of the near device that has cages of its own, shape (links,).
    """

    kind: LinkType
    numbers: ClosNumbers
    links: TierLinks
    near_device: Ints
    classes: Ints

    @property
    def longest(self) -> int:
        """The class of the longest run."""
        return int(self.classes.max(initial=0))

    def of(self, rows: NDArray[np.bool_]) -> Cabling:
        """Some of the links; ``rows``: a mask of shape (links,)."""
        links = TierLinks(*(column[rows] for column in self.links))
        return self._replace(links=links, near_device=self.near_device[rows], classes=self.classes[rows])

    def longest_of_cables(self, assembly: Assembly, shared: Sequence[int] = (), attached: int = 0) -> Ints:
        """Longest length class among the links of every cable, if one assembly makes all links, shape (cables,).

        ``shared``: leaves where the last breakout carries links of attachments too, whose class is ``attached``.
        """
        if assembly.mode is Mode.LINK:
            return self.classes
        if assembly.mode is Mode.CROSS:
            cable = shuffles_of(self, assembly.crosses)
            longest = np.zeros(int(cable.max(initial=-1)) + 1, dtype=np.int64)
            np.maximum.at(longest, cable, self.classes)
            return longest
        per_cable = assembly.ports_per_cable
        device, slot = self.near_device, self.links.a_slot
        if assembly.mode is Mode.FAR:
            device, slot = self.links.b, self.links.b_slot
        elif assembly.mode is Mode.PAIR:
            slot = self.slots(per_cable)
        place = slot // per_cable
        _, cable = np.unique(device * (int(place.max(initial=0)) + 1) + place, return_inverse=True)
        longest = np.zeros(int(cable.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(longest, cable, self.classes)
        if assembly.mode is Mode.FAR:
            np.maximum.at(longest, cable[self.in_last(shared, per_cable)], attached)
        return longest

    def in_last(self, leaves: Sequence[int], ports: int) -> Ints:
        """Rows of links in the last cage (or cable) of these leaves, where it has room beyond the servers' ports.

        Shape (rows,).
        """
        leaf, slots = self.links.b, self.links.b_slot
        used = np.zeros(int(leaf.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(used, leaf, slots + 1)
        return np.flatnonzero(np.isin(leaf, leaves) & (slots // ports == used[leaf] // ports))

    def slots(self, per_cable: int) -> Ints:
        """Slots at the near end where each cable carries ``per_cable`` links of a pair of devices; shape (links,)."""
        return links_of(self.numbers, self.kind, per_cable)[0].a_slot


def numbers_of(nic: NicOption, shape: Shape) -> ClosNumbers:
    """Numbers of one candidate that its links follow from."""
    return ClosNumbers(
        servers=int(shape.servers), ports=nic.ports_per_plane, planes=nic.planes, k=int(shape.k), g=int(shape.g),
        u=int(shape.u), spines=int(shape.spines), groups_per_pod=int(shape.groups_per_pod) or int(shape.groups),
        rail_pods=bool(shape.rail_pods), x=int(shape.x), q=int(shape.q), m2=int(shape.m2), sizes=shape.sizes,
        by_rail=shape.by_rail, own_k=int(shape.own_k), own_u=int(shape.own_u), own_end=shape.own_end,
        nics=nic.nics_per_server, ports_per_nic=nic.ports_per_nic, shared_cages=not nic.own_cages, apart=nic.apart,
        dual=nic.dual,
    )  # fmt: skip


def links_of(numbers: ClosNumbers, kind: LinkType, per_cable: int, crosses: int = 1) -> tuple[TierLinks, Ints]:
    """Links of a kind, and the number of the near device that has cages of its own, shape (links,).

    That device is a NIC, or a server where its NICs share cages. ``crosses``: n of the shuffles that make them.
    """
    if kind.name == "server-leaf":
        links, nic, _ = server_leaf(numbers, per_cable)
        return links, links.a if numbers.shared_cages else links.a * numbers.nics + nic
    links = links_of_clos(numbers, kind.name, kind.ports[0].ports if kind.name == "leaf-leaf" else per_cable, crosses)
    return links, links.a


def shuffles_of(cabling: Cabling, size: int) -> Ints:
    """The shuffle of every link of a kind, if shuffles of ``size`` connectors an end make all, shape (links,)."""
    links, device = links_of(cabling.numbers, cabling.kind, 1, size)
    near, far = (
        holder * (int(slot.max(initial=0)) // size + 1) + slot // size
        for holder, slot in ((device, links.a_slot), (links.b, links.b_slot))
    )
    return shuffles(near, far, links.a_slot % size)


def cabling_of(
    problem: Problem, kind: LinkType, numbers: ClosNumbers, run_m: Callable[[TierLinks], Floats]
) -> Cabling | None:
    """The links of a kind with the runs that ``run_m`` measures; None if nothing on sale is long enough for one of
    them.

    ``run_m`` returns the run of every link in metres, shape (links,).
    """
    links, near_device = links_of(numbers, kind, 1)
    lengths_m = problem.item_table.lengths_m
    classes = classes_of_runs(lengths_m, run_m(links))
    if classes.max(initial=0) >= len(lengths_m):
        return None
    return Cabling(kind, numbers, links, near_device, classes)


def cable_at(problem: Problem, assembly: Assembly, length_class: int) -> Item:
    """The shortest cable of an assembly that covers a length class."""
    length_m = float(problem.item_table.lengths_m[length_class])
    lengths = problem.item_table.lengths(assembly.cable.id)
    return next(item for item in lengths if (item.length_m or 0.0) >= length_m)


def cables_of_classes(problem: Problem, assembly: Assembly, classes: Ints) -> dict[Item, int]:
    """Cables of an assembly by length; ``classes``: the length class of each, shape (cables,)."""
    counts: list[int] = np.bincount(classes).tolist()
    return summed(
        (cable_at(problem, assembly, length_class), count) for length_class, count in enumerate(counts) if count
    )


class KindLinks(ABC):
    """Links of one kind.

    ``longest_m``: the longest run; ``flat_m``: the run of all, if they are alike; ``joins``: assemblies by run.
    """

    longest_m: float
    flat_m: float | None

    def __init__(self, problem: Problem, kind: LinkType, joins: Joins) -> None:
        self.problem = problem
        self.kind = kind
        self._joins = joins

    @abstractmethod
    def joins(self, run_m: float, all_: bool) -> Sequence[Assembly]:
        """Assemblies for links of a run; ``all_``: with dominated ones."""

    @abstractmethod
    def choices(self, prune: bool) -> Sequence[Choice] | None:
        """The open choices of parts; None if nothing on sale makes some of the links."""

    @abstractmethod
    def cabling(self, numbers: ClosNumbers) -> Cabling | None:
        """Every link with the class of its run; None if nothing on sale is long enough for one of them."""

    @abstractmethod
    def noted_runs_m(self, runs_m: tuple[float, ...]) -> tuple[float, ...] | None:
        """Runs in metres as a row of links states them; None if its kind states them."""

    @abstractmethod
    def named(self, assembly: Assembly) -> Assembly:
        """An assembly of all links with the length that a row of links states."""

    @abstractmethod
    def breakout(self, assembly: Assembly) -> Item | str:
        """Key of breakouts at a leaf, equal where one may carry links of both."""

    @abstractmethod
    def cables(self, assembly: Assembly) -> Sequence[Item]:
        """Cables of an assembly in every length that some of the links need."""

    @abstractmethod
    def in_lengths(self, option: Option, shared: Sequence[int], run_m: float) -> Option:
        """An option whose first row is all these links, with cables as long as each needs them.

        ``shared``: leaves where the last breakout carries links of attachments too, whose run is ``run_m``.
        """


class FlatLinks(KindLinks):
    """Links of one run."""

    def __init__(self, problem: Problem, kind: LinkType, joins: Joins, run_m: float) -> None:
        super().__init__(problem, kind, joins)
        self.longest_m = self.flat_m = run_m

    def joins(self, run_m: float, all_: bool) -> Sequence[Assembly]:
        """The assemblies over the one run."""
        return self._joins(self.longest_m, all_)

    def choices(self, prune: bool) -> Sequence[Choice] | None:
        """The choices that ``choices_of`` gives for all links at once or for equal cages."""
        kind = self.kind
        joins = self.joins(self.longest_m, False)
        return choices_of(self.problem.links, kind.need, joins, kind.ends, kind.key, kind.mixes, prune)

    def cabling(self, numbers: ClosNumbers) -> Cabling | None:
        """The links, all with the class of their one run."""
        return cabling_of(self.problem, self.kind, numbers, lambda links: np.full(len(links.a), self.longest_m))

    def noted_runs_m(self, runs_m: tuple[float, ...]) -> tuple[float, ...] | None:
        """Always None: the kind states the run of its links."""
        return None

    def named(self, assembly: Assembly) -> Assembly:
        """The assembly as it is sold."""
        return assembly

    def breakout(self, assembly: Assembly) -> Item | str:
        """The cable of an assembly in its length."""
        return assembly.cable

    def cables(self, assembly: Assembly) -> Sequence[Item]:
        """The cable of an assembly, in its only length."""
        return (assembly.cable,)

    def in_lengths(self, option: Option, shared: Sequence[int], run_m: float) -> Option:
        """The option unchanged: all links have the length that it states."""
        return option
