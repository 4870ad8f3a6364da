"""Published runs and their predictions: ``python -m tests.published_runs`` writes the tables and data of the docs; with
the name of a term that was changed, also what that moved.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import yaml

from fabopt.io.catalog import read_catalog
from fabopt.schema.model import Architecture, Formats, Model, Plan
from fabopt.schema.server import Server
from fabopt.workload.ranks import ranks_of
from fabopt.workload.stages import SOFTWARE_FACTORS, straggling
from fabopt.workload.timing import FabricBandwidth, ModelRun, Step, step_on, workload_of
from tests.paths import PUBLISHED, ROOT
from tests.samples.workload_samples import (
    A100,
    H100,
    LLAMA,
    LLAMA_CLUSTER,
    MEGATRON,
    RUNS,
    SELENE,
    SOURCES,
    llama,
    megatron,
    network,
)

CALIBRATION = yaml.safe_load((PUBLISHED / "calibration.yaml").read_text())
NEWER = yaml.safe_load((PUBLISHED / "newer-runs.yaml").read_text())
FITTED = yaml.safe_load((PUBLISHED / "fitted-runs.yaml").read_text())
FURTHER = yaml.safe_load((PUBLISHED / "further-runs.yaml").read_text())
PAGE = ROOT / "docs" / "workloads.md"
LATEST = yaml.safe_load((PUBLISHED / "latest-runs.yaml").read_text())
FURTHER_PAGE = ROOT / "docs" / "predicted-runs.md"
FURTHER_DATA = ROOT / "docs" / "data" / "predicted-runs.csv"
TERMS_DATA = ROOT / "docs" / "data" / "changed-terms.csv"
TERM_COLUMNS = ["term", "concerns", "run", "published_s", "before_percent", "after_percent"]
HEADING = ["run", "software", "published step", "predicted step", "error"]
KINDS = ("tuned", "typical", "experts")
# Terms that were changed, in their order, and what architectures and plans each concerns.
CONCERNS: dict[str, Callable[[Architecture, Plan], bool]] = {
    "biases of experts, limits of gates": lambda one, _: one.clamped or (one.experts is not None and bool(one.biases)),
    "positions with a factor": lambda one, _: one.scaled_positions,
    "windows": lambda one, _: one.window is not None,
    "fused attention over few tokens, and over many": lambda _, plan: plan.fuses_attention,
    "what a host does once a step": lambda *_: True,
}
TERA = 10**12
EIGHT_BIT_H100 = H100.model_copy(update={"gpu_peak_tflops": {"fp16": 989.4, "bf16": 989.4, "fp8": 1978.9}})
SERVERS: dict[str, tuple[Server, FabricBandwidth]] = {
    "A100": (A100, SELENE), "H100": (EIGHT_BIT_H100, network(400_000)),
}  # fmt: skip
# Servers of the reference catalog on which further runs were, and the NICs of their GPUs in Mb/s.
_OTHERS = {
    "H200": ("nvidia-dgx-h200", 400_000),
    "MI325X": ("amd-mi325x-8gpu", 400_000),
    "MI355X": ("amd-mi355x-8gpu-liquid", 400_000),
    "B200": ("nvidia-dgx-b200", 400_000),
    "B300": ("nvidia-dgx-b300", 800_000),
    "GB200": ("nvidia-gb200-nvl72-tray", 400_000),
    "GB300": ("nvidia-gb300-nvl72-tray", 800_000),
}


class Run(NamedTuple):
    """A published run and what is predicted for it; ``kind``: of ``KINDS``."""

    name: str
    kind: str
    work: ModelRun
    step: Step
    published_s: float

    @property
    def error(self) -> float:
        """Predicted over published, less 1."""
        return float(self.step.step_s) / self.published_s - 1

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from other runs."""
        return self.work.model.architecture, self.work.plan, self.work.roof.gpu, self.work.ranks.gpus, self.published_s

    @property
    def factor(self) -> float:
        """The factor on kernels with which the prediction would be right, where nothing overlaps."""
        pace = SOFTWARE_FACTORS[self.work.roof.software] * self.work.roof.gpu.pace
        kernels = float(self.step.compute_s * (1 + self.work.bubble) / pace)
        return (self.published_s - float(self.step.step_s)) / kernels + float(pace)


@cache
def _servers() -> dict[str, tuple[Server, FabricBandwidth]]:
    known = {server.id: server for server in read_catalog(["reference"], Path()).servers}
    found = dict(SERVERS)
    for gpu, (name, mbps) in _OTHERS.items():
        link = known[name].scale_up
        assert link is not None
        found[gpu] = known[name], network(mbps, link.domain_gpus, link.domain_gpus)
    return found


def run_of(row: dict[str, Any], architectures: dict[str, Any]) -> Run:
    """A row of ``workloads.yaml`` or ``calibration.yaml``."""
    sizes = architectures[row["architecture"]] | row.get("change", {})
    architecture, plan = Architecture(**sizes), Plan.model_validate_json(json.dumps(row["plan"]))
    model = Model(
        name=row["architecture"], architecture=architecture, precision=Formats(compute=row.get("compute", "bf16")),
        plan=plan, sources=SOURCES,
    )  # fmt: skip
    server, there = _servers()[row.get("gpu", "H100")]
    work = workload_of(model, ranks_of(model, plan, row["gpus"]), server, None, row.get("software", "tuned"))
    tokens = plan.batch * architecture.sequence / row["gpus"]
    published = row["step_s"] if "step_s" in row else tokens / row["tokens_per_s_gpu"]
    kind = "experts" if architecture.experts else work.roof.software
    return Run(f"{row['run']}, {row['gpus']:,} {row.get('gpu', 'H100')}", kind, work, step_on(work, there), published)


def runs() -> list[Run]:
    """All runs that predictions are tested on."""
    return [*_tables(), *(run_of(row, RUNS["architectures"]) for row in RUNS["cases"])]


@cache
def further_runs() -> tuple[Run, ...]:
    """Runs that predictions are only held against."""
    return tuple(run_of(row, FURTHER["architectures"]) for row in FURTHER["cases"])


def fitted_runs() -> list[Run]:
    """Runs that factors of GPUs, FP4 and launches come from."""
    return [run_of(row, FITTED["architectures"]) for row in FITTED["cases"]]


@cache
def newer_runs() -> tuple[Run, ...]:
    """Runs of 2025 and 2026 that were predicted before terms were changed."""
    return tuple(run_of(row, NEWER["architectures"]) for row in NEWER["cases"])


@cache
def latest_runs() -> tuple[Run, ...]:
    """Runs of 2025 and 2026 that were predicted once before terms were changed in 2026-11; ``first`` is that error."""
    return tuple(run_of(row, LATEST["architectures"]) for row in LATEST["cases"])


def _tables() -> list[Run]:
    """Runs published as Tflop/s of a GPU: of its operations (Megatron-LM), of the model's (Llama 3)."""
    found = []
    for row in MEGATRON["cases"]:
        model = megatron(row)
        work = workload_of(model, ranks_of(model, model.plan, row["gpus"]), A100, None, "tuned")
        published = work.gpu_flops(hardware=True) / (TERA * row["tflops_per_gpu"])
        name = f"Narayanan GPT {row['parameters_b']}B, {row['gpus']:,} A100"
        found.append(Run(name, "tuned", work, step_on(work, SELENE), float(published)))
    for row in LLAMA["cases"]:
        model = llama(row)
        work = workload_of(model, ranks_of(model, model.plan, row["gpus"]), H100, None, "typical")
        published = work.gpu_flops(hardware=False) / (TERA * row["tflops_per_gpu"])
        name = f"Llama 3 405B, {row['gpus']:,} H100"
        found.append(Run(name, "typical", work, step_on(work, LLAMA_CLUSTER), float(published)))
    return found


def mean_error(found: Iterable[Run], kind: str) -> float:
    """The mean of absolute errors of a kind."""
    return fmean(abs(run.error) for run in found if run.kind == kind)


def calibrated(software: str) -> float:
    """The factor of a kind of software: the median over its calibration runs."""
    known = [run_of(row, CALIBRATION["architectures"]) for row in CALIBRATION["cases"]]
    return median(run.factor for run in known if run.work.roof.software == software)


def worst_first(found: Iterable[Run]) -> list[Run]:
    """Runs by kind, those with the largest errors first."""
    return sorted(found, key=lambda run: (KINDS.index(run.kind), -abs(run.error)))


def table(found: Sequence[Run]) -> str:
    """Runs as a table, worst rows of each kind first."""
    cells = [HEADING, ["---"] * len(HEADING)]
    for run in worst_first(found):
        shown = [f"{run.published_s:.4g} s", f"{float(run.step.step_s):.3g} s", f"{100 * run.error:+.0f} %"]
        cells.append([run.name, run.work.roof.software, *shown])
    for kind in KINDS:
        cells.append([f"mean of {kind}", "", "", "", f"{100 * mean_error(found, kind):.1f} %"])
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def sets() -> dict[str, Sequence[Run]]:
    """All runs but those of the calibration, by what they are for."""
    return {"tested": runs(), "fitted": fitted_runs(), "held out": held_out(), "latest": latest_runs()}


def _name(run: Run) -> tuple[str, str]:
    """What tells a run in files: its name, and the published step in seconds."""
    return run.name, f"{run.published_s:.4g}"


def _percent(run: Run) -> str:
    return f"{100 * run.error:+.1f}"


def data() -> str:
    """Runs as CSV, worst rows of each kind first; steps in seconds, errors in percent."""
    rows = [["run", "set", "kind", "software", "published_s", "predicted_s", "error_percent"]]
    for purpose, found in sets().items():
        for run in worst_first(found):
            (name, published), predicted = _name(run), f"{float(run.step.step_s):.3g}"
            rows.append([name, purpose, run.kind, run.work.roof.software, published, predicted, _percent(run)])
    return _csv(rows)


def _csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def errors() -> dict[tuple[str, str], list[float]]:
    """Errors in percent as they are computed now; runs of one name and step have the same plan on other software."""
    found: dict[tuple[str, str], list[float]] = {}
    for run in (run for these in sets().values() for run in these):
        found.setdefault(_name(run), []).append(float(_percent(run)))
    return found


def changed_terms() -> list[dict[str, str]]:
    """Runs whose error a change of a term moved, as they were recorded at that change, in its order."""
    return list(csv.DictReader(io.StringIO(TERMS_DATA.read_text())))


def record(term: str) -> None:
    """Add runs whose error is no longer that of the data on disk, under the name of the term that changed."""
    before: dict[tuple[str, str], list[str]] = {}
    for row in csv.DictReader(io.StringIO(FURTHER_DATA.read_text())):
        before.setdefault((row["run"], row["published_s"]), []).append(row["error_percent"])
    rows = [[row[column] for column in TERM_COLUMNS] for row in changed_terms() if row["term"] != term]
    for run in (run for these in sets().values() for run in worst_first(these)):
        was = before[_name(run)].pop(0)
        if was != _percent(run):
            concerned = CONCERNS[term](run.work.model.architecture, run.work.plan)
            rows.append([term, "yes" if concerned else "no", *_name(run), was, _percent(run)])
    TERMS_DATA.write_text(_csv([TERM_COLUMNS, *rows]))


def terms_table() -> str:
    """Terms that changed: how many runs each moved, and their errors before and after."""
    rows = ["| term | runs | before | after | better by a point | worse by a point | worst before | worst after |"]
    rows.append("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    terms: dict[str, list[tuple[float, float, str]]] = {}
    for row in changed_terms():
        figures = float(row["before_percent"]), float(row["after_percent"]), row["run"]
        terms.setdefault(row["term"], []).append(figures)
    for term, moved in terms.items():
        means = [f"{fmean(abs(one[side]) for one in moved):.1f} %" for side in (0, 1)]
        better, worse = (sum(sign * (abs(was) - abs(now)) > 1 for was, now, _ in moved) for sign in (1, -1))
        worst = [max(moved, key=lambda one, side=side: abs(one[side])) for side in (0, 1)]
        shown = [f"{one[side]:+.0f} %: {one[2]}" for side, one in enumerate(worst)]
        rows.append(f"| {' | '.join([term, str(len(moved)), *means, str(better), str(worse), *shown])} |")
    return "\n".join(rows)


def latest_table() -> str:
    """Errors of the latest runs by kind, GPU and number format: at first, and now."""
    rows = ["| kind | GPU | format | runs | at first | now | worst at first | worst now |"]
    rows.append("| --- | --- | --- | ---: | ---: | ---: | --- | --- |")
    groups: dict[tuple[str, str, str], list[tuple[float, float, str]]] = {}
    for run, row in zip(latest_runs(), LATEST["cases"], strict=True):
        one = (row["first"], 100 * run.error, run.name)
        gpu = run.name.rpartition(" ")[2], run.work.model.precision.compute
        for key in ((run.kind, *gpu), (run.kind, "all", "all")):
            groups.setdefault(key, []).append(one)
    for key, found in sorted(groups.items(), key=lambda item: (KINDS.index(item[0][0]), item[0][1] == "all", item[0])):
        figures = [f"{fmean(abs(one[side]) for one in found):.1f} %" for side in (0, 1)]
        worst = [max(found, key=lambda one, side=side: abs(one[side])) for side in (0, 1)]
        shown = [f"{one[side]:+.0f} %: {one[2]}" for side, one in enumerate(worst)]
        rows.append(f"| {' | '.join([*key, str(len(found)), *figures, *shown])} |")
    return "\n".join(rows)


def source_of(run: Run) -> str:
    """Who published a run: the first words of its name, without version and model."""
    bridge = "Megatron Bridge"
    return bridge if run.name.startswith(bridge) else run.name.partition(" ")[0]


def summary(found: Sequence[Run]) -> str:
    """Mean and worst errors by kind of run and by who published them, as a table."""
    rows = ["| kind | published by | runs | mean error | fastest against published | slowest against published |"]
    rows.append("| --- | --- | ---: | ---: | --- | --- |")
    for kind in KINDS:
        of_kind = [run for run in found if run.kind == kind]
        for source in [*sorted(set(map(source_of, of_kind))), "all"]:
            these = [run for run in of_kind if source in (source_of(run), "all")]
            ends = (min(these, key=lambda run: run.error), max(these, key=lambda run: run.error))
            figures = [str(len(these)), f"{100 * mean_error(these, kind):.1f} %"]
            figures += [f"{100 * run.error:+.0f} %: {run.name}" for run in ends]
            rows.append(f"| {' | '.join([kind, source, *figures])} |")
    return "\n".join(rows)


def by_generation(found: Sequence[Run]) -> str:
    """Mean error, mean with its sign, and the worst run of each kind, GPU and number format, as a table."""
    rows = ["| kind | GPU | format | runs | mean error | mean with its sign | worst |"]
    rows.append("| --- | --- | --- | ---: | ---: | ---: | --- |")
    groups: dict[tuple[int, str, str], list[Run]] = {}
    for run in found:
        key = KINDS.index(run.kind), run.name.rpartition(" ")[2], run.work.model.precision.compute
        groups.setdefault(key, []).append(run)
    for (kind, gpu, compute), these in sorted(groups.items()):
        worst = max(these, key=lambda run: abs(run.error))
        mean, signed = (100 * fmean(map(sign, these)) for sign in (lambda run: abs(run.error), lambda run: run.error))
        figures = [str(len(these)), f"{mean:.1f} %", f"{signed:+.1f} %", f"{100 * worst.error:+.0f} %: {worst.name}"]
        rows.append(f"| {' | '.join([KINDS[kind], gpu, compute, *figures])} |")
    for kind in KINDS:
        rows.append(f"| {kind} | all | all | | {100 * mean_error(found, kind):.1f} % | | |")
    rows.append(f"| all | all | all | {len(found)} | {100 * fmean(abs(run.error) for run in found):.1f} % | | |")
    return "\n".join(rows)


def scalings() -> Iterator[tuple[float, float]]:
    """Errors of typical runs that are predicted from the same on fewer servers, at least two: without what stragglers
    add, and with it.
    """
    known: dict[tuple[object, ...], list[Run]] = {}
    calibration = (run_of(row, CALIBRATION["architectures"]) for row in CALIBRATION["cases"])
    for run in (*held_out(), *runs(), *calibration):
        if run.kind == "typical" and run.work.servers > 1:
            plan = run.work.plan.model_copy(update={"batch": 1})
            key = run.work.model.architecture, run.work.model.precision, plan, run.name.rpartition(" ")[2]
            known.setdefault((*key, run.work.micro_batches), []).append(run)
    for these in known.values():
        first, *others = sorted(these, key=lambda run: run.work.servers)
        network = _servers()[first.name.rpartition(" ")[2]][1]
        busy_s = first.published_s - float(first.step.exposed_s)
        reached = Fraction(float(first.work.gpu_flops(hardware=False) / first.work.peak_flops) / busy_s)
        for run in (run for run in others if run.work.servers > first.work.servers):
            more = straggling("typical", first.work.servers) / straggling("typical", run.work.servers)
            steps = [step_on(replace(run.work, utilization=share), network) for share in (reached, reached * more)]
            without, grown = (float(step.step_s) / run.published_s - 1 for step in steps)
            yield without, grown


def held_out() -> list[Run]:
    """Runs that no constant comes from."""
    return [*further_runs(), *newer_runs()]


def page_with(text: str, new: str) -> str:
    """A page with its table of runs as it is now; the table is known by its heading."""
    heading = re.escape(new.partition("\n")[0])
    return re.sub(rf"{heading}.*?(?=\n\n|\Z)", lambda _: new, text, flags=re.DOTALL)


if __name__ == "__main__":
    for changed in sys.argv[1:]:
        record(changed)
    pages = (PAGE, table(runs())), (PAGE, by_generation(held_out())), (FURTHER_PAGE, summary(held_out()))
    pages += (FURTHER_PAGE, terms_table()), (FURTHER_PAGE, latest_table())
    for page, shown in pages:
        page.write_text(page_with(page.read_text(), shown))
        print(shown)
    FURTHER_DATA.write_text(data())
    print({software: round(calibrated(software), 3) for software in SOFTWARE_FACTORS})
