"""Arrangements of a fabric on a floor: constraints on the racks of its switches that are fixed before it is sized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabopt.floor.layouts import Layout
from fabopt.floor.open_layouts import OpenLayout


@dataclass(frozen=True, eq=False)
class Anywhere:
    """Switches may be anywhere, or there is no floor.

    ``bounds``: of runs: equal for all links of a kind, or at least the spread of a leaf's servers.
    """

    bounds: Literal["alike", "spread"]
    policy: None = None


ANYWHERE = Anywhere("alike")


@dataclass(frozen=True, eq=False)
class InLayout:
    """Switches are in the racks that a layout has for them.

    ``bounds``: of runs: equal for all links of a kind, lower bounds before any spine is placed, or measured between
    placed switches.
    """

    layout: Layout
    bounds: Literal["alike", "nearest", "measured"]

    @property
    def policy(self) -> str:
        """The policy of the layout."""
        return self.layout.policy


@dataclass(frozen=True, eq=False)
class InPlaces:
    """Switches are in any racks that the open layouts, at least one, permit."""

    layouts: tuple[OpenLayout, ...]
    bounds: Literal["placed"] = "placed"

    @property
    def policy(self) -> str:
        """The policy of the layouts."""
        return self.layouts[0].policy


Arrangement = Anywhere | InLayout | InPlaces
