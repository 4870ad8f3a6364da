"""Ports and cages in use on every switch of a direct network: of servers, and of attachments on free ports."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from fabopt.units import ceil_div
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import server_leaf

Ints = NDArray[np.int64]


def server_ports(fabric: FabricEvidence) -> Ints:
    """Ports of servers on every switch, plane by plane, shape (switches,): switches with servers come first."""
    of_plane = [ports for ports, _ in fabric.clos.dealt_leaves[: fabric.clos.leaves]]
    return np.tile(np.array(of_plane + [0] * (fabric.mesh.leaves - len(of_plane)), dtype=np.int64), fabric.clos.planes)


def most_ports(fabric: FabricEvidence) -> int:
    """Ports of servers and attachments on the busiest switch."""
    return int((server_ports(fabric) + _attached(fabric, 1)).max())


def most_cages(fabric: FabricEvidence, reserved_ports: int) -> int:
    """Cages in use by servers, the reserve and attachments on the fullest switch, each by one of these."""
    lanes, kind, ports = fabric.down("leaf").ports, server_leaf(fabric), server_ports(fabric)
    of_servers = {
        leaves.ports: kind.far.cages_of(devices, kind.bundle)
        for leaves, devices in zip(fabric.clos.leaf_classes, kind.far.devices, strict=True)
    }
    cages = [max(of_servers.get(own, 0), ceil_div(own + reserved_ports, lanes)) for own in ports.tolist()]
    return int((np.array(cages) + _attached(fabric, lanes)).max())


def _attached(fabric: FabricEvidence, lanes: int) -> Ints:
    """Cages of ``lanes`` ports in use by attachments on every switch, shape (switches,)."""
    cages = np.zeros(fabric.clos.planes * fabric.mesh.leaves, dtype=np.int64)
    for places in fabric.designed.free_ports.values():
        for switch, ports in Counter(number for _, number in places).items():
            cages[switch] += ceil_div(ports, lanes)
    return cages
