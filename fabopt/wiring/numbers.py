"""The numbers of a fabric in a design file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_stages import StageNumbers
from fabopt.network.direct_links import Mesh, mesh_of
from fabopt.schema.case import Attachment, Fabric
from fabopt.schema.catalog import BuiltInNic, Nic
from fabopt.schema.design import FabricDesign, LogicalUse
from fabopt.schema.structure import DirectStructure, DragonflyPlusStructure
from fabopt.units import ceil_div
from fabopt.wiring.design_file import Embedded, at, divide, networks_of
from fabopt.wiring.model import Ints


class Cards(NamedTuple):
    """Cards of a server, and the cages that they have or share."""

    cards: int
    cages: int


@dataclass(frozen=True, eq=False)
class Numbers:
    """One fabric of a design file: what the case wants of it, and its numbers.

    Raises ``ValueError`` where they do not come out.
    """

    embedded: Embedded
    made: FabricDesign

    @cached_property
    def wanted(self) -> Fabric:
        """The case's entry of the same name."""
        if self.made.name in self.embedded.wanted:
            return self.embedded.wanted[self.made.name]
        raise LookupError(f"the case has no fabric {self.made.name!r}")

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """Other endpoints on the leaves."""
        return self.wanted.attachments

    @cached_property
    def cards(self) -> Cards:
        """What the fabric has of every server; cages count whether or not they are in use."""
        nic = self.made.nic
        if self._shares_cages:
            return Cards(nic.per_server, sum(cage.count for one in self._built_in for cage in one.cages or ()))
        cages = self.embedded.part(nic.id, Nic).cages
        mine = cages if self._built_in else (at(cages, nic.cage_group, "NIC cage group"),)
        return Cards(nic.per_server, nic.per_server * sum(cage.count for cage in mine))

    @property
    def logical(self) -> dict[str, LogicalUse]:
        """Logical fabrics on this one's switches, by name."""
        return {one.name: one for one in self.made.logical}

    def logical_cards(self, one: LogicalUse) -> Cards:
        """What a logical fabric has of every server; ``cages`` count whether or not they are in use."""
        cages = self.embedded.card_cages(one)
        if self._shares(one):
            return Cards(one.nic.per_server, sum(cage.count for cage in cages))
        return Cards(one.nic.per_server, one.nic.per_server * self._cages_of_card(one))

    def port_cages(self, one: LogicalUse, ports: Ints) -> Ints:
        """The cage of ports of a server's cards for a logical fabric, from 0; a cage has one port."""
        if self._shares(one):
            return ports
        card, port = np.divmod(ports, one.nic.ports_per_nic)
        return np.asarray(card * self._cages_of_card(one) + port)

    def _shares(self, one: LogicalUse) -> bool:
        return any(nic.cages is not None for nic in self.embedded.server.nics if nic.role == one.role)

    def _cages_of_card(self, one: LogicalUse) -> int:
        cages = self.embedded.card_cages(one)
        mine = cages if one.nic.built_in else (at(cages, one.nic.cage_group, "NIC cage group"),)
        return sum(cage.count for cage in mine)

    @property
    def _built_in(self) -> list[BuiltInNic]:
        return [one for one in self.embedded.server.nics if one.role == self.made.role]

    @property
    def _shares_cages(self) -> bool:
        return any(one.cages is not None for one in self._built_in)

    @cached_property
    def clos(self) -> ClosNumbers:
        """The numbers that links follow from; of other families those of the servers' links only."""
        made, standing, three = self.made, self.made.structure, len(self.made.tiers) > 2
        networks, apart = networks_of(made, self.wanted)
        of_card = divide(networks, made.nic.per_server, "rails have planes of their own") if apart else networks
        divide(made.nic.ports_per_nic, of_card, "planes share a card's ports evenly")
        ports = made.nic.per_server * made.nic.ports_per_nic // networks
        divide(ports, standing.ports_per_server_per_leaf, "leaves of a group take a server's ports evenly")
        servers = ClosNumbers(
            servers=self.embedded.servers,
            planes=networks,
            cards=made.nic.per_server,
            ports=made.nic.ports_per_nic,
            shared_cages=self._shares_cages,
            group=standing.servers_per_group,
            per_leaf=standing.ports_per_server_per_leaf,
            pod_groups=ceil_div(self.embedded.servers, standing.servers_per_group),
            sizes=self.embedded.sizes if self.made.growth else (),
            apart=apart,
            dual=self.wanted.homing == "dual",
        )
        if isinstance(standing, DirectStructure):
            return servers
        structure = made.clos
        return replace(
            servers,
            uplinks=made.tiers[0].up_ports,
            spines=structure.spines_per_pod,
            pod_groups=structure.groups_per_pod if three else servers.pod_groups,
            rail_pods=three and structure.pod_of == "rail",
            core_spines=structure.spines_per_core_group,
            core_links=structure.links_per_core_pair,
            group_cores=structure.cores_per_group,
        )

    @cached_property
    def pods(self) -> ClosNumbers:
        """The numbers that links between tiers follow from: in a dragonfly+ a group with all its leaves is a pod."""
        one, planes = self.made.structure, self.clos.planes
        if not isinstance(one, DragonflyPlusStructure):
            return self.clos
        return ClosNumbers(
            servers=one.leaves_per_group * one.switch_groups,
            planes=planes,
            cards=1,
            ports=planes,
            shared_cages=False,
            group=1,
            per_leaf=1,
            uplinks=one.spines_per_group * one.links_per_pair,
            spines=one.spines_per_group,
            pod_groups=one.leaves_per_group,
        )

    @cached_property
    def mesh(self) -> Mesh | None:
        """How switches of the last tier are joined to each other, one plane; None in a Clos."""
        structure = self.made.structure
        return mesh_of(structure) if isinstance(structure, DirectStructure) else None

    @cached_property
    def stages(self) -> tuple[StageNumbers, ...]:
        """What stands at each stage of the case; all of it at once in a file that does not say."""
        servers = [self.embedded.servers_of(stage) for stage in self.embedded.case.stages or ()]
        if isinstance(self.made.structure, DirectStructure):
            return (StageNumbers(self.embedded.servers, 0, 0),)
        structure = self.made.clos
        if len(servers) < 2 or not self.made.growth:
            return (StageNumbers(self.embedded.servers, structure.spines_per_pod, structure.cores_per_group),)
        if len(self.made.growth) != len(servers):
            raise ValueError(f"{self.made.name} has {len(self.made.growth)} stages of {len(servers)}")
        return tuple(
            StageNumbers(
                count,
                one.spines_per_pod,
                one.cores_per_group,
                one.links_per_pair if one.links_per_pair > structure.links_per_pair else 0,
            )
            for count, one in zip(servers, self.made.growth, strict=True)
        )


def cards_before(fabrics: Sequence[Numbers]) -> list[Cards]:
    """For every fabric what earlier ones have of a server: its own cards and cages are numbered after them."""
    ends = accumulate(
        (one.cards for one in fabrics[:-1]),
        lambda before, own: Cards(before.cards + own.cards, before.cages + own.cages),
        initial=Cards(0, 0),
    )
    return list(ends)


def logical_before(fabrics: Sequence[Numbers]) -> dict[str, Cards]:
    """For every logical fabric what others have of a server: all fabrics of their own, then logical ones before it."""
    start = Cards(0, 0)
    for fabric in fabrics:
        start = Cards(start.cards + fabric.cards.cards, start.cages + fabric.cards.cages)
    found = {}
    for fabric in fabrics:
        for one in fabric.made.logical:
            found[one.name] = start
            own = fabric.logical_cards(one)
            start = Cards(start.cards + own.cards, start.cages + own.cages)
    return found
