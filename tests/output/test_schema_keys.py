"""What a key means, in the terminal."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from fabopt.errors import InputError
from fabopt.output.terminal.schema_keys import EXAMPLES, SCHEMAS, WIDTH, examples_of, key_lines, keys_of_file
from fabopt.schema.base import Count
from fabopt.schema.sensitivity import Takeover


def _said(kind: str, key: str) -> str:
    return "\n".join(key_lines(kind, key))


@pytest.mark.parametrize("key", ["limits.budget_usd", "budget_usd"])
def test_a_key_is_found_by_its_path_and_its_last_word(key: str) -> None:
    said = _said("case", key)
    assert said.startswith("limits.budget_usd\n  Most money, in US dollars")
    assert "allowed: number, at least 0, at most 1,000,000,000,000; or null" in said and "default: null" in said
    assert "example: budget_usd: " in said and "    from cases/" in said


@pytest.mark.parametrize(
    "key", ["fabrics[].tiers", "fabrics[0].tiers", "fabrics.compute.tiers", "fabrics.tiers", "tiers"]
)
def test_entries_of_lists_are_named_by_number_by_name_or_not(key: str) -> None:
    assert _said("case", key).startswith("fabrics[].tiers\n")


def test_keys_that_several_places_have_are_all_shown_or_listed() -> None:
    assert "plan.tensor\n" in (said := _said("model", "tensor")) and "\nplan.overlap.tensor\n" in said
    many = _said("design", "capex_usd")
    assert "say which:" in many and "totals.capex_usd: " in many and "stages[].capex_usd: " in many


def test_examples_of_products_are_from_the_catalog() -> None:
    assert "from catalogs/reference/switches/" in _said("switch", "cages.splits")
    assert "from catalogs/reference/transceivers/" in _said("catalog", "transceivers.reach_m")


def test_keys_without_a_file_have_examples_of_other_kinds_or_their_own() -> None:
    assert "example: tensor: 8\n    from models/" in _said("case", "workload.jobs.model.plan.tensor")
    assert _said("case", "fabrics.homing").endswith("example: homing: dual")


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_key_has_an_example_that_it_allows(kind: str) -> None:
    """The first, which is shown; where it is of what has keys of its own, some that must be given may be missing."""
    types: dict[tuple[str, ...], Any] = {}
    keys = tuple(keys_of_file(SCHEMAS[kind]))
    for key in keys:  # families have keys of one path
        allowed: Any = Annotated[key.field.annotation, None, *key.field.metadata]
        types[key.steps] = types[key.steps] | allowed if key.steps in types else allowed
    for key in keys:
        value, source = next(examples_of(kind, key), (None, ""))
        assert value is not None, f"{kind} {key.path} has no example: {EXAMPLES} has room for one"
        assert not _refused(types[key.steps], value), f"{key.path} of {source or EXAMPLES}"


def _refused(kind: Any, value: object) -> list[Any]:
    try:
        TypeAdapter(kind).validate_json(json.dumps(value))
    except ValidationError as refused:
        return [error for error in refused.errors() if error["type"] != "missing"]
    return []


def test_an_example_that_is_not_allowed_is_seen() -> None:
    assert _refused(Count, 0) and _refused(Takeover, {"factor": "all"}) and not _refused(Takeover, {"factor": 1.2})


def test_only_long_examples_are_cut_and_say_so() -> None:
    """Of a list that must be whole, three of four entries would be refused."""
    assert _said("design", "workload.plan.order").endswith("example: order: [tensor, context, pipeline, data]")
    assert "  example, cut: fabrics: [{name: compute" in _said("design", "fabrics")


@pytest.mark.parametrize(("key", "hint"), [("tires", "did you mean `tiers`"), ("", "prints all"), ("zz", "all")])
def test_other_words_are_refused_with_what_is_near(key: str, hint: str) -> None:
    with pytest.raises(InputError, match="no such key") as refused:
        _said("case", key)
    assert hint in str(refused.value)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_key_can_be_asked_for(kind: str) -> None:
    for name, field in SCHEMAS[kind].model_fields.items():
        lines = list(key_lines(kind, field.alias or name))
        assert lines[0] == (field.alias or name) and max(map(len, lines)) <= WIDTH


@pytest.mark.long
@pytest.mark.parametrize("kind", ["case", "catalog", "model", "design"])
def test_the_path_of_every_key_says_what_it_means(kind: str) -> None:
    """Also where several classes have a key at it, such as the structures of families."""
    for key in keys_of_file(SCHEMAS[kind]):
        lines = list(key_lines(kind, key.path))
        assert lines[0] == key.path and max(map(len, lines)) <= WIDTH
        assert any("allowed: " in line for line in lines) and any("default: " in line for line in lines)
