"""The numbers of a fabric in a design file.

The fabric that every link and cable belongs to, where logical fabrics are on the switches of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_stages import StageNumbers
from fabopt.network.direct_links import Mesh
from fabopt.network.expand import ExpandedFabric
from fabopt.network.structure_links import mesh_of
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Nic
from fabopt.schema.design import Design, FabricDesign, LogicalUse, TierUse
from fabopt.schema.server import BuiltInNic
from fabopt.schema.structure import Structure
from fabopt.units import some
from fabopt.wiring.design_file import Embedded, divide, item_at, networks_of
from fabopt.wiring.model import TO_ATTACHMENTS, Ints, Mask, Wiring


class ServerNics(NamedTuple):
    """Number of NICs of a server, and of the cages that they have or share."""

    nics: int
    cages: int

    def plus(self, others: ServerNics) -> ServerNics:
        """NICs and cages of both together."""
        return ServerNics(self.nics + others.nics, self.cages + others.cages)


NO_NICS = ServerNics(0, 0)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A fabric of a design file: the case's demand, and its numbers.

    Raises ``ValueError`` where these are inconsistent.
    """

    embedded: Embedded
    fabric: FabricDesign

    @cached_property
    def wanted(self) -> Fabric:
        """The case's entry of the same name."""
        if self.fabric.name in self.embedded.wanted:
            return self.embedded.wanted[self.fabric.name]
        raise LookupError(f"the case has no fabric {self.fabric.name!r}")

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The endpoints of the fabric other than its servers."""
        return self.wanted.attachments

    @cached_property
    def nics(self) -> ServerNics:
        """The fabric's NICs and cages in every server; cages count whether or not they are in use."""
        nic = self.fabric.nic
        if self._shares_cages:
            return ServerNics(nic.per_server, sum(cage.count for own in self._built_in for cage in own.cages or ()))
        cages = self.embedded.part(nic.id, Nic).cages
        used = cages if self._built_in else (item_at(cages, nic.cage_group, "NIC cage group"),)
        return ServerNics(nic.per_server, nic.per_server * sum(cage.count for cage in used))

    @property
    def logical(self) -> dict[str, LogicalUse]:
        """Logical fabrics on this one's switches, by name."""
        return {logical.name: logical for logical in self.fabric.logical}

    def logical_nics(self, logical: LogicalUse) -> ServerNics:
        """A logical fabric's NICs and cages in every server; ``cages`` count whether or not they are in use."""
        if self.embedded.shares_cages(logical):
            return ServerNics(logical.nic.per_server, sum(cage.count for cage in self.embedded.nic_cages(logical)))
        return ServerNics(logical.nic.per_server, logical.nic.per_server * self._cages_of_nic(logical))

    def port_cages(self, logical: LogicalUse, ports: Ints) -> Ints:
        """The cage of ports of a server's NICs for a logical fabric, from 0, both of shape (ports,).

        A cage has one port.
        """
        if self.embedded.shares_cages(logical):
            return ports
        nic, port = np.divmod(ports, logical.nic.ports_per_nic)
        return np.asarray(nic * self._cages_of_nic(logical) + port)

    def _cages_of_nic(self, logical: LogicalUse) -> int:
        cages = self.embedded.nic_cages(logical)
        used = cages if logical.nic.built_in else (item_at(cages, logical.nic.cage_group, "NIC cage group"),)
        return sum(cage.count for cage in used)

    @property
    def _built_in(self) -> list[BuiltInNic]:
        return [nic for nic in self.embedded.server.nics if nic.role == self.fabric.role]

    @property
    def _shares_cages(self) -> bool:
        return any(nic.cages is not None for nic in self._built_in)

    @cached_property
    def clos(self) -> ClosNumbers:
        """The numbers of the links of servers and attachments."""
        fabric, structure = self.fabric, self.fabric.structure
        networks, apart = networks_of(fabric, self.wanted)
        ports = fabric.nic.per_server * fabric.nic.ports_per_nic
        last = structure.last_group if isinstance(structure, Structure) else None
        own_end = structure.own_end if isinstance(structure, Structure) else 0
        numbers = ClosNumbers(
            servers=self.embedded.servers,
            ports=divide(ports, networks, "planes share a server's ports evenly"),
            planes=networks,
            k=structure.ports_per_server_per_leaf,
            g=structure.servers_per_group,
            nics=fabric.nic.per_server,
            ports_per_nic=fabric.nic.ports_per_nic,
            shared_cages=self._shares_cages,
            sizes=self.embedded.sizes if fabric.growth else (),
            apart=apart,
            dual=self.wanted.homing == "dual",
            own_k=0 if last is None else last.ports_per_server_per_leaf,
            own_u=0 if last is None else last.up_ports,
            own_end=own_end,
        )
        return replace(numbers, groups_per_pod=numbers.groups)

    @cached_property
    def expanded(self) -> ExpandedFabric:
        """All devices and links, with their stages."""
        if self.fabric.structure.is_direct:
            return ExpandedFabric(self.clos, mesh=self.mesh)
        return ExpandedFabric(self.tree, self._stages)

    def is_other(self, tier: TierUse, number: Ints) -> Mask:
        """Mask of the switches of a tier, by their numbers, of its other type: the last ones of every network,
        or those of a group that was the last one of what is in service.

        Both arrays have shape (switches asked,).
        """
        if tier.other is None:
            return np.zeros(len(number), dtype=bool)
        if self.clos.own_end and tier.role == "leaf":
            return self.clos.is_of_last(number)
        networks = self.clos.planes
        of_network, others = (
            divide(count, networks, f"networks of {self.fabric.name} share {what} {tier.role} switches evenly")
            for count, what in ((tier.count, "all"), (tier.other.count, "other"))
        )
        return np.asarray(number % of_network >= of_network - others)

    @cached_property
    def mesh(self) -> Mesh:
        """The mesh of switches (or servers), one plane; raises ``ValueError`` for a Clos."""
        return mesh_of(self.fabric.structure)

    @cached_property
    def tree(self) -> ClosNumbers:
        """The numbers of all links of a Clos."""
        structure, three, mixed = self.fabric.clos, len(self.fabric.tiers) > 2, self.fabric.clos.mixed_spines
        return replace(
            self.clos,
            u=self.fabric.tiers[0].up_ports,
            spines=structure.spines_per_pod,
            groups_per_pod=structure.groups_per_pod if three else self.clos.groups_per_pod,
            rail_pods=three and structure.pod_of == "rail",
            x=structure.cores_per_group * structure.links_per_core_pair,
            q=structure.spines_per_core_group,
            m2=structure.links_per_core_pair,
            by_rail=self.fabric.striping == "rail",
            to_spines=() if mixed is None else tuple(np.repeat(mixed.links_per_pair, mixed.spines).tolist()),
        )

    @property
    def _stages(self) -> tuple[StageNumbers, ...]:
        """The numbers of each stage of the case; a single stage with everything in a file without stages."""
        structure, growth = self.fabric.clos, self.fabric.growth
        servers = [self.embedded.servers_of(stage) for stage in self.embedded.case.stages or ()]
        if len(servers) < 2 or not growth:
            return (StageNumbers(self.embedded.servers, structure.spines_per_pod, structure.cores_per_group),)
        if len(growth) != len(servers):
            raise ValueError(f"{self.fabric.name} grows in {some(len(growth), 'stage')}, the case in {len(servers)}")
        return tuple(
            StageNumbers(
                count,
                stage.spines_per_pod,
                stage.cores_per_group,
                stage.links_per_pair if stage.links_per_pair > structure.links_per_pair else 0,
            )
            for count, stage in zip(servers, growth, strict=True)
        )


def nics_before(fabrics: Sequence[Numbers]) -> list[ServerNics]:
    """NICs and cages of a server that earlier fabrics have, for every fabric: its own are numbered after them."""
    return list(accumulate((fabric.nics for fabric in fabrics[:-1]), ServerNics.plus, initial=NO_NICS))


def logical_before(fabrics: Sequence[Numbers]) -> dict[str, ServerNics]:
    """NICs and cages of a server before those of every logical fabric: of all fabrics, then of earlier logical ones."""
    before: dict[str, ServerNics] = {}
    start = NO_NICS
    for fabric in fabrics:
        start = start.plus(fabric.nics)
    for fabric in fabrics:
        for logical in fabric.fabric.logical:
            before[logical.name] = start
            start = start.plus(fabric.logical_nics(logical))
    return before


class BookedFabrics(NamedTuple):
    """Fabrics in the case's order, each followed by the logical ones on it: ``names``.

    ``of_link``, shape (links,), and ``of_cable``, shape (cables,): index in ``names`` of the fabric that the bill books
    every link and cable on.
    """

    names: list[str]
    of_link: Ints
    of_cable: Ints


def booked_fabrics(design: Design, wiring: Wiring) -> BookedFabrics:
    """The fabric that every link and cable belongs to, logical ones told apart from their hosts."""
    links, devices, embedded = wiring.links, wiring.devices, Embedded(design)
    before = logical_before([Numbers(embedded, fabric) for fabric in design.fabrics])
    names = [name for fabric in design.fabrics for name in (fabric.name, *(logical.name for logical in fabric.logical))]
    of_link = np.array([names.index(name) for name in wiring.fabrics], dtype=np.int64)[links.fabric]
    attached = np.isin(links.kind, TO_ATTACHMENTS)
    for index, fabric in enumerate(design.fabrics):
        for logical in fabric.logical:
            first = before[logical.name].nics
            own = {
                attachment.name
                for attachment in embedded.wanted[fabric.name].attachments
                if attachment.network == logical.name
            }
            own_devices = np.array([name in own for name in devices.product], dtype=np.bool_)
            own_nics = (links.a_nic > first) & (links.a_nic <= first + logical.nic.per_server)
            of_link[attached & (links.fabric == index) & (own_nics | own_devices[links.a])] = names.index(logical.name)
    of_cable = np.zeros(len(wiring.cables), dtype=np.int64)
    bought = links.cable >= 0
    of_cable[links.cable[bought][::-1]] = of_link[bought][::-1]
    return BookedFabrics(names, of_link, of_cable)
