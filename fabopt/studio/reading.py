"""Jobs on texts of cases: what a page needs to begin with, what is wrong with a text, and a key of it changed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from fabopt.errors import InputError
from fabopt.io.case import Inputs, inputs_from_text
from fabopt.io.catalog import read_catalog
from fabopt.io.kinds import CASE
from fabopt.io.library import names
from fabopt.io.text import parse_yaml
from fabopt.parts.names import product_name
from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.schema.case import Case
from fabopt.studio.edit import edited
from fabopt.studio.folder import CASES, DESIGNS, below, files
from fabopt.studio.wire import Message, fault_rows
from fabopt.studio.worker import Bench

UNNAMED = "case.yaml"


def inputs_of(bench: Bench, text: str, path: str | None, prices: Mapping[str, float] | None = None) -> Inputs:
    """Return the inputs of a case's text, as if it stood in the file of the studio's folder that it is for.

    ``prices``: changes of prices by kind, in percent.
    """
    changes = [f"{kind}={percent:+g}%" for kind, percent in (prices or {}).items() if percent]
    return inputs_from_text(text, below(bench.folder, path or UNNAMED, CASES), changes)


def start(bench: Bench) -> Message:
    """Return what there is in the folder and in the library: cases, designs, keys of a case, names for them."""
    catalog = read_catalog(["reference"], bench.folder, "library")
    products: dict[str, list[list[str]]] = {}
    for kind in ("switches", "nics", "transceivers", "cables", "servers"):
        rows = getattr(catalog, kind)
        products[kind] = [[row.id, product_name(row.model_dump(exclude_none=True), row.id)] for row in rows]
    return {
        "cases": files(bench.folder, CASES),
        "designs": files(bench.folder, DESIGNS),
        "schema": Case.model_json_schema(by_alias=True),
        "choices": {
            "server": products["servers"],
            "fabrics[].nics": products["nics"],
            **{f"fabrics[].switches.{tier}": products["switches"] for tier in ("leaf", "spine", "core")},
            "catalog": [[name, name] for name in names("catalogs")],
            "prices": [[book.name, book.name] for book in catalog.prices if book.name],
            "workload.model": [[name, name] for name in names("models")],
        },
        "rules": {name: rule.sentence for name, rule in DEFAULT_RULES.items()},
        "parts": products,
    }


def read(bench: Bench, text: str, path: str | None = None) -> Message:
    """Return a text's values, its faults, and the default rules that it turns off."""
    values: Any = None
    faults: list[Message] = []
    off: list[Message] = []
    with contextlib.suppress(InputError):
        values = parse_yaml(text.encode("utf-8", "replace"), path or UNNAMED, CASE)
    try:
        rules = inputs_of(bench, text, path).case.model_dump(mode="json")["rules"]
        turned_off = DEFAULT_RULES if rules == "none" else [name for name, is_on in rules.items() if not is_on]
        off = [{"rule": name, "words": DEFAULT_RULES[name].sentence} for name in turned_off if name in DEFAULT_RULES]
    except InputError as error:
        faults = fault_rows(error.faults)
    return {"values": values, "faults": faults, "rules_off": off}


def edit(bench: Bench, text: str, key: str, value: Any = None) -> Message:
    """Return a text with one key set, or taken out where the value is null; comments and order stay."""
    return {"text": edited(text, key, value)}
