"""Calls of data ranks counted again: micro-batch by micro-batch, in groups of ranks dealt one by one.

Parameters of a model are those of ``fabopt.workload``; their holders, and the times at which gradients are reduced and
parameters gathered, are counted here. Source: docs/workloads.md, "What moves in a step".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.units import exact
from fabopt.verify.ranks import DealtRanks, Ints
from fabopt.workload.architecture import parameters
from fabopt.workload.collectives import Operation
from fabopt.workload.timing import ModelRun


class Calls(NamedTuple):
    """Calls of one kind.

    ``groups``: GPUs of each, shape (groups, members); bytes of a call; number of calls in a step.
    """

    operation: Operation
    groups: Ints
    message: Fraction
    calls: Fraction


def counted_calls(run: ModelRun) -> Iterator[Calls]:
    """All calls of data ranks in a step, of dense parameters and then of routed experts'."""
    if run.model.task == "inference":
        return
    plan, formats = run.plan, run.model.precision
    for is_routed, (members, held) in enumerate(_holders(run)):
        share, scatter_bytes = plan.shard_group or plan.context * run.ranks.data, exact(formats.gradient_bytes) * held
        share = members.shape[1] * share // (plan.context * run.ranks.data)
        near = members.reshape(-1, share)
        far = members.reshape(len(members), -1, share).swapaxes(1, 2).reshape(-1, members.shape[1] // share)
        counts, pieces = _counts(run), _pieces(run, members.shape[1], held, is_routed)
        known: list[tuple[Operation, Ints, Fraction]] = [("all-reduce", members, scatter_bytes)]
        if plan.zero_stage:
            known = [("reduce-scatter", near, scatter_bytes), ("all-reduce", far, scatter_bytes / share),
                     ("all-gather", near, exact(formats.parameter_bytes) * held)]  # fmt: skip
        if plan.zero_stage and plan.optimizer == "muon" and share > 1:
            # scattered and reduced first, then Muon's moments in 16 bits, then the parameters
            yield from (
                Calls(operation, groups, message / pieces, counts[operation] * pieces)
                for operation, groups, message in known[:2]
                if groups.shape[1] > 1
            )
            sizes = run.model.architecture
            adams = 0 if is_routed else sizes.vocabulary * sizes.hidden * (1 if sizes.tied_embeddings else 2)
            moments = held - Fraction(adams, plan.tensor * plan.pipeline)
            yield Calls("all-gather", near, 2 * moments / pieces, Fraction(pieces))
            del known[:2]
        for operation, groups, message in known:
            if groups.shape[1] > 1 and counts[operation]:
                yield Calls(operation, groups, message / pieces, counts[operation] * pieces)


def _holders(run: ModelRun) -> Iterator[tuple[Ints, Fraction]]:
    """Groups of ranks with the same parameters, as GPUs in order, and the parameters that each of their ranks works
    with.
    """
    plan, counts, dealt = run.plan, parameters(run.model.architecture), DealtRanks(run)
    yield _members(dealt.first_members(run.ranks.group("data"))), Fraction(counts.dense, plan.tensor * plan.pipeline)
    if counts.routed:
        routed = Fraction(counts.routed, plan.expert * plan.expert_ways * plan.pipeline)
        yield _members(dealt.first_members(run.ranks.group("expert-data"))), routed


def _members(first: Ints) -> Ints:
    """GPUs of every group, in order, by the first member of each."""
    in_groups = np.argsort(first, kind="stable")
    return in_groups.reshape(len(np.unique(first)), -1)


def _pieces(run: ModelRun, ranks: int, held: Fraction, is_routed: int) -> Fraction:
    """Messages of a GPU's parameters: one for each of its layers, or full buckets and one for the rest."""
    plan, sizes = run.plan, run.model.architecture
    if plan.zero_stage == 3:
        layers = sizes.layers - (sizes.experts.dense_layers if is_routed and sizes.experts else 0)
        return max(Fraction(1), Fraction(layers, plan.pipeline))
    hides = plan.overlap.data
    if not (hides[0] if isinstance(hides, tuple) else hides):
        return Fraction(1)
    full, rest = divmod(held, max(4 * 10**7, ranks * 10**6))
    return Fraction(full + (1 if rest else 0))


def _counts(run: ModelRun) -> Counter[str]:
    """Calls of a step, met micro-batch by micro-batch: forward, backward, and after the last one."""
    plan, counts = run.plan, Counter[str]()
    batches = plan.batch // (run.ranks.data * plan.micro_batch)
    in_each = plan.reduce_gradients == "micro_batch" or (plan.reduce_gradients is None and plan.zero_stage in (2, 3))
    for number in range(1, batches + 1):
        if plan.zero_stage == 3 and plan.pipeline == 1:
            counts["all-gather"] += 2
        if in_each or number == batches:
            counts["reduce-scatter"] += 1
            counts["all-reduce"] += 1
    if plan.zero_stage in (1, 2) or (plan.zero_stage == 3 and plan.pipeline > 1):
        counts["all-gather"] += 1
    return counts


def calls_are_counted(run: ModelRun) -> bool:
    """Whether calls of data ranks in a run are those counted here."""
    claimed = [traffic for traffic in run.traffic if traffic.communicator == "data"]
    counted = list(counted_calls(run))
    dealt = DealtRanks(run)
    return len(claimed) == len(counted) and all(
        traffic.operation == again.operation
        and (traffic.message, traffic.calls) == (again.message, again.calls)
        and np.array_equal(_in_order(_members(dealt.first_members(traffic.group))), _in_order(again.groups))
        for traffic, again in zip(claimed, counted, strict=True)
    )


def _in_order(groups: Ints) -> Ints:
    return groups[np.argsort(groups[:, 0])]
