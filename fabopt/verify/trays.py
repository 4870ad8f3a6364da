"""Rules of trays and of the vertical managers of racks: what lies in them, counted cable by cable.

Routes are those of ``fabopt.floor.routes``, which the tables of ``fabopt export --to trays`` have too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, pi
from typing import NamedTuple

from fabopt.floor.routes import TrayRoutes
from fabopt.schema.catalog import Cable, Fibre
from fabopt.schema.design import Design
from fabopt.schema.passive import Trunk
from fabopt.schema.product import CableBody
from fabopt.units import exact, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.floor_runs import through_trunks
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.model import NOTHING, Wiring


class _Laid(NamedTuple):
    """A leg of a cable between two racks, or within one: its section in thousandths of a square millimetre."""

    racks: tuple[int, int]
    section: int
    bend_mm: float


@since("0.3.0", "case.content.site.floor.tray_fill")
@where(lambda evidence: "tray" in evidence.case.fill_limits)
def trays_hold_cables(proof: Proof, cabled: CabledDesign) -> None:
    """No segment of a tray is fuller than the case allows, and every cable can turn within the width of a tray.

    sum of pi / 4 x diameter^2 over the cables whose route passes a segment <= ``tray_fill`` x width x depth; bend
    radius <= width. What has no known diameter counts nothing, and is told. Source: case file,
    ``site.floor.tray_fill``, ``tray_width_mm``, ``tray_depth_mm``; catalog, ``diameter_mm``, ``bend_radius_mm``.
    """
    width, _, most = cabled.evidence.plan.floor.sections["tray"]
    laid = [leg for leg in _legs(cabled.evidence, cabled.wiring) if leg.racks[0] != leg.racks[1]]
    _hold(proof, _of_trays(cabled.evidence, laid), most)
    _can_bend(proof, laid, width)


@since("0.3.0", "case.content.site.floor.manager_fill")
@where(lambda evidence: "manager" in evidence.case.fill_limits)
def managers_hold_cables(proof: Proof, cabled: CabledDesign) -> None:
    """The two vertical managers of no rack are fuller than the case allows, and every cable can bend into them.

    sum of pi / 4 x diameter^2 over the cables with an end in a rack, each once, <= ``manager_fill`` x 2 x width x
    depth; bend radius <= depth. Source: case file, ``site.floor.manager_fill``, ``manager_width_mm``,
    ``manager_depth_mm``; catalog, ``diameter_mm``, ``bend_radius_mm``.
    """
    _, depth, most = cabled.evidence.plan.floor.sections["manager"]
    laid = list(_legs(cabled.evidence, cabled.wiring))
    _hold(proof, _of_managers(cabled.evidence, laid), most)
    _can_bend(proof, laid, depth)


class Fullest(NamedTuple):
    """The share of the fullest place, the radius in mm of the stiffest cable there, and cables of no known diameter."""

    share: Fraction
    bend_mm: float
    unknown: int


def fullest(design: Design, wiring: Wiring) -> dict[str, Fullest]:
    """The fullest segment of a ``tray``, and the fullest ``manager``s of a rack, where their sizes are known."""
    evidence = Evidence(design)
    laid = list(_legs(evidence, wiring))
    in_trays = [leg for leg in laid if leg.racks[0] != leg.racks[1]]
    places = {
        "tray": (_of_trays(evidence, in_trays), in_trays),
        "manager": (_of_managers(evidence, laid), laid),
    }
    return {
        what: Fullest(max(shares.values(), default=Fraction(0)), _stiffest_mm(legs), _unknown(legs))
        for what, (shares, legs) in places.items()
    }


def _of_trays(evidence: Evidence, laid: Sequence[_Laid]) -> dict[str, Fraction]:
    """The share of every segment that is filled, by its name; empty where the size of trays is not known."""
    routes, filled = TrayRoutes(evidence.plan), Counter[int]()
    for leg in laid:
        for segment in routes.of(*leg.racks):
            if routes.segments[segment].route is None:
                filled[segment] += leg.section
    return _shares(evidence, "tray", 1, {routes.segments[segment].name: filled[segment] for segment in sorted(filled)})


def _of_managers(evidence: Evidence, laid: Sequence[_Laid]) -> dict[str, Fraction]:
    """The share of the managers of every rack that is filled; empty where their size is not known."""
    filled = Counter[int]()
    for leg in laid:
        filled.update(dict.fromkeys(leg.racks, leg.section))
    plan = evidence.plan
    return _shares(evidence, "manager", 2, {f"managers of {plan.ids[rack]}": filled[rack] for rack in sorted(filled)})


def _shares(evidence: Evidence, what: str, times: int, filled: dict[str, int]) -> dict[str, Fraction]:
    width, depth, _ = evidence.plan.floor.sections[what]
    if width is None or depth is None:
        return {}
    return {name: section / (times * exact(width) * exact(depth) * 1000) for name, section in filled.items()}


def _hold(proof: Proof, shares: dict[str, Fraction], most: float | None) -> None:
    assert most is not None
    for name, share in shares.items():
        proof.holds(share <= exact(most), f"{name}: {float(share):.1%} full, of {most:.1%}")
    if shares:
        name = max(shares, key=lambda name: shares[name])
        proof.note(f"{name}: {float(shares[name]):.1%} full, of {most:.1%}, none is fuller")


def _can_bend(proof: Proof, laid: Sequence[_Laid], room_mm: float | None) -> None:
    assert room_mm is not None
    bend_mm = _stiffest_mm(laid)
    proof.holds(bend_mm <= room_mm, f"a cable of bend radius {bend_mm:g} mm in {room_mm:g} mm")
    if unknown := _unknown(laid):
        proof.note(f"{some(unknown, 'cable')} of no known diameter not counted")


def _stiffest_mm(laid: Sequence[_Laid]) -> float:
    return max((leg.bend_mm for leg in laid), default=0.0)


def _unknown(laid: Sequence[_Laid]) -> int:
    return sum(leg.section == 0 for leg in laid)


def _legs(evidence: Evidence, wiring: Wiring) -> Iterator[_Laid]:
    """Legs of cables with both ends in racks: of a cable with several connectors at an end each link, else one; trunks,
    each in both of its racks, and jumpers in theirs.
    """
    links, racks, met = wiring.links, wiring.devices.rack, set[int]()
    zone_of = {row: of_kind.kind.zone for of_kind in through_trunks(evidence, wiring) for row in of_kind.rows.tolist()}
    sizes: dict[str, tuple[int, float]] = {}
    yield from _trunks(evidence)
    columns = zip(links.cable.tolist(), links.a.tolist(), links.b.tolist(), strict=True)
    for link, (cable, a, b) in enumerate(columns):
        if cable == NOTHING or not racks[a] or not racks[b]:
            continue
        if max(int(wiring.cables.a_connectors[cable]), int(wiring.cables.b_connectors[cable])) == 1:
            if cable in met:
                continue
            met.add(cable)
        part = wiring.cables.part[cable]
        if part not in sizes:
            product = evidence.product(part)
            assert isinstance(product, Cable | Fibre)
            sizes[part] = _size(product)
        ways = [(racks[a], racks[b])]
        if link in zone_of:
            ways = [(rack, zone_of[link](rack)) for rack in ways[0]]
        for near, far in ways:
            yield _Laid((evidence.plan.rack_index(near), evidence.plan.rack_index(far)), *sizes[part])


def _size(body: CableBody) -> tuple[int, float]:
    return ceil(pi / 4 * (body.diameter_mm or 0.0) ** 2 * 1000), body.bend_radius_mm or 0.0


def _trunks(evidence: Evidence) -> Iterator[_Laid]:
    for fabric in evidence.design.fabrics:
        for kind in fabric.structured:
            for route in kind.routes:
                racks = evidence.plan.rack_index(route.a), evidence.plan.rack_index(route.b)
                for trunk in route.trunks:
                    for _ in range(trunk.count):
                        yield _Laid(racks, *_size(evidence.part(trunk.id, Trunk)))
