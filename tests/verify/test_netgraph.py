"""A second opinion on bandwidth: NetGraph's maximum flows over the wiring of designs of all families.

NetGraph (``ngraph``, AGPL) is run as a process of its own, where it is on the path or ``NGRAPH`` names it: see
docs/decisions/0029-netgraph-as-a-second-opinion.md. All questions are one scenario, a part of the network for each.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fabopt.network.graph.outage import Lost, Plant, nothing
from fabopt.schema.design import Design
from fabopt.verify.outages import Grounds, lost_of, number_of
from tests.solution import test_open_planes
from tests.verify.test_outages import DESIGNS, IN_PLANES, SEVERAL, direct

NGRAPH = os.environ.get("NGRAPH") or shutil.which("ngraph") or shutil.which("ngraph", path=Path(sys.executable).parent)
MBPS, THREE = 1000, 3
UNLIMITED, NEAR = 10**6, 1e-6
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        NGRAPH is None, reason="NetGraph is not here: `pip install ngraph` in an environment of its own"
    ),
]
SAMPLES: dict[str, Callable[[], Design]] = {
    **DESIGNS,
    **{f"several: {name}": made for name, made in SEVERAL.items() if made is not DESIGNS.get(name)},
    **{f"planes: {name}": made for name, made in IN_PLANES.items() if made not in DESIGNS.values()},
    "dragonfly+": lambda: direct("dragonfly+", 14, 2),
    "open planes": test_open_planes.made,
}
# Switches of which are joined to each other: our figures are of uniform traffic over shortest paths.
DIRECT = {"hyperx", "square", "torus", "torus with an empty switch", "dragonfly", "uneven dragonfly", "dragonfly+",
          "one switch", "hyperx of two planes", "planes: one tier"}  # fmt: skip


class Question(NamedTuple):
    """Ports by leaf that send, and those that take, by leaf too, or without a limit by switch."""

    plant: Plant
    lost: Lost
    sources: Counter[int]
    sinks: Counter[int]


def content(number: int, question: Question) -> Iterator[tuple[str, Any]]:
    """Nodes and links of the part of a network that is left for a question; no name begins another, as NetGraph takes
    the name of an end for all that begin with it.
    """
    plant, lost = question.plant, question.lost
    alive = np.flatnonzero(~lost.switches).tolist()
    yield from (("node", f"q{number}/switch/{switch:06}") for switch in alive)
    links = Counter[tuple[int, int, int]]()
    kept = ~lost.links & ~lost.switches[plant.a] & ~lost.switches[plant.b]
    for a, b, mbps in zip(plant.a[kept].tolist(), plant.b[kept].tolist(), plant.mbps[kept].tolist(), strict=True):
        links[a, b, mbps] += 1
    for (a, b, mbps), count in links.items():
        yield "link", (f"q{number}/switch/{a:06}", f"q{number}/switch/{b:06}", mbps * count)
    for side, ports in (("source", question.sources), ("sink", question.sinks)):
        for leaf, count in ports.items():
            yield "node", f"q{number}/{side}/{leaf:06}"
            yield "link", (f"q{number}/{side}/{leaf:06}", f"q{number}/switch/{leaf:06}", count * plant.port_mbps)


def flows(questions: list[Question], folder: Path) -> list[float]:
    """The largest flows in Mb/s, by NetGraph."""
    rows = [row for number, question in enumerate(questions) for row in content(number, question)]
    scenario = {
        "network": {
            "nodes": {name: {} for kind, name in rows if kind == "node"},
            "links": [
                {"source": a, "target": b, "capacity": mbps, "cost": 1}
                for a, b, mbps in (row for kind, row in rows if kind == "link")
            ],
        },
        "workflow": [
            {"type": "MaxFlow", "name": f"q{number}", "source": f"^q{number}/source/", "target": f"^q{number}/sink/",
             "mode": "combine", "iterations": 0}
            for number in range(len(questions))
        ],
    }  # fmt: skip
    file, results = folder / "scenario.yaml", folder / "results.json"
    file.write_text(json.dumps(scenario))
    assert NGRAPH is not None
    subprocess.run([NGRAPH, "run", str(file), "--results", str(results)], check=True, capture_output=True, timeout=200)
    steps = json.loads(results.read_text())["steps"]
    return [steps[f"q{number}"]["data"]["baseline"]["summary"]["total_placed"] for number in range(len(questions))]


def ports_of(plant: Plant, lost: Lost, switches: np.ndarray[Any, Any]) -> Counter[int]:
    """Ports of servers that are left on some switches."""
    alive = ~lost.ports & ~lost.switches[plant.switch_of] & np.isin(plant.switch_of, switches)
    return Counter(plant.switch_of[alive].tolist())


def sets_of(plant: Plant) -> list[np.ndarray[Any, Any]]:
    """Leaves whose ports send together: each alone, and all of a pod where there are cores."""
    leaves = np.unique(plant.switch_of)
    own = [leaves[leaves == leaf] for leaf in leaves]
    pods = [leaves[plant.pod[leaves] == pod] for pod in np.unique(plant.pod[leaves])]
    return [*own, *pods] if plant.tier.max() == THREE - 1 else own


def shares(plant: Plant, lost: Lost, folder: Path) -> dict[int, float]:
    """By leaf, the least share of its ports' speed that its sets send up to the top tier of their network."""
    top = np.flatnonzero((plant.tier == plant.tier.max()) & ~lost.switches)
    # each leaf sends what the busiest one has, as our figures count it
    busiest = np.broadcast_to(np.asarray(plant.below_leaf), plant.switches) // plant.port_mbps
    of_leaf = dict.fromkeys(np.unique(plant.switch_of).tolist(), 1.0)
    asked: list[tuple[list[int], Question]] = []
    for own in ([leaf for leaf in own.tolist() if not lost.switches[leaf]] for own in sets_of(plant)):
        above = top[plant.network[top] == plant.network[own[0]]] if own else top
        if own and not above.size:
            of_leaf |= dict.fromkeys(own, 0.0)
        elif own:
            sources, sinks = Counter({leaf: int(busiest[leaf]) for leaf in own}), Counter(above.tolist())
            asked.append((own, Question(plant, lost, sources, Counter(dict.fromkeys(sinks, UNLIMITED)))))
    found = flows([question for _, question in asked], folder) if asked else []
    for (own, question), mbps in zip(asked, found, strict=True):
        share = min(1.0, mbps / (question.sources.total() * plant.port_mbps))
        of_leaf |= {leaf: min(of_leaf[leaf], share) for leaf in own}
    return of_leaf


def worst_rate(plant: Plant, lost: Lost, of_leaf: dict[int, float]) -> float:
    """Mb/s per GPU of the worst-hit server, whose ports send alike, each network by itself where rails never meet."""
    table = np.array([of_leaf.get(switch, 1.0) for switch in range(plant.switches)])
    alive = ~lost.ports & ~lost.switches[plant.switch_of]
    return float(plant._rate(alive, np.where(alive, table[plant.switch_of], np.inf)).min())


def losses(design: Design, plant: Plant) -> Iterator[tuple[str, Lost]]:
    """No loss, and the first and the last device or link of each kind."""
    yield "", nothing(plant)
    for kind in [row.failed for row in design.fabrics[0].failures]:
        if kind in ("leaf", "spine", "core", "plane", "cable"):
            yield from ((kind, lost_of(plant, kind, [one])) for one in {0, number_of(plant, kind) - 1})


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in DIRECT])
def test_losses_of_trees_agree(name: str, tmp_path: Path) -> None:
    """What each leaf, and each pod, still sends up; of three tiers ours is less where a leaf or its cable is lost, as
    spines divide what they send on over all leaves alike, and the others do not get a lost one's share.
    """
    design = SAMPLES[name]()
    plant = Grounds(design).fabrics["compute"]
    for kind, lost in losses(design, plant):
        ours, theirs = plant.after(lost).mbps, worst_rate(plant, lost, shares(plant, lost, tmp_path))
        assert ours <= theirs * (1 + NEAR), kind
        if design.fabrics[0].striping == "even" and (plant.tier.max() < THREE - 1 or kind not in ("leaf", "cable")):
            assert ours == pytest.approx(theirs, rel=NEAR), kind


@pytest.mark.parametrize("name", SAMPLES)
def test_no_half_carries_less_than_is_left(name: str, tmp_path: Path) -> None:
    """Halves of the servers in the order of their numbers, and every second one, after each loss and without any."""
    design = SAMPLES[name]()
    plant, metrics = Grounds(design).fabrics["compute"], design.fabrics[0].metrics
    servers, gpus = len(plant.switch_of), plant.switch_of.size * plant.port_mbps / metrics.injection_gbps_per_gpu / MBPS
    asked, least = [], []
    for kind, lost in losses(design, plant):
        left = min(plant.after(lost).mbps, metrics.bisection_gbps_per_gpu * MBPS)
        if plant.after(lost).cut_off or (plant.apart and kind):
            continue  # who is cut off sends nothing, and where rails never meet servers move traffic to other rails
        for half in (np.arange(servers) < servers // 2, np.arange(servers) % 2 == 0):
            ends = [Counter(plant.switch_of[side].ravel().tolist()) for side in (half, ~half)]
            ends = [Counter({leaf: number for leaf, number in end.items() if not lost.switches[leaf]}) for end in ends]
            asked.append(Question(plant, lost, *ends))
            least.append(left * gpus * min(half.sum(), (~half).sum()) / servers)
    for mbps, wanted in zip(flows(asked, tmp_path), least, strict=True):
        assert mbps >= wanted * (1 - NEAR)
