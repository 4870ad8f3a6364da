"""An expert's enumerator finds nothing cheaper than our answer, which is proven in the same space."""

from __future__ import annotations

import pytest

from tests.rival import cheapest, ours


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long("512", "8192")
@pytest.mark.parametrize("gpus", [64, 512, 8192])
def test_no_enumeration_is_cheaper(gpus: int) -> None:
    usd, status = ours(gpus)
    assert status == "optimal" and usd == cheapest(gpus)
