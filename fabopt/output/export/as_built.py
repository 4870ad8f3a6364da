"""Findings about a fabric as built, as files: JSON whole, CSV with a row for each finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabopt.errors import legible
from fabopt.inspect.as_built import AsBuilt, RackPlace, Walk
from fabopt.inspect.findings import Finding
from fabopt.inspect.planned import NO_PORT, PortName
from fabopt.inspect.repairs import Move
from fabopt.output.export.cables import schedule
from fabopt.output.export.marks import MARK
from fabopt.output.export.spreadsheet import printable_csv
from fabopt.output.words import json_bytes
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring
from fabopt.wiring.structured import near_cord

FINDING_COLUMNS = (
    *("kind", "a_rack", "a_unit", "a_device", "a_port", "b_rack", "b_unit", "b_device", "b_port", "seen", "detail"),
    "cable",
)


@dataclass(frozen=True)
class Shown:
    """Findings about a fabric, with the places of ports and the labels of cables; ``mark``: the words for a design that
    is not proven; ``beside``: what a pod joins, each design with its wiring, which ``wiring`` has too.
    """

    design: Design
    wiring: Wiring
    result: AsBuilt
    mark: str = ""
    beside: Sequence[tuple[Design, Wiring]] = ()

    @cached_property
    def _walk(self) -> Walk:
        return Walk(self.wiring, self.result.plan)

    def place(self, port: PortName) -> RackPlace:
        """Rack and unit of the device of a port."""
        return self._walk.place(port)

    def cable(self, finding: Finding) -> str:
        """The label of the planned cable of a finding; empty where there is none."""
        row = self.result.plan.link_at.get(finding.a)
        return "" if row is None else self.result.plan.links[row].cable

    def label(self, cable: str, port: PortName) -> str:
        """The text on the label of a cable at a port; empty where the cable has none there."""
        return self._labels.get((cable, port), "") if cable else ""

    @cached_property
    def _labels(self) -> Mapping[tuple[str, PortName], str]:
        """Texts of the labels of all cables under repair, by cable and port."""
        if not self.result.repairs:
            return {}
        import pandas as pd

        rows = pd.concat([schedule(*one) for one in self.beside or [(self.design, self.wiring)]])
        rows = rows.assign(cable=[near_cord(name) for name in rows["cable"]])
        rows = rows[rows["cable"].isin({move.cable for move in self.result.repairs})]
        return {
            (cable, PortName(device, port)): label
            for side in ("from", "to")
            for cable, device, ports, label in zip(
                *(rows[key].tolist() for key in ("cable", f"{side}_device", f"{side}_port", f"{side}_label")),
                strict=True,
            )
            for port in ports.split("+")
        }


def as_built_json(shown: Shown) -> bytes:
    """Return everything as JSON, the same bytes for the same input."""
    result = shown.result
    content = {
        "ok": result.ok,
        "cables": {"planned": result.planned, "right": result.right},
        "findings": [_finding(shown, finding) for finding in result.findings],
        "repairs": [_repair(shown, move) for move in result.repairs],
        **({} if result.to_do is None else {"to_do": _to_do(shown)}),
        "notes": list(result.notes),
        **({MARK: shown.mark} if shown.mark else {}),
    }
    return json_bytes(content)


def _end(port: PortName) -> dict[str, Any]:
    return {"device": port.device, "port": port.port}


def _finding(shown: Shown, finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "a": _placed(shown, finding.a),
        "b": _placed(shown, finding.b),
        "seen": [_end(port) for port in finding.seen],
        "cable": shown.cable(finding),
        "detail": finding.detail,
    }


def _placed(shown: Shown, port: PortName) -> dict[str, Any]:
    return _end(port) | _place_of(shown, port)


def _place_of(shown: Shown, port: PortName) -> dict[str, Any]:
    place = shown.place(port)
    return {"rack": place.rack, "unit": place.unit or None}


def _repair(shown: Shown, move: Move) -> dict[str, Any]:
    label = shown.label(move.cable, move.target)
    source = label if move.move == "move" else shown.label(move.cable, move.source)
    repair = {
        "move": move.move,
        "from": _placed(shown, move.source) | {"label": source},
        "to": _placed(shown, move.target) | {"label": label},
        "cable": move.cable,
        "chain": move.chain,
    }
    if move.stays != NO_PORT:
        repair["other_end"] = _placed(shown, move.stays) | {"label": shown.label(move.cable, move.stays)}
    return repair


def _to_do(shown: Shown) -> dict[str, Any]:
    """Work that is no fault: devices and links that are new, move and go."""
    result = shown.result
    devices = [
        {"change": device.change, "name": device.name, "part": device.part, "before": device.before,
         **_place_of(shown, PortName(device.name, ""))}
        for device in result.devices_to_do
    ]  # fmt: skip
    links = [
        {"change": link.change, "cable": link.cable, "a": _placed(shown, link.a), "b": _placed(shown, link.b),
         "before": [_placed(shown, port) for port in link.before if port != NO_PORT]}
        for link in result.to_do or ()
    ]  # fmt: skip
    return {"cables": result.cables_to_do, "devices": devices, "links": links}


def findings_csv(shown: Shown) -> bytes:
    """Return a table with ``FINDING_COLUMNS``, a row for each finding."""
    marks = [shown.mark] if shown.mark else []
    rows = ([*_row(shown, finding), *marks] for finding in shown.result.findings)
    return printable_csv([*FINDING_COLUMNS, *([MARK] if marks else [])], rows)


def _row(shown: Shown, finding: Finding) -> list[object]:
    ends = [
        value
        for port in (finding.a, finding.b)
        for place in (shown.place(port),)
        for value in (place.rack, place.unit or "", *port)
    ]
    seen = ", ".join(f"{port.device} {port.port}" for port in finding.seen)
    cells = [finding.kind, *ends, seen, finding.detail, shown.cable(finding)]
    return [legible(cell) if isinstance(cell, str) else cell for cell in cells]
