"""Names of the library never leave it; paths are relative to what names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.errors import Fault, InputError
from fabopt.io import library
from fabopt.io.catalog import read_catalog
from fabopt.io.library import by_name, data_folder, find_case, find_catalog, is_path, names
from tests.paths import ROOT

OUTSIDE = [
    "..",
    ".",
    "",
    "/",
    "/etc",
    "../docs",
    "reference/..",
    "reference/../..",
    "a\\..\\b",
    "..\\x",
    "a\0b",
    " ",
    "-",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_never_leaves_its_folder(name: str) -> None:
    assert by_name("catalogs", name) is None


@pytest.mark.parametrize("name", ["..", ".", "...", "a..b", "~", "x" * 5000])
def test_such_a_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="unknown catalog"):
        read_catalog([name], Path())


def test_what_is_a_path() -> None:
    assert all(map(is_path, ["./a", "a/b", "a.yaml", "a.YML", "..\\a", "/a"]))
    assert not any(map(is_path, ["a", "a.b", "..", "yaml"]))


def test_the_reference_catalog_is_there() -> None:
    assert "reference" in names("catalogs")
    assert by_name("catalogs", "reference") == data_folder("catalogs") / "reference"


def test_editors_find_the_schemas_of_catalog_files() -> None:
    """The first line of every file leads to a schema that is there."""
    files = sorted((ROOT / "catalogs").glob("*/*/*.yaml"))
    pointed = [(path, path.read_text().splitlines()[0].partition("$schema=")[2]) for path in files]
    assert pointed
    assert [path for path, schema in pointed if not schema or not (path.parent / schema).resolve().exists()] == []


def test_packaged_data_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_PACKAGE", tmp_path / "fabopt")
    assert data_folder("cases") == tmp_path / "cases"
    assert names("cases") == ()
    packaged = tmp_path / "fabopt" / "_data" / "cases"
    packaged.mkdir(parents=True)
    (packaged / "pod.yaml").write_text("name: pod\n")
    (packaged / ".hidden.yaml").write_text("")
    (packaged / "README.md").write_text("")
    assert names("cases") == ("pod",)
    assert by_name("cases", "pod") == packaged / "pod.yaml"
    assert find_case("pod") == packaged / "pod.yaml"
    assert find_case("./pod") == Path("pod")


def test_a_file_goes_before_an_example_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pod").write_text("")
    assert find_case("pod") == Path("pod")


def test_a_folder_beside_the_case_is_hinted_at(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    found = find_catalog("mine", tmp_path, "case.yaml", "catalog[0]")
    assert isinstance(found, Fault) and "write `./mine`" in str(found)
