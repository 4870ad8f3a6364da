"""All networks of a family that carry a load, with more links of a pair than that needs too: they survive more.

Without failures the fewest links that carry the load are best (``Kin.nets``); what is left after one depends on all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fabopt.topology.direct.nets import Ints, Kin, Load, Net
from fabopt.topology.dragonfly import fewest_local, net_of
from fabopt.topology.hyperx import MOST_DIMENSIONS, joined, lattice_net

Thicker = Callable[[Kin, int, Load, int], Net]


def thicker_boxes(kin: Kin, leaves: int, load: Load, most_ports: int) -> Net:
    """Boxes with any links of a pair from the fewest on, dimension by dimension."""
    fewest = kin.nets(leaves, load, most_ports, ())
    found = [fewest.take(slice(0, 0))]
    for row in range(len(fewest)):
        numbers = fewest.numbers[row]
        used = int((numbers[:MOST_DIMENSIONS] > 0).sum())
        least = numbers[MOST_DIMENSIONS : MOST_DIMENSIONS + used]
        each = fewest.ports[row, :used] // least
        links = _multiples(least, each, most_ports)
        sides = np.tile(numbers[:used], (len(links), 1))
        switches = np.full(len(links), fewest.switches[row])
        found.append(lattice_net(sides, links, switches, links * each))
    return joined(found, most_ports)


def _multiples(least: Ints, each: Ints, most_ports: int) -> Ints:
    """Rows of links of a pair, ``least`` or more in every column, that take so many ports at most."""
    spare = most_ports - int((least * each).sum())
    columns = [
        np.arange(low, low + spare // ports + 1) for low, ports in zip(least.tolist(), each.tolist(), strict=True)
    ]
    rows = np.stack([one.ravel() for one in np.meshgrid(*columns, indexing="ij")], axis=1)
    return np.asarray(rows[(rows * each).sum(axis=1) <= most_ports])


def thicker_dragonflies(kin: Kin, leaves: int, load: Load, most_ports: int) -> Net:
    """Groups with any global links of a pair from the fewest on, and any local ones that carry the load then."""
    fewest = kin.nets(leaves, load, most_ports, ())
    found = [fewest.take(slice(0, 0))]
    for a, groups in np.unique(fewest.numbers[:, :2], axis=0).tolist():
        low = int(load.links(a * groups, a**2, 1))
        n = np.arange(low, max(low, most_ports * a // (groups - 1)) + 1)
        own = np.full(len(n), a), np.full(len(n), groups)
        local = fewest_local(load, *own, n)
        room = (most_ports - -(-n * (groups - 1) // a)) // (a - 1)
        counts = np.maximum(0, room - local + 1)
        rows = np.repeat(np.arange(len(n)), counts)
        more = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        found.append(net_of(own[0][rows], own[1][rows], local[rows] + more, n[rows]))
    return joined(found, most_ports)


THICKER: Mapping[str, Thicker] = {
    "hyperx": thicker_boxes,
    "torus": thicker_boxes,
    "dragonfly": thicker_dragonflies,
}
