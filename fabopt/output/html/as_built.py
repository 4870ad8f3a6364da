"""The page about a fabric as built: findings, repairs, and a map of racks with the affected devices marked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from fabopt.inspect.planned import NO_PORT
from fabopt.output.export.as_built import Shown
from fabopt.output.html.racks import FloorView, RackCell, floor_view
from fabopt.output.html.rendering import render
from fabopt.output.terminal.as_built import (
    kinds_words,
    moves_words,
    planned_words,
    repair_words,
    to_do_rows,
    to_do_words,
)
from fabopt.schema.version import VERSION
from fabopt.units import some

FAULTY = "faulty"


def as_built_page(shown: Shown) -> bytes:
    """Return the page as HTML, the same bytes for the same input."""
    result = shown.result
    floor = floor_view(shown.design, shown.wiring)
    return render(
        "as_built.html",
        version=VERSION,
        mark=shown.mark,
        name=shown.design.case.name,
        result=result,
        kinds=kinds_words(result.findings) if result.findings else "",
        findings=[
            (finding.kind, planned_words(finding), shown.cable(finding), finding.detail, _places(shown, finding))
            for finding in result.findings
        ],
        repairs=[
            (str(number), str(move.chain), *repair_words(shown, move), shown.label(move.cable, move.target))
            for number, move in enumerate(result.repairs, 1)
        ],
        moves=moves_words(result),
        to_do=to_do_rows(shown),
        work=to_do_words(result),
        floor=floor and marked(floor, faults_by_device(shown)),
    )


def _places(shown: Shown, finding: Any) -> str:
    places = (shown.place(port) for port in (finding.a, finding.b))
    return ", ".join(dict.fromkeys(f"{place.rack} U{place.unit}" for place in places if place.rack))


def faults_by_device(shown: Shown) -> dict[str, int]:
    """Count of findings at each planned device."""
    numbers: Counter[str] = Counter()
    for finding in shown.result.findings:
        ends = {port.device for port in (finding.a, finding.b, *finding.seen) if port != NO_PORT}
        numbers.update(sorted(ends & set(shown.result.plan.devices)))
    return numbers


def marked(floor: FloorView, faults: dict[str, int]) -> FloorView:
    """Return a floor with counts of findings on racks and devices; the first rack with a finding is shown at first."""
    racks = {
        rack: [words, [_device(device, faults) for device in devices]]
        for rack, (words, devices) in floor.data["racks"].items()
    }
    of_rack = {
        rack: sum(faults.get(device[2], 0) for device in devices) for rack, (_, devices) in floor.data["racks"].items()
    }
    rows = tuple((name, tuple(_cell(cell, of_rack.get(cell.id, 0)) for cell in cells)) for name, cells in floor.rows)
    first = next((cell.id for _, cells in rows for cell in cells if FAULTY in cell.use), floor.first)
    faulty = sum(number > 0 for number in of_rack.values())
    uses = (*floor.uses, (FAULTY, faulty)) if faulty else floor.uses
    return replace(floor, rows=rows, uses=uses, first=first, data={**floor.data, "racks": racks})


def _cell(cell: RackCell, faults: int) -> RackCell:
    if not faults:
        return cell
    return replace(cell, use=f"{cell.use} {FAULTY}", words=f"{cell.words}, {some(faults, 'end')} in findings")


def _device(device: list[Any], faults: dict[str, int]) -> list[Any]:
    number = faults.get(device[2], 0)
    return [*device, some(number, "finding")] if number else device
