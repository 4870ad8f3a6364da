"""Reading a plan of names, ports and addresses."""

from __future__ import annotations

from pathlib import Path

from fabopt.io.faults import document_of
from fabopt.io.files import read_bytes, shown
from fabopt.io.kinds import Kind
from fabopt.io.text import parse_yaml
from fabopt.schema.plan import PlanFile

PLAN = Kind("plan", tuple(PlanFile.model_fields), "`fabopt export DESIGN.json --to plan` writes one")
# Twice what a plan of 24,576 GPUs has.
MAX_PLAN_BYTES = 40_000_000


def read_plan(path: str) -> PlanFile:
    """Return the plan in a YAML file; ``InputError`` lists all faults."""
    file = shown(Path(path))
    content = parse_yaml(read_bytes(Path(path), MAX_PLAN_BYTES), file, PLAN)
    refusal = PLAN.refusal(content, file)
    if refusal:
        raise refusal
    return document_of(PlanFile, content, file)
