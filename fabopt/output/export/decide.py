"""Decisions on a case as JSON."""

from __future__ import annotations

from dataclasses import asdict

from fabopt.inspect.decisions.decide import Decision, Decisions, SolvedSide
from fabopt.inspect.decisions.rent import RentComparison
from fabopt.output.decisions import differences_of
from fabopt.output.words import json_bytes

_OF_ALL = ("gpu_utilization", "usd_per_effective_gpu")
_OF_A_STEP = ("step_s", "tokens_per_s", *_OF_ALL)


def decisions_json(decisions: Decisions) -> bytes:
    """Return all decisions as JSON: figures of both sides, their differences, thresholds that would tip them."""
    content = {
        "case": decisions.best.case.name,
        "complete": decisions.complete,
        "decisions": [_decision(decision) for decision in decisions.decisions],
        "rent": None if decisions.rent is None else _rent(decisions.rent),
    }
    return json_bytes(content)


def _rent(rent: RentComparison) -> dict[str, object]:
    offers = [
        {
            **offer.price.model_dump(mode="json", exclude_none=True),
            "usd_per_month": offer.usd_per_month,
            "break_even_months": offer.break_even_months,
        }
        for offer in rent.offers
    ]
    return {
        "offers": offers,
        "gpus": rent.gpus,
        "network_gbps_per_gpu": rent.network_gbps_per_gpu,
        "build_usd": rent.build_usd,
        "energy_usd_per_month": rent.energy_usd_per_month,
        "notes": list(rent.notes),
    }


def _decision(decision: Decision) -> dict[str, object]:
    return {
        "question": decision.question,
        "metric": decision.metric,
        "better": decision.better,
        "by": decision.by,
        "by_usd": decision.by_usd,
        "sides": [_side(side) for side in decision.sides],
        "differences": [{"what": what, "sides": [first, second]} for what, first, second in differences_of(decision)],
        "tips": list(decision.tips),
        "sizes": [asdict(size) for size in decision.sizes],
    }


def _side(side: SolvedSide) -> dict[str, object]:
    design, content = side.design, {"name": side.name, "change": dict(side.change), "status": side.status}
    if design is None or design.totals is None:
        return {**content, "why_not": side.why_not}
    whole = design.model_dump(mode="json", include={"objective", "totals", "rules_left_out"})
    use = design.workload
    return {
        **content,
        **whole,
        **({} if use is None else {key: getattr(use, key) for key in _OF_A_STEP if key in _OF_ALL or not use.jobs}),
        **({"jobs": [job.model_dump(mode="json") for job in use.jobs]} if use is not None and use.jobs else {}),
        "tiers": [tier.model_dump(mode="json") for fabric in design.fabrics for tier in fabric.tiers],
        "oversubscription": {fabric.name: dict(fabric.oversubscription) for fabric in design.fabrics},
    }
