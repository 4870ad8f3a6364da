"""Classes of equal devices of a Clos, by what they are linked to."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.units import ceil_div

Peers = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class EqualDevices:
    """``count`` equal devices, each joined to ``peers``: pairs of (how many peers, links to each)."""

    count: int
    peers: Peers

    @property
    def links(self) -> int:
        """Links of one device."""
        return sum(peers * links for peers, links in self.peers)

    def bundles(self, size: int) -> int:
        """Bundles of at most ``size`` links on one device, none shared by two peers."""
        return sum(peers * ceil_div(links, size) for peers, links in self.peers)


@dataclass(frozen=True)
class EqualLeaves:
    """``count`` leaves over all planes, each with ``servers`` servers and ``attached[i]`` ports of attachment i.

    ``per_leaf``: ports of each of these servers; ``uplinks``: of the leaf; ``is_odd``: of a last group unlike others.
    """

    count: int
    servers: int
    attached: tuple[int, ...]
    per_leaf: int
    uplinks: int
    is_odd: bool = False

    @property
    def ports(self) -> int:
        """Server ports of a leaf."""
        return self.servers * self.per_leaf


@dataclass(frozen=True)
class EqualPods:
    """``count`` pods over all planes, each with ``leaves`` leaves and ``endpoints`` server ports."""

    count: int
    leaves: int
    endpoints: int
