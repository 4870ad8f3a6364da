"""Faults of a model that is served, with the arithmetic: each names what would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fabopt.schema.model import Model, PlanChanges
from fabopt.schema.server import Server
from fabopt.schema.workload import Workload
from fabopt.units import some
from fabopt.workload.checks import Wrong, fits_domains, fits_server
from fabopt.workload.memory import GIB
from fabopt.workload.placement import Placing
from fabopt.workload.service import FREE, MS, Service, plans_of, pool_of, service_of, splits_of, with_pools
from fabopt.workload.serving import MEMORY_SHARE

# Doublings of GPUs in search of a number on which the model fits.
_MOST_DOUBLINGS = 8


def may_be_served(model: Model, server: Server) -> bool:
    """Whether a server says how fast its GPUs are, and what they hold."""
    return not any(_fits_server(model, server))


def wrongs_of_service(
    wanted: Workload, model: Model, server: Server, gpus: int, asked: Sequence[int] = ()
) -> list[Wrong]:
    """All faults that keep a model from being served on ``gpus`` GPUs of a server; empty if none.

    ``asked``: GPUs that the case asks for, by stage.
    """
    apart = next((wrongs for size in (gpus, *asked) if (wrongs := [*fits_domains(wanted, server, size)])), [])
    wrongs = [*apart, *_fits_server(model, server), *_fits_lengths(wanted, model)]
    wrongs = wrongs or [*_fits_prefill(wanted, server, gpus), *_divides(wanted, model, gpus)]
    if wrongs:
        return wrongs
    if not _is_picked(wanted):
        return [_does_not_fit(wanted, model, server, gpus)]
    service = service_of(wanted, model, server, gpus, Placing("scattered"))
    return list(_holds(service)) or list(_in_time(service))


def _is_picked(wanted: Workload) -> bool:
    """Whether every key of the plan is known."""
    own, changes = wanted.own_prefill, wanted.changes
    keys = [changes.tensor, changes.expert, changes.micro_batch]
    return None not in (keys if own is None else [*keys, own.gpus, own.tensor, own.expert])


def _fits_server(model: Model, server: Server) -> Iterator[Wrong]:
    """The server says its speed in the model's number format, and its memory."""
    yield from fits_server(model, server)
    if server.gpu_memory_gb is None:
        problem = f"the server {server.id} does not say the memory of its GPUs, which sets how many sequences fit"
        yield Wrong("model", problem, model.name, allowed="a server with gpu_memory_gb")


def _fits_lengths(wanted: Workload, model: Model) -> Iterator[Wrong]:
    """Prompt and output are not longer than what the model is made for."""
    most, prompt, output = model.architecture.max_sequence, wanted.prompt_tokens or 0, wanted.output_tokens or 0
    if most is not None and prompt + output > most:
        problem = f"{prompt:,} + {output:,} = {prompt + output:,} tokens, and {model.name} is made for {most:,}"
        allowed = f"at most {most - output:,} with this output" if output < most else f"an output of less than {most:,}"
        yield Wrong("prompt_tokens", problem, prompt, allowed=allowed)


def _fits_prefill(wanted: Workload, server: Server, gpus: int) -> Iterator[Wrong]:
    """GPUs that read are whole servers, and leave some that write."""
    own = wanted.own_prefill
    if own is None:
        return
    if gpus <= server.gpus:
        problem = f"all {gpus} GPUs are in one server, and none is left to write tokens"
        yield Wrong("prefill", problem, "its own GPUs", allowed="null: all GPUs do both")
    elif own.gpus is not None and (own.gpus % server.gpus or own.gpus >= gpus):
        problem = f"{own.gpus} of {gpus} GPUs, in servers of {server.gpus}"
        allowed = f"a multiple of {server.gpus} up to {gpus - server.gpus}, or auto"
        yield Wrong("prefill.gpus", problem, own.gpus, allowed=allowed)


def _divides(wanted: Workload, model: Model, gpus: int) -> Iterator[Wrong]:
    """Tensor ways divide the heads and the GPUs of a kind, expert ways the experts and these GPUs."""
    own, changes, heads = wanted.own_prefill, wanted.changes, model.architecture.heads
    reading = 0 if own is None else own.gpus
    given = [("plan", changes.tensor, changes.expert, None if reading is None else gpus - reading)]
    given += [] if own is None else [("prefill", own.tensor, own.expert, reading)]
    for key, tensor, expert, size in given:
        if tensor is not None and heads % tensor:
            problem = f"{heads} heads / {tensor} ways is no whole number"
            yield Wrong(f"{key}.tensor", problem, tensor, allowed=f"a divisor of {heads}")
        elif tensor is not None and size is not None and size % tensor:
            problem = f"{size} GPUs / {tensor} ways is no whole number"
            yield Wrong(f"{key}.tensor", problem, tensor, allowed=f"a divisor of {size}")
        if expert is not None:
            yield from _deals(key, model, expert, size)


def _deals(key: str, model: Model, expert: int, size: int | None) -> Iterator[Wrong]:
    """Expert ways divide the experts, and the GPUs that these are dealt to."""
    experts = model.architecture.experts
    count = 1 if experts is None else experts.count
    if count % expert:
        what = f"{model.name} has no experts to split" if experts is None else f"{count} experts / {expert} ways"
        problem = what if experts is None else f"{what} is no whole number"
        yield Wrong(f"{key}.expert", problem, expert, allowed="1" if experts is None else f"a divisor of {count}")
    elif size is not None and size % expert:
        problem = f"{size} GPUs / {expert} ways is no whole number"
        yield Wrong(f"{key}.expert", problem, expert, allowed=f"a divisor of {size}")


def _does_not_fit(wanted: Workload, model: Model, server: Server, gpus: int) -> Wrong:
    """The fault of a model whose weights and sequences are more than the memory, however it is split."""
    given = wanted.changes.micro_batch
    if given is not None:
        fewer = with_pools(_changed(wanted, micro_batch=None), model, server, gpus)
        if fewer is not None:
            most = fewer.changes.micro_batch or 0
            problem = f"{given:,} sequences of {_tokens(wanted):,} tokens a replica are more than its memory holds"
            return Wrong("plan.micro_batch", problem, given, allowed=f"at most {most:,} on {_ways(fewer.changes)}")
    own = wanted.own_prefill
    if own is not None and own.gpus is None and not any(splits_of(wanted, server, gpus)):
        problem = f"{gpus} GPUs do not come out in whole servers of {server.gpus} and groups of the ways that are given"
        return Wrong("prefill", problem, _ways(wanted.changes), allowed="ways that divide both kinds, or other GPUs")
    open_ = wanted if own is None else wanted.model_copy(update={"prefill": own.model_copy(update={"gpus": None})})
    more = (gpus * 2**times for times in range(1, _MOST_DOUBLINGS + 1))
    enough = next((number for number in more if with_pools(open_, model, server, number) is not None), None)
    allowed = "fewer tokens, or another server" if enough is None else f"more GPUs: {enough} are enough"
    return Wrong("plan", _sums(wanted, model, server, gpus), _ways(wanted.changes), allowed=allowed)


def _changed(wanted: Workload, **update: object) -> Workload:
    return wanted.model_copy(update={"plan": wanted.changes.model_copy(update=update)})


def _tokens(wanted: Workload) -> int:
    return (wanted.prompt_tokens or 0) + (wanted.output_tokens or 0)


def _ways(changes: PlanChanges) -> str:
    shown = [f"{key} {getattr(changes, key)}" for key in ("tensor", "expert") if getattr(changes, key) is not None]
    return ", ".join(shown) or "auto"


def _sums(wanted: Workload, model: Model, server: Server, gpus: int) -> str:
    """The memory of the plan with the fewest bytes on a GPU, or why there is no plan."""
    own = wanted.own_prefill
    size = gpus if own is None or own.gpus is None else min(own.gpus, gpus - own.gpus)
    pools = [pool_of(wanted, model, server, plan, size) for plan in plans_of(wanted, model, size, True)]
    if not pools:
        return f"no tensor and expert ways divide {size} GPUs"
    pool = min(pools, key=lambda pool: pool.weight_bytes + pool.sequence_bytes)
    room, weights, kept = (float(amount / GIB) for amount in (pool.room_bytes, pool.weight_bytes, pool.sequence_bytes))
    return (
        f"nothing fits {some(size, 'GPU')}: split most (tensor {pool.plan.tensor}, expert {pool.plan.expert}) a GPU "
        f"has {weights:,.1f} GB of weights and {kept:,.2f} GB for a sequence of {_tokens(wanted):,} tokens, and "
        f"{float(MEMORY_SHARE):g} x {server.gpu_memory_gb:g} = {room:,.1f} GB"
    )


def _holds(service: Service) -> Iterator[Wrong]:
    """The prompts that a replica reads at once fit its memory."""
    reading, at_once = service.reading, service.prompts
    if at_once > reading.most_sequences:
        problem = f"{at_once:,} prompts at once are more than the memory of a replica of {reading.plan.tensor} holds"
        yield Wrong("prefill.micro_batch", problem, at_once, allowed=f"at most {reading.most_sequences:,}")


def _in_time(service: Service) -> Iterator[Wrong]:
    """Computation, latency and scale-up links alone do not take longer than the limits."""
    reads = service.reading.prefill(FREE, service.prompts)
    writes = service.writing.decode(FREE, service.sequences)
    many = f"a token of each of {some(service.sequences, 'sequence')} of a replica"
    for key, limit_s, took_s, step, what in (
        ("ttft_ms", service.ttft_limit_s, service.ttft_s(FREE), reads, "a prompt"),
        ("tpot_ms", service.tpot_limit_s, service.tpot_s(FREE), writes, many),
    ):
        if limit_s is None or took_s <= limit_s:
            continue
        parts = f"{_ms(step.compute_s)} ms of computation + {_ms(step.step_s - step.compute_s)} of latency and scale-up"
        parts += f" + {_ms(took_s - step.step_s)} of prompts" if took_s > step.step_s else ""
        yield Wrong(key, f"no network keeps this: {what} takes {parts} = {_ms(took_s)} ms", float(limit_s * MS),
                    allowed=f"more than {_ms(took_s)}, or other keys of the plan")  # fmt: skip


def _ms(seconds: Fraction) -> str:
    return f"{float(seconds * MS):.4g}"
