"""Dragonfly+: G groups of L leaves and S spines, m links of each leaf to each spine, n global links of two groups.

A group has t = n (G - 1) global links, dealt round its spines: h = floor or ceil of t / S each. With Q = L G leaves, d
server ports on any, links of a leaf at w1 and global ones at w2, two ways of spreading traffic give the bandwidth.

*All-to-all*: every ordered pair of leaves sends f, to another group over all global links between the two alike. A
global link carries L^2 / n pairs. Of a leaf's Q - 1 streams, L h / n at most are bound to one spine; those within the
group fill up the other spines, so no spine takes more than ``max((Q - 1) / S, L h / n)``.

*Bisection*: of leaves in halves, x and Q - x, only those of one half send, f to each of the other: a global link
carries L^2 / n pairs at the most, a leaf's link to a spine ``max(x, Q - x) ceil(n / S) / (n m)``, as no spine has more
than ceil(n / S) of the n links. So a cut carries ``x (Q - x) f``, and x leaves have at most d x ports: a port gets
``max(x, Q - x) f / d``. Where all-to-all promises more, that counts. With n a multiple of S both are what any routing
can have: all links of a leaf, and half of those between groups.

Source: Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017, section II;
docs/formulation/direct-networks.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from fabopt.parts.switches import CageUse, SwitchType, cages_beside
from fabopt.topology.direct.networks import Ints, Rates
from fabopt.units import Number, Truth, ceil_of

# Products below are computed in 64 bits, others exactly however large; more links than any switch has ports.
_SAFE = 2**62
_MOST_LINKS = 2**20
# Two groups of two leaves at least; a leaf of the last group may be without servers.
LEAST_LEAVES = 3


@dataclass(frozen=True)
class DragonflyPlusNetworks:
    """Many networks, one a row. ``numbers``: L, S, G, m and t, shape (networks, 5).

    Arrays that follow from these have shape (networks,).
    """

    numbers: Ints

    def __len__(self) -> int:
        """Number of networks."""
        return len(self.numbers)

    def take(self, index: Any) -> DragonflyPlusNetworks:
        """Some of the networks, by their places."""
        return DragonflyPlusNetworks(self.numbers[index])

    @property
    def leaves(self) -> Ints:
        """Leaves of one plane (Q), those without servers too."""
        return np.asarray(self.numbers[:, 0] * self.numbers[:, 2])

    @property
    def spines(self) -> Ints:
        """Spines of one plane."""
        return np.asarray(self.numbers[:, 1] * self.numbers[:, 2])

    @property
    def uplinks(self) -> Ints:
        """Uplinks of a leaf."""
        return np.asarray(self.numbers[:, 1] * self.numbers[:, 3])

    @property
    def spine_down(self) -> Ints:
        """Links of a spine to leaves."""
        return np.asarray(self.numbers[:, 0] * self.numbers[:, 3])

    @property
    def spine_up(self) -> Ints:
        """Global links of the busiest spine."""
        return np.asarray(ceil_of(self.numbers[:, 4], self.numbers[:, 1]))

    @property
    def global_links(self) -> Ints:
        """Global links of one plane."""
        return np.asarray(self.numbers[:, 2] * self.numbers[:, 4] // 2)

    def global_cages(self, ports_per_cage: int) -> Ints:
        """Cages that hold global links, over all spines of a plane."""
        _, spines, groups, _, outside = self.numbers.T
        low, busier = outside // spines, outside % spines
        cages = (spines - busier) * ceil_of(low, ports_per_cage) + busier * ceil_of(low + 1, ports_per_cage)
        return np.asarray(groups * cages)


class GroupLoad(NamedTuple):
    """Demand on a dragonfly+: ``ports`` d on the busiest leaf, ``endpoints`` E of a plane, least rates of a port, and
    the speeds of a leaf's links and of global ones.
    """

    ports: int
    endpoints: int
    rates: Rates
    up_mbps: int
    out_mbps: int


class SpinePorts(NamedTuple):
    """Ports and cages of a spine."""

    max_ports: int
    down: CageUse
    up: CageUse

    def fit(self, down: Number, up: Number) -> Truth:
        """Whether ``down`` ports to leaves and ``up`` global ports fit together."""
        below, above = ceil_of(down, self.down.lane.ports), ceil_of(up, self.up.lane.ports)
        cages = (below <= cages_beside(self.down, self.up, above)) & (above <= self.up.cages)
        return cages & (down + up <= self.max_ports)

    @property
    def most(self) -> int:
        """Most ports of a spine in use on both sides together."""
        below, above = self.down.lane.ports, self.up.lane.ports
        own = self.down.cages * below + self.up.cages * above
        shared = self.down.group == self.up.group
        return min(self.max_ports, self.down.of_group * max(below, above) if shared else own)


def spine_ports(switch: SwitchType, down: CageUse, up: CageUse) -> SpinePorts:
    """Ports of a switch whose cages have these two uses."""
    return SpinePorts(switch.max_ports, down, up)


@lru_cache(maxsize=65536)
def frames(leaves: int, demand: GroupLoad, room: int, spine: SpinePorts) -> DragonflyPlusNetworks:
    """Groups of every size, no more than hold ``leaves`` leaves, with a lower bound of each kind of links.

    ``room``: uplinks that a leaf can have. n is the fewest, m as if n were a multiple of S.
    """
    size, spines = np.arange(2, min(leaves, spine.most)), np.arange(1, room + 1)
    groups = ceil_of(leaves, size)
    outside = _fewest_global(demand, size, groups) * (groups - 1)
    # uplinks for any half of a leaf's traffic, however it is spread
    least = ceil_of(max(1, ceil(demand.ports * demand.rates.cut / demand.up_mbps)), spines)
    fits = spine.fit(size * least[:, np.newaxis], ceil_of(outside, spines[:, np.newaxis]))
    row, column = np.nonzero(fits & (spines * least <= room)[:, np.newaxis])
    size, spines, groups, outside = size[column], spines[row], groups[column], outside[column]
    m = _fewest_up(demand, size, spines, groups, spines)
    return _fitting(np.column_stack([size, spines, groups, m, outside]), room, spine)


def networks(frames: DragonflyPlusNetworks, demand: GroupLoad, room: int, spine: SpinePorts) -> DragonflyPlusNetworks:
    """The networks of some frames with the fewest links that carry the demand.

    n is the fewest, or more, up to a multiple of S, where that saves links of leaves.
    """
    size, spines, groups, _, outside = frames.numbers.T
    n = outside // (groups - 1)
    tries = -n % spines + 1
    rows = np.repeat(np.arange(len(size)), tries)
    n = n[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(tries) - tries, tries)
    size, spines, groups = size[rows], spines[rows], groups[rows]
    m = _fewest_up(demand, size, spines, groups, n)
    # fewer than with any smaller n of the frame: frames far below each other, so that none is of an earlier one
    falling = m - rows * (2 * _MOST_LINKS)
    kept = np.diff(np.minimum.accumulate(falling), prepend=2 * _MOST_LINKS) < 0
    return _fitting(np.column_stack([size, spines, groups, m, n * (groups - 1)])[kept], room, spine)


def _fitting(numbers: Ints, room: int, spine: SpinePorts) -> DragonflyPlusNetworks:
    networks = DragonflyPlusNetworks(numbers)
    return networks.take((networks.uplinks <= room) & spine.fit(networks.spine_down, networks.spine_up))


def _fewest_global(demand: GroupLoad, size: Ints, groups: Ints) -> Ints:
    """Fewest global links of two groups: n >= 2 d cut L / (w2 G), n >= spread d^2 L^2 / (w2 (E - 1))."""
    d, speed = demand.ports, demand.out_mbps
    halves = _least(size, groups, 2 * d * demand.rates.cut / speed)
    pairs = _least(size * size, np.ones_like(size), d * d * demand.rates.spread / (speed * _others(demand)))
    return np.maximum(np.maximum(halves, pairs), 1)


def _fewest_up(demand: GroupLoad, size: Ints, spines: Ints, groups: Ints, n: Ints) -> Ints:
    """Fewest links between a leaf and a spine, with n links between two groups."""
    d, leaves = demand.ports, size * groups
    # streams of one leaf over one spine, times S n
    streams = np.maximum((leaves - 1) * n, size * spines * ceil_of(n * (groups - 1), spines))
    pairs = _least(streams, spines * n, d * d * demand.rates.spread / (demand.up_mbps * _others(demand)))
    cut = d * demand.rates.cut / demand.up_mbps
    halves = np.minimum(_least(ceil_of(n, spines), n, cut), _least(2 * streams, leaves * spines * n, cut))
    return np.maximum(np.maximum(halves, pairs), 1)


def _others(demand: GroupLoad) -> int:
    return max(1, demand.endpoints - 1)


def _least(numerator: Ints, denominator: Ints, factor: Fraction) -> Ints:
    """Ceiling of ``factor * numerator / denominator``."""
    top, bottom = int(np.max(numerator, initial=1)), int(np.max(denominator, initial=1))
    if max(top * factor.numerator, bottom * factor.denominator) >= _SAFE:
        numerator, denominator = numerator.astype(object), denominator.astype(object)
    whole = ceil_of(numerator * factor.numerator, denominator * factor.denominator)
    return np.asarray(np.minimum(whole, _MOST_LINKS).astype(np.int64))
