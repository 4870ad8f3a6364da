"""Advised values are shown as they were solved: a rounded one may fail."""

from __future__ import annotations

import pytest

from fabopt.output.terminal.answer import conflict_quantity


@pytest.mark.parametrize(
    ("limit", "value", "shown"),
    [
        ("catalog.alpha-64.lead_time_weeks", 34.666, "34.666"),
        ("catalog.alpha-64.lead_time_weeks", 40.0, "40"),
        ("limits.power_w", 47_123.4, "47,123.4 W"),
        ("limits.power_w", 47_100, "47.1 kW"),
        ("limits.budget_usd", 1_853_440.01, "$1,853,440.01"),
        ("fabrics.compute.max_oversubscription", 1.0667, "1.0667"),
        ("catalog.alpha-64.supply", 1_200, "1,200"),
    ],
)
def test_advised_values_are_shown_in_full(limit: str, value: float, shown: str) -> None:
    assert conflict_quantity(limit, value) == shown
