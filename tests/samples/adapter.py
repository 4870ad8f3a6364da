"""The one place where the oracle tests call fabopt: plain Python in, the design file as a dict out."""

from __future__ import annotations

from typing import Any

from tests.samples.bare import bare
from tests.samples.once import once

Json = dict[str, Any]


def run(catalog: Json, case: Json, **options: Any) -> Json:
    """Solve a case over a catalog and return the design file's content; ``options`` as of ``fabopt.solve``, no look at
    what else there is if they say nothing of it.

    It is of the bare space (``bare``) where it leaves things out, as the oracles have it.
    """
    import fabopt

    def work() -> Json:
        design = fabopt.solve(bare(case), catalog=catalog, **{"alternatives_s": 0, **options}).design
        return design.model_dump(by_alias=True, mode="json")

    return once(work, case, catalog, options)


def outline(design: Json) -> Json | None:
    """What a design says that the oracle says too, None if there is no design; money in cents, power in milliwatts."""
    if design["status"] == "infeasible":
        return None
    totals, fabric = design["totals"], design["fabrics"][0]
    structure, nic = fabric["structure"], fabric["nic"]
    tiers = {tier["role"]: tier for tier in fabric["tiers"]}
    bom: dict[tuple[str, Any], int] = {}
    for row in design["bom"]:
        key = (row["id"], row.get("length_m"))
        bom[key] = bom.get(key, 0) + row["quantity"]
    return {
        "capex": round(totals["capex_usd"] * 100),
        "power": round(totals["power_w"] * 1000),
        "rack_units": totals["rack_units"],
        "switches": totals["switches"],
        "cables": totals["cables"],
        "tiers": structure["tiers"],
        "topology": fabric["topology"],
        "planes": fabric["planes"],
        "rails": fabric["rails"],
        "pods": structure["pods"],
        "m": structure["links_per_pair"],
        "g": structure["servers_per_group"],
        "k": structure["ports_per_server_per_leaf"],
        "u": tiers["leaf"]["up_ports"],
        "x": tiers["spine"]["up_ports"] if "core" in tiers else 0,
        "q": structure["spines_per_core_group"],
        "m2": structure["links_per_core_pair"],
        "spines": structure["spines_per_pod"],
        "pod_of": structure["pod_of"],
        "ids": (nic["id"], *(tiers[role]["id"] if role in tiers else "" for role in ("leaf", "spine", "core"))),
        "cards": (nic["per_server"], nic["ports_per_nic"], nic["split"], nic["cage_group"]),
        "sides": sides_of(tiers),
        "counts": tuple(tiers[role]["count"] if role in tiers else 0 for role in ("leaf", "spine", "core")),
        "down": tiers["leaf"]["down_ports"],
        "reserved": tiers["leaf"]["reserved_ports"],
        "bom": {key: quantity for key, quantity in bom.items() if quantity},
    }


def sides_of(tiers: Json) -> tuple[Any, ...]:
    """(cage group, split) of leaf down, leaf up, spine down, spine up, core; None where there is none."""
    found: list[Any] = []
    for role, names in (("leaf", ("down", "up")), ("spine", ("down", "up")), ("core", ("down",))):
        for name in names:
            use = tiers[role][name] if role in tiers else None
            found.append(None if use is None else (use["cage_group"], use["split"]))
    return tuple(found)


def outline_of_best(best: Any) -> Json:
    """The same of the oracle's answer."""
    structure = best.structure
    cards = structure.cards
    counts = [*structure.counts(), 0, 0]
    return {
        "capex": best.capex_cents,
        "power": best.power_mw,
        "rack_units": float(best.rack_units),
        "switches": best.switches,
        "cables": best.cables,
        "tiers": structure.tiers,
        "topology": structure.topology,
        "planes": structure.planes // (cards.number if structure.topology == "rail-only" else 1),
        "rails": cards.number
        * cards.ports
        // structure.k
        // structure.planes
        * (cards.number if structure.topology == "rail-only" else 1),
        "pods": structure.pods,
        "m": structure.m,
        "g": structure.g,
        "k": structure.k,
        "u": structure.u,
        "x": structure.x,
        "q": structure.q,
        "m2": structure.m2,
        "spines": structure.spines_per_pod,
        "pod_of": structure.pod_of,
        "ids": structure.ids(),
        "cards": (cards.number, cards.ports, cards.split, cards.group),
        "sides": tuple(None if side is None else (side.group, side.split) for side in structure.sides()),
        "counts": tuple(counts[:3]),
        "down": structure.counted or structure.down,
        "reserved": structure.reserved,
        "bom": best.bom,
    }


def differences(ours: Json | None, theirs: Json | None) -> Json:
    """Keys on which two outlines differ, with both values."""
    if ours is None or theirs is None:
        return {} if ours is theirs else {"feasible": (ours is not None, theirs is not None)}
    return {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]}


def assert_agrees(best: Any, theirs: Json, text: str) -> None:
    """A design passes all its checks and is the oracle's best, ``None`` where it has none; ``text``: the input."""
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    expected = None if best is None else outline_of_best(best)
    assert differences(expected, outline(theirs)) == {}, text
