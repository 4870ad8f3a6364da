"""What a key means, in the terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from fabopt.errors import InputError
from fabopt.output.terminal import schema_keys
from fabopt.output.terminal.schema_keys import SCHEMAS, WIDTH, key_lines, keys_of_file


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


def test_examples_are_what_their_keys_allow() -> None:
    for kind, sample in schema_keys._content(schema_keys.EXAMPLES).items():
        types: dict[tuple[str, ...], Any] = {}
        for key in keys_of_file(SCHEMAS[kind]):  # families have keys of one path
            types[key.steps] = types[key.steps] | key.field.annotation if key.steps in types else key.field.annotation
        for steps, allowed in types.items():
            for value in schema_keys._values(sample, steps):
                if not isinstance(value, dict | list):
                    TypeAdapter(allowed).validate_json(json.dumps(value))


def test_nearly_every_key_has_an_example() -> None:
    """Whoever adds a key need not write one, but most have."""
    keys = [(kind, key) for kind in schema_keys._content(schema_keys.EXAMPLES) for key in keys_of_file(SCHEMAS[kind])]
    without = [(kind, key.path) for kind, key in keys if not any(schema_keys._example(kind, key))]
    assert len(keys) > 2000 and len(without) < len(keys) / 50, without


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
