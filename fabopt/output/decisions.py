"""The rows of a decision, in words, for every output that has a table of it."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.design.doubts import data_doubts
from fabopt.inspect.decisions.decide import Decision, SolvedSide
from fabopt.output.terminal.answer import chosen_words, metric_name, metric_value
from fabopt.output.terminal.workload import cost_of_ratio, duration
from fabopt.output.words import count, left_out_cell, money, percent
from fabopt.parts.price_basis import GUESSED, price_source
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Design


def differences_of(decision: Decision) -> list[tuple[str, str, str]]:
    """Money, the step of a model, power, ports and risk of both sides."""
    columns = [dict(_figures(side)) for side in decision.sides]
    names = dict.fromkeys([*columns[0], *columns[1]])
    return [(name, columns[0].get(name, "-"), columns[1].get(name, "-")) for name in names]


def _figures(side: SolvedSide) -> Iterator[tuple[str, str]]:
    design = side.design
    if design is None or design.totals is None:
        yield "design", side.why_not
        return
    totals = design.totals
    yield "design", "; ".join(_tiers(design))
    yield "capex", f"${totals.capex_usd:,.0f} ({'proven' if design.status == 'optimal' else 'best found'})"
    yield from _objective(design)
    if len(design.stages) > 1:
        yield "spent, by stage", ", ".join(f"{stage.name} ${stage.capex_usd:,.0f}" for stage in design.stages)
        moved = sum(stage.moved_cables for stage in design.stages)
        yield "risk: cables moved later", f"{moved:,}"
    yield "power", f"{float(totals.power_w) / 1000:,.1f} kW"
    yield "switches, transceivers, cables", f"{totals.switches:,}, {totals.transceivers:,}, {totals.cables:,}"
    fabric = design.fabrics[0]
    yield "Gb/s a GPU, oversubscription", f"{fabric.metrics.injection_gbps_per_gpu:g}, {_ratios(design)}"
    yield "default rules left out", left_out_cell(design.rules_left_out) or "none"
    yield "risk: parts of low confidence", _low_confidence(design)
    yield "risk: worst single failure", _worst_failure(design)


def _objective(design: Design) -> Iterator[tuple[str, str]]:
    """The objective where it is not capex, a step of the case's model, and the rule that picked among designs near the
    least.
    """
    metric, value, use = design.objective.metric, design.objective.value or 0, design.workload
    served = {} if use is None else {f" of {job.name}": job.service for job in use.services}
    served |= {} if design.serving is None else {"": design.serving}
    for whose, service in served.items():
        yield f"first token{whose}", duration(service.ttft_s)
        yield f"each further token{whose}", duration(service.tpot_s)
        yield f"tokens a second{whose}", count(round(service.tokens_per_s))
    if use is not None:
        for whose, step in {f" of {job.name}": job for job in use.jobs}.items() or {"": use}.items():
            yield f"step{whose}", duration(step.step_s)
            yield f"tokens a second{whose}", count(round(step.tokens_per_s))
        yield "utilization of all jobs" if use.jobs else "utilization", percent(use.gpu_utilization)
        if use.usd_per_effective_gpu is not None:
            yield metric_name(EFFECTIVE), money(use.usd_per_effective_gpu)
        for row in use.jobs:
            yield f"3:1 costs {row.name}", cost_of_ratio(row.tapers, 3)
    if metric not in (EFFECTIVE, "capex_usd", "power_w"):
        yield metric_name(metric), metric_value(metric, value)
    decision = design.objective.decision
    if decision is not None:
        yield "picked", chosen_words(design, decision)


def _tiers(design: Design) -> Iterator[str]:
    for fabric in design.fabrics:
        tiers = " + ".join(f"{row.count} x {row.id}" for tier in fabric.tiers for row in tier.types)
        yield f"{fabric.name}: {tiers or 'no switches'}, {fabric.nic.gbps:g}G {fabric.protocol}"


def _ratios(design: Design) -> str:
    ratios = design.fabrics[0].oversubscription
    return " and ".join(f"{float(ratio):g}:1" for ratio in ratios.values()) or "none"


def _low_confidence(design: Design) -> str:
    """The share of the purchase price whose prices are estimates or of low confidence, and parts of doubted data."""
    total = sum(float(row.total_usd) for row in design.bom) or 1
    low = 0.0
    for row in design.bom:
        body = design.parts.get(row.id, {})
        source = price_source(body, row.length_m)
        if source.get("kind") in GUESSED or source.get("confidence") == "low":
            low += float(row.total_usd)
    return "; ".join([f"{low / total:.0%} of the price is estimated", *data_doubts(design).values()])


def _worst_failure(design: Design) -> str:
    fabric = design.fabrics[0]
    failures = [failure for failure in fabric.failures if failure.failed != "plane" or fabric.planes > 1]
    if not failures:
        return "not known"
    worst = min(failures, key=lambda failure: failure.gbps_per_gpu)
    return f"{worst.count} {worst.failed}: {worst.gbps_per_gpu:g} Gb/s a GPU are left"
