"""The workload in words and rows: its needs, the bytes of a step, the times that bind, the cost of a working GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabopt.output.stated import Column, StatedTable, Statement, statement_of, table_of
from fabopt.output.words import count, money, plain
from fabopt.schema.design import Design
from fabopt.schema.losses import HallTraffic
from fabopt.schema.prediction import (
    NO_BANDWIDTH_GBPS,
    CommunicatorUse,
    JobUse,
    PathTimes,
    ServedJobUse,
    ServingUse,
    TaperedStep,
    WorkloadNeeds,
    WorkloadUse,
)
from fabopt.schema.workload import Placement, Within
from fabopt.units import grouped
from fabopt.workload.remarks import needed_words

PLACES = {"domain": "scale-up domain", "leaf": "leaf", "pod": "pod", "fabric": "whole fabric"}
_BYTES = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
_SECONDS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
_BILLION = 10**9
# Ratios that allow any.
ANY_RATIO = 10**6
# What a model is said to need that may wait for its network as long as it likes.
LEAST_GBPS = 0.001
_PERCENT = 100


def communicators(use: WorkloadUse) -> StatedTable:
    """A row for every communicator: bytes of a GPU and times, in a step."""
    columns: Sequence[Column[CommunicatorUse]] = (
        Column("communicator", False, lambda one: one.communicator + " (binds)" * (one.communicator == use.binding)),
        Column("GPUs", True, lambda one: count(one.group)),
        Column("operations", False, lambda one: ", ".join(one.operations)),
        Column("runs in", False, lambda one: PLACES[one.place]),
        Column("sent by a GPU", True, lambda one: size(one.bytes_sent)),
        Column("over the network", True, _over_network),
        Column("time", True, lambda one: duration(one.time_s)),
        Column("hidden", True, lambda one: duration(one.hidden_s)),
        Column("exposed", True, lambda one: duration(one.exposed_s)),
    )
    return table_of(columns, use.communicators)


def workload(design: Design) -> Statement | None:
    """The model, a row for every communicator, and sentences on the step; None for a case without a model."""
    use = design.workload
    if use is None:
        return None
    of_first = f"{use.jobs[0].name}: " if use.jobs else ""
    own = (f"{of_first}{line}" for line in (step_line(use), *paths_lines(use.on_paths), *placement_lines(use)))
    lines = needs_line(use), *own, utilization_line(use), f"{of_first}{memory_line(use)}", *job_lines(use)
    lines += tuple(map(_hall_line, design.hall_traffic))
    title = f"{of_first}{workload_title(use)}"
    return statement_of("workload", "Workload", title, communicators(use), *lines)


def _hall_line(row: HallTraffic) -> str:
    """State what a step sends out of a hall, and the links that it leaves over."""
    sent = f"a step sends {plain(row.sent_gb)} GB out of {row.hall}, ranks in the order of GPUs"
    if row.time_s is None or row.oversubscription is None:
        return f"{sent}, and no link leaves it"
    return f"{sent}: {plain(row.oversubscription)}:1, {duration(row.time_s)} of {plain(row.leaving_gbps)} Gb/s"


def job_lines(use: WorkloadUse) -> Iterator[str]:
    """State what jobs beside each other need, have and reach, and what their worst placement needs."""
    for row in use.jobs:
        name = row.name if row.name == row.model else f"{row.name} ({row.model})"
        has = ", ".join(f"{plain(mbps)} at the {where}" for where, mbps in row.gbps_per_gpu.items())
        steps = f"a step takes about {duration(row.step_s)}, {_PERCENT * row.exposed_communication:.2g} % of it exposed"
        costs = "; ".join(
            filter(None, [f"3:1 costs {cost_of_ratio(row.tapers, 3)}" if row.tapers else "", _paused(row)])
        )
        needs = f"needs {plain(row.min_gbps_per_gpu)} Gb/s per GPU and has {has or 'all'}"
        reached = (
            f"GPU utilization {_PERCENT * row.gpu_utilization:.0f} %, {count(_three_digits(row.tokens_per_s))} tokens/s"
        )
        yield f"{name} on {count(row.gpus)} GPUs {needs}: {steps}, {reached}{'; ' if costs else ''}{costs}"
    yield from map(_served_line, use.services)
    if use.demanded_gbps_per_gpu:
        asked = ", ".join(f"{plain(gbps)} at the {where}" for where, gbps in use.demanded_gbps_per_gpu.items())
        yield f"in the worst placement jobs need, in Gb/s per GPU: {asked}"


def _served_line(row: ServedJobUse) -> str:
    """State what a job that serves needs and has, and what its users wait for."""
    use, has = row.service, ", ".join(f"{plain(gbps)} at the {where}" for where, gbps in row.gbps_per_gpu.items())
    binds = f" ({use.needs.binding} binds)" if use.needs.binding is not None else ""
    sent = "" if use.kv_send_s is None else f"; keys and values of a prompt are sent in {duration(use.kv_send_s)}"
    paused = f"; {_paused(row)}" if row.paused else ""
    return (
        f"{row.name} ({use.model}, serving) on {count(use.gpus)} GPUs needs {plain(row.min_gbps_per_gpu)} Gb/s per "
        f"GPU{binds} and has {has or 'all'}: {served_times(use)} (at most {duration(use.ttft_limit_s)} and "
        f"{duration(use.tpot_limit_s)}), {count(_three_digits(use.tokens_per_s))} tokens/s{sent}{paused}"
    )


def served_times(use: ServingUse) -> str:
    """What users of a served model wait for."""
    return f"first token after {duration(use.ttft_s)}, each further one {duration(use.tpot_s)}"


def _paused(row: JobUse | ServedJobUse) -> str:
    return f"it waits {_PERCENT * row.paused:.2g} % of the time for what jobs send now and then" if row.paused else ""


def cost_of_ratio(tapers: dict[str, dict[str, int | float]], ratio: int) -> str:
    """By how much a ratio makes a step longer than 1:1 does, at each boundary; nothing without a tier above."""
    costs = [
        f"{_slower(steps[f'{ratio}:1'], steps['1:1'])} of a step at the {where}" for where, steps in tapers.items()
    ]
    return ", ".join(costs) or "nothing"


def needs_line(use: WorkloadUse) -> str:
    """State the Gb/s that the workload needs of the network, the ratios it allows, and the binding communicator."""
    return needs_words("the job that needs most" if use.jobs else use.model, use.needs, bool(use.demanded_gbps_per_gpu))


def needs_words(model: str, needs: WorkloadNeeds, is_timed: bool = False) -> str:
    """The needs of a model in words; ``is_timed``: whether each design is, whatever its ratios."""
    if not needs.min_gbps_per_gpu:
        return f"{model} needs no network: nothing leaves the scale-up domains"
    if needs.min_gbps_per_gpu <= LEAST_GBPS:
        return f"{model} is given no least bandwidth: what its GPUs wait is weighed against what the network costs"
    ratios = ", ".join(f"{_ratio(ratio)} at the {role}" for role, ratio in needs.max_oversubscription.items())
    is_timed |= max(needs.max_oversubscription.values()) >= ANY_RATIO
    timed = ": each design is timed" if is_timed else ""
    ratios = ratios.replace("any", "any ratio", 1) if ratios.startswith("any") else f"at most {ratios}"
    binds = f"; {needs.binding} binds" if needs.binding is not None else ""
    if needs.min_gbps_per_gpu >= NO_BANDWIDTH_GBPS:
        return f"{model} waits longer than `max_exposed_communication` allows, however fast the network is{binds}"
    return (
        f"{model} needs {needed_words(needs)}{binds}; "
        f"with NICs of {plain(needs.offered_gbps_per_gpu)} Gb/s per GPU, {ratios}{timed}"
    )


def _ratio(ratio: int | float) -> str:
    return "any" if ratio >= ANY_RATIO else f"{plain(ratio)}:1"


def step_line(use: WorkloadUse) -> str:
    """State the time of a step on this design."""
    low, high = map(duration, use.step_band_s)
    slow, fast = (_three_digits(use.tokens_per_s * use.step_s / bound) for bound in reversed(use.step_band_s))
    step = f"a step of {count(round(use.tokens_per_step))} tokens takes about {duration(use.step_s)} ({low} to {high})"
    waits = f"{_PERCENT * use.exposed_communication:.2g} % of it exposed communication"
    binds = f" ({use.binding} binds)" if use.binding is not None else ""
    return f"{step}, {waits}{binds}: {count(slow)} to {count(fast)} tokens/s"


def paths_lines(times: PathTimes | None) -> Iterator[str]:
    """State the times with the network's own latency, or why there are none."""
    if times is None:
        return
    if times.unknown:
        yield f"with this network's own latency times are not known: no figure for {', '.join(times.unknown)}"
        return
    told = {"a step takes": times.step_s, "the first token takes": times.ttft_s, "each further": times.tpot_s}
    said = ", ".join(f"{what} {plain(round(told_s, 6))} s" for what, told_s in told.items() if told_s is not None)
    low, high = (f"{times.one_way_us[place]:.2f}" for place in ("leaf", "fabric"))
    own = low if low == high else f"{low} to {high}"
    counted = f"in place of {times.counted_us:.2f} that constants count"
    yield f"with this network's own latency ({own} us one way over switches and cables, {counted}) {said}"


def steps_words(use: WorkloadUse) -> str:
    """The time of a step in a few words; of several jobs of each, and what users of those wait for that serve."""
    if not use.jobs:
        return f"a step of {use.model} takes about {duration(use.step_s)}"
    steps = ", ".join(f"{job.name} {duration(job.step_s)}" for job in use.jobs)
    served = [f"{job.name}: {served_times(job.service)}" for job in use.services]
    return "; ".join([f"steps take about: {steps}", *served])


def memory_line(use: WorkloadUse) -> str:
    """State the GB of a GPU's memory that the plan takes, by purpose."""
    memory = use.memory
    parts = ", ".join(f"{plain(amount)} {name.replace('_', ' ')}" for name, amount in memory.parts_gb.items())
    of_gpu = "" if memory.gpu_gb is None else f" of {plain(memory.gpu_gb)} GB"
    return f"memory of a GPU: {plain(memory.least_gb)} GB at least, likely {plain(memory.likely_gb)}{of_gpu} ({parts})"


def placement_lines(use: WorkloadUse) -> Iterator[str]:
    """State the placement of ranks, the time of a step with ranks packed and scattered, and the cost of
    other ratios.
    """
    if not use.ends:
        return
    ends = ", ".join(f"{end.placement} {duration(end.step_s)}" for end in use.ends)
    allowed = ", ".join(f"{_ratio(ratio)} at the {role}" for role, ratio in use.allowed_oversubscription.items())
    keeps = f"; with its groups the limit of exposed communication allows at most {allowed}" if allowed else ""
    yield f"ranks {placement_words(use.placement)}; a step with ranks {ends}{keeps}"
    if use.scenarios:
        steps = ", ".join(f"{_PERCENT * scenario.weight:g} % {duration(scenario.step_s)}" for scenario in use.scenarios)
        yield f"steps in the scenarios of the case, by weight: {steps}; utilization and cost are of their mean"
        yield from _regrets(use)
    for where, told in _tapers(use).items():
        (_, least), *others = told
        slower = ", ".join(
            f"{plain(ratio)}:1 {_slower(at.packed_s, least.packed_s)} to {_slower(at.scattered_s, least.scattered_s)}"
            for ratio, at in others
        )
        yield f"against 1:1 {where} a step takes longer by, packed to scattered: {slower}"
    if not use.tapers and any(communicator.place != "domain" for communicator in use.communicators):
        yield "all servers are on the same switches, so that no ratio beyond these makes a step longer"


def _tapers(use: WorkloadUse) -> dict[str, list[tuple[int | float, TaperedStep]]]:
    """Steps with other ratios, by boundary."""
    return grouped(
        (where, (ratio, step))
        for step in use.tapers
        for where, ratio in (("at the leaves", step.leaf_ratio), ("above pods", step.spine_ratio))
        if ratio is not None
    )


def _regrets(use: WorkloadUse) -> Iterator[str]:
    """State the extra cost of a working GPU in each scenario over the best design for it, where regret decides."""
    regrets = ", ".join(
        f"{_PERCENT * scenario.regret:.2g} %" for scenario in use.scenarios if scenario.regret is not None
    )
    if regrets:
        yield f"regret in each, against the best design for that scenario alone: {regrets}"


def placement_words(placement: Placement | None) -> str:
    """A placement in words."""
    if isinstance(placement, Within):
        return f"put together within {'leaves' if placement.within == 'leaf' else 'pods'}"
    return placement or "packed"


def _slower(step_s: int | float, least_s: int | float) -> str:
    return f"{float(f'{_PERCENT * (step_s / least_s - 1):.2g}'):g} %"


def utilization_line(use: WorkloadUse) -> str:
    """State the utilization of GPUs, and the cost of one that works."""
    low, high = (use.gpu_utilization * use.step_s / bound for bound in reversed(use.step_band_s))
    whose = " of all jobs" if use.jobs else ""
    used = f"predicted GPU utilization{whose} {_PERCENT * low:.0f} to {_PERCENT * high:.0f} %"
    if use.usd_per_effective_gpu is None:
        return f"{used}; the server has no price, so none is known per effective GPU"
    least, most = (use.usd_per_effective_gpu * bound / use.step_s for bound in use.step_band_s)
    return f"{used}: {_about(least)} to {_about(most)} of servers and network per effective GPU"


def _about(usd: float) -> str:
    """Dollars in three digits."""
    return money(_three_digits(usd))


def _three_digits(amount: float) -> int:
    """A number cut to three digits: more would be more than a prediction knows."""
    return round(float(f"{amount:.3g}"))


def workload_title(use: WorkloadUse) -> str:
    """Name the model with its size and plan."""
    plan = use.plan
    ways = [(plan.tensor, "tensor"), (plan.context, "context"), (plan.pipeline, "pipeline"), (plan.data or 1, "data")]
    shown = " x ".join(f"{number} {name}" for number, name in ways if number > 1) or "1 GPU"
    experts = f", {plan.expert} expert x {plan.expert_ways} expert tensor" if plan.expert > 1 else ""
    hidden = [f"{name} {_hidden(share)} %" for name, share in plan.overlap.model_dump().items() if share]
    experts += f"; can hide: {', '.join(hidden)}" if hidden else "; nothing is hidden behind computation"
    return f"{use.model}, {use.parameters / _BILLION:,.4g} billion parameters on {shown}{experts}"


def _hidden(share: float | tuple[float, float]) -> str:
    """A share, or a range of shares, in per cent."""
    return f"{_PERCENT * share:g}" if isinstance(share, float | int) else " to ".join(map(_hidden, share))


def _over_network(entry: CommunicatorUse) -> str:
    sent = entry.bytes_over.get("server", 0)
    return size(sent) if sent else "-"


def size(amount: int | float) -> str:
    """Bytes in three digits: ``18.7 GB``."""
    for unit, entry in _BYTES:
        if amount >= entry:
            return f"{amount / entry:.3g} {unit}"
    return f"{amount:.3g} B"


def duration(seconds: int | float) -> str:
    """Seconds in three digits: ``525 ms``."""
    if not seconds:
        return "0"
    for unit, entry in _SECONDS:
        if seconds >= entry:
            return f"{seconds / entry:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
