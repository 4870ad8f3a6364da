"""The answer in a sentence, and the figures that a reader looks for first."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.output.bought import bought_units, of_those, servers_before, usd_per_gpu
from fabopt.output.space import space_line
from fabopt.output.terminal.answer import bound_alone, gap_share, metric_name
from fabopt.output.words import count, gpus_in_servers, listed, measured, money, plain, power, share_of_cluster
from fabopt.schema.design import Design, FabricDesign, Number, Totals
from fabopt.units import some
from fabopt.wiring.design_file import Embedded

STATUS_WORDS = {
    "optimal": "Proven optimal when it was found",
    "feasible": "Best found, not proven optimal",
    "infeasible": "No design exists: proven when it was looked for",
    "unknown": "No design found",
}

# What only a search can prove; a page is made of a file.
_PROVEN_THEN = "this was proven when the file was made, and is stated by it"


@dataclass(frozen=True)
class KeyFigure:
    """A figure with its name, and a line about it."""

    name: str
    value: str
    about: str


def answer(design: Design) -> str:
    """State purchases, price, and the proof of optimality."""
    if design.totals is None or not design.stages:
        return _no_answer(design)
    joined = gpus_in_servers(design.stages[-1])
    return f"Buy {_bought(design)} for {money(design.totals.capex_usd)} to join {joined}. {_claim(design)}"


def _bought(design: Design) -> str:
    """What the bill orders; what is owned is no part of it."""
    bought = listed([some(number, noun) for noun, number in bought_units(design).items()]) or "nothing"
    before = servers_before(design)
    return f"{bought} beside {some(before, 'server')} in service" if before else bought


def _claim(design: Design) -> str:
    if design.status == "optimal":
        least = {
            "capex_usd": "costs less",
            "power_w": "uses less power",
            "usd_per_effective_gpu": "costs less per effective GPU",
        }
        less = least.get(design.objective.metric, f"has a lower {metric_name(design.objective.metric)}")
        space = space_line(design) or "design of the space that was searched"
        return f"No other {space} {less}: {_PROVEN_THEN}."
    if design.objective.gap is None:
        return "It is the best that was found; how much better another could be is not known."
    better, other = gap_share(design), space_line(design) or "design"
    return f"It is the best that was found; no other {other} can be more than {better} better: {_PROVEN_THEN}."


def _no_answer(design: Design) -> str:
    if design.status == "infeasible":
        return f"No design meets this case: {_PROVEN_THEN}. What stands in the way is below."
    return f"The search stopped before any design was found.{bound_alone(design)}"


def key_figures(design: Design) -> list[KeyFigure]:
    """Return the figures of a design that was found."""
    totals = design.totals
    if totals is None or not design.fabrics:
        return []
    return [
        KeyFigure("Purchase price", _dollars(totals.capex_usd), _per_gpu(design)),
        KeyFigure(_tco_name(design), _dollars(totals.tco_usd), "purchase and energy"),
        KeyFigure("Power", power(totals.power_w), share_of_cluster(totals) or "network only"),
        _bandwidth(design.fabrics[0], len(design.fabrics) > 1),
        KeyFigure(
            "Switches",
            f"{count(totals.switches)}{of_those(design, 'switch')}",
            f"{measured(totals.rack_units, 'rack unit')}{of_those(design, 'rack unit')}",
        ),
        *_racks(totals),
        KeyFigure(
            "Cables and fibres",
            f"{count(totals.cables)}{of_those(design, 'cable')}",
            f"{some(totals.transceivers, 'transceiver')}{of_those(design, 'transceiver')}",
        ),
    ]


def _racks(totals: Totals) -> list[KeyFigure]:
    """Return the count of racks in use; no figure without a floor plan."""
    if totals.racks is None or totals.cluster_rack_units is None:
        return []
    return [KeyFigure("Racks", count(totals.racks), f"{measured(totals.cluster_rack_units, 'rack unit')} in use")]


def _dollars(usd: Number) -> str:
    """Return whole dollars; cents are on the bill."""
    return money(round(usd))


def _tco_name(design: Design) -> str:
    try:
        return f"Cost over {measured(Embedded(design).case.finance.years, 'year')}"
    except (LookupError, ValueError):
        return "Total cost of ownership"


def _per_gpu(design: Design) -> str:
    per_gpu = usd_per_gpu(design)
    return "" if per_gpu is None else f"{_dollars(per_gpu[0])} per {per_gpu[1]}"


def _bandwidth(fabric: FabricDesign, several: bool) -> KeyFigure:
    ratios = ", ".join(f"{plain(ratio)}:1" for ratio in fabric.oversubscription.values())
    about = f"oversubscription {ratios}" if ratios else "one switch tier"
    name = f"Bandwidth per GPU, {fabric.name}" if several else "Bandwidth per GPU"
    return KeyFigure(name, f"{plain(fabric.metrics.injection_gbps_per_gpu)} Gb/s", about)
