"""What a design costs in every future of a growth that is not certain."""

from __future__ import annotations

from typing import Final

# What is minimized where growth may end: the total cost of ownership, each stage as often as it comes.
EXPECTED: Final = "expected_tco_usd"
