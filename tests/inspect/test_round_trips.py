"""What exports call ports and devices, ``as-built`` reads: a fabric as planned has no finding, whatever it runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fabopt.cli import main
from fabopt.errors import EXIT_DONE
from fabopt.inspect.as_built import AsBuilt, as_built
from fabopt.inspect.audit.ports import per_cage, places_on
from fabopt.inspect.cabling import Names
from fabopt.inspect.planned import PlannedDevice, likeliest_ports, planned_by_way, ports_by_way
from fabopt.inspect.reading import recognised
from fabopt.inspect.sightings import Discovery
from fabopt.inspect.to_do import WantedCables
from fabopt.io.case import read_inputs
from fabopt.io.catalog import named_catalogs
from fabopt.operate.build import plan_of
from fabopt.output.export.design import design_bytes
from fabopt.output.export.formats import Options, export
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, port_name
from fabopt.wiring.port_names import namer_of
from tests.samples.round_trips import (
    BARE,
    PAIRS,
    SERVERS,
    FabricVoice,
    as_planned,
    pair_of_fabrics,
    solved_pair,
    with_operate,
)

FORMS = 5
# Of a server's pairs of fabrics so many have a design at least, or all whose fabrics have one alone.
LEAST_PAIRS = 8
TWIN, ITS_PAIR = "nvidia-gb200-nvl72-tray", PAIRS[5:6]
SWITCHES = {switch.id: switch for switch in named_catalogs(["reference"]).switches}
NAMES = {
    "leaf": "{site}-{fabric}-l{number:03d}.example.com",
    "server": "gpu{number:04d}",
    "spine": "s{number:02d}-{fabric}",
}


def told(design: Design, reports: list[Discovery]) -> AsBuilt:
    return as_built(WantedCables(design, wiring_of(design), len(design.stages) - 1), reports, Names())


def designs(server: str, pairs: list[tuple[str, str]]) -> Iterator[Design]:
    """Designs of pairs of fabrics, run by each system that the catalog knows of their switches."""
    solved = [design for pair in pairs if (design := solved_pair(server, pair)).fabrics]
    if len(solved) < min(len(pairs), LEAST_PAIRS):  # no module with a price joins some NICs: what each alone can have
        alone = [pair for pair in pairs if all(solved_pair(server, (key,)).fabrics for key in pair)]
        assert solved and len(solved) == len(alone), "too few pairs have a design"
    for design in solved:
        products = {tier.id for fabric in design.fabrics for tier in fabric.tiers}
        systems = {product: Embedded(design).part(product, Switch).nos for product in products}
        for system in dict.fromkeys(("", *(system for own in systems.values() for system in own))):
            run_by = {product: system for product, own in systems.items() if system in own}
            yield with_operate(design, systems=run_by)


def reads_itself(design: Design) -> None:
    """Nothing is found, and nothing is to be noted, as every system would print its neighbours."""
    plan = plan_of(design, wiring_of(design))
    voice = FabricVoice(design, plan, as_planned(plan))
    discoveries = [recognised(text, "subnet", "subnet") for text in voice.ibnetdiscover()]
    for form in range(FORMS):
        result = told(design, [*discoveries, *voice.lldp(voice.switches(voice.ethernet), form)])
        assert (result.ok, list(result.notes)) == (True, []), (plan.operate.systems, form)
        assert result.planned == result.right


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_nothing_is_found_of_what_exports_say(server: str) -> None:
    """All pairs of fabrics of every server."""
    for design in designs(server, PAIRS):
        reads_itself(design)


@pytest.mark.long
def test_nothing_is_found_of_what_exports_of_one_server_say() -> None:
    for design in designs(TWIN, ITS_PAIR):
        reads_itself(design)


def test_names_that_the_case_gives_devices_are_known(tmp_path: Path) -> None:
    """Templates rename leaves, spines and servers; files and reports under these names have no finding."""
    design = pair_of_fabrics("nvidia-dgx-b200", PAIRS[1], 6, names=NAMES, site="lab")
    plan = plan_of(design, wiring_of(design))
    voice = FabricVoice(design, plan, as_planned(plan))
    texts = {"subnet": voice.ibnetdiscover()[0]} | voice.texts(voice.switches(voice.ethernet))
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    assert any(name.startswith("lab-") and name.endswith("example.com") for name in texts)
    (tmp_path / "design.json").write_bytes(design_bytes(design))
    files = [word for name in texts for word in ("--lldp", str(tmp_path / f"{name}.txt"))]
    code = main(["as-built", str(tmp_path / "design.json"), *files, "--json", str(tmp_path / "result.json")])
    result = json.loads((tmp_path / "result.json").read_text())
    assert (code, result["findings"], result["notes"]) == (EXIT_DONE, [], [])


@pytest.mark.long("arista-7060x6-64pe-b", "nokia-7220-ixr-h6-128", "supermicro-sse-t8196")
@pytest.mark.long(but_every=8)
@pytest.mark.parametrize("product", SWITCHES)
def test_every_system_names_every_split_of_every_switch_so_that_it_is_read(product: str) -> None:
    """A half of the ports of each cage is planned and seen, whatever else is seen is read as the port it is."""
    switch = SWITCHES[product]
    protocol = switch.protocol
    cages = [cages for cages in switch.cages for _ in range(cages.count)]
    splits = sorted({parse_split(split).ports for cage in cages for split in cage.splits})
    for most in splits:
        lanes = {
            number: max((own for split in cage.splits if (own := parse_split(split).ports) <= most), default=1)
            for number, cage in enumerate(cages, 1)
        }
        places = [(cage, lane, lanes[cage]) for cage in lanes for lane in range(lanes[cage])]
        planned = {(cage, lane): port_name(protocol, len(KINDS), cage, lane, split) for cage, lane, split in places}
        used = {place: name for place, name in planned.items() if place[1] % 2 == 0}
        device = PlannedDevice("leaf", 1, protocol, 0, used, {cage: lanes[cage] for cage, _ in used})
        for system in ("infiniband",) if protocol == "infiniband" else ("cumulus", "eos", "sonic"):
            way = namer_of(system, switch, max(lanes.values()))
            if way is None:
                continue
            try:
                named = {place[:2]: way(*place) for place in places}
            except ValueError:
                continue
            ways = ports_by_way(device, switch, "", max(lanes.values()))
            names = [named[place].name for place in used]
            ports = likeliest_ports(ways, names, planned_by_way(ways, device, names))
            read = {place: {ports.get(name) for name in names if name} for place, names in named.items()}
            assert read == {place: {planned[place]} for place in read}, (system, most)


def test_cages_are_told_by_the_numbers_of_a_platform() -> None:
    """SONiC from 1 and from 0; InfiniBand with two ports a cage where that is enough for all numbers."""
    from_one, from_zero = SWITCHES["micas-m2-w6940-64oc"], SWITCHES["arista-7060x6-64pe"]
    assert places_on(from_one, ["Ethernet1", "Ethernet13", "Ethernet505"], 0, False) == {
        "Ethernet1": (1, 0, False), "Ethernet13": (2, 1, True), "Ethernet505": (64, 0, False)
    }  # fmt: skip
    assert places_on(from_zero, ["Ethernet0", "Ethernet12"], 0, True)["Ethernet12"] == (2, 1, True)
    assert places_on(from_one, ["Ethernet1", "Ethernet65"], 0, False)["Ethernet65"] == (9, 0, False)
    assert places_on(from_one, ["Ethernet1", "Ethernet2", "Ethernet65"], 0, False)["Ethernet65"].cage == 65
    infiniband = SWITCHES["nvidia-qm9790"]
    ports = per_cage(infiniband, [[str(number) for number in range(1, 41)]])
    assert ports == 2 and places_on(infiniband, ["33"], ports, False) == {"33": (17, 0, True)}


@pytest.mark.long
@pytest.mark.parametrize("product", ["micas-m2-w6940-64oc", "arista-7060x6-64pe"])
def test_an_audit_reads_what_switches_with_sonic_say(product: str, tmp_path: Path) -> None:
    """Numbers that begin at 0 and at 1, in reports and in configurations: ports are those of the product, no faults."""
    fabric: dict[str, object] = {
        "name": "compute",
        "protocol": "ethernet",
        "min_gbps_per_gpu": 200,
        "max_oversubscription": 2,
        "tiers": 2,
    }
    fabric["switches"] = {"leaf": [product], "spine": [product]}
    case = {"name": "trip", "server": "generic-hgx-h100", "servers": 12, "fabrics": [fabric], **BARE}
    case |= {"operate": {"systems": {product: "sonic"}}, "catalog": ["reference"]}
    (tmp_path / "case.yaml").write_text(yaml.safe_dump(case))
    design = optimize.solve(read_inputs(str(tmp_path / "case.yaml")), alternatives_s=0)
    plan = plan_of(design, wiring_of(design))
    voice = FabricVoice(design, plan, as_planned(plan))
    (tmp_path / "lldp").mkdir()
    for name, text in voice.texts(voice.switches(voice.ethernet)).items():
        (tmp_path / "lldp" / f"{name}.txt").write_text(text)
    export(design, wiring_of(design), ["sonic"], tmp_path, Options())
    for kind, folder in (("lldp", "lldp"), ("config_db", "sonic")):
        words = ["--as", kind, "--case", str(tmp_path / "case.yaml"), "--json", str(tmp_path / "result.json")]
        code = main(["audit", str(tmp_path / folder), *words])
        notes = json.loads((tmp_path / "result.json").read_text())["notes"]
        assert code == EXIT_DONE and sum(f"taken for {product}" in note for note in notes) == len(("leaf", "spine"))
