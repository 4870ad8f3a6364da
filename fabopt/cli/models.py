"""Commands about AI models: the list of the library, and the plans of one model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabopt.cli.output import say, tell
from fabopt.errors import did_you_mean, refusal
from fabopt.io.catalog import read_catalog
from fabopt.io.library import names
from fabopt.io.workload import read_model
from fabopt.output.terminal.summary import table
from fabopt.output.terminal.workload import duration
from fabopt.output.words import count
from fabopt.schema.model import SHARED_PARAMETERS, Model, Plan
from fabopt.schema.server import Server
from fabopt.schema.workload import DEFAULT_EXPOSED
from fabopt.units import exact, some
from fabopt.workload.architecture import expert_layers, kept_numbers, parameters
from fabopt.workload.checks import enough_gpus
from fabopt.workload.kernels import WIDE_BYTES
from fabopt.workload.memory import GIB, least_memory, likely_memory
from fabopt.workload.needs import Reach, demanding, flat, least_mbps
from fabopt.workload.plans import COMPARED_MBPS, fastest_plan, fits
from fabopt.workload.ranks import ranks_of, replica_gpus
from fabopt.workload.serving import MEMORY_SHARE, networks, served
from fabopt.workload.stages import band, slow_end_s
from fabopt.workload.timing import step_on, workload_of

# The numbers of GPUs that plans are said for.
_CLUSTERS = (8, 64, 1024)
_RATIOS, _MOST_TOKENS = (1, 2, 4), 10**8
_BILLION, _MBPS_PER_GBPS, _PERCENT = 10**9, 1000, 100


def list_models(server_id: str) -> None:
    """Print every AI model of the library: its task, its size, and plans that fit clusters of a server."""
    server = _server(server_id)
    columns = [("name", False), ("task", False), ("parameters", True)]
    columns += [(f"{some(gpus, 'GPU')}", False) for gpus in _CLUSTERS]
    models = [read_model(name, Path()) for name in names("models")]
    say(table(columns, (_model_row(model, server) for model in models)))
    tell(
        f"plans: predicted to be fastest on {server.id} of what fits its {server.gpu_memory_gb or 0:g} GB a GPU, and "
        "the memory that they are likely to take; a case has the like with `workload.plan: auto`, and `fabopt models "
        "NAME` says more of a model"
    )


def show_model(text: str, server_id: str) -> None:
    """Print an AI model, and for several clusters its plan, memory, step and the Gb/s that it needs of a network."""
    model, server = read_model(text, Path()), _server(server_id)
    _needs_speed(model, server)
    for line in _lines(model):
        say(line)
    columns = [("GPUs", True), ("plan", False), ("memory", False), ("step", False), ("Gb/s a GPU", True)]
    say(table(columns, _rows(model, server)))
    tell(
        f"on {server.id} with {server.gpu_memory_gb or 0:g} GB a GPU; plans: the model's own, and those predicted to "
        "be fastest with 400 Gb/s everywhere; memory: at least, and likely; step: with typical software; Gb/s: the "
        f"least at 1:1 with which GPUs wait {_PERCENT * DEFAULT_EXPOSED:g} % of it at most, if only servers are near"
    )


def show_serving(text: str | None, server_id: str, lengths: str) -> None:
    """Print for several clusters a plan that serves a model, its batch, and what networks cost in latency."""
    given = [part for part in lengths.split(",") if part.isdigit() and 0 < int(part) <= _MOST_TOKENS]
    if text is None or len(given) != len(("prompt", "output")) or lengths.count(",") != 1:
        raise refusal(
            "--serve",
            "",
            "needs a MODEL, and the tokens of a prompt and of its output",
            lengths,
            allowed="two whole numbers such as 8192,1024",
        )
    prompt, output = map(int, given)
    model, server = read_model(text, Path()), _server(server_id)
    _needs_speed(model, server)
    most = model.architecture.max_sequence
    if most is not None and prompt + output > most:
        raise refusal(
            "--serve",
            "",
            f"{count(prompt)} + {count(output)} = {count(prompt + output)} tokens, "
            f"and {model.name} is made for {count(most)}",
            lengths,
            allowed=f"at most {count(most)}",
        )
    for line in _lines(model):
        say(line)
    columns = [("GPUs", True), ("plan", False)]
    columns += [(title, True) for title in ("sequences", "ratio", "read", "sent", "token", "tokens/s")]
    say(table(columns, (row for gpus in _CLUSTERS for row in _served_rows(model, server, gpus, prompt, output))))
    kept = kept_numbers(model.architecture, prompt) * WIDE_BYTES / _BILLION
    tell(
        f"on {server.id}; read, sent: a prompt of {count(prompt)} tokens, which keeps {kept:.3g} GB; sequences of a "
        f"replica: as many as {float(MEMORY_SHARE):.0%} of the memory holds; token: of each of them, with half of the "
        "output written; tokens/s: of a GPU; networks of 400 Gb/s a GPU, with this ratio at leaves, servers anywhere; "
        "queues and guessed tokens are not counted"
    )


def _served_rows(model: Model, server: Server, gpus: int, prompt: int, output: int) -> Iterator[list[str]]:
    serving = served(model, server, gpus, prompt, output)
    if serving is None:
        yield [count(gpus), "none fits", *[""] * 6]
        return
    sequences = serving.most_sequences
    for ratio, network in zip(_RATIOS, networks(serving, COMPARED_MBPS, _RATIOS), strict=True):
        token_s = serving.decode_s(network, sequences)
        times = (serving.prefill_s(network), serving.sends_s(network), token_s)
        tokens_per_s = sequences / (serving.plan.tensor * token_s)
        head = [count(gpus), _plan_text(serving.plan), count(sequences)] if ratio == 1 else ["", "", ""]
        yield [*head, f"{ratio}:1", *(duration(float(seconds)) for seconds in times), f"{float(tokens_per_s):,.0f}"]


def _needs_speed(model: Model, server: Server) -> None:
    """Refuse a server that does not say its speed in the model's number format."""
    if model.precision.compute not in server.gpu_peak_tflops:
        known = ", ".join(sorted(server.gpu_peak_tflops)) or "none"
        raise refusal(
            "--server",
            "",
            f"{model.name} computes in {model.precision.compute}, and {server.id} does not say its speed in that",
            server.id,
            allowed=f"a server that does; this one has {known}",
        )


def _server(server_id: str) -> Server:
    """A server of the reference catalog."""
    servers = {server.id: server for server in read_catalog(["reference"], Path()).servers if server.gpus}
    if server_id not in servers:
        raise refusal(
            "--server",
            "",
            "no server with GPUs has this id",
            server_id,
            allowed=", ".join(servers),
            hint=did_you_mean(server_id, servers),
        )
    return servers[server_id]


def _lines(model: Model) -> Iterator[str]:
    sizes, counts = model.architecture, parameters(model.architecture)
    active = "" if sizes.experts is None else f", of which a token meets {counts.active / _BILLION:,.4g} billion"
    size = f"{counts.total / _BILLION:,.4g} billion parameters{active}"
    yield f"{model.name}: {model.task} of {size}, in {model.precision.compute}"
    yield f"  {model.description}"
    yield (
        f"  {some(sizes.layers, 'layer')} of {count(sizes.hidden)}, {some(sizes.heads, 'head')}, "
        f"sequences of {count(sizes.sequence)} tokens, {count(model.plan.batch)} of them in a step"
    )
    if sizes.experts is not None:
        routed = sizes.experts
        near = routed.servers_per_token
        limit = "" if near is None else f" in {near} scale-up domains at most"
        layers = some(expert_layers(sizes), "layer")
        yield f"  {some(routed.count, 'expert')} in {layers}, {routed.top_k} for each token{limit}"


def _rows(model: Model, server: Server) -> Iterator[list[str]]:
    """The model's own plan on the largest cluster, and the fastest on each."""
    own = _CLUSTERS[-1]
    if own % replica_gpus(model.plan) == 0 and fits(model, model.plan, server, own):
        yield _row(model, model.plan, server, own, "its own: ")
    for gpus in _CLUSTERS:
        plan = fastest_plan(model, model.plan, server, gpus)
        if plan is None:
            enough = enough_gpus(model, model.plan, server, gpus)
            yield [count(gpus), "none fits" if enough is None else f"none fits, some do on {count(enough)}", "", "", ""]
        else:
            yield _row(model, plan, server, gpus)


def _row(model: Model, plan: Plan, server: Server, gpus: int, whose: str = "") -> list[str]:
    run = workload_of(model, ranks_of(model, plan, gpus), server, None)
    step_s = step_on(run, flat(COMPARED_MBPS, Reach(run.domain_gpus))).step_s
    off = band(model, run.roof.software, False)
    low, high = (duration(float(end_s)) for end_s in (step_s * (1 - off), slow_end_s(step_s, off)))
    least, likely = (memory(model, run.ranks).total / GIB for memory in (least_memory, likely_memory))
    mbps = least_mbps(demanding(run), exact(DEFAULT_EXPOSED), Reach(run.domain_gpus))
    needs = "none is enough" if mbps is None else f"{mbps / _MBPS_PER_GBPS:.3g}"
    memory = f"{float(least):.0f} to {float(likely):.0f} GB"
    return [count(gpus), f"{whose}{_plan_text(plan)}", memory, f"{low} to {high}", needs]


def _model_row(model: Model, server: Server) -> list[str]:
    size = parameters(model.architecture).total / _BILLION
    return [model.name, model.task, f"{size:,.4g} B", *(_fitting(model, server, gpus) for gpus in _CLUSTERS)]


def _fitting(model: Model, server: Server, gpus: int) -> str:
    """The fastest plan that fits ``gpus`` GPUs, with its likely memory."""
    if model.precision.compute not in server.gpu_peak_tflops:
        return f"no {model.precision.compute} speed"
    plan = fastest_plan(model, model.plan, server, gpus)
    if plan is None:
        return "none fits"
    likely, least = (memory(model, ranks_of(model, plan, gpus)).total / GIB for memory in (likely_memory, least_memory))
    tight = server.gpu_memory_gb is not None and likely > exact(server.gpu_memory_gb)
    return f"{_plan_text(plan)}: {f'{float(least):.0f} GB at least' if tight else f'{float(likely):.0f} GB'}"


def _plan_text(plan: Plan) -> str:
    ways = {"tensor": plan.tensor, "context": plan.context, "pipeline": plan.pipeline, "expert": plan.expert}
    split = [f"{name} {number}" for name, number in ways.items() if number > 1] or ["data only"]
    split += ["parameters sharded"] * (plan.zero_stage >= SHARED_PARAMETERS)
    return ", ".join([*split, *["all computed again"] * (plan.recomputation == "full")])
