"""Numbers of planes over which the ports of NICs can be dealt, whatever that costs and carries.

Planes and rails: how ports of NICs are dealt over disjoint networks, and the traffic that then crosses inside
servers.

Where each rail is a network of its own, traffic for a GPU on another rail first moves inside the source's domain to a
GPU on the destination's rail. Of uniform traffic over r rails that is the share (r - 1) / r, and as much arrives from
the others, so a GPU needs that share of its injection in each direction. Source: Wang et al., "Rail-only: A Low-Cost
High-Performance Network for Training LLMs with Trillion Parameters", arXiv 2307.12169, section 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from fabopt.parts.offering import is_chosen
from fabopt.parts.switches import lanes_of
from fabopt.schema.base import parse_split
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Nic
from fabopt.schema.product import Cage
from fabopt.schema.server import Server
from fabopt.units import ceil_div, gbps, mbps, plain_fraction

# The most that a NIC is made for: a port of 800G as 8 x 100G. Source: arXiv 2605.04333 (MRC), 2026-05.
MOST_PLANES: Final = 8
MOST_NAMED: Final = 3


def planes_by_nic(fabric: Fabric, server: Server, nics: Iterable[Nic]) -> dict[str, tuple[int, ...]]:
    """The numbers by id, of the server's own NICs of the fabric's role, or of all that the fabric may have."""
    own = {built_in.id: built_in for built_in in server.nics if built_in.role == fabric.role}
    numbers: dict[str, tuple[int, ...]] = {}
    for nic in nics:
        built_in = own.get(nic.id)
        if built_in is None and (own or not is_chosen(nic, fabric.nics)):
            continue
        cages, count = nic.cages, 1
        if built_in is not None and built_in.cages is not None:
            cages, count = built_in.cages, built_in.count
        spoken = [protocol for protocol in nic.protocols if fabric.protocol in ("any", protocol)]
        ports = {number // count for cage in cages for number in _ports(cage, spoken)}
        numbers[nic.id] = tuple(sorted({planes for number in ports for planes in _divisors(number)}))
    return {id_: of_nic for id_, of_nic in numbers.items() if of_nic}


def lacking_words(fabric: Fabric, server: Server, nics: Sequence[Nic]) -> str:
    """Why no NIC that a fabric may have can be dealt over the planes that it asks for; empty where one can."""
    wanted = fabric.planes if isinstance(fabric.planes, tuple) else (fabric.planes,)
    asked, numbers = [planes for planes in wanted if isinstance(planes, int)], planes_by_nic(fabric, server, nics)
    is_own = any(built_in.role == fabric.role for built_in in server.nics)
    # of cards that are chosen any ports may be left unused
    if (
        not numbers
        or len(asked) < len(wanted)
        or any(
            planes in of_nic or (planes <= max(of_nic) and not is_own)
            for planes in asked
            for of_nic in numbers.values()
        )
    ):
        return ""
    told = [unsplit_words(nic) for nic in nics if nic.id in numbers] if is_own else []
    return "; ".join(filter(None, [f"no NIC for {_listed(asked)}", planes_words(numbers), *told]))


def planes_words(numbers: Mapping[str, Collection[int]]) -> str:
    """``nvidia-c8180 has ports for 1, 2, 4 or 8 planes``, of the NICs with the most; empty without any."""
    most = sorted(numbers, key=lambda id_: (-max(numbers[id_]), id_))[:MOST_NAMED]
    return "; ".join(f"{id_} has ports for {_listed(numbers[id_])}" for id_ in most)


def unsplit_words(nic: Nic) -> str:
    """Ports that the lanes of a NIC could be, where no split of the catalog makes as many; empty where one does."""
    for cage in nic.cages:
        ports, mbps = max(map(parse_split, cage.splits), key=lambda split: split.ports * split.port_mbps)
        fastest, most = ports * mbps, max(parse_split(split).ports for split in cage.splits)
        lanes = lanes_of(cage.form_factor)
        if cage.lane_gbps is not None:
            lanes = int(fastest // (cage.lane_gbps * 1000))
        if lanes > most:
            split = f"{lanes}x{gbps(fastest // lanes):g}"
            return f"the {lanes} lanes of {nic.id} could be {split}, and the catalog lists {', '.join(cage.splits)}"
    return ""


def _ports(cage: Cage, protocols: Iterable[str]) -> Iterator[int]:
    for split in dict.fromkeys(split for protocol in protocols for split in cage.splits_of(protocol)):
        yield cage.count_at(split) * parse_split(split).ports


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def _listed(numbers: Collection[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last} planes" if others else f"{last} plane{'s' * (last != '1')}"


FEWEST_RAILS = 2
RAIL_ONLY = "rail-only"


class Division(NamedTuple):
    """How the ports of NICs are dealt over networks that share no switch: fields as in ``NicOption``."""

    planes: int
    topology: str = "clos"
    apart: bool = False


def divisions(fabric: Fabric, nics_per_server: int, ports_per_nic: int) -> Iterable[Division]:
    """The ways that the case's topologies and planes allow; rails of their own are two at least."""
    allowed = set(fabric.topologies)
    planes = _planes(fabric, ports_per_nic)
    if allowed - {RAIL_ONLY}:
        if fabric.planes != "rails":
            yield from (Division(number) for number in planes)
        if fabric.planes in ("rails", "any") and nics_per_server >= FEWEST_RAILS and allowed & {"clos", "any"}:
            yield Division(nics_per_server, apart=True)
    if allowed & {RAIL_ONLY, "any"} and nics_per_server >= FEWEST_RAILS:
        yield from (Division(nics_per_server * number, RAIL_ONLY, True) for number in planes)


def _planes(fabric: Fabric, ports_per_nic: int) -> list[int]:
    wanted = fabric.planes
    if wanted == "rails":
        return [1]
    if wanted == "any":
        options: Iterable[int] = range(1, ports_per_nic + 1)
    else:
        options = (wanted,) if isinstance(wanted, int) else sorted(set(wanted))
    # Rule ``planes_are_disjoint``: every NIC has equally many ports in each plane
    return [planes for planes in options if ports_per_nic % planes == 0]


def forwarded(injection: Fraction, rails: int) -> Fraction:
    """Uniform traffic that a GPU forwards, in the unit of its injection."""
    return injection * (rails - 1) / rails


def cannot_forward(server: Server, rails: int, injection_mbps: Fraction) -> str | None:
    """Why a server's scale-up domain cannot carry the traffic between rails, with the arithmetic; None if it can."""
    if server.scale_up is None:
        return f"{server.id} has no `scale_up` domain to move traffic between its {rails} rails"
    gpus = server.scale_up.domain_gpus
    if gpus < server.gpus:
        return (
            f"a scale-up domain of {server.id} has {gpus} of its {server.gpus} GPUs, "
            f"which are on {ceil_div(gpus * rails, server.gpus)} of {rails} rails"
        )
    needed = forwarded(injection_mbps, rails)
    if mbps(server.scale_up.gbps_per_gpu) < needed:
        shown = [plain_fraction(rate_mbps / 1000) for rate_mbps in (injection_mbps, needed)]
        return (
            f"{server.id} forwards ({rails} - 1)/{rails} x {shown[0]} = {shown[1]} Gb/s per GPU between {rails} rails, "
            f"and its scale-up domain carries {server.scale_up.gbps_per_gpu:g}"
        )
    return None
