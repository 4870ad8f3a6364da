"""A design in a few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabopt.parts.names import named_switches, product_name
from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.topology.design import FilePart
from fabopt.units import gbps, some


def summary_of(part: FilePart) -> str:
    """A fabric in one line: counts and switches by tier, port speeds."""
    words = [f"{number} x {switch.id}" for tier in part.tiers for switch, number in tier.counts] or ["no switch"]
    return f"{' + '.join(words)}, {_ports(part)}"


def _ports(part: FilePart) -> str:
    return f"{part.nic.ports_per_server} x {gbps(part.nic.port.lane.port_mbps)}G a server, {part.protocol}"


def named_summary(part: FilePart, problem: Problem) -> str:
    """A fabric in one line: counts by tier with the names of products, port speeds."""
    products = {
        switch.id: switch.model_dump(include={"id", "vendor", "part_number"}) for switch in problem.catalog.switches
    }
    tiers = {
        tier.role if len(part.tiers) > 1 else "switch": [
            (number, product_name(products.get(switch.id, {}), switch.id)) for switch, number in tier.counts
        ]
        for tier in part.tiers
    }
    return f"{named_switches(tiers) or 'no switch'}, {_ports(part)}"


def summaries_of(problem: Problem, picked: Sequence[Picked], words: Callable[[FilePart], str] = summary_of) -> str:
    """Every fabric of a design in one line of ``words``, by name where there are several."""
    texts = [words(candidate.design.file_part()) for candidate, _ in picked]
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{fabric.name}: {text}" for fabric, text in zip(problem.fabrics, texts, strict=True))


def summaries_beside(
    problem: Problem,
    other: Sequence[Picked],
    best: Sequence[Picked],
    words: Callable[[FilePart], str] = summary_of,
) -> str:
    """The fabrics of another design that differ from the best one's, in one line; if none does in these words, words
    on other differences.
    """
    names, own_names = ([candidate.fabric for candidate, _ in picked] for picked in (other, best))
    if names != own_names:
        return summaries_of(problem, other, words)
    texts, own_texts = ([words(one.design.file_part()) for one, _ in picked] for picked in (other, best))
    told = [row for row in zip(names, texts, own_texts, strict=True) if row[1] != row[2]]
    if told:
        return "; ".join(f"{name}: {text}" if len(names) > 1 else text for name, text, _ in told)
    for (theirs, _), (ours, _) in zip(other, best, strict=True):
        structure, own = theirs.design.file_part().structure, ours.design.file_part().structure
        if structure.servers_per_group != own.servers_per_group:
            return f"the same devices in groups of up to {some(structure.servers_per_group, 'server')}"
        if structure != own:
            return "the same devices with other links between switches"
    return "the same devices with other cables and optics"
