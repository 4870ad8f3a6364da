"""Several fabrics of a size that is asked for are answered in seconds; the cases took minutes or gigabytes before."""

from __future__ import annotations

import pytest

from tests.paths import ROOT
from tests.samples import small

WIDER = ROOT / "tests" / "samples" / "wider"


@pytest.mark.long
def test_two_fabrics_on_six_racks_are_proven() -> None:
    """Bounds of a small floor know how far servers of a group are from the best rack for their leaf."""
    design = small.solved_file(WIDER / "slow-floor.yaml")
    small.assert_proven(design)
    assert [fabric.placement.policy for fabric in design.fabrics if fabric.placement] == ["anywhere", "anywhere"]


@pytest.mark.long
def test_four_fabrics_that_share_slots_are_proven() -> None:
    """What uses the fewest slots is looked for among what costs little, not among all that uses as few."""
    design = small.solved_file(WIDER / "four-mi300x-dual.yaml")
    small.assert_proven(design)
    storage, in_band = (next(one for one in design.fabrics if one.name == name) for name in ("storage", "in-band"))
    assert {fabric.nic.per_server * fabric.nic.ports_per_nic for fabric in (storage, in_band)} == {2}
