"""Files of a format that has several, in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def write_lines(folder: Path, files: Mapping[str, Iterable[str] | bytes]) -> list[Path]:
    """Write files, lines or bytes, by their path in a folder, which is made if need be. Returns paths, in order."""
    written = []
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{line}\n" for line in content)
        written.append(path)
    return written
