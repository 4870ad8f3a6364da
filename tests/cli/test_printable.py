"""Whatever strangers write into files, or call them: no letter that steers a terminal or turns text is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabopt.cli import main
from fabopt.output.export.design import design_bytes
from tests.fuzz.given import OTHER_FORMS, written
from tests.inspect.test_acceptance import nccl_text, report
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.hand_fabrics import drawn
from tests.samples.quote_samples import Book

KIND = "clos, two tiers"
LETTERS = ("\x1b[31m", "\x9b2J", "\u202e", "\u2066", "\x07", "\u200f")
# In a workbook, whose XML has no others.
OF_XML = LETTERS[1:4]


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_bytes(design_bytes(designed(KIND)))
    Path("catalog.yaml").write_text(json.dumps({"name": "parts", **(MAKERS[KIND]()[0] or {})}))


def shown(capfd: pytest.CaptureFixture[str], *words: str) -> None:
    """Run a command: it answers or refuses, and nothing that it shows or writes for people has such a letter."""
    code = main(list(words))
    out, err = capfd.readouterr()
    texts = [out, err, *(path.read_text() for path in Path().glob("told.*"))]
    assert code in (0, 1, 2) and "internal error" not in err, err
    assert out + err
    for text in texts:
        assert all(letter.isprintable() or letter in "\n\r\t" for letter in text), (words, ascii(text)[:300])
        assert all(letter not in text for letter in "\u202e\u2066\u200f")


def spoilt(text: str, letters: str) -> str:
    """The text with letters within the words and numbers of every fifth line, so that some of them are names."""
    lines = text.splitlines()
    for number in range(1, len(lines), 5):
        middle = len(lines[number]) // 2
        lines[number] = lines[number][:middle] + letters + lines[number][middle:]
    return "\n".join(lines) + "\n"


FINDINGS = ("--json", "told.json", "--findings", "told.csv", "--html", "told.html")


@pytest.mark.long("lldp 0", "p2p", "netbox API")
@pytest.mark.long(*(form for form in OTHER_FORMS if form not in ("p2p", "lldp 0", "ibnetdiscover", "netbox API")))
@pytest.mark.parametrize("form", OTHER_FORMS)
def test_fabrics_of_others(form: str, capfd: pytest.CaptureFixture[str]) -> None:
    kind, write = OTHER_FORMS[form]
    fabric = write(drawn(3))
    for letters in LETTERS:
        texts = fabric if isinstance(fabric, dict) else {"fabric.csv": fabric}
        Path("given").mkdir(exist_ok=True)
        for name, text in texts.items():
            names = [word for word in ("leaf", "l1", "spine") if word in text]
            named = text.replace(names[0], names[0] + (json.dumps(letters)[1:-1] if text[:1] in "{[" else letters))
            Path(f"given/{name}").write_text(named if names and text[:1] in "{[" else spoilt(text, letters))
        shown(capfd, "audit", "given" if isinstance(fabric, dict) else "given/fabric.csv", "--as", kind, *FINDINGS)


@pytest.mark.long(but_every=3)
@pytest.mark.parametrize("letters", LETTERS)
def test_tables_logs_quotes_and_names_of_files(letters: str, capfd: pytest.CaptureFixture[str]) -> None:
    texts = written(KIND)
    Path("cables.csv").write_text(spoilt(texts["point-to-point.csv"], letters))
    shown(capfd, "as-built", "design.json", "--csv", "cables.csv", "--json", "told.json", "--html", "told.html")
    Path("bill.csv").write_text(spoilt(texts["bill.csv"], letters))
    at = ("--catalog", "./catalog.yaml")
    shown(capfd, "quote", "import", "bill.csv", "-o", "told.yaml", "--json", "told.json", *at)
    shown(capfd, "quote", "audit", "bill.csv", "--design", "design.json", "--json", "told.json", *at)
    Path("run.txt").write_text(spoilt(nccl_text([(2**33, 375.0, 0)]), letters))
    shown(capfd, "accept", "design.json", "run.txt")
    Path("run.json").write_text(json.dumps(report(args=[f"all_{letters}reduce_perf"], errors=[f"x{letters}"])))
    shown(capfd, "accept", "design.json", "run.json")
    name = f"no{letters}file.csv"
    shown(capfd, "quote", "import", name, "-o", "told.yaml")
    Path(name).write_text(texts["bill.csv"])
    shown(capfd, "quote", "import", name, "-o", "told.yaml", *at)
    shown(capfd, "audit", name, "--as", "counts", *FINDINGS)
    shown(capfd, "check", name)


@pytest.mark.parametrize("letters", OF_XML)
def test_workbooks(letters: str, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [["Part number", "Description", "Qty", "Unit price USD", f"No{letters}te"]]
    rows += [[f"X{letters}-1", f"a {letters}box", "2", "30", letters], ["eight", f"{letters}", "2", f"30{letters}", ""]]
    Book(f"Quo{letters}te").rows(*rows).saved("book.xlsx")
    shown(
        capfd, "quote", "import", "book.xlsx", "-o", "told.yaml", "--json", "told.json", "--catalog", "./catalog.yaml"
    )
