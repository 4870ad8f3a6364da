"""Classes of equal devices of a Clos, by their links."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.wiring.design_file import divide

Peers = tuple[tuple[int, int], ...]


def stripes_of(uplinks: int, spines: int) -> Peers:
    """(Spines, links to each of them) of a leaf that deals its uplinks as evenly as it can."""
    base, extra = divmod(uplinks, spines)
    return tuple((count, links) for count, links in ((extra, base + 1), (spines - extra, base)) if count)


def in_proportion(peers: Peers, uplinks: int, of_others: int) -> Peers:
    """The peers of a leaf with ``uplinks`` uplinks, in the proportion of ``peers``, those of a leaf with
    ``of_others``.
    """
    whole = "links of a leaf of the last group are in proportion to those of others"
    return tuple((count, divide(links * uplinks, of_others, whole)) for count, links in peers)


def links_to_spines(peers: Peers, count: int) -> int:
    """Links of a leaf to the ``count`` spines with most of them; ``peers``: (spines, links to each)."""
    to_spines = [links for spines, links in sorted(peers, key=lambda peer: -peer[1]) for _ in range(spines)]
    return sum(to_spines[:count])


@dataclass(frozen=True)
class EqualDevices:
    """``count`` equal devices, each joined to ``peers``: pairs of (number of peers, links to each)."""

    count: int
    peers: Peers

    @property
    def links(self) -> int:
        """Links of one device."""
        return sum(peers * links for peers, links in self.peers)


@dataclass(frozen=True)
class EqualLeaves:
    """``count`` leaves over all planes, each with ``servers`` servers and ``attached[i]`` ports of attachment i.

    ``per_leaf``: ports of each of these servers; ``uplinks``: of the leaf; ``is_of_last``: of a last group unlike
    others.
    """

    count: int
    servers: int
    attached: tuple[int, ...]
    per_leaf: int
    uplinks: int
    is_of_last: bool = False

    @property
    def ports(self) -> int:
        """Server ports of a leaf."""
        return self.servers * self.per_leaf


@dataclass(frozen=True)
class EqualPods:
    """``count`` pods over all planes, each with ``leaves`` leaves and ``endpoints`` server ports.

    ``leaves_of_last``: leaves among them in a last group unlike the others.
    """

    count: int
    leaves: int
    endpoints: int
    leaves_of_last: int = 0

    def spines(self, peers: Peers, of_last: Peers) -> tuple[EqualDevices, ...]:
        """Classes of spines in one pod.

        ``peers``: (spines, links to each) of a leaf; ``of_last``: of a leaf of the last group.
        """
        return tuple(
            EqualDevices(spines, ((self.leaves - self.leaves_of_last, links), (self.leaves_of_last, links_of_last)))
            for (spines, links), (_, links_of_last) in zip(peers, of_last, strict=True)
        )
