"""JSON Schemas of every kind of file, for editors and other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fabopt.errors import InputError, did_you_mean, fault
from fabopt.io.library import checkout_or_package
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design
from fabopt.schema.expected import ExpectedTopology
from fabopt.schema.front import Front
from fabopt.schema.model import Model
from fabopt.schema.price_book import PriceBook
from fabopt.schema.sensitivity import Sensitivity
from fabopt.wiring.design_file import PART_MODELS

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS: dict[str, type[BaseModel]] = {
    "case": Case,
    "catalog": Catalog,
    "design": Design,
    "front": Front,
    "sensitivity": Sensitivity,
    "price-book": PriceBook,
    "model": Model,
    "expected-topology": ExpectedTopology,
    **PART_MODELS,
}


def kind_of_file(kind: str) -> type[BaseModel]:
    """Return the class that reads a kind of file; ``InputError`` for an unknown kind."""
    if kind not in SCHEMAS:
        hint = did_you_mean(kind, SCHEMAS)
        raise InputError([fault("KIND", "", "no such kind of file", kind, allowed=", ".join(SCHEMAS), hint=hint)])
    return SCHEMAS[kind]


def schema_bytes(kind: str) -> bytes:
    """Return the JSON Schema of a kind of file; ``InputError`` for an unknown kind."""
    schema: dict[str, Any] = {"$schema": _DIALECT, **kind_of_file(kind).model_json_schema(by_alias=True)}
    schema["title"] = f"fabopt {kind}"
    if kind in PART_MODELS:  # one product a file: there the id may be left to the file's name
        schema["required"] = [key for key in schema.get("required", []) if key != "id"]
    return json.dumps(schema, indent=2, ensure_ascii=False).encode() + b"\n"


def schema_file(kind: str) -> Path:
    """Return where the schema of a kind is kept on disk: with the package's data, or in the checkout's docs."""
    return checkout_or_package("docs/schemas", "schemas") / f"{kind}.json"
