"""Parts that a catalog does not list: modules, fibres and cables that would join ports which nothing on sale joins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import CableLength, Catalog, Fibre, Transceiver
from fabopt.schema.product import PriceSource
from fabopt.units import first_of, gbps

# Of pairs of ports that nothing joins, of devices with such ports, of parts that would join them, so many are named.
MOST_PAIRS, MOST_DEVICES, MOST_ROWS = 2, 2, 3
# Begins the form factor of ports of optics that are in a switch, where connectors of fibres go in.
BUILT_IN = "CPO-"
# Longest cables with their ends on, in metres: AOC.
MOST_CABLE_M = 100.0
# Lanes of the widest cages. Source: OSFP and QSFP-DD specifications.
MOST_LANES = 8
# Id, or begin of the ids, of parts that stand for what is not listed, and how far they reach.
UNLISTED, FARTHEST_M = "unlisted-part", 100_000.0


class LinkCages(NamedTuple):
    """Cages in use at one end of a link: form factor, split, and port type."""

    form_factor: str
    split: str
    port: PortType

    @property
    def words(self) -> str:
        """Form factor and split, as ``QSFP112 1x400``."""
        return f"{self.form_factor} {self.split}"


# Cages at one end of a link, each with the ids of the devices that may use it.
Ends = Mapping[LinkCages, list[str]]


def cage_ends(problem: Problem, fabric: FabricProblem, end: str, protocol: str) -> Ends:
    """The cages that devices at one end of a link may use, each with the ids of these devices."""
    ends: dict[LinkCages, list[str]] = defaultdict(list)
    if end == "server":
        nics = {nic.id: nic.cages for nic in problem.catalog.nics}
        nics |= {listing.id: listing.cages for listing in problem.server.nics if listing.cages}
        for nic in fabric.nics.get(protocol, ()):
            ends[LinkCages(nics[nic.nic_id][nic.group].form_factor, nic.split, nic.port)].append(nic.nic_id)
    else:
        for switch in fabric.switches[protocol][end]:
            for use in switch.uses:
                ends[LinkCages(switch.product.cages[use.group].form_factor, use.split, use.port)].append(switch.id)
    return {cages: list(dict.fromkeys(ids)) for cages, ids in ends.items()}


def unjoined(problem: Problem, ends: tuple[Ends, Ends], run_m: float, protocol: str) -> list[str]:
    """The pairs of cages of one speed that nothing on sale joins over a run, in words with what would join each.

    First those that a module or a fibre alone would join, then those of the most devices.
    """
    told: list[tuple[tuple[bool, int], str]] = []
    for near, far in product(*ends):
        if near.port.lane.port_mbps == far.port.lane.port_mbps and not _joined(problem, near, far, run_m, protocol):
            rows, words = _told(problem, ends, (near, far), run_m, protocol)
            told.append(((not rows, -len(ends[0][near]) - len(ends[1][far])), words))
    return [words for _, words in sorted(told)[:MOST_PAIRS]]


def lacking(
    problem: Problem, ends: tuple[Ends, Ends], run_m: float, protocol: str, pairs: Collection[tuple[str, str]]
) -> list[str]:
    """The pairs of cages with these words, which no part joins as a network needs it, in words as of ``unjoined``."""
    told: dict[tuple[str, str], str] = {}
    for near, far in product(*ends):
        if (near.words, far.words) in pairs:
            told[near.words, far.words] = _told(problem, ends, (near, far), run_m, protocol)[1]
    return list(told.values())


def _joined(problem: Problem, near: LinkCages, far: LinkCages, run_m: float, protocol: str) -> bool:
    return bool(problem.links.assemblies(near.port, far.port, run_m, protocol, True, True))


def _told(
    problem: Problem, ends: tuple[Ends, Ends], pair: tuple[LinkCages, LinkCages], run_m: float, protocol: str
) -> tuple[bool, str]:
    """Whether a module or a fibre alone would join a pair of cages, and what is missing between them, in words."""
    near, far = pair
    ids = [first_of(of_end[cages], MOST_DEVICES) for of_end, cages in zip(ends, pair, strict=True)]
    words = f"{near.words} ({ids[0]}) to {far.words} ({ids[1]})"
    if _joined(problem, near, far, run_m, protocol):
        return False, f"nothing on sale joins {words} link by link: transceivers and a fibre would"
    built_in = sorted({end.form_factor for end in pair if end.form_factor.startswith(BUILT_IN)})
    rows = [] if built_in else list(dict.fromkeys(_rows(problem, near, far, run_m, protocol)))
    cable = f"a cable of {run_m:g} m" if run_m <= MOST_CABLE_M else f"optics that reach {run_m:g} m"
    would = " or ".join([cable, *rows[:MOST_ROWS]])
    if built_in:
        would = f"the optics that are built in as a module ({' and '.join(built_in)}), and a fibre for them,"
    return bool(rows), f"nothing on sale joins {words}: {would} would"


def _rows(problem: Problem, near: LinkCages, far: LinkCages, run_m: float, protocol: str) -> Iterator[str]:
    """Modules and fibres, each of which alone would join two cages over a run, in words."""
    fibres = [fibre for fibre in problem.offering.offered.fibres if protocol in (fibre.protocols or (protocol,))]
    modules = {end: problem.links.modules(end.port, protocol, True) for end in (near, far)}
    for module, peer in product(modules[near], modules[far]):
        if (module.standard, module.product.fibre) == (peer.standard, peer.product.fibre):
            kinds = sorted({module.connector, peer.connector})
            if run_m <= min(module.product.reach_m, peer.product.reach_m):
                yield f"a fibre ({module.product.fibre}, {' and '.join(kinds)}) of {run_m:g} m"
    for end, other_end in ((near, far), (far, near)):
        spoken = {module.standard for module in modules[end]}
        for module in modules[other_end]:
            straight = (module.product.fibre, module.connector, module.connector)
            laid = [
                item.length_m or 0.0
                for fibre in fibres
                if (fibre.fibre, *(fibre_end.connector for fibre_end in fibre.both_ends)) == straight
                for item in problem.item_table.lengths(fibre.id)
            ]
            lanes = gbps(end.port.lane.port_mbps) / (module.product.lane_gbps or gbps(end.port.lane.port_mbps))
            if module.standard in spoken or lanes * end.port.ports > MOST_LANES:
                continue
            if any(run_m <= length_m <= module.product.reach_m for length_m in laid):
                yield f"a transceiver of {module.standard} for {end.words}"


# -- the catalog in which everything is joined ------------------------------------------------------------------------


def with_any_optics(catalog: Catalog, dollars: float, source: PriceSource) -> Catalog:
    """The catalog with a module for every cage of a device at every split, alike at each speed, and a fibre for them.

    ``dollars``: of each; ``description`` of a module: its cages, as ``LinkCages.words``.
    """
    cages = [cage for switch in catalog.switches for cage in switch.cages]
    cages += [cage for nic in catalog.nics for cage in nic.cages]
    cages += [cage for server in catalog.servers for nic in server.nics for cage in nic.cages or ()]
    kinds = dict.fromkeys((cage.form_factor, split) for cage in cages for split in cage.splits)
    modules = tuple(
        Transceiver(
            id=f"{UNLISTED}-{number}",
            description=f"{form_factor} {split}",
            part_number=UNLISTED,
            form_factor=form_factor,
            split=split,
            standard=f"{gbps(parse_split(split).port_mbps):g}G",
            fibre=UNLISTED,
            connector=UNLISTED,
            connectors=parse_split(split).ports,
            reach_m=FARTHEST_M,
            power_w=0,
            price_usd=dollars,
            provenance={"price_usd": source},
        )
        for number, (form_factor, split) in enumerate(kinds)
    )
    length = CableLength(m=FARTHEST_M, price_usd=dollars, part_number=UNLISTED, source=source)
    fibre = Fibre(id=UNLISTED, fibre=UNLISTED, connectors=(UNLISTED, UNLISTED), lengths=(length,))
    return catalog.model_copy(
        update={"transceivers": (*catalog.transceivers, *modules), "fibres": (*catalog.fibres, fibre)}
    )


def fitting(ends: Ends, module: str, id_: str) -> set[str]:
    """The cages of a device that an unlisted module goes into, in words as it has; a module may fit several kinds."""
    form_factor, _, split = module.rpartition(" ")
    return {
        cages.words
        for cages, own in ends.items()
        if cages.split == split and form_factor in cages.port.fits and id_ in own
    }


def unlisted_words(catalog: Catalog) -> dict[str, str]:
    """The cages that each unlisted module is for, in words, by its id."""
    return {module.id: module.description or "" for module in catalog.transceivers if module.part_number == UNLISTED}
