"""Cables in service that were found in other ports than designed: they stay there, and all that is new goes around."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.inspect.planned import PortName
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.in_service import base_wiring
from fabopt.wiring.model import Wiring
from tests.samples.bases import assert_just_what_changes, designed, listed, live, saved
from tests.samples.discoveries import Link, planned_links
from tests.samples.growth_samples import eight
from tests.samples.moves import FREE
from tests.samples.random_cases import Dice
from tests.solution.test_in_service import a_base as small_base, in_stages
from tests.solution.test_random_bases import OUTSIDE, a_base

Json = dict[str, Any]


def from_found(parts: Json, content: Json, base: Design, links: list[Link], folder: Path, **said: Any) -> Design:
    """The design of a case that goes on from a base whose cables were found so."""
    table = folder / "found.csv"
    table.write_text(listed(links))
    given = {**content, "base": {"file": str(saved(base, folder)), "found": str(table), **said}}
    return optimize.solve(inputs_from_objects(given, parts), alternatives_s=0)


def crossed(links: list[Link], one: int, other: int) -> list[Link]:
    """Links with the far ends of two exchanged."""
    found = list(links)
    (a, b), (c, d) = links[one], links[other]
    found[one], found[other] = (a, d), (c, b)
    return found


def of_leaf(links: list[Link], number: int, upwards: bool = False) -> list[int]:
    """Rows of the links of a leaf, to servers or to spines."""
    name = f"compute-leaf-{number:03d}"
    return [row for row, link in enumerate(links) if link[0 if upwards else 1].device == name]


def ports_of(wiring: Wiring) -> set[frozenset[object]]:
    return {frozenset(link) for link in planned_links(wiring)}


def assert_follows(design: Design, links: list[Link]) -> None:
    """All checks hold; what was found is there but for what moves, and nothing else is in its ports."""
    assert design.status == "optimal" and [check for check in design.checks if not check.ok] == []
    there, whole = {frozenset(link) for link in links}, planned_links(wiring_of(design))
    moved = sum(sum(fabric.moves.cables.values()) for fabric in design.fabrics if fabric.moves is not None)
    assert len(there - ports_of(wiring_of(design))) == moved
    ends = [port for link in whole for port in link]
    assert len(set(ends)) == len(ends)


@pytest.mark.parametrize("moves", [{}, {"move": {"cable": 10}}])
def test_servers_crossed_on_their_leaf_stay_crossed(moves: Json, tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8, tiers=2))
    links = planned_links(wiring_of(base))
    found = crossed(links, *of_leaf(links, 1)[:2])
    design = from_found(eight(), in_stages(12 if moves else 8), base, found, tmp_path, **moves)
    assert_follows(design, found)
    again = Design.model_validate_json(design.model_dump_json(by_alias=True))
    assert [check for check in verify(again) if not check.ok] == []


def test_what_was_found_as_designed_changes_nothing(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    links = planned_links(wiring_of(base))
    found = from_found(eight(), in_stages(12), base, links[::-1], tmp_path, move={"cable": 10})
    plain = {"file": str(saved(base, tmp_path)), "move": {"cable": 10}}
    without = optimize.solve(inputs_from_objects({**in_stages(12), "base": plain}, eight()), alternatives_s=0)
    assert live(wiring_of(found)) == live(wiring_of(without))


def test_new_cables_take_the_ports_that_are_free(tmp_path: Path) -> None:
    """A leaf of four servers and no spine has free ports; the cable of one server is found in the last of them."""
    base = designed(eight(), in_stages(4, tiers=[1, 2]))
    links = planned_links(wiring_of(base))
    server, port = links[1]
    found = [link for link in links if link != links[1]] + [(server, port._replace(port="swp8"))]
    design = from_found(eight(), in_stages(6, tiers=[1, 2]), base, found, tmp_path)
    assert_follows(design, found)
    assert (port in {end for link in planned_links(wiring_of(design)) for end in link}) == (
        len(wiring_of(design).links) > 7
    )


def refusals(links: list[Link], tmp_path: Path) -> list[str]:
    base = designed(eight(), in_stages(8))
    with pytest.raises(InputError) as told:
        from_found(eight(), in_stages(12), base, links, tmp_path, move={"cable": 10})
    return [str(one).partition("found.csv: ")[2] for one in told.value.faults]


def test_another_network_is_refused_with_all_that_is_wrong(tmp_path: Path) -> None:
    links = planned_links(wiring_of(designed(eight(), in_stages(8))))
    (first, second), up = (of_leaf(links, leaf)[0] for leaf in (1, 2)), of_leaf(links, 1, upwards=True)[0]
    told = refusals([link for link in crossed(links, first, second) if link != links[up]], tmp_path)
    assert len(told) == 3
    assert told[0].startswith("line 2: a cable that is not of the design in service; found 'server-0001 nic1p1 - ")
    assert "allowed: a port of compute-leaf-001; mend it first" in told[0]
    assert told[2].startswith("3 of 4 cables from compute-leaf-001 to compute-spine-001; allowed: all cables")


def test_rows_that_name_nothing_in_service_are_refused(tmp_path: Path) -> None:
    links = planned_links(wiring_of(designed(eight(), in_stages(8))))
    (a, b), (c, d), (e, f) = links[:3]
    wrong = [(a._replace(device="server-0100"), b), (c, d._replace(port="swp99")), (e, f), (e, f), *links[3:]]
    told = refusals(wrong, tmp_path)
    assert told[0].startswith("line 2: no such device is in service; found 'server-0100'")
    assert told[1].startswith(
        "line 3: no such port; found 'compute-leaf-001 swp99'; allowed: ports of compute-leaf-001"
    )
    assert "line 5: this port is in line 4 too" in told[2]


def test_a_forged_table_fails_its_check(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    links = planned_links(wiring_of(base))
    found = crossed(links, *of_leaf(links, 1)[:2])
    design = from_found(eight(), in_stages(8), base, found, tmp_path)
    content = json.loads(design.model_dump_json(by_alias=True))
    content["case"]["content"]["base"]["found_cables"] = listed(crossed(links, *(of_leaf(links, n)[0] for n in (1, 2))))
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert failed - {"case_is_embedded"}


def exchanged(links: list[Link], dice: Dice) -> list[Link]:
    """Links with some exchanged that have a switch in common, so that every two devices have as many as before."""
    found = list(links)
    for _ in range(dice.number(1, 6)):
        one, other = (dice.number(0, len(links) - 1) for _ in range(2))
        (a, b), (c, d) = found[one], found[other]
        ends = {(role(a), role(b)), (role(c), role(d))}
        if (
            one != other
            and len(ends) == 1
            and (b.device == d.device or (a.device == c.device and role(a) in ("leaf", "spine")))
        ):
            found[one], found[other] = (a, d), (c, b)
    return found


def role(port: PortName) -> str:
    """What a device is, by its name."""
    name = port.device.rpartition("-")[0]
    return name.rpartition("-")[2]


# What a splitter or a shuffle keeps from being exchanged.
WHOLE = ("links of the connectors of cable", "and the cable is for cage")


@pytest.mark.long(but=("1", "5", "8"))
@pytest.mark.parametrize("seed", range(200))
def test_what_was_found_of_any_base_stays(seed: int, tmp_path: Path) -> None:
    """Money is as without it, all checks hold, and a look at what is there finds just what is to be done."""
    dice = Dice(f"found-{seed}")
    moves = {"move": FREE} if seed % 2 else {}
    parts, before, after = small_base(dice) if moves else a_base(seed)
    base = designed(parts, before)
    if base.status != "optimal":
        return
    found = exchanged(planned_links(wiring_of(base)), dice)
    try:
        design = from_found(parts, after, base, found, tmp_path, **moves)
    except InputError as refusal:
        told = [fault.problem for fault in refusal.faults]
        assert all(any(words in problem for words in (*OUTSIDE, *WHOLE)) for problem in told), told
        return
    if design.status != "optimal":
        return
    assert_follows(design, found)
    there = base_wiring(design, wiring_of)
    assert there is not None and ports_of(there) == {frozenset(link) for link in found}
    assert_just_what_changes(design, there)
    if seed % 5:  # a second answer takes as long as the first
        return
    given = {**after, "base": {"file": str(saved(base, tmp_path)), **moves}}
    without = optimize.solve(inputs_from_objects(given, parts), alternatives_s=0)
    assert without.totals is not None and design.totals is not None
    assert without.totals.capex_usd == design.totals.capex_usd
