"""Peer links that are not there: one finding for each as built, and one for each pair in a design by hand."""

from __future__ import annotations

from functools import cache

import pytest

from fabopt.inspect.as_built import as_built
from fabopt.inspect.audit.audit import audited
from fabopt.inspect.audit.reading import hand_made_of
from fabopt.inspect.cabling import Names
from fabopt.inspect.reading import recognised
from fabopt.inspect.sightings import Discovery
from fabopt.inspect.to_do import WantedCables
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.inspect.test_audit import as_text, faults
from tests.samples import small
from tests.samples.discoveries import Link, is_switch, planned_links
from tests.solution.test_pairing import in_band, parts_of

PARTS, CASE = in_band(parts_of("mlag"))


@cache
def designed() -> tuple[Design, list[Link]]:
    design = small.designed(PARTS, CASE)
    return design, planned_links(wiring_of(design))


def peers_and_others() -> tuple[list[Link], list[Link]]:
    _, links = designed()
    peers = [link for link in links if all("-leaf-" in port.device for port in link)]
    return peers, [link for link in links if link not in peers]


def sheet(links: list[Link]) -> str:
    kinds = {True: "Switch", False: "Host"}
    return as_text([[a.device, kinds[is_switch(a)], a.port, b.device, kinds[is_switch(b)], b.port] for a, b in links])


def reports(links: list[Link], *devices: str) -> list[Discovery]:
    """What LLDP on these devices says."""
    seen = [(near, far) for link in links for near, far in (link, link[::-1])]
    told = {
        device: "".join(
            f"lldp.{near.port}.via=LLDP\nlldp.{near.port}.chassis.name={far.device}\n"
            f"lldp.{near.port}.port.ifname={far.port}\n"
            for near, far in seen
            if near.device == device
        )
        for device in devices
    }
    return [recognised(text, device, device) for device, text in told.items()]


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_each_is_missing_as_built(gone: int) -> None:
    design, _ = designed()
    peers, others = peers_and_others()
    assert len(peers) == 2
    there = [*others, *peers[gone:]]
    near, far = (port.device for port in peers[0])
    for found in ([recognised(sheet(there), "x", "x")], reports(there, near, far)):
        result = as_built(WantedCables(design, wiring_of(design), 0), found, Names())
        assert [finding.kind for finding in result.findings] == ["missing"] * gone
        assert [{finding.a, finding.b} for finding in result.findings] == [set(link) for link in peers[:gone]]
    # by one leaf alone, which with both gone cannot tell whether the other one is there at all
    result = as_built(WantedCables(design, wiring_of(design), 0), reports(there, near), Names())
    assert [finding.kind for finding in result.findings] == ["missing"] * (gone == 1) + ["silent-device"]


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_pair_without_them_is_told_where_the_case_has_them(gone: int) -> None:
    design, _ = designed()
    peers, others = peers_and_others()
    hand = hand_made_of(sheet([*others, *peers[gone:]]), "sheet", "p2p")
    inputs = inputs_from_objects(CASE, PARTS)
    audit = audited(hand, inputs.catalog, inputs.case, design, None)
    assert faults(audit) == ({"A2": 1} if gone else {})
    told = [finding.text for finding in audit.findings if finding.kind == "A2"]
    number = {1: "1 link", 2: "0 links"}.get(gone, "")
    pair = " - ".join(port.device for port in peers[0])
    assert told == ([f"{pair}: {number} between peers, where the best design has 2"] if gone else [])
