"""Random failures: all single ones give the figures of the file, in every family; draws are seeded; the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from fabopt.cli import main
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.outages import outage_report
from fabopt.schema.design import Design
from fabopt.schema.resilience import Failing
from fabopt.verify.evidence import Evidence
from fabopt.verify.failures import bandwidth_left
from fabopt.verify.outages import Grounds, Outages, lost_of, number_of
from tests.samples import small
from tests.solution import test_brute_force
from tests.topology import test_rails
from tests.topology.test_figures import FEW_SWITCHES, THREE_TIERS, TWO_TIERS
from tests.topology.test_graph_failures import rails

EVERY = 10**6


def direct(family: str, servers: int, ratio: int) -> Design:
    fabric = {"topologies": [family], "tiers": "any", "planes": 1, "max_oversubscription": ratio}
    return small.solved(small.case(fabric, servers=servers))


def of_rails(fabric: dict[str, object], servers: int) -> Design:
    parts, content = rails(fabric, servers)
    return small.solved(content, parts)


def slow_slots(fabric: dict[str, object]) -> Design:
    """Two cards of two ports of 100 Gb/s in slots that deliver 126: a lost port takes 26."""
    slot = {"pcie": {"generation": 3, "lanes": 16}}
    parts = test_brute_force.catalog(
        switches=[test_brute_force.switch("switch", test_brute_force.cage(16, "1x100"))],
        servers=test_brute_force.server(scale_up={"domain_gpus": 1, "gbps_per_gpu": 400}, **slot),
        nics=[test_brute_force.card("card", test_brute_force.cage(2, "1x100"), **slot)],
    )
    wanted = {"min_gbps_per_gpu": 200, "nics_per_server": 2, "max_oversubscription": 3}
    return small.solved(test_brute_force.case(9, wanted | fabric), parts)


DESIGNS: dict[str, Callable[[], Design]] = {
    "two tiers": lambda: small.solved(TWO_TIERS),
    "three tiers": lambda: small.solved(THREE_TIERS),
    "one switch": lambda: small.solved(small.case({"tiers": 1, "nics": ["nic-400"]}, servers=3)),
    "rail-only": lambda: of_rails({}, 9),
    "planes that are rails": lambda: of_rails({"topologies": ["clos"], "planes": "rails", "tiers": 2}, 9),
    "rails of three tiers": lambda: test_rails.design(
        test_brute_force.case(8, {"planes": "rails", "tiers": 3, "min_gbps_per_gpu": 200})
    ),
    "three NICs for four GPUs": lambda: small.solved(
        small.case({"tiers": 2, "nics": ["nic-400"], "nics_per_server": 3, "min_gbps_per_gpu": 100}, servers=6)
    ),
    "slow slots": lambda: slow_slots({"tiers": 2}),
    "dual-homed": lambda: slow_slots({"tiers": 2, "homing": "dual"}),
    "dual-homed rails": lambda: slow_slots({"tiers": 2, "homing": "dual", "topologies": ["rail-only"]}),
    "rails of two planes": lambda: slow_slots({"planes": 2, "topologies": ["rail-only"]}),
    "hyperx of two planes": lambda: slow_slots({"planes": 2, "topologies": ["hyperx"]}),
    "hyperx": lambda: direct("hyperx", 14, 1),
    "square": lambda: direct("hyperx", 14, 8),
    "torus": lambda: direct("torus", 14, 1),
    "torus with an empty switch": lambda: direct("torus", 14, 8),
    "dragonfly": lambda: direct("dragonfly", 14, 1),
    "uneven dragonfly": lambda: direct("dragonfly", 6, 2),
}


ONE_CARD = {"nics": ["nic-400"], "nics_per_server": 2, "switches": {role: ["small"] for role in FEW_SWITCHES}}
TWO = ONE_CARD | {"tiers": 2, "max_oversubscription": 2}
# Three spines; two with three uplinks of a leaf; pods of two spines with two cores each.
SEVERAL: dict[str, Callable[[], Design]] = {
    "two tiers": lambda: small.solved(small.case(TWO, servers=10)),
    "uneven stripes": lambda: small.solved(small.case(TWO | {"striping": "any"}, servers=10)),
    "three tiers": DESIGNS["three tiers"],
    "pods with several cores": lambda: small.solved(small.case(ONE_CARD | {"tiers": 3}, servers=10)),
    "rail-only": DESIGNS["rail-only"],
    "planes that are rails": DESIGNS["planes that are rails"],
}


def all_ways(grounds: Grounds, failed: Failing, count: int) -> Outages:
    (found,) = grounds.sample(failed, count, EVERY, 0, None)
    assert found.is_complete
    return found


@pytest.mark.long("rails of three tiers", "uneven dragonfly")
@pytest.mark.long("square", "torus", "torus with an empty switch", "dragonfly")
@pytest.mark.parametrize("name", DESIGNS)
def test_every_single_failure_gives_the_figures_of_the_file(name: str) -> None:
    """Each box and link of the wiring is taken away in turn: the worst is what closed forms and symmetries say."""
    made = DESIGNS[name]()
    grounds = Grounds(made)
    assert made.fabrics[0].failures
    for row in made.fabrics[0].failures:
        found = all_ways(grounds, row.failed, row.count)
        assert found.gbps_per_gpu[0] == pytest.approx(row.gbps_per_gpu, abs=2e-6), row
        assert found.cut_off[-1] == row.servers_cut_off, row


PAIRS: dict[str, tuple[tuple[Failing, int], ...]] = {
    "two tiers": (("leaf", 2), ("spine", 2), ("cable", 2), ("switch", 2), ("switch", 3)),
    "uneven stripes": (("leaf", 2), ("spine", 2), ("cable", 2), ("switch", 2)),
    "three tiers": (("cable", 2), ("cable", 3), ("switch", 2)),
    "pods with several cores": (("spine", 2), ("core", 2), ("core", 3), ("cable", 2), ("switch", 2), ("switch", 3)),
    "rail-only": (("leaf", 2), ("spine", 2), ("cable", 2), ("switch", 2), ("switch", 3)),
    "planes that are rails": (("leaf", 2), ("spine", 2), ("cable", 3), ("switch", 2), ("plane", 2)),
}


@pytest.mark.long(
    but=(
        "planes that are rails-leaf-2",
        "planes that are rails-plane-2",
        "pods with several cores-core-3",
        "rail-only-switch-3",
        "three tiers-cable-2",
        "two tiers-spine-2",
        "uneven stripes-spine-2",
    )
)
@pytest.mark.parametrize(("name", "failed", "count"), [(name, *one) for name, pairs in PAIRS.items() for one in pairs])
def test_all_ways_of_several_give_the_closed_form(name: str, failed: Failing, count: int) -> None:
    """What a demand for several failures is held to, against all ways in which they can be."""
    made = SEVERAL[name]()
    worst = all_ways(Grounds(made), failed, count).gbps_per_gpu[0]
    assert worst == pytest.approx(float(bandwidth_left(Evidence(made).fabrics[0], failed, count)) / 1000, abs=1e-6)


@pytest.mark.long("torus with an empty switch")
@pytest.mark.parametrize("name", ["torus with an empty switch", "uneven dragonfly", "two tiers"])
def test_more_failures_leave_less(name: str) -> None:
    """Of all ways, the worst of two switches or cables is no better than the worst of one."""
    grounds = Grounds(DESIGNS[name]())
    for failed in ("cable", "switch"):
        worst = [all_ways(grounds, failed, count) for count in (1, 2)]
        for fewer, more in pairwise(worst):
            assert more.gbps_per_gpu[0] <= fewer.gbps_per_gpu[0] + 1e-9
            assert more.cut_off[-1] >= fewer.cut_off[-1]


def test_the_same_seed_draws_the_same() -> None:
    grounds = Grounds(DESIGNS["torus"]())
    one, again, other = (next(grounds.sample("cable", 5, 40, seed, None)) for seed in (1, 1, 2))
    assert one == again != other
    assert not one.is_complete and len(one.gbps_per_gpu) == 40


def test_quantiles_by_hand() -> None:
    """Of ten samples the median is the fifth."""
    found = Outages("compute", "leaf", 2, 45, tuple(float(one) for one in range(10)), (0,) * 10)
    assert (found.quantile(0.5), found.quantile(0.05), found.quantile(0.95), found.mean) == (4, 0, 9, 4.5)


def planes(ports: int, fabric: dict[str, object], servers: int = 9) -> Design:
    """Cards of several ports on switches of 16."""
    parts = test_brute_force.catalog(
        switches=[test_brute_force.switch("switch", test_brute_force.cage(16, "1x100"))],
        nics=[test_brute_force.card("card", test_brute_force.cage(ports, "1x100"))],
    )
    wanted = {"min_gbps_per_gpu": 100 * ports, "nics_per_server": 1, "max_oversubscription": 2, "tiers": 2}
    return small.solved(test_brute_force.case(servers, wanted | fabric), parts)


IN_PLANES: dict[str, Callable[[], Design]] = {
    "two": lambda: planes(2, {"planes": 2}, 17),
    "four": lambda: planes(4, {"planes": 4}, 17),
    "two ports in each of two": lambda: planes(4, {"planes": 2, "rails": "any"}, 17),
    "dual-homed": lambda: planes(4, {"planes": 2, "homing": "dual"}),
    "three tiers": lambda: planes(2, {"planes": 2, "tiers": 3}, 24),
    "one tier": lambda: planes(2, {"planes": 2, "tiers": 1}),
    "slow slots": lambda: slow_slots({"tiers": 2, "planes": 2}),
    "rails of two planes": DESIGNS["rails of two planes"],
    "rails": DESIGNS["planes that are rails"],
}


@pytest.mark.parametrize("name", IN_PLANES)
def test_what_planes_leave_is_that_of_every_way_on_the_wiring(name: str) -> None:
    """A plane is out and each switch of the others fails in turn; and each device where planes make up for it."""
    made = IN_PLANES[name]()
    plant = Grounds(made).fabrics["compute"]
    number, rows = number_of(plant, "plane"), {row.failed: row for row in made.fabrics[0].failures}
    assert number == made.fabrics[0].planes > 1
    left = []
    for plane in range(number):
        for switch in np.flatnonzero(plant.plane != plane):
            lost = lost_of(plant, "plane", [plane])
            lost.switches[switch] = True
            left.append(plant.after(lost).mbps / 1000)
    assert rows["plane"].with_switch_gbps_per_gpu == pytest.approx(min(left), abs=2e-6)
    making_up = replace(plant, apart=True)
    for row in rows.values():
        ways = (lost_of(making_up, row.failed, [one]) for one in range(number_of(plant, row.failed)))
        worst = min(making_up.after(lost).mbps / 1000 for lost in ways)
        stated = row.gbps_per_gpu if row.made_up_gbps_per_gpu is None else row.made_up_gbps_per_gpu
        assert stated == pytest.approx(worst, abs=2e-6), row


def test_planes_make_up_for_a_spine() -> None:
    """Two planes: a spine of four is an eighth of all, or a quarter where traffic is dealt over planes alike."""
    (row,) = (row for row in IN_PLANES["two"]().fabrics[0].failures if row.failed == "spine")
    assert row.made_up_gbps_per_gpu is not None and row.gbps_per_gpu < row.made_up_gbps_per_gpu


def test_planes_of_rails_fail_together() -> None:
    """A plane of rail-only is all its rails: one of one leaves nothing."""
    assert all_ways(Grounds(DESIGNS["rail-only"]()), "plane", 1).gbps_per_gpu == (0,)


# -- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("outages") / "design.json"
    path.write_bytes(design_bytes(small.solved(TWO_TIERS)))
    return path


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith("compute")]


def test_check_says_what_is_left(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two leaves of two, so all ways are one: nothing is left, all are cut off. Of 12 cables, two are drawn."""
    words = ["check", str(file), "--failures", "2", "--samples", "20", "--seed", "7"]
    assert main(words) == 0
    text = capsys.readouterr().out
    lines = rows(text)
    assert [line[1:3] for line in lines] == [["2", "leaves"], ["2", "switches"], ["2", "cables"]]
    assert lines[0][3:] == ["all", "1", "0", "0", "0", "0", "0", "5", "5"]
    assert lines[2][3] == "20" and "seed 7" in text
    assert main(words) == 0
    assert capsys.readouterr().out == text


def test_one_kind_is_enough(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), "--failures", "1 leaf"]) == 0
    assert [line[1:5] for line in rows(capsys.readouterr().out)] == [["1", "leaf", "all", "2"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--failures", "x"], "--failures: not a number of failures; found 'x'; allowed: a number up to 9999, or one "
         "and what fails, as in `3` or `2 leaves`: leaf, spine, core, switch, plane, cable"),
        (["--failures", "0"], "--failures: not a number of failures; found '0'"),
        (["--failures", "2 racks"], "--failures: not a number of failures; found '2 racks'"),
        (["--samples", "3"], "--samples: there are no failures to draw; found 3; add `--failures`"),
        (["--failures", "3", "--samples", "0"], "--samples: out of range; found 0; allowed: 1 to 100000"),
        (["--failures", "3", "--seed", "-1"], "--seed: out of range; found -1; allowed: 0 to"),
        (["--failures", "3 leaves"], "has so many; found '3 leaves'; allowed: at most what there is: 2 leaf"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(
    file: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(file), *words]) == 2
    assert message in capsys.readouterr().err


def test_nothing_is_drawn_of_what_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = small.solved(TWO_TIERS)
    assert made.totals is not None
    wrong = made.model_copy(update={"totals": made.totals.model_copy(update={"cables": 1})})
    path = tmp_path / "wrong.json"
    path.write_bytes(design_bytes(wrong))
    assert main(["check", str(path), "--failures", "1"]) == 1
    assert "not drawn" in capsys.readouterr().err


def test_a_report_names_every_fabric() -> None:
    found = Outages("compute", "leaf", 2, 45, (1.0, 2.0), (0, 3))
    console = Console(width=200)
    with console.capture() as capture:
        console.print(outage_report([found], 4))
    assert capture.get().splitlines()[-1].split() == [
        "compute",
        "2",
        "leaves",
        "2",
        "1",
        "1",
        "1",
        "2",
        "1.5",
        "3",
        "1.5",
    ]
