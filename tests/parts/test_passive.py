"""Trunks and panels of catalogs: what is shipped follows the printed rules, and what cannot be is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from fabopt.errors import InputError
from fabopt.io.catalog import read_catalog
from fabopt.schema.catalog import Catalog, Panel, Trunk
from tests.paths import ROOT

TRUNK = {"id": "t", "fibre": "smf", "connector": "MPO-12-APC", "legs": 4, "fibres": 48, "lengths": ({"m": 30},)}
PANEL = {"id": "p", "connector": "MPO-12", "ports": 24}
# USD a fibre and metre (docs/catalog.md, rule T); metres and dollars of what is priced, by kind and number of fibres.
RULE_T = {"smf": (769 / 48 - 1524 / 144) / 25, "om4": (1222 / 48 - 1603 / 144) / 25}
PRICED = {("smf", 48): (30, 769), ("smf", 144): (5, 1524), ("smf", 96): (5, 1389),
          ("om4", 48): (30, 1222), ("om4", 144): (5, 1603), ("om4", 96): (5, 1500)}  # fmt: skip


def shipped() -> Catalog:
    return read_catalog(["reference"], ROOT)


def test_rule_t_is_what_the_page_prints() -> None:
    assert {fibre: round(usd, 4) for fibre, usd in RULE_T.items()} == {"smf": 0.2175, "om4": 0.5731}


def test_lengths_of_trunks_follow_rule_t_from_the_priced_one() -> None:
    trunks = shipped().trunks
    assert {(trunk.fibre, trunk.fibres) for trunk in trunks} == set(PRICED)
    for trunk in trunks:
        metres, usd = PRICED[trunk.fibre, trunk.fibres]
        for length in trunk.lengths:
            expected = usd + RULE_T[trunk.fibre] * trunk.fibres * (length.m - metres)
            assert length.price_usd == round(expected), (trunk.id, length.m)
            assert (length.source is None) == (length.m == metres), (trunk.id, length.m)
            assert length.source is None or length.source.kind == "derived"


def test_trunks_and_panels_say_only_what_a_source_says() -> None:
    """No data sheet of an indoor MPO trunk was read, so none has a diameter, a weight or a grade."""
    for trunk in shipped().trunks:
        assert (trunk.diameter_mm, trunk.weight_kg_m, trunk.bend_radius_mm, trunk.grade) == (None,) * 4
        assert {"pinned", "polarity", "lengths"} <= trunk.provenance.keys()
    assert all(panel.source is not None and panel.source.url for panel in shipped().panels)
    assert {panel.id for panel in shipped().panels if panel.price_usd is None} == {"panduit-flex1u06-mtp"}


@pytest.mark.parametrize(
    "change",
    [{"fibres": 50}, {"legs": 0}, {"lengths": ()}, {"lengths": ({"m": 5}, {"m": 5})}, {"polarity": "D"}],
)
def test_trunks_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    Trunk.model_validate(TRUNK)
    with pytest.raises(ValidationError):
        Trunk.model_validate({**TRUNK, **change})


@pytest.mark.parametrize("change", [{"ports": 0}, {"rack_units": 0}, {"keys": "up"}, {"connector": None}])
def test_panels_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    Panel.model_validate(PANEL)
    with pytest.raises(ValidationError):
        Panel.model_validate({**PANEL, **change})


CASSETTE = {**PANEL, "connector": "LC-duplex", "back": {"connector": "MPO-12-APC", "positions": ((1, 12), (2, 11))}}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ports": 23}, "give a multiple of 2"),
        ({"keys": "aligned"}, "cassettes have no `keys`"),
        ({"back": None, "loss_db": 0.5}, "give `back`"),
        ({"back": {"connector": "MPO-12-APC", "positions": ((1, 2), (2, 3))}}, "`positions` has 2 twice"),
        ({"back": {"connector": "MPO-12-APC", "positions": ((1, 2), (3,))}}, "have 1 and 2 positions"),
        ({"back": {"connector": "MPO-12-APC", "positions": ((1, 13),)}}, "has positions up to 12"),
        ({"back": {"connector": "MPO-12-APC", "positions": ((1, 2, 3),)}}, "has 2 positions, not 3"),
        ({"connector": "MPO-12-APC"}, "has 8 or 12 positions, not 2"),
    ],
)
def test_cassettes_that_cannot_be_are_refused(change: dict[str, object], told: str) -> None:
    whole = Panel.model_validate(CASSETTE)
    assert (whole.links_per_leg, whole.legs) == (2, 12)
    with pytest.raises(ValidationError, match=told):
        Panel.model_validate({**CASSETTE, **change})


def test_a_panel_without_ports_is_refused_by_file_and_key(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "panels"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("connector: MPO-12\nports: 0\n")
    with pytest.raises(InputError) as refused:
        read_catalog([str(tmp_path / "own")], tmp_path)
    assert "mine.yaml" in str(refused.value)
    assert "ports" in str(refused.value)


def test_trunks_and_panels_are_read_from_files_of_their_own(tmp_path: Path) -> None:
    trunk = "fibre: smf\nconnector: MPO-12-APC\nlegs: 2\nfibres: 24\nlengths: [{m: 7, price_usd: 90}]\n"
    for kind, body in (("trunks", trunk), ("panels", "connector: MPO-12\nports: 12\nprice_usd: 200\n")):
        (tmp_path / "own" / kind).mkdir(parents=True)
        (tmp_path / "own" / kind / f"mine-{kind}.yaml").write_text(body)
    catalog = read_catalog([str(tmp_path / "own")], tmp_path)
    assert [(trunk.id, trunk.legs, trunk.lengths[0].price_usd) for trunk in catalog.trunks] == [("mine-trunks", 2, 90)]
    assert [(panel.id, panel.ports) for panel in catalog.panels] == [("mine-panels", 12)]
