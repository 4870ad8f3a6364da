"""What pytest does differently where faults are seeded: it records what tests reach and take, or runs those that do.

Loaded by ``-p tests.faults.plugin`` in one process. The environment says what to do: ``FABOPT_FAULTS_RECORD`` names a
file of JSON lines, one for each test that has run, which are not run again; ``FABOPT_FAULTS_TESTS`` one with tests and
their processor seconds, in the order in which they run.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from tests.faults.seeds import all_faults, keys
from tests.paths import ROOT

RECORD, CHOSEN, END = "FABOPT_FAULTS_RECORD", "FABOPT_FAULTS_TESTS", "FABOPT_FAULTS_END"
# A test hangs that takes this many seconds more than ten times what it takes without a fault.
HANGS_S = 20


def cpu_s() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


# -- probes ---------------------------------------------------------------------------------------------------------


class Probes(importlib.machinery.SourceFileLoader):
    """A module in which each statement with a fault to come first says that it was reached."""

    def __init__(self, name: str, file: str, lines: dict[int, list[int]]) -> None:
        super().__init__(name, file)
        self.lines = lines

    def get_code(self, fullname: str) -> CodeType:
        """The code with probes; compiled anew each time."""
        tree = ast.parse(Path(self.path).read_bytes())
        for node in ast.walk(tree):
            for block in ("body", "orelse", "finalbody"):
                body = getattr(node, block, None)
                if isinstance(body, list):
                    setattr(node, block, [new for statement in body for new in self.probed(statement)])
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

    def probed(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        for fault in self.lines.get(statement.lineno, ()):
            yield from ast.parse(f"_reached_fault({fault})").body
        yield statement


class Finder:
    """Finds modules that are to have faults."""

    def __init__(self) -> None:
        self.lines: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        here = all_faults(ROOT, keys())
        for number, key in enumerate(keys()):
            if key in here:
                self.lines[str(ROOT / here[key].path)][here[key].statement].append(number)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module with probes, if it is one of those."""
        if not name.startswith("fabopt"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin not in self.lines:
            return None
        return importlib.util.spec_from_file_location(
            name,
            spec.origin,
            loader=Probes(name, spec.origin, self.lines[spec.origin]),
            submodule_search_locations=spec.submodule_search_locations,
        )


# -- hooks ----------------------------------------------------------------------------------------------------------


class Recorder:
    """Writes of each test what it reached, and the processor seconds of its fixtures and of itself."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.reached: set[int] = set()
        self.steps: dict[str, float] = {}
        self.outcome = "passed"
        self.started = time.time()
        vars(builtins)["_reached_fault"] = self.reached.add
        sys.meta_path.insert(0, Finder())

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what has run."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        done = {json.loads(line)["test"] for line in lines}
        self.write(f"#collected {'+'.join(config.args)}", cpu_s())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
        items[:] = [item for item in items if item.nodeid not in done]

    def write(self, test: str, seconds: float) -> None:
        line = {"test": test, "cpu_s": round(seconds, 4), "steps": self.steps, "outcome": self.outcome}
        with self.file.open("a") as out:
            out.write(json.dumps(line | {"reached": sorted(self.reached)}) + "\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Time a test, and end the run when its time is over."""
        self.reached.clear()
        self.steps, self.outcome, before = {}, "passed", cpu_s()
        given = yield
        self.write(item.nodeid, cpu_s() - before)
        if time.time() > float(os.environ.get(END, "inf")):
            item.session.shouldstop = "the time is over"
        return given

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep whether it failed."""
        self.steps[report.when or ""] = round(cpu_s(), 3)
        if report.outcome != "passed":
            self.outcome = report.outcome


class Chosen:
    """Runs tests in the order of a file, and fails one that hangs."""

    def __init__(self, file: Path) -> None:
        self.seconds: dict[str, float] = json.loads(file.read_text())
        signal.signal(signal.SIGPROF, self.hangs)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Order them."""
        at = {test: number for number, test in enumerate(self.seconds)}
        items[:] = sorted((item for item in items if item.nodeid in at), key=lambda item: at[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Wind the clock."""
        signal.setitimer(signal.ITIMER_PROF, HANGS_S + 10 * self.seconds[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def hangs(self, number: int, frame: FrameType | None) -> None:
        pytest.exit("a test hangs", returncode=pytest.ExitCode.TESTS_FAILED)


def pytest_configure(config: pytest.Config) -> None:
    """Take the way that the environment asks for."""
    if CHOSEN in os.environ:
        config.pluginmanager.register(Chosen(Path(os.environ[CHOSEN])))


def early() -> Any:
    return Recorder(Path(os.environ[RECORD])) if RECORD in os.environ else None


_RECORDER = early()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Record from before the package is imported."""
    if _RECORDER is not None:
        pluginmanager.register(_RECORDER)
