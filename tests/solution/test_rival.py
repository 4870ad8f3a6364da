"""An expert's enumerator finds nothing cheaper than our answer, which is proven in the same space."""

from __future__ import annotations

import pytest

from tests.rival import cheapest, ours


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long("512", "8192")
@pytest.mark.parametrize("gpus", [64, 512, 8192])
def test_no_enumeration_is_cheaper(gpus: int) -> None:
    """It came to the same dollar when it was written; it does not know all parts that ours does."""
    usd, status = ours(gpus)
    assert status == "optimal" and usd <= cheapest(gpus) <= 1.1 * usd
