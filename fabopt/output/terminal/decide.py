"""Decisions on a case for a terminal: both sides of each question, thresholds that would tip it, and renting beside
building.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType, group
from rich.text import Text

from fabopt.inspect.decisions.decide import Decision, Decisions
from fabopt.inspect.decisions.rent import RentComparison, RentOffer
from fabopt.output.decisions import differences_of
from fabopt.output.terminal.answer import metric_name, metric_value
from fabopt.output.terminal.summary import table
from fabopt.output.words import money, printable


@group()
def decisions_report(decisions: Decisions) -> Iterator[RenderableType]:
    """A block for each question, and one on renting."""
    for decision in decisions.decisions:
        yield from _block(decision)
    if decisions.rent is not None:
        yield Text("rent or build", style="bold")
        yield from map(_line, rent_lines(decisions.rent))


def _block(decision: Decision) -> Iterator[RenderableType]:
    first, second = decision.sides
    yield Text(printable(f"{decision.question}: {verdict_words(decision)}"), style="bold")
    columns = (("", False), (first.name, False), (second.name, False))
    yield table(columns, differences_of(decision))
    yield from map(_line, tip_lines(decision))


def _line(text: str) -> Text:
    return Text(printable(f"  {text}"))


def verdict_words(decision: Decision) -> str:
    """``Ethernet, by $128,000``, in the objective where that is not capex; the reason where a side has no design."""
    if any(side.status == "unknown" for side in decision.sides):
        return "not answered in time"
    if not decision.better:
        return "neither side has a design"
    if decision.by is None:
        return f"{decision.better}; the other side has no design"
    metric = decision.metric
    of_metric = "" if metric == "capex_usd" else f" of {metric_name(metric)}"
    if decision.by == 0:
        return f"both have the same{of_metric}" if of_metric else "both cost the same"
    is_proven = all(side.status == "optimal" for side in decision.sides)
    words = f"{decision.better}, by {metric_value(metric, decision.by)}{of_metric}"
    return words if is_proven else f"{words} (of the best found)"


def tip_lines(decision: Decision) -> Iterator[str]:
    """Changes that would tip a decision, and the better side at other sizes."""
    for tip in decision.tips:
        yield f"would tip it: {tip}"
    for size in decision.sizes:
        by = f", by {metric_value(decision.metric, size.by)}" if size.by else ""
        yield f"with {size.servers:,} servers: {size.better or 'neither side has a design'}{by}"


def rent_lines(rent: RentComparison) -> Iterator[str]:
    """Renting and building, a sentence for each offer."""
    yield from (_offer_line(rent, offer) for offer in rent.offers)
    if rent.build_usd is not None:
        energy = (
            "" if rent.energy_usd_per_month is None else f", and {money(rent.energy_usd_per_month)} of energy a month"
        )
        network = f", {rent.network_gbps_per_gpu:g} Gb/s per GPU"
        yield f"build: {money(rent.build_usd)} of servers and network{network}{energy}"
    yield from (f"note: {note}" for note in rent.notes)


def _offer_line(rent: RentComparison, offer: RentOffer) -> str:
    """``rent: 64 GPUs at $6.88 an hour from AWS (400 Gb/s per GPU, EFA; source, date) are ... a month``."""
    price = offer.price
    told = f"${price.low_usd:,.2f}"
    if price.low_usd != price.high_usd:
        told += f" to ${price.high_usd:,.2f}"
    speed = None if price.gbps_per_gpu is None else f"{price.gbps_per_gpu:g} Gb/s per GPU"
    network = ", ".join(word for word in (speed, price.fabric) if word)
    source = ", ".join(word for word in (price.source.url, price.source.date) if word)
    known = "; ".join(word for word in (price.provider, network, source) if word)
    months = "" if offer.break_even_months is None else f"; beyond {offer.break_even_months:g} months, build"
    return f"rent: {rent.gpus:,} GPUs at {told} an hour ({known}) are {money(offer.usd_per_month)} a month{months}"
