"""Rule ``pools_hold_headroom``: the packet memory of every switch holds the data in flight of its lossless ports.

Leaves of a differing last group are weighed by themselves, and so are spines of a second type. Attachments on leaves
count where they are, in the ratio or not; those on free ports of another tier on all of its switches as often as on the
one that has the most of them. All ports of a switch to one side count as long as the longest cable that is bought for
these links, which is safe: a value for a longer cable is one for a shorter cable too. Unknown values of a switch or a
cable exclude no design.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

from fabopt.parts.pools import LosslessPorts, PoolVerdict, pool_verdict
from fabopt.parts.switches import CageUse, SwitchType, lanes_of
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.operate import Roce
from fabopt.schema.structure import Structure
from fabopt.topology.candidate import Candidate, Choice, Clash, Ends, Option
from fabopt.topology.design import FilePart, Tier
from fabopt.units import gbps, sets

ETHERNET = "ethernet"
# The longest cable that may be bought for links between two roles.
Lengths = Mapping[Ends, float]


class WeighedTier(NamedTuple):
    """The lossless ports of each of the equal switches of a tier, and the verdict on their pool.

    ``tier``: with these switches only; ``verdict``: None where it is not known.
    """

    tier: Tier
    ports: tuple[LosslessPorts, ...]
    verdict: PoolVerdict | None


def with_pools(fabric: FabricProblem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates whose switches hold their headroom, with cables limited to the lengths that allow it.

    Where either of two kinds of links may have longer cables, but not both, each is a candidate of its own.
    """
    roce = fabric.roce
    if roce is None:
        return tuple(candidates)
    return tuple(limited for candidate in candidates for limited in _limited(roce, candidate))


def _limited(roce: Roce, candidate: Candidate) -> Iterator[Candidate]:
    part, on_offer = candidate.design.file_part(), _on_offer(candidate.choices)
    if part.protocol != ETHERNET or _hold(part, roce, {ends: lengths[-1] for ends, lengths in on_offer.items()}):
        yield candidate
        return
    for rank, limits in enumerate(_maximal_lengths(part, roce, on_offer)):
        limited = with_options(candidate, "pools", partial(_is_within, limits))
        if all(choice.options for choice in limited.choices):
            yield replace(limited, order=(*candidate.order, rank))


def _on_offer(choices: Sequence[Choice]) -> dict[Ends, list[float]]:
    """Cable lengths in metres of each kind of links, rising."""
    lengths = sets(
        (ends, length_m)
        for choice in choices
        for option in choice.options
        for ends, length_m in option.longest_m.items()
    )
    return {ends: sorted(known) for ends, known in lengths.items()}


def _maximal_lengths(part: FilePart, roce: Roce, on_offer: Mapping[Ends, Sequence[float]]) -> list[Lengths]:
    """Pareto-maximal length limits, in metres by kind of links, with which all pools hold."""
    longest: list[Lengths] = []
    for lengths in product(*(reversed(known) for known in on_offer.values())):
        limits = dict(zip(on_offer, lengths, strict=True))
        is_new = not any(all(limits[ends] <= other[ends] for ends in limits) for other in longest)
        if is_new and _hold(part, roce, limits):
            longest.append(limits)
    return longest


def _is_within(limits: Lengths, option: Option) -> bool:
    return all(length_m <= limits[ends] for ends, length_m in option.longest_m.items())


def with_options(candidate: Candidate, rule: str, is_kept: Callable[[Option], bool]) -> Candidate:
    """A candidate without options that a rule drops, and without their clashes."""
    choices: list[Choice] = []
    places: dict[tuple[Hashable, int], tuple[Hashable, int]] = {}
    for choice in candidate.choices:
        kept = [place for place, option in enumerate(choice.options) if is_kept(option)]
        key = (choice.key, rule, tuple(kept))
        choices.append(replace(choice, key=key, options=tuple(choice.options[place] for place in kept)))
        places |= {(choice.key, before): (key, now) for now, before in enumerate(kept)}
    clashes = tuple(
        Clash(places[clash.below], places[clash.above])
        for clash in candidate.clashes if clash.below in places and clash.above in places
    )  # fmt: skip
    return replace(candidate, choices=tuple(choices), clashes=clashes)


def _hold(part: FilePart, roce: Roce, lengths: Lengths) -> bool:
    """Whether no pool is known to be too small."""
    return not any(
        weighed.verdict is not None and weighed.verdict.spare < 0 for weighed in weighed_tiers(part, roce, lengths)
    )


def weighed_tiers(part: FilePart, roce: Roce, lengths: Lengths) -> Iterator[WeighedTier]:
    """The switches of every tier against their pools, all ports to one side having the longest of these cables."""
    for tier in _of_like_switches(part):
        below, above = _runs(tier.role, lengths)
        sides = [(tier.down_ports, tier.down, below)]
        if tier.up is not None:
            sides.append((tier.up_ports, tier.up, above))
        used = [side for side in sides if side[0]]
        known = [(ports, use, length_m) for ports, use, length_m in used if length_m]
        ports = tuple(LosslessPorts(ports, *_port(tier.switch, use, length_m)) for ports, use, length_m in known)
        yield WeighedTier(tier, ports, _verdict(tier.switch, ports, roce) if len(known) == len(used) else None)


def _of_like_switches(part: FilePart) -> Iterator[Tier]:
    """Every tier, once for each kind of its switches: of another type, or leaves of a differing last group;
    ``down_ports`` are all that are in use there.
    """
    structure = part.structure
    last = structure.last_group if isinstance(structure, Structure) else None
    taken = Counter(place for places in part.free_ports for place in places)
    for tier in part.tiers:
        on_free = max((ports for (role, _), ports in taken.items() if role == tier.role), default=0)
        own, other = tier.down_ports + on_free, on_free + (tier.other.down_ports if tier.other else 0)
        if tier.role == "leaf" and part.occupied_on_leaves is not None:
            own, other = part.occupied_on_leaves
        yield tier._replace(down_ports=own, other=None)
        if tier.other is not None:
            switch, _, _, up_ports, down, up, _ = tier.other
            yield tier._replace(switch=switch, down_ports=other, up_ports=up_ports, down=down, up=up, other=None)
        elif last is not None and tier.role == "leaf":
            yield tier._replace(down_ports=other, up_ports=last.up_ports)


def _runs(role: str, lengths: Lengths) -> tuple[float, float]:
    """The longest cables below and above switches of a role in metres, 0 where none is known; between equals is
    above.
    """
    below = [length_m for (near, far), length_m in lengths.items() if far == role and near != role]
    above = [length_m for (near, _), length_m in lengths.items() if near == role]
    return max(below, default=0.0), max(above, default=0.0)


def _port(switch: SwitchType, use: CageUse, length_m: float) -> tuple[float, float, int]:
    cage = switch.product.cages[use.group]
    return float(gbps(use.lane.port_mbps)), length_m, lanes_of(cage.form_factor, use.lane.ports)


def _verdict(switch: SwitchType, ports: Sequence[LosslessPorts], roce: Roce) -> PoolVerdict | None:
    product = switch.product
    if not product.asic:
        return None
    return pool_verdict(product.asic, product.buffer_pool, ports, roce.lossless_priorities, roce.mtu)
