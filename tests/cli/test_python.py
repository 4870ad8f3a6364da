"""The Python face: progress, cancelling, and what notebooks show."""

from __future__ import annotations

import importlib.util
import itertools
import json
import threading

import pytest

import fabopt
from tests.paths import ROOT

CASE = {"name": "small", "server": "generic-hgx-h100", "gpus": 64, "workload": {"profile": "inference"}}
NOTEBOOK = ROOT / "docs" / "example.ipynb"


def test_progress_tells_the_answer_and_each_change_once() -> None:
    seen: list[fabopt.Progress] = []
    result = fabopt.solve(CASE, progress=seen.append, alternatives_s=0)
    assert all(before != after for before, after in itertools.pairwise(seen))
    assert result.design.totals is not None
    assert seen[-1].best == seen[-1].bound == result.design.totals.capex_usd
    assert all(one.share is None or 0 <= one.share <= 1 for one in seen)


def test_a_solve_that_is_cancelled_before_it_begins_has_no_answer() -> None:
    cancel = threading.Event()
    cancel.set()
    result = fabopt.solve(CASE, cancel=cancel)
    assert result.status == "unknown" and any("it was cancelled" in note for note in result.design.notes)


@pytest.mark.long("False")
@pytest.mark.parametrize("in_thread", [False, True])
def test_a_solve_that_is_cancelled_keeps_the_best_design_met(in_thread: bool) -> None:
    """Cancelled once a design is met, in the main thread and in another one, where no timer rings."""
    cancel, results = threading.Event(), list[fabopt.Result]()

    def watch(progress: fabopt.Progress) -> None:
        if progress.best is not None:
            cancel.set()

    def solve() -> None:
        results.append(fabopt.solve(CASE, progress=watch, cancel=cancel))

    if in_thread:
        thread = threading.Thread(target=solve)
        thread.start()
        thread.join(60)
    else:
        solve()
    (result,) = results
    assert result.status in ("optimal", "feasible") and result.checks and all(check.ok for check in result.checks)
    assert not result.design.alternatives


def test_notebooks_show_texts_as_texts() -> None:
    """A name with markup is escaped; there is no script and no link."""
    design = fabopt.solve(CASE, alternatives_s=0).design
    hostile = design.case.model_copy(update={"name": "<script>alert(1)</script>"})
    shown = fabopt.Result(design.model_copy(update={"case": hostile}))._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown and "href" not in shown


@pytest.mark.long
def test_the_example_notebook_shows_what_its_cells_give(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("run_notebook", ROOT / "docs" / "run_notebook.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(ROOT)
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert module.with_outputs(kept) == kept, "run: python docs/run_notebook.py docs/example.ipynb"
