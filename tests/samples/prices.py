"""Catalogs and cases of the few prices of ``tests.oracles.brute_proportional``."""

from __future__ import annotations

from typing import Any

from tests.oracles.brute_proportional import Asked, Parts
from tests.samples.small import Json


def catalog_of(parts: Parts) -> Json:
    """The parts as a catalog."""
    lengths_m = {3: 10, 30: parts.uplink, **({50: parts.to_core} if parts.to_core else {})}
    end = {"form_factor": "QSFP-DD", "split": "1x400"}
    cage = {"form_factor": "QSFP-DD", "splits": ["1x400"]}
    return {
        "switches": [
            {"id": f"switch-{ports}", "protocol": "ethernet", "rack_units": 1, "power_w": 100, "price_usd": usd,
             "cages": [{"count": ports, **cage}]}
            for ports, usd in parts.switches
        ],
        "nics": [{"id": "nic", "protocols": ["ethernet"], "power_w": 1, "price_usd": parts.nic - 10,
                  "cages": [{"count": 1, **cage}]}],
        "servers": [{"id": "box", "gpus": 4, "nic_slots": 8, "power_w": 100, "price_usd": 0}],
        "cables": [{"id": "dac", "medium": "DAC", "power_w": 0, "ends": [end, end],
                    "lengths": [{"m": length_m, "price_usd": usd} for length_m, usd in lengths_m.items()]}],
    }  # fmt: skip


def case_of(asked: Asked, **fabric: Any) -> Json:
    """What is asked for as a case."""
    wanted = {
        "name": "compute", "tiers": asked.tiers, "rails": "any" if asked.any_rails else "aligned",
        "groups": "any" if asked.any_last else "equal",
        "nics_per_server": asked.ports, "min_gbps_per_gpu": 1, "max_oversubscription": float(asked.ratio), **fabric,
    }  # fmt: skip
    site = {"distances_m": {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}}
    return {"name": "random", "server": "box", "servers": asked.servers, "fabrics": [wanted], "site": site,
            "rules": "none", "resilience": "none"}  # fmt: skip
