"""``fabopt.inspect.audit``: shipped designs have no fault, and one thing broken gives its rule and no other fault."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import openpyxl
import pytest

from fabopt.errors import InputError
from fabopt.inspect.audit.audit import Audit, audited
from fabopt.inspect.audit.netbox import netbox_of
from fabopt.inspect.audit.reading import hand_made_of, read_hand_made
from fabopt.inspect.audit.tables import REMARKS, AuditFinding
from fabopt.io.case import inputs_from_objects, read_inputs
from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.cables import POINT_TO_POINT_COLUMNS, SCHEDULE_COLUMNS
from fabopt.output.export.formats import Options, export
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.operate import BufferPool
from fabopt.schema.server import Server
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from tests.paths import ROOT
from tests.samples.as_built import wired
from tests.samples.bases import designed, saved
from tests.samples.cli_samples import Run
from tests.samples.discoveries import discovery_text, is_switch, planned_links
from tests.samples.growth_samples import eight
from tests.samples.shipped import shipped
from tests.solution.test_in_service import in_stages

IB, ETHERNET, ODD = "dgx-superpod-32", "cluster-256-roce", "dgx-superpod-127"
FILES = (
    ("point-to-point.csv", "p2p"),
    ("cables.csv", "p2p"),
    ("cables.dot", "dot"),
    (".", "netbox"),
    ("bill.csv", "counts"),
)
Rows = list[list[str]]


def audit_of(text: str, kind: str, name: str = "") -> Audit:
    """An audit of a text against a shipped case, or alone."""
    hand = hand_made_of(text, "sheet", kind)
    if not name:
        return audited(hand, read_inputs(str(ROOT / "cases" / f"{IB}.yaml")).catalog, None, None, None)
    inputs = read_inputs(str(ROOT / "cases" / f"{name}.yaml"))
    return audited(hand, inputs.catalog, inputs.case, shipped(name), None)


def faults(audit: Audit) -> Counter[str]:
    return Counter(finding.kind for finding in audit.findings if finding.severity == "fault")


def remarks(audit: Audit) -> set[str]:
    return {finding.kind for finding in audit.findings if finding.severity == "remark"}


def sheet(name: str) -> Rows:
    """The links of a shipped design as rows of a point-to-point sheet."""
    return [
        [a.device, "Switch" if is_switch(a) else "Host", a.port, b.device, "Switch", b.port]
        for a, b in planned_links(wired(name))
    ]


def as_text(rows: Sequence[Sequence[str]], titles: Sequence[str] = POINT_TO_POINT_COLUMNS) -> str:
    stream = io.StringIO()
    csv.writer(stream).writerows([titles, *rows])
    return stream.getvalue()


def test_a_row_without_its_last_cells_is_refused() -> None:
    """An index error that the fuzzer found."""
    with pytest.raises(InputError, match=r"sheet: line 3: a row that ends early; is the file cut off\?"):
        hand_made_of("part_number,quantity,spares\nQM9700,4,1\nQM9790,4\n", "sheet", "counts")


# -- shipped designs ------------------------------------------------------------------------------------------------


@pytest.mark.long("dgx-superpod-127", "dgx-superpod-32")
@pytest.mark.parametrize("name", (IB, ETHERNET, ODD))
def test_shipped_designs_have_no_fault(name: str, tmp_path: Path) -> None:
    design = shipped(name)
    export(design, wired(name), ["cables", "dot", "netbox"], tmp_path, Options())
    (tmp_path / "bill.csv").write_bytes(bill_bytes(design, ".csv"))
    inputs = read_inputs(str(ROOT / "cases" / f"{name}.yaml"))
    for file, kind in FILES:
        folder = tmp_path / "netbox"
        if file == ".":
            folder.mkdir()
            for path in tmp_path.glob("0*.csv"):
                path.rename(folder / path.name)
        hand = read_hand_made(str(folder if file == "." else tmp_path / file), kind)
        for case, best in ((inputs.case, design), (None, None)):
            audit = audited(hand, inputs.catalog, case, best, None)
            assert not faults(audit), (file, case is None, audit.findings[:3])
        if kind != "counts":
            assert len(hand.links) == len(wired(name).links), file
        cost = audited(hand, inputs.catalog, inputs.case, design, None).cost
        assert cost is not None and abs(cost.above_usd) < 1, (file, cost)


def test_published_bill_passes() -> None:
    """Tables 3 and 4 of the reference architecture of 127 DGX H100 (tests/published/dgx-superpod-h100.yaml)."""
    text = (
        "server: DGX H100\nswitch: QM9700\noversubscription: 1:1\nservers: 127\nleaf: 32\nspine: 16\n"
        "server_leaf: 1016\nattachment_links: 4\nleaf_spine: 1024\n"
        "bill: {switches: 48, ndr_cables: 2040, switch_twin_transceivers: 1536, server_twin_transceivers: 508}\n"
    )
    assert audit_of(text, "counts").ok
    assert audit_of(text, "counts", ODD).ok
    for old, new, rules in (
        ("spine: 16", "spine: 12", {"A1", "A2"}),
        ("leaf_spine: 1024", "leaf_spine: 512", {"A3", "A12"}),
        ("ndr_cables: 2040", "ndr_cables: 2000", {"A8"}),
        ("server_twin_transceivers: 508", "server_twin_transceivers: 254", {"A12"}),
        ("switch_twin_transceivers: 1536", "switch_twin_transceivers: 3072", {"A12"}),
        ("leaf: 32", "leaf: 31", {"A1", "A2"}),
    ):
        assert set(faults(audit_of(text.replace(old, new, 1), "counts"))) == rules, new


def test_words_before_numbers_say_the_same() -> None:
    text = "switch: QM9700\n12 servers\n8 NICs per server\n3 leaves\n0 spines\n96 server links\n"
    assert set(faults(audit_of(text, "counts"))) == {"A20"}
    assert "A11" in remarks(audit_of("switch: QM9700\n8 servers\n2 leaves\n2 spines\n64 server links\n", "counts"))
    assert "A14" in remarks(audit_of("switch: QM9700\n8 servers\n1 leaf\n64 server links\n", "counts"))
    assert audit_of("switch: QM9700\n12 servers\nserver-leaf 64\nleaf-spine 32\nratio 2:1\n", "counts").ok


@pytest.mark.long(
    but=(
        "oversubscription 1.0-2 spines QM9700",
        "oversubscription 1.0-spines: 2\\nspine: QM9700",
        "oversubscription = 1:1-spines 2\\nspine: QM9700",
        "ratio 1:1-spines 2\\nspine: QM9700",
        "ratio: 1-spines 2\\nspine: QM9700",
    )
)
@pytest.mark.parametrize("spines", ["2 spines QM9700", "spines: 2\nspine: QM9700", "spines 2\nspine: QM9700"])
@pytest.mark.parametrize("claim", ["ratio 1:1", "ratio: 1", "oversubscription 1.0", "oversubscription = 1:1"])
def test_a_product_and_a_ratio_may_follow_words(spines: str, claim: str) -> None:
    numbers = f"16 servers DGX H100\n8 leaf switches QM9700\n{spines}\nserver-leaf 128\n{{}} leaf-spine\n{claim}\n"
    assert faults(audit_of(numbers.format(256), "counts")) == {"A1": 1}
    assert faults(audit_of(numbers.format(112), "counts")) == {"A3": 1}
    assert not faults(audit_of(numbers.format(128), "counts"))


# -- one thing broken -----------------------------------------------------------------------------------------------


def beyond_the_product(rows: Rows) -> None:
    rows[-1][5] = "33/1"


def used_twice(rows: Rows) -> None:
    rows[-1][5] = rows[-2][5]


def stripes_exchanged(rows: Rows) -> None:
    """Cables of two leaves to two spines are exchanged: 7 and 9 links in place of 8 and 8."""
    mine = next(row for row in rows if row[0] == "compute-leaf-001" and row[3] == "compute-spine-001")
    other = next(row for row in rows if row[0] == "compute-leaf-002" and row[3] == "compute-spine-002")
    mine[3:], other[3:] = other[3:], mine[3:]


def uplinks_gone(rows: Rows) -> None:
    """A link to each of four spines is gone: stripes stay even, and 32 ports have 28 uplinks."""
    for spine in range(1, 5):
        rows.remove(next(row for row in rows if row[0] == "compute-leaf-001" and row[3] == f"compute-spine-00{spine}"))


def rails_exchanged(rows: Rows) -> None:
    rows[0][3:], rows[1][3:] = rows[1][3:], rows[0][3:]


def end_gone(rows: Rows) -> None:
    """The far end of a cable to a server is not filled in, which the server's other NICs are not moved by."""
    rows[0][5] = ""


BROKEN: dict[str, tuple[Callable[[Rows], None], dict[str, int]]] = {
    "a cage that is not there": (beyond_the_product, {"A1": 1}),
    "a port used twice": (used_twice, {"A1": 1}),
    "stripes exchanged": (stripes_exchanged, {"A2": 2}),
    "uplinks gone": (uplinks_gone, {"A3": 1}),
    "rails exchanged": (rails_exchanged, {"A10": 2}),
    "an end gone": (end_gone, {"A8": 1}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_sheet_with_one_thing_broken(what: str) -> None:
    broken, expected = BROKEN[what]
    rows = sheet(IB)
    broken(rows)
    assert faults(audit_of(as_text(rows), "p2p", IB)) == expected


@pytest.mark.long(but=("3", "6"))
@pytest.mark.parametrize("seed", range(10))
def test_uneven_stripes_and_ratios_are_those_that_a_count_gives(seed: int) -> None:
    """Cables between leaves and spines are drawn out at random; counted again, leaf by leaf."""
    draw, rows = random.Random(seed), sheet(IB)
    between = [row for row in rows if row[1] == "Switch"]
    for row in draw.sample(between, draw.randrange(1, 12)):
        rows.remove(row)
    links = Counter((row[0], row[3]) for row in rows if row[1] == "Switch")
    leaves, spines = sorted({row[0] for row in between}), sorted({row[3] for row in between})
    numbers = {leaf: [links[leaf, spine] for spine in spines] for leaf in leaves}
    expected = {("A2", leaf) for leaf in leaves if len(set(numbers[leaf])) > 1}
    expected |= {("A3", leaf) for leaf in leaves if sum(numbers[leaf]) < 32}
    found = {(one.kind, one.where) for one in audit_of(as_text(rows), "p2p", IB).findings if one.kind not in REMARKS}
    assert found == expected


def test_what_a_case_allows_is_no_fault() -> None:
    rows = sheet(IB)
    rails_exchanged(rows)
    uplinks_gone(rows)
    inputs = read_inputs(str(ROOT / "cases" / f"{IB}.yaml"))
    (fabric,) = inputs.case.fabrics
    case = inputs.case.model_copy(
        update={"fabrics": (fabric.model_copy(update={"rails": "any", "max_oversubscription": 1.2}),)}
    )
    assert not faults(audited(hand_made_of(as_text(rows), "x", "p2p"), inputs.catalog, case, None, None))


def schedule(name: str, tmp_path: Path) -> Rows:
    export(shipped(name), wired(name), ["cables"], tmp_path, Options())
    return list(csv.reader(io.StringIO((tmp_path / "cables.csv").read_text())))[1:]


def test_schedules_with_one_cable_broken(tmp_path: Path) -> None:
    at = {name: place for place, name in enumerate(SCHEDULE_COLUMNS)}
    for column, value, expected in (
        ("length_m", "5", {"A7": 1}),
        ("run_m", "90", {"A7": 2}),
        ("from_optic", "MMS4X00-NS400", {"A6": 1}),
        ("to_optic", "", {"A12": 1}),
    ):
        rows = schedule(IB, tmp_path)
        rows[0][at[column]] = value
        if column == "length_m":
            rows[0][at["run_m"]] = "7.3"
        found = faults(audit_of(as_text(rows, SCHEDULE_COLUMNS), "p2p", IB))
        assert found == expected, column


def test_parts_that_a_matrix_does_not_name(tmp_path: Path) -> None:
    """Of every device that has a list, each part beside it is a finding; others are not held against anything."""
    inputs, design = read_inputs(str(ROOT / "cases" / f"{IB}.yaml")), shipped(IB)
    hand = hand_made_of(as_text(schedule(IB, tmp_path), SCHEDULE_COLUMNS), "x", "p2p")
    (fabric,) = design.fabrics
    plugged = tuple(sorted(id_ for id_, part in design.parts.items() if part["kind"] in ("transceiver", "cable")))
    leaf, nic = fabric.tiers[0].id, fabric.nic.id

    def findings(qualified: dict[str, tuple[str, ...]]) -> list[AuditFinding]:
        rules = inputs.case.procurement.model_copy(update={"qualified": qualified})
        case = inputs.case.model_copy(update={"procurement": rules})
        return audited(hand, inputs.catalog, case, design, None).findings

    assert "A6" not in {one.kind for one in findings({leaf: plugged, nic: plugged, inputs.case.server: plugged})}
    at_nics = [one for one in findings({nic: ("fs-osfp-sr8-800g",)}) if one.kind == "A6"]
    assert at_nics and all(f"is not qualified for {nic}" in one.text for one in at_nics)
    if any(one.id == nic for one in inputs.catalog.nics):
        at_servers = [one for one in findings({inputs.case.server: ("fs-osfp-sr8-800g",)}) if one.kind == "A6"]
        assert len(at_servers) == len(at_nics)
    assert "A6" not in {one.kind for one in findings({"fs-n9550-64d": ("fs-osfp-sr8-800g",)})}


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    export(shipped(IB), wired(IB), ["netbox"], tmp_path, Options())
    (table,) = tmp_path.glob("*-inventory-items.csv")
    table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    hand = read_hand_made(str(tmp_path), "netbox")
    inputs = read_inputs(str(ROOT / "cases" / f"{IB}.yaml"))
    audit = audited(hand, inputs.catalog, inputs.case, shipped(IB), None)
    assert faults(audit) == {"A12": 1}


# -- rules on a small catalog ---------------------------------------------------------------------------------------

CATALOG = Catalog.model_validate_json(json.dumps({
    "switches": [
        {"id": "acme-ib", "protocol": "infiniband", "managed": False, "max_ports": 8, "power_w": 400,
         "cages": [{"count": 4, "form_factor": "OSFP", "splits": ["2x400"]}]},
        {"id": "acme-e8", "protocol": "ethernet", "power_w": 400,
         "cages": [{"count": 8, "form_factor": "OSFP", "splits": ["1x800", "2x400"]}]},
    ],
    "nics": [
        {"id": f"acme-nic{rate // 100}", "protocols": ["ethernet"], "pcie": {"generation": 6, "lanes": 16},
         "cages": [{"count": 1, "form_factor": "OSFP", "splits": [f"1x{rate}"]}]} for rate in (400, 800)
    ],
    "servers": [
        {"id": "acme-gpu2", "gpus": 2, "nic_slots": 2, "pcie": {"generation": 5, "lanes": 16}, "power_w": 900},
        {"id": "acme-gpu4", "gpus": 4, "pcie": {"generation": 5, "lanes": 16},
         "nics": [{"id": "acme-nic4", "count": 2}]},
    ],
}))  # fmt: skip
# Two ports of 400 Gb/s: headroom of a Tomahawk 5 at 300 m is 839,216 bytes and a priority, shared up to four times.
SHALLOW = CATALOG.model_copy(update={"switches": tuple(
    switch.model_copy(update={
        "asic": "Tomahawk 5", "buffer_pool": BufferPool(size=4_000_000, shared_headroom=400_000),
        "latency_ns": None}) if switch.id == "acme-e8" else switch
    for switch in CATALOG.switches)})  # fmt: skip
FLOOR = {"floor": {"rows": 1, "racks_per_row": 4, "rack_power_w": 2000}}


def of_small(text: str, kind: str, case: Case | None = None) -> Audit:
    return audited(hand_made_of(text, "small", kind), CATALOG, case, None, None)


def nodes(switch: str, *lines: str) -> str:
    devices = ['"server-1" [role="server", product="acme-gpu2"];', '"server-2" [role="server", product="acme-gpu2"];']
    devices += [f'"leaf-{number}" [role="leaf", product="{switch}"];' for number in (1, 2)]
    return "\n".join(["graph network {", *devices, *lines, "}"])


EDGES = [f'"leaf-{leaf}":"{server}/1" -- "server-{server}":"nic{leaf}";' for server in (1, 2) for leaf in (1, 2)]


def test_rules_on_products() -> None:
    sound = nodes("acme-ib", *EDGES)
    assert (faults(of_small(sound, "dot")), remarks(of_small(sound, "dot"))) == (Counter(), {"A9", "A14"})
    fast = nodes("acme-e8", *(edge.replace("/1", "") for edge in EDGES))
    assert faults(of_small(fast, "dot")) == {"A4": 1}
    assert faults(of_small(fast.replace("acme-gpu2", "acme-gpu4"), "dot")) == {"A5": 4}
    assert not faults(of_small(nodes("acme-e8", *EDGES).replace("acme-gpu2", "acme-gpu4"), "dot"))
    storage = '"leaf-1":"7/1" -- "storage-1":"port1";'
    assert faults(of_small(nodes("acme-e8", *EDGES, storage), "dot")) == {"A17": 1}
    own = nodes("acme-e8", *EDGES, storage).replace("leaf-", "storage-leaf-")
    assert not faults(of_small(own, "dot"))
    assert faults(of_small("server: acme-gpu2\n4 servers\n8 acme-nic8\n", "counts")) == {"A4": 1}


def test_headroom_of_lossless_queues() -> None:
    """A leaf with two cables of 300 m keeps 2 x 839,216 bytes, more than 4 x 400,000; at 5 m 786,384 bytes fit."""
    titles = ("a_device", "a_port", "a_type", "z_device", "z_port", "z_type", "length_m")

    def wired(length_m: str) -> str:
        rows = [
            (f"server-{s}", f"nic{n}", "acme-gpu4", f"leaf-{n}", f"{s}/1", "acme-e8", length_m)
            for s in (1, 2)
            for n in (1, 2)
        ]
        return as_text(rows, titles)

    def lossless(text: str) -> list[AuditFinding]:
        result = audited(hand_made_of(text, "small", "p2p"), SHALLOW, None, None, None)
        return [finding for finding in result.findings if finding.kind == "A19"]

    short = lossless(wired("300"))
    assert [finding.where for finding in short] == ["leaf-1", "leaf-2"]
    assert short[0].text.startswith("leaf-1, acme-e8: 2 x 400G at 300 m on one priority: 0.1 MB short")
    assert short[0].value == f"{2 * 839_216 - 4 * 400_000} bytes short"
    assert lossless(wired("5")) == [] and lossless(wired("")) == []


TITLES = ("A-Node Name", "A-Port", "Z-Node Name", "Z-Port")
ROWS = (("server-1", "nic1", "leaf-1", "1/1"), ("leaf-1", "32/1", "spine-1", "1/1"))


def test_power_of_a_rack() -> None:
    """Two servers of 900 W and two switches of 400 W are 2,600 W in one rack of 2,000 W."""
    case = Case.model_validate_json(json.dumps({"name": "small", "server": "acme-gpu2", "servers": 2, "site": FLOOR}))
    titles = ("a_device", "a_port", "a_rack", "a_type", "z_device", "z_port", "z_rack", "z_type")
    rows = [
        (f"server-{s}", f"nic{n}", "A01", "acme-gpu2", f"leaf-{n}", f"{s}/1", "A01", "acme-ib")
        for s in (1, 2)
        for n in (1, 2)
    ]
    assert faults(of_small(as_text(rows, titles), "p2p", case)) == {"A18": 1}
    apart = [(*row[:6], "A02", row[7]) for row in rows]
    assert not faults(of_small(as_text(apart, titles), "p2p", case))


@pytest.mark.parametrize(("watts", "found"), [(2000, {}), (2001, {"A18": 1})])
def test_power_of_a_rack_scale_system_counts_once(watts: int, found: dict[str, int]) -> None:
    """Two of its seven servers are there, and the power of all of it: no more, and no less."""
    rack = {"rack_units": 7, "devices": [{"device": "server", "count": 7}]}
    server = {"rack_units": 1, "power_w": watts, "rack": rack}
    whole = [Server.model_validate_json(json.dumps(one.model_dump(mode="json", exclude_defaults=True) | server))
             if one.id == "acme-gpu2" else one for one in CATALOG.servers]  # fmt: skip
    catalog = CATALOG.model_copy(update={"servers": tuple(whole)})
    case = Case.model_validate_json(json.dumps({"name": "small", "server": "acme-gpu2", "servers": 2, "site": FLOOR}))
    titles = ("a_device", "a_port", "a_rack", "a_type", "z_device", "z_port", "z_rack", "z_type")
    rows = [
        (f"server-{s}", f"nic{n}", "A01", "acme-gpu2", f"leaf-{n}", f"{s}/1", "A02", "acme-ib")
        for s in (1, 2)
        for n in (1, 2)
    ]
    audit = audited(hand_made_of(as_text(rows, titles), "small", "p2p"), catalog, case, None, None)
    assert faults(audit) == Counter(found)


def test_connections_of_hedgehog() -> None:
    documents = [
        {"kind": "Switch", "metadata": {"name": "leaf-01"}, "spec": {"role": "server-leaf", "profile": "acme-e8"}},
        {"kind": "Switch", "metadata": {"name": "spine-01"}, "spec": {"role": "spine", "profile": "acme-e8"}},
        {"kind": "Server", "metadata": {"name": "server-1"}, "spec": {}},
        {"kind": "Connection", "metadata": {"name": "a"}, "spec": {"unbundled": {"link": {
            "server": {"port": "server-1/enp2s1"}, "switch": {"port": "leaf-01/E1/1/1"}}}}},
        {"kind": "Connection", "metadata": {"name": "b"}, "spec": {"fabric": {"links": [
            {"leaf": {"port": f"leaf-01/E1/{cage}"}, "spine": {"port": f"spine-01/E1/{cage}"}} for cage in (7, 9)]}}},
    ]  # fmt: skip
    text = "\n---\n".join(map(json.dumps, documents))
    hand = hand_made_of(text, "wiring.yaml", "hedgehog")
    assert [(link.a, link.a_port, link.b, link.b_port) for link in hand.links[:2]] == [
        ("server-1", "enp2s1", "leaf-01", "E1/1/1"), ("leaf-01", "E1/7", "spine-01", "E1/7")
    ]  # fmt: skip
    assert faults(audited(hand, CATALOG, None, None, 1)) == {"A1": 2}


# -- files that are wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "text", "message"), [
    ("p2p", "A-Node Name,A-Port\nx,1\n", "no column for z device, z port"),
    ("p2p", as_text([["a", "Host", "1", "b", "Switch", "1"]]) + "c,Host,1,d", "a row of 4 values under 6 titles"),
    ("p2p", ",".join(POINT_TO_POINT_COLUMNS) + "\n", "no link between two ports is in it"),
    ("dot", 'graph network { "a":"1" -- "b":"2";', "the file is cut off"),
    ("dot", 'graph network { "a" -- "b"; }', "1 edges name no ports"),
    ("hedgehog", "kind: Connection\nspec: [", "not YAML"),
    ("hedgehog", "kind: Switch\nmetadata: {name: a}\n", "no Connection with two ports is in it"),
    ("counts", "a few words\n", "no number of devices or parts is in it"),
    ("counts", "32 leaves\n31 leaf switches\n", "two numbers for leaf: 32 and 31"),
    ("netbox", "name,role\nx,leaf\n", "there are no cables here"),
])  # fmt: skip
def test_files_that_are_wrong(kind: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hand_made_of(text, "file", kind)


def test_a_workbook_is_its_sheet_of_links(tmp_path: Path) -> None:
    """A point-to-point sheet as a workbook, below a logo and behind a cover, is what the table alone is."""
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active["A1"] = "Cabling of hall 1"
    sheet = book.create_sheet("links")
    for row in ((), ("Revision", 3), TITLES, *ROWS):
        sheet.append(row)
    book.save(tmp_path / "sheet.xlsx")
    (tmp_path / "sheet.csv").write_text("#\n#\n" + as_text(list(ROWS), TITLES))
    of_book, of_table = (read_hand_made(str(tmp_path / f"sheet.{ending}"), "p2p") for ending in ("xlsx", "csv"))
    assert of_book.links == of_table.links and len(of_book.links) == len(ROWS)
    assert [link.line for link in of_book.links] == [4, 5]
    with pytest.raises(InputError, match="no sheet of the workbook has titles of such columns"):
        book.remove(sheet)
        book.save(tmp_path / "sheet.xlsx")
        read_hand_made(str(tmp_path / "sheet.xlsx"), "p2p")


def test_a_file_of_another_cluster() -> None:
    with pytest.raises(InputError, match="32 servers here, 127 in the case: this is of another cluster"):
        audit_of(as_text(sheet(IB)), "p2p", ODD)


def test_command_writes_everything(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = sheet(IB)
    rails_exchanged(rows)
    Path("sheet.csv").write_text(as_text(rows))
    options = ("--as", "p2p", "--case", IB, "--json", "out.json", "--findings", "out.csv", "--html", "out.html")
    ran = run("audit", "sheet.csv", *options)
    assert ran.code == 1
    assert "2 faults (2 x A10), 0 remarks" in ran.out
    content = json.loads(Path("out.json").read_text())
    assert not content["ok"] and content["cost"]["above_usd"] == 0 and content["best"]["status"] == "optimal"
    assert [(one["kind"], one["severity"]) for one in content["findings"]] == [("A10", "fault")] * 2
    table = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))
    assert [row["text"] for row in table] == [one["text"] for one in content["findings"]]
    assert all(one["text"] in Path("out.html").read_text() for one in content["findings"])
    Path("wide.csv").write_bytes("A-Node Name".encode("utf-16"))
    for words, message in (
        (("sheet.csv", "--as", "pdf"), "no such kind of file; found 'pdf'"),
        (("sheet.csv", "--as", "p2p", "--claimed", "much"), "not a ratio; found 'much'"),
        (("wide.csv", "--as", "p2p"), "this is UTF-16"),
        ((".", "--as", "dot"), "a folder is not read as dot"),
        (("sheet.csv", "--as", "p2p", "--html", "out.txt"), "a page is not written like this"),
    ):
        ran = run("audit", *words)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err


# -- A0: who reaches whom -------------------------------------------------------------------------------------------


def rail_sheet(servers: int, rails: int, group: int, spines: int) -> Rows:
    """Servers in groups with a leaf a rail, and a link from each leaf to each spine."""
    rows = [
        [f"server-{own}", "Host", f"nic{rail}", f"leaf-{own // group * rails + rail}", "Switch", str(own % group)]
        for own in range(servers) for rail in range(rails)
    ]  # fmt: skip
    leaves = -(-servers // group) * rails
    return rows + [
        [f"leaf-{leaf}", "Switch", f"{40 + spine}", f"spine-{spine}", "Switch", f"{leaf}"]
        for leaf in range(leaves) for spine in range(spines)
    ]  # fmt: skip


def reach(rows: Rows) -> list[str]:
    return [finding.text for finding in audit_of(as_text(rows), "p2p").findings if finding.kind == "A0"]


def without(rows: Rows, *words: str) -> Rows:
    """Rows that do not have all of some cells."""
    return [row for row in rows if not all(word in row for word in words)]


def test_whole_fabrics_reach_all() -> None:
    assert not reach(rail_sheet(8, 4, 4, 2))
    assert not reach(rail_sheet(4, 4, 4, 0)), "rails that meet in the servers alone"
    storage = [
        [f"server-{server}", "Host", "stor1", f"stor-leaf-{server % 2}", "Switch", f"{server}"] for server in range(8)
    ]
    joined = [["stor-leaf-0", "Switch", "60", "stor-leaf-1", "Switch", "60"]]
    assert not reach([*rail_sheet(8, 4, 4, 2), *storage, *joined]), "a fabric of one tier beside it"


@pytest.mark.parametrize("seed", range(12))
def test_holes_are_found_and_named(seed: int) -> None:
    chance = random.Random(seed)
    rows = rail_sheet(8, 4, 4, 2)
    leaf = f"leaf-{chance.randrange(8)}"
    assert any(text.startswith(f"{leaf} has no link to a spine") for text in reach(without(
        without(rows, leaf, "spine-0"), leaf, "spine-1")))  # fmt: skip
    server = f"server-{chance.randrange(8)}"
    alone = [row for row in rows if row[0] != server]
    alone.append([server, "Host", "nic0", "leaf-99", "Switch", "1"])
    assert any(f"on leaf-99 reach no other: {server}" in text for text in reach(alone))
    halves = [row for row in rows if row[0][0] == "s" or (row[0] in ("leaf-0", "leaf-1", "leaf-2", "leaf-3")) ==
              (row[3] == "spine-0")]  # fmt: skip
    (text,) = reach(halves)
    assert text.startswith("4 servers on leaf-")
    moved = [[*row[:2], "nic9", *row[3:]] if row[2] == "nic0" and row[0] == "server-7" else row for row in halves]
    assert reach(moved)


def test_storage_ports_that_no_switch_joins() -> None:
    storage = [
        [f"server-{server}", "Host", "stor1", f"stor-leaf-{server % 2}", "Switch", f"{server}"] for server in range(8)
    ]
    (text,) = reach([*rail_sheet(8, 4, 4, 2), *storage])
    assert text.startswith(
        "stor1 of 4 servers (server-1, server-3, server-5 and 1 more) is on stor-leaf-1, which no switch"
    )


@pytest.mark.parametrize(("text", "told"), [
    ("servers: 32\nleaf: 8\nspine: 4\nserver-leaf: 256\nleaf-spine: 0\n", "0 links from 8 leaves to 4 spines: 8"),
    ("servers: 32\nleaf: 8\nspine: 4\nserver-leaf: 256\nleaf-spine: 7\n", "7 links from 8 leaves to 4 spines: 1"),
    ("servers: 32\nleaf: 16\nnics per server: 8\nserver-leaf: 256\n", "16 leaves for 8 ports of a server and no"),
    ("leaf: 32\nspine: 16\ncore: 4\nleaf-spine: 512\nspine-core: 2\n", "2 links from 16 spines to 4 cores: 14"),
    ("servers: 32\nleaf: 8\nnics per server: 8\nserver-leaf: 256\n", ""),
    ("servers: 32\nleaf: 8\nspine: 4\nserver-leaf: 256\nleaf-spine: 8\n", ""),
])  # fmt: skip
def test_numbers_of_leaves_below_no_spine(text: str, told: str) -> None:
    findings = [finding.text for finding in audit_of(text, "counts").findings if finding.kind == "A0"]
    assert [finding[: len(told)] for finding in findings] == ([told] if told else [])


@pytest.mark.parametrize(("whole", "parts"), [
    ("swp1", ("swp1s0", "swp1s1")), ("Ethernet1/1", ("Ethernet1/1/2",)), ("et-0/0/1", ("et-0/0/1:0", "et-0/0/1:3")),
    ("etp7", ("etp7b",)), ("ethernet1/1/1", ("ethernet1/1/1:2",)), ("1/31", ("1/31/1", "1/31/2")), ("P4", ("P4.1",)),
    ("ethernet-1/1", ("ethernet-1/1/1",)),
])  # fmt: skip
def test_a_port_is_used_whole_or_split(whole: str, parts: tuple[str, ...]) -> None:
    rows = [["server-0", "Host", "nic0", "leaf-0", "Switch", whole]]
    rows += [[f"server-{number}", "Host", "nic0", "leaf-0", "Switch", part] for number, part in enumerate(parts, 1)]
    told = [finding.text for finding in audit_of(as_text(rows), "p2p").findings if finding.kind == "A1"]
    assert told == [f"leaf-0 {whole} is used as a whole (line 2) and split, as {', '.join(parts)}"]
    assert not [one for one in audit_of(as_text(rows[1:]), "p2p").findings if one.kind == "A1"]


# -- panels, and what NetBox holds ----------------------------------------------------------------------------------


def over_panels(rows: Rows, front: str = "{0}", rear: str = "{0}") -> Rows:
    """The links of a sheet, each from leaves to spines over a panel in each row of racks."""
    patched: Rows = []
    for number, row in enumerate(rows, 1):
        if row[3].startswith("spine"):
            (a, kind, a_port), (b, _, b_port) = row[:3], row[3:]
            patched += [
                [a, kind, a_port, "PP-A", "Patch panel", front.format(number)],
                ["PP-B", "Patch panel", rear.format(number), "PP-A", "Patch panel", rear.format(number)],
                [b, kind, b_port, "PP-B", "Patch panel", front.format(number)],
            ]
        else:
            patched.append(row)
    return patched


def ends_of(audit: Audit) -> set[frozenset[tuple[str, str]]]:
    return {frozenset({(link.a, link.a_port), (link.b, link.b_port)}) for link in audit.hand.links}


@pytest.mark.parametrize(("front", "rear"), [("{0}", "{0}"), ("Front {0}", "Rear {0}"), ("{0}F", "{0}R"),
                                             ("F-{0}", "B-{0}"), ("front/1/{0}", "rear/1/{0}")])  # fmt: skip
def test_links_over_panels_are_followed(front: str, rear: str) -> None:
    rows = rail_sheet(8, 4, 4, 2)
    plain, patched = audit_of(as_text(rows), "p2p"), audit_of(as_text(over_panels(rows, front, rear)), "p2p")
    assert ends_of(patched) == ends_of(plain)
    assert [one.text for one in patched.findings] == [one.text for one in plain.findings]
    assert "2 panels: 16 links followed from one device to the other" in patched.notes


def test_a_cable_that_ends_in_a_panel_is_told() -> None:
    rows = over_panels(rail_sheet(8, 4, 4, 2))
    broken = [row for row in rows if row[0] != "PP-B" or row[2] != "33"]
    told = [finding.text for finding in audit_of(as_text(broken), "p2p").findings if finding.kind == "A8"]
    assert told == ["line 34: an end of the cable is missing", "line 35: an end of the cable is missing"]


CABLES = "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name"


def test_fronts_of_netbox_lead_to_positions_of_rears() -> None:
    """Two cassettes with a trunk of four positions between them, crossed in the second one."""
    cables = [f"leaf-1,dcim.interface,swp{lane},cas-1,dcim.frontport,F{lane}" for lane in range(1, 5)]
    cables += [f"cas-2,dcim.frontport,F{lane},spine-1,dcim.interface,swp{lane}" for lane in range(1, 5)]
    cables += [
        "cas-1,dcim.rearport,MPO,cas-2,dcim.rearport,MPO",
        "server-1,dcim.interface,nic1,leaf-1,dcim.interface,swp9",
    ]
    ports = [f"cas-1,F{lane},MPO,{lane}" for lane in range(1, 5)] + [
        f"cas-2,F{lane},MPO,{5 - lane}" for lane in range(1, 5)
    ]
    tables = {"cables.csv": "\n".join([CABLES, *cables]),
              "front.csv": "\n".join(["device,name,rear_port,rear_port_position", *ports])}  # fmt: skip
    context = audited(netbox_of(tables, "x"), read_inputs(str(ROOT / "cases" / f"{IB}.yaml")).catalog, None, None, None)
    pairs = {(link.a_port, link.b_port) for link in context.hand.links if "spine-1" in (link.a, link.b)}
    assert pairs == {(f"swp{lane}", f"swp{5 - lane}") for lane in range(1, 5)}
    exported = [f"F{lane},cas-1,MPO:{lane}" for lane in range(1, 5)] + [
        f"F{lane},cas-2,MPO:{5 - lane}" for lane in range(1, 5)
    ]
    tables["front.csv"] = "\n".join(["Name,Device,Mappings", *exported])
    assert netbox_of(tables, "x").panel_ports[("cas-2", "F1")] == ("MPO", 4)


def test_tables_that_netbox_exports() -> None:
    """The table of cables as the list of cables exports it, and the same with devices by their ids."""
    rows = rail_sheet(4, 2, 2, 2)
    titles = ("ID", "Label", "Termination A", "Termination B", "Device A", "Device B", "Rack A", "Status", "Length")
    exported = [
        [str(number), "", row[2], row[5], row[0], row[3], "R1", "Connected", "3 m"] for number, row in enumerate(rows)
    ]
    hand = netbox_of({"cables.csv": as_text(exported, titles)}, "x")
    assert {(link.a, link.a_port, link.b, link.b_port) for link in hand.links} == {
        (r[0], r[2], r[3], r[5]) for r in rows
    }
    assert {link.cable.length_m for link in hand.links} == {3.0}
    names = sorted({row[place] for row in rows for place in (0, 3)})
    ids = {name: str(number) for number, name in enumerate(names, 100)}
    devices = as_text([[ids[name], name, "Leaf" if "leaf" in name else "", "SN5600"] for name in names],
                      ("id", "name", "role", "device_type"))  # fmt: skip
    numbered = [[ids[row[0]], "dcim.interface", row[2], ids[row[3]], "dcim.interface", row[5]] for row in rows]
    hand = netbox_of({"a.csv": as_text(numbered, CABLES.split(",")), "b.csv": devices}, "x")
    assert {link.a for link in hand.links} | {link.b for link in hand.links} == set(names) == set(hand.devices)


def test_what_the_api_of_netbox_gives() -> None:
    def end(device: str, port: str, kind: str = "dcim.interface") -> dict[str, object]:
        return {
            "object_type": kind,
            "object_id": 7,
            "object": {"id": 7, "name": port, "device": {"id": 1, "name": device}},
        }

    rows = over_panels(rail_sheet(4, 2, 2, 2))
    about = {"id": 1, "type": "smf", "length": 10.0, "length_unit": {"value": "ft", "label": "Feet"}, "label": ""}
    sides = ("a", 0), ("b", 3)
    cables = [
        {**about, **{f"{side}_terminations": [end(row[at], row[at + 2], _kind(row[at]))] for side, at in sides}}
        for row in rows
    ]
    page = {"count": len(cables), "next": None, "results": cables}
    pages = [{**page, "next": "there?offset=5", "results": cables[:5]}, {**page, "results": cables[5:]}]
    for content in (page, cables, pages):
        audit = audit_of(json.dumps(content), "netbox")
        assert ends_of(audit) == ends_of(audit_of(as_text(rail_sheet(4, 2, 2, 2)), "p2p"))
    assert {round(link.cable.length_m or 0, 3) for link in audit.hand.links} == {3.048, 9.144}
    with pytest.raises(InputError, match="this is 1 page"):
        hand_made_of(json.dumps(pages[:1]), "x", "netbox")
    with pytest.raises(InputError, match="this is 1 page"):
        hand_made_of(json.dumps({**page, "next": "there?offset=50"}), "x", "netbox")
    with pytest.raises(InputError, match="not JSON"):
        hand_made_of(json.dumps(page)[:-5], "x", "netbox")
    half = [{**cables[0], "b_terminations": []}, *cables]
    assert 1 in hand_made_of(json.dumps(half), "x", "netbox").half


def _kind(device: str) -> str:
    return "dcim.frontport" if device.startswith("PP") else "dcim.interface"


# -- fabrics that run -----------------------------------------------------------------------------------------------


def wired_pairs(name: str) -> Counter[frozenset[str]]:
    return Counter(frozenset((a.device, b.device)) for a, b in planned_links(wired(name)))


def audited_pairs(audit: Audit) -> Counter[frozenset[str]]:
    return Counter(frozenset((link.a, link.b)) for link in audit.hand.links)


def running(path: Path, kind: str, name: str) -> Audit:
    inputs = read_inputs(str(ROOT / "cases" / f"{name}.yaml"))
    return audited(read_hand_made(str(path), kind), inputs.catalog, inputs.case, shipped(name), None)


def test_a_fabric_that_ibnetdiscover_found(tmp_path: Path) -> None:
    links = planned_links(wired(IB))
    (tmp_path / "net.txt").write_text(discovery_text(links))
    audit = running(tmp_path / "net.txt", "ibnetdiscover", IB)
    assert audited_pairs(audit) == wired_pairs(IB)
    assert not faults(audit), audit.findings[:3]
    spine = next(b.device for a, b in links if "leaf" in a.device and "spine" in b.device)
    (tmp_path / "net.txt").write_text(discovery_text([link for link in links if link[1].device != spine or
                                                      not link[0].device.endswith("leaf-001")]))  # fmt: skip
    assert faults(running(tmp_path / "net.txt", "ibnetdiscover", IB))["A2"]
    with pytest.raises(InputError, match="this is not what --as lldp reads"):
        read_hand_made(str(tmp_path / "net.txt"), "lldp")


def test_a_fabric_as_systems_and_labs_have_it(tmp_path: Path) -> None:
    """What is written of a fabric, read back: the same links between the same devices, and no fault."""
    export(shipped(ETHERNET), wired(ETHERNET), ["topo", "containerlab"], tmp_path, Options())
    for path, kind in (("topo/expected-topology.json", "topology"), ("containerlab/clab.yml", "clab")):
        audit = running(tmp_path / path, kind, ETHERNET)
        assert audited_pairs(audit) == wired_pairs(ETHERNET), kind
        assert not set(faults(audit)) - ({"A1"} if kind == "clab" else set()), (kind, audit.findings[:3])


def test_a_fabric_that_sonic_is_configured_for(tmp_path: Path) -> None:
    """Two leaves and a spine as switches hold them: ports of neighbours by their names or their aliases."""
    links = [("leaf-1", 0, "spine-1", 0), ("leaf-1", 8, "spine-1", 8), ("leaf-2", 0, "spine-1", 16)]
    for device in ("leaf-1", "leaf-2", "spine-1"):
        ends = [(a, p, b, q) for a, p, b, q in links if a == device] + [
            (b, q, a, p) for a, p, b, q in links if b == device
        ]
        config = {
            "DEVICE_METADATA": {"localhost": {"hostname": device, "type": f"{device.partition('-')[0]}Router"}},
            "PORT": {f"Ethernet{port}": {"alias": f"etp{port // 8 + 1}"} for port in range(0, 64, 8)},
            "DEVICE_NEIGHBOR": {
                f"Ethernet{port}": {"name": far, "port": f"etp{other // 8 + 1}"} for _, port, far, other in ends
            },
        }  # fmt: skip
        if "leaf" in device:
            config["DEVICE_NEIGHBOR"]["Ethernet56"] = {"name": f"node-{device}", "port": "eth0"}
            config["DEVICE_NEIGHBOR_METADATA"] = {f"node-{device}": {"type": "Server"}}
        (tmp_path / f"{device}.json").write_text(json.dumps(config))
    hand = read_hand_made(str(tmp_path), "config_db")
    assert {(link.a, link.a_port, link.b, link.b_port) for link in hand.links} == {
        *((a, f"Ethernet{p}", b, f"Ethernet{q}") for a, p, b, q in links),
        *((f"leaf-{number}", "Ethernet56", f"node-leaf-{number}", "eth0") for number in (1, 2)),
    }
    audit = audited(hand, read_inputs(str(ROOT / "cases" / f"{IB}.yaml")).catalog, None, None, None)
    assert {name: audit.hand.devices[name].role for name in ("leaf-1", "spine-1")} == {
        "leaf-1": "leaf",
        "spine-1": "spine",
    }
    assert dict(audit.numbers) == {"server": 2, "leaf": 2, "spine": 1, "links": 5}


def lldp_folder(folder: Path, links: Sequence[tuple[str, str, str, str]]) -> Path:
    """A file of lldpctl for every device, each with its ends of some links."""
    seen: dict[str, list[dict[str, object]]] = {}
    for a, a_port, b, b_port in links:
        for near, port, far, far_port in ((a, a_port, b, b_port), (b, b_port, a, a_port)):
            about = {"chassis": {far: {"id": {"type": "mac", "value": "00:11:22:33:44:55"}}},
                     "port": {"id": {"type": "ifname", "value": far_port}}}  # fmt: skip
            seen.setdefault(near, []).append({port: about})
    for device, interfaces in seen.items():
        (folder / f"{device}.json").write_text(json.dumps({"lldp": {"interface": interfaces}}))
    return folder


def test_a_fabric_that_its_neighbours_say(tmp_path: Path) -> None:
    rows = rail_sheet(8, 4, 4, 2)
    folder = lldp_folder(tmp_path, [(row[0], row[2], row[3], f"swp{row[5]}") for row in rows])
    catalog = read_inputs(str(ROOT / "cases" / f"{IB}.yaml")).catalog
    audit = audited(read_hand_made(str(folder), "lldp"), catalog, None, None, None)
    assert len(audit.hand.links) == len(rows), "each link once, though both its ends see it"
    assert audit.ok
    for path in folder.glob("spine-*.json"):
        path.unlink()
    (folder / "leaf-3.json").unlink()
    left = [row for row in rows if row[0] != "leaf-3"]
    seen = audited(read_hand_made(str(folder), "lldp"), catalog, None, None, None)
    assert len(seen.hand.links) == len(left)
    assert [one.text for one in seen.findings if one.kind == "A0"] == [
        "leaf-3 has no link to a spine, and 2 spines are there"
    ]


@pytest.mark.parametrize(("kind", "text", "told"), [
    ("clab", "name: x\n", "no nodes and links of a lab are in it"),
    ("clab", "topology: {nodes: {a: {}}, links: [{endpoints: [a:eth1]}]}", "not a link with two endpoints"),
    ("clab", "topology: {nodes: {a: {}}, links: [{endpoints: [a:eth1, b:eth1]}]}", "no such node; found 'b'"),
    ("topology", '{"topology": 1, "case": "x", "interfaces": []}', "no link is in it"),
    ("topology", '{"topology": 1, "interfaces": [{"device": "a"}]}', "a port without its device or its peer"),
    ("config_db", '{"DEVICE_METADATA": {}, "PORT": {}}', "no neighbour is in it"),
    ("config_db", '[1, 2]', "this is not a config_db.json of SONiC but a list of 2 entries"),
    ("ibnetdiscover", '{"lldp": {}}', "this is not what --as ibnetdiscover reads"),
])  # fmt: skip
def test_fabrics_that_cannot_be_read(kind: str, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        hand_made_of(text, "x", kind)


# -- prices of what the file has, and parts that would fit ----------------------------------------------------------


def priced(text: str, kind: str = "p2p") -> Audit:
    inputs = read_inputs(str(ROOT / "cases" / f"{IB}.yaml"))
    return audited(hand_made_of(text, "sheet", kind), inputs.catalog, inputs.case, shipped(IB), None)


def test_cables_are_priced_by_the_links_that_a_file_has() -> None:
    """A sheet without parts costs what its own links do: leaf-spine links twice as many, and no others."""
    design, rows = shipped(IB), sheet(IB)
    whole = priced(as_text(rows)).cost
    assert whole is not None and abs(whole.above_usd) < 1
    prices = {(row.id, row.length_m): row.unit_price_usd for row in design.bom}
    (uplinks,) = [row for row in design.fabrics[0].links if (row.from_, row.to) == ("leaf", "spine")]
    dollars = sum(part.quantity * prices[part.id, part.length_m] for part in uplinks.parts)
    half = [row for row in rows if "spine" not in row[3] or not row[3].endswith("1")]
    left = sum("spine" in row[3] for row in half)
    assert 0 < left < uplinks.count
    cost = priced(as_text(half)).cost
    assert cost is not None
    assert cost.above_usd == pytest.approx(-dollars * (1 - left / uplinks.count) - _switches_left_out(half), abs=3)


def _switches_left_out(rows: Rows) -> float:
    """What the spines cost that a sheet has not."""
    design = shipped(IB)
    spines = len({row[3] for row in sheet(IB) if "spine" in row[3]} - {row[3] for row in rows})
    id_ = next(tier.id for tier in design.fabrics[0].tiers if tier.role == "spine")
    return spines * float(next(row.unit_price_usd for row in design.bom if row.id == id_))


def test_links_of_other_speeds_are_not_priced() -> None:
    """Numbers with another speed than the best design's links, of which nobody knows what a link costs."""
    text = "servers: 32\nleaf: 8\nspine: 4\nserver-leaf: 256\nleaf-spine: 256\ngbps: {0}\nswitch: QM9700\n"
    told = priced(text.format(200), "counts").cost
    assert told is not None
    assert not {row.kind for row in told.rows} & {"cable", "transceiver"}
    assert (
        "cables are not priced: the file names none, and the best design has no link from server to leaf at 200 Gb/s"
        in told.notes
    )
    known = priced(text.format(400), "counts").cost
    assert known is not None and {"cable", "transceiver"} <= {row.kind for row in known.rows}


def test_a_managed_twin_is_a_substitution() -> None:
    best = {tier.id for tier in shipped(IB).fabrics[0].tiers}
    own, other = ("nvidia-qm9700", "nvidia-qm9790") if "nvidia-qm9790" in best else ("nvidia-qm9790", "nvidia-qm9700")
    cost = priced(f"servers: 32\nleaf: 8\nserver-leaf: 256\nleaf-spine: 256\nleaf: 8\nswitch: {own}\n", "counts").cost
    assert cost is not None
    word = "managed" if own.endswith("00") else "unmanaged"
    assert any(note.startswith(f"8 {own} in place of {other}: the same ports, {word}, $") for note in cost.notes), (
        cost.notes
    )


def test_a_finned_module_in_a_flat_cage_is_told_with_the_one_that_fits(tmp_path: Path) -> None:
    rows = schedule(IB, tmp_path)
    optic, finned = SCHEDULE_COLUMNS.index("from_optic"), ""
    catalog = read_inputs(str(ROOT / "cases" / f"{IB}.yaml")).catalog
    for row in rows:
        if "server" in row[SCHEDULE_COLUMNS.index("from_device")] and row[optic]:
            flat = next(one for one in catalog.transceivers if row[optic] in (one.id, one.part_number))
            twin = next(
                one
                for one in catalog.transceivers
                if one.vendor == flat.vendor
                and one.connector == flat.connector
                and one.standard_by_split == flat.standard_by_split
                and one.form_factor.endswith("IHS")
            )
            row[optic], finned = twin.part_number or twin.id, twin.id
            break
    assert finned
    told = [finding.text for finding in priced(as_text(rows, SCHEDULE_COLUMNS)).findings if finding.kind == "A6"]
    assert told and f"{finned} (OSFP-IHS) fits no cage of nvidia-dgx-h100; {flat.id} does" in told[0]


def test_what_is_in_service_counts_on_both_sides(tmp_path: Path) -> None:
    """The wiring of a design that goes on from a base costs what that design does, and none of it is more."""
    plan = designed(eight(), in_stages(5, 8))
    file = f"{saved(plan, tmp_path)}@stage-1"
    inputs = inputs_from_objects({**in_stages(8), "base": {"file": file}}, eight())
    design = optimize.solve(inputs, alternatives_s=0)
    export(design, wiring_of(design), ["cables"], tmp_path, Options())
    hand = hand_made_of((tmp_path / "point-to-point.csv").read_text(), "sheet", "p2p")
    cost = audited(hand, inputs.catalog, inputs.case, design, None).cost
    assert cost is not None and plan.totals is not None and design.totals is not None
    assert cost.usd == cost.best_usd == plan.totals.capex_usd > design.totals.capex_usd > 0
    assert [row.quantity for row in cost.rows] == [row.best_quantity for row in cost.rows]
