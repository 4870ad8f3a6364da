"""Published runs on racks of 72 through the command line: ``python -m tests.published_racks`` writes their table.

Each run is a case of a shipped server, its GPUs, and a model with the plan of the run; its step is the one that the
design file of ``fabopt solve`` says.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import yaml

from fabopt.cli import main
from tests.published_runs import FURTHER, FURTHER_PAGE, KINDS, NEWER, Run, page_with, run_of
from tests.samples.small import Json

# Servers of racks, and Gb/s of a GPU's NICs.
RACKS = {"GB200": ("nvidia-gb200-nvl72-tray", 400), "GB300": ("nvidia-gb300-nvl72-tray", 800)}


class Solved(NamedTuple):
    """A run, and the error of the step that its design says."""

    run: Run
    error: float
    gpus_per_domain: int


def rows() -> list[tuple[Json, Json]]:
    """Runs on racks that no constant comes from, each with the architectures of its file."""
    return [
        (row, kept["architectures"]) for kept in (FURTHER, NEWER) for row in kept["cases"] if row.get("gpu") in RACKS
    ]


def case_of(row: Json, architectures: Json) -> Json:
    """The case of a run, whose network is not oversubscribed; nothing limits what is exposed."""
    server, gbps = RACKS[row["gpu"]]
    model = run_of(row, architectures).work.model.model_dump(mode="json", exclude_defaults=True)
    limits = {"min_gbps_per_gpu": gbps, "max_oversubscription": 1}
    return {
        "name": "published", "server": server, "gpus": row["gpus"], "include_servers": False,
        "workload": {"model": model, "software": row.get("software", "tuned"), "max_exposed_communication": 1},
        "fabrics": [{"name": "compute", "protocol": "infiniband", **limits}],
    }  # fmt: skip


def solved(row: Json, architectures: Json) -> Solved:
    """A run through the command line."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        case, file = Path(folder, "case.yaml"), Path(folder, "design.json")
        case.write_text(yaml.safe_dump(case_of(row, architectures)))
        assert main(["solve", str(case), "--json", str(file), "--alternatives", "0"]) == 0
        design: dict[str, Any] = json.loads(file.read_text())
    run = run_of(row, architectures)
    used = design["case"]["content"]["workload"].get("gpus_per_domain") or 72
    return Solved(run, design["workload"]["step_s"] / run.published_s - 1, used)


def predicted() -> list[Solved]:
    """Runs as they are predicted without a search, which a sample of them is solved to be (``test_rack_scale.py``)."""
    runs = [run_of(row, architectures) for row, architectures in rows()]
    return [Solved(run, run.error, run.work.domain_gpus) for run in runs]


def table(found: Sequence[Solved]) -> str:
    """Mean errors by kind, GPU and number format, as a table."""
    groups: dict[tuple[str, str, str], list[Solved]] = {}
    for one in found:
        key = one.run.kind, one.run.name.rpartition(" ")[2], one.run.work.model.precision.compute
        groups.setdefault(key, []).append(one)
    lines = ["| kind | rack of | format | runs through `fabopt solve` | mean error | fastest | slowest |"]
    lines.append("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    lines += [_row([*key], groups[key]) for key in sorted(groups, key=lambda key: (KINDS.index(key[0]), *key[1:]))]
    lines += [
        _row([kind, "all", "all"], [one for one in found if one.run.kind == kind]) for kind in ("tuned", "experts")
    ]
    return "\n".join([*lines, _row(["all", "all", "all"], found)])


def _row(head: list[str], found: Iterable[Solved]) -> str:
    errors = [100 * one.error for one in found]
    mean = fmean(map(abs, errors))
    figures = [str(len(errors)), f"{mean:.1f} %", f"{min(errors):+.0f} %", f"{max(errors):+.0f} %"]
    return f"| {' | '.join([*head, *figures])} |"


if __name__ == "__main__":
    every = [solved(*row) for row in rows()]
    for one in every:
        errors = f"{100 * one.error:+.1f} % here, {100 * one.run.error:+.1f} % there"
        print(f"{one.run.name}: {one.gpus_per_domain} of 72, {errors}")
    FURTHER_PAGE.write_text(page_with(FURTHER_PAGE.read_text(), table(every)))
    print(table(every))
