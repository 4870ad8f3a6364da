"""Several failures at once, at random: bandwidth left to every fabric of a design, drawn from its wiring.

Where there are no more combinations of failures than samples asked for, all of them are evaluated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from fabopt.network.graph.network import GLOBAL_LENGTH, Ints
from fabopt.network.graph.outage import Left, Lost, Plant, nothing
from fabopt.schema.design import Design
from fabopt.schema.resilience import Failing
from fabopt.units import MBPS_PER_GBPS, exact
from fabopt.verify.bandwidth import bisection
from fabopt.verify.direct import cut
from fabopt.verify.evidence import RAIL_ONLY, Evidence, FabricEvidence
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.stripes import is_uneven
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.model import KINDS

TIERS = ("leaf", "spine", "core")
Teller = Callable[[str], None]


@dataclass(frozen=True)
class Outages:
    """Bandwidth of a fabric after ``count`` failures of a kind; Gb/s per GPU of the worst-hit server, sorted.

    ``ways``: number of combinations; ``cut_off``: servers outside the largest connected part.
    """

    fabric: str
    failed: Failing
    count: int
    ways: int
    gbps_per_gpu: tuple[float, ...]
    cut_off: tuple[int, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all combinations were evaluated."""
        return len(self.gbps_per_gpu) == self.ways

    def quantile(self, share: float) -> float:
        """The least bandwidth that a ``share`` of the samples does not exceed."""
        return float(np.quantile(self.gbps_per_gpu, share, method="inverted_cdf"))

    @property
    def mean(self) -> float:
        """Mean bandwidth over the samples, in Gb/s per GPU."""
        return float(np.mean(self.gbps_per_gpu))


class Grounds:
    """The fabrics of a design as cabled; raises ``ValueError`` where a file has no wiring."""

    def __init__(self, design: Design) -> None:
        evidence = Evidence(design)
        cabled = CabledDesign(evidence)
        self._cablings = [FabricCabling(fabric, cabled, index) for index, fabric in enumerate(evidence.fabrics)]
        self.fabrics = {cabling.fabric.designed.name: plant_of(cabling) for cabling in self._cablings}

    def numbers(self, failed: Failing) -> dict[str, int]:
        """Count of devices or links of a kind in every fabric."""
        return {name: number_of(plant, failed) for name, plant in self.fabrics.items()}

    def sample(self, failed: Failing, count: int, samples: int, seed: int, tell: Teller | None) -> Iterator[Outages]:
        """Samples of every fabric with at least ``count`` of a kind; the same seed gives the same."""
        for name, plant in self.fabrics.items():
            number = number_of(plant, failed)
            if number < count:
                continue
            ways, left = comb(number, count), []
            for number_picked, picked in enumerate(_picked(number, count, samples, f"{seed} {name} {failed}"), 1):
                if tell is not None:
                    tell(f"{name}: {count} {failed}, {number_picked} of {min(ways, samples)}")
                left.append(plant.after(lost_of(plant, failed, picked)))
            yield _outages(name, failed, count, ways, left)


def _outages(name: str, failed: Failing, count: int, ways: int, left: Sequence[Left]) -> Outages:
    rates = tuple(sorted(sample.mbps / MBPS_PER_GBPS for sample in left))
    return Outages(name, failed, count, ways, rates, tuple(sorted(sample.cut_off for sample in left)))


def _picked(number: int, count: int, samples: int, seed: str) -> Iterator[Sequence[int]]:
    if comb(number, count) <= samples:
        yield from combinations(range(number), count)
        return
    source = random.Random(seed)
    for _ in range(samples):
        yield source.sample(range(number), count)


def number_of(plant: Plant, failed: Failing) -> int:
    """Count of devices or links of a kind of failure."""
    if failed == "cable":
        return plant.switch_of.size + len(plant.a)
    if failed == "plane":
        return int(plant.plane.max()) + 1
    return len(_switches(plant, failed))


def _switches(plant: Plant, failed: Failing) -> Ints:
    return np.arange(plant.switches) if failed == "switch" else np.flatnonzero(plant.tier == TIERS.index(failed))


def lost_of(plant: Plant, failed: Failing, picked: Sequence[int]) -> Lost:
    """Lost devices or links, by their numbers within a kind: cables of servers come before the others."""
    lost, which = nothing(plant), np.array(picked, dtype=np.int64)
    if failed == "cable":
        at_server = which < plant.switch_of.size
        lost.ports.ravel()[which[at_server]] = True
        lost.links[which[~at_server] - plant.switch_of.size] = True
    elif failed == "plane":
        lost.switches[np.isin(plant.plane, which)] = True
    else:
        lost.switches[_switches(plant, failed)[which]] = True
    return lost


def switches_of(cabling: FabricCabling) -> Ints:
    """Rows of the switches of a plant among the devices, shape (switches,)."""
    return np.concatenate([cabling.devices_of(role) for role in TIERS])


def server_ports(cabling: FabricCabling) -> Ints:
    """Rows of the links of a plant's ports of servers among those of the fabric, shape (servers x ports,)."""
    links, ports = cabling.links, cabling.of(SERVER_LEAF)
    return ports[np.lexsort((links.a_nic_port[ports], links.a_nic[ports], links.a[ports]))]


def plant_of(cabling: FabricCabling) -> Plant:
    """A fabric as cabled, at the last stage."""
    fabric, clos = cabling.fabric, cabling.clos
    links, devices, nic = cabling.links, cabling.devices, cabling.fabric.designed.nic
    switches, ports = switches_of(cabling), server_ports(cabling)
    number = np.full(len(devices), -1, dtype=np.int64)
    number[switches] = np.arange(len(switches))
    tier = np.concatenate([np.full(len(cabling.devices_of(role)), at) for at, role in enumerate(TIERS)])
    between = cabling.between_switches
    shape = (clos.servers, clos.planes * clos.ports)
    network = devices.plane[switches] - 1
    nic_number = np.repeat(np.arange(nic.per_server), nic.ports_per_nic)
    direct = fabric.is_direct
    return Plant(
        tier=tier,
        network=network,
        pod=np.unique(np.stack([network, np.maximum(devices.pod[switches], 0)]), axis=1, return_inverse=True)[
            1
        ].ravel(),
        plane=network // nic.per_server if fabric.designed.topology == RAIL_ONLY else network,
        a=number[links.a[between]],
        b=number[links.b[between]],
        mbps=cabling.mbps(between),
        length=np.where(links.kind[between] == KINDS.index("global"), GLOBAL_LENGTH, 1),
        switch_of=number[links.b[ports]].reshape(shape),
        nic_of=nic_number,
        port_mbps=fabric.nic_lane.port_mbps,
        nic_mbps=float(fabric.nic_mbps),
        gpus=float(nic.per_server * fabric.nic_mbps / fabric.injection),
        below_leaf=_leaf_endpoints(fabric, len(switches)) * fabric.nic_lane.port_mbps,
        below_spine=0 if direct or clos.tiers < 3 else clos.most_spine_downlinks * fabric.down("spine").port_mbps,
        carried=_bisection_share(fabric) if direct else 1.0,
        ports=clos.most_endpoints,
        direct=direct,
        apart=fabric.networks.apart,
        most_mbps=_scale_up_mbps(fabric),
    )


def _leaf_endpoints(fabric: FabricEvidence, switches: int) -> int | Ints:
    """The most endpoints of a leaf, of shape (switches,) where leaves of the last group have a number of their own."""
    clos = fabric.clos
    if not clos.has_own_last:
        return clos.most_endpoints
    return np.where(clos.is_of_last(np.arange(switches)), clos.last_endpoints, clos.most_endpoints)


def _bisection_share(fabric: FabricEvidence) -> float:
    """The share of a port's speed that bisection carries in a direct network."""
    return min(1.0, float(cut(fabric) / fabric.nic_lane.port_mbps))


def _scale_up_mbps(fabric: FabricEvidence) -> float:
    """Mb/s of a GPU through a server's scale-up domain in a rail-only fabric; at most across uneven stripes."""
    scale_up, most = fabric.evidence.server.scale_up, np.inf
    if fabric.networks.apart and scale_up is not None:
        most = float(exact(scale_up.gbps_per_gpu) * MBPS_PER_GBPS)
    if not fabric.is_direct and is_uneven(fabric.clos):
        most = min(most, float(bisection(fabric)))
    return most
