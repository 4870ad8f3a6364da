"""A fabric to design: its part of the resolved case, every default filled in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from types import MappingProxyType

from fabopt.parts.latency import LatencyLimit
from fabopt.parts.switches import TIER_ROLES, SwitchType
from fabopt.problem.attachments import (
    AttachmentDemand,
    LogicalFabric,
    SwitchPorts,
)
from fabopt.problem.default_rules import NO_DEFAULT_RULES, DefaultRules
from fabopt.problem.generations import Switches
from fabopt.problem.interchangeable import InterchangeableSwitches
from fabopt.problem.link_runs import LinkRuns
from fabopt.problem.live import NOTHING_LIVE, LiveNetwork
from fabopt.problem.nic_rules import NO_OTHER_NICS, Nics, OtherNics, broken_by
from fabopt.problem.on_floor import ANYWHERE_ON_IT, OnFloor
from fabopt.problem.out_of_band import ByStage
from fabopt.problem.pairing import NO_PAIRS, LeafPairs, Unpaired
from fabopt.problem.ratios import Ratios
from fabopt.problem.shapes import LeafGroups, Shapes
from fabopt.rules.defaults import NIC_RULES, ONE_GENERATION, PAIRING, SUBNET_MANAGER
from fabopt.schema.operate import Roce
from fabopt.schema.product import Protocol
from fabopt.schema.resilience import Surviving
from fabopt.schema.tiers import TierUse
from fabopt.workload.deadline import Deadline


@dataclass(frozen=True)
class FigureDemands:
    """Figures that a case, or a point of a front, asks of a fabric.

    ``bisection``, ``alltoall``, ``allreduce``: least Mb/s per GPU; ``headroom``: least servers that can be added within
    ``leaf_ratio``, the case's oversubscription at the leaves; ``deadline``: of a step of the case's model.
    """

    leaf_ratio: Fraction
    bisection: Fraction = Fraction(0)
    headroom: int = 0
    alltoall: Fraction = Fraction(0)
    allreduce: Fraction = Fraction(0)
    deadline: Deadline | None = None


@dataclass(frozen=True)
class Survival:
    """Bandwidth per GPU (Mb/s) that must survive the failure of ``count`` devices or links of a kind.

    ``outlived``: for a rack's failure, whether other racks have servers.
    """

    failed: Surviving
    count: int
    least_mbps: int
    outlived: bool = False


@dataclass(frozen=True, eq=False)
class FabricProblem:
    """A fabric to design."""

    name: str
    role: str
    protocols: tuple[Protocol, ...]
    shapes: Shapes
    leaf_groups: LeafGroups
    gpu_mbps: int
    ratios: Ratios
    reserve: Fraction
    attachments: tuple[AttachmentDemand, ...]
    nics: Nics
    switches: Switches
    runs: LinkRuns
    other_nics: OtherNics = NO_OTHER_NICS
    on_floor: OnFloor = ANYWHERE_ON_IT
    figure_demands: FigureDemands | None = None
    resilience: tuple[Survival, ...] = ()
    rules: DefaultRules = NO_DEFAULT_RULES
    # out-of-band: what every switch of all fabrics takes
    per_switch: SwitchPorts | None = None
    # logical fabrics on its switches while their NICs are open: ``fabopt.problem.logical_fabrics`` has it with each
    # choice of NICs
    logical_fabrics: tuple[LogicalFabric, ...] = ()
    # which switches may stand in for those of a tier; None where rule ``switches_are_interchangeable`` lets none
    interchangeable: InterchangeableSwitches | None = None
    # what the packet memory of its switches has to hold; None where that is no condition
    roce: Roce | None = None
    # how long a round trip between any two servers may take; None: any
    latency: LatencyLimit | None = None
    leaf_pairs: LeafPairs = NO_PAIRS
    live: LiveNetwork = NOTHING_LIVE

    def __post_init__(self) -> None:
        roles = {protocol: MappingProxyType(dict(switches)) for protocol, switches in self.switches.items()}
        object.__setattr__(self, "nics", MappingProxyType(dict(self.nics)))
        object.__setattr__(self, "switches", MappingProxyType(roles))

    @property
    def fewest_pods(self) -> int:
        """Pods below cores: two at least, or there would be no cores; one below those in service."""
        joined = self.live.joined
        return 1 if joined is not None and joined.role == "core" else 2

    def within(self, limit: LatencyLimit | None) -> FabricProblem:
        """The fabric with a limit on its round trips, without switches and tiers that take longer, whatever else there
        is. Rule ``paths_keep_latency``
        """
        if limit is None:
            return self
        bound = replace(self, latency=limit)
        switches = {
            protocol: {role: tuple(filter(bound.may_be_in_time, of_role)) for role, of_role in roles.items()}
            for protocol, roles in self.switches.items()
        }
        fastest = [
            {role: min(of_role, key=lambda one: limit.rank(one.product)) for role, of_role in roles.items() if of_role}
            for roles in switches.values()
        ]
        tiers = (
            number for number in self.shapes.tiers
            if any(
                len(path) == number and bound.may_be_in_time(**path)
                for path in ({role: one[role] for role in TIER_ROLES[:number] if role in one} for one in fastest)
            )
        )  # fmt: skip
        return replace(bound, switches=switches, shapes=replace(self.shapes, tiers=tuple(tiers)))

    def may_be_in_time(self, leaf: SwitchType, spine: SwitchType | None = None, core: SwitchType | None = None) -> bool:
        """Whether a round trip over these switches of a Clos may take as little as its limit, by its metres alone."""
        if self.latency is None:
            return True
        tiers = [switch.product for switch in (leaf, spine, core) if switch is not None]
        metres = 2 * sum(self.runs.m[run] for run in ("server-leaf", "leaf-spine", "spine-core")[: len(tiers)])
        return self.latency.may_be([*tiers, *tiers[-2::-1]], metres)

    def is_bound_by(self, rule: str) -> bool:
        """Whether a rule that holds may leave a design out."""
        if rule == ONE_GENERATION:
            return self.rules.generations is not None
        if rule == SUBNET_MANAGER:
            return self.rules.managers is not None
        if rule == PAIRING:
            return self.leaf_pairs.are_joined
        return rule not in NIC_RULES or self.leaves_nics_out(rule)

    def leaves_nics_out(self, rule: str) -> bool:
        """Whether a rule about NICs excludes a NIC of the fabric or of a logical fabric on it."""
        others = (self.other_nics.by_rules, *(fabric.left_out_nics for fabric in self.logical_fabrics))
        return any(rule in broken_by(nics) for nics in others)

    @property
    def demanded(self) -> FigureDemands:
        """The figures that are asked of it, where there are any."""
        return self.figure_demands or FigureDemands(self.ratios.leaf)

    def keeping(self, rules: tuple[str, ...], left_out: tuple[str, ...]) -> FabricProblem:
        """The fabric bound to some of its default rules."""
        own = replace(self.rules, kept=rules, left_out=left_out)
        bound = replace(self, rules=own, leaf_pairs=self.leaf_pairs.under(rules))
        return bound if bound.leaf_pairs.are_joined == self.leaf_pairs.are_joined else bound.with_pairs()

    def with_pairs(self) -> FabricProblem:
        """The fabric with the families and switches that its rules on pairs leave it."""
        free = self.leaf_pairs.free or Unpaired(self.shapes.topologies, self.switches)
        space = self.leaf_pairs.within(free)
        shapes, pairs = replace(self.shapes, topologies=space.topologies), replace(self.leaf_pairs, free=free)
        return replace(self, shapes=shapes, switches=space.switches, leaf_pairs=pairs)

    @cached_property
    def last_may_differ(self) -> bool:
        """Whether the last leaf group may be unlike the others on some of its tiers."""
        return bool(self.tiers_of_own_last) and self.runs.last_may_differ

    @cached_property
    def tiers_of_own_last(self) -> tuple[int, ...]:
        """The numbers of tiers on which the last leaf group may be unlike the others."""
        return self.leaf_groups.last.tiers_of(self.shapes.tiers)

    def last_may_differ_on(self, tiers: int) -> bool:
        """Whether the last leaf group may be unlike the others on this number of tiers."""
        return self.last_may_differ and tiers in self.tiers_of_own_last

    def may_stay(self, tier: TierUse, switch: SwitchType) -> bool:
        """Whether switches in service of a tier may be among those of one that is sized with ``switch``."""
        rule = self.interchangeable
        products = (switch,) if rule is None else rule.of(tier.role, switch)
        return {own.id for own in tier.types} <= {one.id for one in products}

    def with_switches(self, switches: ByStage) -> FabricProblem:
        """An out-of-band fabric with management ports for ``switches`` of all fabrics at each stage; other fabrics
        unchanged.
        """
        if self.per_switch is None:
            return self
        ports = replace(self.per_switch.of(switches), listed=self.live.in_service is not None)
        counting = replace(self.per_switch, counted=switches)
        return replace(self, attachments=(*self.attachments, ports), per_switch=counting)

    @property
    def counted(self) -> ByStage:
        """Switches of all fabrics, at each stage, whose ports are among the attachments; empty for none."""
        return () if self.per_switch is None else self.per_switch.counted

    @property
    def attachment_ports(self) -> int:
        """Leaf ports of attachments that are dealt over all leaves."""
        return sum(self.attached)

    @cached_property
    def attached(self) -> tuple[int, ...]:
        """Leaf ports of attachments dealt over the leaves, by the stage that adds them, or once."""
        adds = [attachment.by_stage for attachment in self.attachments]
        return tuple(map(sum, zip_longest(*adds, fillvalue=0))) or (0,)

    @property
    def attachment_oversubscription(self) -> Fraction | None:
        """The least that an attachment has of its own; None: all have the fabric's. Logical fabrics aside."""
        own = [attachment for attachment in self.attachments if attachment.network is None]
        return min(
            (attachment.oversubscription for attachment in own if attachment.oversubscription is not None), default=None
        )

    @property
    def on_free_ports(self) -> tuple[AttachmentDemand, ...]:
        """Attachments on free ports of leaves and spines."""
        return tuple(attachment for attachment in self.attachments if not attachment.is_dealt)

    @property
    def all_count(self) -> bool:
        """Whether all attachments that are dealt over the leaves count in oversubscription."""
        return all(attachment.counts for attachment in self.attachments if attachment.is_dealt)

    @property
    def networked(self) -> bool:
        """Whether some endpoints belong to a logical fabric."""
        return any(attachment.network is not None for attachment in self.attachments)
