"""A served model in words and rows: what it needs of the network, what its users wait for, what ratios cost them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabopt.output.stated import Column, StatedTable, Statement, statement_of, table_of
from fabopt.output.terminal.workload import PLACES, duration, needs_words, paths_lines, size
from fabopt.output.words import count, plain
from fabopt.schema.design import Design
from fabopt.schema.prediction import ServedTaper, ServingPool, ServingUse

COLUMNS = (
    ("communicator", False), ("ranks", True), ("runs in", False), ("over the network", True), ("calls", True),
    ("time", True),
)  # fmt: skip
TAPERS: Sequence[Column[ServedTaper]] = (
    Column("at the leaves", False, lambda taper: f"{plain(taper.leaf_ratio)}:1"),
    Column("first token", True, lambda taper: duration(taper.ttft_s)),
    Column("each further", True, lambda taper: duration(taper.tpot_s)),
    Column("prompt sent", True, lambda taper: "-" if taper.kv_send_s is None else duration(taper.kv_send_s)),
)
_BILLION = 10**9


def serving(design: Design) -> Statement | None:
    """A served model, its communicators and what ratios cost; None for a case without one."""
    use = design.serving
    if use is None:
        return None
    title = f"{use.model}, {use.parameters / _BILLION:,.4g} billion parameters, {plan_words(use)}"
    rows = [row for pool, does in ((use.prefill, "reading"), (use.decode, "writing")) for row in _rows(pool, does)]
    tapers = table_of(TAPERS, use.tapers, "What ratios would cost with servers anywhere")
    own = paths_lines(use.on_paths)
    lines = needs_words(use.model, use.needs), waits_line(use), *own, kv_line(use), memory_line(use)
    return statement_of("serving", "Serving", title, *lines, StatedTable(COLUMNS, rows), tapers)


def plan_words(use: ServingUse) -> str:
    """The plan of both kinds of GPUs."""
    if not use.disaggregated:
        return f"{count(use.gpus)} GPUs that read and write ({_ways(use.decode)})"
    return (
        f"{count(use.prefill.gpus)} GPUs that read ({_ways(use.prefill)}), "
        f"{count(use.decode.gpus)} that write ({_ways(use.decode)})"
    )


def _ways(pool: ServingPool) -> str:
    ways = [f"tensor {pool.tensor}"] + [f"expert {pool.expert}"] * (pool.expert > 1)
    return ", ".join(ways)


def served_words(use: ServingUse) -> str:
    """What users wait for, and what that needs of the network, in one sentence."""
    binds = f" at 1:1 ({use.needs.binding} binds)" if use.needs.binding is not None else " at 1:1"
    return (
        f"{use.model} writes {count(round(use.tokens_per_s))} tokens/s, the first after {duration(use.ttft_s)}, each "
        f"further one in {duration(use.tpot_s)}; needs {plain(use.needs.min_gbps_per_gpu)} Gb/s a GPU{binds}"
    )


def waits_line(use: ServingUse) -> str:
    """State the times of users, their limits, and tokens a second."""
    return (
        f"first token after {duration(use.ttft_s)} without a queue (at most {duration(use.ttft_limit_s)}), each "
        f"further one {duration(use.tpot_s)} ({duration(use.tpot_limit_s)}); {count(round(use.prompts_per_s))} prompts "
        f"of {count(use.prompt_tokens)} tokens a second, {count(round(use.tokens_per_s))} tokens written, "
        f"{count(round(use.tokens_per_s / use.gpus))} a GPU"
    )


def kv_line(use: ServingUse) -> str:
    """State the keys and values of a prompt, and their way to those that write."""
    kept = f"keys and values of a prompt are {size(use.kv_bytes_per_prompt)}"
    if use.kv_send_s is None:
        return f"{kept}, and stay where they are"
    return f"{kept}, sent in {duration(use.kv_send_s)}; {plain(use.kv_gbps_per_gpu)} Gb/s a GPU on the mean"


def memory_line(use: ServingUse) -> str:
    """State the memory of both kinds of GPUs."""
    kinds = [("reads", "prompt", use.prefill), ("writes", "sequence", use.decode)]
    parts = [
        f"a replica {does} {count(pool.at_once)} {what}{'s' * (pool.at_once > 1)} at once: {plain(pool.weights_gb)} GB "
        f"of weights and {plain(pool.kept_gb)} GB kept, of {plain(pool.gpu_gb or 0)} GB of a GPU"
        for does, what, pool in kinds[not use.disaggregated :]
    ]
    return "; ".join(parts)


def _rows(pool: ServingPool, does: str) -> Iterator[list[str]]:
    for entry in pool.communicators:
        over = entry.bytes_over.get("server", 0)
        yield [f"{entry.communicator}, {does}", count(entry.group), PLACES[entry.place], size(over) if over else "-",
               plain(entry.calls), duration(entry.time_s)]  # fmt: skip
