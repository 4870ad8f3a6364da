"""What is bought beside what is in service: the page, the first screen, and money by GPU that joins."""

from __future__ import annotations

from pathlib import Path

from fabopt.output.bought import bought_words, in_service, usd_per_gpu
from fabopt.output.html.answer import answer
from fabopt.output.terminal.first_screen import first_rows
from fabopt.schema.design import Design
from fabopt.units import some
from tests.samples.bases import designed
from tests.samples.growth_samples import eight
from tests.solution.test_in_service import in_stages
from tests.solution.test_moves import moved


def quantity(design: Design, *kinds: str) -> int:
    return sum(row.quantity for row in design.bom if row.kind in kinds)


def test_what_is_in_service_is_not_bought(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10})
    assert design.totals is not None and base.totals is not None
    switches, cables = quantity(design, "switch"), quantity(design, "cable", "fibre")
    assert 0 < switches == design.totals.switches - base.totals.switches
    assert 0 < cables == design.totals.cables - base.totals.cables
    said = answer(design)
    assert said.startswith(f"Buy {some(switches, 'switch')}")
    assert f"{some(cables, 'cable')} beside 8 servers in service for " in said
    units = design.totals.rack_units - base.totals.rack_units
    assert bought_words(design).startswith(f"{some(switches, 'switch')} ({some(int(units), 'rack unit')})")
    joined = design.stages[-1].gpus - base.stages[-1].gpus
    assert usd_per_gpu(design) == (design.totals.capex_usd / joined, "GPU added")
    rows = {row.label: row.words for row in first_rows(design)}
    assert rows["In service"].endswith(f"{some(design.stages[-1].moved_cables, 'cable')} of theirs move")
    assert in_service(base) is None and usd_per_gpu(base) == (base.totals.capex_usd_per_gpu, "GPU")
