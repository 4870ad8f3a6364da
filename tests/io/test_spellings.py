"""Plain spellings: each is taken as the one thing that it can mean, or refused; none changes what the schema takes."""

from __future__ import annotations

from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from fabopt.cli.starter import Starter, starter_text
from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.quantities import LENGTH, MONEY, POWER, RATIO, SHARE, SPEED, MeasuredText, quantity_under
from fabopt.io.recognition import meant_price_change
from fabopt.io.schema_types import branches
from fabopt.io.spellings import Spelled, understood
from fabopt.io.text import parse_yaml
from fabopt.schema.case import Case
from fabopt.study.sweep.sweep import budget_range, value_range
from tests.paths import ROOT
from tests.samples.small import Json, case, inputs

CASES = sorted((ROOT / "cases").glob("*.yaml"))
# Numbers of a case that have no unit to write: counts, dates, ages, ratios of energy, and keys with an unusual unit.
PLAIN = {
    *("rdma_priority", "rdma_dscp", "rdma_share", "cnp_priority", "cnp_dscp", "mtu", "lossless_priorities"),
    *("servers", "gpus", "month", "ports", "boxes", "rack_units", "adds", "planes", "nics_per_server"),
    *("max_switch_hops", "minutes_per_moved_cable", "pue", "years", "rows", "racks_per_row", "cross_trays"),
    *("servers_per_rack", "ports_per_switch", "pdus_per_rack", "pdus", "checkpoint_gb", "checkpoint_window_s"),
    *(
        "max_part_numbers",
        "max_latency_us",
        *("max_lengths", "site", "product", "fibres", "cable", "device"),
        "minimum",
        "order_from_month",
        "racks",
        "switches",
        "cable_ends",
        "management_units",
    ),
    *("manager_units_per_switch", "patch_panel_units", "pdu_units", "switch_racks", "have", "queue_pairs"),
    *("outlets_c13", "outlets_c15", "outlets_c19", "per_plane", "groups", "cages"),
    *("network_outlets_c13", "network_outlets_c15", "network_outlets_c19"),
    *("air_dt_k", "floor_kg_m2", "breaker_share", "rack_kg", "weight_kg", "optical_margin_db"),
    *("rack", "pull", "dress", "label", "clean", "inspect", "test", "plug"),
    *("percent", "months", "acceptance_months", "depreciation_years", "min_sources", "max_vendors"),
    *(
        "quarterly_supply",
        "gpus_per_domain",
        "measured_gpus",
        "hours",
        "share",
        "sends_gb",
        "every_s",
        "prompt_tokens",
        "output_tokens",
        "ttft_ms",
        "tpot_ms",
        "cached_share",
        "micro_batch",
        "tensor",
        "expert",
    ),
}


@pytest.mark.parametrize(
    ("quantity", "text", "number"),
    [
        *((SPEED, text, 400) for text in ("400G", "400 Gb/s", "400Gbps", "400 Gbit/s", "0.4T", "400000 Mb/s")),
        *((SPEED, text, None) for text in ("400 GB/s", "400GB", "400 GBps", "400 W", "G", "4 00G", "-400G")),
        *((MONEY, text, 2_000_000) for text in ("2M", "$2M", "$2,000,000", "2 million USD", "2000k", "US$ 2m")),
        (MONEY, "500k", 500_000),
        *((MONEY, text, None) for text in ("2M EUR", "€2M", "2.000.000", "2,00", "$", "2M:3M")),
        *((POWER, text, 20_000) for text in ("20 kW", "20kW", "20,000 W", "0.02 MW")),
        *((POWER, text, None) for text in ("20 mW", "20 kVA", "20G")),
        *((LENGTH, text, 3) for text in ("3 m", "3m", "300 cm", "3 metres")),
        *((LENGTH, text, None) for text in ("10 ft", "3 min", "1,5 m")),
        *((RATIO, text, 2) for text in ("2:1", "2 : 1")),
        *((RATIO, text, None) for text in ("2:3", "1:2", "2x")),
        *((SHARE, text, 0.2) for text in ("20%", "20 %", "20 percent")),
        *((quantity, "20", None) for quantity in (SPEED, MONEY, POWER, LENGTH, RATIO, SHARE)),
    ],
)
def test_quantities(quantity: MeasuredText, text: str, number: float | None) -> None:
    """A number in quotes stays text, which the schema refuses: nobody knows in what unit it was meant."""
    assert quantity.number(text) == number


def numbers(kind: Any, key: str) -> list[str]:
    """The keys, below one of a schema, at which a fraction of a unit may stand."""
    keys: list[str] = []
    for branch in branches(kind):
        if isinstance(branch, type) and issubclass(branch, BaseModel):
            keys += [
                name
                for field, info in branch.model_fields.items()
                if field not in ("model", "plan", "carries")
                for name in numbers(info.annotation, key if quantity_under(key) else info.alias or field)
            ]
        elif get_origin(branch) is tuple:
            keys += numbers(get_args(branch)[0], key)
        elif get_origin(branch) is dict:
            keys += numbers(get_args(branch)[1], key)
        elif branch in (int, float):
            keys.append(key)
    return keys


def test_every_number_of_a_case_has_its_unit() -> None:
    """A key that is added says what it is measured in, or that it is plain."""
    found = set(numbers(Case, ""))
    assert {key for key in found if quantity_under(key) is None} == PLAIN
    assert {"min_gbps_per_gpu", "budget_usd", "power_w", "distances_m", "reserve_ports", "energy_usd_per_kwh"} <= found


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_the_schema_takes_is_not_touched(path: Any) -> None:
    content, spelled = parse_yaml(path.read_bytes(), path.name), Spelled()
    assert understood(Case, content, spelled) == content
    assert not spelled.notes


PLAINLY: Json = {
    "name": "pod",
    "server": "DGX H200",
    "servers": 4,
    "workload": {"profile": "Fine Tuning"},
    "fabrics": [
        {"name": "compute", "role": "COMPUTE", "protocol": "roce", "topologies": ["Dragonfly Plus", "Rail Only"],
         "nics": "MCX75310AAS-NEAT", "min_gbps_per_gpu": "400G", "max_oversubscription": {"leaf": "2:1"},
         "switches": {"leaf": "SN5600", "spine": ["NVIDIA sn5600", "ANY"][:1], "core": "Any"},
         "reserve_ports": "5 %", "resilience": {"survive": "1  Leaf", "min_gbps_per_gpu": "200 Gb/s"}},
        {"name": "mgmt", "role": "Out of band"},
    ],
    "site": {"distances_m": {"leaf-spine": "30 m"}},
    "limits": {"budget_usd": "$2,000,000", "power_w": "200 kW"},
    "finance": {"discount_rate": "7.5%", "price_decline": {"Optics": "15%"}},
    "procurement": {"forbidden_vendors": "arista", "spares": {"Switches": {"fraction": "2%"}}},
    "objective": "TCO",
}  # fmt: skip
MEANT: Json = {
    "name": "pod",
    "server": "nvidia-dgx-h200",
    "servers": 4,
    "workload": {"profile": "fine-tuning"},
    "fabrics": [
        {"name": "compute", "role": "compute", "protocol": "ethernet", "topologies": ["dragonfly+", "rail-only"],
         "nics": ["nvidia-mcx75310aas-neat"], "min_gbps_per_gpu": 400, "max_oversubscription": {"leaf": 2},
         "switches": {"leaf": ["nvidia-sn5600"], "spine": ["nvidia-sn5600"], "core": "any"},
         "reserve_ports": 0.05, "resilience": {"survive": "1 leaf", "min_gbps_per_gpu": 200}},
        {"name": "mgmt", "role": "oob"},
    ],
    "site": {"distances_m": {"leaf-spine": 30}},
    "limits": {"budget_usd": 2_000_000, "power_w": 200_000},
    "finance": {"discount_rate": 0.075, "price_decline": {"transceiver": 0.15}},
    "procurement": {"forbidden_vendors": ["Arista"], "spares": {"switch": {"fraction": 0.02}}},
    "objective": "tco_usd",
}  # fmt: skip


def with_topologies(content: Json, *families: str) -> Json:
    first, *others = content["fabrics"]
    first = {key: value for key, value in first.items() if key not in ("topologies", "resilience")}
    return {**content, "fabrics": [{**first, "topologies": list(families)}, *others]}


def test_a_plain_case_is_the_case_that_it_means() -> None:
    """Words and numbers before the schema sees them; products and vendors once the catalog is known."""
    words = Case.model_validate(understood(Case, MEANT, Spelled()), strict=False)
    read = understood(Case, PLAINLY, Spelled())
    assert read["fabrics"][0]["topologies"] == ["dragonfly+", "rail-only"]
    assert read["fabrics"][0]["resilience"] == MEANT["fabrics"][0]["resilience"]
    plain = inputs_from_objects(with_topologies(PLAINLY, "Clos"))
    meant = inputs_from_objects(with_topologies(MEANT, "clos"))
    assert plain.case == meant.case
    assert words.server == plain.case.server
    assert meant.notes == ()


@pytest.mark.parametrize(
    ("written", "key", "meant"),
    [
        ("fat-tree", "topologies", ["clos"]),
        ("Leaf Spine", "topologies", ["clos"]),
        (["rail-optimized"], "topologies", ["clos"]),
        ("backend", "role", "compute"),
        ("non-blocking", "max_oversubscription", 1),
        ("Non Blocking", "max_oversubscription", 1),
        ("2 racks", "group_by", {"racks": 2}),
        ("1 Rack", "group_by", {"racks": 1}),
    ],
)
def test_words_of_the_field_are_understood(written: object, key: str, meant: object) -> None:
    read = understood(Case, {**MEANT, "fabrics": [{"name": "compute", key: written}]}, Spelled())
    assert read["fabrics"][0][key] == meant


@pytest.mark.parametrize(
    ("name", "role"),
    [("storage", "storage"), ("in-band", "in-band"), ("out-of-band", "oob"), ("oob", "oob"), ("compute", None),
     ("storage-nodes", None), ("backend", None)],
)  # fmt: skip
def test_a_fabric_named_for_a_role_has_it(name: str, role: str | None) -> None:
    """Else a fabric called storage is planned as a second compute fabric; a role that is written stays."""
    spelled = Spelled()
    read = understood(Case, {"fabrics": [{"name": name}, {"name": name, "role": "compute"}]}, spelled)
    assert [fabric.get("role") for fabric in read["fabrics"]] == [role, "compute"]
    assert spelled.notes == ([] if role is None else [f"fabrics[0].role: `{role}`, as the fabric is named `{name}`"])


def test_words_of_a_case_and_of_attachments_are_understood() -> None:
    doors = [
        {"name": "doors", "kind": kind, "ports": 2, "buys": "none"}
        for kind in ("firewall", "Gateway", "UFM", "subnet-manager")
    ]
    content = {**MEANT, "catalog": "reference", "rules": "off", "objective": "cheapest", "fabrics":
               [{"name": "compute", "attachments": doors}]}  # fmt: skip
    read = understood(Case, content, Spelled())
    assert (read["catalog"], read["rules"], read["objective"]) == (["reference"], "none", "capex_usd")
    kinds = [attachment["kind"] for attachment in read["fabrics"][0]["attachments"]]
    assert kinds == ["endpoint", "endpoint", "management", "management"]


def test_notes_say_what_was_taken() -> None:
    notes = inputs_from_objects(with_topologies(PLAINLY, "Clos")).notes
    assert "server: `DGX H200` is taken as nvidia-dgx-h200" in notes
    assert "fabrics[0].protocol: `roce` is taken as ethernet" in notes
    assert not [note for note in notes if "profile" in note or "400" in note]


def test_an_id_is_never_taken_for_another_product() -> None:
    """Where one product's part number is another one's id, the id wins; where two share a name, neither does."""
    parts: Json = {
        "switches": [
            {"id": "one", "vendor": "Acme", "part_number": "two", "protocol": "ethernet", "power_w": 1, "price_usd": 1,
             "cages": [{"count": 1, "form_factor": "QSFP", "splits": ["1x400"]}]},
            {"id": "two", "vendor": "Acme", "description": "Big one", "protocol": "ethernet", "power_w": 1,
             "price_usd": 1, "cages": [{"count": 1, "form_factor": "QSFP", "splits": ["1x400"]}]},
            {"id": "acme-three", "vendor": "Acme", "description": "Big one", "protocol": "ethernet", "power_w": 1,
             "price_usd": 1, "cages": [{"count": 1, "form_factor": "QSFP", "splits": ["1x400"]}]},
        ],
        "servers": [{"id": "gpu-4", "gpus": 4, "nic_slots": 4}],
    }  # fmt: skip

    def leaf(name: str) -> object:
        return inputs(case({"switches": {"leaf": name}}), parts).case.fabrics[0].switches.leaf

    assert leaf("two") == ("two",)
    assert leaf("Three") == ("acme-three",)
    with pytest.raises(InputError, match="2 products go by that name") as refusal:
        leaf("big one")
    assert "found 'big one'" in str(refusal.value)


def test_a_template_of_names_is_no_product() -> None:
    """``operate.names.server`` has braces, which no id has."""
    names = {"server": "gpu{number:04d}", "leaf": "{site}-l{number:03d}"}
    taken = Spelled()
    assert understood(Case, case(operate={"names": names}), taken)["operate"] == {"names": names}
    assert taken.notes == [] and not taken.written


def test_commands_understand_the_same_words() -> None:
    catalog = inputs(case()).catalog
    assert meant_price_change("Optics = +20 %", catalog) == "transceiver=+20%"
    assert meant_price_change("NIC 400=-5%", catalog) == "nic-400=-5%"
    assert budget_range("$2M,$3M") == budget_range("2M,3M") == [2_000_000, 3_000_000]
    assert budget_range("$2,000,000") == budget_range("2M") == [2_000_000]
    assert budget_range("500k:1.5 million:2") == [500_000, 1_500_000]
    assert value_range("fabrics.compute.min_gbps_per_gpu", "200G,400 Gb/s") == [200, 400]
    with pytest.raises(InputError, match=r"write optics=\+20%"):
        inputs_from_objects(case(), catalog, price_changes=["optics=20"])


def test_a_starter_case_has_the_words_of_the_schema() -> None:
    schema = ROOT / "docs" / "schemas" / "case.json"
    plain = starter_text(Starter("pod", 32, "DGX H200", "PreTraining", (), ROOT, schema))
    assert plain == starter_text(Starter("pod", 32, "nvidia-dgx-h200", "pretraining", (), ROOT, schema))


def test_content_without_end_is_left_to_the_schema() -> None:
    content: Json = {"name": "pod"}
    content["site"] = content
    assert understood(Case, content, Spelled()) is content
