"""Round trips by hand: structures of ``tests.oracles.brute_force`` with every choice of parts that keeps a limit.

Nothing of fabopt is imported. Docs: docs/optics.md, latency. No attachments; every switch and NIC figure holds its FEC.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from tests.oracles.brute_force import Best, Choice, Found, Space, Structure, solve, structures
from tests.oracles.brute_parts import Json, Mode, Unit, exact

SENT_BITS = (4096 + 64) * 8


class Clock:
    """The figures of a catalog; None where there is none."""

    def __init__(self, catalog: Json) -> None:
        kinds = ("switches", "transceivers", "cables", "fibres")
        self.parts = {one["id"]: (kind, one) for kind in kinds for one in catalog[kind]}
        self.rows = catalog["facts"]["latency"]

    def figure(self, part: str, of: str) -> Fraction | None:
        rows = [row for row in self.rows if row["part"] == part and row.get("of") in (None, of)]
        own = [row for row in rows if row.get("of") is not None] or rows
        return exact(own[0]["ns"]) if own else None

    def switch(self, switch: Json) -> Fraction | None:
        own = switch.get("latency_ns")
        return self.figure("switch", switch.get("asic") or "") if own is None else exact(own)

    def link(self, unit: Unit) -> Fraction | None:
        """One link of a unit in one direction."""
        found = [(*self.parts[item[0]], item[1]) for item, _ in unit.items]
        modules = [one for kind, one, _ in found if kind == "transceivers"]
        (laid, cable, metres) = next(one for one in found if one[0] in ("cables", "fibres"))
        if laid == "fibres":
            is_linear = all(one.get("retiming") == "none" for one in modules)
            lanes = [one["lane_gbps"] for one in modules if one.get("lane_gbps")]
            inside = Fraction(0) if is_linear else self.figure("module", f"{lanes[0]:g}" if lanes else "")
        elif cable["medium"] == "AOC":
            inside = self.figure("module", f"{cable['lane_gbps']:g}" if cable.get("lane_gbps") else "")
        else:
            inside = self.figure("cable", cable["medium"])
        per_m = self.figure("metre", "fibre" if laid == "fibres" or cable["medium"] == "AOC" else "copper")
        return None if inside is None or per_m is None else inside + per_m * exact(metres)


def solve_in_time(catalog: Json, case: Json, most_us: float) -> Best | None:
    """The best design whose farthest servers are as near; None if there is none."""
    clock = Clock(catalog)

    def walk(space: Space) -> Found:
        space.keeps_dear = True
        for structure, choice in structures(space):
            yield from in_time(space, clock, structure, choice, exact(most_us) * 1000)

    return solve(catalog, case, walk=walk)


def in_time(space: Space, clock: Clock, structure: Structure, choice: Choice, most_ns: Fraction) -> Found:
    """The structure with each of the largest sets of parts that keep the limit."""
    boxes = [box.product for box, _ in structure.boxes()]
    passed = [clock.switch(box) for box in (*boxes, *boxes[-2::-1])]
    nic = clock.figure("nic", "")
    if nic is None or None in passed:
        return
    speeds = [structure.cards.cage.speed, *(box.down.cage.speed for box, _ in structure.boxes())]
    devices = 2 * sum(one for one in passed if one is not None) + 2 * nic
    left = (most_ns - devices - Fraction(SENT_BITS * 1000, min(speeds))) / 4
    times = [sorted({one for one in map(clock.link, units(mode)) if one is not None}) for mode in choice]
    for most in product(*times):
        if sum(most) <= left:
            fast = tuple(within(clock, mode, ns) for mode, ns in zip(choice, most, strict=True))
            space.kept += fast
            yield structure, fast


def units(mode: Mode) -> list[Unit]:
    return [unit for _, of_class in mode.classes for unit in of_class]


def within(clock: Clock, mode: Mode, most_ns: Fraction) -> Mode:
    def is_fast(unit: Unit) -> bool:
        ns: Any = clock.link(unit)
        return ns is not None and ns <= most_ns

    return mode._replace(classes=tuple((count, tuple(filter(is_fast, of_class))) for count, of_class in mode.classes))
