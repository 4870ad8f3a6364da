"""Every key of every kind of file says what it means, in one place: the docstring of the class that reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from fabopt.output.terminal.schema_keys import SCHEMAS
from fabopt.schema.plan import PlanFile
from fabopt.schema.words import words_of


def models_of(kind: Any, met: dict[type[BaseModel], None]) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind in met:
            return
        met[kind] = None
        yield kind
        for field in kind.model_fields.values():
            yield from models_of(field.annotation, met)
    for inner in get_args(kind):
        yield from models_of(inner, met)


MODELS = dict.fromkeys(model for kind in (*SCHEMAS.values(), PlanFile) for model in models_of(kind, {}))


def test_every_key_is_described_and_no_other() -> None:
    for model in MODELS:
        described = words_of(model)
        assert not model.model_fields.keys() - described.keys(), model.__name__
        if getattr(model, "like", None) is None:
            assert not described.keys() - model.model_fields.keys(), model.__name__


def test_sentences_are_sentences() -> None:
    for model in MODELS:
        for key, sentence in words_of(model).items():
            assert sentence.endswith(".") and sentence[0] in "`" + sentence[0].upper(), (model.__name__, key, sentence)
            assert len(sentence) <= 200, f"{key}: a table needs a sentence, the docs have room for more"


def test_schemas_have_every_sentence() -> None:
    for kind, model in SCHEMAS.items():
        written = model.model_json_schema(by_alias=True)
        for name, part in {kind: written, **written["$defs"]}.items():
            assert all("description" in key for key in part.get("properties", {}).values()), name
            assert "Attributes" not in part.get("description", ""), name
