"""What a shell completes, as bash asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fabopt.cli import completion
from fabopt.inspect.audit.reading import KINDS as HAND_MADE
from fabopt.io.catalog import read_catalog
from fabopt.io.library import names
from fabopt.output.export import ALL, FORMATS
from fabopt.output.terminal.schema_keys import SCHEMAS
from fabopt.parts.price_books import KIND_OF_WORD
from fabopt.schema.catalog import KINDS
from fabopt.schema.workload import PROFILES
from fabopt.study.front.measures import named
from tests.conftest import Run
from tests.paths import ROOT
from tests.samples.cli_samples import HEAVY


def completed(run: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """The words offered for the last of a line; a line that ends in a space asks for the next."""
    monkeypatch.setenv("_FABOPT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    return run().out.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("fabopt sol", ["solve"]),
        ("fabopt solve hall", ["hall-1024-gpus"]),
        ("fabopt solve ", [*names("cases"), "pod.yaml"]),
        ("fabopt cases copy torus", ["torus-216-gpus"]),
        ("fabopt models mix", ["mixtral-8x22b"]),
        ("fabopt catalog show nvidia-qm97", ["nvidia-qm9700", "nvidia-qm9790"]),
        ("fabopt catalog list s", ["switches", "servers"]),
        ("fabopt new pod --server nvidia-dgx-h", ["nvidia-dgx-h100", "nvidia-dgx-h200"]),
        ("fabopt new pod --workload f", ["fine-tuning"]),
        ("fabopt pareto pod.yaml --minimize p", ["power_w"]),
        ("fabopt pareto pod.yaml --maximize g", ["gbps_per_gpu", "gpu_utilization"]),
        ("fabopt export design.json --to eos", ["eos"]),
        ("fabopt export design.json --to cables,po", ["cables,ports", "cables,power"]),
        ("fabopt export design.json --stage ", ["day-1", "month-18"]),
        ("fabopt as-built design.json --stage m", ["month-18"]),
        ("fabopt export broken.json --stage ", []),
        ("fabopt report d", ["design.json"]),
        ("fabopt bom ", [*names("cases"), "pod.yaml", "broken.json", "design.json"]),
        ("fabopt audit x --as ib", ["ibnetdiscover"]),
        ("fabopt solve pod.yaml --engine s", ["scip"]),
        ("fabopt solve pod.yaml --catalog t", ["torus-example"]),
        ("fabopt schema price", ["price-book"]),
    ],
)
def test_words_are_offered(
    line: str,
    offered: list[str],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_text('{"stages": [{"name": "day-1"}, {"name": "month-18"}]}')
    Path("broken.json").write_text('{"stages": [1')
    Path("pod.yaml").write_text("")
    Path(".hidden.yaml").write_text("")
    assert completed(run, monkeypatch, line) == offered


def test_lists_are_those_that_commands_know() -> None:
    assert tuple(PROFILES) == completion.PROFILES
    assert tuple(named("minimize")) == completion.MINIMIZED and tuple(named("maximize")) == completion.MAXIMIZED
    assert completion.HAND_MADE == HAND_MADE
    assert completion.PRODUCTS == KINDS and tuple(KIND_OF_WORD) == completion.PRODUCT_WORDS
    assert tuple(SCHEMAS) == completion.FILES
    assert completion.formats("") == [*FORMATS, ALL]
    servers = [server.id for server in read_catalog(["reference"], Path()).servers]
    assert set(servers) <= set(completion.products("servers")(""))


def test_completion_imports_nothing_heavy() -> None:
    # some versions of typer import pydantic themselves
    program = (
        "import sys; from fabopt.cli import main; main([]); "
        f"print(sorted({HEAVY - {'pydantic'}!r} & set(sys.modules)), file=sys.stderr)"
    )
    asked = {"_FABOPT_COMPLETE": "complete_bash", "COMP_WORDS": "fabopt catalog show nv", "COMP_CWORD": "3"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | asked | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.stderr == "[]\n" and "nvidia-qm9700" in ran.stdout
