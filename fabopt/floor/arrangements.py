"""How a fabric is looked at on a floor: what is settled of where its switches are before it is sized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabopt.floor.layouts import Layout
from fabopt.floor.open_layouts import OpenLayout


@dataclass(frozen=True, eq=False)
class Anywhere:
    """Switches may be anywhere, or there is no floor.

    ``bounds``: whether links count as running alike, or as far as the servers of a leaf are apart at least.
    """

    bounds: Literal["alike", "spread"]
    policy: None = None


ANYWHERE = Anywhere("alike")


@dataclass(frozen=True, eq=False)
class InLayout:
    """Switches are in the racks that a layout has for them.

    ``bounds``: whether links count as running alike, as far as they do at least before any spine is placed, or as they
    do once switches are placed.
    """

    layout: Layout
    bounds: Literal["alike", "nearest", "measured"]

    @property
    def policy(self) -> str:
        """The rule by which the layout was made."""
        return self.layout.policy


@dataclass(frozen=True, eq=False)
class InPlaces:
    """Every switch is in any rack that some open layouts have for it; at least one layout."""

    layouts: tuple[OpenLayout, ...]
    bounds: Literal["placed"] = "placed"

    @property
    def policy(self) -> str:
        """The rule by which the layouts were made."""
        return self.layouts[0].policy


Arrangement = Anywhere | InLayout | InPlaces
