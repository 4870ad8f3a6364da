"""Cases that go on from a design, and the wiring that has to stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fabopt.errors import InputError
from fabopt.inspect.as_built import AsBuilt, as_built
from fabopt.inspect.cabling import Names
from fabopt.inspect.reading import recognised
from fabopt.inspect.to_do import WantedCables
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.changes import changes_from
from fabopt.schema.design import Design
from fabopt.schema.in_service import IN_SERVICE
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from fabopt.wiring.joined import joined_wiring
from fabopt.wiring.model import NOTHING, Wiring, wiring_at
from fabopt.wiring.together import together
from tests.samples.discoveries import Link, planned_links
from tests.samples.once import once

Json = dict[str, Any]


def saved(design: Design, folder: Path, name: str = "base.json") -> Path:
    """The file of a design."""
    path = folder / name
    path.write_text(design.model_dump_json(by_alias=True))
    return path


def designed(parts: Json | None, content: Json) -> Design:
    """The design of a case, without a look at alternatives."""
    return once(lambda: optimize.solve(inputs_from_objects(content, parts), alternatives_s=0), parts, content)


def gone_on(parts: Json, content: Json, base: Design, folder: Path, stage: str = "") -> Design:
    """The design of a case that goes on from another one."""
    path = saved(base, folder)

    def work() -> Design:
        file = str(path) + (f"@{stage}" if stage else "")
        return optimize.solve(inputs_from_objects({**content, "base": {"file": file}}, parts), alternatives_s=0)

    return once(work, parts, content, stage, path.read_text())


def gone_on_if_it_may(
    parts: Json, content: Json, base: Design, folder: Path, outside: Sequence[str] = ("gone on from",)
) -> Design | None:
    """What ``gone_on`` gives; None where there is no base, or one that is refused in words of ``outside`` alone."""
    if base.status != "optimal":
        return None
    try:
        return gone_on(parts, content, base, folder)
    except InputError as refusal:
        told = [fault.problem for fault in refusal.faults]
        assert all(any(words in problem for words in outside) for problem in told), told
        return None


def live(wiring: Wiring) -> set[tuple[object, ...]]:
    """What a crew sees: devices in their places, links from port to port, each with the label of its cable."""
    devices, links, cables = wiring.devices, wiring.links, wiring.cables
    names, labels = devices.name, [*cables.name, ""]
    assert NOTHING == -1
    ends = zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, links.cable.tolist(), strict=True)
    cabled = {(names[a], a_port, names[b], b_port, labels[cable]) for a, a_port, b, b_port, cable in ends}
    laid = set(zip(cables.name, cables.part, cables.length_m.tolist(), strict=True))
    stood = set(zip(names, devices.product, devices.rack, devices.unit.tolist(), strict=True))
    return {*stood, *cabled, *laid}


def assert_stays(design: Design, base: Design, stage: int) -> None:
    """All of the base is there, as it was; and every rule holds, that of the base among them."""
    assert live(wiring_at(wiring_of(base), stage)) <= live(wiring_of(design))
    assert live(wiring_at(wiring_of(base), stage)) == live(wiring_at(wiring_of(design), 0))
    assert [check for check in design.checks if not check.ok] == []
    assert "base_stays" in {check.name for check in design.checks}
    assert design.stages[0].name == IN_SERVICE and design.stages[0].capex_usd == 0


def assert_a_floor_with_room_costs_as_none(parts: Json, before: Json, after: Json, folder: Path) -> None:
    """A case that goes on from another one: with one length of cable it is no matter where things stand."""
    designs = []
    for site in ({}, {"floor": {"rows": 2, "racks_per_row": 12, "rack_units": 40}}):
        base = designed(parts, before | {"site": site})
        if base.status != "optimal":
            return
        designs.append(gone_on(parts, after | {"site": site}, base, folder))
    flat, placed = designs
    assert placed.status == flat.status
    if placed.totals is not None and flat.totals is not None:
        assert placed.totals.capex_usd == flat.totals.capex_usd
        assert_stays(placed, base, 0)


def assert_joins_for(expected: int | None, design: Design, live: Design, *which: int) -> None:
    """It joins what is in service for so many cents, the least, or there is no design; ``which``: to tell one by."""
    assert design.status == ("infeasible" if expected is None else "optimal"), (which, expected, design.conflicts)
    if design.totals is not None:
        assert round(design.totals.capex_usd * 100) == expected, which
        assert_joins(design, live)


def in_use(wiring: Wiring) -> Iterator[tuple[str, str]]:
    """Ports of switches, by their names."""
    links, names = wiring.links, wiring.devices.name
    for rows, ports in ((links.a, wiring.a_port), (links.b, wiring.b_port)):
        for row, port in zip(rows.tolist(), ports, strict=True):
            yield names[row], port


def whole_of(design: Design, stage: int = -1) -> Wiring:
    """The wiring of a design at a stage, with all that it joins."""
    own, there = wiring_at(wiring_of(design), stage % len(design.stages)), joined_wiring(design, wiring_of)
    return own if there is None else together(own, there)


def assert_joins(design: Design, live: Design, stage: int = -1) -> None:
    """Nothing is there twice but the spines, or cores, that are joined; each port is used once, every rule holds, and
    servers reach each other.
    """
    own, there = wiring_of(design), whole_of(live, stage)
    told = zip(there.devices.name, there.devices.role, there.devices.fabric, strict=True)
    joined = {one["fabric"]: one["role"] for one in design.case.content["joins"]["switches"]}
    tops = {name for name, role, fabric in told if joined.get(fabric) == role}
    assert set(own.devices.name) & set(there.devices.name) == tops
    assert not set(own.cables.name) & set(there.cables.name)
    ports = Counter([*in_use(own), *in_use(there)])
    assert max(ports.values()) == 1
    ends = {(own.devices.name[a], own.devices.name[b]) for a, b in zip(own.links.a, own.links.b, strict=True)}
    below = "spine" if "core" in joined.values() else "leaf"
    lower = {name for name, role in zip(own.devices.name, own.devices.role, strict=True) if role == below}
    of_one_group = all(one["groups"] == 1 for one in design.case.content["joins"]["switches"])
    if of_one_group and len(joined) == len(design.fabrics) == 1:
        assert {(switch, top) for switch in lower for top in tops} <= ends
    assert [check for check in design.checks if not check.ok] == []
    assert "pod_joins_spines" in {check.name for check in design.checks}


def listed(links: Iterable[Link]) -> str:
    """A list of cables as a table."""
    rows = (f"{a.device},{a.port},{b.device},{b.port}" for a, b in links)
    return "\n".join(["A-Node Name,A-Port,Z-Node Name,Z-Port", *rows])


def seen_of(wanted: WantedCables, links: Iterable[Link]) -> AsBuilt:
    """What a list of cables says of what is wanted."""
    return as_built(wanted, [recognised(listed(links), "found", "found")], Names())


def assert_just_what_changes(design: Design, base: Wiring) -> None:
    """A look at what is in service finds just what changes, by the names of cables and devices; at the end nothing."""
    whole = wiring_of(design)
    wanted = WantedCables(design, whole, max(0, len(design.stages) - 1))
    at_first, at_last = (seen_of(wanted, planned_links(one)) for one in (base, whole))
    assert at_first.ok and at_last.ok, (at_first.findings, at_last.findings)
    assert not at_last.to_do and not at_last.devices_to_do and at_last.right == at_last.planned
    changes = list(changes_from(base, whole))
    links = Counter(
        (row["change"], row.get("name", ""), *(row.get(key, "") for key in _ENDS))
        for row in changes
        if row["what"] == "link"
    )
    assert at_first.to_do is not None
    ends = ((link, (*link.a, *link.b, *link.before[0], *link.before[1])) for link in at_first.to_do)
    assert Counter((link.change, link.cable, *of) for link, of in ends) == links
    devices = Counter(
        (row["change"], row["name"], row["part"], row.get("before_device", ""))
        for row in changes
        if row["what"] == "device"
    )
    assert Counter(map(tuple, at_first.devices_to_do)) == devices


_ENDS = (
    *("from_device", "from_port", "to_device", "to_port"),
    *("before_from_device", "before_from_port", "before_device", "before_port"),
)
