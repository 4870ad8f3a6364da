"""The stage of each switch and link of a fabric, and its pod or group: of a Clos, or of a mesh.

Arrays of switches' numbers, stages and pods have shape (switches asked,), those of links shape (links,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fabopt.network.clos_links import ClosNumbers, Ints, TierLinks
from fabopt.network.clos_stages import LentUplinks, Stages, lent_links, of_cores, of_leaves, of_links, of_spines
from fabopt.network.direct_links import Mesh

_STAGES_OF = {"leaf": of_leaves, "spine": of_spines, "core": of_cores}


class Installed(Protocol):
    """The growth of one fabric. Switches are counted in their tier from 0 over all planes, stages from 0."""

    @property
    def tree(self) -> ClosNumbers:
        """The Clos with the links between tiers."""

    @property
    def lends(self) -> bool:
        """Whether uplinks are plugged in at other spines before their own is installed."""

    def stages_of(self, role: str, number: Ints) -> Ints:
        """The stage that installs each switch of a tier, by its number."""

    def stages_of_links(self, kind: str, links: TierLinks) -> Ints:
        """The stage that installs each link of a kind."""

    def lent(self, links: TierLinks, ports: int | Ints) -> LentUplinks:
        """Spines that leaf-spine links are lent to before their own is installed; ``ports``: of spines for it."""

    def pods_of(self, role: str, number: Ints) -> Ints:
        """The pod or group of switches of a plane, counted in it from 0; ``NO_GROUP`` where there are none."""


@dataclass(frozen=True)
class InstalledClos:
    """A Clos that may grow."""

    tree: ClosNumbers
    stages: Stages

    @property
    def lends(self) -> bool:
        """Whether some stage has more links of a pair than the last one."""
        return any(stage.pair_links for stage in self.stages)

    def stages_of(self, role: str, number: Ints) -> Ints:
        """The stage that installs each switch of a tier, by its number."""
        return _STAGES_OF[role](self.tree, self.stages, number)

    def stages_of_links(self, kind: str, links: TierLinks) -> Ints:
        """The stage that installs each link of a kind."""
        return of_links(self.tree, self.stages, kind, links)

    def lent(self, links: TierLinks, ports: int | Ints) -> LentUplinks:
        """Spines that leaf-spine links are lent to before their own is installed; ``ports``: of spines for it."""
        return lent_links(self.tree, self.stages, links, ports)

    def pods_of(self, role: str, number: Ints) -> Ints:
        """The pod of leaves and spines of three tiers."""
        return self.tree.pods_of(role, number)


@dataclass(frozen=True)
class InstalledMesh:
    """A fabric of switches that are joined to each other, all installed at the first stage."""

    mesh: Mesh
    planes: int

    lends = False

    @property
    def tree(self) -> ClosNumbers:
        """The Clos with the links between tiers; raises ``LookupError`` where there is one tier."""
        return self.mesh.tree(self.planes)

    def stages_of(self, role: str, number: Ints) -> Ints:
        """The stage of each switch, always the first."""
        return np.zeros_like(number)

    def stages_of_links(self, kind: str, links: TierLinks) -> Ints:
        """The stage of each link, always the first."""
        return np.zeros_like(links.a)

    def lent(self, links: TierLinks, ports: int | Ints) -> LentUplinks:
        """Raise ``LookupError``: no link of a mesh is lent."""
        raise LookupError("no link of a mesh is lent")

    def pods_of(self, role: str, number: Ints) -> Ints:
        """The group of each switch in a family that has groups; ``NO_GROUP`` in others."""
        return self.mesh.groups_of(role, number)
