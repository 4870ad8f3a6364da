"""Plans of small designs, and the rows of their files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fabopt.cli import main
from fabopt.io.design import read_plan
from fabopt.operate.build import plan_of
from fabopt.operate.model import OperationPlan
from fabopt.output.export.design import design_bytes
from fabopt.output.export.plan import plan_lines
from fabopt.schema.design import Design
from fabopt.schema.plan import PlanFile
from fabopt.wiring.build import wiring_of
from tests.samples import small
from tests.samples.export_samples import solved

Json = dict[str, Any]
STAGES = [{"name": "day-1", "month": 0, "servers": 4}, {"name": "day-2", "month": 6, "servers": 9}]


def planned(design: Design, stage: int | None = None) -> OperationPlan:
    """The plan of a design."""
    return plan_of(design, wiring_of(design), stage)


def with_operate(name: str, **operate: Any) -> Design:
    """A sample design whose case says how it is run."""
    design = solved(name)
    record = design.case.model_copy(update={"content": {**design.case.content, "operate": operate}})
    return design.model_copy(update={"case": record})


@cache
def grown() -> Design:
    """A design of two stages."""
    return small.solved(small.case(stages=STAGES))


def plan_file(plan: OperationPlan, folder: Path) -> PlanFile:
    """A plan as it is read back from its file."""
    path = folder / "plan.yaml"
    path.write_text("".join(f"{line}\n" for line in plan_lines(plan)))
    return read_plan(str(path))


def changed(plan: PlanFile, table: str, row: int, **values: Any) -> PlanFile:
    """A plan with other values in one row of one table."""
    rows = list(getattr(plan, table))
    rows[row] = rows[row].model_copy(update=values)
    return plan.model_copy(update={table: tuple(rows)})


def export_of(design: Design, folder: Path, *words: str) -> tuple[int, Mapping[str, Path]]:
    """The exit code of the command, and the files that it wrote by their path in the folder."""
    path, out = folder / "design.json", folder / "out"
    path.write_bytes(design_bytes(design))
    code = main(["export", str(path), "-o", str(out), *words])
    return code, {str(file.relative_to(out)): file for file in sorted(out.rglob("*")) if file.is_file()}
