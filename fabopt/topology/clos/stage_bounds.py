"""Lower bounds of the extra cost of installing parts of a growing Clos before its last stage.

Where prices fall, a unit costs more the earlier it is bought. With V[s] the cost of a unit of stage s, never more than
at the stage before, a design costs sum[s] use[s] * (V[s] - V[s+1]), use[s] being all units in use at stage s. The
search counts the last stage; this adds the least of the others. See docs/formulation/growth.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fabopt.parts.items import Item
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.classes import leaf_uplinks
from fabopt.topology.clos.joins import joins_of, runs_differ, server_joins
from fabopt.topology.clos.shape import Parts, Shape, SwitchUse, most_endpoints, uplinks_needed, usable_ports
from fabopt.topology.link_parts import Costs, Floats
from fabopt.units import Number, ceil_of

# Spines for uplinks of a speed, by the speed in Mb/s, the protocol and the number of tiers.
Uppers = Callable[[int, str, int], Sequence[SwitchUse]]


class EarlyCosts:
    """Bounds of the objective that stages before the last add to sized candidates, tier by tier.

    Arrays have shape (size,), a value for every row of the shape; numbers that are not sized yet may be missing from
    it.
    """

    def __init__(self, problem: Problem, fabric: FabricProblem, costs: Costs, uppers: Uppers) -> None:
        self.problem = problem
        self.fabric = fabric
        self.uppers = uppers
        self.stages = list(zip(costs.stages, costs.steps, strict=True))
        self.lends = problem.case.growth.recabling == "allow"
        self._uplinks_under: dict[tuple[PortType, str, int], Floats] = {}
        self._core_shares: dict[tuple[Costs, CageUse, tuple[SwitchUse, ...], str], float] = {}

    def of_block(self, block: Block, most: int) -> float:
        """Extra cost of NICs, leaves with at most ``most`` servers' ports, and server links, in groups of any size."""
        nic, total = block.nic, 0.0
        on_leaf = min(most, usable_ports(block.down, block.leaf))
        for number, costs in self.stages:
            servers = self.problem.stages[number].servers
            link = self._least_link(costs, nic.port, block.down.port, "server-leaf", block.protocol)
            nics = nic.nics_per_server * _of(costs, nic.item) + nic.ports_per_server * link
            leaves = nic.planes * ceil_of(servers * nic.ports_per_plane, on_leaf)
            total += servers * nics + leaves * _of(costs, block.leaf.item)
        return total

    def of_uplinks(self, block: Block) -> float:
        """Extra cost of leaf uplinks in groups of any size, with their share of spines."""
        total = 0.0
        for (number, _), share in zip(self.stages, self.of_uplink(block).tolist(), strict=True):
            stage = self.problem.stages[number]
            # else one leaf may join them all
            if stage.servers * block.nic.ports_per_plane > usable_ports(block.down, block.leaf):
                mbps = stage.servers * block.nic.ports_per_server * block.down.lane.port_mbps
                most = float(stage.oversubscription[self.fabric.name][0])
                total += share * mbps / (most * block.uplinks.lane.port_mbps)
        return total

    def of_leaves(self, parts: Parts, shape: Shape) -> Floats:
        """Extra cost of NICs, leaves and server links."""
        total = np.zeros(np.size(shape.g))
        joins = server_joins(self.problem, self.fabric, parts.nic, parts.leaf_down.port, int(shape.k), parts.protocol)
        for number, costs in self.stages:
            stage_shape = self._shape(number, shape)
            need = stage_shape.server_leaf(parts.nic, parts.leaf_down.lane.ports, parts.leaf_down.cages)
            nics = _of(costs, parts.nic.item) * (stage_shape.servers * parts.nic.nics_per_server)
            # where links of servers may run through trunks, what leads cost more is no bound
            links = 0.0 if "server-leaf" in self.problem.case.site.trunked else costs.least(joins, need)[0]
            total = total + links + nics
            total = total + _of(costs, parts.leaf.item) * (parts.nic.planes * stage_shape.leaves)
        return total

    def of_uplink(self, block: Block) -> Floats:
        """Least extra cost of a leaf's uplink with its share of a spine, by stage, shape (stages,)."""
        return _finite(self._under_spines(block).min(axis=0, initial=np.inf))

    def of_uplink_under(self, block: Block) -> Floats:
        """``of_uplink`` under each of ``Bounds.uppers``, shape (uppers, stages); 0 where nothing joins them."""
        return _finite(self._under_spines(block))

    def _under_spines(self, block: Block) -> Floats:
        """``of_uplink_under``, infinite where nothing joins them, shape (uppers, stages)."""
        key = block.uplinks.port, block.protocol, block.tiers
        if key not in self._uplinks_under:
            uppers = self.uppers(block.uplinks.lane.port_mbps, block.protocol, block.tiers)
            shares = [
                self._share(costs, block.uplinks, spine.switch, spine.down, "leaf-spine", block.protocol)
                for spine in uppers
                for _, costs in self.stages
            ]
            self._uplinks_under[key] = np.reshape(np.array(shares, dtype=np.float64), (len(uppers), len(self.stages)))
        return self._uplinks_under[key]

    def uplinks(self, parts: Parts, shape: Shape) -> Floats:
        """Fewest links above all leaves at each stage, shape (stages, rows)."""
        links = []
        for number, _ in self.stages:
            stage_shape = self._shape(number, shape)
            uplinks = parts.nic.planes * stage_shape.leaves * self._uplinks(number, stage_shape, parts)
            links.append(np.where(stage_shape.leaves > 1, uplinks, 0.0))
        return np.reshape(links, (len(self.stages), np.size(shape.g)))

    def of_spines(self, parts: Parts, shape: Shape) -> Floats:
        """Extra cost of spines and the links below them."""
        assert parts.spine is not None
        total = np.zeros(np.size(shape.g))
        for number, costs in self.stages:
            stage_shape = self._shape(number, shape)
            uplinks, spines = self._fewest(number, stage_shape, parts, shape)
            pods = stage_shape.pods if parts.spine_up is not None else 1
            switches = _of(costs, parts.spine.item) * (parts.nic.planes * pods * spines)
            assert parts.leaf_up is not None and parts.spine_down is not None
            link = self._least_link(costs, parts.leaf_up.port, parts.spine_down.port, "leaf-spine", parts.protocol)
            links = link * (parts.nic.planes * stage_shape.leaves * uplinks)
            total = total + np.where(stage_shape.leaves > 1, switches + links, 0.0)
        return total

    def of_any_cores(self, parts: Parts, shape: Shape, cores: tuple[SwitchUse, ...]) -> Floats:
        """Least extra cost of cores and the links below them, over all ``cores`` and ways to join them to pods."""
        assert parts.spine_up is not None
        total = np.zeros(np.size(shape.g))
        for number, costs in self.stages:
            share = self._core_share(costs, parts.spine_up, cores, parts.protocol)
            stage_shape = self._shape(number, shape)
            spines, uplinks = self._fewest_of_spines(number, stage_shape, parts, shape)
            cost = share * (parts.nic.planes * stage_shape.pods * spines * uplinks)
            total = total + np.where((stage_shape.leaves > 1) & (stage_shape.pods > 1), cost, 0.0)
        return total

    def of_cores(self, parts: Parts, shape: Shape) -> Floats:
        """Extra cost of cores and the links below them."""
        assert parts.core is not None and parts.spine_up is not None and parts.core_down is not None
        total = np.zeros(np.size(shape.g))
        for number, costs in self.stages:
            stage_shape = self._shape(number, shape)
            spines, uplinks = self._fewest_of_spines(number, stage_shape, parts, shape)
            group = ceil_of(uplinks, shape.m2)
            switches = _of(costs, parts.core.item) * (parts.nic.planes * group * ceil_of(spines, shape.q))
            links = parts.nic.planes * stage_shape.pods * spines * group * shape.m2
            link = self._least_link(costs, parts.spine_up.port, parts.core_down.port, "spine-core", parts.protocol)
            cost = switches + link * links
            total = total + np.where((stage_shape.leaves > 1) & (stage_shape.pods > 1), cost, 0.0)
        return total

    def _shape(self, number: int, shape: Shape) -> Shape:
        return replace(shape, servers=self.problem.stages[number].servers, sizes=shape.sizes[: number + 1])

    def _fewest(self, number: int, stage_shape: Shape, parts: Parts, shape: Shape) -> tuple[Number, Number]:
        """Fewest uplinks of a leaf, and fewest spines of a pod that take them."""
        assert parts.spine is not None and parts.spine_down is not None
        uplinks = self._uplinks(number, stage_shape, parts)
        spines = ceil_of(_leaves_of_a_pod(stage_shape, shape) * uplinks, usable_ports(parts.spine_down, parts.spine))
        if not self.lends:
            links = np.maximum(1, ceil_of(shape.u, shape.spines))
            spines = np.minimum(np.maximum(spines, ceil_of(uplinks, links)), shape.spines)
        return uplinks, spines

    def _uplinks(self, number: int, stage_shape: Shape, parts: Parts) -> Number:
        """Fewest uplinks of a leaf."""
        most = self.problem.stages[number].oversubscription[self.fabric.name][0]
        down = most_endpoints(stage_shape, self.fabric.attached)
        uplinks = uplinks_needed(down, parts.leaf_down, parts.uplink, most)
        return np.maximum(uplinks, leaf_uplinks(self.fabric, parts, stage_shape, most))

    def _fewest_of_spines(self, number: int, stage_shape: Shape, parts: Parts, shape: Shape) -> tuple[Number, Number]:
        """Fewest spines of a pod, and fewest uplinks of each."""
        assert parts.spine_down is not None and parts.spine_up is not None
        _, spines = self._fewest(number, stage_shape, parts, shape)
        most = self.problem.stages[number].oversubscription[self.fabric.name][1]
        down = _leaves_of_a_pod(stage_shape, shape) * (shape.u // shape.spines)
        return spines, uplinks_needed(down, parts.spine_down, parts.spine_up, most)

    def _core_share(self, costs: Costs, up: CageUse, cores: tuple[SwitchUse, ...], protocol: str) -> float:
        """Least cost of a spine's uplink at a stage with its share of a core; 0 if nothing joins them."""
        key = costs, up, cores, protocol
        if key not in self._core_shares:
            shares = np.array(
                [self._share(costs, up, core.switch, core.down, "spine-core", protocol) for core in cores]
            )
            self._core_shares[key] = float(_finite(shares.min(initial=np.inf)))
        return self._core_shares[key]

    def _share(self, costs: Costs, near: CageUse, switch: SwitchType, far: CageUse, kind: str, protocol: str) -> float:
        """Least cost of a link with its share of the switch above it."""
        link = self._least_link(costs, near.port, far.port, kind, protocol)
        return link + _of(costs, switch.item) / usable_ports(far, switch)

    def _least_link(self, costs: Costs, near: PortType, far: PortType, kind: str, protocol: str) -> float:
        trunked = kind in self.problem.case.site.trunked
        run_m = 0.0 if trunked else self.fabric.runs.m[kind]  # a link through trunks has at least a jumper
        key = (near, far, run_m, protocol, kind, trunked or runs_differ(self.problem, self.fabric, kind))
        if key not in costs.least_links:
            joins = (
                self.problem.links.assemblies(near, far, run_m, protocol, True, True) if trunked
                else joins_of(self.problem, self.fabric, kind, near, far, protocol)
            )  # fmt: skip
            costs.least_links[key] = costs.least_per_link(joins, near.ports, far.ports)
        return float(costs.least_links[key][0])


def _leaves_of_a_pod(stage_shape: Shape, shape: Shape) -> Number:
    leaves: Number = np.minimum(stage_shape.groups, shape.groups_per_pod) * shape.leaves_of_a_group
    return leaves


def _finite(shares: Floats) -> Floats:
    """Shares, or 0 where they are infinite."""
    return np.where(np.isfinite(shares), shares, 0.0)


def _of(costs: Costs, item: Item | None) -> float:
    return float(costs.of(item)[0])
