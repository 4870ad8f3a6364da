"""Planted faults: each is found with one file and with all, an exchange is one finding, more files find no less."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pytest

from fabopt.inspect.as_built import AsBuilt, as_built
from fabopt.inspect.cabling import Names
from fabopt.inspect.planned import PortName
from fabopt.inspect.reading import recognised
from fabopt.inspect.to_do import WantedCables
from fabopt.operate.build import plan_of
from fabopt.operate.model import SWITCHES, NamedDevice, OperationPlan
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from tests.operate.test_sonic import catalog as sonic_catalog
from tests.samples import small
from tests.samples.export_samples import CASES
from tests.samples.planted import Planted, Planter
from tests.samples.round_trips import FabricVoice, as_planned, solved_pair, with_operate
from tests.samples.shipped import shipped

DESIGNS: Mapping[str, Callable[[], Design]] = {
    "InfiniBand, Ethernet": lambda: solved_pair("nvidia-dgx-b200", ("compute-ib", "storage-eth")),
    "Ethernet, InfiniBand": lambda: solved_pair("generic-hgx-h100", ("compute-eth", "storage-ib")),
    "two of Ethernet": lambda: solved_pair("nvidia-gb200-nvl72-tray", ("compute-eth", "in-band")),
    "splitters": lambda: small.solved(CASES["splitters"], sonic_catalog()),
    "attachments": lambda: small.solved(CASES["attachments"], sonic_catalog()),
    "dgx-superpod-32": lambda: shipped("dgx-superpod-32"),
    "cluster-256-roce": lambda: shipped("cluster-256-roce"),
    "roce-lab-200g": lambda: shipped("roce-lab-200g"),
    "l40s-inference-256": lambda: shipped("l40s-inference-256"),
}
# One of each of six kinds, and two at once.
A_ROUND = 7
LEAST_FAULTS = 3


class Trial:
    """A design run by a system, with one fault in it."""

    def __init__(self, design: Design, plan: OperationPlan, fabric: str, planted: Planted, form: int) -> None:
        self.design, self.planted, self.fabric, self.form = design, planted, fabric, form
        self.voice = FabricVoice(design, plan, planted.cables)

    def look(self, devices: Iterable[NamedDevice] = ()) -> AsBuilt:
        reports = [recognised(text, "subnet", "subnet") for text in self.voice.ibnetdiscover()]
        reports += self.voice.lldp(list(devices), self.form)
        return as_built(
            WantedCables(self.design, wiring_of(self.design), len(self.design.stages) - 1), reports, Names()
        )

    def levels(self) -> Iterator[Sequence[NamedDevice]]:
        """More and more reporters: a switch that the fault is at, all of these, all switches, hosts too."""
        switches = self.voice.switches({self.fabric})
        touched = {port.device for port in self.planted.ports}
        near = [device for device in switches if device.device in touched]
        hosts = [device for device in self.voice.plan.devices if device.role not in SWITCHES]
        yield from (near[:1], near, switches, [*switches, *hosts])

    def holds(self) -> None:
        if self.fabric not in self.voice.ethernet:
            self.is_told(self.look())
            return
        known: set[PortName] = set()
        for number, devices in enumerate(self.levels()):
            result = self.look(devices)
            ports = named(result)
            assert known <= ports, f"{self.planted.what}: more files find less"
            known = ports
            if number > 1:
                self.is_told(result)
                continue
            assert ports & self.planted.ports, f"{self.planted.what} is not found"
            is_swap = self.planted.what in ("swap", "swap in a cage")
            assert not is_swap or len(told(result)) == 1, "one exchange is one finding"

    def is_told(self, result: AsBuilt) -> None:
        """Each fault is one finding of its kind, of the ports that are not as planned, and takes so many moves."""
        kinds = Counter(told(result))
        assert sum(kinds.values()) == len(self.planted.kinds), (self.planted.what, kinds)
        assert all(any(kind in kinds for kind in allowed) for allowed in self.planted.kinds), (self.planted, kinds)
        assert named(result) == self.planted.ports, self.planted.what
        assert len(result.repairs) == self.planted.moves


def told(result: AsBuilt) -> list[str]:
    return [finding.kind for finding in result.findings if finding.kind != "silent-device"]


def named(result: AsBuilt) -> set[PortName]:
    return {port for own in result.findings for port in (own.a, own.b, *own.seen) if port.port}


def run_by_each_system(design: Design) -> Iterator[Design]:
    systems = {
        tier.id: Embedded(design).part(tier.id, Switch).nos for fabric in design.fabrics for tier in fabric.tiers
    }
    for system in dict.fromkeys(("", *(system for own in systems.values() for system in own))):
        yield with_operate(design, systems={product: system for product, own in systems.items() if system in own})


def tried(name: str, seed: int) -> int:
    """Plant a round of faults in each fabric of a design, as each system says it; return how many there were."""
    faults = 0
    for design in run_by_each_system(DESIGNS[name]()):
        plan = plan_of(design, wiring_of(design))
        for fabric in design.fabrics:
            planter = Planter(design, plan, fabric.name, random.Random(seed))
            for form, planted in enumerate(planter.faults(A_ROUND)):
                Trial(design, plan, fabric.name, planted, form).holds()
                faults += 1
    return faults


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", DESIGNS)
def test_every_planted_fault_is_found(name: str, seed: int) -> None:
    """Over 200 in all; of a fabric without a free port only exchanges and gaps can be planted."""
    assert tried(name, seed) >= LEAST_FAULTS


def test_some_planted_faults_are_found() -> None:
    assert tried("splitters", 7) >= A_ROUND


@pytest.mark.long(but=("leaf-sw", "spine-sonic"))
@pytest.mark.parametrize("shared", ["sonic", "sw", ""])
@pytest.mark.parametrize("role", ["leaf", "spine"])
def test_no_end_without_a_name_is_moved(role: str, shared: str) -> None:
    """All switches of a tier have one name, or none: nothing is found of a whole fabric, and no move touches them."""
    design = small.solved(small.case(servers=16), sonic_catalog())
    plan = plan_of(design, wiring_of(design))
    nameless = {device.row: shared for device in plan.devices if device.role == role and device.fabric == "compute"}
    reporters = [device for device in plan.devices if device.fabric == "compute" and device.row not in nameless]
    hidden = {plan.device_at[row].device for row in nameless}

    def look(planted: Planted | None, form: int) -> AsBuilt:
        cables = as_planned(plan) if planted is None else planted.cables
        reports = FabricVoice(design, plan, cables, nameless).lldp(reporters, form)
        return as_built(WantedCables(design, wiring_of(design), 0), reports, Names())

    assert len(hidden) > 1 and not told(look(None, 0))
    planter = Planter(design, plan, "compute", random.Random(1))
    for form, planted in enumerate(planter.faults(A_ROUND)):
        for move in look(planted, form).repairs:
            assert move.move == "lay" or hidden.isdisjoint((move.source.device, move.target.device)), planted.what
