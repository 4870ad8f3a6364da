"""How far the links of a fabric run, and for which sizes of its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from fabopt.floor.group_runs import GroupRuns
from fabopt.schema.structure import AnyStructure


class Span(NamedTuple):
    """The fewest and the most servers of a leaf group, and of a pod.

    ``tiers``: numbers of tiers of a Clos in this span. ``alike``: whether all links of a kind have the same run; else
    the run of ``leaf-spine`` is the least of any. ``own_last``: whether the last group is unlike the others.
    """

    group: tuple[int, int]
    pod: tuple[int, int]
    tiers: tuple[int, ...] = (1, 2, 3)
    alike: bool = True
    own_last: bool = False


@dataclass(frozen=True, eq=False)
class LinkRuns:
    """The run of every kind of link in metres, the least where runs differ.

    ``of_groups``: where they follow from the size of the groups; ``span``: of a part of the space in which they are all
    alike, its sizes.
    """

    m: Mapping[str, float]
    of_groups: GroupRuns | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", MappingProxyType(dict(self.m)))

    def of(self, structure: AnyStructure) -> LinkRuns:
        """The runs of a structure."""
        return self if self.of_groups is None else replace(self, m=self.of_groups.of(structure))

    def with_m(self, runs_m: Mapping[str, float]) -> LinkRuns:
        """The runs with others for some kinds of links."""
        return replace(self, m={**self.m, **runs_m})

    @property
    def are_open(self) -> bool:
        """Whether they are the least of any size of groups, so that longer ones are to be searched too."""
        return self.of_groups is not None and self.span is None

    @property
    def may_be_alike(self) -> bool:
        """Whether all leaf groups may be alike."""
        return self.span is None or not self.span.own_last

    @property
    def last_may_differ(self) -> bool:
        """Whether the last leaf group may be unlike the others."""
        return self.span is None or self.span.own_last
