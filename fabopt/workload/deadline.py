"""Deadlines of a step, and the share of the NICs' bandwidth that a step needs at each boundary.

A step never takes longer where a boundary has more bandwidth, so that the least share is found by halving, for each
number of neighbours behind it: more of them may be worse, where groups of ranks straddle the boundary. Networks are
timed in floating point, those near the deadline exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabopt.workload.many import FabricBandwidths, Floats, Ints
from fabopt.workload.pace import AnyPace
from fabopt.workload.timing import FabricBandwidth

# What floating point may be off, relatively; halvings of a share; parts of the injection that are priced.
MARGIN = 1e-9
HALVINGS = 6
SHARES = 64


@dataclass(eq=False)
class CostTimesStep:
    """An upper limit on cost times step of a design: the dearer the design, the faster it has to be.

    ``before``: cost outside the candidates'; ``most``: of the product; ``spare``: share above the ``least`` product met
    up to which candidates are kept, which makes ``limit`` fall.
    """

    before: float
    most: float
    spare: float = np.inf
    least: float = np.inf

    @property
    def limit(self) -> float:
        """The product up to which candidates are kept."""
        return min(self.most, self.least * (1 + self.spare))


@dataclass(frozen=True)
class Blocks:
    """Leaves under which ``leaf_gpus`` GPUs reach each other, of ``gpus`` in all.

    ``reduces``: whether all switches can. ``leaf_gpus`` has shape (sizes,).
    """

    injection: Fraction
    leaf_gpus: Ints
    gpus: int
    reduces: bool


@dataclass(frozen=True, eq=False)
class Deadline:
    """The longest step, ``most_s`` seconds; with ``less``, that long is too long.

    ``also``: another deadline to be met. ``product``: the limit on cost times step.
    """

    pace: AnyPace
    most_s: Fraction
    less: bool = False
    also: Deadline | None = None
    product: CostTimesStep | None = None

    def is_before(self, other: Deadline) -> bool:
        """Whether this deadline leaves no more time than another one for steps of the same pace."""
        is_alike = self.also is None is other.also and other.product in (None, self.product)
        return is_alike and self.pace is other.pace and self._order <= other._order

    @property
    def products(self) -> tuple[CostTimesStep, ...]:
        """Limits on cost times step, its own first."""
        own = () if self.product is None else (self.product,)
        return own if self.also is None else (*own, *self.also.products)

    @property
    def loses_spine(self) -> bool:
        """Whether bandwidth after the loss of a spine counts."""
        return self.pace.loses_spine or (self.also is not None and self.also.loses_spine)

    @property
    def _order(self) -> tuple[Fraction, bool]:
        return self.most_s, not self.less

    def beside(self, other: Deadline | None) -> Deadline:
        """This deadline and another one, both to be met."""
        if other is None or self.is_before(other):
            return self
        return other if other.is_before(self) else replace(self, also=other.beside(self.also))

    def is_met(self, network: FabricBandwidth) -> bool:
        """Whether a step on a network is in time."""
        step_s = self.pace.step_s(network)
        own = step_s < self.most_s if self.less else step_s <= self.most_s
        return own and (self.also is None or self.also.is_met(network))

    def are_met(
        self, networks: FabricBandwidths, exactly: Callable[[int], FabricBandwidth], key: Callable[[int], Hashable]
    ) -> NDArray[np.bool_]:
        """Whether each network is in time, shape (networks,).

        ``exactly``: one network in fractions, for those near the deadline; ``key``: its inputs, so that each is
        computed once.
        """
        steps = self.pace.steps_s(networks)
        most = float(self.most_s)
        met = steps <= most * (1 - MARGIN)
        for place in np.flatnonzero((steps <= most * (1 + MARGIN)) & ~met).tolist():
            known = key(place)
            if known not in self._met:
                self._met[known] = self.is_met(exactly(place))
            met[place] = self._met[known]
        return met if self.also is None else met & self.also.are_met(networks, exactly, key)

    def most_cost(self, networks: FabricBandwidths) -> Floats:
        """The most cost at which a design no faster than each network keeps the product's limit, shape (networks,).

        Infinite without a product.
        """
        most = np.full(networks.leaf_mbps.shape, np.inf) if self.also is None else self.also.most_cost(networks)
        if self.product is None:
            return most
        own = self.product.limit * (1 + MARGIN) / self.pace.steps_s(networks) - self.product.before
        return np.asarray(np.minimum(most, own))

    def most_cost_at(self, injection: Fraction, gpus: int, reduces: bool) -> float:
        """The most cost at which a network with this ``injection`` per GPU keeps the product's limit; minus infinity
        where none is in time. ``gpus``: in all.
        """
        whole = np.array([gpus], dtype=np.int64)
        block = Blocks(injection, whole, gpus, reduces)
        return float(self._most_at_shares(block, False)[0, -1])

    def most_cost_of_leaves(
        self, block: Blocks, most: float, share_cost: float, in_pods: bool, least: float = 0.0
    ) -> Floats:
        """The most cost of leaves without uplinks, for the best share of the injection that the uplinks give; shape
        (sizes,).

        ``most``: the cost limit with uplinks; ``share_cost``: the least cost of uplinks and the tiers above for all of
        the injection, a share of it in proportion; ``in_pods``: with cores, whose uplinks of pods are shared out;
        ``least``: the least cost of these at any share. Minus infinity where no share will do.
        """
        before = np.maximum(share_cost * np.arange(SHARES) / SHARES, least)
        return np.asarray((np.minimum(self._most_at_shares(block, in_pods), most) - before).max(axis=1))

    def _most_at_shares(self, block: Blocks, in_pods: bool) -> Floats:
        """The most cost of networks whose uplinks give at most each share of the injection, shape (sizes, shares)."""
        steps = self._known("in pods" if in_pods else "leaves", block.injection, block.reduces).of(
            block.leaf_gpus, lambda sizes: self._steps_at_shares(replace(block, leaf_gpus=sizes), in_pods)
        )
        most = np.where(steps <= float(self.most_s) * (1 + MARGIN), np.inf, -np.inf)
        if self.product is not None:
            most = np.minimum(most, self.product.limit * (1 + MARGIN) / steps - self.product.before)
        return most if self.also is None else np.minimum(most, self.also._most_at_shares(block, in_pods))

    def _steps_at_shares(self, block: Blocks, in_pods: bool) -> Floats:
        """Steps where uplinks of leaves, or with ``in_pods`` those of pods, give each share; the others give all."""
        rate, sizes = float(block.injection), block.leaf_gpus.size
        leaf_gpus = np.repeat(block.leaf_gpus, SHARES)
        above = np.tile(rate * np.arange(1, SHARES + 1) / SHARES, sizes)
        whole = np.full(leaf_gpus.shape, block.gpus, dtype=np.int64)
        # ranks that fill pods may send nothing above them
        pods = leaf_gpus if in_pods and not self.pace.holds_pods else whole
        leaves = np.full(above.shape, rate) if in_pods else above
        networks = FabricBandwidths(rate, leaves, above, leaf_gpus, pods, block.reduces)
        return self.pace.steps_s(networks).reshape(sizes, SHARES)

    def meet(self, networks: FabricBandwidths, network_of: Ints, cost: Floats) -> None:
        """Lower the product's limit to that of candidates in time; arrays have shape (candidates,)."""
        if self.product is None or not cost.size:
            return
        if self.also is not None:
            wanted = cost <= self.also.most_cost(networks)[network_of]
            network_of, cost = network_of[wanted], cost[wanted]
        products = (self.product.before + cost) * self.pace.steps_s(networks)[network_of]
        self.product.least = min(self.product.least, float(products.min(initial=np.inf)))

    @cached_property
    def _met(self) -> dict[Hashable, bool]:
        """Whether networks near the deadline are in time, by key."""
        return {}

    def leaf_shares(self, injection: Fraction, leaf_gpus: Ints, gpus: int, reduces: bool) -> Floats:
        """Shares of the injection that leaves must give for a step to be in time, pods slowing nothing.

        Shape of ``leaf_gpus``, (sizes,). Below the share a step is late; at the share it may be in time. Infinite where
        no share will do. ``gpus``: in all.
        """
        rate = float(injection)

        def least(leaf_gpus: Ints) -> Floats:
            pod_gpus = np.full(leaf_gpus.shape, gpus, dtype=np.int64)
            return self._least(
                leaf_gpus.shape,
                lambda share: FabricBandwidths(rate, share * rate, share * rate, leaf_gpus, pod_gpus, reduces),
            )

        shares = self._known("leaf", injection, reduces).of(leaf_gpus, least)
        if self.also is None:
            return shares
        return np.maximum(shares, self.also.leaf_shares(injection, leaf_gpus, gpus, reduces))

    def pod_shares(self, injection: Fraction, leaf_gpus: Ints, pod_gpus: Ints, gpus: int, reduces: bool) -> Floats:
        """Shares of the injection that pods must give for a step to be in time, leaves slowing nothing.

        Arrays have shape (sizes,); infinite where no share will do, as for ``leaf_shares``.
        """
        rate, sizes = float(injection), gpus + 1

        def least(codes: Ints) -> Floats:
            leaves, pods = codes // sizes, codes % sizes
            whole = np.full(codes.shape, rate)
            return self._least(
                codes.shape, lambda share: FabricBandwidths(rate, whole, share * rate, leaves, pods, reduces)
            )

        shares = self._known("pod", injection, reduces).of(leaf_gpus * sizes + np.minimum(pod_gpus, gpus), least)
        if self.also is None:
            return shares
        return np.maximum(shares, self.also.pod_shares(injection, leaf_gpus, pod_gpus, gpus, reduces))

    def _known(self, boundary: str, injection: Fraction, reduces: bool) -> _KnownShares:
        return self._shares.setdefault((boundary, injection, reduces), _KnownShares())

    @cached_property
    def _shares(self) -> dict[tuple[str, Fraction, bool], _KnownShares]:
        """Least shares computed so far, by boundary, injection and whether switches reduce."""
        return {}

    def _least(self, shape: tuple[int, ...], networks: Callable[[Floats], FabricBandwidths]) -> Floats:
        def may_be(share: Floats) -> NDArray[np.bool_]:
            return np.asarray(self.pace.steps_s(networks(share)) <= float(self.most_s) * (1 + MARGIN))

        low, high = np.zeros(shape), np.where(may_be(np.ones(shape)), 1.0, np.inf)
        for _ in range(HALVINGS):
            middle = np.where(np.isfinite(high), (low + high) / 2, 1.0)
            enough = may_be(middle)
            low, high = np.where(enough, low, middle), np.where(enough, np.minimum(middle, high), high)
        return np.asarray(np.where(np.isfinite(high), low, np.inf))


class _KnownShares:
    """Shares, or steps at shares, by sizes of blocks, each computed once."""

    def __init__(self) -> None:
        self._sizes: Ints = np.zeros(0, dtype=np.int64)
        self._shares: Floats | None = None

    def of(self, sizes: Ints, least: Callable[[Ints], Floats]) -> Floats:
        """Values of some sizes, the first axis as theirs; ``least`` computes those of new sizes."""
        places = np.searchsorted(self._sizes, sizes)
        known = places < self._sizes.size
        known[known] = self._sizes[places[known]] == sizes[known]
        if not known.all():
            new = np.unique(sizes[~known])
            every, shares = np.concatenate([self._sizes, new]), least(new)
            shares = shares if self._shares is None else np.concatenate([self._shares, shares])
            order = np.argsort(every)
            self._sizes, self._shares = every[order], shares[order]
            places = np.searchsorted(self._sizes, sizes)
        return np.asarray(self._shares)[places]
