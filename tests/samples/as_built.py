"""Shipped designs with their wirings, and what is found of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from fabopt.inspect.as_built import AsBuilt, as_built
from fabopt.inspect.cabling import Names
from fabopt.inspect.planned import PortName
from fabopt.inspect.reading import recognised
from fabopt.inspect.repairs import Move
from fabopt.inspect.sightings import Discovery
from fabopt.inspect.to_do import WantedCables
from fabopt.output.export.as_built import Shown, as_built_json
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring
from tests.samples.discoveries import Link
from tests.samples.shipped import shipped


@cache
def wired(name: str) -> Wiring:
    return wiring_of(shipped(name))


def looked_at(name: str, *reports: Discovery, names: Names | None = None) -> AsBuilt:
    """What reports say of a shipped design at its last stage."""
    stages = len(shipped(name).stages)
    return as_built(WantedCables(shipped(name), wired(name), stages - 1), reports, names or Names())


def report(text: str, device: str = "found") -> Discovery:
    return recognised(text, "found", device)


def as_json(name: str, result: AsBuilt) -> Any:
    return json.loads(as_built_json(Shown(shipped(name), wired(name), result)))


def pairs(links: Iterable[Link]) -> set[frozenset[PortName]]:
    return {frozenset(link) for link in links}


def repaired(links: Iterable[Link], moves: Iterable[Move]) -> set[frozenset[PortName]]:
    """Links after moves: ends leave their ports, then go to others. Every port may have one end of one cable."""
    cables = [set(link) for link in links]
    at = {port: cable for cable in cables for port in cable}
    plugged: list[tuple[set[PortName], PortName]] = []
    for move in moves:
        if move.move == "move":
            at[move.source].remove(move.source)
            plugged.append((at[move.source], move.target))
        elif move.move == "remove":
            assert at[move.source] is at[move.target]
            cables.remove(at[move.source])
    for cable, port in plugged:
        cable.add(port)
    cables += [{move.source, move.target} for move in moves if move.move == "lay"]
    return {frozenset(cable) for cable in cables}
