"""Card slots of a server, which fabrics without built-in cards share: what they take at the least, by arithmetic."""

from __future__ import annotations

from fabopt.problem.problem import Problem


def cards_at_least(problem: Problem) -> dict[str, int]:
    """Fewest cards of a server that give each fabric its bandwidth, by fabric; built-in ones take no slot."""
    fewest = {}
    equipment = [(one.name, one.nics) for one in problem.fabrics]
    equipment += [(one.name, one.nics) for fabric in problem.fabrics for one in fabric.logical_fabrics]
    for name, nics in equipment:
        cards = [0 if one.item is None else one.nics_per_server for many in nics.values() for one in many]
        if cards:
            fewest[name] = min(cards)
    return fewest


def slots_are_short(problem: Problem) -> bool:
    """Whether no choice of cards fits: then there is no design."""
    return sum(cards_at_least(problem).values()) > problem.nic_slots


def sum_of_cards(problem: Problem) -> str:
    """The fewest cards as a sum: ``compute 8 + storage 1 = 9 cards of 8 slots``."""
    fewest = {name: cards for name, cards in cards_at_least(problem).items() if cards}
    parts = " + ".join(f"{name} {cards}" for name, cards in fewest.items())
    return f"{parts} = {sum(fewest.values())} cards at least, of {problem.nic_slots} slots"
