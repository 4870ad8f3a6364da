"""The devices and links of a fabric, all of them, from the few numbers of its structure.

Arrays of switches' numbers, stages and pods have shape (switches asked,), those of links shape (links,).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabopt.network.clos_links import (
    ClosNumbers,
    Ints,
    TierLinks,
    leaf_leaf,
    leaf_spine,
    server_leaf,
    spine_core,
)
from fabopt.network.clos_stages import LentUplinks, Stages, lent_links, of_cores, of_leaves, of_links, of_spines
from fabopt.network.direct_links import Mesh, slots_of

_STAGES_OF = {"leaf": of_leaves, "spine": of_spines, "core": of_cores}
_ABOVE = {"leaf-spine": leaf_spine, "spine-core": spine_core}


def links_of_clos(n: ClosNumbers, kind: str, per_cable: int, crosses: int = 1) -> TierLinks:
    """The links of a Clos of one kind.

    ``per_cable``: links of a pair that share a cable, of ``leaf-leaf`` ports of a cage; ``crosses``: n of the shuffles
    that make the links. Raises ``KeyError`` for a kind that a Clos does not have.
    """
    if kind == "server-leaf":
        return server_leaf(n, per_cable).links
    return leaf_leaf(n, per_cable) if kind == "leaf-leaf" else _ABOVE[kind](n, per_cable, crosses)


@dataclass(frozen=True)
class ExpandedFabric:
    """A fabric: ``clos`` has its servers and their leaves, ``tree`` the links between tiers, ``mesh`` those between
    switches (or servers) of one plane that are joined to each other, if any are.

    ``stages``: of a Clos, which may grow. Switches are counted in their tier from 0 over all planes, stages from 0.
    """

    clos: ClosNumbers
    stages: Stages = ()
    mesh: Mesh | None = None

    @cached_property
    def tree(self) -> ClosNumbers:
        """The Clos with the links between tiers; raises ``LookupError`` where there is one tier of joined switches."""
        return self.clos if self.mesh is None else self.mesh.tree(self.clos.planes)

    def links(self, kind: str, per_cable: int = 1, crosses: int = 1) -> TierLinks:
        """The links of a kind, over all planes; ``per_cable``, ``crosses``: as of ``links_of_clos``.

        Raises ``LookupError`` for a kind that the family does not have.
        """
        if self.mesh is None or kind not in self.mesh.equals.scopes:
            return links_of_clos(self.tree, kind, per_cable, crosses)
        mesh, planes = self.mesh.equals, self.clos.planes
        ends = mesh.pairs(kind)
        before, slots = np.repeat(np.arange(planes) * mesh.switches, len(ends.a)), slots_of(ends)
        a, a_slot, b, b_slot = (np.tile(column, planes) for column in (ends.a, slots.a, ends.b, slots.b))
        return TierLinks(before + a, a_slot, before + b, b_slot)

    @property
    def lends(self) -> bool:
        """Whether uplinks are plugged in at other spines before their own is installed."""
        return any(stage.pair_links for stage in self.stages)

    def lent(self, links: TierLinks, ports: int | Ints) -> LentUplinks:
        """Spines that leaf-spine links are lent to before their own is installed; ``ports``: of spines for it."""
        return lent_links(self.tree, self.stages, links, ports)

    def stages_of(self, role: str, number: Ints) -> Ints:
        """The stage that installs each switch of a tier, by its number; of joined switches the first."""
        return np.zeros_like(number) if self.mesh else _STAGES_OF[role](self.tree, self.stages, number)

    def stages_of_links(self, kind: str, links: TierLinks) -> Ints:
        """The stage that installs each link of a kind; of joined switches the first."""
        return np.zeros_like(links.a) if self.mesh else of_links(self.tree, self.stages, kind, links)

    def pods_of(self, role: str, number: Ints) -> Ints:
        """The pod or group of switches of a plane, counted in it from 0; ``NO_GROUP`` where there are none."""
        return self.mesh.groups_of(role, number) if self.mesh else self.tree.pods_of(role, number)
