"""Every input mistake in ``tests/errors`` is refused with exactly the message beside it.

The start of a file's name says what reads it; the message is the ``.txt`` of the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.io.case import read_inputs, read_price_books
from fabopt.io.catalog import read_catalog
from fabopt.io.design import read_design, read_front
from tests.paths import ERRORS

FOLDER = ERRORS
TINY = "./_tiny.yaml"
READERS: dict[str, Callable[[str], object]] = {
    "case": read_inputs,
    "catalog": lambda name: read_catalog([f"./{name}"], Path()),
    "folder": lambda name: read_catalog([f"./{name}"], Path()),
    "prices": lambda name: read_price_books([f"./{name}"], read_catalog([TINY], Path()), Path()),
    "design": read_design,
    "front": read_front,
}
MISTAKES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".txt" and not path.name.startswith("_"))


@pytest.mark.parametrize("name", MISTAKES)
def test_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    with pytest.raises(InputError) as refusal:
        READERS[name.partition("-")[0]](name)
    assert str(refusal.value) == Path(name).with_suffix(".txt").read_text().rstrip("\n")


def test_every_message_has_its_mistake() -> None:
    messages = {path.stem for path in FOLDER.glob("*.txt")}
    assert messages == {Path(name).stem for name in MISTAKES}
