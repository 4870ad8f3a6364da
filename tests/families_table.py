"""Families side by side on the same 64-port 400G parts: ``python -m tests.families_table``, or ``make families``.

Prints the table of docs/benchmarks.md. Every row is a proven optimum for as many GPUs with one 400G port each.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.schema.topologies import DESIGNED
from fabopt.solution import optimize
from tests.paths import ROOT

Json = dict[str, Any]
REFERENCE = ROOT / "catalogs" / "reference"
KINDS = ("switches", "nics", "transceivers", "cables", "fibres", "servers")
SWITCH, NIC, SERVER = "nvidia-sn5400", "nvidia-mcx715105as-weat", "generic-hgx-h100"
SPLIT = "1x400"
SIZES = (1024, 2048, 16384, 65536)
HEAD = ("endpoints", "family", "network", "switches", "links", "USD an endpoint",
        "bisection", "all-to-all", "worst permutation", "switches on a path")  # fmt: skip


def parts() -> Json:
    """The reference catalog with one switch, of which 64 ports of 400 Gb/s are used, and one server."""
    found: Json = dict(yaml.safe_load((REFERENCE / "catalog.yaml").read_text()) or {})
    for kind in KINDS:
        files = sorted((REFERENCE / kind).glob("*.yaml"))
        found[kind] = [{"id": file.stem} | yaml.safe_load(file.read_text()) for file in files]
    for kind, kept in (("switches", SWITCH), ("servers", SERVER)):
        found[kind] = [one for one in found[kind] if one["id"] == kept]
    for cage in found["switches"][0]["cages"]:
        cage["splits"] = [SPLIT]
    return found


def case(family: str, gpus: int, ratio: float) -> Json:
    """So many GPUs on a family; any arrangement of a server's ports, so that only the network counts."""
    ratios = {"leaf": ratio, "spine": 1}
    fabric = {"name": "compute", "topologies": [family], "nics": [NIC], "rails": "any", "max_oversubscription": ratios}
    return {"name": f"{family.replace('+', '-plus')}-{gpus}", "server": SERVER, "gpus": gpus, "fabrics": [fabric]}


def row(family: str, gpus: int, made: Design) -> tuple[str, ...]:
    """A line of the table."""
    if made.totals is None:
        return (f"{gpus:,}", family, made.status, *["-"] * (len(HEAD) - 3))
    fabric = made.fabrics[0]
    figures = fabric.metrics
    links = sum(one.count for one in fabric.links if one.from_ != "server")
    rates = (figures.bisection_gbps_per_gpu, figures.alltoall_gbps_per_gpu, figures.permutation_gbps_per_gpu)
    shown = ("-" if one is None else f"{one:.0f}" for one in rates)
    cost = f"{made.totals.capex_usd / gpus:,.0f}"
    return (f"{gpus:,}", family, shape(made), f"{made.totals.switches:,}", f"{links:,}", cost, *shown,
            str(figures.max_switch_hops))  # fmt: skip


def shape(made: Design) -> str:
    """The network's own numbers."""
    fabric = made.fabrics[0]
    numbers = fabric.structure.model_dump()
    if "sides" in numbers:
        sides, links = (" x ".join(str(one) for one in numbers[key]) for key in ("sides", "links_per_pair"))
        return f"{sides}, links {links}"
    if "spines_per_group" in numbers:
        return (
            f"{numbers['switch_groups']} groups of {numbers['leaves_per_group']} + {numbers['spines_per_group']}, "
            f"{numbers['links_per_pair']} within, {numbers['global_links_per_group']} global"
        )
    if "switch_groups" in numbers:
        return (
            f"{numbers['switch_groups']} groups of {numbers['switches_per_group']}, "
            f"{numbers['links_per_local_pair']} local, {numbers['global_links_per_group']} global"
        )
    return " + ".join(f"{tier.count:,} {tier.role}" for tier in fabric.tiers)


def main() -> None:
    """Print one line for every size and family, as it is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, nargs="+", default=SIZES)
    parser.add_argument("--families", nargs="+", choices=DESIGNED, default=DESIGNED)
    parser.add_argument("--ratio", type=float, default=1, help="max_oversubscription at the leaves")
    given = parser.parse_args()
    catalog = parts()
    lines = ["| " + " | ".join((*HEAD, "s")) + " |", "| --- | --- | --- |" + " ---: |" * (len(HEAD) - 2)]
    print("\n".join(lines), flush=True)
    for gpus in given.gpus:
        for family in given.families:
            started = time.perf_counter()
            made = optimize.solve(inputs_from_objects(case(family, gpus, given.ratio), catalog), alternatives_s=0)
            broken = [check.name for check in made.checks if not check.ok]
            if broken or made.status not in ("optimal", "infeasible"):
                raise SystemExit(f"{family}, {gpus} GPUs: {made.status}; {', '.join(broken)}")
            cells = (*row(family, gpus, made), f"{time.perf_counter() - started:.1f}")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
