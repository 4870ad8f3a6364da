"""Whatever the input: reading ends in a value or in ``InputError``, never in another exception."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.catalog import read_catalog
from fabopt.io.design import parse_json
from fabopt.io.faults import validated
from fabopt.io.text import parse_yaml
from fabopt.parts.price_books import parse_price_change
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design
from tests.paths import ERRORS

TINY = ERRORS / "_tiny.yaml"
CATALOG: dict[str, Any] = yaml.safe_load(TINY.read_text())
CASE: dict[str, Any] = {
    "name": "pod",
    "catalog": [str(TINY)],
    "prices": ["spring"],
    "server": "acme-gpu2",
    "stages": [{"name": "a", "month": 0, "servers": 2}, {"name": "b", "month": 6, "gpus": 8}],
    "workload": {"profile": "mixed"},
    "fabrics": [
        {
            "name": "compute",
            "protocol": "ethernet",
            "topologies": ["clos"],
            "tiers": [1, 2],
            "planes": [1, 2],
            "nics": ["acme-nic"],
            "nics_per_server": 2,
            "max_oversubscription": {"leaf": 1.5},
            "switches": {"leaf": ["acme-t4"], "spine": "any"},
            "attachments": [{"name": "ufm", "ports": 2, "form_factor": "OSFP", "split": "1x400"}],
            "reserve_ports": 0.1,
        }
    ],
    "site": {"distances_m": {"server-leaf": 2, "leaf-spine": 20.5}, "servers_per_rack": 4},
    "limits": {"budget_usd": 1e6},
    "finance": {"pue": 1.3},
}
DESIGN: dict[str, Any] = {
    "fabopt": "0.1.0",
    "case": {"name": "pod", "sha256": "0" * 64, "content": CASE},
    "status": "infeasible",
    "objective": {"metric": "capex_usd", "value": 1, "bound": 1.5, "gap": None},
    "bom": [],
    "conflicts": [{"limit": "limits.power_w", "value": 1, "needed": "2", "detail": ""}],
}
PROFILE = settings(
    max_examples=80,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

WORDS = st.sampled_from(["any", "acme-t4", "acme-nic", "2x400", "0x0", "1x400", "name", "NxG", "-", "..", "../x", ""])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=8),
    WORDS,
    st.sampled_from([-1, 0, 1, 10**9, 10**12 + 1, 1e308, -1e-300, float("inf"), "9" * 5000, "\ud800", "\x00", "=1"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | WORDS, inner, max_size=3),
    max_leaves=5,
)


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the path of every value in a nested object."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


def changed(content: Any, place: tuple[Any, ...], how: str, value: Any, word: str) -> Any:
    """Return a copy with one thing wrong at ``place``: dropped, replaced, doubled, renamed or added."""
    if not place:
        return value
    content = copy.deepcopy(content)
    parent = content
    for step in place[:-1]:
        parent = parent[step]
    key = place[-1]
    if how == "drop":
        del parent[key]
    elif how == "double" and isinstance(parent, list):
        parent.append(parent[key])
    elif how == "rename" and isinstance(parent, dict):
        parent[word] = parent.pop(key)
    elif how == "add" and isinstance(parent, dict):
        parent[word] = value
    else:
        parent[key] = value
    return content


@st.composite
def mutants(draw: st.DrawFn, content: Any) -> Any:
    """Draw the content with one to three things changed."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(content)))
        how = draw(st.sampled_from(["drop", "replace", "double", "rename", "add"]))
        content = changed(content, place, how, draw(VALUES), draw(st.text(max_size=6) | WORDS))
    return content


def survives(action: Callable[[], object]) -> None:
    """Run an action that may refuse; a refusal must have something to say."""
    try:
        action()
    except InputError as refusal:
        assert refusal.faults and all(fault.file and fault.problem for fault in refusal.faults)
        assert str(refusal)


@pytest.fixture(autouse=True, scope="module")
def no_cache() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABOPT_CACHE", "off")
        yield


@PROFILE
@given(mutants(CASE))
def test_mutant_cases(case: Any) -> None:
    survives(lambda: inputs_from_objects(case if isinstance(case, dict) else {"name": case}, CATALOG))


@pytest.mark.long
@PROFILE
@given(mutants(CATALOG))
def test_mutant_catalogs(catalog: Any) -> None:
    survives(lambda: inputs_from_objects(CASE, catalog if isinstance(catalog, dict) else {"nics": catalog}))


@PROFILE
@given(st.sampled_from([(Case, CASE), (Catalog, CATALOG), (Design, DESIGN)]).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), mutants(pair[1]))
))  # fmt: skip
def test_mutant_objects(pair: tuple[Any, Any]) -> None:
    model, content = pair
    faults: list[Any] = []
    assert (validated(model, content, "file", faults) is None) == bool(faults)
    assert all(str(fault) for fault in faults)


def spoilt(text: str, cuts: list[tuple[int, int, str]]) -> bytes:
    """Return the text with stretches of it replaced, in UTF-8 but for lone surrogates."""
    for start, length, new in cuts:
        at = start % (len(text) + 1)
        text = text[:at] + new + text[at + length :]
    return text.encode("utf-8", "surrogatepass")


SNIPPETS = st.sampled_from(
    ["\t", "\n", "&a ", "*a", "<<: ", "!!int ", "!x ", "---\n", "...\n", "{", "}", "[", "]", ": ", "- ", "? ", "| ",
     "> ", "%YAML 1.1\n", "#", '"',
     "'", "\\", "\x00", "\x85", "\u2028", "\ufeff", "1e999", ".nan", "0o7", "0x1F", "1_0", "~",
     "[" * 80, "{a: " * 80, "- " * 80, "&a [*a, *a]", "9" * 60, '"\\ud800"', '"\\x00"', "yes", "2026-01-01"]
)  # fmt: skip
CUTS = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 12), SNIPPETS | st.text(max_size=6)), min_size=1, max_size=4
)
CASE_TEXT, DESIGN_TEXT = yaml.safe_dump(CASE, sort_keys=False), json.dumps(DESIGN)


@PROFILE
@given(CUTS, st.sampled_from(["CSafeLoader", "SafeLoader"]))
def test_spoilt_yaml(cuts: list[tuple[int, int, str]], loader: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fabopt.io.text._Loader", getattr(yaml, loader, yaml.SafeLoader))
        survives(lambda: parse_yaml(spoilt(CASE_TEXT, cuts), "file"))


@PROFILE
@given(CUTS)
def test_spoilt_json(cuts: list[tuple[int, int, str]]) -> None:
    survives(lambda: parse_json(spoilt(DESIGN_TEXT, cuts), "file"))


@PROFILE
@given(st.binary(max_size=60))
def test_garbage(data: bytes) -> None:
    survives(lambda: parse_yaml(data, "file"))
    survives(lambda: parse_json(data, "file"))


@PROFILE
@given(st.text(max_size=12) | st.from_regex(re.compile(r"(nic|acme-t4|x)=[-+]?[0-9.]{0,9}%?"), fullmatch=True))
def test_price_changes(text: str) -> None:
    catalog = Catalog.model_validate_json(json.dumps(CATALOG))
    case = {"name": "pod", "server": "acme-gpu2", "servers": 2}
    assert parse_price_change(text, catalog)
    survives(lambda: inputs_from_objects(case, catalog, price_changes=[text]))


@PROFILE
@given(st.text(max_size=12) | st.from_regex(re.compile(r"[./a-z\\-]{1,12}(\.yaml)?"), fullmatch=True))
def test_catalog_names(name: str) -> None:
    survives(lambda: read_catalog([name], TINY.parent / "none"))
