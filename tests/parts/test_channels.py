"""Losses of optical channels: sums by hand, published examples, and what is not known."""

from __future__ import annotations

import pytest

from fabopt.io.catalog import named_catalogs
from fabopt.parts.channels import (
    ChannelLimits,
    OpticalChannel,
    Plugs,
    budget_db,
    channel_of,
    loss_of,
)
from fabopt.schema.catalog import Fibre, Transceiver
from fabopt.schema.facts import Grade, Optics
from tests.loss_table import END, PAGE, START, over_panels, table

OPTICS = named_catalogs(["reference"]).facts.optics or Optics()
MODULES = {module.id: module for module in named_catalogs(["reference"]).transceivers}
LOW: Grade = "low-loss"
STANDARD: Grade = "standard"
# Module, standard, panels, grade, and by hand: metres x dB/km, mated plugs x dB, and the budget.
BY_HAND = [
    ("fs-qdd-dr4-400g", "400G-DR4", 0, LOW, 0.500 * 0.4 + 2 * 0.35, 3.0, True),
    ("fs-qdd-dr4-400g", "400G-DR4", 2, LOW, 0.500 * 0.4 + 4 * 0.35, 3.0, True),
    ("fs-qdd-dr4-400g", "400G-DR4", 4, LOW, 0.500 * 0.4 + 6 * 0.35, 3.0, True),
    ("fs-qdd-dr4-400g", "400G-DR4", 0, STANDARD, 0.500 * 0.4 + 2 * 0.75, 3.0, True),
    ("fs-qdd-dr4-400g", "400G-DR4", 2, STANDARD, 0.500 * 0.4 + 4 * 0.75, 3.0, False),
    ("fs-qdd-400g-sr4", "400G-SR4", 0, LOW, 0.050 * 3.0 + 2 * 0.35, 1.5 + 0.050 * 3.0, True),
    ("fs-qdd-400g-sr4", "400G-SR4", 2, LOW, 0.050 * 3.0 + 4 * 0.35, 1.5 + 0.050 * 3.0, True),
    ("fs-qdd-400g-sr4", "400G-SR4", 4, LOW, 0.050 * 3.0 + 6 * 0.35, 1.5 + 0.050 * 3.0, False),
    ("fs-qdd-400g-sr4", "400G-SR4", 0, STANDARD, 0.050 * 3.0 + 2 * 0.60, 1.5 + 0.050 * 3.0, True),
    ("fs-qdd-400g-sr4", "400G-SR4", 2, STANDARD, 0.050 * 3.0 + 4 * 0.60, 1.5 + 0.050 * 3.0, False),
    ("fs-qdd-400g-sr8", "400G-SR8", 2, LOW, 0.100 * 3.0 + 4 * 0.35, 1.9, True),
    ("fs-qdd-400g-sr8", "400G-SR8", 4, LOW, 0.100 * 3.0 + 6 * 0.35, 1.9, False),
    ("nvidia-mma1t00-hs", "200G-SR4", 2, LOW, 0.100 * 3.0 + 4 * 0.35, 1.9, True),
    ("fs-qdd-sr8-800g-mpo16", "800G-SR8", 2, LOW, 0.050 * 3.0 + 4 * 0.35, 1.5 + 0.050 * 3.0, True),
    ("nvidia-mms4x00-nm16", "800G-DR8", 4, LOW, 0.500 * 0.4 + 6 * 0.35, 3.0, True),
    ("nvidia-mms4x00-ns", "400G-DR4", 4, LOW, 0.100 * 0.4 + 6 * 0.35, 3.0, True),
    ("nvidia-mms4c10-xm800", "800G-DR4", 4, LOW, 0.500 * 0.4 + 6 * 0.35, 3.0, True),
    ("nvidia-mms1v70-cm", "100G-DR", 4, STANDARD, 0.500 * 0.4 + 6 * 0.25, 3.0, True),
    ("fs-sfp-10g-lr", "10G-LR", 4, STANDARD, 10.000 * 0.4 + 6 * 0.25, 6.2, True),
    ("fs-sfp-10g-sr", "10G-SR", 2, STANDARD, 0.300 * 3.0 + 4 * 0.75, 2.9, False),
]


@pytest.mark.parametrize(("module", "standard", "panels", "grade", "loss", "budget", "fits"), BY_HAND)
def test_twenty_channels_by_hand(
    module: str, standard: str, panels: int, grade: Grade, loss: float, budget: float, fits: bool
) -> None:
    counted = loss_of(OPTICS, over_panels(MODULES[module], panels, grade))
    assert counted.largest_db == pytest.approx(loss, abs=1e-9)
    assert budget_db(OPTICS, MODULES[module], standard) == pytest.approx(budget, abs=1e-9)
    assert counted.unknown == () and (loss <= budget) == fits


def plain(db_per_km: float, pair_db: float = 0.0, splice_db: float = 0.0) -> Optics:
    """Losses of a fibre ``glass`` and a plug ``plug``."""
    return Optics.model_validate(
        {
            "glass": ({"fibre": "glass", "db_per_km": db_per_km},),
            "pairs": ({"connector": "plug", "largest_db": pair_db},),
            "splice": {"largest_db": splice_db},
        }
    )


def lost(optics: Optics, metres: float, plugs: int = 0, splices: int = 0, inside_db: float = 0.0) -> float:
    channel = OpticalChannel((("glass", metres),), (Plugs("plug", "glass"),) * plugs, splices, inside_db)
    return loss_of(optics, channel).largest_db


def test_published_examples() -> None:
    """TIA on 800GBASE-DR8 and 400GBASE-LR8; Juniper's guide to the MX240, p. 182; a page on OM4."""
    assert [2.75 + lost(plain(one), m) for one, m in ((0.4, 500), (0.5, 500), (1.0, 250))] == [2.95, 3.0, 3.0]
    assert [2.0 + lost(plain(one), m) for one, m in ((0.4, 10000), (0.5, 8000), (1.0, 4000))] == [6.0, 6.0, 6.0]
    # 2 km at 1 dB/km, 5 connectors and 2 splices of 0.5, modes 0.5, clock recovery 1; 8 km at 0.5, 7 connectors
    assert 13 - lost(plain(1.0, 0.5, 0.5), 2000, 5, 2, 1.5) == 6
    assert 13 - lost(plain(0.5, 0.5), 8000, 7, inside_db=0.0) == 5.5
    assert int((2.6 - lost(plain(3.0, 0.75), 0, 2)) / 3.0 * 1000 + 0.5) == 367


@pytest.mark.parametrize(
    ("budget", "metres", "per_km", "pair", "most"),
    [(3.0, 500, 0.4, 0.35, 8), (3.0, 500, 0.4, 0.75, 3), (1.8, 100, 3.0, 0.35, 4), (1.65, 50, 3.0, 0.35, 4),
     (1.65, 50, 3.0, 0.60, 2), (4.0, 2000, 0.4, 0.25, 12)],
)  # fmt: skip
def test_pairs_that_fit_a_budget(budget: float, metres: float, per_km: float, pair: float, most: int) -> None:
    optics = plain(per_km, pair)
    assert lost(optics, metres, most) <= budget < lost(optics, metres, most + 1)


def test_two_panels_fit_every_optic_and_four_single_mode_alone() -> None:
    """With plugs of low loss, of every standard whose budget is known; LC of multimode is as TIA-568 has any plug."""
    for module in MODULES.values():
        for standard in module.standard_by_split.values():
            budget = budget_db(OPTICS, module, standard)
            if budget is not None and not (module.fibre == "om4" and module.connector == "LC-duplex"):
                fits = [loss_of(OPTICS, over_panels(module, n, LOW)).largest_db <= budget for n in (0, 2, 4)]
                assert fits == [True, True, module.fibre == "smf"], module.id


def fibre(**keys: object) -> Fibre:
    lengths = [{"m": 10.0, "price_usd": 60.0}]
    ends = {"connectors": ("MPO-12-APC", "LC-duplex"), "lengths": tuple(lengths)}
    return Fibre.model_validate({"id": "fibre", "fibre": "smf", **ends, **keys})


def test_a_fibre_has_the_plugs_of_both_ends_and_what_is_inside() -> None:
    """Of unknown grade the larger loss is planned with: 0.75 + 0.25, 0.7 inside, 10 m x 0.4 dB/km."""
    assert loss_of(OPTICS, channel_of(fibre(loss_db=0.7), 10)).largest_db == pytest.approx(0.75 + 0.25 + 0.7 + 0.004)
    assert loss_of(OPTICS, channel_of(fibre(grade=LOW), 10)).largest_db == pytest.approx(0.35 + 0.25 + 0.004)
    assert loss_of(OPTICS, channel_of(fibre(grade=LOW), 10)).typical_db is None  # of LC nobody says it
    two = fibre(connectors=("2x MPO-12-APC", "MPO-12-APC"), grade=LOW)
    assert loss_of(OPTICS, channel_of(two, 0)).typical_db == pytest.approx(0.30)
    odd = loss_of(OPTICS, channel_of(fibre(connectors=("SN", "MPO-12-APC")), 0))
    assert (odd.largest_db, odd.typical_db, odd.unknown) == (0.75, None, ("SN",))
    assert loss_of(Optics(), OpticalChannel((), (), 2)).unknown == ("splices",)


def module(**keys: object) -> Transceiver:
    base = {"id": "optic", "form_factor": "QSFP-DD", "split": "1x400", "standard": "400G-DR4", "fibre": "smf"}
    return Transceiver.model_validate({**base, "connector": "MPO-12-APC", "reach_m": 500.0, **keys})


def test_reach_is_what_budget_and_margin_leave() -> None:
    """3.0 dB less 1.0 for plugs: 2.0 dB are 5 km of glass; less 1.9 of margin 0.1 dB, which are 250 m."""
    limits = ChannelLimits(OPTICS, 1.9)
    assert ChannelLimits(OPTICS).reach_m(fibre(), module(), "400G-DR4") == 500
    assert limits.reach_m(fibre(), module(), "400G-DR4") == 250
    assert limits.reach_m(fibre(), module(loss_budget_db=2.8), "400G-DR4") < 0
    assert limits.reach_m(fibre(), module(), "400G-FR4") == 500  # nobody knows its budget
    # without the rule connections inside alone count, where both are known
    off = ChannelLimits(None, 1.9)
    assert off.reach_m(fibre(), module(loss_budget_db=0.1), "400G-DR4") == 500
    assert off.reach_m(fibre(loss_db=0.02), module(loss_budget_db=0.1), "400G-DR4") == 200


def test_direct_cables_of_the_shipped_catalog_all_fit() -> None:
    """Without a margin the rule shortens no reach: answers of direct cabling are those without it."""
    catalog, kept, off = named_catalogs(["reference"]), ChannelLimits(OPTICS), ChannelLimits(None)
    joined = 0
    for optic in catalog.transceivers:
        plug = {optic.connector_of(split) for split in optic.standard_by_split}
        for lead in (one for one in catalog.fibres if one.fibre == optic.fibre):
            if plug & {end.connector for end in lead.both_ends}:
                joined += 1
                for standard in optic.standard_by_split.values():
                    assert kept.reach_m(lead, optic, standard) == off.reach_m(lead, optic, standard), (
                        optic.id,
                        lead.id,
                    )
    assert joined > 300


def test_the_table_of_docs_is_that_of_the_catalog() -> None:
    assert PAGE.read_text().partition(START)[2].partition(END)[0] == table()
