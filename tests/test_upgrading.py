"""Shipped cases whose answers changed: what the docs say of each is what solving it gives."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.solution import optimize
from tests.paths import ROOT

TITLE = "| shipped case |"
PAGE = (ROOT / "docs" / "upgrading.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition(TITLE)[2].partition("\n\n")[0].splitlines()[2:]
]
NAMES = [row[0].strip("`") for row in ROWS]


def capex(name: str, **changes: Any) -> float:
    content = yaml.safe_load((ROOT / "cases" / f"{name}.yaml").read_text())
    design = optimize.solve(inputs_from_objects({**content, **changes}), alternatives_s=0)
    assert design.status == "optimal" and design.totals is not None
    return float(design.totals.capex_usd)


def usd(cell: str) -> float:
    return float(cell.lstrip("$").replace(",", ""))


def test_rows_name_shipped_cases_and_rules() -> None:
    assert len(ROWS) > 10
    for name, before, now, why in ROWS:
        assert (ROOT / "cases" / f"{name.strip('`')}.yaml").exists()
        assert usd(before) != usd(now)
        assert set(re.findall(r"rules? `([a-z-]+)`", why)) <= DEFAULT_RULES.keys()


@pytest.mark.long(but=("single-switch-64-gpus",))
@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_an_answer_is_what_the_row_says(row: list[str]) -> None:
    """Now as it is, and as before without the rules that the row names, where nothing else is named."""
    name, before, now, why = row
    assert capex(name.strip("`")) == usd(now)
    named = re.match(r"rules? ((?:`[a-z-]+`(?:, | and )?)+)$", why)
    if named:
        rules = dict.fromkeys(re.findall(r"`([a-z-]+)`", named[1]), False)
        assert capex(name.strip("`"), rules=rules) == usd(before)
