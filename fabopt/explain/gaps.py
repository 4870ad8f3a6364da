"""Gaps of a catalog for a fabric: NICs, switches of a tier, or parts of their links.

By arithmetic alone, without a search: a fabric is a chain of NICs, leaves, the links between them, and so on; its gap
is the first step without a product on sale. A change to the case or the catalog helps if it fills the gap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import product
from typing import NamedTuple

from fabopt.explain.freedoms import Freedom, Sold, enough_together, freedoms_of, newly_on_sale, not_on_sale, payable
from fabopt.explain.what_if import Inquiry, Supposition
from fabopt.parts.nic_planes import lacking_words
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.unlisted_parts import (
    UNLISTED,
    cage_ends,
    fitting,
    lacking,
    unjoined,
    unlisted_words,
    with_any_optics,
)
from fabopt.program.orders import Picked
from fabopt.program.settings import StoppedError
from fabopt.schema.conflict import WOULD_HELP
from fabopt.units import gbps

# What an unknown price is taken for: more than any other, so that only what is needed is bought at it.
UNKNOWN_USD = 1e7
# Of parts, or of changes that would help, so many are named.
MOST_NAMED = 4
# By step of the chain that is a kind of links: what is at its ends, and the run that it goes over.
ENDS = {
    "server-leaf": ("server", "leaf", "server-leaf"),
    "leaf-spine": ("leaf", "spine", "leaf-spine"),
    "spine-core": ("spine", "core", "spine-core"),
    "leaf-leaf": ("leaf", "leaf", "leaf-spine"),
    "server-server": ("server", "server", "server-leaf"),
}
# The chain of a Clos by its tiers; every other network is made of leaves alone, but a torus may be of servers.
CLOS = (("nics", "leaf", "server-leaf"), ("spine", "leaf-spine"), ("core", "spine-core"))
OF_LEAVES = ("nics", "leaf", "server-leaf", "leaf-leaf")
OF_SERVERS = ("nics", "server-server")


class Gap(NamedTuple):
    """The first step of a fabric's chain without a product on sale, and the number of filled steps before it."""

    filled: int
    step: str
    protocol: str


def gap_of(problem: Problem, fabric: FabricProblem) -> Gap | None:
    """The gap of the protocol with the most filled steps (of equals, the most NICs); None if some chain is filled."""
    gaps = [_gap(problem, fabric, chain, protocol) for chain in _chains(fabric) for protocol in fabric.protocols]
    if None in gaps:
        return None
    spoken: list[str] = [protocol for nic in problem.offering.offered.nics for protocol in nic.protocols]
    known = (gap for gap in gaps if gap is not None)
    return max(known, key=lambda gap: (gap.filled, spoken.count(gap.protocol)), default=None)


def _chains(fabric: FabricProblem) -> Iterator[tuple[str, ...]]:
    """Chains of steps of the networks that a fabric allows."""
    if fabric.shapes.have_tiered and fabric.shapes.tiers:
        yield tuple(step for steps in CLOS[: _tiers_at_least(fabric)] for step in steps)
    if fabric.shapes.have_direct:
        yield OF_LEAVES
    if "torus" in fabric.shapes.topologies and "servers" in fabric.shapes.torus_nodes:
        yield OF_SERVERS


def _tiers_at_least(fabric: FabricProblem) -> int:
    """The least tiers of a Clos: the case's, or two where one switch is allowed but may have too few ports."""
    return max(min(fabric.shapes.tiers), min(2, max(fabric.shapes.tiers)))


def _gap(problem: Problem, fabric: FabricProblem, chain: tuple[str, ...], protocol: str) -> Gap | None:
    for filled, step in enumerate(chain):
        if next(fillers(problem, fabric, step, protocol), None) is None:
            return Gap(filled, step, protocol)
    return None


def fillers(problem: Problem, fabric: FabricProblem, step: str, protocol: str) -> Iterator[frozenset[Sold]]:
    """Every way to fill a step of a fabric's chain with products on sale: one product, or the parts of a link."""
    if step == "nics":
        yield from (frozenset({(nic.nic_id, None)}) for nic in fabric.nics.get(protocol, ()))
    elif step not in ENDS:
        yield from (frozenset({(switch.id, None)}) for switch in fabric.switches[protocol][step])
    else:
        run_m = fabric.runs.m[ENDS[step][2]]
        for near, far in _pairs(fabric, step, protocol):
            for assembly in problem.links.assemblies(near, far, run_m, protocol, True, True):
                yield frozenset((item.id, item.length_m) for item in assembly.items)


def _pairs(fabric: FabricProblem, step: str, protocol: str) -> Iterator[tuple[PortType, PortType]]:
    near, far, _ = ENDS[step]
    for one_end in ports_of(fabric, near, protocol):
        for other_end in ports_of(fabric, far, protocol):
            yield one_end, other_end


def ports_of(fabric: FabricProblem, end: str, protocol: str) -> list[PortType]:
    """Distinct port types of the devices at one end of a link."""
    if end == "server":
        ports = [nic.port for nic in fabric.nics.get(protocol, ())]
    else:
        ports = [use.port for switch in fabric.switches[protocol][end] for use in switch.uses]
    return list(dict.fromkeys(ports))


# -- in words ---------------------------------------------------------------------------------------------------------


def gap_sentences(inquiry: Inquiry) -> Iterator[str]:
    """A sentence for each fabric's gap, with every change that fills it."""
    for index, fabric in enumerate(inquiry.problem.fabrics):
        gap = gap_of(inquiry.problem, fabric)
        if gap is not None:
            remedies = list(dict.fromkeys(_remedies(inquiry, index, gap)))
            told = [f"fabric {fabric.name}: {_lacking(inquiry.problem, fabric, gap)}"]
            if gap.step in ENDS and not any(remedy.startswith("`catalog.") for remedy in remedies):
                told += _unjoined(inquiry, index, gap) or ["the catalog has no ports of one speed at both ends"]
            told += [f"{WOULD_HELP}: {', or '.join(remedies[:MOST_NAMED])}"] if remedies else _helpless(inquiry, gap)
            yield "; ".join(told)


def _unjoined(inquiry: Inquiry, index: int, gap: Gap) -> list[str]:
    """What a design of all fabrics lacks, else, where there is none or none is found, what this gap does."""
    with suppress(StoppedError):
        if told := unlisted_parts(inquiry):
            return told
    problem, (near, far, run) = inquiry.problem, ENDS[gap.step]
    fabric = problem.fabrics[index]
    ends = (cage_ends(problem, fabric, near, gap.protocol), cage_ends(problem, fabric, far, gap.protocol))
    return unjoined(problem, ends, fabric.runs.m[run], gap.protocol)


def unlisted_parts(inquiry: Inquiry) -> list[str]:
    """The ports that a design joins by parts which the catalog does not list, as few as can be, in words.

    Empty: no such design, or one without such parts. Raises ``StoppedError`` if that is not known in time.
    """
    catalog = with_any_optics(inquiry.catalog, UNKNOWN_USD, payable(inquiry.case))
    problem = inquiry.problem_asked(Supposition(inquiry.case, catalog))
    optimum = inquiry.design_of(problem)
    inquiry.met.clear()  # its price rests on parts that nobody lists
    networks = enumerate(optimum.picked if optimum is not None else ())
    told = (words for place, picked in networks for words in _lacking_joins(inquiry.problem, problem, place, picked))
    return list(dict.fromkeys(told))


def _lacking_joins(asked: Problem, free: Problem, index: int, picked: Picked) -> Iterator[str]:
    """The cages of a network that parts join which only the problem ``free`` has, in words."""
    part, joins = picked[0].design.file_part(), _unlisted_joins(free, picked)
    ids = {"server": part.nic.nic_id} | {str(tier.role): tier.switch.id for tier in part.tiers}
    for near, far, run in ENDS.values():
        pairs: set[tuple[str, str]] = set()
        for modules in joins.get((near, far), ()):
            near_cages, far_cages = (
                fitting(cage_ends(free, free.fabrics[index], end, part.protocol), module, ids.get(end, ""))
                for end, module in zip((near, far), modules, strict=True)
            )
            pairs |= set(product(near_cages, far_cages))
        if pairs:
            fabric = asked.fabrics[index]
            ends = (cage_ends(asked, fabric, near, part.protocol), cage_ends(asked, fabric, far, part.protocol))
            yield from lacking(asked, ends, fabric.runs.m[run], part.protocol, pairs)


def _unlisted_joins(problem: Problem, picked: Picked) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """The pairs of cages that unlisted parts join in a network, in words, by the roles at both ends."""
    pairs: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    words = unlisted_words(problem.catalog)
    for row in (row for option, _ in picked[1] for row in option.rows):
        if row.assembly is not None and row.assembly.cable.id == UNLISTED:
            near, far = (words[item.id] if item else "" for item in (row.assembly.near, row.assembly.far))
            pairs[row.near, row.far].add((near, far))
    return pairs


def _helpless(inquiry: Inquiry, gap: Gap) -> list[str]:
    """Reasons why no single key fills a gap: the fault of each product for its step."""
    if gap.step in ENDS:
        return ["no key of the case alone would help"]
    speaks: dict[str, tuple[str, ...]] = {switch.id: (switch.protocol,) for switch in inquiry.catalog.switches}
    if gap.step == "nics":
        speaks = {nic.id: nic.protocols for nic in inquiry.catalog.nics}
    others = [id_ for id_, protocols in speaks.items() if gap.protocol not in protocols]
    why = not_on_sale(inquiry, [id_ for id_ in speaks if id_ not in others])
    why += [f"{id_} is not for {gap.protocol}" for id_ in others]
    return ["no key of the case alone would help", *why[:MOST_NAMED]]


def _lacking(problem: Problem, fabric: FabricProblem, gap: Gap) -> str:
    if gap.step == "nics":
        asked = next((one for one in problem.case.fabrics if one.name == fabric.name), None)
        if asked is not None and (lacking := lacking_words(asked, problem.server, problem.catalog.nics)):
            return lacking
        wanted = f"{gbps(fabric.gpu_mbps):g} Gb/s per GPU"
        return f"no {gap.protocol} NIC on sale that the case allows gives {problem.server.id} its {wanted}"
    if gap.step not in ENDS:
        able = " and lists `mlag` or `evpn-multihoming` among its `features`" if fabric.leaf_pairs.are_joined else ""
        return f"no {gap.protocol} switch on sale may be a {gap.step}{able if gap.step == 'leaf' else ''}"
    near, far, run = ENDS[gap.step]
    ports = {end: ports_of(fabric, end, gap.protocol) for end in (near, far)}
    joined = f"{_ends(near, far, ports)} over the {fabric.runs.m[run]:g} m of a {run} run"
    text = f"no {gap.protocol} parts on sale join {joined}"
    longest_m = max(
        (problem.links.longest_m(*pair, gap.protocol) for pair in _pairs(fabric, gap.step, gap.protocol)), default=0.0
    )
    return f"{text}; the longest are {longest_m:g} m" if longest_m else text


def _ends(near: str, far: str, ports: Mapping[str, Iterable[PortType]]) -> str:
    """Both ends of a link in words, with their common speeds, or each with its own if they have none in common."""
    speeds = {end: {gbps(port.lane.port_mbps) for port in ports[end]} for end in (near, far)}
    common = speeds[near] & speeds[far]
    if common:
        return f"{near} and {far} at {_speeds(common)}"
    return f"{near} (ports of {_speeds(speeds[near])}) and {far} (ports of {_speeds(speeds[far])})"


def _speeds(speeds: Iterable[float]) -> str:
    return f"{' or '.join(f'{speed:g}' for speed in sorted(speeds))} Gb/s"


def _remedies(inquiry: Inquiry, index: int, gap: Gap) -> Iterator[str]:
    """Every single change that fills a gap, in words with its key."""
    fabric = next(fabric for place, fabric, _ in inquiry.fabrics if place == index)
    for freedom in freedoms_of(inquiry, fabric):
        yield from map(freedom.says, _brought_in(inquiry, freedom, index, gap))


def _brought_in(inquiry: Inquiry, freedom: Freedom, index: int, gap: Gap) -> list[list[str]]:
    """Products that a change brings in to fill a gap; empty if it fills none.

    For a change to the case one list of all; for a change to the catalog each smallest set that is enough.
    """
    free = freedom.asked(inquiry).problem
    fabric = free.fabrics[index]
    after = gap_of(free, fabric)
    if after is not None and after.filled <= gap.filled:
        return []
    protocols = [protocol for protocol in fabric.protocols if after is None or protocol == after.protocol]
    fills = partial(fillers, free, step=gap.step)
    if freedom.catalog is inquiry.catalog:
        ways = {way for protocol in protocols for way in fills(fabric, protocol=protocol)}
        return [newly_on_sale(inquiry, sorted({id_ for way in ways for id_, _ in way}))]
    # first what joins the devices that are on sale as it is: those that only the change brings in lack something too
    for devices in (inquiry.problem.fabrics[index], fabric):
        ways = {way for protocol in protocols for way in fills(devices, protocol=protocol)}
        if few := enough_together(inquiry, freedom, ways):
            return few
    return []
