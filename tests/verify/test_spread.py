"""Which switches must not share one rack, as the verifier groups them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np

from fabopt.verify.racks import spread_sets
from fabopt.verify.wiring import CabledDesign


def test_spines_of_rails_are_sets_of_their_own() -> None:
    """A spine stands in for those of its rail alone, as the search spreads them; one alone may be anywhere."""
    none = np.full(5, -1)
    devices = SimpleNamespace(
        fabric=["compute"] * 5, role=["spine"] * 5, plane=np.ones(5, dtype=np.int64), rail=np.array([1, 1, 2, 2, 3]),
        pod=none, group=none, rack=["A01", "A02", "A01", "A01", "A01"],
    )  # fmt: skip
    design = SimpleNamespace(fabrics=())
    cabled = SimpleNamespace(wiring=SimpleNamespace(devices=devices), evidence=SimpleNamespace(design=design))
    sets = list(spread_sets(cast(CabledDesign, cabled)))
    assert sets == [("spine", ["A01", "A02"]), ("spine", ["A01", "A01"])]
