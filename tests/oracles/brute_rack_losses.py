"""What a design on a small floor has left without any one rack, counted server by server, for many places at once.

Nothing is imported from the package. Rules are those of docs/bandwidth.md, for the designs of ``brute_floor``: one
plane, cards of one port and one speed, as many cards as GPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Json = dict[str, Any]


def wanted_gbps(case: Json) -> float | None:
    """What must be left per GPU without a rack; None where the case does not ask."""
    resilience = case.get("resilience")
    asked = [one for one in resilience if one != "default"] if isinstance(resilience, list) else []
    return next((one["min_gbps_per_gpu"] for one in asked if one["survive"] == "1 rack"), None)


def left_without_racks(
    leaf_of_card: np.ndarray, busiest: list[int], spines: int, links: tuple[list[int], int], card_gbps: int,
    racks: np.ndarray, server_rack: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Least Gb/s per GPU over all racks with switches and all servers elsewhere, shape (places,).

    ``leaf_of_card`` (servers, cards); ``busiest``: cards on the busiest leaf of its kind; ``links``: of each leaf
    to every spine, and their speed; ``racks``: of leaves and then spines, (places, switches); ``server_rack``
    (servers,).
    """
    (of_pair, fast), leaves = links, len(busiest)
    least = np.full(len(racks), np.inf)
    for rack in np.unique(racks).tolist():
        lost = racks == rack
        alive_spines = spines - lost[:, leaves:].sum(axis=1)
        left = np.full(len(racks), np.inf)
        for server in np.flatnonzero(server_rack != rack).tolist():
            cards, own = leaf_of_card[server], int(leaf_of_card[server][0])
            sent = busiest[own] * card_gbps
            carried = np.minimum(1, alive_spines * of_pair[own] * fast / sent) if spines else 1.0
            alive = (~lost[:, cards]).sum(axis=1)
            left = np.minimum(left, alive * card_gbps * carried / len(cards))
        if not (server_rack != rack).any():
            left = np.zeros(len(racks))
        least = np.where(lost.any(axis=1), np.minimum(least, left), least)
    return least
