"""Overlap of communication with computation: how much software can hide, and what published runs show of it.

A plan narrows each range to a number, or to a range of its own. Where a figure is asked of the network, the low end
counts; a predicted step counts what is likely, which is the end that published runs fit, or the middle.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, NamedTuple

from fabopt.schema.model import SHARED_PARAMETERS, Plan
from fabopt.schema.workload import Software
from fabopt.units import exact
from fabopt.workload.volumes import Traffic

End = Literal["low", "likely", "high"]
ENDS: tuple[End, ...] = ("low", "likely", "high")


class Hidden(NamedTuple):
    """Shares of a communicator's time that computation can hide: at least, likely, and at most."""

    low: Fraction
    likely: Fraction
    high: Fraction


_ANY = Hidden(Fraction(0), Fraction(0), Fraction(1))
_NONE = Hidden(Fraction(0), Fraction(0), Fraction(0))
_MIDDLE = Hidden(Fraction(0), Fraction(1, 2), Fraction(1))
_MOSTLY = Hidden(Fraction(0), Fraction(1), Fraction(1))
# Rings of context parallelism and stages of an interleaved pipeline can hide, and so can gradients (Megatron-LM's
# overlap_grad_reduce, PyTorch's DDP); runs of the makers fit without. Gathers of sharded parameters are fetched a layer
# ahead, and their gradients are scattered a layer behind (Zhao et al. 2023, PyTorch FSDP, section 3.3); tuned runs fit
# all of it, MosaicML's fit none. All-to-all of experts: NVIDIA-NeMo/Megatron-Bridge at 067f987,
# its page "Communication Overlap": off by default, and never with full recomputation; its perf_recipes turn it on
# for most of 2026's runs on racks, and not before. Pieces of tensor ranks: see ``tensor_hidden``.
RANGES: Mapping[Software, Mapping[str, Hidden]] = {
    "tuned": {"context": _ANY, "pipeline": _ANY, "data": _ANY, "expert": _MIDDLE, "sharded": _MOSTLY},
    "typical": {"context": _ANY, "pipeline": _ANY, "data": _ANY, "expert": _ANY, "sharded": _ANY},
}


def key_of(traffic: Traffic) -> str:
    """The key of ``plan.overlap`` for calls."""
    gathers = traffic.communicator == "data" and traffic.operation == "all-gather" and traffic.repeats
    return "gather" if gathers else traffic.communicator


def hidden(plan: Plan, key: str, software: Software, is_near: bool) -> Hidden:
    """What can hide of a communicator; ``is_near``: whether its groups stay in a scale-up domain."""
    if key == "tensor":
        known = tensor_hidden(plan, software, is_near)
    else:
        is_sharded = key in ("data", "gather") and plan.zero_stage >= SHARED_PARAMETERS
        known = RANGES[software]["sharded" if is_sharded else key]
        known = _NONE if key == "expert" and plan.recomputation == "full" else known
    given = getattr(plan.overlap, key)
    given = plan.overlap.data if key == "gather" and given is None else given
    if given is None:
        return known
    low, high = (exact(given),) * 2 if isinstance(given, float | int) else map(exact, given)
    return Hidden(low, min(max(known.likely, low), high), high)


def tensor_hidden(plan: Plan, software: Software, is_near: bool) -> Hidden:
    """What tensor ranks hide that split the sequence: as many pieces as ranks, each behind the product of another, so
    that one is exposed; tuned software does so over NVLink.

    Source: NVIDIA NeMo Framework User Guide 24.12, "Communication Overlap"; typical software can (async TP of
    TorchTitan). In a domain nothing is asked of the network, so that the low end is what is likely.
    """
    pieces = 1 - Fraction(1, plan.tensor if plan.splits_sequence and is_near else 1)
    likely = pieces if software == "tuned" else Fraction(0)
    return Hidden(likely, likely, pieces)
