"""What every test has: no cache of the person who runs it, and hypothesis without a clock or chance."""

from __future__ import annotations

import gc
import hashlib
import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import HealthCheck, settings

from fabopt.cli import main
from tests.paths import LONG, ROOT, SHARED
from tests.samples.cli_samples import TINY, Ran, Run, write_case
from tests.samples.once import PATCHED
from tests.samples.system_parts import without

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile(
    "fabopt", deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("fabopt")

# Ten thousand tests are objects that stay: looking for garbage among them takes a tenth of the time. What stays is made
# while they are collected.
gc.set_threshold(1_000_000)
gc.disable()

# Twenty times as fast for tests that read what was written; what users write is read by ``fabopt.io.text``.
pytest.MonkeyPatch().setattr(yaml, "SafeLoader", yaml.CSafeLoader)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run take the first inputs of every test alone, or what takes long, or a share of it."""
    parser.addoption("--inputs", type=int, metavar="N", help="run each test on the first N sets of its parameters")
    parser.addoption("--long", action="store_true", help="run what takes long, and nothing else")
    parser.addoption("--share", metavar="K/N", help="of what takes long run the Kth of N shares, K from 0")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are processors: some tests wait, for signals, clocks and other programs."""
    return (os.cpu_count() or 1) + 1


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each process of a run begin to read its tests at another one: what one has rewritten, the others find."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    number, of = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    modules = list(modules_of(session.config))
    first = len(modules) * number // of
    for name in modules[first:] + modules[:first]:
        with suppress(Exception):  # told where it is collected
            import_module(name)


def modules_of(config: pytest.Config) -> Iterator[str]:
    """Modules of the tests that a run was asked for."""
    for name in config.args:
        path = config.invocation_params.dir / name.partition("::")[0]
        for file in sorted(path.rglob("test_*.py")) if path.is_dir() else (path,):
            if file.is_relative_to(ROOT):
                yield ".".join(file.relative_to(ROOT).with_suffix("").parts)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not asked for."""
    if not any("::" in name for name in config.args):
        refuse_unknown_ids(items)
    long = set(those_that_take_long(items))
    both = {item for item in items if item.get_closest_marker("drawn_longer")}
    if config.getoption("--long"):
        share = config.getoption("--share") or "0/1"
        which, shares = map(int, share.split("/"))
        keep(
            config, items, [item for item in items if item in long | both and share_of(item, shares) == which % shares]
        )
    elif not any("::" in name for name in config.args):  # what is asked for by its name is run
        keep(config, items, [item for item in items if item not in long])
    most = config.getoption("--inputs")
    if most is None:
        return
    seen: Counter[str] = Counter()
    kept = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        if seen[test] <= most:
            kept.append(item)
    keep(config, items, kept)


def keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    """Leave out all other tests."""
    left = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = kept


def those_that_take_long(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Tests, or sets of their parameters, that are left to ``make long``.

    ``long`` marks all of a test, ``long("8", "dgx")`` those of its sets that have these ids, ``long(but=("8", "dgx"))``
    all but these, and ``long(but_every=3)`` all of its sets but the first, the fourth, and so on.
    """
    seen: Counter[str] = Counter()
    for item in items:
        seen[item.nodeid.partition("[")[0]] += 1
        own = item.callspec.id if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ""
        for marker in item.iter_markers("long"):
            step = marker.kwargs.get("but_every")
            if marker.args:
                takes_long = own in marker.args
            elif step is not None:
                takes_long = seen[item.nodeid.partition("[")[0]] % step != 1
            else:
                takes_long = own not in marker.kwargs.get("but", ())
            if takes_long:
                yield item
                break


def refuse_unknown_ids(items: list[pytest.Item]) -> None:
    """A set that is kept by an id that no set has would be left to ``make long`` with all others."""
    nodes = {item.nodeid for item in items}
    for item in items:
        test = item.nodeid.partition("[")[0]
        for marker in item.iter_markers("long"):
            for own in marker.kwargs.get("but", ()):
                if f"{test}[{own}]" not in nodes:
                    raise pytest.UsageError(f"{test}: long(but=...) keeps {own!r}, which is the id of none of its sets")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what several processes find too late or not at all: files that are not there, shares that are none."""
    for name in config.args:
        if not (config.invocation_params.dir / name.partition("::")[0]).exists():
            raise pytest.UsageError(f"file or directory not found: {name}")
    if config.getoption("--long"):
        os.environ[LONG] = "1"
    share = config.getoption("--share")
    if share is not None and not re.fullmatch(r"[0-9]+/0*[1-9][0-9]*", share):
        raise pytest.UsageError(f"--share {share}: allowed is K/N in whole numbers, K counted from 0, such as 3/16")


def pytest_collection_finish() -> None:
    """Leave what stays out of every later search for garbage."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Let a share of what takes long be empty, but not that of a test which is asked for by its name."""
    named = any("::" in name for name in session.config.args)
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.getoption("--share") and not named:
        session.exitstatus = pytest.ExitCode.OK


def share_of(item: pytest.Item, shares: int) -> int:
    """The share that a test is in, by its name alone, so that a test that comes or goes moves no other."""
    return int(hashlib.sha256(item.nodeid.encode()).hexdigest(), 16) % shares


@pytest.fixture(autouse=True)
def heard_signals() -> Iterator[None]:
    """What a test leaves blocked would not be heard in any later test of its process."""
    yield
    deaf = signal.pthread_sigmask(signal.SIG_BLOCK, ()) & {signal.SIGINT, signal.SIGTERM, signal.SIGALRM}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, deaf)
    assert not deaf


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep parsed catalogs, and designs of shipped cases, in folders of this run that its processes share."""
    patch = pytest.MonkeyPatch()
    run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent
    for variable, name in (("XDG_CACHE_HOME", "cache"), (SHARED, "shipped")):
        folder = run / name
        folder.mkdir(exist_ok=True)
        patch.setenv(variable, str(folder))


@pytest.fixture(scope="session", autouse=True)
def read_once() -> None:
    """Let each process read the reference catalog once, which no test changes where it is."""
    from fabopt.io import catalog

    read = catalog._read_one
    kept = cache(read)
    reference = ROOT / "catalogs" / "reference"
    pytest.MonkeyPatch().setattr(catalog, "_read_one", lambda path: (kept if path == reference else read)(path))


@pytest.fixture(autouse=True)
def own_answers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a test that may patch the package solve for itself."""
    with pytest.MonkeyPatch.context() as patch:
        if {"monkeypatch", "patched"} & set(request.fixturenames):
            patch.setenv(PATCHED, "1")
        yield


@pytest.fixture
def unadvised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask nothing of what would help where there is no design: for tests of the verdict alone."""
    monkeypatch.setattr("fabopt.explain.conflicts.MOST_QUESTIONS", 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a working folder with the tiny catalog and a case for it: ``acme.yaml``, ``case.yaml``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FABOPT_DEBUG", raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    shutil.copy(TINY, "acme.yaml")
    write_case()
    return work


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command as typed in this process; no traceback may appear."""

    def ran(*arguments: str) -> Ran:
        capfd.readouterr()
        code = main(arguments)
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Ran(code, out, err)

    return ran


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of this machine.

    Tests of pages are skipped where there is none, and fail with ``CI=true``.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        without(f"there is no browser: {', '.join(BROWSERS)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        running = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()
