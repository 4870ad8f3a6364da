"""Rule ``two-ducts``: what hangs on one of several ducts between two halls, counted on the wiring."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping

from fabopt.units import some
from fabopt.verify.evidence import Evidence
from fabopt.verify.halls import HallGraph, fibres_between, hall_of
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.model import Wiring

Pair = tuple[str, str]
# A device, a fabric, a plane or a pod of it, by its kind and names.
Unit = tuple[str, ...]
FABRIC = "fabric"


def links_between(wiring: Wiring) -> dict[Pair, Counter[Unit]]:
    """Links of every device, fabric, plane and pod by two racks of two halls, the racks in the order of their ids."""
    links, devices = wiring.links, wiring.devices
    by_pair: dict[Pair, Counter[Unit]] = defaultdict(Counter)
    for a, b in zip(links.a.tolist(), links.b.tolist(), strict=True):
        near, far = sorted((devices.rack[a], devices.rack[b]))
        if near and hall_of(near) != hall_of(far):
            by_pair[near, far].update({unit for end in (a, b) for unit in _units_of(wiring, end)})
    return by_pair


def _units_of(wiring: Wiring, row: int) -> Iterator[Unit]:
    devices = wiring.devices
    yield "device", devices.name[row]
    if devices.role[row] in ("leaf", "spine", "core"):
        fabric, plane, pod = devices.fabric[row], int(devices.plane[row]), int(devices.pod[row])
        yield FABRIC, fabric
        yield "plane", fabric, str(plane)
        if pod > 0:
            yield "pod", fabric, str(plane), str(pod)


def pairs_of_units(links: Mapping[Pair, Collection[Unit]]) -> dict[Unit, list[Pair]]:
    """The pairs of racks between which each has links, of those with several."""
    pairs = defaultdict[Unit, list[Pair]](list)
    for pair, units in links.items():
        for unit in units:
            pairs[unit].append(pair)
    return {unit: own for unit, own in pairs.items() if len(own) > 1}


def deals_ducts(evidence: Evidence) -> bool:
    """Whether the rule holds, and the case was asked without racks at routes."""
    asked = evidence.design.case.asked
    if asked is None or not evidence.case.shares_ducts:
        return False
    return not any(route.get("pairs") for route in asked["site"]["routes"])


@since("0.3.0", "case.content.site.routes", "case.asked")
@where(deals_ducts)
def ducts_share_links(proof: Proof, cabled: CabledDesign) -> None:
    """No pair of racks in another duct would leave fewer devices, planes and pods that hang on one duct.

    hangs: links between two halls over several pairs of racks, with a duct that all of them run through. A way to
    which a pair may change has fibres left for all of its cables. Source: case file, ``site.routes``; docs/rules.md.
    """
    evidence, links = cabled.evidence, links_between(cabled.wiring)
    graph, routes = HallGraph(evidence), evidence.case.site.routes
    duct_of = {number: key for key, numbers in graph.lost_together.items() for number in numbers}
    ways = {pair: graph.routes_between(*pair) for pair in links}
    used = {pair: parts.total() for pair, parts in fibres_between(evidence, cabled.wiring).items()}
    filled = Counter[int]()
    for pair, way in ways.items():
        filled.update(dict.fromkeys(way, used.get(pair, 0)))
    pairs_of = pairs_of_units(links)

    def hanging(units: Collection[Unit]) -> int:
        through = ([{duct_of[number] for number in ways[pair]} for pair in pairs_of.get(unit, ())] for unit in units)
        return sum(bool(ducts and set.intersection(*ducts)) for ducts in through)

    for pair, units in links.items():
        own, before = ways[pair], hanging(units)
        for other in graph.choices(*pair) if before else ():
            new = ((number, routes[number].fibres) for number in other if number not in own)
            has_room = all(most is None or filled[number] + used.get(pair, 0) <= most for number, most in new)
            ways[pair] = other
            told = f"{pair[0]} to {pair[1]} over {' + '.join(routes[number].name for number in other)}"
            fewer = before - hanging(units)
            proof.holds(fewer <= 0 or not has_room, f"with {told} {fewer} fewer hang on one duct")
        ways[pair] = own
    over = Counter[str]()
    for pair, units in links.items():
        number = sum(number for unit, number in units.items() if unit[0] == FABRIC)
        over.update(dict.fromkeys({duct_of[route][1] for route in ways[pair]}, number))
    told = ", ".join(f"{some(number, 'link')} in {duct}" for duct, number in sorted(over.items()))
    hung = f"of {len(pairs_of):,} devices, fabrics, planes and pods with links between several pairs of racks"
    proof.note(f"{told or 'no link between halls'}; {hung} {hanging(pairs_of):,} hang on one duct")
