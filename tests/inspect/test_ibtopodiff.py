"""``fabopt as-built`` and ``ibtopodiff`` on the same fabrics with random faults: both name the same ports."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fabopt.inspect.reading import recognised
from fabopt.output.export.formats import Options, export
from tests.samples.as_built import looked_at, pairs, repaired, wired
from tests.samples.discoveries import discovery_text, is_switch, planned_links, shuffled
from tests.samples.ibtopodiff import compared, matched_switches, named, named_ports, subnet_text
from tests.samples.shipped import shipped

MOST_SWAPS, MOST_OTHERS = 20, 5


@pytest.mark.long(but=("dgx-superpod-32-seeds0",))
@pytest.mark.parametrize(
    "name, seeds", [("dgx-superpod-32", (0, 24)), ("dgx-superpod-32", (1, 2, 86)), ("dgx-superpod-127", (0, 26))]
)
def test_both_name_the_same_ports(name: str, seeds: tuple[int, ...], tmp_path: Path) -> None:
    """Where ibtopodiff can tell all switches apart; else it names no port that as-built does not."""
    export(shipped(name), wired(name), ["topo"], tmp_path, Options())
    topo, subnet = tmp_path / "topo" / "compute.topo", tmp_path / "subnet.lst"
    planned = planned_links(wired(name))
    switches = {port.device for link in planned for port in link if is_switch(port)}
    compared_whole = 0
    for seed in seeds:
        draw = random.Random(seed)
        faults = draw.randint(0, MOST_SWAPS), draw.randint(0, MOST_OTHERS), draw.randint(0, MOST_OTHERS)
        there = shuffled(planned, *faults, draw)
        subnet.write_text(subnet_text(there))
        said = compared(tmp_path, topo, subnet)
        result = looked_at(name, recognised(discovery_text(there), "found", "found"))
        ours = {named(port) for finding in result.findings for port in (finding.a, finding.b, *finding.seen)}
        assert ours == {named(port) for pair in pairs(planned) ^ pairs(there) for port in pair}
        assert named_ports(said) <= ours
        if matched_switches(said) == len(switches):
            compared_whole += 1
            assert named_ports(said) == ours
        subnet.write_text(subnet_text((a, b) for a, b in map(sorted, repaired(there, result.repairs))))
        mended = compared(tmp_path, topo, subnet)
        assert f"Total of {2 * len(planned)} ports match" in mended
        assert "-E-" not in mended
    assert compared_whole
