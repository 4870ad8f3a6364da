"""Wirings for the tests of ``fabopt.wiring`` and of the rules about it: solved designs, and any Clos one asks for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.units import MBPS_PER_GBPS, ceil_div, plain_fraction
from fabopt.verify import bandwidth
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.wiring.model import Wiring
from tests.samples import random_cases
from tests.samples.verify_fixtures import PARTS, Json, digest, read, three_tiers

MANY = 4096  # cages of a switch, so that no size is out of reach
Cable = tuple[str, str, str, str]


@cache
def random_design(family: str, seed: int) -> Design | None:
    """The design of a random case; None where it has none."""
    catalog, case = random_cases.generate(family, seed)
    case = {key: value for key, value in case.items() if key != "catalog"}
    design = optimize.solve(inputs_from_objects(case, catalog), alternatives_s=0)
    return design if design.fabrics else None


@dataclass(frozen=True)
class Sizes:
    """A Clos by its free choices, named as in docs/formulation.md: ``groups`` G of g servers, the last with ``last``.

    ``ports``: of a card in one plane; ``rail_pods``: pods of one rail. S = ``sets`` x q. One tier: no ``uplinks``; two:
    no ``cores``.
    """

    groups: int = 2
    g: int = 2
    last: int = 2
    planes: int = 1
    cards: int = 1
    ports: int = 1
    k: int = 1
    uplinks: int = 2
    q: int = 1
    sets: int = 1
    t: int = 1
    rail_pods: bool = False
    m2: int = 1
    cores: int = 0

    @property
    def tiers(self) -> int:
        """1, 2 or 3."""
        return 1 if not self.uplinks else 3 if self.cores else 2


def a_design(sizes: Sizes) -> Design:
    """A design of these sizes, all 1x400 ports on direct copper; only what its wiring is made of is right."""
    document = three_tiers()
    document["parts"] |= {"t8": _switch(), "card": _card(sizes), "dac": _cable()}
    servers = (sizes.groups - 1) * sizes.g + sizes.last
    content = document["case"]["content"]
    content["stages"] = [dict(content["stages"][0], servers=servers)]
    content["fabrics"][0]["striping"] = "any" if sizes.uplinks % (sizes.q * sizes.sets) else "even"
    document["case"]["sha256"] = digest(content)
    made = document["fabrics"][0]
    made |= {"planes": sizes.planes, "rails": sizes.cards * sizes.ports // sizes.k, "striping": "any"}
    made["structure"] |= _structure(sizes, servers)
    made["nic"] |= {"per_server": sizes.cards, "ports_per_nic": sizes.ports * sizes.planes}
    made["tiers"] = _tiers(sizes, made)
    made["links"] = _links(sizes, servers, made)
    document["bom"] = [
        dict(document["bom"][4], id="dac", length_m=length, in_use=count)
        for length, count in Counter({row["length_m"]: row["count"] for row in made["links"]}).items()
    ]
    made["metrics"] = _metrics(Evidence(read(document)).fabrics[0])
    return read(document)


def _metrics(fabric: FabricEvidence) -> Json:
    """The figures that the structure promises."""
    rates = {
        "injection": fabric.injection,
        "bisection": bandwidth.bisection(fabric),
        "alltoall": bandwidth.all_to_all(fabric),
        "permutation": bandwidth.permutation(fabric),
        "allreduce": bandwidth.allreduce(fabric),
    }
    return {
        **{f"{name}_gbps_per_gpu": plain_fraction(rate / MBPS_PER_GBPS) for name, rate in rates.items()},
        "max_switch_hops": bandwidth.HOPS_BY_TIERS[fabric.num_tiers],
        "mean_switch_hops": plain_fraction(bandwidth.mean_hops(fabric)),
    }


def _switch() -> Json:
    return PARTS["t8"] | {"cages": [PARTS["t8"]["cages"][0] | {"count": MANY}]}


def _card(sizes: Sizes) -> Json:
    return PARTS["card"] | {"cages": [PARTS["card"]["cages"][0] | {"count": sizes.ports * sizes.planes}]}


def _cable() -> Json:
    return PARTS["dac"] | {"lengths": [{"m": metres, "price_usd": 80} for metres in (3, 30, 50)]}


def _structure(sizes: Sizes, servers: int) -> Json:
    spines, rails = sizes.q * sizes.sets, sizes.cards * sizes.ports // sizes.k
    groups_per_pod = sizes.t if sizes.tiers > 2 else sizes.groups
    by_rail = sizes.tiers > 2 and sizes.rail_pods and rails > 1
    return {
        "tiers": sizes.tiers,
        "servers_per_group": sizes.g,
        "groups": sizes.groups,
        "ports_per_server": sizes.cards * sizes.ports,
        "ports_per_server_per_leaf": sizes.k,
        "links_per_pair": sizes.uplinks // spines if sizes.tiers > 1 else 0,
        "pods": ceil_div(sizes.groups, groups_per_pod) * (rails if by_rail else 1),
        "leaves_per_pod": groups_per_pod * (1 if by_rail else rails),
        "spines_per_pod": spines if sizes.tiers > 1 else 0,
        "pod_of": "rail" if by_rail else "groups",
        "groups_per_pod": groups_per_pod,
        "links_per_core_pair": sizes.m2 if sizes.cores else 0,
        "spines_per_core_group": sizes.q if sizes.cores else 0,
        "cores_per_group": sizes.cores,
    }


def _tiers(sizes: Sizes, made: Json) -> list[Json]:
    structure = made["structure"]
    down = {"cage_group": 0, "split": "1x400"}
    tier = {"id": "t8", "gbps_down": 400, "reserved_ports": 0, "down": down}
    spine_down = ceil_div(structure["leaves_per_pod"] * sizes.uplinks, sizes.q * sizes.sets)
    core_down = structure["pods"] * sizes.q * sizes.m2
    tiers = [
        ("leaf", sizes.groups * made["rails"], sizes.g * sizes.k, sizes.uplinks),
        ("spine", structure["pods"] * structure["spines_per_pod"], spine_down, sizes.cores * sizes.m2),
        ("core", sizes.sets * sizes.cores, core_down, 0),
    ]
    found = []
    for role, count, down_ports, up_ports in tiers[: sizes.tiers]:
        up = {"up": down, "gbps_up": 400} if up_ports else {"gbps_up": 0}
        ports = {"down_ports": down_ports, "up_ports": up_ports}
        found.append(tier | up | ports | {"role": role, "count": count * sizes.planes})
    return found


def _links(sizes: Sizes, servers: int, made: Json) -> list[Json]:
    kinds = [("server", "leaf", servers * sizes.planes * sizes.cards * sizes.ports, 3)]
    for (below, above), length in zip((("leaf", "spine"), ("spine", "core")), (30, 50), strict=True):
        lower = next((tier for tier in made["tiers"] if tier["role"] == below), None)
        if lower is not None and lower["up_ports"]:
            kinds.append((below, above, lower["count"] * lower["up_ports"], length))
    rows = []
    for near, far, count, length in kinds:
        row = {"from": near, "to": far, "count": count, "gbps": 400, "length_m": length, "medium": "DAC"}
        parts = [{"id": "dac", "quantity": count, "length_m": length}]
        rows.append(row | {"from_cages": count, "to_cages": count, "parts": parts})
    return rows


# -- looking at wirings and changing them -----------------------------------------------------------------------------


def cables(wiring: Wiring) -> list[Cable]:
    """(Box, port, box, port) of every link, by name."""
    names = wiring.devices.name
    ends = zip(wiring.links.a.tolist(), wiring.a_port, wiring.links.b.tolist(), wiring.b_port, strict=True)
    return [(names[a], a_port, names[b], b_port) for a, a_port, b, b_port in ends]


def changed(wiring: Wiring, table: str, **columns: dict[int, Any]) -> Wiring:
    """A wiring with other values in some rows of some columns of a table."""
    old = getattr(wiring, table)
    new: dict[str, Any] = {}
    for name, values in columns.items():
        column = getattr(old, name)
        new[name] = column.copy() if isinstance(column, np.ndarray) else list(column)
        for row, value in values.items():
            new[name][row] = value
    return replace(wiring, **{table: replace(old, **new)})


def swapped(wiring: Wiring, one: int, other: int, *columns: str, table: str = "links") -> Wiring:
    """A wiring in which two rows of a table have each other's values in some columns."""
    old = getattr(wiring, table)
    values = {name: (getattr(old, name)[one], getattr(old, name)[other]) for name in columns}
    return changed(wiring, table, **{name: {one: b, other: a} for name, (a, b) in values.items()})


def picked(wiring: Wiring, table: str, rows: list[int]) -> Wiring:
    """A wiring with some rows of a table, in this order; a row may be named twice."""
    old = getattr(wiring, table)
    columns = {}
    for column in fields(old):
        values = getattr(old, column.name)
        columns[column.name] = values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]
    return replace(wiring, **{table: replace(old, **columns)})


def without(wiring: Wiring, table: str, row: int) -> Wiring:
    """A wiring without one row of a table."""
    rows = range(len(getattr(wiring, table)))
    return picked(wiring, table, [one for one in rows if one != row % len(rows)])
