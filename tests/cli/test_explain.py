"""The command explain: lines, the file, and products that are not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.paths import ERRORS
from tests.samples.cli_samples import Run, write_case
from tests.samples.workload_samples import MODEL


@pytest.fixture(autouse=True)
def cluster(folder: Path) -> None:
    write_case()


def test_a_product_is_in_the_answer(run: Run, folder: Path) -> None:
    code, out, err = run("explain", "case.yaml", "--why-not", "acme-t4", "--json", "why.json")
    assert (code, out, err) == (0, "acme-t4 (switch): it is in the answer\n", "")
    (row,) = json.loads((folder / "why.json").read_text())["products"]
    assert (row["id"], row["verdict"]) == ("acme-t4", "in the answer")


def test_without_a_product_those_are_listed_that_lack_only_a_figure(run: Run) -> None:
    code, out, _ = run("explain", "case.yaml")
    assert (code, out) == (0, "no listed product lacks only a price, a power figure, a split or a matching part\n")


def test_products_that_are_not_there_are_refused_at_once(run: Run) -> None:
    code, out, err = run("explain", "case.yaml", "--why-not", "acme-t5", "--why-not", "nothing-like-it-at-all")
    assert (code, out) == (2, "")
    assert "did you mean `acme-t4`?" in err and "nothing-like-it-at-all" in err


def test_a_case_that_is_not_there_is_refused(run: Run) -> None:
    assert run("explain", "no-such-case.yaml", "--why-not", "acme-t4")[0] == 2


def test_needs_of_a_model_are_said_as_a_range(run: Run, tmp_path: Path) -> None:
    """Where overlap decides: the least where as much hides as can, and where nothing does."""
    plan = {**MODEL["plan"], "overlap": {"data": [0, 1]}}
    case = tmp_path / "model.yaml"
    content = {
        "name": "model", "catalog": [str(ERRORS / "_fast.yaml")], "server": "acme-fast", "servers": 8,
        "workload": {"model": {**MODEL, "plan": plan}, "gpu_utilization": 0.5}, "fabrics": [{"name": "compute"}],
    }  # fmt: skip
    case.write_text(yaml.safe_dump(content))
    code, out, _ = run("explain", str(case), "--json", str(tmp_path / "why.json"))
    needs = json.loads((tmp_path / "why.json").read_text())["needs"]
    low, high = needs["overlapped_gbps_per_gpu"], needs["min_gbps_per_gpu"]
    assert code == 0 and low < high
    needed = f"acme-8 needs {round(low, 2)} to {round(high, 2)} Gb/s per GPU at 1:1 (overlap decides)"
    assert needed in " ".join(out.split())
