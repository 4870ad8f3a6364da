"""The content of a design file, read when a rule asks for it.

Everything is a property that is evaluated on first use, so a file with one unreadable spot breaks the rules that
need the spot and no other. Lookups raise ``LookupError``, relations that have no value ``ValueError``; the caller
turns both into a check that fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

from fabopt.network.free_ports import HOST_TIERS, HostTier
from fabopt.rules.defaults import RACK_SPREAD, is_kept
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.case import Fabric, Oversubscription
from fabopt.schema.catalog import Nic, Switch
from fabopt.schema.design import BomRow, FabricDesign, LinkRow, LogicalUse, PortUse, TierUse
from fabopt.schema.installed import base_of
from fabopt.schema.product import Cage
from fabopt.schema.server import BuiltInNic
from fabopt.units import MBPS_PER_GBPS, ceil_div, exact
from fabopt.verify.clos_counts import ClosCounts
from fabopt.verify.families import counts_of
from fabopt.verify.mesh_counts import MeshCounts, MeshLinks
from fabopt.wiring.design_file import DisjointNetworks, Embedded, divide, item_at, networks_of
from fabopt.wiring.numbers import Numbers
from fabopt.wiring.runs import flat_runs_m

FACTS = "facts"
ROLES = ("leaf", "spine", "core")
RAIL_ONLY = "rail-only"


@dataclass(frozen=True, eq=False)
class Evidence(Embedded):
    """A design file, its case and its embedded parts, and quantities that rules compare."""

    @property
    def sharers(self) -> int:
        """GPUs that share a server's bandwidth; a server without any counts as one."""
        return max(1, self.server.gpus)

    @cached_property
    def goods(self) -> tuple[BomRow, ...]:
        """The lines of the bill but for charges: parts, and cables moved."""
        return tuple(row for row in self.design.bom if row.charge is None)

    @cached_property
    def stage_names(self) -> list[str]:
        """The case's stages."""
        return [stage.name for stage in self.case.stages or ()]

    @cached_property
    def months(self) -> list[int]:
        """The month of every stage."""
        return [stage.month for stage in self.case.stages or ()]

    @cached_property
    def servers_by_stage(self) -> list[int]:
        """Servers installed at every stage."""
        return [
            divide(stage.gpus or 0, self.server.gpus, "GPUs fill whole servers")
            if stage.servers is None
            else stage.servers
            for stage in self.case.stages or ()
        ]

    @property
    def names_model(self) -> bool:
        """Whether the case's workload is a model."""
        workload = self.design.case.content.get("workload")
        return isinstance(workload, dict) and (workload.get("model") is not None or bool(workload.get("jobs")))

    def usable_pcie(self, generation: int) -> Fraction:
        """Mb/s that a x16 slot delivers; a generation that the embedded table lacks counts as the one before."""
        table = {int(key): usable for key, usable in self.design.parts[FACTS]["pcie_x16_gbps"].items()}
        known = [listed for listed in table if listed <= generation]
        if not known:
            raise LookupError(f"the embedded PCIe table starts after generation {generation}")
        return exact(table[max(known)]) * MBPS_PER_GBPS

    @cached_property
    def fabrics(self) -> tuple[FabricEvidence, ...]:
        """The designed fabrics, in the file's order."""
        return tuple(FabricEvidence(self, designed) for designed in self.design.fabrics)


@dataclass(frozen=True, eq=False)
class FabricEvidence:
    """A fabric of the file, with the case's demands on it."""

    evidence: Evidence
    designed: FabricDesign

    @cached_property
    def wanted(self) -> Fabric:
        """The case's entry of the same name."""
        if self.designed.name in self.evidence.wanted:
            return self.evidence.wanted[self.designed.name]
        raise LookupError(f"the case has no fabric {self.designed.name!r}")

    @cached_property
    def logical(self) -> dict[str, LogicalUse]:
        """The logical fabrics on this one's switches, by name."""
        return {use.name: use for use in self.designed.logical}

    def run_m(self, kind: str) -> float:
        """Metres of links of a kind where they are not measured; ``LookupError`` if the case has none."""
        if kind not in self._runs_m:
            raise LookupError(f"the case says nothing of {kind}")
        return self._runs_m[kind]

    @cached_property
    def live_runs_m(self) -> Mapping[tuple[str, str], float]:
        """The run of every attachment in service to each tier, as the base's file has it, in metres; none on no
        floor.
        """
        case = self.evidence.case
        base = base_of(case) if case.site.has_floor else None
        rows = (row for one in (base.fabrics if base else ()) if one.name == self.designed.name for row in one.links)
        return {(row.attachment, row.to): float(row.length_m) for row in rows if row.attachment is not None}

    @cached_property
    def _runs_m(self) -> Mapping[str, float]:
        return flat_runs_m(self.evidence, self.designed)

    @cached_property
    def nic(self) -> Nic:
        """The NIC in every server."""
        return self.evidence.part(self.designed.nic.id, Nic)

    @cached_property
    def built_in(self) -> tuple[BuiltInNic, ...]:
        """The server's own NICs of this fabric's role; none: NICs are chosen."""
        return tuple(entry for entry in self.evidence.server.nics if entry.role == self.wanted.role)

    @cached_property
    def shared_cages(self) -> bool:
        """True if the server's NICs share cages of the server instead of having their own."""
        given = {entry.cages is not None for entry in self.built_in}
        if len(given) > 1:
            raise ValueError("some built-in NICs share cages and others have their own")
        return given == {True}

    @cached_property
    def nic_cages(self) -> tuple[Cage, ...]:
        """The cage groups in use: all of built-in NICs, the named one of a chosen NIC."""
        index = self.designed.nic.cage_group
        if not self.built_in:
            return (item_at(self.nic.cages, index, "NIC cage group"),)
        if not self.shared_cages:
            item_at(self.nic.cages, index, "NIC cage group")
            return self.nic.cages
        cages = tuple(cage for entry in self.built_in for cage in entry.cages or ())
        item_at(cages, index, "server cage group")
        return cages

    @cached_property
    def nic_lane(self) -> Lane:
        """How every used cage of the NICs is split."""
        return parse_split(self.designed.nic.split)

    @cached_property
    def nic_mbps(self) -> Fraction:
        """Mb/s that a NIC can move: its used ports, at most the rate of its slot."""
        ports = Fraction(self.designed.nic.ports_per_nic * self.nic_lane.port_mbps)
        return ports if self.nic_limit is None else min(ports, self.nic_limit)

    @cached_property
    def injection(self) -> Fraction:
        """Mb/s that every GPU can send: the rate of NICs, dealt to GPUs as evenly as whole NICs and GPUs allow.

        With fewer NICs than GPUs the busiest NIC counts, with more the GPU with the fewest; in files from before rules
        were named, all NICs together.
        """
        nics, gpus = self.designed.nic.per_server, self.evidence.sharers
        if max(nics, gpus) % min(nics, gpus) == 0 or self.evidence.design.rules is None:
            return self.nic_mbps * nics / gpus
        busiest = ceil_div(gpus, nics)
        return self.nic_mbps / busiest

    @cached_property
    def nic_limit(self) -> Fraction | None:
        """Mb/s that the slot delivers to one NIC; None where NIC or server states no PCIe."""
        nic_number, slot = self.nic.pcie, self.evidence.server.pcie
        if nic_number is None or slot is None:
            return None
        usable = self.evidence.usable_pcie(min(nic_number.generation, slot.generation))
        return usable * min(nic_number.lanes, slot.lanes) / 16

    @cached_property
    def networks(self) -> DisjointNetworks:
        """The networks that share no switch: planes, or rails of a rail-only fabric."""
        return networks_of(self.designed, self.wanted)

    @property
    def nic_networks(self) -> int:
        """Networks in which one NIC has ports."""
        number, apart = self.networks
        return divide(number, self.designed.nic.per_server, "rails have planes of their own") if apart else number

    @property
    def num_tiers(self) -> int:
        """Switch tiers of the file."""
        return len(self.designed.tiers)

    def tier(self, role: str) -> TierUse:
        """The tier of a role; ``LookupError`` if the role's place from the servers up has another."""
        tier = item_at(self.designed.tiers, ROLES.index(role), "tier")
        if tier.role != role:
            raise LookupError(f"tier {ROLES.index(role)} is {tier.role}, not {role}")
        return tier

    def switch(self, role: str) -> Switch:
        """The switch type of a tier."""
        return self.evidence.part(self.tier(role).id, Switch)

    @property
    def switch_types(self) -> list[tuple[TierUse, Switch]]:
        """Every type of switch in every tier, with the tier's ports as that type uses them."""
        rows = (row for tier in self.designed.tiers for row in tier.types)
        return [(row, self.evidence.part(row.id, Switch)) for row in rows]

    def down(self, role: str) -> Lane:
        """How the cages towards the servers are split."""
        return parse_split(self.tier(role).down.split)

    @property
    def peer_use(self) -> PortUse | None:
        """The cages of peer links; None where there are none."""
        peers = self.designed.peer_links
        return None if peers is None else PortUse(cage_group=peers.cage_group, split=peers.split)

    def up_use(self, role: str) -> PortUse:
        """The cages towards the tier above."""
        use = self.tier(role).up
        if use is None:
            raise LookupError(f"the {role} tier names no cages for its uplinks")
        return use

    def up(self, role: str) -> Lane:
        """How the cages towards the tier above are split."""
        return parse_split(self.up_use(role).split)

    def cage(self, role: str, use: PortUse) -> Cage:
        """A cage group of a tier's switch."""
        return item_at(self.switch(role).cages, use.cage_group, f"{role} cage group")

    @cached_property
    def oversubscription_limits(self) -> dict[str, Fraction]:
        """The largest ratio allowed at each boundary, as resolved in the case; at a stage, its own where it has one."""
        limit = self.wanted.max_oversubscription
        if not isinstance(limit, Oversubscription) or limit.leaf is None or limit.spine is None:
            raise ValueError("the embedded case does not resolve max_oversubscription to leaf and spine")
        stage = self.evidence.stage.fabrics.get(self.designed.name)
        own = None if stage is None else stage.max_oversubscription
        if own is not None and not isinstance(own, Oversubscription):
            own = Oversubscription(leaf=own, spine=own)
        leaf = limit.leaf if own is None or own.leaf is None else own.leaf
        spine = limit.spine if own is None or own.spine is None else own.spine
        return {"leaf": exact(leaf), "spine": exact(spine)}

    @cached_property
    def clos(self) -> ClosCounts:
        """The fabric recounted from its free choices; of other families, its leaves alone."""
        designed, attachments = self.designed, self.wanted.attachments
        numbers = Numbers(self.evidence, designed)
        chosen = numbers.clos if self.is_direct or not designed.tiers else numbers.tree
        given = {field.name: getattr(chosen, field.name) for field in fields(chosen)}
        if self.is_direct:
            return ClosCounts(**given, tiers=1, attached=(0,) * len(attachments))
        given["u"], given["by_rail"] = self.tier("leaf").up_ports, self.wanted.striping == "rail"
        given["x"] = self.tier("spine").up_ports if self.num_tiers > 2 else 0
        return ClosCounts(
            **given,
            tiers=self.num_tiers,
            attached=tuple(attachment.ports if attachment.placed_on == "leaf" else 0 for attachment in attachments),
            free=tuple(designed.free_ports.get(attachment.name, ()) for attachment in attachments),
            counted=tuple(attachment.counts for attachment in attachments),
            adds=tuple(attachment.adds if attachment.placed_on == "leaf" else () for attachment in attachments),
            leaf_racks=self.racks_of_hosts.get("leaf", ()),
            paired=designed.homing in ("pair", "dual"),
        )

    @cached_property
    def racks_of_hosts(self) -> dict[HostTier, tuple[str, ...]]:
        """The rack of every leaf and spine, by tier, where ports of attachments are spread over racks; else empty."""
        places, case = self.designed.places, self.evidence.case
        if not places.leaf or self.evidence.design.rules is None:
            return {}
        if not (is_kept(case.rules, RACK_SPREAD) and case.site.rack_rules.spread_attachments):
            return {}
        return {tier: tuple(rack for rack, _ in getattr(places, tier)) for tier in HOST_TIERS}

    @property
    def is_direct(self) -> bool:
        """Whether the network is direct: switches (or servers) are joined to each other."""
        return self.designed.structure.is_direct

    @property
    def has_switches(self) -> bool:
        """Whether servers are on switches, not joined to each other."""
        return self.designed.structure.has_switches

    @property
    def runs_differ(self) -> bool:
        """Whether links of a kind may have different runs: on a floor."""
        return self.designed.placement is not None

    def is_measured(self, row: LinkRow) -> bool:
        """Whether the runs of a row's links are measured on a floor, not flat."""
        return self.runs_differ and row.from_ != "attachment"

    @cached_property
    def mesh(self) -> MeshCounts:
        """Counts of a direct network, of one plane; raises ``ValueError`` for a Clos."""
        return counts_of(self.designed.direct)

    @cached_property
    def scopes(self) -> tuple[MeshLinks, ...]:
        """Kinds of links of a direct network, of one plane; none in a Clos."""
        return self.mesh.scopes if self.is_direct else ()

    @property
    def equals(self) -> str:
        """The role of the devices joined to each other: the last tier of switches, or servers."""
        return self.designed.tiers[-1].role if self.designed.tiers else "server"
