"""``make measure``: how large the package is, and how much of it one answer goes through.

    python -m tests.measure

Statements leave docstrings out, so neither joined lines nor missing words change a figure. What solving the demo enters
is every function (and lambda, and comprehension) of the package whose code is begun, and the files that have any; what
else is counted imports only after that, as bodies of classes count where the answer imports them.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from random import Random
from types import FrameType

from fabopt.cli import main as fabopt
from fabopt.output.terminal.schema_keys import SCHEMAS
from fabopt.parts.items import Item, Offer
from fabopt.problem.fabric import FabricProblem
from tests.paths import ROOT, TESTS

PACKAGE = ROOT / "fabopt"
DEMO = ROOT / "cases" / "finetuning-1024-gpus.yaml"
WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def trees() -> list[ast.Module]:
    return [ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))]


def num_statements(tree: ast.Module) -> int:
    """Statements of a module, docstrings left out."""
    nodes = list(ast.walk(tree))
    docstrings = sum(isinstance(node, WITH_DOCSTRING) and ast.get_docstring(node) is not None for node in nodes)
    return sum(isinstance(node, ast.stmt) for node in nodes) - docstrings


def num_imported(tree: ast.Module) -> int:
    """Names that a module takes from others of the package."""
    taken = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return sum(len(node.names) for node in taken if (node.module or "").startswith("fabopt"))


def num_words() -> int:
    """Words of docs, README and changelog, outside tables."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    lines = (line for page in pages for line in page.read_text().splitlines())
    return sum(len(line.split()) for line in lines if not line.lstrip().startswith("|"))


def described(schema: object) -> Iterator[bool]:
    """Of every property of a JSON schema, whether it has a sentence."""
    if isinstance(schema, dict):
        for property_ in schema.get("properties", {}).values():
            yield "description" in property_
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from described(part)


def entered() -> tuple[int, int]:
    """Files and functions of the package that ``fabopt solve`` of the demo enters, without alternatives."""
    found: set[tuple[str, int, str]] = set()
    top = str(PACKAGE)

    def seen(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(top) and code.co_name != "<module>":
            found.add((code.co_filename, code.co_firstlineno, code.co_name))

    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        with redirect_stdout(io.StringIO()):
            fabopt(["solve", str(DEMO), "--alternatives", "0"])
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # ends profiling, as documented; the stubs do not know
    return len({file for file, _, _ in found}), len(found)


def caught() -> tuple[int, int]:
    """Of sixty changes of ``fabrics`` in each of eleven designs, those that do not pass; and all."""
    from tests.mutations import changes, document_of, outcome
    from tests.samples.designs_of_families import MAKERS, designed

    told = Counter[str]()
    for kind in tuple(MAKERS)[:11]:
        document = document_of(designed(kind))
        of_fabrics = [change for change in changes(document) if change.place[0] == "fabrics"]
        for change in Random(kind).sample(of_fabrics, 60):
            told[outcome(change.applied(document), designed(kind))] += 1
    return told.total() - told["passes"], told.total()


def with_reasons() -> tuple[int, int]:
    """Keys of cases that say why they have no lever, and those that say why nothing checks them; all others have."""
    from tests.explain.test_keys import WITHOUT_LEVER
    from tests.verify.test_keys import UNREAD

    return sum(map(len, WITHOUT_LEVER.values())), len(UNREAD)


def found_faults() -> tuple[int, int]:
    """Seeded faults that tests found when `make faults` was last recorded, and all."""
    rows = [json.loads(line) for line in (TESTS / "faults" / "found.jsonl").read_text().splitlines()]
    return sum(row["killed"] for row in rows), len(rows)


def num_touched(patch: Path) -> int:
    """Files of the package that a recorded change touches."""
    return sum(line.startswith("diff --git a/fabopt/") for line in patch.read_text().splitlines())


def num_fields(kind: type) -> int:
    return len(getattr(kind, "_fields", ()) or getattr(kind, "__dataclass_fields__", ()))


def rows() -> Iterator[tuple[str, str]]:
    modules = trees()
    yield "statements of the package, docstrings apart", f"{sum(map(num_statements, modules)):,}"
    yield "names imported between modules", f"{sum(map(num_imported, modules)):,}"
    yield "files / functions that solving the demo enters", "{:,} / {:,}".format(*entered())
    fields = (str(num_fields(kind)) for kind in (FabricProblem, Item, Offer))
    yield "fields of `FabricProblem` / `Item` / `Offer`", " / ".join(fields)
    touched = (f"{path.stem} {num_touched(path)}" for path in sorted((TESTS / "patches").glob("*.patch")))
    yield "files of the package that recorded changes touch", ", ".join(touched)
    keys = list(described(SCHEMAS["case"].model_json_schema()))
    yield "keys of cases without a description", f"{keys.count(False):,} of {len(keys):,}"
    yield "of these, with a reason why they have no lever / no check", "{} / {}".format(*with_reasons())
    yield "changes of `fabrics` in eleven designs that are caught", "{:,} of {:,}".format(*caught())
    yield "seeded faults that tests find (`tests/faults/found.jsonl`)", "{} of {}".format(*found_faults())
    yield "words of docs, README and changelog outside tables", f"{num_words():,}"


def main() -> None:
    print("| measure | now |\n| --- | ---: |")
    for what, value in rows():
        print(f"| {what} | {value} |")


if __name__ == "__main__":
    main()
