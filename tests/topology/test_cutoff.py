"""The cutoff keeps what is below it, and takes nothing that is not a number."""

from __future__ import annotations

import numpy as np
import pytest

from fabopt.topology.family import Cutoff, Sizing


@pytest.mark.parametrize("cost", [[[5.0, np.nan]], [[5.0, 5.0], [1.0, np.nan]]])
@pytest.mark.parametrize("prune", [True, False])
def test_what_is_not_a_number_is_not_dropped(cost: list[list[float]], prune: bool) -> None:
    bounds = np.array(cost)
    cutoff = Cutoff(np.array([np.inf] * len(bounds)), 0.0, prune, Sizing(least=10.0))
    assert cutoff.within(bounds[:, :1]).tolist() == [True]
    assert bool(cutoff.possible(bounds[:, 0]))
    with pytest.raises(ArithmeticError, match="not a number"):
        cutoff.within(bounds)
    with pytest.raises(ArithmeticError, match="not a number"):
        cutoff.possible(bounds[:, 1])


def test_what_cannot_be_made_is_dropped() -> None:
    cutoff = Cutoff(np.array([np.inf, 3.0]), 0.0, True, Sizing(least=10.0))
    assert cutoff.within(np.array([[10.0, 11.0, np.inf, 5.0], [3.0, 1.0, 1.0, 4.0]])).tolist() == [
        True,
        False,
        False,
        False,
    ]
    assert not cutoff.possible(np.array([np.inf, np.inf]))
