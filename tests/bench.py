"""Speed as ratios measured in one run: ``python -m tests.bench``, or ``make bench``. See docs/benchmarks.md.

Every figure is the best of a few runs of a fresh process, wall clock. Ratios are against bare imports measured in the
same run, so that they mean the same on every machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.paths import ROOT
from tests.samples.lengths import with_lengths
from tests.studio.bench import address_s, change_to_answer_s

DEMO = ROOT / "cases" / "finetuning-1024-gpus.yaml"
FOUR = ROOT / "cases" / "four-fabrics-1024-gpus.yaml"
PYTHON = sys.executable
# The answer alone, and with what else there is: the commands take these options.
ANSWERS = {"the answer alone": ("--alternatives", "0"), "with alternatives": ()}
FABOPT = [PYTHON, "-m", "fabopt"]
TYPER = [PYTHON, "-c", "import typer"]
LIBRARIES = [PYTHON, "-c", "from ortools.sat.python import cp_model; import pulp, pydantic"]
SOLVE_ALONE = [
    PYTHON, "-c",
    "import sys; from fabopt.io.case import inputs_from_objects; from fabopt.solution import optimize; "
    "optimize.solve(inputs_from_objects(sys.argv[1]), alternatives_s=0)",
]  # fmt: skip
SIZED = "name: sized\nserver: generic-hgx-h100\ngpus: {gpus}\nworkload: {{profile: pretraining}}\n"
HALL = "site: {{servers_per_rack: 4, floor: {{rows: {rows}, racks_per_row: {racks}}}}}\n"
TRUNKED = (
    "name: hall\nserver: nvidia-dgx-h100\ngpus: {gpus}\nfabrics: [{{name: compute, protocol: infiniband}}]\n"
    "site: {{servers_per_rack: 4, floor: {{rows: {rows}, racks_per_row: {racks}}}, "
    "cabling: {{leaf-spine: structured, spine-core: structured, spare_legs: 0.1}}}}\n"
)
# Linux gives ru_maxrss in KiB, macOS in bytes.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
PATIENCE_S = 120.0
# As users run it: modules are compiled once, not in every process.
USERS = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True)
class Run:
    """One process: seconds, and peak memory in bytes (its own, not of the processes before it)."""

    seconds: float
    rss_bytes: int


@dataclass(frozen=True)
class Row:
    """A line of the table. ``target`` is an upper bound in the same unit; None: for information."""

    what: str
    figure: float
    unit: str
    target: float | None = None

    def __str__(self) -> str:
        met = "" if self.target is None else ("met" if self.figure <= self.target else "MISSED")
        target = "" if self.target is None else f"< {self.target:g} {self.unit}"
        return f"| {self.what:<88} | {self.figure:>8.2f} {self.unit:<3} | {target:<9} | {met:<6} |"


def run(command: Sequence[str], patience_s: float = 600.0) -> Run | None:
    """Run a process and wait; None if it is still at it after ``patience_s`` (it is ended then). Raises if it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=USERS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        seconds = time.perf_counter() - started
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")
            return Run(seconds, usage.ru_maxrss * RSS_UNIT)
        if seconds > patience_s:
            process.kill()
            process.wait()
            return None
        time.sleep(0.002)


def best(command: Sequence[str], times: int) -> Run:
    """The fastest of some runs; memory is the most of any."""
    runs = [one for one in (run(command) for _ in range(times)) if one is not None]
    return Run(min(one.seconds for one in runs), max(one.rss_bytes for one in runs))


def ratios(times: int) -> list[Row]:
    """Start-up and the demo case against the imports that they cannot avoid. Runs alternate: noise hits both."""
    typer, libraries, help_ = [], [], []
    demo: dict[str, list[float]] = {what: [] for what in ANSWERS}
    for _ in range(times):
        typer.append(best(TYPER, 1).seconds)
        help_.append(best([*FABOPT, "--help"], 1).seconds)
        libraries.append(best(LIBRARIES, 1).seconds)
        for what, options in ANSWERS.items():
            demo[what].append(best([*FABOPT, "solve", str(DEMO), *options], 1).seconds)
    return [
        Row("python -c 'import typer'", min(typer), "s"),
        Row("fabopt --help", min(help_), "s"),
        Row("  ratio to the import", min(help_) / min(typer), "x", 2.5),
        Row("import of ortools, pulp and pydantic", min(libraries), "s"),
        *against_imports("fabopt solve, 1,024 GPUs, whole reference catalog", demo, libraries),
    ]


def against_imports(what: str, runs: dict[str, list[float]], libraries: list[float]) -> Iterator[Row]:
    """The seconds of a case by what was asked for, each against the imports."""
    for answers, seconds in runs.items():
        yield Row(f"{what}, {answers}", min(seconds), "s")
        yield Row("  ratio to the imports", min(seconds) / min(libraries), "x", 4)


def until_shown_s(options: Sequence[str]) -> float:
    """Seconds until the last line of the demo's answer, which says what is proven, is on the screen."""
    started = time.perf_counter()
    command = [*FABOPT, "solve", str(DEMO), *options]
    with subprocess.Popen(command, cwd=ROOT, env=USERS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        seconds = next(time.perf_counter() - started for line in process.stdout if line.startswith(b"Proof"))
        process.stdout.read()
    return seconds


def screens(times: int) -> list[Row]:
    """When the answer is on the screen if others are compared with it, against none. Runs alternate."""
    shown: dict[str, list[float]] = {what: [] for what in ANSWERS}
    for _ in range(times):
        for what, options in ANSWERS.items():
            shown[what].append(until_shown_s(options))
    alone, compared = (min(seconds) for seconds in shown.values())
    return [
        Row("the answer of the demo on the screen, others compared with it after that", compared, "s"),
        Row("  ratio to the answer alone", compared / alone, "x", 1.05),
    ]


def studio(times: int) -> list[Row]:
    """From a change of the demo to its answer in the studio, against the command less the imports. Runs alternate."""
    text, alone, imports, opened = DEMO.read_text(), list[float](), list[float](), list[float]()
    for _ in range(times):
        alone.append(best([*FABOPT, "solve", str(DEMO), "--alternatives", "0"], 1).seconds)
        imports.append(best([PYTHON, "-c", "import fabopt.cli.app, fabopt.solution.optimize"], 1).seconds)
        opened.append(address_s([*FABOPT, "studio", "--no-browser"]))
    changed = min(change_to_answer_s(text, text.replace("gpus: 1024", "gpus: 512"), times))
    return [
        Row("fabopt studio, until it prints its address", min(opened), "s"),
        Row("studio: from a change of the demo to its answer", changed, "s"),
        Row("  ratio to the answer alone less its imports", changed / (min(alone) - min(imports)), "x", 1.2),
    ]


def networks(times: int) -> list[Row]:
    """Four fabrics of 1,024 GPUs against the compute fabric of the same case alone. Runs alternate."""
    with tempfile.TemporaryDirectory() as folder:
        content = yaml.safe_load(FOUR.read_text())
        content["fabrics"] = content["fabrics"][:1]
        alone = Path(folder) / "compute.yaml"
        alone.write_text(yaml.safe_dump(content))
        all_, one = [], []
        for _ in range(times):
            all_.append(best([*FABOPT, "solve", str(FOUR)], 1).seconds)
            one.append(best([*FABOPT, "solve", str(alone)], 1).seconds)
    return [
        Row("fabopt solve, 1,024 GPUs, four fabrics, whole reference catalog", min(all_), "s"),
        Row("  ratio to its compute fabric alone", min(all_) / min(one), "x", 3),
    ]


def large(folder: Path, times: int) -> list[Row]:
    """16,384 and 100,000 GPUs with the whole reference catalog."""
    rows = []
    for gpus, seconds in ((16_384, 5), (100_000, 15)):
        case = folder / f"gpus-{gpus}.yaml"
        case.write_text(SIZED.format(gpus=gpus))
        for what, options in ANSWERS.items():
            done = best([*FABOPT, "solve", str(case), *options], times)
            rows.append(
                Row(f"fabopt solve, {gpus:,} GPUs, whole reference catalog, {what}", done.seconds, "s", seconds)
            )
            rows.append(Row("  peak memory", done.rss_bytes / 1e9, "GB", 1))
    return rows


def families(folder: Path, times: int) -> list[Row]:
    """16,384 GPUs over all families against Clos alone, without alternatives. Runs alternate."""
    seconds: dict[str, list[float]] = {"clos": [], "any": []}
    for name in seconds:
        (folder / f"{name}.yaml").write_text(
            SIZED.format(gpus=16_384) + f"fabrics: [{{name: compute, topologies: [{name}]}}]\n"
        )
    for _ in range(times):
        for name, runs in seconds.items():
            runs.append(best([*SOLVE_ALONE, str(folder / f"{name}.yaml")], 1).seconds)
    clos, all_ = (min(runs) for runs in seconds.values())
    return [
        Row("16,384 GPUs, Clos alone, without alternatives", clos, "s"),
        Row("  all families: how much longer", all_ - clos, "s", 5),
    ]


def halls(folder: Path, times: int) -> list[Row]:
    """Clusters on a floor plan, the smaller one against the imports. Runs alternate."""
    rows = []
    for gpus, lines, racks, seconds in ((1024, 4, 16, None), (16384, 20, 32, 20)):
        case = folder / f"hall-{gpus}.yaml"
        case.write_text(SIZED.format(gpus=gpus) + HALL.format(rows=lines, racks=racks))
        libraries: list[float] = []
        hall: dict[str, list[float]] = {what: [] for what in ANSWERS}
        for _ in range(times):
            libraries.append(best(LIBRARIES, 1).seconds)
            for what, options in ANSWERS.items():
                hall[what].append(best([*FABOPT, "solve", str(case), *options], 1).seconds)
        what = f"fabopt solve, {gpus:,} GPUs on a floor of {lines} x {racks} racks"
        if seconds is None:
            rows += against_imports(what, hall, libraries)
        else:
            rows += [Row(f"{what}, {answers}", min(runs), "s", seconds) for answers, runs in hall.items()]
    return rows


def trunked_halls(folder: Path, times: int) -> list[Row]:
    """Structured cabling: a hall that is proven, and one that is bounded within its time limit."""
    rows = []
    for gpus, lines, racks, seconds in ((4096, 8, 20, 20), (16384, 16, 40, 60)):
        case = folder / f"trunked-{gpus}.yaml"
        case.write_text(TRUNKED.format(gpus=gpus, rows=lines, racks=racks))
        run = best([*FABOPT, "solve", str(case), "--alternatives", "0", "--time-limit", "60"], times)
        what = f"fabopt solve, {gpus:,} GPUs through trunks on a floor of {lines} x {racks} racks, the answer alone"
        rows.append(Row(what, run.seconds, "s", seconds))
    return rows


FRONT = ["--minimize", "capex_usd", "--maximize", "gbps_per_gpu"]
GRID = ["--over", "fabrics.compute.max_oversubscription=1:3:5", "--over", "gpus=512:1536:5"]


def fronts(folder: Path, times: int) -> list[Row]:
    """Sweeps against one solve, a front of many GPUs, and two processes against one."""
    solve, budgets = [], []
    for _ in range(times):
        solve.append(best([*FABOPT, "solve", str(DEMO)], 1).seconds)
        budgets.append(best([*FABOPT, "sweep", str(DEMO), "--budget", "1M:6M:20"], 1).seconds)
    case = folder / "front.yaml"
    case.write_text(SIZED.format(gpus=16_384))
    front = best([*FABOPT, "pareto", str(case), *FRONT], times)
    watts = best([*FABOPT, "pareto", str(DEMO), "--minimize", "capex_usd", "--minimize", "power_w"], times)
    alone = best([*FABOPT, "sweep", str(DEMO), *GRID], times)
    both = best([*FABOPT, "sweep", str(DEMO), *GRID, "--jobs", "2"], times)
    return [
        Row("fabopt sweep, 1,024 GPUs, 20 budgets", min(budgets), "s"),
        Row("  ratio to one fabopt solve in the same run", min(budgets) / min(solve), "x", 3),
        Row("fabopt pareto, 16,384 GPUs, capex against gbps_per_gpu", front.seconds, "s", 30),
        Row("fabopt pareto, 1,024 GPUs, capex against power, all points", watts.seconds, "s"),
        Row("fabopt sweep, 25 cells of the 1,024-GPU case, one process", alone.seconds, "s"),
        Row("  two processes: how many times as fast", alone.seconds / both.seconds, "x"),
    ]


def priced(dice: random.Random, usd: float) -> list[dict[str, float]]:
    """A price that differs from product to product, with two breaks."""
    base = usd * dice.uniform(0.9, 1.3)
    steps = (
        (1, 1.0),
        (dice.randint(20, 200), dice.uniform(0.93, 0.99)),
        (dice.randint(400, 2000), dice.uniform(0.85, 0.92)),
    )
    return [{"from": start, "usd": round(base * share, 2)} for start, share in steps]


def market(seed: int = 1) -> dict[str, object]:
    """A catalog of 500 items, each with price breaks: switches and cards of 400G, and what joins them."""
    dice = random.Random(seed)
    optics = {"split": "1x400", "standard": "400G-DR4", "fibre": "smf", "connector": "MPO-12-APC", "reach_m": 500}
    cage = {"form_factor": "QSFP-DD", "splits": ["1x400"]}
    card = {"form_factor": "QSFP112", "splits": ["1x400"]}
    ends = ({"form_factor": "QSFP-DD", "split": "1x400"}, {"form_factor": "QSFP112", "split": "1x400"})

    def lengths(usd: float) -> list[dict[str, object]]:
        return [{"m": m, "price_usd": priced(dice, usd + m)} for m in (3, 30, 50)]

    return {
        "switches": [
            {"id": f"switch-{n}", "protocol": "ethernet", "cages": [{"count": 32 * (1 + n % 2), **cage}],
             "power_w": 500 + 400 * (n % 2), "price_usd": priced(dice, 20_000 * (1 + n % 2))}
            for n in range(50)
        ],
        "nics": [
            {"id": f"card-{n}", "protocols": ["ethernet"], "cages": [{"count": 1, **card}], "power_w": 20,
             "price_usd": priced(dice, 1500)}
            for n in range(20)
        ],
        "transceivers": [
            {"id": f"module-{n}", "form_factor": ("QSFP-DD", "QSFP112")[n % 2], "power_w": 9,
             "price_usd": priced(dice, 600), **optics}
            for n in range(70)
        ],
        "cables": [
            {"id": f"cable-{n}", "medium": "DAC", "power_w": 0.1, "lengths": lengths(200),
             "ends": [ends[0], ends[n % 2]]}
            for n in range(60)
        ],
        "fibres": [
            {"id": f"fibre-{n}", "fibre": "smf", "connectors": ["MPO-12-APC"] * 2, "lengths": lengths(60)}
            for n in range(60)
        ],
        "servers": [{"id": "box", "gpus": 8, "nic_slots": 8, "power_w": 10_000}],
    }  # fmt: skip


def purchases(folder: Path, limit_s: float = 5) -> list[Row]:
    """500 items, all with breaks, bought over four stages."""
    (folder / "market.yaml").write_text(yaml.safe_dump(market()))
    stages = [{"name": f"stage-{n}", "month": 6 * n, "servers": 32 * (n + 1)} for n in range(4)]
    content = {
        "name": "market", "catalog": ["./market.yaml"], "server": "box", "stages": stages, "objective": "tco_usd",
        "finance": {"discount_rate": 0.08, "price_decline": {"transceiver": 0.15, "switch": 0.05}},
    }  # fmt: skip
    case, answer = folder / "market-case.yaml", folder / "market.json"
    case.write_text(yaml.safe_dump(content))
    done = best([*FABOPT, "solve", str(case), "--json", str(answer), "--time-limit", str(limit_s)], 1)
    objective = json.loads(answer.read_text())["objective"]
    what = f"fabopt solve, 1,024 GPUs in 4 stages, 500 items, breaks on all, --time-limit {limit_s:g}"
    gap = [] if objective["gap"] is None else [Row("  gap", 100 * objective["gap"], "%")]
    return [Row(what, done.seconds, "s", 10), *gap]


# Shipped cases whose answer alone is held against that of another commit, and how much longer it may take.
COMPARED = ("finetuning-1024-gpus", "four-fabrics-1024-gpus", "hall-1024-gpus", "roce-24576-gpus")
MOST_RATIO = 1.05
# Garbage is looked for as seldom as in a command: else one more object may cost a look at all that was imported.
OF_PROCESS = (
    "import gc, sys, time; gc.set_threshold(300_000); "
    "from fabopt.io.case import inputs_from_objects; from fabopt.solution import optimize; "
    "inputs = inputs_from_objects(sys.argv[1]); began = time.process_time(); "
    "optimize.solve(inputs, alternatives_s=0); print(time.process_time() - began)"
)


def against(commit: str, folder: Path, times: int) -> list[Row]:
    """Processor seconds of the answer alone here over those at a commit, each solved in turn in one run.

    The commit is checked out beside, in a work tree of git that is taken away afterwards. Both packages read that
    commit's cases and catalog, so that they do the same work; what more parts cost here has a row of its own.
    """
    other = folder / "other"
    subprocess.run(["git", "worktree", "add", "--detach", "--quiet", str(other), commit], cwd=ROOT, check=True)
    try:
        rows = []
        for name in COMPARED:
            pairs = {"here": (ROOT, other), "there": (other, other), "with parts of today": (ROOT, ROOT)}
            spent: dict[str, list[float]] = {who: [] for who in pairs}
            for _ in range(times):
                for who, (package, inputs) in pairs.items():
                    spent[who].append(processor_s(package, inputs, name))
            here, there, today = (min(seconds) for seconds in spent.values())
            rows += [
                Row(f"{name}: processor seconds here; at {commit} {there:.2f}", here, "s"),
                Row("  ratio to the commit, on the same inputs", here / there, "x", MOST_RATIO),
                Row("  ratio of the case and catalog of today to that", today / there, "x"),
            ]
        return rows
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=True)


def processor_s(package: Path, inputs: Path, name: str) -> float:
    """Processor seconds of the answer alone to a shipped case, by the package of a work tree with those of one.

    A package reads what lies beside its own folder, so both are put into one folder.
    """
    with tempfile.TemporaryDirectory() as folder:
        for tree, parts in ((package, ("fabopt",)), (inputs, ("cases", "catalogs", "models"))):
            for part in parts:
                (Path(folder) / part).symlink_to(tree / part)
        command, environment = [PYTHON, "-c", OF_PROCESS, f"cases/{name}.yaml"], {**USERS, "PYTHONPATH": folder}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    return float(done.stdout)


# One model of all of it, in a process of its own: before it is searched it is long to make, and nothing ends that.
DIRECT = (
    "import json, sys; from tests.oracles.direct_cpsat import solve_direct; "
    "from tests.program.test_direct_formulation import reference; "
    "print(json.dumps(solve_direct(reference(), json.load(sys.stdin), float(sys.argv[1]))[:2]))"
)


def direct(patience_s: float) -> list[str]:
    """The demo on one and two tiers over 3 and 30 m, told to CP-SAT as one model of all of it, and as fabopt does it.

    Ours in this process, imports and reading done before, without alternatives; the model within ``patience_s``.
    """
    from fabopt.io.case import inputs_from_objects
    from fabopt.solution import optimize

    content = with_lengths(yaml.safe_load(DEMO.read_text()))
    content["fabrics"][0]["tiers"] = [1, 2]
    inputs = inputs_from_objects(content)
    started = time.perf_counter()
    design = optimize.solve(inputs, alternatives_s=0)
    ours = time.perf_counter() - started
    command = [PYTHON, "-c", DIRECT, str(patience_s / 4)]  # for each of two protocols, once their models are made
    started = time.perf_counter()
    try:
        told = subprocess.run(
            command, cwd=ROOT, env=USERS, input=json.dumps(content), capture_output=True, text=True, check=True,
            timeout=patience_s,
        ).stdout  # fmt: skip
    except subprocess.TimeoutExpired:
        done = f"not finished in {patience_s:.0f} s"
    else:
        status, cents = json.loads(told)
        found = "no design" if cents is None else f"{cents / 100:,.2f} USD"
        done = f"{status} in {time.perf_counter() - started:.1f} s, {found}"
    return [
        "",
        "1,024 GPUs, one and two tiers, whole reference catalog:",
        f"  fabopt                     {design.status} in {ours:.1f} s, {design.objective.value:,.2f} USD",
        f"  one direct CP-SAT model    {done}",
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="runs of each short command; the best counts")
    parser.add_argument("--patience", type=float, default=PATIENCE_S, help="seconds for the direct model")
    parser.add_argument("--against", metavar="COMMIT", help="only the answers alone, against those of a commit")
    given = parser.parse_args()
    print(f"| {'what':<88} | {'measured':<12} | {'target':<9} | {'':<6} |")
    print(f"| {'-' * 88} | {'-' * 12} | {'-' * 9} | {'-' * 6} |")
    with tempfile.TemporaryDirectory() as folder:
        few, here = max(1, given.times // 2), Path(folder)
        if given.against:
            print(*against(given.against, here, given.times), sep="\n")
            return
        for rows in (
            ratios(given.times),
            screens(given.times),
            studio(given.times),
            networks(few),
            large(here, few),
            families(here, few),
            halls(here, few),
            trunked_halls(here, few),
            fronts(here, few),
        ):
            print(*rows, sep="\n", flush=True)
        print(*purchases(here), sep="\n", flush=True)
    print(*direct(given.patience), sep="\n")


if __name__ == "__main__":
    main()
