"""A design in a few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabopt.parts.names import named_switches, product_name
from fabopt.problem.planes import planes_of, planes_words
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


def summaries_of(problem: Problem, picked: Sequence[Picked]) -> str:
    """Every fabric of a design in one line, by name where there are several."""
    texts = [summary_of(candidate.design.file_part()) for candidate, _ in picked]
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{fabric.name}: {text}" for fabric, text in zip(problem.fabrics, texts, strict=True))


def summaries_beside(problem: Problem, other: Sequence[Picked], best: Sequence[Picked]) -> str:
    """The fabrics of another design that differ from the best one's, in one line; if none does in these words, words
    on other differences.
    """
    return _beside(problem, other, best, lambda part, own: f"{summary_of(part)}{_planes(part, own)}")


def named_beside(problem: Problem, other: Sequence[Picked], best: Sequence[Picked]) -> str:
    """The fabrics of another design that differ, with names of products; ports of servers only where these differ."""
    products = {
        switch.id: switch.model_dump(include={"id", "vendor", "part_number"}) for switch in problem.catalog.switches
    }

    def named(part: FilePart, own: FilePart) -> str:
        tiers = {
            tier.role if len(part.tiers) > 1 else "switch": [
                (number, product_name(products.get(switch.id, {}), switch.id)) for switch, number in tier.counts
            ]
            for tier in part.tiers
        }
        ports = f", {_ports(part)}" if _ports(part) != _ports(own) else ""
        return f"{named_switches(tiers) or 'no switch'}{ports}{_planes(part, own)}"

    return _beside(problem, other, best, named)


def _planes(part: FilePart, own: FilePart) -> str:
    """The planes of a fabric, where they are others than those of its counterpart."""
    planes = planes_of(part.nic)
    return "" if planes == planes_of(own.nic) else f", in {planes_words({planes})}"


def _beside(
    problem: Problem, other: Sequence[Picked], best: Sequence[Picked], words: Callable[[FilePart, FilePart], str]
) -> str:
    names, own_names = ([candidate.fabric for candidate, _ in picked] for picked in (other, best))
    if names != own_names:
        return summaries_of(problem, other)
    pairs = [(one.design.file_part(), own.design.file_part()) for (one, _), (own, _) in zip(other, best, strict=True)]
    texts = [(name, words(*pair), words(pair[1], pair[1])) for name, pair in zip(names, pairs, strict=True)]
    told = [f"{name}: {text}" if len(names) > 1 else text for name, text, own in texts if text != own]
    if told:
        return "; ".join(told)
    for theirs, ours in pairs:
        structure, own = theirs.structure, ours.structure
        if structure.servers_per_group != own.servers_per_group:
            return f"the same devices in groups of up to {some(structure.servers_per_group, 'server')}"
        if structure != own:
            return "the same devices with other links between switches"
    return "the same devices with other cables and optics"
