"""Reading: scalars, limits, catalogs and their cache, prices, cross checks, objects instead of files."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects, read_case, read_inputs
from fabopt.io.catalog import read_catalog
from fabopt.io.design import read_design
from fabopt.io.text import parse_yaml
from fabopt.parts.price_books import products
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, Catalog
from fabopt.schema.product import PriceBreak
from tests.paths import ERRORS

TINY = ERRORS / "_tiny.yaml"
CASE = {"name": "pod", "catalog": [str(TINY)], "server": "acme-gpu2", "servers": 4}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FABOPT_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache" / "fabopt"


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def tiny() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(TINY.read_text())
    return content


def as_folder(folder: Path) -> Path:
    """Write the tiny catalog as a folder, one product a file, without ids."""
    content = tiny()
    written(folder / "catalog.yaml", {key: content[key] for key in ("name", "description", "facts")})
    for kind in KINDS:
        for product in content.get(kind, ()):
            written(folder / kind / f"{product.pop('id')}.yaml", product)
    for book in content["prices"]:
        written(folder / "prices" / f"{book.pop('name')}.yaml", book)
    return folder


def message(action: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(InputError) as refusal:
        action(*arguments, **options)
    return str(refusal.value)


# -- scalars ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("405e9", 405e9),
        ("4.05E+11", 4.05e11),
        (".5", 0.5),
        ("-3", -3),
        ("+3", 3),
        ("0", 0),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2026-01", "2026-01"),
        ("2026-01-31", "2026-01-31"),
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("True", "True"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("=", "="),
        ("'3'", "3"),
        ('"true"', "true"),
        ("2x400", "2x400"),
        ("1e3x", "1e3x"),
        (".", "."),
        ("-", [None]),
        ("|\n  a\n  b", "a\nb\n"),
        ("&a text", "text"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    parsed = parse_yaml(f"key: {text}\n".encode() if text != "-" else b"key:\n  -\n", "file")
    assert parsed == {"key": value}
    assert type(parsed["key"]) is type(value)


def test_both_parsers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = parse_yaml(TINY.read_bytes(), "file")
    monkeypatch.setattr("fabopt.io.text._Loader", yaml.SafeLoader)
    assert parse_yaml(TINY.read_bytes(), "file") == fast


def test_keys_are_the_text_as_written() -> None:
    assert parse_yaml(b"{1: a, true: b, 2x400: c, null: d}", "file") == {
        "1": "a",
        "true": "b",
        "2x400": "c",
        "null": "d",
    }


def test_aliases_repeat_a_value() -> None:
    assert parse_yaml(b"a: &x {b: [1, 2]}\nc: [*x, *x]\n", "file")["c"] == [{"b": [1, 2]}] * 2


def test_byte_order_mark_is_skipped() -> None:
    assert parse_yaml(b"\xef\xbb\xbfname: pod\n", "file") == {"name": "pod"}


def test_too_large_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabopt.io.library.MAX_INPUT_BYTES", 100)
    Path("big.yaml").write_text("#" * 101)
    assert message(read_case, "big.yaml") == "big.yaml: the file is too large; allowed: up to 100 bytes"


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabopt.io.text.MAX_NODES", 100)
    assert "too many values" in message(parse_yaml, b"- x\n" * 101, "file")


def test_many_faults_are_counted_not_listed() -> None:
    text = message(parse_yaml, b"".join(b"a%d: 1\na%d: 2\n" % (index, index) for index in range(250)), "file")
    assert len(text.splitlines()) == 101
    assert text.endswith("file: and more")


# -- cases ------------------------------------------------------------------------------------------------------


def test_case_defaults_are_the_contracts() -> None:
    case = read_inputs(written(Path("case.yaml"), CASE)).case
    fabric = case.fabrics[0]
    assert (fabric.name, fabric.role, fabric.protocol, fabric.topologies) == ("compute", "compute", "any", ("clos",))
    assert (fabric.tiers, fabric.planes, fabric.rails, fabric.striping) == ("any", 1, "aligned", "even")
    assert (fabric.nics, fabric.nics_per_server, fabric.group_by) == ("any", "any", "any")
    assert fabric.min_gbps_per_gpu is None and fabric.max_oversubscription is None and fabric.reserve_ports == 0
    assert (case.site.distances_m, case.rules) == (None, {})
    assert (case.objective, case.maximize, case.include_servers) == ("capex_usd", "gbps_per_gpu", False)


@pytest.mark.parametrize("servers", [10_000_000, 10**12])
def test_there_is_no_upper_limit_on_servers_worth_meeting(servers: int) -> None:
    assert inputs_from_objects({**CASE, "servers": servers}).case.servers == servers


def test_names_inside_the_program_are_not_keys() -> None:
    text = message(inputs_from_objects, {**CASE, "site": {"distances_m": {"server_leaf": 3}}})
    assert "site.distances_m.server_leaf: unknown key" in text and "did you mean `server-leaf`?" in text


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(json.dumps(CASE).encode()))
    monkeypatch.setattr("sys.stdin", stream)
    inputs = read_inputs("-")
    assert (inputs.case.name, inputs.case_file) == ("pod", "<standard input>")


def test_a_folder_or_nothing_is_no_case(tmp_path: Path) -> None:
    assert message(read_case, str(tmp_path / "none.yaml")) == "none.yaml: no such file"
    assert "cannot be read" in message(read_case, tmp_path)


def test_paths_are_relative_to_the_case(tmp_path: Path) -> None:
    shutil.copy(TINY, tmp_path / "catalog.yaml")
    path = written(tmp_path / "deep" / "case.yaml", {**CASE, "catalog": ["../catalog.yaml"]})
    assert read_inputs(path).catalog.switches[0].id == "acme-t4"


def test_catalogs_can_be_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "deep" / "case.yaml", {**CASE, "catalog": ["./none.yaml"]})
    shutil.copy(TINY, tmp_path / "catalog.yaml")
    inputs = read_inputs(path, catalogs=["./catalog.yaml"])
    assert inputs.case.catalog == ("./catalog.yaml",)


# -- objects ----------------------------------------------------------------------------------------------------


def test_objects_are_read_like_files() -> None:
    by_file = read_inputs(written(Path("case.yaml"), CASE))
    by_mapping = inputs_from_objects(CASE, tiny())
    by_object = inputs_from_objects(by_file.case, by_file.catalog)
    assert by_file.case == by_mapping.case == by_object.case
    assert by_file.catalog == by_mapping.catalog == by_object.catalog


def test_objects_are_checked_like_files() -> None:
    assert message(inputs_from_objects, {**CASE, "servers": "4"}).startswith("case: servers: ")
    assert message(inputs_from_objects, CASE, {"switches": []}).startswith("catalog: the catalog has no product")
    double = tiny()
    double["switches"] *= 2
    assert "`acme-t4` is given twice" in message(inputs_from_objects, CASE, double)
    assert "cannot be read as data" in message(inputs_from_objects, {**CASE, "servers": object()})
    assert "servers: this value is not allowed; found nan" in message(
        inputs_from_objects, {**CASE, "servers": float("nan")}
    )
    unknown = inputs_from_objects(CASE).case.model_copy(update={"server": "acme-gpu3"})
    assert "no such server" in message(inputs_from_objects, unknown)


# -- catalogs ---------------------------------------------------------------------------------------------------


def test_folder_and_file_are_the_same_catalog(tmp_path: Path) -> None:
    def sorted_(catalog: Catalog) -> Catalog:
        return catalog.model_copy(
            update={kind: tuple(sorted(getattr(catalog, kind), key=lambda one: one.id)) for kind in KINDS}
        )

    folder = as_folder(tmp_path / "acme")
    assert sorted_(read_catalog([str(folder)], Path())) == sorted_(read_catalog([str(TINY)], Path()))


def test_catalogs_are_merged(tmp_path: Path) -> None:
    nic = tiny()["nics"][0]
    more = written(
        tmp_path / "more.yaml", {"nics": [{**nic, "id": "other"}], "facts": {"pcie_x16_gbps": {5: 500, 6: 900}}}
    )
    catalog = read_catalog([str(TINY), str(more)], Path())
    assert [one.id for one in catalog.nics] == ["acme-nic", "other"]
    assert catalog.facts.pcie_x16_gbps == {5: 500, 6: 900}
    assert [book.name for book in catalog.prices] == ["spring"]


def test_an_id_in_two_catalogs_names_both_files(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "acme")
    twin = written(tmp_path / "twin.yaml", {"nics": tiny()["nics"]})
    text = message(read_catalog, [str(folder), str(twin)], Path())
    assert text == "twin.yaml: the product id `acme-nic` is given twice; also in acme/nics/acme-nic.yaml"


def test_a_merged_catalog_may_be_empty_in_part(tmp_path: Path) -> None:
    empty = written(tmp_path / "empty.yaml", {"name": "only prices", "switches": None})
    assert read_catalog([str(TINY), str(empty)], Path()).nics


# -- cache ------------------------------------------------------------------------------------------------------


def test_the_cache_gives_back_what_was_read(cache: Path) -> None:
    cold = read_catalog([str(TINY)], Path())
    assert len(list(cache.iterdir())) == 1
    assert read_catalog([str(TINY)], Path()) == cold


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    content = tiny()
    path = written(tmp_path / "catalog.yaml", content)
    read_catalog([str(path)], Path())
    content["switches"][0]["price_usd"] = 1
    written(path, content)
    assert read_catalog([str(path)], Path()).switches[0].price_usd == 1


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\x00", b"\n{}"])
def test_a_damaged_cache_is_ignored(cache: Path, damage: bytes) -> None:
    cold = read_catalog([str(TINY)], Path())
    entry = next(cache.iterdir())
    entry.write_bytes(damage)
    assert read_catalog([str(TINY)], Path()) == cold
    assert entry.read_bytes() != damage


def test_a_tampered_cache_is_ignored(cache: Path) -> None:
    cold = read_catalog([str(TINY)], Path())
    entry = next(cache.iterdir())
    entry.write_bytes(entry.read_bytes().replace(b"4000", b"4001"))
    assert read_catalog([str(TINY)], Path()) == cold


def test_an_unwritable_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = tmp_path / "blocker"
    blocker.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    assert read_catalog([str(TINY)], Path()).switches


def test_the_cache_can_be_off(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABOPT_CACHE", "off")
    read_catalog([str(TINY)], Path())
    assert not cache.exists()


def test_the_cache_stays_small(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabopt.io.catalog._MAX_ENTRIES", 2)
    for price in range(4):
        content = tiny()
        content["switches"][0]["price_usd"] = price
        read_catalog([str(written(tmp_path / "catalog.yaml", content))], Path())
    assert len(list(cache.iterdir())) == 2


# -- prices -----------------------------------------------------------------------------------------------------


def priced(changes: list[str], **case: Any) -> Catalog:
    return inputs_from_objects({**CASE, **case}, price_changes=changes).catalog


def test_price_books_replace_prices_and_the_later_one_wins(tmp_path: Path) -> None:
    source = {"url": "our contract", "date": "2026-02"}
    book = {"source": source, "prices": {"acme-t4": 3000, "acme-mpo": {10: [{"from": 1, "usd": 50}]}}}
    written(tmp_path / "book.yaml", book)
    catalog = priced([], prices=["spring", "./book.yaml"])
    assert catalog.switches[0].price_usd == 3000
    assert catalog.switches[0].provenance["price_usd"].url == "our contract"
    assert [length.price_usd for length in catalog.cables[0].lengths] == [120, 150]
    first, second = catalog.fibres[0].lengths
    assert isinstance(first.price_usd, tuple) and second.price_usd == 110


def test_price_changes_come_after_books_in_order_and_round_to_the_cent() -> None:
    catalog = priced(["switch=+20%", "acme-t4=-0.1%"], prices=["spring"])
    assert catalog.switches[0].price_usd == 4195.8
    catalog = priced(["cable=+0.33%", "transceiver=-50%", "fibre=-100%"])
    assert [length.price_usd for length in catalog.cables[0].lengths] == [120.4, 180.59]
    assert catalog.transceivers[0].price_usd == (
        PriceBreak(**{"from": 1}, usd=350),
        PriceBreak(**{"from": 1000}, usd=310),
    )
    assert [length.price_usd for length in catalog.fibres[0].lengths] == [0, 0]


def test_price_changes_leave_the_rest_alone() -> None:
    before, after = priced([]), priced(["nic=+10%"])
    changed = [one.id for one, other in zip(products(before), products(after), strict=True) if one != other]
    assert changed == ["acme-nic"]


def test_a_product_without_a_price_stays_without_one() -> None:
    content = tiny()
    del content["switches"][0]["price_usd"]
    assert inputs_from_objects(CASE, content, price_changes=["switch=+20%"]).catalog.switches[0].price_usd is None


def test_notes_say_what_was_changed() -> None:
    inputs = inputs_from_objects({**CASE, "prices": ["spring"]}, price_changes=["nic=+10%"])
    assert inputs.notes == ("prices of the price book spring replace the catalog's", "price change nic=+10%")


@pytest.mark.parametrize("text", ["nic", "nic=", "nic=20", "nic=%", "=+20%", "nic=+-5%", "nic=nan%", "nic=1e3%"])
def test_a_price_change_is_a_percentage(text: str) -> None:
    assert "not a price change" in message(inputs_from_objects, CASE, price_changes=[text])


def test_all_wrong_price_changes_are_told_at_once() -> None:
    text = message(inputs_from_objects, CASE, price_changes=["nicz=+1%", "nic=-101%", "nic=+1%"])
    assert "did you mean `nic`?" in text and "more than 100 %" in text and len(text.splitlines()) == 2


# -- cross checks -----------------------------------------------------------------------------------------------


def test_built_in_nics_must_be_in_the_catalog() -> None:
    content = tiny()
    content["servers"][0]["nics"] = [{"id": "acme-nik", "count": 2}, {"id": "acme-t4", "count": 1}]
    assert message(inputs_from_objects, CASE, content).splitlines() == [
        "case: servers.acme-gpu2.nics[0].id: the catalog has no such NIC; found 'acme-nik'; did you mean `acme-nic`?",
        "case: servers.acme-gpu2.nics[1].id: this is a switch, not a NIC; found 'acme-t4'; did you mean `acme-nic`?",
    ]


def test_another_servers_nics_do_not_matter() -> None:
    content = tiny()
    content["servers"][1]["nics"] = [{"id": "acme-nik", "count": 2}]
    assert inputs_from_objects(CASE, content).catalog.servers


def test_all_cross_faults_come_at_once() -> None:
    fabrics = [{"name": "a", "nics": ["x"], "topologies": ["dragonfly+"], "homing": "dual", "group_by": "rack"}]
    text = message(inputs_from_objects, {**CASE, "server": "x", "fabrics": fabrics, "prices": ["none"]}, tiny())
    assert len(text.splitlines()) == 5


def test_equal_stages_are_growth_too() -> None:
    case = {key: value for key, value in CASE.items() if key != "servers"}
    stages = [{"name": "a", "servers": 4}, {"name": "b", "month": 6, "gpus": 8}]
    assert len(inputs_from_objects({**case, "stages": stages}).case.stages or ()) == 2


def test_every_topology_word_is_known_to_the_schema() -> None:
    for word in ("clos", "any", "rail-only", "dragonfly", "dragonfly+", "torus", "hyperx"):
        Case.model_validate_json(json.dumps({**CASE, "fabrics": [{"name": "a", "topologies": [word]}]}))


# -- designs ----------------------------------------------------------------------------------------------------


def test_a_design_survives_being_written_and_read(tmp_path: Path) -> None:
    from fabopt.api import solve
    from fabopt.output.export.design import design_bytes

    result = solve(CASE)
    result.save(tmp_path / "design.json")
    design = read_design(tmp_path / "design.json")
    assert design_bytes(design) == design_bytes(result.design)
    assert result.status == "optimal" and all(check.ok for check in result.checks)
    assert list(result.bom["quantity"]) == [row.quantity for row in design.bom]
