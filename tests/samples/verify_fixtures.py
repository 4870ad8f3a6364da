"""Three small designs with every number worked out by hand, for the tests of ``fabopt.verify``.

``one_tier``    4 servers x 2 GPUs, 2 chosen cards each, one 16-port switch, copper
``two_tiers``   7 servers with built-in cards in shared twin cages, 2 groups (4 + 3), twin optics, an attachment
``three_tiers`` 7 servers in 4 groups of 2 (last 1), 2 pods, oversubscribed 2 and 2, mixed cables and optics, a price
                break, a stock, a supply, servers counted, PCIe-bound cards

Energy: 8760 h x 5 years x 1.4 x 0.10 USD/kWh = 6132 USD per kW.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from fabopt.schema.case import Case
from fabopt.schema.design import Design
from tests.samples.lengths import USUAL

Json = dict[str, Any]

FACTS = {"kind": "facts", "pcie_x16_gbps": {"3": 126, "4": 252, "5": 504, "6": 1000}}
DR4 = {"standard": "400G-DR4", "fibre": "smf", "connector": "MPO-12", "reach_m": 500}
TWIN = {"splits": ["2x400"], "standards": {"2x400": "400G-DR4"}, "connectors": 2} | {
    key: value for key, value in DR4.items() if key != "standard"
}
ONE_BY_400 = {"form_factor": "QSFP112", "split": "1x400"}

PARTS: Json = {
    "facts": FACTS,
    "box2": {"kind": "server", "id": "box2", "gpus": 2, "nic_slots": 2, "power_w": 700},
    "box4": {
        "kind": "server",
        "id": "box4",
        "gpus": 4,
        "power_w": 10000,
        "nics": [{"id": "fixed", "count": 4, "cages": [{"count": 2, "form_factor": "OSFP-RHS", "splits": ["2x400"]}]}],
    },
    "box1": {
        "kind": "server",
        "id": "box1",
        "gpus": 1,
        "nic_slots": 1,
        "pcie": {"generation": 4, "lanes": 16},
        "power_w": 700,
        "price_usd": 1000.5,
    },
    "card": {
        "kind": "nic",
        "id": "card",
        "vendor": "Acme",
        "protocols": ["ethernet"],
        "cages": [{"count": 1, "form_factor": "QSFP112", "splits": ["1x400"], "lane_gbps": 100}],
        "pcie": {"generation": 5, "lanes": 16},
        "power_w": 20,
        "price_usd": [{"from": 1, "usd": 1500}, {"from": 8, "usd": 1200}],
    },
    "fixed": {
        "kind": "nic",
        "id": "fixed",
        "protocols": ["infiniband"],
        "cages": [{"count": 1, "form_factor": "OSFP-RHS", "splits": ["1x400"]}],
    },
    "t16": {
        "kind": "switch",
        "id": "t16",
        "vendor": "Acme",
        "part_number": "T-16",
        "description": "16 ports of 400G",
        "protocol": "ethernet",
        "cages": [
            {"count": 16, "form_factor": "QSFP-DD", "accepts": ["QSFP112"], "splits": ["1x400"], "lane_gbps": 100}
        ],
        "power_w": 200,
        "price_usd": 5000,
    },
    "t8": {
        "kind": "switch",
        "id": "t8",
        "vendor": "Acme",
        "part_number": "T-8",
        "protocol": "ethernet",
        "cages": [{"count": 8, "form_factor": "QSFP-DD", "accepts": ["QSFP112"], "splits": ["1x400"]}],
        "power_w": 200,
        "price_usd": 5000,
        "stock": 2,
    },
    "twin8": {
        "kind": "switch",
        "id": "twin8",
        "protocol": "infiniband",
        "cages": [{"count": 8, "form_factor": "OSFP-IHS", "splits": ["2x400"]}],
        "power_w": 600,
        "price_usd": 16000,
    },
    "dac": {
        "kind": "cable",
        "id": "dac",
        "medium": "DAC",
        "ends": [ONE_BY_400, ONE_BY_400],
        "lengths": [
            {"m": 1, "price_usd": 50},
            {"m": 2.5, "part_number": "DAC-2M5"},
            {"m": 3, "price_usd": 80, "part_number": "DAC-3M"},
        ],
        "power_w": 0.1,
    },
    "aoc": {
        "kind": "cable",
        "id": "aoc",
        "vendor": "Bolt",
        "medium": "AOC",
        "ends": [ONE_BY_400, ONE_BY_400],
        "lengths": [{"m": 30, "price_usd": 900, "supply": 3}],
        "power_w": 10,
    },
    "dr4": {
        "kind": "transceiver",
        "id": "dr4",
        "form_factor": "QSFP-DD",
        "split": "1x400",
        **DR4,
        "power_w": 9,
        "price_usd": 700,
    },
    "single-flat": {
        "kind": "transceiver",
        "id": "single-flat",
        "form_factor": "OSFP-RHS",
        "split": "1x400",
        **DR4,
        "power_w": 9,
        "price_usd": 700,
    },
    "twin-fin": {
        "kind": "transceiver",
        "id": "twin-fin",
        "form_factor": "OSFP-IHS",
        **TWIN,
        "power_w": 16,
        "price_usd": 1200,
    },
    "twin-flat": {
        "kind": "transceiver",
        "id": "twin-flat",
        "form_factor": "OSFP-RHS",
        **TWIN,
        "power_w": 16,
        "price_usd": 1300,
    },
    "mpo": {
        "kind": "fibre",
        "id": "mpo",
        "fibre": "smf",
        "connectors": ["MPO-12", "MPO-12"],
        "lengths": [{"m": 5, "price_usd": 40}, {"m": 30, "price_usd": 90}, {"m": 50, "price_usd": 110}],
    },
}


def parts(*ids: str) -> Json:
    """Some of the parts, and the PCIe table."""
    return json.loads(json.dumps({part: PARTS[part] for part in ("facts", *ids)}))


def record(case: Json) -> Json:
    """The case as a design file has it: every default filled, with its hash."""
    content = Case.model_validate_json(json.dumps(case)).model_dump(mode="json", by_alias=True)
    return {"name": case["name"], "sha256": digest(content), "content": content}


def digest(content: Json) -> str:
    """sha256 of canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def line(fabric: str, kind: str, part: str, quantity: int, price: float, power: float, **more: Any) -> Json:
    """One line of a bill; part number and description default to those of a product that has neither."""
    given = {"part_number": "", "description": part, "in_use": quantity, "total_usd": quantity * price}
    return {
        "stage": "final",
        "fabric": fabric,
        "kind": kind,
        "id": part,
        "quantity": quantity,
        "unit_price_usd": price,
        "power_w": power,
    } | (given | more)


def solved(value: float, metric: str = "capex_usd") -> Json:
    """The objective of a proven answer."""
    return {"metric": metric, "value": value, "bound": value, "gap": 0, "engine": "cp-sat", "candidates": 1}


def one_tier() -> Json:
    """8 endpoints on 16 ports; a quarter kept free: ceil(8 / 0.75) = 11 down ports, 3 of them reserved."""
    case = {
        "name": "one-tier",
        "resilience": "none",
        "server": "box2",
        "site": {"distances_m": USUAL},
        "stages": [{"name": "final", "servers": 4}],
        "fabrics": [
            {
                "name": "compute",
                "min_gbps_per_gpu": 400,
                "max_oversubscription": {"leaf": 1, "spine": 1},
                "reserve_ports": 0.25,
            }
        ],
    }
    fabric = {
        "name": "compute",
        "role": "compute",
        "topology": "clos",
        "protocol": "ethernet",
        "planes": 1,
        "rails": 1,
        "striping": "even",
        "structure": {
            "tiers": 1,
            "servers_per_group": 4,
            "groups": 1,
            "ports_per_server": 2,
            "ports_per_server_per_leaf": 2,
            "links_per_pair": 0,
            "pods": 1,
            "leaves_per_pod": 1,
            "spines_per_pod": 0,
            "pod_of": "groups",
            "groups_per_pod": 1,
            "links_per_core_pair": 0,
            "spines_per_core_group": 0,
            "cores_per_group": 0,
        },
        "nic": {
            "id": "card",
            "per_server": 2,
            "ports_per_nic": 1,
            "gbps": 400,
            "split": "1x400",
            "cage_group": 0,
            "built_in": False,
        },
        "tiers": [
            {
                "role": "leaf",
                "id": "t16",
                "count": 1,
                "down_ports": 8,
                "up_ports": 0,
                "gbps_down": 400,
                "gbps_up": 0,
                "reserved_ports": 3,
                "down": {"cage_group": 0, "split": "1x400"},
            }
        ],
        "links": [
            {
                "from": "server",
                "to": "leaf",
                "count": 8,
                "gbps": 400,
                "length_m": 3,
                "medium": "DAC",
                "from_cages": 8,
                "to_cages": 8,
                "parts": [{"id": "dac", "quantity": 8, "length_m": 3}],
            }
        ],
        "oversubscription": {},
        "metrics": {
            "injection_gbps_per_gpu": 400,
            "bisection_gbps_per_gpu": 400,
            "alltoall_gbps_per_gpu": 400,
            "max_switch_hops": 1,
        },
    }
    # 8 cards cost 1200 each. 5000 + 9600 + 640 = 15240; 200 + 160 + 0.8 = 360.8 W; 0.3608 x 6132 = 2212.4256
    return {
        "fabopt": "0.1.0",
        "case": record(case),
        "parts": parts("box2", "card", "t16", "dac"),
        "status": "optimal",
        "objective": solved(15240),
        "totals": {
            "capex_usd": 15240,
            "tco_usd": 17452.43,
            "power_w": 360.8,
            "cluster_power_w": 3160.8,
            "rack_units": 1,
            "switches": 1,
            "nics": 8,
            "transceivers": 0,
            "cables": 8,
            "capex_usd_per_gpu": 1905,
        },
        "fabrics": [fabric],
        "stages": [
            {
                "name": "final",
                "month": 0,
                "servers": 4,
                "gpus": 8,
                "capex_usd": 15240,
                "power_w": 360.8,
                "fabrics": {"compute": {"leaf": 1, "spine": 0, "core": 0}},
            }
        ],
        "bom": [
            line("compute", "switch", "t16", 1, 5000, 200, part_number="T-16", description="16 ports of 400G"),
            line("compute", "nic", "card", 8, 1200, 160, description="Acme card"),
            line("compute", "cable", "dac", 8, 80, 0.8, length_m=3, part_number="DAC-3M"),
        ],
    }


def two_tiers() -> Json:
    """Groups of 4 and 3 servers on 4 leaves each (k = 1): 8 leaves, 4 uplinks each, 2 links to each of 2 spines.

    The attachment's 2 ports go to leaves with 3 servers; their second twin cage has a port free, so no leaf cage and no
    leaf module is added for them.
    """
    case = {
        "name": "two-tiers",
        "resilience": "none",
        "server": "box4",
        "site": {"distances_m": USUAL},
        "stages": [{"name": "final", "month": 18, "gpus": 28}],
        "fabrics": [
            {
                "name": "compute",
                "min_gbps_per_gpu": 400,
                "max_oversubscription": {"leaf": 1, "spine": 1},
                "attachments": [{"name": "manager", "ports": 2, "form_factor": "OSFP-RHS", "split": "1x400"}],
            }
        ],
    }
    fabric = {
        "name": "compute",
        "role": "compute",
        "topology": "clos",
        "protocol": "infiniband",
        "planes": 1,
        "rails": 4,
        "striping": "even",
        "structure": {
            "tiers": 2,
            "servers_per_group": 4,
            "groups": 2,
            "ports_per_server": 4,
            "ports_per_server_per_leaf": 1,
            "links_per_pair": 2,
            "pods": 1,
            "leaves_per_pod": 8,
            "spines_per_pod": 2,
            "pod_of": "groups",
            "groups_per_pod": 2,
            "links_per_core_pair": 0,
            "spines_per_core_group": 0,
            "cores_per_group": 0,
        },
        "nic": {
            "id": "fixed",
            "per_server": 4,
            "ports_per_nic": 1,
            "gbps": 400,
            "split": "2x400",
            "cage_group": 0,
            "built_in": True,
        },
        "tiers": [
            {
                "role": "leaf",
                "id": "twin8",
                "count": 8,
                "down_ports": 4,
                "up_ports": 4,
                "gbps_down": 400,
                "gbps_up": 400,
                "reserved_ports": 0,
                "down": {"cage_group": 0, "split": "2x400"},
                "up": {"cage_group": 0, "split": "2x400"},
            },
            {
                "role": "spine",
                "id": "twin8",
                "count": 2,
                "down_ports": 16,
                "up_ports": 0,
                "gbps_down": 400,
                "gbps_up": 0,
                "reserved_ports": 0,
                "down": {"cage_group": 0, "split": "2x400"},
            },
        ],
        "links": [
            {
                "from": "server",
                "to": "leaf",
                "count": 28,
                "gbps": 400,
                "length_m": 3,
                "medium": "smf",
                "from_cages": 14,
                "to_cages": 16,
                "parts": [
                    {"id": "twin-flat", "quantity": 14, "end": "from"},
                    {"id": "mpo", "quantity": 28, "length_m": 5},
                    {"id": "twin-fin", "quantity": 16, "end": "to"},
                ],
            },
            {
                "from": "attachment",
                "to": "leaf",
                "attachment": "manager",
                "count": 2,
                "gbps": 400,
                "length_m": 3,
                "medium": "smf",
                "from_cages": 2,
                "to_cages": 0,
                "parts": [
                    {"id": "single-flat", "quantity": 2, "end": "from"},
                    {"id": "mpo", "quantity": 2, "length_m": 5},
                ],
            },
            {
                "from": "leaf",
                "to": "spine",
                "count": 32,
                "gbps": 400,
                "length_m": 30,
                "medium": "smf",
                "from_cages": 16,
                "to_cages": 16,
                "parts": [
                    {"id": "twin-fin", "quantity": 16, "end": "from"},
                    {"id": "mpo", "quantity": 32, "length_m": 30},
                    {"id": "twin-fin", "quantity": 16, "end": "to"},
                ],
            },
        ],
        "oversubscription": {"leaf": 1},
        "metrics": {
            "injection_gbps_per_gpu": 400,
            "bisection_gbps_per_gpu": 400,
            "alltoall_gbps_per_gpu": 400,
            "max_switch_hops": 3,
        },
    }
    # 160000 + 1400 + 57600 + 18200 + 1200 + 2880 = 241280; 6000 + 18 + 768 + 224 = 7010 W; 7.01 x 6132 = 42985.32
    return {
        "fabopt": "0.1.0",
        "case": record(case),
        "parts": parts("box4", "fixed", "twin8", "single-flat", "twin-fin", "twin-flat", "mpo"),
        "status": "optimal",
        "objective": solved(241280),
        "totals": {
            "capex_usd": 241280,
            "tco_usd": 284265.32,
            "power_w": 7010,
            "cluster_power_w": 77010,
            "rack_units": 10,
            "switches": 10,
            "nics": 0,
            "transceivers": 64,
            "cables": 62,
            "capex_usd_per_gpu": 8617.14,
        },
        "fabrics": [fabric],
        "stages": [
            {
                "name": "final",
                "month": 18,
                "servers": 7,
                "gpus": 28,
                "capex_usd": 241280,
                "power_w": 7010,
                "fabrics": {"compute": {"leaf": 8, "spine": 2, "core": 0}},
            },
        ],
        "bom": [
            line("compute", "switch", "twin8", 10, 16000, 6000),
            line("compute", "transceiver", "single-flat", 2, 700, 18),
            line("compute", "transceiver", "twin-fin", 48, 1200, 768),
            line("compute", "transceiver", "twin-flat", 14, 1300, 224),
            line("compute", "fibre", "mpo", 30, 40, 0, length_m=5),
            line("compute", "fibre", "mpo", 32, 90, 0, length_m=30),
        ],
    }


def three_tiers() -> Json:
    """4 leaves of 2 servers (one of 1), one uplink each; 2 pods of 2 leaves with one spine; one core.

    Injection: the Gen4 slot's 252 of 400 Gb/s. Bisection 252 / 2 / 2 = 63. All-to-all, E = 7: a pod with 4 of them
    sends 4 r x 3/6 <= 400, so r = 200; a leaf sends 2 r x 5/6 <= 400, so r <= 240.
    """
    case = {
        "name": "three-tiers",
        "resilience": "none",
        "server": "box1",
        "site": {"distances_m": USUAL},
        "stages": [{"name": "final", "servers": 7}],
        "fabrics": [
            {
                "name": "compute",
                "tiers": 3,
                "min_gbps_per_gpu": 200,
                "max_oversubscription": {"leaf": 2, "spine": 2},
            }
        ],
        "limits": {"budget_usd": 49373.5, "power_w": 6524.7, "rack_units": 7},
        "include_servers": True,
        "objective": "tco_usd",
    }
    t8 = {"id": "t8", "gbps_down": 400, "reserved_ports": 0, "down": {"cage_group": 0, "split": "1x400"}}
    up = {"gbps_up": 400, "up_ports": 1, "up": {"cage_group": 0, "split": "1x400"}}
    fabric = {
        "name": "compute",
        "role": "compute",
        "topology": "clos",
        "protocol": "ethernet",
        "planes": 1,
        "rails": 1,
        "striping": "even",
        "structure": {
            "tiers": 3,
            "servers_per_group": 2,
            "groups": 4,
            "ports_per_server": 1,
            "ports_per_server_per_leaf": 1,
            "links_per_pair": 1,
            "pods": 2,
            "leaves_per_pod": 2,
            "spines_per_pod": 1,
            "pod_of": "groups",
            "groups_per_pod": 2,
            "links_per_core_pair": 1,
            "spines_per_core_group": 1,
            "cores_per_group": 1,
        },
        "nic": {
            "id": "card",
            "per_server": 1,
            "ports_per_nic": 1,
            "gbps": 400,
            "split": "1x400",
            "cage_group": 0,
            "built_in": False,
        },
        "tiers": [
            {"role": "leaf", "count": 4, "down_ports": 2, **t8, **up},
            {"role": "spine", "count": 2, "down_ports": 2, **t8, **up},
            {"role": "core", "count": 1, "down_ports": 2, "up_ports": 0, "gbps_up": 0, **t8},
        ],
        "links": [
            {
                "from": "server",
                "to": "leaf",
                "count": 7,
                "gbps": 400,
                "length_m": 3,
                "medium": "DAC",
                "from_cages": 7,
                "to_cages": 7,
                "parts": [{"id": "dac", "quantity": 7, "length_m": 3}],
            },
            {
                "from": "leaf",
                "to": "spine",
                "count": 3,
                "gbps": 400,
                "length_m": 30,
                "medium": "AOC",
                "from_cages": 3,
                "to_cages": 3,
                "parts": [{"id": "aoc", "quantity": 3, "length_m": 30}],
            },
            {
                "from": "leaf",
                "to": "spine",
                "count": 1,
                "gbps": 400,
                "length_m": 30,
                "medium": "smf",
                "from_cages": 1,
                "to_cages": 1,
                "parts": [
                    {"id": "dr4", "quantity": 1, "end": "from"},
                    {"id": "mpo", "quantity": 1, "length_m": 30},
                    {"id": "dr4", "quantity": 1, "end": "to"},
                ],
            },
            {
                "from": "spine",
                "to": "core",
                "count": 2,
                "gbps": 400,
                "length_m": 50,
                "medium": "smf",
                "from_cages": 2,
                "to_cages": 2,
                "parts": [
                    {"id": "dr4", "quantity": 2, "end": "from"},
                    {"id": "mpo", "quantity": 2, "length_m": 50},
                    {"id": "dr4", "quantity": 2, "end": "to"},
                ],
            },
        ],
        "oversubscription": {"leaf": 2, "spine": 2},
        "metrics": {
            "injection_gbps_per_gpu": 252,
            "bisection_gbps_per_gpu": 63,
            "alltoall_gbps_per_gpu": 200,
            "max_switch_hops": 5,
        },
    }
    # 5 of 7 switches bought, 2 in stock; 8 cards for the price of 6.4. 25000 + 9600 + 4200 + 2700 + 560 + 90 + 220
    # + 7003.5 = 49373.5; 1400 + 140 + 54 + 30 + 0.7 = 1624.7 W, with 7 x 700 of servers
    # 6524.7 W; 6.5247 x 6132 = 40009.4604
    return {
        "fabopt": "0.1.0",
        "case": record(case),
        "parts": parts("box1", "card", "t8", "dac", "aoc", "dr4", "mpo"),
        "status": "optimal",
        "objective": solved(89382.96, "tco_usd"),
        "totals": {
            "capex_usd": 49373.5,
            "tco_usd": 89382.96,
            "power_w": 1624.7,
            "cluster_power_w": 6524.7,
            "rack_units": 7,
            "switches": 7,
            "nics": 7,
            "transceivers": 6,
            "cables": 13,
            "capex_usd_per_gpu": 7053.36,
        },
        "fabrics": [fabric],
        "stages": [
            {
                "name": "final",
                "month": 0,
                "servers": 7,
                "gpus": 7,
                "capex_usd": 49373.5,
                "power_w": 1624.7,
                "fabrics": {"compute": {"leaf": 4, "spine": 2, "core": 1}},
            }
        ],
        "bom": [
            line("compute", "switch", "t8", 5, 5000, 1400, in_use=7, part_number="T-8", description="Acme T-8"),
            line("compute", "nic", "card", 8, 1200, 140, in_use=7, description="Acme card"),
            line("compute", "transceiver", "dr4", 6, 700, 54),
            line("compute", "cable", "aoc", 3, 900, 30, length_m=30, description="Bolt aoc"),
            line("compute", "cable", "dac", 7, 80, 0.7, length_m=3, part_number="DAC-3M"),
            line("compute", "fibre", "mpo", 1, 90, 0, length_m=30),
            line("compute", "fibre", "mpo", 2, 110, 0, length_m=50),
            line("", "server", "box1", 7, 1000.5, 4900),
        ],
    }


DESIGNS: dict[str, Callable[[], Json]] = {
    "one_tier": one_tier,
    "two_tiers": two_tiers,
    "three_tiers": three_tiers,
}


def read(document: Json) -> Design:
    """A design file's content as a ``Design``."""
    return Design.model_validate_json(json.dumps(document))


# -- ways to join cages with several ports -----------------------------------------------------------------------
# Only the rules of links are meant for these: their bills are those of the designs that they vary.

SPLITTER = {
    "kind": "cable",
    "id": "splitter",
    "medium": "DAC",
    "ends": [{"form_factor": "OSFP", "split": "2x400"}, {"form_factor": "OSFP", "split": "1x400", "count": 2}],
    "lengths": [{"m": 3, "price_usd": 200}],
    "power_w": 0.2,
}
TWIN_DAC = SPLITTER | {
    "id": "twin-dac",
    "ends": [{"form_factor": "OSFP", "split": "2x400"}] * 2,
    "lengths": [{"m": 3, "price_usd": 150}, {"m": 30, "price_usd": 500}],
}
BREAKOUT = {
    "kind": "fibre",
    "id": "breakout",
    "fibre": "smf",
    "ends": [{"connector": "MPO-12", "count": 1}, {"connector": "LC", "count": 4}],
    "lengths": [{"m": 3, "price_usd": 90}],
}


def module(name: str, split: str, connector: str, connectors: int = 1) -> Json:
    """A transceiver with the usual rest."""
    return {
        "kind": "transceiver",
        "id": name,
        "form_factor": "OSFP",
        "splits": [split],
        "standards": {split: "DR"},
        "fibre": "smf",
        "connector": connector,
        "connectors": connectors,
        "reach_m": 500,
        "power_w": 9,
        "price_usd": 700,
    }


def fibre(name: str, near: str, far: str, far_count: int = 1) -> Json:
    """A fibre assembly of 3 m and 30 m."""
    lengths = [{"m": 3, "price_usd": 90}, {"m": 30, "price_usd": 190}]
    ends = [{"connector": near, "count": 1}, {"connector": far, "count": far_count}]
    return {"kind": "fibre", "id": name, "fibre": "smf", "ends": ends, "lengths": lengths}


def row(count: int, cages: tuple[int, int], *bought: Json, medium: str = "smf", **more: Any) -> Json:
    """A row of links between servers and leaves."""
    kind = {"from": "server", "to": "leaf", "count": count, "gbps": 400, "length_m": 3, "medium": medium}
    return kind | {"from_cages": cages[0], "to_cages": cages[1], "parts": list(bought)} | more


def of(name: str, quantity: int, end: str | None = None, length_m: float | None = None) -> Json:
    """A part of a row."""
    return {"id": name, "quantity": quantity} | ({"end": end} if end else {"length_m": length_m or 3})


def star(servers: int, nic: str, leaf: str, links: list[Json], *products: Json, nic_cages: int = 1) -> Json:
    """One switch with cages split as ``leaf`` says, one card a server with all ports of cages split as ``nic`` says."""
    document = one_tier()
    ports, gbps = (int(word) for word in nic.split("x"))
    ports *= nic_cages
    endpoints, per_cage = servers * ports, int(leaf.split("x")[0])
    content = document["case"]["content"]
    content["stages"][0]["servers"] = servers
    content["fabrics"][0].update(reserve_ports=0, min_gbps_per_gpu=50)
    document["case"]["sha256"] = digest(content)
    document["parts"] |= {product["id"]: product for product in products}
    document["parts"]["card"].update(cages=[{"count": nic_cages, "form_factor": "OSFP", "splits": [nic]}])
    cages = [{"count": 32, "form_factor": "OSFP", "splits": [leaf]}]
    document["parts"]["t16"].update(cages=cages, max_ports=32 * per_cage)
    made = document["fabrics"][0]
    made["structure"].update(servers_per_group=servers, ports_per_server=ports, ports_per_server_per_leaf=ports)
    made["nic"].update(per_server=1, ports_per_nic=ports, gbps=gbps, split=nic)
    made["tiers"][0].update(down_ports=endpoints, reserved_ports=0, gbps_down=gbps)
    made["tiers"][0]["down"].update(split=leaf)
    figures = dict.fromkeys(("injection_gbps_per_gpu", "bisection_gbps_per_gpu", "alltoall_gbps_per_gpu"))
    made["metrics"].update(dict.fromkeys(figures, ports * gbps // 2 if ports * gbps % 2 == 0 else ports * gbps / 2))
    made["links"] = [link | {"gbps": gbps} for link in links]
    return document


def clos(links: list[Json], *products: Json, spines: int = 2, down_ports: int = 16, pair: int = 2) -> Json:
    """``two_tiers`` with other leaf-spine links, over twin cages at both ends."""
    document = two_tiers()
    content = document["case"]["content"]
    content["fabrics"][0].update(striping="even" if pair == 2 else "any")
    document["case"]["sha256"] = digest(content)
    document["parts"] |= {product["id"]: product for product in products}
    made = document["fabrics"][0]
    made.update(striping=content["fabrics"][0]["striping"])
    made["structure"].update(spines_per_pod=spines, links_per_pair=pair)
    made["tiers"][1].update(count=spines, down_ports=down_ports)
    if pair == 1:
        made["metrics"].update(bisection_gbps_per_gpu=371.428571)  # links for 13 of the 14 ports of a half
    made["links"][2:] = [link | {"from": "leaf", "to": "spine", "length_m": 30} for link in links]
    return document


def joinings() -> dict[str, Json]:
    """Designs by the way their cages with several ports are joined."""
    single, twin = module("single", "1x400", "LC"), module("twin", "2x400", "LC", 2)
    straight, trunk = fibre("lc", "LC", "LC"), fibre("trunk", "MPO-12", "MPO-12")
    quad, pairs = module("quad", "4x100", "MPO-12"), module("pairs", "4x100", "MPO-8", 2)
    lone, halves = module("lone", "1x100", "LC"), fibre("halves", "MPO-8", "LC", 2)
    fan = module("fan", "4x100", "LC", 4)
    duo = module("duo", "2x400", "MPO-12")

    def copper(links: int, cables: int) -> Json:
        return row(links, (cables, cables), of("twin-dac", cables, length_m=30), medium="DAC")

    def optics(links: int, cages: int) -> Json:
        ends = of("twin-fin", cages, "from"), of("twin-fin", cages, "to")
        return row(links, (cages, cages), ends[0], of("mpo", links, length_m=30), ends[1])

    return {
        # 7 links in twin leaf cages: ceil(7 / 2) = 4 cages, a head unused
        "splitter at the leaf": star(7, "1x400", "2x400", [row(7, (7, 4), of("splitter", 4), medium="DAC")], SPLITTER),
        # the same, 2 cages by copper and 2 (one of them half used) by optics
        "cages mixed": star(
            7,
            "1x400",
            "2x400",
            [
                row(4, (4, 2), of("splitter", 2), medium="DAC"),
                row(3, (3, 2), of("single", 3, "from"), of("lc", 3), of("twin", 2, "to")),
            ],
            *(SPLITTER, single, twin, straight),
        ),
        # every twin cage of a server goes to one leaf
        "splitter at the server": star(
            7, "2x400", "1x400", [row(14, (7, 14), of("splitter", 7), medium="DAC")], SPLITTER
        ),
        "twin copper": star(7, "2x400", "2x400", [row(14, (7, 7), of("twin-dac", 7), medium="DAC")], TWIN_DAC),
        # a connector with both ports: one fibre for each pair of cages
        "two ports in a trunk": star(
            7, "2x400", "2x400", [row(14, (7, 7), of("duo", 7, "from"), of("trunk", 7), of("duo", 7, "to"))], duo, trunk
        ),
        # 7 links in 4x100 leaf cages: 2 cages, 2 connectors with 4 and 3 ports
        "breakout": star(
            7,
            "1x100",
            "4x100",
            [row(7, (7, 2), of("lone", 7, "from"), of("breakout", 2), of("quad", 2, "to"))],
            *(lone, quad, BREAKOUT),
        ),
        # and with two ports to a connector: 2 + 2 connectors
        "two connectors": star(
            7,
            "1x100",
            "4x100",
            [row(7, (7, 2), of("lone", 7, "from"), of("halves", 4), of("pairs", 2, "to"))],
            *(lone, pairs, halves),
        ),
        # the full cage by two connectors of two ports, the cage with 3 ports by a fibre a port
        "connectors mixed": star(
            7,
            "1x100",
            "4x100",
            [
                row(4, (4, 1), of("lone", 4, "from"), of("halves", 2), of("pairs", 1, "to")),
                row(3, (3, 1), of("lone", 3, "from"), of("lc", 3), of("fan", 1, "to")),
            ],
            *(lone, pairs, halves, fan, straight),
        ),
        # 16 pairs of 2 links: one cable each
        "copper to spines": clos([copper(32, 16)], TWIN_DAC),
        "bundles mixed": clos([copper(10, 5), optics(22, 11)], TWIN_DAC),
        # 4 uplinks to 3 spines: 2, 1, 1 links; a cable for each of 24 pairs; spines with 11, 11 and 10 links
        "heads unused": clos([copper(32, 24)], TWIN_DAC, spines=3, down_ports=11, pair=1),
    }
