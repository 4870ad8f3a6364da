"""How far a module reaches over a fibre with connections inside it, where both losses are known."""

from __future__ import annotations

from math import inf

from fabopt.schema.catalog import Fibre, Transceiver

# Attenuation to plan with, in dB a kilometre: indoor single-mode (TIA-568 as quoted for 400G-DR8), and multimode.
SINGLE_MODE, SINGLE_MODE_DB_PER_KM, MULTIMODE_DB_PER_KM = "smf", 0.4, 3.0


def reach_over(fibre: Fibre, module: Transceiver) -> float:
    """Longest run in metres; the module's reach where the fibre's loss or the module's budget is not known.

    loss inside the fibre + attenuation x length <= budget; below 0 where the loss alone is too much.
    """
    if fibre.loss_db is None:
        return module.reach_m
    per_km = SINGLE_MODE_DB_PER_KM if fibre.fibre == SINGLE_MODE else MULTIMODE_DB_PER_KM
    left_db = inf if module.loss_budget_db is None else module.loss_budget_db - fibre.loss_db
    return min(module.reach_m, round(left_db / per_km * 1000, 6) if left_db < inf else inf)
