"""``make quick``: style, types, and the tests that a change needs, in less than a minute on two cores.

    python -m tests.quick [BASE]

A change is what differs from where the branch left BASE (``main``), committed or not; on BASE itself, with nothing
changed, the last commit. Tests are asked in this order: the shape of the code; test files that changed, or that name a
module that changed; the other tests of its room. Those marked slow are left out, but for the commands of a page that
changed. When time is over the rest are skipped, and counted: ``make test`` runs them all.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

import pytest

from tests.paths import ROOT, TESTS

# Seconds from the start after which no test is begun; what runs then, and mypy, end within the minute.
LAST_START_S = 40
SHAPE = "tests/test_structure.py"
STARTED, PAGES = "FABOPT_QUICK_STARTED", "FABOPT_QUICK_PAGES"
# Tests of what is no module, by the top of its path.
OTHERS = {
    "catalogs": ("tests/io", "tests/parts"),
    "cases": ("tests/solution/test_cases.py",),
    "docs": ("tests/test_docs.py", "tests/test_site.py", "tests/test_tasks.py"),
    "fabopt/design": ("tests/solution",),
    "fabopt/schema": ("tests/io",),
    "models": ("tests/workload/test_models.py",),
    "tests/errors": ("tests/io/test_errors.py",),
    "tests/published": ("tests/solution/test_published.py", "tests/workload"),
}


# -- what to run ----------------------------------------------------------------------------------------------------


def output_of(*words: str) -> list[str]:
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def changed_files(base: str) -> list[str]:
    """Files that differ from where the branch left ``base``, and new ones; else those of the last commit."""
    known = [*output_of("git", "for-each-ref", "--format=%(refname:short)"), "HEAD"]
    left = next(name for name in (base, f"origin/{base}", "HEAD") if name in known)
    start = output_of("git", "merge-base", "HEAD", left)[0]
    found = output_of("git", "diff", "--name-only", start)
    found += output_of("git", "ls-files", "--others", "--exclude-standard")
    return found or output_of("git", "diff", "--name-only", "HEAD~1")


def names_of(path: str) -> re.Pattern[str]:
    """How a test names a module: whole, or from its package."""
    package, _, name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".").rpartition(".")
    return re.compile(rf"\b{re.escape(package)}(?:\.{name}\b| import (?:\([^)]*|[^\n(]*)\b{name}\b)")


def tests_naming(modules: Sequence[str], texts: dict[str, str]) -> Iterator[str]:
    """Test files that import one of some modules."""
    patterns = [names_of(module) for module in modules]
    yield from (name for name, text in texts.items() if any(pattern.search(text) for pattern in patterns))


def tests_around(path: str) -> Iterator[str]:
    """Files and folders with tests of a file that is no test."""
    yield from (test for top, tests in OTHERS.items() if path.startswith(f"{top}/") for test in tests)
    if path.endswith(".md"):
        yield from OTHERS["docs"]
    if path.startswith("fabopt/"):
        yield f"tests/{path.split('/')[1]}"


def wanted(changed: Iterable[str]) -> list[str]:
    """Test files and folders for changed files, the nearest first, each once."""
    paths = list(changed)
    texts = {file.relative_to(ROOT).as_posix(): file.read_text() for file in sorted(TESTS.rglob("test_*.py"))}
    modules = [path for path in paths if path.endswith(".py") and path not in texts]
    near = [path for path in paths if path in texts]
    found = [*near, *tests_naming(modules, texts)]
    found += [test for path in paths for test in tests_around(path) if (ROOT / test).exists()]
    return list(dict.fromkeys(found))


# -- what pytest does differently, in every worker ------------------------------------------------------------------


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out, but for the commands of pages that changed."""
    pages = os.environ[PAGES].split()
    slow = [item for item in items if item.get_closest_marker("slow")]
    left_out = {item for item in slow if not any(item.nodeid.endswith(f"[{page}]") for page in pages)}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin nothing when time is over: `make quick` ends within its minute, and says what it left to `make test`."""
    if time.time() > float(os.environ[STARTED]) + LAST_START_S:
        pytest.skip("no time left: `make test` runs it")


# -- the run --------------------------------------------------------------------------------------------------------


def module(*words: str) -> subprocess.Popen[bytes]:
    """Start a tool of this environment."""
    return subprocess.Popen([sys.executable, "-m", *words], cwd=ROOT)


def main(base: str = "main") -> int:
    """Run style, types and tests; 0 if all is well."""
    os.environ[STARTED] = str(time.time())
    changed = changed_files(base)
    os.environ[PAGES] = " ".join(path for path in changed if path.endswith(".md"))
    style = [module("ruff", *words, ".").wait() for words in (("check",), ("format", "--check"))]
    types = module("mypy")
    tests = [test for test in wanted(changed) if test != SHAPE]
    print(f"{len(changed)} files changed: {' '.join([SHAPE, *tests])}", flush=True)
    tested = [module("pytest", SHAPE).wait()]
    if tests:
        tested.append(module("pytest", "-p", "tests.quick", "-n", "auto", "--maxschedchunk", "4", *tests).wait())
    return int(any([*style, *tested, types.wait()]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
