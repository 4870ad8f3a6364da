"""How many ports a cable joins at the least is asked of cables without making all of them, and comes to the same."""

from __future__ import annotations

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.parts.assemblies import Mode
from fabopt.problem.problem import problem_of
from tests.paths import ROOT
from tests.solution.test_brute_force import cable, cage, catalog, switch


@pytest.mark.parametrize("prune", [True, False])
def test_it_is_what_all_assemblies_say(prune: bool) -> None:
    read = inputs_from_objects(ROOT / "cases" / "l40s-inference-256.yaml")
    problem = problem_of(read.case, read.catalog, prune)
    met = set()
    for protocol, roles in problem.fabrics[0].switches.items():
        ports = {use.port for switch in roles["leaf"] for use in switch.uses if use.lane.port_mbps >= 400_000}
        for near in ports:
            for far in ports:
                for run_m, longer in ((2.0, False), (2.0, True), (40.0, True), (9000.0, True)):
                    joins = problem.links.assemblies(near, far, run_m, protocol, longer=longer)
                    counted = (one.ports_per_cable if one.mode is Mode.PAIR else 1 for one in joins)
                    fewest = problem.links.fewest_together(near, far, run_m, protocol)
                    assert fewest == min(counted, default=0)
                    met.add(fewest)
    assert met == {0, 1}


def test_cables_of_several_ports_alone_join_them_together() -> None:
    """Of a cage used as two ports: a cable joins both, until one splits it."""
    both = cable("both", "2x100", "2x100")
    apart = cable("apart", "2x100", "1x100", heads=2)
    for cables, expected in (([both], 2), ([both, apart], 1)):
        parts = catalog(switches=[switch("switch", cage(4, "1x100", "2x100"))], cables=cables)
        read = inputs_from_objects({"name": "together", "server": "box", "servers": 4}, parts)
        problem = problem_of(read.case, read.catalog)
        (leaf,) = problem.fabrics[0].switches["ethernet"]["leaf"]
        twin, single = sorted((use.port for use in leaf.uses), key=lambda port: -port.ports)
        assert problem.links.fewest_together(twin, twin, 3.0, "ethernet") == 2
        assert problem.links.fewest_together(twin, single, 3.0, "ethernet") == (expected == 1)
        assert problem.links.fewest_together(twin, twin, 51.0, "ethernet") == 0
