"""``python -m fabopt.cli.schemas FOLDER``: write the JSON Schema of every kind of file, as ``make schemas`` does."""

from __future__ import annotations

import sys
from pathlib import Path

from fabopt.io.library import write_whole
from fabopt.output.terminal.schema_keys import SCHEMAS, schema_bytes


def write_schemas(folder: Path) -> None:
    """Write ``KIND.json`` for every kind into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in SCHEMAS:
        write_whole(folder / f"{kind}.json", schema_bytes(kind))


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
