"""Demands of a fabric for endpoints other than servers, on leaves or on free ports of leaves and spines.

Rule ``subnet-manager`` in a problem: the managers that a subnet needs, and the managed twins of switches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption, Refusals, nic_options
from fabopt.parts.offering import Offering
from fabopt.parts.port_types import PortType, PortTypes
from fabopt.problem.nic_rules import Nics, by_rules
from fabopt.problem.out_of_band import ByStage, added, port_cage
from fabopt.rules.defaults import PAIR, SUBNET_MANAGER, Rules, is_asked_for, is_kept
from fabopt.schema.attachment import SWITCHES, Attachment, AttachmentTier, HostPort
from fabopt.schema.base import parse_split
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Switch
from fabopt.schema.product import PROTOCOLS, Cage
from fabopt.schema.resilience import Homing, asks_for_pair
from fabopt.schema.roles import Carried
from fabopt.schema.server import Server
from fabopt.units import exact, mbps


@dataclass(frozen=True, eq=False)
class AttachmentDemand:
    """The demand of one attachment. ``port``: the use of its cages, None where the case does not describe it.

    ``tier``: ``leaf``: ports dealt over all leaves; else on free ports. ``counts``: whether they count in
    oversubscription; ``manages``: whether they are hosts of management, which may run a subnet manager.

    ``network``: their logical fabric, with a ratio of its own; ``nic``: for ports of servers, the NICs of a server.
    """

    name: str
    ports: int
    port_mbps: int | None
    port: PortType | None
    buys: Literal["both", "near", "none"]
    # at the leaf, where it is not the fabric's
    oversubscription: Fraction | None = None
    network: str | None = None
    nic: NicOption | None = None
    # ports that each stage adds; empty: all are there from the first one on
    adds: tuple[int, ...] = ()
    tier: AttachmentTier = "leaf"
    counts: bool = True
    manages: bool = False
    # on leaves port by port, beside those in service, which stay on theirs; else dealt over them as if there were none
    listed: bool = False
    # runs in metres to the tiers that it is on in service, which stay as they are on a floor
    there_m: tuple[tuple[str, float], ...] = ()

    @property
    def kinds_there(self) -> tuple[str, ...]:
        """The kinds of its links whose runs stay as they are."""
        return tuple(map(self.run_to, dict(self.there_m)))

    def run_m(self, runs_m: Mapping[str, float], tier: str) -> float:
        """The run of its links to a tier in metres; ``runs_m``: by kind of links, of those that are new."""
        kind, there = self.run_to(tier), dict(self.there_m)
        return there[tier] if tier in there else runs_m[kind]

    def run_to(self, tier: str) -> str:
        """The kind of links that sets the run of its links to a tier."""
        return f"attachment-{tier}" if self.nic is None else "server-leaf"

    @property
    def by_stage(self) -> tuple[int, ...]:
        """Ports that are dealt over the leaves, by the stage that adds them."""
        return (self.adds or (self.ports,)) if self.is_dealt else ()

    @property
    def is_dealt(self) -> bool:
        """Whether its ports are dealt over all leaves."""
        return self.tier == "leaf" and not self.listed

    def on_tier(self, places: Sequence[HostPort], tier: str) -> AttachmentDemand:
        """The part of an attachment on free ports that is on switches of a tier; ``places``: of all its ports."""
        stages = [stage for stage, ports in enumerate(self.adds) for _ in range(ports)] or [0] * len(places)
        there = Counter(stage for stage, place in zip(stages, places, strict=True) if place[0] == tier)
        adds = tuple(there[stage] for stage in range(len(self.adds))) if there.total() else ()
        return replace(self, ports=there.total(), adds=adds)

    def takes(self, tier: str) -> bool:
        """Whether its ports may be on switches of a tier."""
        return self.tier in (tier, "any")


@dataclass(frozen=True, eq=False)
class LogicalFabric:
    """A logical fabric on the switches of another: the NICs that meet its demand, and its ratio at the leaf.

    ``left_out_nics``: NICs excluded by default rules that may yield; ``homing``: of the case.
    """

    name: str
    role: str
    nics: Nics
    oversubscription: Fraction
    left_out_nics: Nics = field(default_factory=dict)
    homing: Homing | None = None

    def is_paired(self, kept_rules: Collection[str]) -> bool:
        """Whether every server is on two switches, given the default rules that its host keeps."""
        return self.homing == "pair" or (PAIR in kept_rules and asks_for_pair(self.role, self.homing))

    def equipped(self, nic: NicOption, servers: int) -> AttachmentDemand:
        """The attachment of the ports of ``servers`` servers with a choice of NICs."""
        ports, speed = servers * nic.ports_per_server, nic.port.lane.port_mbps
        return AttachmentDemand(
            self.name, ports, speed, nic.port, "both", self.oversubscription, network=self.name, nic=nic
        )


@dataclass(frozen=True)
class SwitchPorts:
    """Ports of management that an out-of-band fabric has for every switch of all fabrics, and the use of their cage.

    ``counted``: switches at each stage whose ports are among its attachments; empty: those of none yet.
    """

    per_switch: int
    port: PortType
    counted: ByStage = ()

    def of(self, switches: ByStage) -> AttachmentDemand:
        """The attachment of the ports of all switches, counted at every stage."""
        ports = tuple(number * self.per_switch for number in switches)
        adds = added(ports) if ports[0] < ports[-1] else ()
        return AttachmentDemand(SWITCHES, ports[-1], self.port.lane.port_mbps, self.port, "both", adds=adds)


def attachment_demand(attachment: Attachment, ports: PortTypes) -> AttachmentDemand:
    """The demand of an attachment of a case."""
    port = None
    if attachment.form_factor is not None and attachment.split is not None:
        cage = Cage(
            count=1, form_factor=attachment.form_factor, splits=(attachment.split,), lane_gbps=attachment.lane_gbps
        )
        port = ports.of(cage, attachment.split)
    speed = mbps(attachment.gbps) if attachment.gbps is not None else None
    if speed is None and attachment.split is not None:
        speed = parse_split(attachment.split).port_mbps
    own = None if attachment.max_oversubscription is None else exact(attachment.max_oversubscription)
    return AttachmentDemand(
        attachment.name, attachment.ports, speed, port, attachment.buys, own, attachment.network, adds=attachment.adds,
        tier=attachment.placed_on, counts=attachment.counts, manages=attachment.kind == "management",
    )  # fmt: skip


def logical_fabric_of(
    carried: Carried, offering: Offering, server: Server, pcie: Mapping[int, float], rules: Rules
) -> LogicalFabric:
    """The logical fabric that a fabric carries. Its NICs have one port a cage."""
    homing: Homing | None = "pair" if carried.homing in (None, "pair") else None
    own = Fabric(
        name=carried.name, role=carried.role, nics=carried.nics, nics_per_server=carried.nics_per_server, homing=homing
    )
    demand = mbps(carried.min_gbps_per_gpu)
    nics: dict[str, tuple[NicOption, ...]] = {
        protocol: tuple(
            option
            for option in nic_options(own, protocol, offering, server, pcie, demand, Refusals())
            if option.port.ports == 1
        )
        for protocol in PROTOCOLS
    }
    kept, left_out = by_rules(nics, rules)
    ratio = exact(carried.max_oversubscription_leaf)
    by_protocol = MappingProxyType(dict(kept)), MappingProxyType(dict(left_out))
    return LogicalFabric(carried.name, carried.role, by_protocol[0], ratio, by_protocol[1], carried.homing)


def switch_ports(fabric: Fabric, offering: Offering, server: Server) -> SwitchPorts | None:
    """Management ports per switch of an out-of-band fabric, in cages like the servers' controllers'; else None."""
    if fabric.oob is None:
        return None
    cage = port_cage(server, {nic.id: nic.cages for nic in offering.offered.nics})
    return SwitchPorts(
        fabric.oob.ports_per_switch, offering.ports.of(cage.model_copy(update={"count": 1}), cage.splits[0])
    )


INFINIBAND = "infiniband"
ONE, TWO = 1, 2


class Twin(NamedTuple):
    """A switch with a subnet manager that can take the place of one without."""

    item: Item
    product: Switch


class SubnetThere(NamedTuple):
    """A subnet in service that a pod joins: its ports of NICs and attachments; ports of hosts that manage it; of its
    switches that do, but those that are joined (``role``), the most ports that each manages, None: any number.
    """

    nodes: int = 0
    hosts: int = 0
    most: tuple[int | None, ...] = ()
    role: Literal["leaf", "spine", "core"] = "spine"

    def managers(self, nodes: int) -> int:
        """How many hosts and switches manage ``nodes`` ports."""
        return self.hosts + sum(most is None or nodes <= most for most in self.most)


@dataclass(frozen=True, eq=False)
class SubnetManagers:
    """The rule for one fabric. ``fewest``: managers of a subnet, where possible; ``twins``: on sale, by id of switch;
    ``is_asked_for``: whether the case names the rule, so that it never yields; ``there``: what a pod joins.
    """

    fewest: int
    twins: Mapping[str, Twin]
    is_asked_for: bool
    there: SubnetThere | None = None

    def manages_as(self, switch: Switch, other: Switch) -> bool:
        """Whether designs with ``switch`` in place of all ``other`` can be managed as cheaply."""
        if other.managed:
            return self._manages_as(switch, other) or switch.managed_twin == other.id
        twin = self.twins.get(other.id)
        if twin is None or self._manages_as(switch, twin.product):
            return True
        own = self.twins.get(switch.id)
        return own is not None and own.item is twin.item

    @staticmethod
    def _manages_as(switch: Switch, other: Switch) -> bool:
        most = switch.max_managed_nodes
        enough = most is None or (other.max_managed_nodes is not None and most >= other.max_managed_nodes)
        return bool(switch.managed) and enough


def subnet_managers(case: Case, fabric: Fabric, offering: Offering) -> SubnetManagers | None:
    """The rule, where it holds, else None; switches run a subnet manager only if the catalog says so."""
    switches = {switch.id: switch for switch in offering.offered.switches if switch.protocol == INFINIBAND}
    asked = is_asked_for(case.rules, SUBNET_MANAGER)
    if not is_kept(case.rules, SUBNET_MANAGER) or fabric.protocol not in ("any", INFINIBAND):
        return None
    fewest = TWO if fabric.keeps_default else ONE
    return _RULES.of(offering, (fewest, asked), lambda: SubnetManagers(fewest, _twins(switches, offering), asked))


# One of each in an offering, so that fabrics under the same rule are known to be.
_RULES: Lookup[Offering, tuple[int, bool], SubnetManagers] = Lookup()


def _twins(switches: Mapping[str, Switch], offering: Offering) -> Mapping[str, Twin]:
    twins: dict[str, Twin] = {}
    for switch in switches.values():
        twin = switches.get(switch.managed_twin or "")
        item = None if twin is None else offering.item_table.item(twin.id)
        if twin is not None and item is not None:
            twins[switch.id] = Twin(item, twin)
    return MappingProxyType(twins)


def can_manage(product: Switch, nodes: int) -> bool:
    """Whether a switch runs a subnet manager for ``nodes`` ports; without a limit in the catalog, any number."""
    return bool(product.managed) and (product.max_managed_nodes is None or nodes <= product.max_managed_nodes)
