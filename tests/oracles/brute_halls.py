"""What racks and rows of a small floor take, by brute force. Nothing is imported from the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Json = dict[str, Any]


def power_of(floor: Json) -> float:
    """Watts that a rack may use."""
    return float(floor.get("rack_power_w", math.inf)) * floor.get("breaker_share", 1)


def weight_of(floor: Json) -> float:
    """Kilograms that a rack may have, on its own base too."""
    base = floor.get("rack_pitch_m", 0.6) * floor.get("rack_depth_m", 1.2)
    return min(floor.get("rack_kg", math.inf), floor.get("floor_kg_m2", math.inf) * base)


def to_air(product: Json) -> float:
    """The share of a product's heat that goes to the air."""
    return float(1 - product.get("liquid_share", 0))


def most_servers(floor: Json, server: Json) -> int:
    """Servers whose power, heat and weight a rack takes."""
    air_w = min(floor.get("rack_air_w", math.inf), floor.get("row_air_w", math.inf))
    limits = [(power_of(floor), server["power_w"]), (air_w, server["power_w"] * to_air(server))]
    limits.append((weight_of(floor), server.get("weight_kg", 0)))
    return min((int(limit // each) for limit, each in limits if each and limit < math.inf), default=10**9)


def blows_one_way(racks: np.ndarray, chosen: list[int], server: Json, switches: list[Json]) -> np.ndarray:
    """Whether all switches can blow one way, in no rack against servers, or those that are sold against the servers'
    can stand apart and all others with servers; by place.
    """
    known = [at for at, switch in enumerate(switches) if switch.get("airflows")]
    beside = {"rear": "port-side-exhaust", "front": "port-side-intake"}.get(server.get("ports_side", ""))
    above = np.isin(racks[:, known], list(chosen))
    good = (above == [[*switches[at]["airflows"]] == [beside] for at in known]).all(axis=1) & (beside is not None)
    for way in ("port-side-intake", "port-side-exhaust"):
        if all(way in switches[at]["airflows"] for at in known):
            good |= ~above.any(axis=1) | (beside in (None, way))
    return good


def takes(
    hall: Any,
    racks: np.ndarray,
    chosen: list[int],
    servers: tuple[Json, int, float],
    switches: list[Json],
    heats: list[float],
) -> np.ndarray:
    """Whether racks and rows take servers, a full rack in each of ``chosen``, and switches in their racks; by place.

    ``servers``: what one is, how many are in a rack, and the watts of the modules in one.
    """
    server, per_rack, modules_w = servers
    rows = np.arange(len(racks))
    if hall.rules.air and not (cool := blows_one_way(racks, chosen, server, switches)).all():
        good = np.zeros(len(racks), dtype=bool)
        if cool.any():
            good[cool] = takes(hall, racks[cool], chosen, servers, switches, heats)
        return good
    air_w, kg = np.zeros((len(racks), len(hall.racks))), np.zeros((len(racks), len(hall.racks)))
    air_w[:, chosen] += per_rack * (server["power_w"] * to_air(server) + modules_w)
    kg[:, chosen] += per_rack * server.get("weight_kg", 0)
    for one, (switch, watts) in enumerate(zip(switches, heats, strict=True)):
        air_w[rows, racks[:, one]] += watts * to_air(switch)
        kg[rows, racks[:, one]] += switch.get("weight_kg", 0)
    good = (air_w <= hall.floor.get("rack_air_w", math.inf) + 1e-6).all(axis=1)
    good &= (kg <= weight_of(hall.floor) + 1e-6).all(axis=1)
    for row in range(hall.rows):
        of_row = air_w[:, [row_ == row for row_, _ in hall.racks]].sum(axis=1)
        good &= of_row <= hall.floor.get("row_air_w", math.inf) + 1e-6
    return np.asarray(good)


def joins_halls(
    places: list[tuple[int, int]],
    racks: np.ndarray,
    server_rack: np.ndarray,
    kinds: list[tuple[Any, float, int]],
    most: float,
) -> np.ndarray:
    """Whether links that leave each hall carry its smaller side's ports of servers but for a ratio; by place.

    ``places``: of racks, their hall first; ``kinds``: links from servers, then from leaves, their Gb/s, and the number
    of the first device above them.
    """
    hall_of = np.array([hall for hall, _ in places])
    good = np.ones(len(racks), dtype=bool)
    for hall in set(hall_of.tolist()):
        ports, leaving = [0.0, 0.0], np.zeros(len(racks))
        for links, gbps, first in kinds:
            for a, b in zip(links.a, links.b, strict=True):
                below = racks[:, a] if first else np.full(len(racks), server_rack[a])
                leaving += gbps * ((hall_of[below] == hall) != (hall_of[racks[:, first + b]] == hall))
                if not first:
                    ports[int(hall_of[server_rack[a]] == hall)] += gbps
        good &= min(ports) <= most * leaving + 1e-9
    return good
