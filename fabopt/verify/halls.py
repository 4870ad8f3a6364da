"""Rule of sites with several halls: cables between them, measured again over the routes that join the halls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from heapq import heappop, heappush
from typing import Literal, NamedTuple

import numpy as np

from fabopt.floor.fill import strands_of
from fabopt.floor.racks import height_m, rack_id, row_letters
from fabopt.schema.catalog import Fibre
from fabopt.schema.design import Design
from fabopt.schema.floor import Floor
from fabopt.schema.passive import Trunk
from fabopt.schema.structured import TrunkRoute, TrunkRow
from fabopt.units import exact, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.floor_runs import through_trunks
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.model import KINDS, NOTHING, OF_PEERS, TO_ATTACHMENTS, Wiring

# Runs are rounded to a nanometre on the way.
SAME_M = 1e-6
# A point above a hall: a rack by its id, or a gap between racks by the row and the racks before it.
_Point = str | tuple[str, int]


def has_halls(evidence: Evidence) -> bool:
    """Whether the case has several halls, or routes between them."""
    return bool(evidence.case.site.halls)


@since("0.3.0", "case.content.site.halls", "case.content.site.routes")
@where(has_halls)
def routes_join_halls(proof: Proof, cabled: CabledDesign) -> None:
    """Every cable between two halls is as long as the shortest way: trays to an exit, routes, trays from an entrance.

    run = up and down at both ends + least over routes of (tray + m of each route + trays between them + tray), and to
    spare. A trunk is no shorter, from lowest unit to lowest unit; jumpers stay in their racks. Source: case file,
    ``site.halls``, ``site.routes``.
    """
    evidence, devices = cabled.evidence, cabled.wiring.devices
    campus, between, longest_m = HallGraph(evidence), Counter[str](), 0.0
    heights = height_m(devices.unit, devices.height_u).tolist()
    runs: dict[int, float] = defaultdict(float)
    for cable, a, b in _between_halls(cabled):
        floor, way = evidence.plan.floor, campus.way(devices.rack[a], devices.rack[b])
        ends_m = 2 * (floor.tray_height_m + floor.drop_m) - heights[a] - heights[b]
        runs[cable] = max(runs[cable], campus.spared_m(ends_m + float(way.m)))
        between[" and ".join(sorted(hall_of(devices.rack[end]) for end in (a, b)))] += 1
    for cable, run_m in runs.items():
        written_m = float(cabled.wiring.cables.run_m[cable])
        longest_m = max(longest_m, run_m)
        is_same = abs(written_m - run_m) <= SAME_M
        proof.holds(is_same, f"{cabled.wiring.cables.name[cable]} runs {written_m:.3f} m, recounted {run_m:.3f}")
    for route, trunk in _trunks_between(evidence):
        floor, way = evidence.plan.floor, campus.way(route.a, route.b)
        ends_m = 2 * (floor.tray_height_m + floor.drop_m - float(height_m(1, 0)))
        run_m = campus.spared_m(ends_m + float(way.m))
        proof.holds(trunk.length_m >= run_m - SAME_M, f"{trunk.id} of {trunk.length_m:g} m, recounted {run_m:.3f}")
    told = ", ".join(f"{some(number, 'link')} between {halls}" for halls, number in sorted(between.items()))
    proof.note(f"{told}, the longest {longest_m:.1f} m" if told else "no link between halls")


def counts_fibres(evidence: Evidence) -> bool:
    """Whether a route says how many fibres it has room for."""
    return any(route.fibres is not None for route in evidence.case.site.routes)


@since("0.3.0", "case.content.site.routes.fibres")
@where(counts_fibres)
def routes_hold_fibres(proof: Proof, cabled: CabledDesign) -> None:
    """No more fibres are in use on a route than it has room for.

    sum over the cables whose shortest way takes a route, of the fibres behind their plugs (of legs of a breakout those
    of the smaller plug), and over trunks of all of theirs <= ``fibres``. Source: case file, ``site.routes``; catalog,
    ``connectors``, ``fibres``.
    """
    evidence = cabled.evidence
    used = {number: parts.total() for number, parts in _fibres(evidence, cabled.wiring).items()}
    for number, route in enumerate(evidence.case.site.routes):
        name = " to ".join(route.ends)
        told = f"{name}: {used.get(number, 0)} of {route.fibres or 'any number of'} fibres"
        proof.shows(route.fibres is None or used.get(number, 0) <= route.fibres, told)


def fibres_on_routes(design: Design, wiring: Wiring) -> dict[int, Counter[str]]:
    """Fibres in use of every route by part, by the number of the route."""
    return _fibres(Evidence(design), wiring)


def _fibres(evidence: Evidence, wiring: Wiring) -> dict[int, Counter[str]]:
    used: dict[int, Counter[str]] = defaultdict(Counter)
    graph = HallGraph(evidence)
    for racks, parts in fibres_between(evidence, wiring).items():
        for number in graph.routes_between(*racks):
            used[number] += parts
    return used


def fibres_between(evidence: Evidence, wiring: Wiring) -> dict[tuple[str, str], Counter[str]]:
    """Fibres in use between every two racks of two halls by part, the racks in the order of their ids."""
    used: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for route, trunk in _trunks_between(evidence):
        near, far = sorted((route.a, route.b))
        used[near, far][trunk.id] += trunk.count * evidence.part(trunk.id, Trunk).fibres
    links, racks, cables, met = wiring.links, wiring.devices.rack, wiring.cables, set[int]()
    through = {row for of_kind in through_trunks(evidence, wiring) for row in of_kind.rows.tolist()}
    for link, (cable, a, b) in enumerate(zip(links.cable.tolist(), links.a.tolist(), links.b.tolist(), strict=True)):
        near, far = sorted((racks[a], racks[b]))
        if link in through or cable == NOTHING or not near or hall_of(near) == hall_of(far):
            continue
        is_whole = max(int(cables.a_connectors[cable]), int(cables.b_connectors[cable])) == 1
        if not (is_whole and cable in met):
            met.add(cable)
            product = evidence.product(cables.part[cable])
            strands = min(strands_of(end.connector) for end in product.both_ends) if isinstance(product, Fibre) else 2
            used[near, far][cables.part[cable]] += strands
    return used


def _between_halls(cabled: CabledDesign) -> Iterator[tuple[int, int, int]]:
    """Cable and both ends of every link between two halls whose run is measured, and which runs through no trunk."""
    links, racks = cabled.wiring.links, cabled.wiring.devices.rack
    measured = ~np.isin(links.kind, TO_ATTACHMENTS) & (links.cable != NOTHING)
    for of_kind in through_trunks(cabled.evidence, cabled.wiring):
        measured[of_kind.rows] = False
    columns = (column[measured].tolist() for column in (links.cable, links.a, links.b))
    for cable, a, b in zip(*columns, strict=True):
        if racks[a] and racks[b] and hall_of(racks[a]) != hall_of(racks[b]):
            yield cable, a, b


def _trunks_between(evidence: Evidence) -> Iterator[tuple[TrunkRoute, TrunkRow]]:
    """Trunks between two halls, by their routes."""
    for fabric in evidence.design.fabrics:
        for kind in fabric.structured:
            for route in kind.routes:
                if hall_of(route.a) != hall_of(route.b):
                    yield from ((route, trunk) for trunk in route.trunks)


def hall_of(rack: str) -> str:
    """The name of the hall of a rack."""
    return rack.rpartition("-")[0]


class _Hop(NamedTuple):
    """Metres along trays and routes, and the routes by their numbers."""

    m: Fraction
    routes: tuple[int, ...]


class HallGraph:
    """The halls of a case with the trays of each as a graph of points."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._routes = evidence.case.site.routes
        self._trays = {hall.name: _tray_graph(hall) for hall in evidence.case.site.halls}
        self._from: dict[str, dict[_Point, Fraction]] = {}
        self._known: dict[tuple[str, str], _Hop] = {}

    def spared_m(self, way_m: float) -> float:
        """The run with what is to spare."""
        return float(self._evidence.plan.spared_m(way_m))

    def routes_between(self, rack_a: str, rack_b: str) -> tuple[int, ...]:
        """Numbers of the routes that a cable between two racks takes; none within a hall, or where one is unknown."""
        return self.way(rack_a, rack_b).routes if rack_a and rack_b and hall_of(rack_a) != hall_of(rack_b) else ()

    @property
    def lost_together(self) -> dict[tuple[Literal["route", "duct"], str], frozenset[int]]:
        """Routes that are lost together, by the name of their duct, or by their own."""
        together: dict[tuple[Literal["route", "duct"], str], set[int]] = defaultdict(set)
        for number, route in enumerate(self._routes):
            name = " to ".join(route.ends) if route.duct is None else route.duct
            together["route" if route.duct is None else "duct", name].add(number)
        return {key: frozenset(numbers) for key, numbers in together.items()}

    def way(self, rack_a: str, rack_b: str) -> _Hop:
        """The way between racks of two halls over the route that the case lists them at, else the shortest over any
        routes, each taken once; raises ``LookupError`` if there is none.
        """
        if (rack_a, rack_b) not in self._known:
            ways = self._listed(rack_a, rack_b) or self._ways(rack_a, hall_of(rack_b), rack_b, frozenset())
            shortest = min(ways, default=None)
            if shortest is None:
                raise LookupError(f"no route leads from {rack_a} to {rack_b}")
            self._known[rack_a, rack_b] = shortest
        return self._known[rack_a, rack_b]

    def choices(self, rack_a: str, rack_b: str) -> tuple[tuple[int, ...], ...]:
        """Numbers of the routes of the shortest way between racks of two halls, then of every other over one route
        alone, the shortest first.
        """
        first, *others = sorted(self._ways(rack_a, hall_of(rack_b), rack_b, frozenset()))
        return (first.routes, *(hop.routes for hop in others if len(hop.routes) == 1))

    def _listed(self, rack_a: str, rack_b: str) -> list[_Hop]:
        """The way over the route that a pair of racks is listed at; none where it is at no route."""
        return [
            _Hop(self._reached(near)[end] + exact(route.m) + self._reached(far)[other], (number,))
            for number, route in enumerate(self._routes)
            for end, other in (route.ends,)
            for near, far in ((rack_a, rack_b), (rack_b, rack_a))
            if (near, far) in route.full_pairs and end in self._reached(near) and other in self._reached(far)
        ]

    def _ways(self, here: str, hall: str, there: str, seen: frozenset[str]) -> Iterator[_Hop]:
        """Ways from a rack to one of a hall, through halls not seen before."""
        if hall_of(here) == hall:
            if there in self._reached(here):
                yield _Hop(self._reached(here)[there], ())
            return
        for number, route in enumerate(self._routes):
            for near, far in (route.ends, route.ends[::-1]):
                if hall_of(near) == hall_of(here) and hall_of(far) not in seen and near in self._reached(here):
                    for rest in self._ways(far, hall, there, seen | {hall_of(here)}):
                        yield _Hop(self._reached(here)[near] + exact(route.m) + rest.m, (number, *rest.routes))

    def _reached(self, rack: str) -> dict[_Point, Fraction]:
        """Metres of tray from a rack to every point of its hall that trays lead to."""
        if rack not in self._from:
            joined, reached = self._trays[hall_of(rack)], dict[_Point, Fraction]()
            waiting: list[tuple[Fraction, str, _Point]] = [(Fraction(0), "", rack)]
            while waiting:
                so_far, _, point = heappop(waiting)
                if point not in reached:
                    reached[point] = so_far
                    for other, m in joined[point]:
                        heappush(waiting, (so_far + m, str(other), other))
            self._from[rack] = reached
        return self._from[rack]


def _tray_graph(hall: Floor) -> dict[_Point, list[tuple[_Point, Fraction]]]:
    """Trays of a hall: from the middle of every rack to the gaps beside it, and from row to row at cross trays."""
    joined: dict[_Point, list[tuple[_Point, Fraction]]] = defaultdict(list)
    half, prefix = exact(hall.rack_pitch_m) / 2, hall.prefix
    names = [f"{prefix}{row_letters(row)}" for row in range(hall.rows)]
    crossings = (0, hall.racks_per_row) if hall.cross_trays is None else hall.cross_trays
    edges: list[tuple[_Point, _Point, Fraction]] = []
    for row, name in enumerate(names):
        for place in range(hall.racks_per_row):
            if (rack := rack_id(row, place)) not in hall.blocked:
                edges += ((f"{prefix}{rack}", (name, gap), half) for gap in (place, place + 1))
        if row:
            aisle = hall.aisle_m[row - 1] if isinstance(hall.aisle_m, tuple) else hall.aisle_m
            across = exact(hall.rack_depth_m) + exact(aisle)
            edges += (((names[row - 1], gap), (name, gap), across) for gap in crossings)
    for near, far, m in edges:
        joined[near].append((far, m))
        joined[far].append((near, m))
    return joined


def limits_halls(evidence: Evidence) -> bool:
    """Whether a fabric limits the oversubscription of what leaves a hall."""
    return any(fabric.hall_ratio is not None for fabric in evidence.case.fabrics)


@since("0.3.0", "case.content.fabrics.max_oversubscription.hall")
@where(limits_halls)
def halls_carry_demand(proof: Proof, cabled: CabledDesign) -> None:
    """Enough links leave every hall.

    min(Gb/s of server ports inside, outside) <= ``max_oversubscription.hall`` x Gb/s of links with one end inside.
    Source: case file, ``fabrics``.
    """
    for name, most in {fabric.name: fabric.hall_ratio for fabric in cabled.evidence.case.fabrics}.items():
        for hall, (inside, leaving) in gbps_of_halls(cabled.wiring, name).items() if most is not None else ():
            told = f"{name}: {float(inside):g} Gb/s of ports against {float(leaving):g} Gb/s that leave {hall}"
            proof.shows(inside <= exact(most or 0) * leaving, told)


def gbps_of_halls(wiring: Wiring, fabric: str) -> dict[str, tuple[Fraction, Fraction]]:
    """By hall with servers: Gb/s of a fabric's server ports on its smaller side, and of links with one end in it."""
    links, ports, leaving = wiring.links, Counter[str](), Counter[str]()
    names, hall = np.unique([hall_of(rack) for rack in wiring.devices.rack], return_inverse=True)
    own = np.array([name == fabric for name in wiring.fabrics])[links.fabric]
    rows = np.flatnonzero(own & ~np.isin(links.kind, (*TO_ATTACHMENTS, OF_PEERS)))
    of_server = links.kind[rows] == KINDS.index("server-leaf")
    columns = np.stack([of_server, hall[links.a[rows]], hall[links.b[rows]]])
    speeds, speed = np.unique(links.gbps[rows], return_inverse=True)
    kinds, counts = np.unique(np.vstack([columns, speed]), axis=1, return_counts=True)
    for (is_server, near, far, number), count in zip(kinds.T.tolist(), counts.tolist(), strict=True):
        gbps = count * exact(float(speeds[number]))
        ports[names[near]] += gbps if is_server else 0
        for end in (near, far) if near != far else ():
            leaving[names[end]] += gbps
    return {
        str(name): (Fraction(min(inside, ports.total() - inside)), Fraction(leaving[name]))
        for name, inside in ports.items() if inside
    }  # fmt: skip


@since("0.3.0", "case.content.site.spread")
@where(lambda evidence: evidence.case.site.spread == "halls")
def fabrics_keep_halls(proof: Proof, cabled: CabledDesign) -> None:
    """Each leaf group stands in one hall with its servers, each pod too, and the highest tier in two.

    halls of the servers and leaves of a group = 1; on three tiers halls of the leaves and spines of a pod = 1; halls of
    all cores, on two tiers of the spines of a plane, >= 2 where servers are in two halls. Source: case file,
    ``site.spread``.
    """
    devices, halls = cabled.wiring.devices, defaultdict[tuple[str, str, int, int], set[str]](set)
    fabrics = cabled.evidence.design.fabrics
    sizes = {fabric.name: fabric.structure.servers_per_group for fabric in fabrics}
    tall = {fabric.name for fabric in fabrics if any(tier.role == "core" for tier in fabric.tiers)}
    of_servers = [hall_of(rack) for role, rack in zip(devices.role, devices.rack, strict=True) if role == "server"]
    for fabric, size in sizes.items():
        for server, hall in enumerate(of_servers):
            halls[fabric, "group", 0, server // size + 1].add(hall)
    columns = zip(devices.fabric, devices.role, devices.plane, devices.pod, devices.group, devices.rack, strict=True)
    for fabric, role, plane, pod, group, rack in columns:
        if role == "leaf":
            halls[fabric, "group", 0, int(group)].add(hall_of(rack))
        if role in ("leaf", "spine") and fabric in tall:
            halls[fabric, "pod", int(plane), int(pod)].add(hall_of(rack))
        if role == ("core" if fabric in tall else "spine"):
            halls[fabric, str(role), 0 if fabric in tall else int(plane), 0].add(hall_of(rack))
    for (fabric, kind, _, number), found_in in halls.items():
        told = f"{fabric}: {kind} {number or ''} is in {', '.join(sorted(found_in))}"
        is_top = kind in ("core", "spine")
        proof.holds(len(found_in) > 1 or len(set(of_servers)) == 1 if is_top else len(found_in) == 1, told)
    proof.note(f"servers in {', '.join(sorted(set(of_servers)))}")
