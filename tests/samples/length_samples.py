"""Eight servers for which the rule ``lengths`` decides between one large switch and one in each rack.

A rack has two servers, with a built-in NIC of one port of 100G each. A cable costs 10 USD at 3 m, 200 at 10 m and 300
at 30 m; a switch of 16 ports 1,000 USD, one of 4 ports 100.

All on one switch: four racks, 6.1 m, so cables of 10 m: 1,000 + 8 x 200 = 2,600. A switch in each rack: 2.5 m, so 3 m;
leaf to spine 5.2 m, so 10 m: 4 x 100 + 100 + 8 x 10 + 4 x 200 = 1,380. At 3, 30 and 50 m one switch is 1,000 + 8 x 10 =
1,080, and a switch in each rack 500 + 80 + 4 x 300.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
ON_EACH_RACK, ON_ONE_SWITCH = 1380, 1080


def length_catalog(*metres: int) -> Json:
    """The catalog, with cables of some of its lengths only; none named: of all."""
    prices = {3: 10, 10: 200, 30: 300}
    end = {"form_factor": "QSFP56", "split": "1x100"}
    cages = {"form_factor": "QSFP56", "splits": ["1x100"]}
    return {
        "switches": [
            {"id": f"t{ports}", "protocol": "ethernet", "cages": [{"count": ports, **cages}], "power_w": 10,
             "price_usd": usd}
            for ports, usd in ((4, 100), (16, 1000))
        ],
        "nics": [{"id": "nic", "protocols": ["ethernet"], "cages": [{"count": 1, **cages}], "power_w": 1}],
        "cables": [
            {"id": "cable", "medium": "AOC", "ends": [end, end], "power_w": 0,
             "lengths": [{"m": m, "price_usd": usd} for m, usd in prices.items() if m in (metres or prices)]}
        ],
        "servers": [
            {"id": "box", "gpus": 1, "nic_slots": 1, "rack_units": 8, "power_w": 1000,
             "nics": [{"id": "nic", "count": 1, "role": "compute"}]}
        ],
    }  # fmt: skip


def length_case(**keys: Any) -> Json:
    """The case; ``keys`` of its top level."""
    fabric = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 2}
    site = {"servers_per_rack": 2}
    return {"name": "lengths", "server": "box", "servers": 8, "fabrics": [fabric], "site": site, "rules": {}} | keys
