"""Air, weight and power of racks: their sums are those of the bill and the catalog, unknown is said."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from fabopt.errors import InputError
from fabopt.output.export.air import AIR_COLUMNS, air_table, row_table
from fabopt.output.export.elevation import loose_power_w
from fabopt.output.export.formats import Exported, Options
from fabopt.output.export.halls import Hall, hall_of
from fabopt.output.export.power import POWER_COLUMNS, power_table
from fabopt.output.export.weight import FRAME, WEIGHT_COLUMNS, hanging, weight_table
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring
from tests.oracles.brute_floor import toy_with_halls
from tests.samples import small
from tests.samples.export_samples import CASES, on_floor, solved
from tests.samples.shipped import shipped
from tests.solution.test_floor_cases import ON_FLOORS


def hall(design: Design, wiring: Wiring | None = None) -> Hall:
    return hall_of(Exported(design, wiring or wiring_of(design), Options()))


def sums_are_of_bill_and_catalog(design: Design, wiring: Wiring | None = None) -> None:
    """Heat is power, to liquid what the catalog says of it; kilograms and outlets are those of all devices."""
    found, embedded, totals = hall(design, wiring), Embedded(design), design.totals
    assert totals is not None
    attached_w = sum(
        (one.power_w or 0) * one.boxes
        for fabric in embedded.case.fabrics
        for one in fabric.attachments
        if one.rack_units is not None
    )
    air = air_table(found)
    assert tuple(air.columns) == AIR_COLUMNS
    assert air["air_w"].sum() + air["liquid_w"].sum() == pytest.approx(totals.cluster_power_w + attached_w)
    server = embedded.server
    things = server.sold_for(embedded.servers)
    switches = [(embedded.part(tier.id, Switch), tier.count) for fabric in design.fabrics for tier in fabric.tiers]
    to_liquid = things * (server.power_w or 0) * (server.liquid_share or 0)
    if not any(switch.liquid_share for switch, _ in switches):
        assert air["liquid_w"].sum() == pytest.approx(to_liquid)
    devices = (wiring or wiring_of(design)).devices
    product_of = dict(zip(devices.name, devices.product, strict=True))
    told = {name: design.parts.get(product, {}).get("air_m3_h") for name, product in product_of.items()}
    followed = (
        2.99 * row.air_w / (embedded.plan.floor.air_dt_k or 11.1)
        for row in air.itertuples()
        if not row.rack or not told.get(row.device)
    )
    stated = sum(told[name] or 0 for name in air["device"] if name in told)
    assert air["air_m3_h"].sum() == pytest.approx(stated + sum(followed), abs=0.1 * len(air))
    rows = row_table(found)
    in_racks = air[air["rack"] != ""]
    for column in ("air_w", "liquid_w", "air_m3_h", "water_l_min"):
        assert rows[column].sum() == pytest.approx(in_racks[column].sum(), abs=len(air) / 10)
    if not any(fabric.subnet_manager is not None and fabric.subnet_manager.twins for fabric in design.fabrics):
        cables = hanging(embedded, wiring or wiring_of(design))
        weight, power = weight_table(found, cables), power_table(found, 2)
        assert (tuple(weight.columns), tuple(power.columns)) == (WEIGHT_COLUMNS, POWER_COLUMNS)
        attached_kg = sum(
            (one.weight_kg or 0) * one.boxes for fabric in embedded.case.fabrics for one in fabric.attachments
        )
        of_catalog = things * (server.weight_kg or 0) + attached_kg
        of_catalog += sum((switch.weight_kg or 0) * count for switch, count in switches)
        assert weight["kg"].sum() == pytest.approx(of_catalog)
        loose_w = sum(loose_power_w(design, wiring_of(design)).values())
        used_w = power["feed_a_w"].sum() + power["feed_b_w"].sum()
        assert used_w + loose_w == pytest.approx(totals.cluster_power_w + attached_w)
        assert (power["one_feed_w"] >= power["feed_a_w"] + power["feed_b_w"] - 0.01).all()
        outlets = {inlet: things * number for inlet, number in server.inlets.items()}
        for switch, count in switches:
            for inlet, number in switch.inlets.items():
                outlets[inlet] = outlets.get(inlet, 0) + number * count
        assert weight["cables_kg"].sum() == pytest.approx(
            sum(one.kg for one in cables.values()), abs=0.001 * len(weight)
        )
        assert power["outlets_c13"].sum() == outlets.get("C14", 0)
        assert power["outlets_c15"].sum() == outlets.get("C16", 0)
        assert power["outlets_c19"].sum() == outlets.get("C20", 0)


@pytest.mark.long(but=("nvl72-rack",))
@pytest.mark.parametrize("name", ON_FLOORS)
def test_sums_of_shipped_floors_are_those_of_bill_and_catalog(name: str) -> None:
    sums_are_of_bill_and_catalog(shipped(name))


@pytest.mark.parametrize("name", CASES)
def test_sums_of_samples_on_floors_are_those_of_bill_and_catalog(name: str) -> None:
    sums_are_of_bill_and_catalog(*on_floor(name))


@pytest.mark.long(but=("5",))
@pytest.mark.parametrize("seed", range(2, 14))
def test_sums_of_random_halls_are_those_of_bill_and_catalog(seed: int) -> None:
    """Small halls with limits of air and weight; inlets, stated air and weights of some devices only."""
    content, parts = toy_with_halls(seed)
    dice = random.Random(seed)
    for device in (*parts["servers"], *parts["switches"]):
        device["inlets"] = dice.choice([{}, {"C14": 2}, {"C20": 4}, {"C16": 2}])
        if "rack_kg" not in content["site"]["floor"] and "floor_kg_m2" not in content["site"]["floor"]:
            device["weight_kg"] = dice.choice([None, 12.5, 30])
        device["air_m3_h"] = dice.choice([None, 310])
    design = small.solved(content, parts)
    if design.fabrics:
        sums_are_of_bill_and_catalog(design)


def test_a_rack_scale_system_gives_most_of_its_heat_to_liquid() -> None:
    """A GB200 NVL72 of 132 kW: 0.871 to liquid, at 1.5 l/min a kilowatt 172.5 l/min; 1,360 kg on 0.72 m2."""
    found = hall(shipped("nvl72-rack"))
    whole = air_table(found).groupby("rack")["liquid_w"].sum().max()
    assert whole == pytest.approx(132_000 * 0.871)
    assert row_table(found)["water_l_min"].sum() == pytest.approx(172.5, abs=0.2)
    weight = weight_table(found, {}).set_index("rack")
    assert weight["kg_m2"][weight["kg"].idxmax()] == pytest.approx(1360 / 0.72, abs=0.1)


def test_what_is_not_known_is_said() -> None:
    """The generic server has no weight and no inlets: the sum is what is known."""
    found = hall(shipped("hall-1024-gpus"))
    assert weight_table(found, {})["unknown"].str.contains("weight_kg of").all()
    assert weight_table(found, {})["unknown"].str.contains(FRAME).all()
    assert power_table(found, 2)["unknown"].str.contains("inlets of").any()
    air = air_table(found)
    air = air[air["rack"] != ""]
    assert (air["unknown"].str.contains("inlet_c") == (air["inlet_class"] == "")).all() and (air["unknown"] != "").any()


def test_a_design_without_a_floor_is_refused() -> None:
    with pytest.raises(InputError, match="the case has no floor plan"):
        hall(solved("plain"))


def test_one_feed_has_all_of_a_rack() -> None:
    table = power_table(hall(shipped("hall-1024-gpus")), 1)
    assert (table["feed_b_w"] == 0).all() and (table["feed_a_w"] > 0).all()


def test_cables_hang_from_their_devices_to_the_tray() -> None:
    """Of each leg between two racks the way up at both ends, counted again in racks that no cable stays in."""
    design = shipped("hall-1024-gpus")
    wiring, floor = wiring_of(design), Embedded(design).plan.floor
    devices, expected, inside = wiring.devices, Counter[str](), set[str]()
    legs = {*zip(wiring.links.cable.tolist(), wiring.links.a.tolist(), wiring.links.b.tolist(), strict=True)}
    for cable, *ends in legs:
        if devices.rack[ends[0]] == devices.rack[ends[1]]:
            inside.add(devices.rack[ends[0]])
            continue
        for end in ends:
            at_m = 0.1 + (devices.unit[end] - 1 + devices.height_u[end] / 2) * 0.04445
            kg_m = design.parts[wiring.cables.part[cable]].get("weight_kg_m") or 0
            expected[devices.rack[end]] += (floor.tray_height_m + floor.drop_m - at_m) * kg_m
    cables = hanging(Embedded(design), wiring)
    apart = {rack: kg for rack, kg in expected.items() if rack not in inside}
    assert apart and any(apart.values())
    assert {rack: cables[rack].kg for rack in apart} == pytest.approx(apart)
