"""Published models: parameters, to the last digit printed, and operations of ``tests/published/models.yaml``."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fabopt.schema.model import Architecture, Model, Plan
from fabopt.schema.product import Source
from fabopt.workload.architecture import flops, kv_width, parameters
from tests.paths import PUBLISHED

Json = dict[str, Any]
FIGURES = ("name", "parameters", "parameters_b", "active_b")
WEIGHTS, MEGATRON, PALM, GLAM, CACHES, OPERATIONS = yaml.safe_load_all((PUBLISHED / "models.yaml").read_text())
BILLION = 10**9
BF16_BYTES = 2


def architecture(row: Json) -> Architecture:
    """What the row says of it."""
    return Architecture.model_validate({key: value for key, value in row.items() if key not in FIGURES})


def named(name: str) -> Architecture:
    """Of the first table."""
    return architecture(next(row for row in WEIGHTS["cases"] if row["name"] == name))


@pytest.mark.parametrize("row", WEIGHTS["cases"], ids=lambda row: row["name"])
def test_every_parameter_of_the_weights_is_counted(row: Json) -> None:
    assert parameters(architecture(row)).total == row["parameters"]


@pytest.mark.parametrize("row", MEGATRON["cases"], ids=lambda row: f"{row['parameters_b']}B")
def test_megatron(row: Json) -> None:
    """Narayanan et al. 2021, table 1: all rows."""
    gpt = {"feed_forward": 4 * row["hidden"], "vocabulary": 51200, "sequence": 2048, "gated": False, "biases": True}
    found = parameters(architecture({**row, **gpt, "learned_positions": True, "tied_embeddings": True}))
    assert round(found.total / BILLION, 1) == row["parameters_b"]


@pytest.mark.parametrize("row", PALM["cases"], ids=lambda row: f"{row['parameters_b']}B")
def test_palm(row: Json) -> None:
    """Chowdhery et al. 2022, table 1. A layer of theirs has one norm, of ours two: 2 million of 540 billion."""
    hundredths = parameters(architecture(row)).total / (BILLION // 100)
    assert round(100 * row["parameters_b"]) in (int(hundredths), round(hundredths))


def test_glam() -> None:
    """Du et al. 2022, table 4: 1.2T, of which 96.6B are active."""
    (row,) = GLAM["cases"]
    found = parameters(architecture(row))
    assert round(found.total / (100 * BILLION)) * 100 == row["parameters_b"]
    assert round(found.active / BILLION, 1) == row["active_b"]


@pytest.mark.parametrize("row", CACHES["cases"], ids=lambda row: row["name"])
def test_keys_and_values_of_a_token(row: Json) -> None:
    """Insights into DeepSeek-V3, table 1."""
    one = named(row["name"])
    assert kv_width(one) * one.layers * BF16_BYTES == row["kv_bytes"]


@pytest.mark.parametrize("row", OPERATIONS["cases"], ids=lambda row: row["name"])
def test_operations_of_a_token(row: Json) -> None:
    """The same, table 2. It counts the pairs of tokens that causal attention needs, half of what fabopt counts."""
    one = named(row["name"])
    paper = Source(url=OPERATIONS["source"]["url"], kind="paper")
    model = Model(name="published", architecture=one, plan=Plan(batch=1), sources=(paper,))
    # what selective recomputation adds is attention once, of three times in forward and backward passes
    scores = 3 * (flops(model, "selective").hardware - flops(model, "none").hardware)
    causal = (flops(model, "none").model - scores / 2) / one.sequence
    assert round(causal / BILLION) == row["gflop"]
