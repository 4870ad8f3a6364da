"""Polarity, pins and polish of channels through panels, against light that is followed position by position."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import pytest

from fabopt.io.catalog import named_catalogs
from fabopt.parts.channels import channel_of, channel_through, loss_of
from fabopt.parts.polarity import Mated, alike, far_ports, form_of, mated, panel_goes, polish_of, trunk_goes
from fabopt.schema.catalog import Fibre, Panel, Transceiver, Trunk
from fabopt.schema.facts import Optics

CATALOG = named_catalogs(["reference"])
OPTICS = CATALOG.facts.optics or Optics()
DR4 = next(module for module in CATALOG.transceivers if module.id == "nvidia-mms4x00-nm")
JUMPER = next(fibre for fibre in CATALOG.fibres if fibre.id == "nvidia-mfp7e30")
TRUNK = next(trunk for trunk in CATALOG.trunks if trunk.id == "fs-mtp12-os2-144f")
PANEL = next(panel for panel in CATALOG.panels if panel.id == "fs-fhd-1ufce-mtp-b")
LAST = 12
SENT, HEARD = set(range(1, 5)), set(range(9, 13))


def fibre(**keys: object) -> Fibre:
    return JUMPER.model_copy(update=keys)


def trunk(**keys: object) -> Trunk:
    return TRUNK.model_copy(update=keys)


def panel(**keys: object) -> Panel:
    return PANEL.model_copy(update=keys)


def through(*pieces: Fibre | Trunk, panels: Sequence[Panel] = (), module: Transceiver = DR4) -> Mated:
    return mated((module, module), pieces, panels)


def is_heard(pieces: Sequence[Fibre | Trunk], panels: Sequence[Panel]) -> bool:
    """Whether light sent at positions 1 to 4 comes out at 9 to 12, followed through each piece and adapter."""
    crossed = [piece.polarity == "B" for piece in pieces] + [panel.keys == "aligned" for panel in panels]
    positions = SENT
    for is_crossed in crossed:
        positions = {LAST + 1 - position for position in positions} if is_crossed else positions
    return positions == HEARD


def test_a_lead_of_type_b_works_and_so_do_three_pieces_over_two_panels() -> None:
    assert through(JUMPER) == Mated()
    assert through(JUMPER, TRUNK, JUMPER, panels=(PANEL, PANEL)) == Mated()
    assert through(JUMPER, TRUNK, JUMPER, TRUNK, JUMPER, panels=(PANEL,) * 4) == Mated()


@pytest.mark.parametrize("number", [0, 1, 2, 4])
def test_types_and_keys_are_right_where_light_is_heard(number: int) -> None:
    """Every way to choose a type for each piece and keys for each panel; what is bought instead is heard."""
    for types in product("AB", repeat=number + 1):
        for keys in product(("aligned", "opposed"), repeat=number):
            makers = (fibre, trunk)
            glass = [makers[row % 2](id=f"piece-{row}", polarity=kind) for row, kind in enumerate(types)]
            panels = [panel(id=f"panel-{how}", keys=how) for how in keys]
            if number == 1:  # no trunk between two jumpers: pins are not asked here
                glass[1] = trunk(id="piece-1", polarity=types[1], pinned=False)
            wrong = [one for one in through(*glass, panels=panels).wrong if "crosses" in one.why]
            assert (not wrong) == is_heard(glass, panels), (types, keys)
            for mistake in wrong:
                other = mistake.instead.rpartition(" ")[2]
                bought = [
                    one.model_copy(update={"polarity": other}) if one.id == mistake.piece else one for one in glass
                ]
                assert is_heard(bought, panels), mistake


def test_the_piece_of_the_other_type_is_to_be_replaced() -> None:
    found = through(JUMPER, trunk(polarity="A"), JUMPER, panels=(PANEL, PANEL))
    assert [(one.piece, one.instead) for one in found.wrong] == [(TRUNK.id, "the same of Type B")]
    assert "crosses 2 times" in found.wrong[0].why


def test_one_panel_alone_crosses_with_aligned_keys_only() -> None:
    """Two leads of Type B over one adapter: right where it crosses itself, else one has to be of Type A."""
    unpinned = fibre(pinned=True)
    assert through(JUMPER, unpinned, panels=(PANEL,), module=DR4).wrong[0].why.startswith("meets")
    assert not [one for one in through(JUMPER, unpinned, panels=(PANEL,)).wrong if "crosses" in one.why]
    opposed = through(JUMPER, unpinned, panels=(panel(keys="opposed"),)).wrong
    assert "the same of Type A" in [one.instead for one in opposed]


def test_what_is_not_known_is_said_and_is_no_mistake() -> None:
    bare = fibre(polarity=None, pinned=None)
    assert through(bare) == Mated((), (f"pins of {JUMPER.id}", f"type of {JUMPER.id}"))
    odd = (panel(keys=None), panel(id="other", keys=None))
    assert through(JUMPER, TRUNK, JUMPER, panels=odd).unknown == (f"keys of {PANEL.id}", "keys of other")
    assert through(JUMPER, TRUNK, JUMPER, panels=(panel(keys=None),) * 2) == Mated()


def test_of_two_plugs_one_has_pins() -> None:
    for first, second, third in product((True, False), repeat=3):
        pieces = fibre(id="a", pinned=first), trunk(id="b", pinned=second), fibre(id="c", pinned=third)
        sides = [True, first, first, second, second, third, third, True]
        met = [near != far for near, far in zip(sides[::2], sides[1::2], strict=True)]
        wrong = through(*pieces, panels=(PANEL, PANEL)).wrong
        assert len(wrong) == met.count(False), (first, second, third)
        assert all(one.instead in ("the same with pins", "the same without pins") for one in wrong)


def test_polish_and_form_are_those_of_the_other_side() -> None:
    upc = through(JUMPER, trunk(connector="MPO-12-UPC"), JUMPER, panels=(PANEL, PANEL)).wrong
    assert [(one.piece, one.instead) for one in upc] == [
        (TRUNK.id, "the same with polish APC"),
        (JUMPER.id, "the same with polish UPC"),
    ]
    wide = through(JUMPER, trunk(connector="MPO-16-APC"), JUMPER, panels=(PANEL, PANEL)).wrong
    assert {one.piece for one in wide} == {TRUNK.id, JUMPER.id, PANEL.id}
    assert (form_of("2x MPO-12-APC"), polish_of("2x MPO-12-APC")) == ("MPO-12", "APC")
    assert (form_of("LC-duplex"), polish_of("LC-duplex")) == ("LC-duplex", None)


def test_plugs_of_one_fibre_have_neither_pins_nor_a_type() -> None:
    lc = fibre(connectors=("LC-duplex", "LC-duplex"), polarity=None, pinned=None)
    module = DR4.model_copy(update={"connector": "LC-duplex"})
    assert through(lc, module=module) == Mated()


LC = fibre(id="lc", connectors=("LC-duplex", "LC-duplex"), polarity=None, pinned=None, grade=None)
DUPLEX = DR4.model_copy(update={"id": "fr", "connector": "LC-duplex"})


def cassette(positions: Sequence[Sequence[int]], **keys: Any) -> Panel:
    back = {"connector": "MPO-12-APC", "pinned": False, "positions": positions, **keys.pop("back", {})}
    ports = len(positions) * 2
    return Panel.model_validate_json(
        json.dumps({"id": "c", "connector": "LC-duplex", "ports": ports, "back": back, **keys})
    )


def followed(positions: Sequence[Sequence[int]], type_: str) -> list[int] | None:
    """The far port of each port, where every fibre of it arrives, those sent at those heard; else None."""
    found = list[int]()
    for port in positions:
        arrived = [LAST + 1 - at if type_ == "B" else at for at in port]
        there = [number for number, other in enumerate(positions, start=1) if list(other) == arrived[::-1]]
        found += there
    return found if len(found) == len(positions) else None


def test_ports_of_cassettes_lead_to_the_ports_where_their_light_is_heard() -> None:
    """Tables of a leg at random, and those that are sold: a port of its own positions, and ports in order."""
    rng = random.Random(1)
    tables = [[[at, LAST + 1 - at] for at in range(1, 7)], [[at, at + 1] for at in range(1, LAST, 2)]]
    for _ in range(200):
        order = rng.sample(range(1, LAST + 1), LAST)
        half = [at for at in order if at <= LAST // 2]
        mixed = [[at, LAST + 1 - at][:: rng.choice([1, -1])] for at in half] if rng.random() < 0.5 else (
            [order[at : at + 2] for at in range(0, LAST, 2)])  # fmt: skip
        tables.append(mixed[: rng.randint(1, 6)])
    works = 0
    for positions, type_ in product(tables, ("A", "B")):
        one, expected = cassette(positions), followed(positions, type_)
        assert one.back is not None
        assert far_ports(one.back, "A" if type_ == "A" else "B") == (expected and tuple(expected))
        assert far_ports(one.back, None) is None
        found = through(LC, trunk(polarity=type_), LC, panels=(one, one), module=DUPLEX)
        assert (found == Mated()) == (expected is not None)
        assert trunk_goes(trunk(polarity=type_), LC, one) == (expected is not None)
        works += expected is not None
    assert works > 50


def test_cassettes_mate_in_front_and_behind() -> None:
    """Pins on one side behind, none on those of jumpers; polish and connector of both; two alike at a trunk."""
    one = cassette([[1, 12], [2, 11]])
    for key, value, told in (
        ("pinned", True, "pins on both sides"), ("connector", "MPO-12-UPC", "does not touch"),
        ("connector", "MPO-24-APC", "does not meet"),
    ):  # fmt: skip
        other = cassette([[1, 12], [2, 11]], back={key: value})
        wrong = through(LC, TRUNK, LC, panels=(other, other), module=DUPLEX).wrong
        assert wrong and sum(told in mistake.why for mistake in wrong) == 2
        assert not trunk_goes(TRUNK, LC, other)
    eight = trunk(id="eight", fibres=8 * TRUNK.legs)
    assert through(LC, eight, LC, panels=(one, one), module=DUPLEX) == Mated() and trunk_goes(eight, LC, one)
    for positions, fibres in (([[5, 8]], 8), ([[1, 12], [6, 7]], 8), ([[1, 12]], 6)):
        inner, few = cassette(positions), trunk(id="few", fibres=fibres * TRUNK.legs)
        (mistake,) = through(LC, few, LC, panels=(inner, inner), module=DUPLEX).wrong
        assert "has no fibre at" in mistake.why and not trunk_goes(few, LC, inner)
    unlike = through(LC, TRUNK, LC, panels=(one, cassette([[1, 12]])), module=DUPLEX).wrong
    assert [mistake.why for mistake in unlike] == ["does not lead fibres as c does"]
    assert through(LC, trunk(polarity=None), LC, panels=(one, one), module=DUPLEX).unknown == (f"type of {TRUNK.id}",)
    assert through(JUMPER, TRUNK, JUMPER, panels=(one, one)).wrong
    assert (panel_goes(one, "LC-duplex"), panel_goes(one, "MPO-12-APC")) == (True, False)
    eight = [[1, 2, 3, 4, 9, 10, 11, 12]]
    of_eight = (cassette(eight, connector="MPO-12-APC", pinned=pins) for pins in (True, False, None))
    assert [panel_goes(one, "MPO-12-APC") for one in of_eight] == [True, False, False]
    assert [len(group) for group in alike((one, one.model_copy(update={"id": "d", "ports": 8}), PANEL))] == [2, 1]


def test_a_cassette_loses_what_its_maker_says_or_both_of_its_pairs() -> None:
    """LC 2 x 0.25 at the modules; behind two cassettes 2 x (0.25 + 0.75), or what is said of each."""
    pieces, one = [(LC, 3), (TRUNK, 30), (LC, 3)], cassette([[1, 12]])
    summed = loss_of(OPTICS, channel_through(pieces, one))
    assert summed.largest_db == pytest.approx(2 * 0.25 + 2 * (0.25 + 0.75) + 0.036 * 0.4)
    said = loss_of(OPTICS, channel_through(pieces, one.model_copy(update={"loss_db": 0.35})))
    assert said.largest_db == pytest.approx(2 * 0.25 + 2 * 0.35 + 0.036 * 0.4)


def test_a_channel_through_panels_has_a_pair_at_each_and_the_worse_grade_counts() -> None:
    """Jumpers of low loss, a trunk of unknown grade: 2 x 0.35 at the modules, 2 x 0.75 at the panels, 36 m of glass."""
    channel = channel_through([(JUMPER, 3), (TRUNK, 30), (JUMPER, 3)])
    assert [plug.grade for plug in channel.plugs] == ["low-loss", None, None, "low-loss"]
    assert loss_of(OPTICS, channel).largest_db == pytest.approx(2 * 0.35 + 2 * 0.75 + 0.036 * 0.4)
    low = trunk(grade="low-loss")
    assert loss_of(OPTICS, channel_through([(JUMPER, 3), (low, 30), (JUMPER, 3)])).largest_db == pytest.approx(
        4 * 0.35 + 0.036 * 0.4
    )
    six = channel_through([(JUMPER, 3), (low, 30), (JUMPER, 3), (low, 20), (JUMPER, 3)])
    assert len(six.plugs) == 6
    assert loss_of(OPTICS, six).largest_db == pytest.approx(6 * 0.35 + 0.059 * 0.4)
    worse = trunk(grade="standard")
    assert [plug.grade for plug in channel_through([(JUMPER, 3), (worse, 30), (JUMPER, 3)]).plugs][1] == "standard"


def test_one_piece_is_the_channel_of_a_fibre() -> None:
    for one in CATALOG.fibres:
        if one.crosses == 1 and one.ends is None:
            assert channel_through([(one, 7)]) == channel_of(one, 7), one.id


def test_trunks_of_the_catalog_go_with_its_jumpers_and_panels() -> None:
    """Each single-mode trunk; those of multimode are flat, and need flat jumpers of a known type, of which none is."""
    for one in CATALOG.trunks:
        found = through(JUMPER, one, JUMPER, panels=(PANEL, PANEL))
        assert (found == Mated()) == (one.fibre == "smf"), one.id
    pairs = list(pairwise(sorted(form_of(one.connector) for one in CATALOG.trunks)))
    assert all(near == far == "MPO-12" for near, far in pairs)
