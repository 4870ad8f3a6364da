"""A small hall whose links between switches may run through trunks."""

from __future__ import annotations

import random
from typing import Any

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.samples.once import once
from tests.samples.small import Json, case, catalog

LABOUR: Json = {
    "usd_per_hour": 100,
    "minutes": {"pull": {"fibre": 20, "trunk": 40, "jumper": 2}, "plug": {"fibre": 1, "jumper": 1, "trunk": 1}},
}


def trunk(id_: str, legs: int, usd: float, **keys: Any) -> Json:
    """A trunk of so many legs in two lengths."""
    lengths = [{"m": 20, "price_usd": usd}, {"m": 60, "price_usd": usd * 1.5}]
    return {"id": id_, "fibre": "smf", "connector": "MPO-12-APC", "legs": legs, "fibres": 12 * legs, "polarity": "B",
            "pinned": True, "lengths": lengths, **keys}  # fmt: skip


def panel(id_: str, ports: int, usd: float, **keys: Any) -> Json:
    """A panel of one unit with so many ports."""
    return {"id": id_, "connector": "MPO-12", "ports": ports, "rack_units": 1, "price_usd": usd, **keys}


UNIVERSAL = [[1, 12], [2, 11], [3, 10], [4, 9]]


def cassettes(id_: str, legs: int, usd: float, **keys: Any) -> Json:
    """A panel of cassettes that lead a leg to four ports of two fibres."""
    back = {"connector": "MPO-12-APC", "pinned": False, "positions": UNIVERSAL, **keys.pop("back", {})}
    ports = legs * len(back["positions"])
    return {"id": id_, "connector": "LC-duplex", "ports": ports, "price_usd": usd, "back": back, **keys}


def broken_out(panels: list[Json] | None = None) -> Json:
    """The small catalog with modules and jumpers of two fibres, and cassettes for these."""
    content = parts([trunk("t2", 2, 200), trunk("t6", 6, 500)])
    for module in content["transceivers"]:
        module["connector"] = "LC-duplex"
    content["fibres"] = [{"id": "lc", "fibre": "smf", "connectors": ["LC-duplex", "LC-duplex"],
                          "lengths": [{"m": m, "price_usd": 20 + m} for m in (3, 10, 30, 60)]}]  # fmt: skip
    content["panels"] = [cassettes("c1", 1, 90), cassettes("c6", 6, 400)] if panels is None else panels
    return content


def parts(trunks: list[Json] | None = None, panels: list[Json] | None = None) -> Json:
    """The small catalog with a jumper, trunks and panels."""
    content = catalog()
    content["servers"][0]["rack_units"] = 4
    content["fibres"][0].update({"polarity": "B", "pinned": False})
    content["fibres"][0]["lengths"] = [{"m": 3, "price_usd": 30}, *content["fibres"][0]["lengths"]]
    content["trunks"] = [trunk("t4", 4, 300), trunk("t12", 12, 700)] if trunks is None else trunks
    content["panels"] = [panel("p6", 6, 100), panel("p24", 24, 300)] if panels is None else panels
    return content


# Ports of two fibres in order, and of eight.
STRAIGHT = [[at, at + 1] for at in range(1, 12, 2)]
EIGHTS = [list(range(at, at + 8)) for at in (1, 9, 17)]


def of_eights() -> Json:
    """Trunks of 24 fibres a leg, in front of which cassettes have three ports of eight."""
    content = parts([trunk("t2", 2, 400, connector="MPO-24-APC", fibres=48)])
    back = {"connector": "MPO-24-APC", "pinned": False, "positions": EIGHTS}
    content["panels"] = [
        {"id": "c8", "connector": "MPO-12-APC", "ports": 24, "pinned": True, "price_usd": 300, "back": back}
    ]
    return content


def random_parts(seed: int) -> Json:
    """Three types of trunk and two of panels at random prices."""
    rng = random.Random(seed)
    legs, ports = rng.sample([2, 3, 4, 6, 8, 12], 3), rng.sample([4, 6, 12, 24], 2)
    return parts(
        [trunk(f"t{number}", number, rng.randint(50, 900)) for number in legs],
        [panel(f"p{number}", number, rng.randint(20, 500)) for number in ports],
    )


def hall(cabling: object = "structured", labour: Json | None = None, **changes: Any) -> Json:
    """Six servers in racks of their own at half bandwidth on two tiers."""
    plan = {"rows": 1, "racks_per_row": 8, "rack_units": 24, **changes.pop("floor", {})}
    site: Json = {"floor": plan, "servers_per_rack": 1, "cabling": cabling, **changes.pop("site", {})}
    if labour is not None:
        site["labour"] = labour
    content = case(changes.pop("fabric", None), site=site, **changes)
    return {**content, "rules": {"rack-rules": False, **content.get("rules", {})}}


def in_rows(cabling: Json | None = None, labour: Json | None = None, **changes: Any) -> Json:
    """A hall of two rows, each with panels in a rack of their own at its end."""
    floor = {"rows": 2, "racks_per_row": 5, **changes.pop("floor", {})}
    return hall({"leaf-spine": "structured", "zones": "rows", **(cabling or {})}, labour, floor=floor, **changes)


def inputs(content: Json, products: Json | None = None) -> Inputs:
    """A case with the small catalog and its trunks."""
    return inputs_from_objects(content, parts() if products is None else products)


def solved(content: Json, products: Json | None = None, prune: bool = True) -> Design:
    """The design of a case, without a look at alternatives."""

    def work() -> Design:
        return optimize.solve(inputs(content, products), alternatives_s=0, prune=prune)

    return once(work, content, products, prune)


BROKEN_OUT: dict[str, tuple[Json, Json]] = {
    "in order": (hall({"leaf-spine": "structured", "spare_legs": 0.5}), broken_out()),
    "reversed": (hall({"leaf-spine": "structured", "server-leaf": "structured"}),
                 broken_out([cassettes("c2", 2, 150, back={"positions": STRAIGHT})])),
    "of eight": (hall(), of_eights()),
}  # fmt: skip
