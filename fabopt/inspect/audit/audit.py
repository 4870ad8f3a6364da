"""The audit of a design made by hand: against the rules of the field, its case, and the best design.

Rules on numbers: of devices and links by tier, and of the parts of a bill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fabopt.errors import refusal
from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.money import CostComparison, compared_cost, price_finding
from fabopt.inspect.audit.panels import traced
from fabopt.inspect.audit.ports import ports_at, speeds_of_nic
from fabopt.inspect.audit.rules_bill import bill_findings
from fabopt.inspect.audit.rules_network import (
    LinkSpeeds,
    WiredByHand,
    ratio_is_as_claimed,
    shape_is_needed,
    stages_can_be_reached,
    storage_is_apart,
    striping_is_even,
    subnet_is_managed,
)
from fabopt.inspect.audit.rules_parts import (
    cables_are_long_enough,
    modules_are_enough,
    nic_fits_slot,
    optics_mate,
    racks_have_power,
)
from fabopt.inspect.audit.rules_ports import (
    cables_have_ends,
    headroom_fits,
    parts_are_qualified,
    ports_exist,
    protocols_agree,
    speeds_agree,
)
from fabopt.inspect.audit.rules_servers import (
    counted_uplinks,
    nics_divide_over_leaves,
    peers_are_joined_alike,
    rails_do_not_cross,
    servers_are_all_there,
    servers_are_joined,
)
from fabopt.inspect.audit.tables import AuditFinding, CountedPart, HandCounts, HandMade, listed
from fabopt.schema.base import ratio
from fabopt.schema.case import Case, Fabric, Oversubscription
from fabopt.schema.catalog import Catalog, Nic, Switch
from fabopt.schema.design import Design
from fabopt.units import mbps, some

TIERS = ("leaf", "spine", "core")
# Transceivers beyond those that are needed count as spares up to so large a share, and to one more in each device.
SPARE_SHARE = Fraction(1, 10)
_TWIN = 2


@dataclass(frozen=True, eq=False)
class CountedDesign:
    """Numbers of a design by hand, with what follows from its case; a number that nobody says is None."""

    context: HandContext
    counts: HandCounts
    claimed: float | None

    def number(self, name: str) -> int | None:
        """A number as the file says it."""
        return self.counts.numbers.get(name)

    @cached_property
    def fabric(self) -> Fabric | None:
        """The fabric that numbers are of: the first of the case."""
        return next(iter(self.context.fabrics.values()), None)

    @cached_property
    def servers(self) -> int | None:
        """Servers: as said, or GPUs over those of a server."""
        server, gpus = self.context.server, self.number("gpus")
        if self.number("servers") is None and gpus and server is not None and server.gpus:
            return gpus // server.gpus
        return self.number("servers")

    @cached_property
    def nics(self) -> int | None:
        """Ports of a server in the fabric."""
        design, server = self.context.design_of(self.fabric), self.context.server
        built_in = sum(nic.count for nic in server.nics if nic.role == "compute") if server is not None else 0
        best = None if design is None else design.nic.per_server * design.nic.ports_per_nic
        return self.number("nics_per_server") or best or built_in or None

    @cached_property
    def server_leaf(self) -> int | None:
        """Links of servers."""
        given = self.number("server_leaf")
        return given if given is not None or not self.servers or not self.nics else self.servers * self.nics

    @cached_property
    def attached(self) -> int:
        """Links of attachments."""
        return self.number("attachment_links") or 0

    def switch(self, role: str) -> Switch | None:
        """The product of a tier: as named, the only switch of the bill, or the best design's."""
        named = self.counts.products.get(role) or self.counts.products.get("switch", "")
        product = self.context.product(named, Switch) if named else None
        in_bill = [own for part in self.counts.parts if (own := self.context.product(part.name, Switch)) is not None]
        design = self.context.design_of(self.fabric)
        tiers = () if design is None else design.tiers
        best = next((self.context.product(tier.id, Switch) for tier in tiers if tier.role == role), None)
        return product or (in_bill[0] if len(in_bill) == 1 else None) or best

    def radix(self, role: str) -> int | None:
        """Ports of a switch of a tier."""
        switch = self.switch(role)
        return self.number("radix") or (None if switch is None else ports_at(switch, self.mbps))

    @cached_property
    def mbps(self) -> int | None:
        """Speed of links: as said, as of the best design's NICs, or of those built into the server."""
        design, server, given = self.context.design_of(self.fabric), self.context.server, self.number("gbps")
        if given is not None or design is not None:
            return mbps(given) if given is not None else mbps(design.nic.gbps if design is not None else 0)
        ids = [nic.id for nic in server.nics if nic.role == "compute"] if server is not None else []
        nics = [nic for id_ in ids if (nic := self.context.product(id_, Nic)) is not None]
        return max((rate for nic in nics for rate in speeds_of_nic(nic, 1)), default=None)


def count_findings(context: HandContext, claimed: float | None) -> Iterator[AuditFinding]:
    """The findings of all rules on numbers."""
    counts = context.hand.counts
    assert counts is not None
    counted = CountedDesign(context, counts, counts.claimed if claimed is None else claimed)
    yield from counted_uplinks(counts.numbers, counted.nics)
    for rule in (_ports, _stripes, _ratios, _links, _tiers, _nics, _transceivers):
        yield from rule(counted)
    parts: Sequence[CountedPart] = counts.parts
    if parts:
        yield from bill_findings(context, parts)


def _ports(counted: CountedDesign) -> Iterator[AuditFinding]:
    """A1: switches of a tier have the ports that its links take."""
    below = {"leaf": (counted.server_leaf or 0) + counted.attached, "spine": counted.number("leaf_spine") or 0,
             "core": counted.number("spine_core") or 0}  # fmt: skip
    above = {"leaf": counted.number("leaf_spine") or 0, "spine": counted.number("spine_core") or 0, "core": 0}
    for role in TIERS:
        switches, radix = counted.number(role), counted.radix(role)
        used = below[role] + above[role]
        if switches and radix and used > switches * radix:
            there = f"{switches:,} x {radix} = {switches * radix:,}"
            text = f"{some(used, 'port')} of {role} switches are needed, {there} are there"
            yield AuditFinding("A1", role, str(used), str(switches * radix), text)


def _stripes(counted: CountedDesign) -> Iterator[AuditFinding]:
    """A2: links divide over the pairs of switches, of a pod where there are cores."""
    fabric = counted.fabric
    if fabric is not None and fabric.striping != "even":
        return
    leaf, spine, links = (counted.number(name) for name in ("leaf", "spine", "leaf_spine"))
    if not leaf or not spine or not links:
        return
    pods = (
        [1]
        if not counted.number("core")
        else [p for p in range(1, min(leaf, spine) + 1) if not (leaf % p or spine % p)]
    )
    if not any(links * number % (leaf * spine) == 0 for number in pods):
        share = f"{links / (leaf * spine):.3g}"
        text = f"{links:,} uplinks over {leaf} leaves and {spine} spines are {share} for each pair: stripes are uneven"
        yield AuditFinding("A2", "leaf - spine", share, "a whole number", text)


def _ratios(counted: CountedDesign) -> Iterator[AuditFinding]:
    """A3: links down over links up are within what is claimed; where uplinks are not said, within what ports allow."""
    most = None if counted.fabric is None else counted.fabric.max_oversubscription
    whole = most if isinstance(most, Oversubscription) else Oversubscription(leaf=most, spine=most)
    tiers = (
        ("leaf", counted.server_leaf, _uplinks(counted), whole.leaf),
        ("spine", counted.number("leaf_spine"), counted.number("spine_core"), whole.spine),
    )
    for role, down, up, allowed in tiers:
        claim = counted.claimed if counted.claimed is not None else allowed
        if down and up and claim is not None and Fraction(down, up) > ratio(claim):
            text = f"{role}: {down:,} links down and {up:,} up are {down / up:.4g}:1, {claim:g}:1 is claimed"
            yield AuditFinding("A3", role, f"{down / up:.4g}", f"{claim:g}", text)


def _uplinks(counted: CountedDesign) -> int | None:
    """Links between leaves and spines: as said, or as many as ports of both tiers allow."""
    given, leaf, spine = (counted.number(name) for name in ("leaf_spine", "leaf", "spine"))
    ports, tops = counted.radix("leaf"), counted.radix("spine")
    if given is not None or not leaf or not spine or not ports or not tops or counted.server_leaf is None:
        return given
    return max(0, min(leaf * ports - counted.server_leaf - counted.attached, spine * tops)) or None


def _links(counted: CountedDesign) -> Iterator[AuditFinding]:
    """A8: there is a cable for every link."""
    cables = counted.number("cables")
    links = [counted.server_leaf, counted.number("leaf_spine"), counted.number("spine_core") or 0]
    if cables is None or None in links:
        return
    needed = sum(number or 0 for number in links)
    if cables < needed:
        text = f"{some(cables, 'cable')} for {needed:,} links: {needed - cables:,} links have none"
        yield AuditFinding("A8", "cables", str(cables), str(needed), text)


def _tiers(counted: CountedDesign) -> Iterator[AuditFinding]:
    """A9, A11 and A14 of numbers."""
    leaf, spine = counted.number("leaf"), counted.number("spine")
    below, radix = (counted.server_leaf or 0) + counted.attached, counted.radix("leaf")
    if spine and leaf and (leaf == 1 or (radix and 0 < below <= radix)):
        text = f"{some(spine, 'spine')} above {some(below, 'port')} that one leaf takes alone"
        yield AuditFinding("A11", "spine", str(spine), "0", text)
    for role, number in (("leaf", leaf), ("spine", spine)):
        if number == 1:
            text = f"one {role}, and no other takes over where it fails"
            yield AuditFinding("A14", role, "1", "2", text)
    switch = counted.switch("leaf")
    if leaf and switch is not None and switch.protocol == "infiniband" and not switch.managed and not counted.attached:
        text = f"no host is said to run a subnet manager, and {switch.id} is not known to"
        yield AuditFinding("A9", "leaf", "none", "1", text)


def _nics(counted: CountedDesign) -> Iterator[AuditFinding]:
    """A20: each port of a server has a link, and these divide over the leaves where leaves are fewer."""
    leaf, nics, fabric, links = counted.number("leaf"), counted.nics, counted.fabric, counted.server_leaf
    if nics and counted.servers and links is not None and links != counted.servers * nics:
        product = f"{counted.servers:,} x {nics} = {counted.servers * nics:,}"
        text = f"{some(links, 'link')} of servers, and their ports are {product}"
        yield AuditFinding("A20", "server", str(links), str(counted.servers * nics), text)
    if fabric is not None and fabric.rails != "aligned":
        return
    if leaf and nics and leaf < nics and nics % leaf:
        text = f"{nics} ports of a server do not divide over {leaf} leaves"
        yield AuditFinding("A20", "server", str(nics), f"a multiple of {leaf}", text)


def _transceivers(counted: CountedDesign) -> Iterator[AuditFinding]:
    """A12 and A13: transceivers of servers and of switches have as many ports as links end there."""
    between = [counted.number("leaf_spine"), counted.number("spine_core") or 0]
    if counted.server_leaf is None or between[0] is None:
        return
    switches = sum(counted.number(role) or 0 for role in TIERS) or counted.number("switches") or 0
    ends = {"server": counted.server_leaf, "switch": counted.server_leaf + _TWIN * sum(one or 0 for one in between)}
    for side, devices in (("server", counted.servers or 0), ("switch", switches)):
        twin, single = counted.number(f"{side}_twin_transceivers"), counted.number(f"{side}_transceivers")
        if twin is None and single is None:
            continue
        ports = _TWIN * (twin or 0) + (single or 0)
        attached = counted.attached if side == "switch" else 0
        most = (ends[side] + attached) * (1 + SPARE_SHARE) + devices
        if ports < ends[side] or ports > most:
            text = f"transceivers of {plural_of(side)} have {ports:,} ports, {ends[side]:,} links end there"
            yield AuditFinding("A12", side, str(ports), str(ends[side]), text)
        elif ports <= ends[side] + attached:
            text = f"transceivers of {plural_of(side)} are exactly those that links need: none is spare"
            yield AuditFinding("A13", side, "0", "some", text)


def plural_of(side: str) -> str:
    """``servers``, ``switches``."""
    return "servers" if side == "server" else "switches"


# Of names that match nothing in the case, so small a share makes a file one of another fabric.
_OTHER_FABRIC = 0.5


@dataclass(frozen=True)
class Audit:
    """The result of an audit. ``cost``: compared with the best design; None without one, or without prices.

    ``numbers``: of devices and links in the file, by kind.
    """

    hand: HandMade
    findings: Sequence[AuditFinding]
    numbers: Sequence[tuple[str, int]]
    cost: CostComparison | None
    notes: Sequence[str]

    @property
    def ok(self) -> bool:
        """Whether no finding is a fault."""
        return all(finding.severity == "remark" for finding in self.findings)


def audited(hand: HandMade, catalog: Catalog, case: Case | None, best: Design | None, claimed: float | None) -> Audit:
    """Audit a design. ``best``: design of the case; ``claimed``: oversubscription that it should have.

    Raises ``InputError`` where the file is of another cluster than the case.
    """
    hand = traced(hand)
    context = HandContext(hand, catalog, case, best)
    _require_same_cluster(context)
    cost = compared_cost(context)
    findings = list(count_findings(context, claimed) if hand.counts is not None else _wired(context, claimed))
    findings[:0] = servers_are_all_there(context)
    findings, more = listed([*findings, *price_finding(cost, best)])
    notes = (*hand.notes, *context.assumptions, *_not_known(context), *more, *(cost.notes if cost is not None else ()))
    return Audit(hand, findings, _numbers(context), cost, notes)


def _wired(context: HandContext, claimed: float | None) -> Iterator[AuditFinding]:
    """The findings of all rules on links."""
    speeds = LinkSpeeds(context)
    wired = WiredByHand(context, speeds, claimed)
    yield from servers_are_joined(context)
    yield from ports_exist(context)
    yield from striping_is_even(wired)
    yield from peers_are_joined_alike(context)
    yield from ratio_is_as_claimed(wired)
    yield from nic_fits_slot(context, speeds)
    yield from speeds_agree(context, speeds)
    for rule in (
        protocols_agree, optics_mate, parts_are_qualified, cables_are_long_enough, cables_have_ends, subnet_is_managed,
    ):  # fmt: skip
        yield from rule(context)
    yield from rails_do_not_cross(wired)
    yield from shape_is_needed(wired)
    yield from modules_are_enough(context, speeds)
    yield from stages_can_be_reached(wired)
    yield from storage_is_apart(context)
    yield from racks_have_power(context)
    yield from headroom_fits(context, speeds)
    yield from nics_divide_over_leaves(wired)


def _require_same_cluster(context: HandContext) -> None:
    """Refuse a file without servers, or with a number of servers far from any stage of the case."""
    if context.embedded is None or context.hand.counts is not None:
        return
    servers = context.servers
    wanted = [stage.servers or 0 for stage in context.embedded.case.stages or ()]
    if wanted and not any(number * _OTHER_FABRIC <= servers <= number / _OTHER_FABRIC for number in wanted):
        raise refusal(
            context.hand.file,
            "",
            f"{some(servers, 'server')} here, {wanted[-1]:,} in the case: this is of another cluster",
            hint="leave --case out, or name the case of this file",
        )


def _not_known(context: HandContext) -> Iterator[str]:
    unknown = [name for name in context.switches() if name not in context.switch_of]
    if unknown:
        yield (
            f"{some(len(unknown), 'switch')} of no known product ({unknown[0]}, ...): rules on their ports and speeds "
            "are not applied"
        )


def _numbers(context: HandContext) -> list[tuple[str, int]]:
    counts = context.hand.counts
    if counts is not None:
        return [*counts.numbers.items(), *((part.name, part.quantity) for part in counts.parts)]
    roles = list(context.roles.values())
    numbers = [(role, roles.count(role)) for role in ("server", "attachment", "leaf", "spine", "core")]
    return [(role, number) for role, number in numbers if number] + [("links", len(context.hand.links))]
