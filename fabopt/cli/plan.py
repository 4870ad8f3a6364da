"""The command that proves a plan file again, alone or against its design."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from fabopt.cli.evidence import require_found, saved_design, wired
from fabopt.cli.output import say
from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE
from fabopt.io.design import read_plan
from fabopt.operate.proof import design_check, plan_checks
from fabopt.output.terminal.checks import checks_report

ENDINGS = (".yaml", ".yml")
_KEY = re.compile(rb"^plan:", re.MULTILINE)
_HEAD_BYTES = 2000


def is_plan(path: str) -> bool:
    """Whether a file has the name and the beginning of a plan; designs are JSON."""
    if PurePath(path).suffix.lower() not in ENDINGS or not Path(path).is_file():
        return False
    with open(path, "rb") as stream:
        return _KEY.search(stream.read(_HEAD_BYTES)) is not None


def check_plan(path: str, design: str | None, point: int | None) -> int:
    """Prove a plan again and print each check. ``design``: its design file, or a sweep or front with ``point``."""
    plan = read_plan(path)
    checks = plan_checks(plan)
    if design is not None:
        saved = saved_design(design, point)
        require_found(saved, design, " to hold a plan against")
        checks.append(design_check(plan, saved.case.name, saved.case.sha256, wired(saved, design)))
    say(checks_report(plan.case, checks))
    return EXIT_DONE if all(check.ok for check in checks) else EXIT_CHECK_FAILED
