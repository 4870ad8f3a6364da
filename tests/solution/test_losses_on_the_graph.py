"""The loss of a hall, a route or a duct against a count on the rows of the cable schedule, network by network."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable
from io import StringIO

import networkx as nx
import pytest

from fabopt.output.export.cables import schedule
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.wiring.build import wiring_of
from tests.samples.shipped import shipped
from tests.samples.small import Json, inputs
from tests.solution.test_halls import at, campus, parts
from tests.solution.test_second_route import designed, two_ducts

Row = dict[str, str]
# Servers cut off, and servers that lose so many of their ports, by that number.
Lost = tuple[int, dict[int, int]]


def rows_of(design: Design) -> list[Row]:
    return list(csv.DictReader(StringIO(schedule(design, wiring_of(design)).to_csv(index=False))))


def without(rows: list[Row], is_lost: Callable[[Row], bool], absent: frozenset[str] = frozenset()) -> Lost:
    """What servers that are there lose without some rows, and without devices that are ``absent``."""
    ports, graph = defaultdict[str, set[tuple[str, str]]](set), nx.Graph()
    for row in rows:
        ends = row["from_device"], row["to_device"]
        if row["kind"] == "server-leaf":
            (server,) = {*ends} - {row["to_device"]}
            ports[server].add((server, row["from_port"]))
            graph.add_node((server, row["from_port"]))
        if not is_lost(row) and not absent & {*ends}:
            near = (ends[0], row["from_port"]) if row["kind"] == "server-leaf" else ends[0]
            graph.add_edge(near, ends[1])
    there = {server: own for server, own in ports.items() if server not in absent}
    # a port without its switch is in no part
    joined = [part for part in nx.connected_components(graph) if len(part) > 1]
    largest = max(joined, key=lambda part: sum(bool(own & part) for own in there.values()), default=set())
    left = {server: len(own & largest) for server, own in there.items()}
    lost = Counter(len(there[server]) - number for server, number in left.items() if number)
    return sum(not number for number in left.values()), {number: count for number, count in lost.items() if number}


def counted(design: Design, device: str) -> dict[str, Lost]:
    """What the loss of each hall, route or duct of a design takes, by its name."""
    rows = rows_of(design)
    site = design.case.content["site"]
    if device == "hall":
        racks = {row[f"{end}_device"]: row[f"{end}_rack"] for row in rows for end in ("from", "to")}
        inside = {
            hall["name"]: frozenset(name for name, rack in racks.items() if rack.startswith(f"{hall['name']}-"))
            for hall in site["halls"]
        }
        return {name: without(rows, lambda row: False, absent) for name, absent in inside.items()}
    names: dict[str, set[str]] = defaultdict(set)
    for route in site["routes"]:
        ends = [
            f"{hall}-{rack}" for hall, rack in zip(route["between"], route.get("exits") or ("A01", "A01"), strict=True)
        ]
        name = " to ".join(ends)
        if (duct := route.get("duct")) is None and device == "route":
            names[name].add(name)
        if duct is not None and device == "duct":
            names[duct].add(f"{name}, {duct}")
    return {name: _over(rows, over) for name, over in names.items()}


def _over(rows: list[Row], routes: set[str]) -> Lost:
    return without(rows, lambda row: bool(routes & {*row["route"].split(" + ")}))


def listed(design: Design, device: str) -> tuple[Counter[tuple[str, int, int, int]], ...]:
    """Rows of single points of failure of a kind: what is lost, how many such, the most and the fewest servers."""
    points = [point for point in design.single_points_of_failure or () if point.device == device]
    assert all(point.loses != "paths between rails" for point in points)
    return (
        Counter(("cut off", one.count, one.servers, one.fewest_servers) for one in points if not one.degraded),
        Counter((str(one.lost), one.count, one.servers, one.fewest_servers) for one in points if one.degraded),
    )


def rows_for(lost: dict[str, Lost]) -> tuple[Counter[tuple[str, int, int, int]], ...]:
    """The same rows from the count: each device by the most ports that a server loses with it."""
    cut = [number for number, _ in lost.values() if number]
    degraded = defaultdict[int, list[int]](list)
    for _, by_number in lost.values():
        if by_number:
            degraded[max(by_number)].append(sum(by_number.values()))
    return (
        Counter([("cut off", len(cut), max(cut), min(cut))] if cut else []),
        Counter((str(number), len(servers), max(servers), min(servers)) for number, servers in degraded.items()),
    )


def of_campus(content: Json) -> Design:
    return solve(inputs(content, parts()), alternatives_s=0)


NETWORKS: dict[str, Callable[[], Design]] = {
    "one route": lambda: at(350),
    "1.2 km": lambda: at(1200),
    "shipped": lambda: shipped("two-halls-320"),
    "two ducts, 350 and 380 m": lambda: designed(380, 24, 24),
    "two ducts, 350 m and 1.2 km": lambda: designed(1200, 24, 24),
    "two ducts of any number of fibres": lambda: of_campus(two_ducts(1200, (None, None))),
    "spread": lambda: of_campus(_spread(campus(350))),
    "spread, in the second duct": lambda: of_campus(_spread(two_ducts(380, (8, 12)))),
}


def _spread(content: Json) -> Json:
    del content["fabrics"][0]["racks"]
    return {**content, "site": {**content["site"], "spread": "halls"}}


@pytest.mark.long(but=("one route", "shipped", "spread, in the second duct"))
@pytest.mark.parametrize("name", NETWORKS)
def test_the_loss_of_a_hall_a_route_or_a_duct_equals_a_count_on_the_graph(name: str) -> None:
    design = NETWORKS[name]()
    assert design.totals is not None
    for device in ("hall", "route", "duct"):
        assert listed(design, device) == rows_for(counted(design, device)), device


def test_the_count_sees_a_lost_row() -> None:
    """All four servers in WEST are cut off without the route, and without the hall of all switches; none in EAST."""
    design = at(350)
    assert counted(design, "route") == {"EAST-A01 to WEST-A01": (4, {})}
    assert counted(design, "hall") == {"EAST": (4, {}), "WEST": (0, {})}
