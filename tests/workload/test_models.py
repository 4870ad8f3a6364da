"""The library of AI models: every file is strict, has sources, fits a cluster, and says what it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabopt.cli.models import list_models, show_model
from fabopt.errors import InputError
from fabopt.io.catalog import read_catalog
from fabopt.io.library import data_folder, names
from fabopt.io.workload import read_model
from fabopt.schema.workload import Workload
from fabopt.workload.architecture import parameters
from fabopt.workload.checks import wrongs_of
from fabopt.workload.ranks import replica_gpus

MODELS = names("models")
SCHEMA_LINE = "# yaml-language-server: $schema=../docs/schemas/model.json"
# The first server of the reference catalog on which each number format is fast.
SERVERS = {"fp8": "nvidia-dgx-h100", "fp16": "generic-hgx-a100", "bf16": "nvidia-dgx-h100"}


def test_there_are_enough() -> None:
    assert len(MODELS) >= 8
    assert {read_model(name, Path()).task for name in MODELS} == {"training", "inference"}


@pytest.mark.parametrize("name", MODELS)
def test_file_says_what_it_is(name: str) -> None:
    path = data_folder("models") / f"{name}.yaml"
    model = read_model(name, Path())
    assert path.read_text().splitlines()[0] == SCHEMA_LINE
    assert model.name == name
    assert model.description and model.notes
    assert model.confidence in ("high", "medium", "low")
    assert all(one.url for one in model.sources)


@pytest.mark.parametrize("name", MODELS)
def test_size_is_the_published_one(name: str) -> None:
    """Rounded, or cut off as in 405B for 405.85 billion."""
    model = read_model(name, Path())
    assert model.parameters_b is not None
    counted = parameters(model.architecture)
    published = {
        # Vision encoder and projector: 871,932,416 parameters, that of Maverick.
        "llama4-scout": counted.total + 871_932_416,
        # Its table counts the layer that predicts a further token, and neither embeddings nor output.
        "glm-4.5": counted.total + counted.further - 2 * 151552 * 5120,
    }
    assert -0.5 <= published.get(name, counted.total) / 10**9 - model.parameters_b < 1


@pytest.mark.parametrize("name", MODELS)
def test_active_parameters_are_the_published_ones(name: str) -> None:
    """To half a billion with or without the embedding, as makers count it or not; Qwen3-Next without either end."""
    model = read_model(name, Path())
    if model.active_parameters_b is None:
        return
    sizes, counted = model.architecture, parameters(model.architecture).active
    ends = sizes.vocabulary * sizes.hidden
    counts = [counted - number * ends for number in (0, 1, 2)]
    assert min(abs(count / 10**9 - model.active_parameters_b) for count in counts) < 0.55


@pytest.mark.parametrize("name", MODELS)
def test_plan_fits_a_cluster(name: str) -> None:
    """On as many replicas as expert ranks, or thirty-two, over which optimizers are split, nothing is wrong."""
    model = read_model(name, Path())
    server = next(
        one for one in read_catalog(["reference"], Path()).servers if one.id == SERVERS[model.precision.compute]
    )
    gpus = replica_gpus(model.plan) * max(32, model.plan.expert)
    wanted = Workload(model=model, gpu_utilization=0.4, max_exposed_communication=0.5)
    assert wrongs_of(wanted, model, server, gpus) == []


@pytest.mark.long(but=("gpt3-175b-nvidia-dgx-h100-64",))
@pytest.mark.parametrize(
    ("model", "server", "enough"),
    [
        ("gpt3-175b", "nvidia-dgx-h100", "64"),
        ("gpt3-175b", "nvidia-gb200-nvl72-tray", "16"),
        ("kimi-k2", "nvidia-dgx-h100", "256"),
        ("kimi-k2", "nvidia-gb200-nvl72-tray", "128"),
    ],
)
def test_plans_are_those_of_the_server_that_is_asked_for(
    model: str, server: str, enough: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On 186 GB a GPU fewer hold the model than on 80."""
    monkeypatch.setenv("COLUMNS", "120")
    show_model(model, server)
    assert f"none fits, some do on {enough}" in capsys.readouterr().out


def test_no_plans_are_shown_of_servers_that_are_not_there_or_not_fast() -> None:
    with pytest.raises(InputError, match="no server with GPUs has this id; found 'nvidia-gb200'"):
        list_models("nvidia-gb200")
    with pytest.raises(InputError, match="computes in bf16, and nvidia-vr-nvl72-tray does not say its speed in that"):
        show_model("kimi-k2", "nvidia-vr-nvl72-tray")


def test_a_model_is_read_again_as_it_was_written() -> None:
    for name in MODELS:
        model = read_model(name, Path())
        assert type(model).model_validate_json(json.dumps(model.model_dump(mode="json"))) == model
