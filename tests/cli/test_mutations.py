"""Commands on design files with a single change: an answer or a refusal, never a traceback or an internal error."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabopt.cli import main
from tests.mutations import document_of, drawn
from tests.samples.designs_of_families import MAKERS, designed

COMMANDS = (
    ("check", "design.json"),
    ("bom", "design.json", "-o", "bill.csv"),
    ("bom", "design.json", "-o", "bill.xlsx", "--unchecked"),
    ("export", "design.json", "--to", "cables,ports,dot", "-o", "out", "--unchecked"),
    ("report", "design.json", "-o", "page.html", "--unchecked"),
)
# Of each kind of case, the first in `make test`; a longer walk: FABOPT_MUTATIONS=120 are more than 2,000 in all.
COUNT = int(os.environ.get("FABOPT_MUTATIONS", "2"))
EXIT_CODES = {0, 1, 2, 3, 4}


@pytest.mark.long(
    but=(
        "0-attachments",
        "0-clos, one tier",
        "0-clos, three tiers",
        "0-dragonfly+",
        "0-planes",
        "0-procurement",
        "0-torus of servers",
    )
)
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("nth", [0, *(pytest.param(nth, marks=pytest.mark.long) for nth in range(1, COUNT))])
def test_commands_answer_or_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], kind: str, nth: int
) -> None:
    monkeypatch.chdir(tmp_path)
    document = document_of(designed(kind))
    change = list(drawn(document, COUNT, f"{kind}-1", whole=True))[nth]
    Path("design.json").write_text(json.dumps(change.applied(document)))
    for command in COMMANDS:
        code = main(command)
        err = capfd.readouterr().err
        assert code in EXIT_CODES and "internal error" not in err, f"{command} after {change}: {err}"
