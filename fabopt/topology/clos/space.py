"""All Clos candidates of a fabric whose least cost is below a threshold, found without building the others.

The cost of a Clos separates by tier, so a block (card, leaf switch, how its cages are used) is bounded from below
before any of its sizes is looked at, a size before any spine, a spine before any core. Blocks are opened in the
order of their bound; the threshold falls to the least cost met. Whatever is cut costs more than the threshold by its
bound, so that the caller can prove that nothing cheaper was left out. See docs/formulation.md, "The search".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.goods import Item
from fabopt.links import Assembly, Mode, PortType, whole_only
from fabopt.problem import CageUse, FabricProblem, NicOption, Problem, SwitchType
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.needs import Costs, Floats, ceil_of

Ints = NDArray[np.int64]
# Bounds are floating-point sums of whole numbers; a candidate is cut only when it is past the threshold by more.
RELATIVE_SLACK = 1e-9


@dataclass(frozen=True)
class Restriction:
    """A part of the space: what the best design of another kind may be made of. None: anything."""

    protocol: str | None = None
    tiers: int | None = None
    port_mbps: int | None = None
    not_leaf: str | None = None


class Batch(NamedTuple):
    """Candidates with the same hardware; ``cost`` has shape (metrics, size)."""

    parts: Parts
    tiers: int
    shape: Shape
    cost: Floats


@dataclass
class Found:
    """Result of a search. ``least``: least objective met; ``sized``: candidates whose cost was worked out."""

    batches: list[Batch] = field(default_factory=list)
    least: float = np.inf
    sized: int = 0
    stopped: bool = False

    def add(self, batch: Batch) -> None:
        """Keep candidates and lower the least objective."""
        self.batches.append(batch)
        self.least = min(self.least, float(batch.cost[0].min()))


class Block(NamedTuple):
    """A card and a leaf switch with its cages' use, and a bound on everything made with them."""

    bound: float
    nic: NicOption
    leaf: SwitchType
    down: CageUse
    up: CageUse | None


class _Queued(NamedTuple):
    """A block in wait: ``level`` is the number of tiers that its bound counts."""

    bound: float
    level: int
    number: int
    block: Block


class _Upper(NamedTuple):
    """A spine switch as seen from a leaf: what it takes downwards, and (three tiers) upwards."""

    switch: SwitchType
    down: CageUse
    up: CageUse | None


def usable_ports(use: CageUse, switch: SwitchType) -> int:
    """Most ports of one use of a switch's cages."""
    return min(use.cages * use.lane.ports, switch.max_ports)


def fewest_together(joins: Sequence[Assembly]) -> int:
    """Ports of a box that one peer takes at the least: all of a wire's, where wires join pairs of boxes only."""
    return min(one.ports_per_wire if one.mode is Mode.PAIR else 1 for one in joins)


def divisors(number: int) -> list[int]:
    """All divisors, rising."""
    return [one for one in range(1, number + 1) if number % one == 0]


@dataclass
class Known:
    """What is worked out once for a fabric at some weights, whatever part of its space is searched."""

    leaf_shares: dict[tuple[Any, ...], Floats] = field(default_factory=dict)
    core_links: dict[tuple[PortType, str], Floats] = field(default_factory=dict)
    spine_shares: dict[tuple[str, int, str, int, str], Floats] = field(default_factory=dict)
    aboves: dict[tuple[PortType, str, int], Floats] = field(default_factory=dict)
    most_down: dict[tuple[Any, ...], int] = field(default_factory=dict)
    reach: dict[tuple[PortType, str, int], set[tuple[int, int]]] = field(default_factory=dict)
    most_pods: dict[tuple[PortType, str], int] = field(default_factory=dict)
    uppers: dict[tuple[int, str, int], list[_Upper]] = field(default_factory=dict)
    cores: dict[tuple[int, str], list[tuple[SwitchType, CageUse]]] = field(default_factory=dict)


class ClosSpace:
    """The Clos candidates of one fabric of a problem.

    ``costs`` weighs items by metric: row 0 is the objective, the others those that ``caps`` limits.
    """

    def __init__(
        self,
        problem: Problem,
        fabric: FabricProblem,
        costs: Costs,
        caps: Floats,
        restriction: Restriction = Restriction(),
        prune: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.problem = problem
        self.fabric = fabric
        self.costs = costs
        self.caps = caps
        self.restriction = restriction
        self.prune = prune
        self.should_stop = should_stop
        self.plain, self.sizes_met = False, False
        self._divisors: dict[int, list[int]] = {}
        self.known: Known = costs.shared.setdefault(fabric, Known())

    # -- the search -------------------------------------------------------------------------------------------

    def any_candidate(self) -> Found:
        """Some candidate: first among those with one link wherever one is enough, then among all."""
        self.plain, self.sizes_met = True, False
        found = self.search(first=True)
        self.plain = False
        return found if found.batches or found.stopped or not self.sizes_met else self.search(first=True)

    def search(self, slack: float = 0.0, first: bool = False) -> Found:
        """Every candidate that costs at most the least cost met plus ``slack``; with ``first``, any one will do."""
        found = Found()
        for tiers in self.fabric.tiers:
            if self.restriction.tiers in (None, tiers):
                for protocol in self.fabric.protocols:
                    if self.restriction.protocol in (None, protocol):
                        self._search_tiers(found, protocol, tiers, slack, first)
        limit = self._limit(found, slack)
        found.batches = [kept for batch in found.batches if (kept := self._cut(batch, limit)) is not None]
        return found

    def _limit(self, found: Found, slack: float) -> float:
        """What a candidate may cost at the most to be kept, given what has been met."""
        if not self.prune:
            return np.inf
        best = found.least + slack
        return best * (1 + RELATIVE_SLACK) + RELATIVE_SLACK if np.isfinite(best) else np.inf

    def _within(self, cost: Floats, limit: float) -> NDArray[np.bool_]:
        inside = cost[0] <= limit if np.isfinite(limit) else np.isfinite(cost[0])
        for metric, cap in enumerate(self.caps):
            if np.isfinite(cap):
                inside = inside & (cost[metric] <= cap * (1 + RELATIVE_SLACK))
        return np.asarray(inside)

    def _cut(self, batch: Batch, limit: float) -> Batch | None:
        inside = self._within(batch.cost, limit)
        if inside.all():
            return batch
        kept = np.flatnonzero(inside)
        return _take(batch, kept) if kept.size else None

    def _search_tiers(self, found: Found, protocol: str, tiers: int, slack: float, first: bool) -> None:
        number = count()
        queue = [_Queued(block.bound, 1, next(number), block) for block in self._blocks(protocol, tiers)]
        heapq.heapify(queue)
        while queue:
            bound, level, _, block = heapq.heappop(queue)
            if bound > self._limit(found, slack) or (first and found.batches):
                return
            if self.should_stop():
                found.stopped = True
                return
            if level < tiers and not self.plain:
                uses = block.leaf.uses if level == 1 else (block.up,)
                for finer in (block._replace(up=up) for up in uses):
                    tighter = self._bound(finer, protocol, level + 1)
                    if self._within(tighter, np.inf):
                        heapq.heappush(queue, _Queued(max(bound, float(tighter[0])), level + 1, next(number), finer))
                continue
            sizes = self._one_tier(protocol, block) if tiers == 1 else self._groups(block, tiers)
            for shape in sizes:
                self.sizes_met = True
                limit = self._limit(found, slack)
                if tiers == 1:
                    self._offer(found, Batch(Parts(protocol, block.nic, block.leaf, block.down), 1, shape,
                                             self._leaf_cost(block, shape)), limit)  # fmt: skip
                else:
                    self._with_uplinks(found, protocol, tiers, block, shape, slack)

    def _offer(self, found: Found, batch: Batch, limit: float) -> None:
        found.sized += batch.cost.shape[1]
        kept = self._cut(batch, limit)
        if kept is not None:
            found.add(kept)

    # -- leaves -----------------------------------------------------------------------------------------------

    def _nics(self, protocol: str) -> list[NicOption]:
        options = list(self.fabric.nics.get(protocol, ()))  # type: ignore[call-overload]
        wanted = self.restriction.port_mbps
        options = [one for one in options if wanted in (None, one.port.lane.port_mbps)]
        for attachment in self.fabric.attachments:
            speed = attachment.port_mbps
            options = [one for one in options if speed in (None, one.port.lane.port_mbps)]
        return undominated_nics(options) if self.prune and self.problem.prunes else options

    def _switches(self, protocol: str, role: str) -> list[SwitchType]:
        options = list(self.fabric.switches[protocol][role])  # type: ignore[index]
        if role == "leaf" and self.restriction.not_leaf is not None:
            options = [one for one in options if one.id != self.restriction.not_leaf]
        return undominated_switches(options) if self.prune else options

    def _blocks(self, protocol: str, tiers: int) -> Iterator[Block]:
        """Blocks without their uplinks' use, which is looked at when one is opened (a plain search has it at once)."""
        leaves = [(leaf, down) for leaf in self._switches(protocol, "leaf") for down in leaf.uses]
        for nic in self._nics(protocol):
            for leaf, down in leaves:
                if down.lane.port_mbps != nic.port.lane.port_mbps:
                    continue
                if not self.joins(nic.port, down.port, "server-leaf", protocol) or not self._attaches(down, protocol):
                    continue
                block = Block(0.0, nic, leaf, down, None)
                if self.plain:
                    yield from (block._replace(up=up) for up in (leaf.uses if tiers > 1 else (None,)))
                    continue
                bound = self._bound(block, protocol, 1)
                if self._within(bound, np.inf):
                    yield block._replace(bound=float(bound[0]))

    def _attaches(self, down: CageUse, protocol: str) -> bool:
        """Whether parts join every attachment that buys some to such a leaf cage."""
        run_m = self.fabric.runs_m["attachment-leaf"]
        for one in self.fabric.attachments:
            if one.buys == "none":
                continue
            if one.port is None:
                found = self.problem.links.near_only(down.port, run_m, protocol)
            else:
                found = self.problem.links.assemblies(one.port, down.port, run_m, protocol)
            if not found:
                return False
        return True

    def _bound(self, block: Block, protocol: str, tiers: int) -> Floats:
        """Nothing made of a block costs less, even if only so many tiers of it counted; metric by metric."""
        nic = block.nic
        link = self._least_link(nic.port, block.down, "server-leaf", protocol)
        card = self.costs.of(nic.item) * nic.cards
        key = (block.leaf.id, block.down.group, block.down.split, block.up and (block.up.group, block.up.split), tiers)
        if key not in self.known.leaf_shares:
            self.known.leaf_shares[key] = self._leaf_share(block.leaf, block.down, block.up, protocol, tiers)
        return self.problem.servers * (card + nic.ports_per_server * (link + self.known.leaf_shares[key]))

    def _leaf_share(self, leaf: SwitchType, down: CageUse, up: CageUse | None, protocol: str, tiers: int) -> Floats:
        """The least share of a leaf, its uplinks and all above them that one endpoint can have; metric by metric."""
        most = usable_ports(down, leaf)
        ports = np.arange(1, most + 1)
        cost = np.multiply.outer(self.costs.of(leaf.item), np.ones(most))
        if up is not None:
            need = self._uplinks_needed(ports, down, up)
            room = self._uplinks_that_fit(leaf, down, up, ports)
            upward = self._above(up, protocol, tiers) if tiers > 1 else np.zeros(cost.shape[0])
            cost = np.where(need <= room, cost + np.multiply.outer(upward, need), np.inf)
        return np.asarray((cost / ports).min(axis=1))

    def _uplinks_needed(self, down_links: Ints, down: CageUse, up: CageUse) -> Ints:
        most = self.fabric.oversubscription_leaf
        top = down_links * (down.lane.port_mbps * most.denominator)
        return np.asarray(np.maximum(1, ceil_of(top, most.numerator * up.lane.port_mbps)))

    @staticmethod
    def _uplinks_that_fit(switch: SwitchType, down: CageUse, up: CageUse, down_ports: Ints) -> Ints:
        """Most uplinks beside so many down ports; negative where the down ports alone do not fit."""
        down_cages = ceil_of(down_ports, down.lane.ports)
        left = up.cages - down_cages if up.group == down.group else np.full_like(down_cages, up.cages)
        room = np.minimum(left * up.lane.ports, switch.max_ports - down_ports)
        return np.where(down_cages <= down.cages, room, -1)

    def _above(self, up: CageUse, protocol: str, tiers: int) -> Floats:
        """The least that one leaf uplink costs with everything above it: link, spine share, cores' share."""
        key = (up.port, protocol, tiers)
        if key not in self.known.aboves:
            best = np.full(self.costs.table.shape[0], np.inf)
            for spine in self._uppers(up.lane.port_mbps, protocol, tiers):
                link = self._least_link(up.port, spine.down, "leaf-spine", protocol)
                best = np.minimum(best, link + self._spine_share(spine, protocol))
            self.known.aboves[key] = best
        return self.known.aboves[key]

    def _spine_share(self, spine: _Upper, protocol: str) -> Floats:
        """The least share of a spine, its uplinks and cores that one down link can have, metric by metric."""
        above = (spine.up.group, spine.up.split) if spine.up else (-1, "")
        key = (spine.switch.id, spine.down.group, spine.down.split, *above)
        if key not in self.known.spine_shares:
            self.known.spine_shares[key] = self._new_spine_share(spine, protocol)
        return self.known.spine_shares[key]

    def _new_spine_share(self, spine: _Upper, protocol: str) -> Floats:
        most = usable_ports(spine.down, spine.switch)
        ports = np.arange(1, most + 1)
        cost = np.multiply.outer(self.costs.of(spine.switch.item), np.ones(most))
        if spine.up is not None:
            need = self._core_links_needed(ports, spine.down, spine.up)
            room = self._uplinks_that_fit(spine.switch, spine.down, spine.up, ports)
            upward = self._core_link(spine.up, protocol)
            cost = np.where(need <= room, cost + np.multiply.outer(upward, need), np.inf)
        return np.asarray((cost / ports).min(axis=1))

    def _core_links_needed(self, down_links: Ints, down: CageUse, up: CageUse) -> Ints:
        most = self.fabric.oversubscription_spine
        top = down_links * (down.lane.port_mbps * most.denominator)
        return np.asarray(np.maximum(1, ceil_of(top, most.numerator * up.lane.port_mbps)))

    def _core_link(self, up: CageUse, protocol: str) -> Floats:
        """The least that one spine uplink costs with its core share."""
        key = (up.port, protocol)
        if key not in self.known.core_links:
            best = np.full(self.costs.table.shape[0], np.inf)
            for core, down in self._cores(up.lane.port_mbps, protocol):
                link = self._least_link(up.port, down, "spine-core", protocol)
                best = np.minimum(best, link + self.costs.of(core.item) / usable_ports(down, core))
            self.known.core_links[key] = best
        return self.known.core_links[key]

    def _uppers(self, port_mbps: int, protocol: str, tiers: int) -> list[_Upper]:
        key = (port_mbps, protocol, tiers)
        if key not in self.known.uppers:
            self.known.uppers[key] = [
                _Upper(spine, down, up)
                for spine in self._switches(protocol, "spine")
                for down in spine.uses
                if down.lane.port_mbps == port_mbps
                for up in (spine.uses if tiers == 3 else (None,))
            ]
        return self.known.uppers[key]

    def _cores(self, port_mbps: int, protocol: str) -> list[tuple[SwitchType, CageUse]]:
        key = (port_mbps, protocol)
        if key not in self.known.cores:
            self.known.cores[key] = [
                (core, down)
                for core in self._switches(protocol, "core")
                for down in core.uses
                if down.lane.port_mbps == port_mbps
            ]
        return self.known.cores[key]

    # -- links ------------------------------------------------------------------------------------------------

    def joins(self, near: PortType, far: PortType, kind: str, protocol: str) -> tuple[Assembly, ...]:
        """Assemblies of a kind of link, over its run."""
        return self.problem.links.assemblies(near, far, self.fabric.runs_m[kind], protocol)

    def _least_link(self, near: PortType, far: CageUse, kind: str, protocol: str) -> Floats:
        key = (near, far.port, self.fabric.runs_m[kind], protocol)
        known = self.costs.least_links
        if key not in known:
            joins = self.joins(near, far.port, kind, protocol)
            known[key] = self.costs.least_per_link(joins, near.ports, far.port.ports)
        return known[key]

    def server_joins(self, nic: NicOption, down: CageUse, k: int, protocol: str) -> tuple[Assembly, ...]:
        """Assemblies between servers and leaves that suit ``k`` ports on one leaf."""
        return server_assemblies(self.joins(nic.port, down.port, "server-leaf", protocol), nic, k)

    # -- sizes ------------------------------------------------------------------------------------------------

    def _one_tier(self, protocol: str, block: Block) -> Iterator[Shape]:
        problem, nic = self.problem, block.nic
        if self.fabric.group_servers not in (None, problem.servers):
            return
        shape = Shape(problem.servers, nic.ports_per_plane, nic.planes, nic.ports_per_plane, problem.servers)
        down = self._down_ports(shape)
        if down <= usable_ports(block.down, block.leaf) and not self._lacks_join(block, nic.ports_per_plane, protocol):
            shape = replace(shape, g=np.array([problem.servers]))
            yield shape

    def _lacks_join(self, block: Block, k: int, protocol: str) -> bool:
        return not self.server_joins(block.nic, block.down, k, protocol)

    def _down_ports(self, shape: Shape) -> Any:
        """Down ports a leaf must have: most endpoints, attachments and reserve."""
        return self.reserved(most_endpoints(shape, self.fabric.attachment_ports))

    def reserved(self, endpoints: Any) -> Any:
        """Down ports such that the fabric's reserve of them stays free."""
        free = 1 - self.fabric.reserve
        return ceil_of(endpoints * free.denominator, free.numerator)

    def _most_down(
        self, switch: SwitchType, down: CageUse, up: CageUse | None, needed: Callable[[Ints, CageUse, CageUse], Ints]
    ) -> int:
        """Most down ports beside which the uplinks that they need still fit."""
        most = usable_ports(down, switch)
        if up is None:
            return most
        key = (switch.id, down.group, down.split, up.group, up.split, needed.__name__)
        if key not in self.known.most_down:
            ports = np.arange(1, most + 1)
            fits = np.flatnonzero(needed(ports, down, up) <= self._uplinks_that_fit(switch, down, up, ports))
            self.known.most_down[key] = int(fits[-1]) + 1 if fits.size else 0
        return self.known.most_down[key]

    def _spine_ports(self, spine: _Upper) -> int:
        """Most down ports of a spine."""
        return self._most_down(spine.switch, spine.down, spine.up, self._core_links_needed)

    def _most_groups(self, up: CageUse, protocol: str, tiers: int, rails: int) -> int:
        """Most server groups that these uplinks can join: one link from every leaf to every spine of its pod, one from
        every pod to every core of a group.
        """
        key = (up.port, protocol, tiers)
        if key not in self.known.reach:
            self.known.reach[key] = {
                (self._spine_ports(spine) // fewest_together(joins), self._most_pods(spine, protocol))
                for spine in self._uppers(up.lane.port_mbps, protocol, tiers)
                if (joins := self.joins(up.port, spine.down.port, "leaf-spine", protocol))
            }
        return max(
            (max(ports // rails * pods, ports * (pods // rails) if tiers == 3 else 0)
             for ports, pods in self.known.reach[key]),
            default=0,
        )  # fmt: skip

    def _most_pods(self, spine: _Upper, protocol: str) -> int:
        """Most pods of a plane above whose spines some core still reaches them all; 1 below three tiers."""
        if spine.up is None:
            return 1
        key = (spine.up.port, protocol)
        if key not in self.known.most_pods:
            self.known.most_pods[key] = max(
                (
                    usable_ports(use, core) // fewest_together(joins)
                    for core, use in self._cores(spine.up.lane.port_mbps, protocol)
                    if (joins := self.joins(spine.up.port, use.port, "spine-core", protocol))
                ),
                default=0,
            )
        return self.known.most_pods[key]

    def _groups(self, block: Block, tiers: int) -> Iterator[Shape]:
        """Group sizes, for each number of ports on a leaf that the rails allow."""
        problem, nic = self.problem, block.nic
        servers, ports = problem.servers, nic.ports_per_plane
        assert block.up is not None
        protocol = block.leaf.product.protocol
        for k in divisors(ports):
            most = min(servers, self._most_down(block.leaf, block.down, block.up, self._uplinks_needed) // k)
            most_groups = self._most_groups(block.up, protocol, tiers, ports // k)
            if most < 1 or ceil_of(servers, most) > most_groups or self._lacks_join(block, k, protocol):
                continue
            g = np.arange(1, most + 1, dtype=np.int64)
            if self.fabric.group_servers is not None:
                g = g[g == self.fabric.group_servers]
            if self.fabric.aligned and k > 1:
                g = g[g >= servers]
            shape = Shape(servers, ports, nic.planes, k, g)
            if not g.size:
                continue
            kept = np.flatnonzero((shape.leaves >= 2) & (shape.groups <= most_groups))
            if kept.size:
                yield replace(shape, g=g[kept])

    def _leaf_cost(self, block: Block, shape: Shape) -> Floats:
        """Cards, leaves and server links (attachments' own parts aside): exact without attachments, else a bound."""
        costs, problem, nic = self.costs, self.problem, block.nic
        size = np.size(shape.g)
        cards = np.multiply.outer(costs.of(nic.item), np.full(size, problem.servers * nic.cards))
        leaves = np.multiply.outer(costs.of(block.leaf.item), np.atleast_1d(nic.planes * shape.leaves))
        joins = self.server_joins(nic, block.down, int(shape.k), block.leaf.product.protocol)
        need = shape.server_leaf(nic, block.down.lane.ports, block.down.cages)
        return np.asarray(cards + leaves + costs.least(joins, need))

    # -- uplinks, spines, cores -------------------------------------------------------------------------------

    def _with_uplinks(self, found: Found, protocol: str, tiers: int, block: Block, shape: Shape, slack: float) -> None:
        """Add uplinks to group sizes, then spines (and cores) to what is left below the threshold."""
        up = block.up
        assert up is not None
        base = self._leaf_cost(block, shape)
        endpoints = most_endpoints(shape, self.fabric.attachment_ports)
        fewest = self._uplinks_needed(endpoints, block.down, up)
        most = self._uplinks_that_fit(block.leaf, block.down, up, self.reserved(endpoints))
        upward = self._above(up, protocol, tiers)
        leaves = block.nic.planes * shape.leaves
        per_uplink = np.multiply.outer(upward, leaves)
        limit = self._limit(found, slack)
        open_ = np.flatnonzero((fewest <= most) & self._within(base + per_uplink * fewest, limit))
        rows: list[Ints] = []
        uplinks: list[Ints] = []
        for row in open_:
            count = np.arange(fewest[row], (fewest[row] if self.plain else most[row]) + 1)
            cost = base[:, [row]] + np.multiply.outer(per_uplink[:, row], count)
            count = count[self._within(cost, limit)]
            rows.append(np.full(count.size, row))
            uplinks.append(count)
        if not rows:
            return
        index, u = np.concatenate(rows), np.concatenate(uplinks)
        order = np.argsort(base[0, index] + per_uplink[0, index] * u, kind="stable")
        for chunk in _chunks(order, _CHUNK[tiers]):
            limit = self._limit(found, slack)
            rows_ = index[chunk]
            sized = replace(shape, g=shape.g[rows_], u=u[chunk])
            cost = base[:, rows_]
            inside = self._within(cost + per_uplink[:, rows_] * sized.u, limit)
            if not inside.any():
                continue
            kept = np.flatnonzero(inside)
            sized = replace(sized, g=sized.g[kept], u=sized.u[kept])
            self._with_spines(found, protocol, tiers, block, sized, cost[:, kept], slack)

    def _spine_counts(self, shape: Shape) -> tuple[Ints, Ints]:
        """Row and number of spines, for every number over which the uplinks can be spread."""
        rows: list[int] = []
        spines: list[int] = []
        if self.plain:
            return np.arange(shape.u.size), shape.u
        for row, u in enumerate(shape.u.tolist()):
            if u not in self._divisors:
                self._divisors[u] = divisors(u) if self.fabric.even else list(range(1, u + 1))
            rows.extend([row] * len(self._divisors[u]))
            spines.extend(self._divisors[u])
        return np.array(rows, dtype=np.int64), np.array(spines, dtype=np.int64)

    def _with_spines(
        self,
        found: Found,
        protocol: str,
        tiers: int,
        block: Block,
        shape: Shape,
        base: Floats,
        slack: float,
    ) -> None:
        rows, spines = self._spine_counts(shape)
        if tiers == 2:
            wide = replace(shape, g=shape.g[rows], u=shape.u[rows], spines=spines)
            wide = replace(wide, groups_per_pod=wide.groups)
            self._two_tiers(found, protocol, block, wide, base[:, rows], slack)
            return
        for rail_pods in (False, True):
            if rail_pods and shape.rails == 1:
                continue
            self._three_tiers(found, protocol, block, shape, rows, spines, rail_pods, base, slack)

    def _two_tiers(self, found: Found, protocol: str, block: Block, shape: Shape, base: Floats, slack: float) -> None:
        assert block.up is not None
        down = shape.spine_down
        for spine in self._uppers(block.up.lane.port_mbps, protocol, 2):
            joins = self.joins(block.up.port, spine.down.port, "leaf-spine", protocol)
            if not joins:
                continue
            limit = self._limit(found, slack)
            links = block.nic.planes * shape.leaves * shape.u
            least = self._least_link(block.up.port, spine.down, "leaf-spine", protocol)
            share = least + self._spine_share(spine, protocol)
            if not self._within(base + np.multiply.outer(share, links), limit).any():
                continue
            switches = np.multiply.outer(self.costs.of(spine.switch.item), block.nic.planes * shape.spines)
            fits = (down <= usable_ports(spine.down, spine.switch)) & (shape.u >= shape.spines)
            cost = base + switches
            kept = np.flatnonzero(fits & self._within(cost + np.multiply.outer(least, links), limit))
            if not kept.size:
                continue
            some = _rows(shape, kept)
            need = some.leaf_spine(
                block.up.lane.ports, self._leaf_up_limit(block, some), spine.down.lane.ports, spine.down.cages
            )
            exact = cost[:, kept] + self.costs.least(joins, need)
            parts = Parts(protocol, block.nic, block.leaf, block.down, block.up, spine.switch, spine.down)
            self._offer(found, Batch(parts, 2, some, exact), limit)

    def _leaf_up_limit(self, block: Block, shape: Shape) -> Any:
        assert block.up is not None
        return up_cage_limit(block.down, block.up, self._down_ports(shape))

    def _three_tiers(
        self,
        found: Found,
        protocol: str,
        block: Block,
        shape: Shape,
        rows: Ints,
        spines: Ints,
        rail_pods: bool,
        base: Floats,
        slack: float,
    ) -> None:
        assert block.up is not None
        for spine in self._uppers(block.up.lane.port_mbps, protocol, 3):
            assert spine.up is not None
            joins = self.joins(block.up.port, spine.down.port, "leaf-spine", protocol)
            upward = self._core_link(spine.up, protocol)
            if not joins or not np.isfinite(upward[0]):
                continue
            share = self._least_link(block.up.port, spine.down, "leaf-spine", protocol)
            share = share + self._spine_share(spine, protocol)
            uplinks = block.nic.planes * shape.leaves * shape.u
            open_ = self._within(base + np.multiply.outer(share, uplinks), self._limit(found, slack))[rows]
            if not open_.any():
                continue
            pods = self._pods(shape, rows[open_], spines[open_], rail_pods, spine)
            if pods is None:
                continue
            pod_rows, wide = pods
            self._sized_pods(found, protocol, block, spine, wide, base[:, pod_rows], joins, upward, slack)

    def _pods(
        self, shape: Shape, rows: Ints, spines: Ints, rail_pods: bool, spine: _Upper
    ) -> tuple[Ints, Shape] | None:
        """Every pod size whose leaves fit on the spines, as (row of ``shape``, wide shape)."""
        assert spine.up is not None
        down_ports = self._spine_ports(spine)
        widest = self._most_pods(spine, spine.switch.product.protocol)
        pods_of_a_rail = widest // int(shape.rails) if rail_pods else widest
        if pods_of_a_rail < 1:
            return None
        leaves = 1 if rail_pods else int(shape.rails)
        u = shape.u[rows]
        groups = shape.groups[rows]
        # ceil(T * leaves * u / S) <= ports, so T is at most this:
        most = np.minimum((down_ports * spines) // (leaves * u), groups)
        # rails meet in the cores: one pod a rail is enough there, two pods are needed otherwise
        if not (rail_pods and shape.rails >= 2):
            most = np.minimum(most, groups - 1)
        # a core has a link to every pod, so T is at least this:
        least = ceil_of(groups, pods_of_a_rail)
        if self.plain:
            least = np.maximum(least, most)
        inside = np.flatnonzero(most >= least)
        if not inside.size:
            return None
        counts = (most - least + 1)[inside]
        repeat = np.repeat(inside, counts)
        starts = np.repeat(np.cumsum(counts) - counts, counts)
        per_pod = np.arange(repeat.size) - starts + least[repeat]
        from_rows = rows[repeat]
        wide = replace(
            shape,
            g=shape.g[from_rows],
            u=shape.u[from_rows],
            spines=spines[repeat],
            groups_per_pod=per_pod,
            rail_pods=int(rail_pods),
        )
        return from_rows, wide

    def _sized_pods(
        self,
        found: Found,
        protocol: str,
        block: Block,
        spine: _Upper,
        shape: Shape,
        base: Floats,
        joins: tuple[Assembly, ...],
        upward: Floats,
        slack: float,
    ) -> None:
        """Add the spine tier, and then cores to what is left below the threshold."""
        assert block.up is not None and spine.up is not None
        planes = block.nic.planes
        limit = self._limit(found, slack)
        down = shape.spine_down
        fewest = self._core_links_needed(down, spine.down, spine.up)
        most = self._uplinks_that_fit(spine.switch, spine.down, spine.up, down)
        boxes = planes * shape.pods * shape.spines
        widest = self._most_pods(spine, protocol)
        switches = np.multiply.outer(self.costs.of(spine.switch.item), boxes)
        least = self._least_link(block.up.port, spine.down, "leaf-spine", protocol)
        bound = (
            base
            + switches
            + np.multiply.outer(least, planes * shape.leaves * shape.u)
            + np.multiply.outer(upward, boxes * fewest)
        )
        fits = (fewest <= most) & (shape.pods <= widest) & (shape.pods >= 2)
        kept = np.flatnonzero(fits & self._within(bound, limit))
        if not kept.size:
            return
        some = _rows(shape, kept)
        need = some.leaf_spine(
            block.up.lane.ports,
            self._leaf_up_limit(block, some),
            spine.down.lane.ports,
            down_cage_limit(spine.down, spine.up, fewest[kept]),
        )
        cost = base[:, kept] + switches[:, kept] + self.costs.least(joins, need)
        self._with_cores(found, protocol, block, spine, some, cost, fewest[kept], most[kept], upward, slack)

    def _with_cores(
        self,
        found: Found,
        protocol: str,
        block: Block,
        spine: _Upper,
        shape: Shape,
        base: Floats,
        fewest: Ints,
        most: Ints,
        upward: Floats,
        slack: float,
    ) -> None:
        """Every number of spine uplinks, core switch and way to join them that stays below the threshold."""
        assert spine.up is not None
        boxes = block.nic.planes * shape.pods * shape.spines
        x = fewest.copy()
        rows = np.arange(x.size)
        while rows.size:
            limit = self._limit(found, slack)
            cost = base[:, rows] + np.multiply.outer(upward, boxes[rows] * x)
            rows, x = (part[self._within(cost, limit) & (x <= most[rows])] for part in (rows, x))
            if not rows.size:
                return
            sized = replace(_rows(shape, rows), x=x)
            for core, use in self._cores(spine.up.lane.port_mbps, protocol):
                self._join_cores(found, protocol, block, spine, core, use, sized, base[:, rows], slack)
            if self.plain:
                return
            x = x + 1

    def _join_cores(
        self,
        found: Found,
        protocol: str,
        block: Block,
        spine: _Upper,
        core: SwitchType,
        use: CageUse,
        shape: Shape,
        base: Floats,
        slack: float,
    ) -> None:
        assert spine.up is not None
        joins = self.joins(spine.up.port, use.port, "spine-core", protocol)
        if not joins:
            return
        limit = self._limit(found, slack)
        ports = usable_ports(use, core)
        least = self._least_link(spine.up.port, use, "spine-core", protocol)
        share = least + self.costs.of(core.item) / ports
        boxes = block.nic.planes * shape.pods * shape.spines
        open_ = np.flatnonzero(self._within(base + np.multiply.outer(share, boxes * shape.x), limit))
        wide = self._core_groups(shape, open_, ports)
        if wide is None:
            return
        rows, wide_shape = wide
        switches = np.multiply.outer(self.costs.of(core.item), block.nic.planes * wide_shape.cores)
        need = wide_shape.spine_core(
            spine.up.lane.ports,
            up_cage_limit(spine.down, spine.up, wide_shape.spine_down),
            use.lane.ports,
            use.cages,
        )
        cost = base[:, rows] + switches + self.costs.least(joins, need)
        parts = Parts(
            protocol, block.nic, block.leaf, block.down, block.up, spine.switch, spine.down, spine.up, core, use
        )
        self._offer(found, Batch(parts, 3, wide_shape, cost), limit)

    def _core_groups(self, shape: Shape, open_: Ints, core_ports: int) -> tuple[Ints, Shape] | None:
        """Every (q, m2) with q a divisor of S, m2 of x, and pods x q x m2 core ports at most."""
        rows: list[int] = []
        qs: list[int] = []
        m2s: list[int] = []
        pods, spines, x = np.asarray(shape.pods), np.asarray(shape.spines), np.asarray(shape.x)
        for row in open_.tolist():
            room = core_ports // int(pods[row])
            for m2 in self._divisors_of(int(x[row])):
                if m2 > room:
                    break
                for q in self._divisors_of(int(spines[row])):
                    if q * m2 > room or (self.plain and q * m2 > 1):
                        break
                    rows.append(row)
                    qs.append(q)
                    m2s.append(m2)
        if not rows:
            return None
        index = np.array(rows, dtype=np.int64)
        return index, replace(_rows(shape, index), q=np.array(qs), m2=np.array(m2s))

    @cached_property
    def _divisor_lists(self) -> dict[int, list[int]]:
        return {}

    def _divisors_of(self, number: int) -> list[int]:
        if number not in self._divisor_lists:
            self._divisor_lists[number] = divisors(number)
        return self._divisor_lists[number]


# Rows that are opened at a time: few enough that the threshold falls soon, enough for NumPy to be quick.
_CHUNK = {2: 512, 3: 64}


def _chunks(order: Ints, first: int) -> Iterator[Ints]:
    start, size = 0, first
    while start < order.size:
        yield order[start : start + size]
        start, size = start + size, size * 2


def _rows(shape: Shape, index: Ints) -> Shape:
    """A selection of array-valued candidates."""

    def pick(value: Any) -> Any:
        return value[index] if np.ndim(value) else value

    return replace(
        shape,
        g=pick(shape.g),
        u=pick(shape.u),
        spines=pick(shape.spines),
        groups_per_pod=pick(shape.groups_per_pod),
        x=pick(shape.x),
        q=pick(shape.q),
        m2=pick(shape.m2),
    )


def _take(batch: Batch, index: Ints) -> Batch:
    return batch._replace(shape=_rows(batch.shape, index), cost=batch.cost[:, index])


def most_endpoints(shape: Shape, attachment_ports: int) -> Any:
    """d: most server and attachment ports on any leaf.

    Attachments go round the leaves, one each a round, those with the fewest servers first.
    """
    full = shape.g * shape.k
    if attachment_ports == 0:
        return np.minimum(full, shape.servers * shape.k)
    last = shape.last_group * shape.k
    all_leaves = shape.planes * shape.leaves
    emptier = np.where(last < full, shape.planes * shape.rails, all_leaves)
    rounds = attachment_ports // all_leaves
    rest = attachment_ports - rounds * all_leaves
    on_last = rounds + (rest > 0)
    on_full = rounds + (rest > emptier)
    only_last = shape.groups == 1
    return np.maximum(np.where(only_last, 0, full + on_full), last + on_last)


def up_cage_limit(down: CageUse, up: CageUse, down_ports: Any) -> Any:
    """Cages left for uplinks."""
    return up.cages - (ceil_of(down_ports, down.lane.ports) if up.group == down.group else 0 * down_ports)


def down_cage_limit(down: CageUse, up: CageUse, up_ports: Any) -> Any:
    """Cages left for down links."""
    return down.cages - (ceil_of(up_ports, up.lane.ports) if up.group == down.group else 0 * up_ports)


def server_assemblies(joins: Iterable[Assembly], nic: NicOption, k: int) -> tuple[Assembly, ...]:
    """Those that suit ``k`` ports on one leaf: a splitter's single head needs ports that all go there."""
    together = nic.bundle(k)
    found = (whole_only(one) for one in joins)
    return tuple(one for one in found if one.mode is not Mode.WHOLE or together % one.ports_per_wire == 0)


def _no_dearer(one: Item | None, other: Item | None) -> bool:
    if one is other:
        return True
    if one is None or other is None:
        return one is None
    return (
        not one.varies
        and not other.varies
        and one.first_cents <= other.first_cents
        and one.power_mw <= other.power_mw
        and one.rack_milliunits <= other.rack_milliunits
    )


def _serves_as(one: SwitchType, other: SwitchType) -> bool:
    """Whether ``one`` can stand wherever ``other`` does: as many cages of each group, with its splits."""
    mine, theirs = one.product.cages, other.product.cages
    if one.max_ports < other.max_ports or len(mine) < len(theirs):
        return False
    if {use.port.vendor for use in one.uses} != {use.port.vendor for use in other.uses}:
        return False
    if set(one.product.works_with) != set(other.product.works_with):
        return False
    return all(
        a.form_factor == b.form_factor
        and set(a.accepts) >= set(b.accepts)
        and a.lane_gbps == b.lane_gbps
        and a.count >= b.count
        and set(a.splits) >= set(b.splits)
        for a, b in zip(mine, theirs, strict=False)
    )


def _switch_order(one: SwitchType) -> tuple[Any, ...]:
    return one.item.first_cents, one.item.power_mw, one.item.rack_milliunits, one.id


def undominated_switches(options: Sequence[SwitchType]) -> list[SwitchType]:
    """Drop a switch where another one serves as it does, costs, draws and stands for no more, and wins a tie."""
    kept: list[SwitchType] = []
    # whoever beats a switch comes before it in this order, and what beats the beaten beats it too
    for one in sorted(options, key=_switch_order):
        if not any(_no_dearer(other.item, one.item) and _serves_as(other, one) for other in kept):
            kept.append(one)
    return kept


def undominated_nics(options: Sequence[NicOption]) -> list[NicOption]:
    """Drop a way to equip servers where another one looks the same from the network and costs and draws no more."""
    best: dict[tuple[Any, ...], list[NicOption]] = {}
    for one in options:
        key = (one.port, one.ports_per_plane, one.planes, one.full_cages, one.partial_cages, one.partial_ports,
               one.cage_limit, one.own_cages, one.ports_per_card // one.planes)  # fmt: skip
        best.setdefault(key, []).append(one)
    kept = []
    for same in best.values():
        for one in same:
            sums = _card_sums(one)
            if not any(
                other is not one
                and all(a <= b for a, b in zip(_card_sums(other), sums, strict=True))
                and (_card_sums(other) != sums or (other.nic_id, other.cards) < (one.nic_id, one.cards))
                for other in same
            ):
                kept.append(one)
    return kept


def _card_sums(one: NicOption) -> tuple[int, int, int]:
    if one.item is None:
        return 0, 0, 0
    return one.item.first_cents * one.cards, one.item.power_mw * one.cards, one.cards
