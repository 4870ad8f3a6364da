"""What the first screen says of a case that lists several servers, and of servers that count."""

from __future__ import annotations

from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.first_screen import compared_rows, first_rows
from fabopt.solution import optimize
from tests.samples.once import once
from tests.solution.test_servers import of_both, parts


def test_screen_says_which_server_and_what_another_one_costs() -> None:
    content = of_both(limits={"power_w": 60_000}) | {"gpus": 27}
    given = parts(150_000)
    design = once(lambda: optimize.solve(inputs_from_objects(content, given), alternatives_s=9), "screen", content)
    rows = [*first_rows(design), *compared_rows(design)]
    told = {row.label: row.words for row in rows if row.label}
    lines = [row.words for row in rows]
    assert "27" not in told["Cluster"]
    assert told["Note"] == "4 servers of gpu-8 have 32 GPUs for 27: 5 unused"
    assert "with any of 2 servers, costs less" in told["Proof"]
    assert told["Instead"].startswith("with 7 servers of gpu-4 instead: costs $")
    assert any(line.startswith("rests on prices of servers: $150,000 for gpu-8 (unknown)") for line in lines)
    assert any(line.startswith("above $") and line.endswith("for gpu-8 the whole costs less with gpu-4")
               for line in lines)  # fmt: skip
    assert design.totals is not None
    assert design.totals.cluster_power_w is not None
    left = (60_000 - design.totals.cluster_power_w) / 1000
    assert told["Limits"] == f"power 60 kW: {left:.1f} kW left"
