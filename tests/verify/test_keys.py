"""Every key of a case is read where designs are verified, or says here why it is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fabopt.schema.case import Case
from tests.paths import ROOT
from tests.test_schema_words import models_of

# The verifier, and the rooms that it asks.
ROOMS = ("verify", "schema", "wiring", "floor", "network", "workload", "io", "parts")
TOLD = "is told beside a figure, and counts in none"
PLANNED = "is of the plan of a running fabric, which `fabopt.operate` proves when it is made"
BOOKS = "is of worths in the books, which are shown and decide nothing"
UNREAD = {
    "PriceSource.confidence": TOLD, "Source.confidence": TOLD,
    "Model.sources": TOLD, "Model.confidence": TOLD, "Model.parameters_b": TOLD, "Model.active_parameters_b": TOLD,
    "Growth.minutes_per_moved_cable": TOLD, "Finance.depreciation_years": BOOKS,
    "Fabric.min_bisection_gbps_per_gpu": "is read by `figures_meet_demand` under the name of its figure",
    "Carried.max_oversubscription_spine": "is no less than the host's, which `uplinks_carry_demand` holds",
    "Operate.host_addresses": PLANNED, "Queues.rdma_share": PLANNED,
    "Floor.power_strip": TOLD, "CampusHall.power_strip": TOLD,
    "Floor.network_power_strip": TOLD, "CampusHall.network_power_strip": TOLD,
}  # fmt: skip


def read_in(*rooms: str) -> Iterator[str]:
    """Attributes and words of the code of some rooms."""
    for path in (path for room in rooms for path in (ROOT / "fabopt" / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_key_of_a_case_is_verified_or_says_why_not() -> None:
    read = set(read_in(*ROOMS))
    unread = {
        f"{model.__name__}.{name}"
        for model in models_of(Case, {})
        for name, field in model.model_fields.items()
        if not {name, field.alias} & read
    }
    assert unread == set(UNREAD)
