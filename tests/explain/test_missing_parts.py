"""A row is taken from a catalog, and no design is left: the answer names what the row would give."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from fabopt.output.terminal.answer import infeasible_lines
from fabopt.output.terminal.no_screen import no_rows
from tests.explain.test_why_not import _inputs, obstacles
from tests.samples.small import Json, case, catalog, product, solved

# Form factors of cages: what NICs and switches of the random catalogs have.
FORM_FACTORS = ("QSFP-DD", "OSFP", "QSFP112")
PARTS = ("cables", "transceivers", "fibres")
_PAIR = re.compile(r"nothing on sale joins (\S+ \d+x\d+) \([^)]*\) to (\S+ \d+x\d+) \([^)]*\): a cable of (\d+) m")


def generated(dice: random.Random) -> Json:
    """Switches of two cages, a NIC of a third, and for each pair of cages with luck a cable, or optics."""
    switches = [
        {"id": f"switch-{number}", "protocol": "ethernet", "rack_units": 1, "power_w": 300,
         "price_usd": dice.randrange(9, 30) * 1000,
         "cages": [{"count": 8, "form_factor": form_factor, "splits": dice.choice((["1x400"], ["1x400", "2x200"]))}]}
        for number, form_factor in enumerate(FORM_FACTORS[:2])
    ]  # fmt: skip
    cables = [
        {"id": f"cable-{number}", "medium": "AOC", "power_w": 1, "lengths": [{"m": 30, "price_usd": 300}],
         "ends": [{"form_factor": near, "split": "1x400"}, {"form_factor": far, "split": "1x400"}]}
        for number, (near, far) in enumerate(
            (near, far) for near in FORM_FACTORS for far in FORM_FACTORS[:2] if dice.random() < 0.4
        )
    ]  # fmt: skip
    modules = [
        {"id": f"dr4-{number}", "form_factor": form_factor, "split": "1x400", "standard": "400G-DR4", "fibre": "smf",
         "connector": "MPO-12-APC", "reach_m": 500, "power_w": 9, "price_usd": 700}
        for number, form_factor in enumerate(FORM_FACTORS) if dice.random() < 0.5
    ]  # fmt: skip
    parts = catalog()
    return parts | {
        "switches": switches,
        "nics": [product(parts, "nic-400")],
        "cables": cables,
        "transceivers": modules,
    }


def without_a_row(parts: Json) -> Iterator[tuple[str, Json]]:
    for kind in ("switches", "nics", *PARTS):
        for row in parts[kind]:
            yield kind, {**parts, kind: [other for other in parts[kind] if other is not row]}


def a_cable(near: str, far: str, metres: str) -> Json:
    """The cable that an answer names: its ends as ``QSFP112 1x400``."""
    ends = [dict(zip(("form_factor", "split"), end.split(), strict=True)) for end in (near, far)]
    ports = [int(end["split"].partition("x")[0]) for end in ends]
    counts = [max(ports) // number for number in ports]
    return {
        "id": "named", "medium": "AOC", "power_w": 1, "lengths": [{"m": float(metres), "price_usd": 300}],
        "ends": [end | {"count": count} for end, count in zip(ends, counts, strict=True)],
    }  # fmt: skip


@pytest.mark.long(but=("4",))
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 60))])
def test_what_a_row_would_give_is_named(seed: int) -> None:
    """Of a part: two cages that a cable would join, with which there is a design. Of a device: its place."""
    dice = random.Random(seed)
    parts = generated(dice)
    asked = case({"tiers": 2, "nics_per_server": dice.choice((1, 2)), "min_gbps_per_gpu": 100}, servers=6)
    if solved(asked, parts).status == "infeasible":
        return
    for kind, fewer in without_a_row(parts):
        design = solved(asked, fewer)
        if design.status != "infeasible":
            continue
        told = " ".join(infeasible_lines(design))
        named = _PAIR.findall(told)
        if kind in PARTS:
            assert named and named[0] in _PAIR.findall(" ".join(row.words for row in no_rows(design)))
        if named:
            both = [a_cable(*one) | {"id": f"named-{number}"} for number, one in enumerate(named)]
            assert solved(asked, {**fewer, "cables": [*fewer["cables"], *both]}).status == "optimal", told
        else:
            assert re.search(r"no ethernet (NIC|switch) on sale|with \d+ servers? there is a design", told), told


def two_leaves() -> Json:
    """NICs are joined to the one switch, which may be a leaf, spines to the other."""
    parts = catalog()
    osfp = {
        **product(parts, "large"),
        "id": "osfp",
        "cages": [{"count": 12, "form_factor": "OSFP", "splits": ["1x400"]}],
    }
    active = {**product(parts, "aoc"), "id": "osfp-aoc"}
    active["ends"] = [{"form_factor": "OSFP", "split": "1x400"}] * 2
    dac = next(cable for cable in parts["cables"] if cable["id"] == "dac")
    return parts | {"switches": [product(parts, "large"), osfp], "transceivers": [], "cables": [dac, active]}


def test_steps_that_each_have_parts_but_no_switch_in_common() -> None:
    """The chain has no gap: DACs join large to NICs, AOCs join osfp to osfp. A part for either would do."""
    told = infeasible_lines(solved(case(), two_leaves()))
    line = next(line for line in told if line.lstrip().startswith("catalog.parts"))
    near, far, metres = _PAIR.findall(line)[0]
    more = two_leaves()
    more["cables"].append(a_cable(near, far, metres))
    assert solved(case(), more).status == "optimal"


def test_modules_that_speak_another_standard() -> None:
    parts = catalog()
    parts["cables"] = []
    product(parts, "dr4-nic")["standard"] = "400G-FR4"
    told = " ".join(infeasible_lines(solved(case({"nics": ["nic-400"]}), parts)))
    assert "a transceiver of 400G-DR4 for QSFP112 1x400 or a transceiver of 400G-FR4 for QSFP-DD 1x400 would" in told


def test_a_device_that_lacks_a_part_names_its_ports_and_the_part() -> None:
    parts = catalog()
    cages = [{"count": 8, "form_factor": "CFP8", "splits": ["1x400"]}]
    parts["switches"].append({**product(parts, "small"), "id": "odd", "cages": cages})
    (lack,) = obstacles(_inputs(parts), "odd").lacks
    assert lack.why == (
        "has no matching part: nothing on sale joins CFP8 1x400 (odd) to QSFP112 1x400 (nic-400): "
        "a cable of 3 m or a transceiver of 400G-DR4 for CFP8 1x400 would"
    )
