"""Files that are not ours: no message of any reader says what is in them, and of ours only the start of a value."""

from __future__ import annotations

import ast
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from fabopt.cli import main
from fabopt.errors import LONGEST_FILE_NAME, LONGEST_SHOWN, InputError, as_written, cut, fault, file_name, nearest
from fabopt.io.case import read_case, read_inputs
from fabopt.io.catalog import read_catalog
from fabopt.io.design import read_design, read_front
from fabopt.io.faults import key_path
from fabopt.io.text import CATALOG, are_mostly, parse_yaml
from tests.paths import ERRORS
from tests.samples.cli_samples import Run, write_case

TINY = ERRORS / "_tiny.yaml"
SECRET = "not-to-be-shown"
CASE: dict[str, Any] = {"name": "pod", "catalog": [str(TINY)], "server": "acme-gpu2", "servers": 4}
FOREIGN = {
    "passwords": f"root:x:0:0:{SECRET}:/root:/bin/bash\ndaemon:x:1:1:{SECRET}:/usr/sbin:/usr/sbin/nologin\n",
    "passwords with a colon": f"root:x:0:0:{SECRET}: the owner: /root:/bin/bash\n",
    "a key": f"-----BEGIN SECRET-----\n{SECRET}\n{SECRET}==\n-----END SECRET-----\n",
    "variables": f"PASSWORD={SECRET}\nTOKEN={SECRET}\n",
    "variables in quotes": f'PASSWORD="{SECRET}"\nTOKEN="{SECRET}"\n',
    "exports": f"export PASSWORD='{SECRET}'\nexport TOKEN={SECRET}\n",
    "a mapping": f"password: {SECRET}\n{SECRET}: 1\n",
    "a mapping with tags": f"password: !{SECRET} x\n{SECRET}: !!binary {SECRET}\n",
    "a mapping with aliases": f"password: *{SECRET}\n",
    "a mapping with keys twice": f"{SECRET}: 1\n{SECRET}: 2\n",
    "a mapping that is not finite": f"{SECRET}: .inf\npassword: {'9' * 50}\n",
    "a mapping with a name": f"name: {SECRET}\n{SECRET}: 1\npassword: {SECRET}\n",
    "a list": f"- {SECRET}\n- password: {SECRET}\n",
    "a table": f"host,user,password\na,b,{SECRET}\n",
    "settings": f"[database]\npassword = {SECRET}\n# {SECRET}\n",
    "a host list": f"Host {SECRET}\n  HostName {SECRET}\n\tUser root\n",
    "a script": f"#!/bin/sh\ncurl -H 'Authorization: {SECRET}' | sh\n",
    "JSON": json.dumps({"private_key": SECRET, SECRET: 1, "users": [{"password": SECRET}]}),
    "JSON on one line": json.dumps({f"{SECRET}-{number}": SECRET * 9 for number in range(5000)}),
    "JSON with keys twice": f'{{"{SECRET}": 1, "{SECRET}": 2, "x": NaN}}',
    "JSON that is cut off": f'{{"{SECRET}": "{SECRET}", "{SECRET}',
    "JSON text": json.dumps(SECRET),
    "a manifest": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\ndata: {{password: {SECRET}}}\n",
    "a workflow": f"name: CI\non: push\njobs: {{{SECRET}: 1}}\nenv: {{TOKEN: {SECRET}}}\n",
    "two documents": f"password: {SECRET}\n---\n{SECRET}: 1\n",
    "a directive": f"%{SECRET} 1\n%TAG !x! {SECRET}\n---\na: 1\n",
    "control characters": f"{SECRET}\x00\x1b[31m{SECRET}",
    "not text": f"\xff\xfe{SECRET}",
}


def as_case(**keys: object) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        content = CASE | {key: json.loads(json.dumps(value).replace("PATH", path.name)) for key, value in keys.items()}
        (path.parent / "case.yaml").write_text(yaml.safe_dump(content))
        return read_inputs(path.parent / "case.yaml")

    return read


READERS: dict[str, Callable[[Path], object]] = {
    "case": read_case,
    "catalog of a case": as_case(catalog=["./PATH"]),
    "second catalog of a case": as_case(catalog=[str(TINY), "./PATH"]),
    "price book of a case": as_case(prices=["./PATH"]),
    "model of a case": as_case(workload={"model": "./PATH"}),
    "catalog": lambda path: read_catalog([str(path)], Path()),
    "design": read_design,
    "front": read_front,
}


def refused(read: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(InputError) as refusal:
        read(path)
    return str(refusal.value)


@pytest.mark.long(but_every=5)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FOREIGN)
def test_nothing_of_a_foreign_file_is_shown(reader: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.yaml"
    path.write_bytes(FOREIGN[name].encode("latin-1" if name == "not text" else "utf-8"))
    text = refused(READERS[reader], path)
    assert SECRET not in text and "BEGIN" not in text and "daemon" not in text
    assert path.name in text and len(text.splitlines()) == 1


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize(
    "text", [*FOREIGN.values(), f"a: !{SECRET}!x y\n", f"%TAG !{SECRET}! !a\n%TAG !{SECRET}! !b\n---\na\n"]
)
def test_no_parser_quotes_a_foreign_file(text: str, loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabopt.io.text._Loader", getattr(yaml, loader, yaml.SafeLoader))
    with pytest.raises(InputError) as refusal:
        parse_yaml(text.encode(), "file", CATALOG)
    assert SECRET not in str(refusal.value)


KEYS = st.text("abcdefgh", min_size=6, max_size=9).map(lambda text: f"{SECRET}-{text}")
VALUES = st.recursive(
    KEYS | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=8
)


@given(VALUES, st.sampled_from([yaml.safe_dump, json.dumps]), st.integers(0, 200), st.sampled_from(sorted(READERS)))
def test_nothing_of_any_foreign_file_is_shown(
    tmp_path_factory: pytest.TempPathFactory, content: Any, dump: Callable[[Any], str], size: int, reader: str
) -> None:
    path = tmp_path_factory.mktemp("foreign") / "foreign.yaml"
    path.write_text(dump(content)[:size])
    if content != {}:
        assert SECRET not in refused(READERS[reader], path)


@pytest.mark.parametrize("reader", ["catalog", "catalog of a case"])
def test_nothing_of_a_foreign_folder_is_shown(reader: str, tmp_path: Path) -> None:
    folder = tmp_path / "foreign.yaml"
    for name in ("photos", "letters", SECRET, "servers"):
        (folder / name).mkdir(parents=True)
        (folder / name / f"{SECRET}.yaml").write_text(f"{SECRET}: 1\n")
    (folder / f"{SECRET}.yaml").write_text("a: 1\n")
    text = refused(READERS[reader], folder)
    assert SECRET not in text and "not a catalog but a folder of 5 entries" in text


@pytest.mark.parametrize("key", ["catalog", "prices"])
def test_a_pipe_that_a_case_names_is_not_waited_for(key: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    text = refused(as_case(**{key: ["./PATH"]}), tmp_path / "pipe.yaml")
    assert "this is a device or a pipe, not a file" in text


def test_a_model_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert "there is no such model file" in refused(READERS["model of a case"], tmp_path / "pipe.yaml")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([], True),
        (["name"], True),
        (["nmae"], True),
        (["name", "password"], False),
        (["name", "server", "password"], True),
        (["password"], False),
        (["name", "server", *"abcdefgh"], False),
    ],
)
def test_what_most_keys_say(words: list[str], answer: bool) -> None:
    assert are_mostly(words, ("name", "server", "servers")) is answer


# -- what is shown of our own files -----------------------------------------------------------------------------------


@given(st.text() | st.text("\x00\u202e'\"\\a", min_size=30))
def test_a_text_is_cut_where_it_is_shown(text: str) -> None:
    shown = as_written(text)
    assert shown.isprintable() and len(shown) <= LONGEST_SHOWN + len("''")
    if shown != repr(text):
        start = ast.literal_eval(shown[:-4] + shown[-1])
        assert shown[-4:-1] == "..." and text.startswith(start) and len(repr(text)) > LONGEST_SHOWN + len("''")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 40, repr("x" * 40)),
        ("x" * 41, repr("x" * 37 + "...")),
        ("\x1b" * 11, repr("\x1b" * 9)[:-1] + "...'"),
        ("\ud800" * 2, r"'\ud800\ud800'"),
        ("a\u202eb", r"'a\u202eb'"),
        (10**50, "1" + "0" * 36 + "..."),
        ([1] * 14, "a list of 14"),
        ({"a": "x" * 40}, "a mapping of 1"),
        ([1, 2], "[1, 2]"),
        (None, "null"),
    ],
)
def test_values_are_short_and_printable(value: object, shown: str) -> None:
    assert as_written(value) == shown


@given(st.lists(st.text() | st.integers(0, 9), min_size=1))
def test_keys_are_short_and_printable(steps: list[str | int]) -> None:
    path = key_path(steps)
    assert path.isprintable() and len(path) <= len(steps) * (LONGEST_SHOWN * 2 + len('[""]'))


def test_a_long_file_name_keeps_its_end() -> None:
    name = file_name("folder/" * 100 + "case\n.yaml")
    assert len(name) == LONGEST_FILE_NAME and name.startswith("...") and name.endswith(r"folder/case\n.yaml")
    assert str(fault("a\nb", "", "is wrong")) == r"a\nb: is wrong"
    assert str(fault("a", "b\n", "is\u202ewrong", allowed="c\r")) == r"a: b\n: is\u202ewrong; allowed: c\r"


def test_a_long_word_is_compared_in_no_time() -> None:
    assert nearest("x" * 10_000_000, ["servers"] * 1000) is None
    assert nearest("server", ["servers"]) == "servers"
    assert cut("x" * 41) == "x" * 37 + "..."


@pytest.mark.long
def test_many_faults_below_a_key_are_counted_not_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compared: list[str] = []
    monkeypatch.setattr("fabopt.io.advice.did_you_mean", lambda word, words: str(compared.append(word)))
    path = tmp_path / "case.yaml"
    path.write_text(yaml.safe_dump(CASE | {"limits": {f"k{number}": 1 for number in range(5000)}}))
    assert refused(read_case, path).endswith("and more")
    assert len(compared) <= 100


# -- designs ----------------------------------------------------------------------------------------------------------


def test_a_wrong_case_in_a_design_is_wrong_input(run: Run, folder: Path) -> None:
    assert run("solve", "case.yaml", "--alternatives", "0", "--json", "design.json").code == 0
    content = json.loads(Path("design.json").read_text())
    content["case"]["content"]["fabrics"][0]["name"] = "a,b"
    Path("design.json").write_text(json.dumps(content))
    options = {"bom": ["-o", "bom.csv"], "export": ["--to", "cables", "-o", "out"], "report": ["-o", "page.html"]}
    for command in ("check", "bom", "export", "report"):
        ran = run(command, "design.json", *options.get(command, []))
        assert ran.code == 2, command
        said = "design.json: case.content.fabrics[0].name: this value is not allowed; found 'a,b'"
        assert ran.err.startswith(said), command


def test_a_wrong_part_in_a_design_is_told_like_one_of_a_catalog(run: Run, folder: Path) -> None:
    assert run("solve", "case.yaml", "--json", "design.json").code == 0
    content = json.loads(Path("design.json").read_text())
    part = next(part for part in content["parts"].values() if part["kind"] == "switch")
    part["power_w"] = SECRET * 9
    Path("design.json").write_text(json.dumps(content))
    ran = run("export", "design.json", "--to", "ports", "-o", "out", "--unchecked")
    told = "this value is not allowed; found 'not-to-be-shownnot-to-be-shownnot-to-...'; allowed: a number"
    assert ran.code == 2 and f"part `{part['id']}`: power_w: {told}" in ran.err
    assert "pydantic" not in ran.err


@pytest.fixture(scope="module")
def files_of_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a case, a design, a bill, a front and a plan of it."""
    folder = tmp_path_factory.mktemp("kinds")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shutil.copy(TINY, "acme.yaml")
        write_case()
        made = ["--json", "design.json", "--bom", "bill.json", "--alternatives", "0"]
        assert main(["solve", "case.yaml", *made]) == 0
        assert main(["sweep", "case.yaml", "--budget", "2M", "--json", "front.json"]) == 0
        assert main(["export", "design.json", "--to", "plan", "-o", "files"]) == 0
    return folder


@pytest.mark.parametrize(
    ("command", "file", "what"),
    [
        (["solve"], "design.json", "this is not a case but a design; `fabopt show`, `check`"),
        (["solve"], "front.json", "this is not a case but the file of a sweep or front; `fabopt report`"),
        (["solve"], "bill.json", "this is not a case but a bill of materials; "),
        (["solve"], "files/plan.yaml", "this is not a case but a plan; `fabopt check PLAN.yaml"),
        (["check"], "case.yaml", "this is not a design but a case; `fabopt solve CASE --json"),
        (["report", "-o", "page.html"], "bill.json", "this is not a design but a bill of materials; "),
        (["export", "--to", "dot", "-o", "files"], "files/plan.yaml", "this is not a design but a plan; "),
        (["check"], "two-tier-example", "no such file; it is an example case; `fabopt solve two-tier-example"),
        (["solve"], "case", "no such file; did you mean `case.yaml`?"),
        (["solve"], "two-teir-example", "no such file; did you mean `two-tier-example`?"),
        (["solve"], "hall-1024-gpus.yml", "no such file; did you mean `hall-1024-gpus`?"),
    ],
)
def test_a_file_of_another_kind_is_named_with_what_takes_it(
    run: Run, files_of_kinds: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], file: str, what: str
) -> None:
    monkeypatch.chdir(files_of_kinds)
    ran = run(command[0], file, *command[1:])
    assert (ran.code, ran.err.count("\n")) == (2, 1) and ran.err.startswith(f"{file}: {what}")
