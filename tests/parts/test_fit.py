"""What joins what: one tiny catalog in which a single key decides, its twin without it, and the verifier on both."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.mutations import document_of, rehashed
from tests.samples.small import bought, case, catalog, product, solved

Json = dict[str, Any]

# Six servers with a 400G NIC each on one switch: its optics are dr4-hot (600) or dr4 (700), theirs dr4-nic; no cable.
ONE_TIER = {"tiers": 1, "min_gbps_per_gpu": 100, "nics": ["nic-400"], "nics_per_server": 1}


def _optics_only() -> Json:
    parts = catalog()
    parts["cables"] = []
    return parts


def _wanted() -> Json:
    return case(ONE_TIER)


def _put(parts: Json, ids: tuple[str, ...], **keys: Any) -> Json:
    """The catalog with keys of products, of switches in their cages where they are a cage's."""
    for id_ in ids:
        entry = product(parts, id_)
        for key, value in keys.items():
            for holder in entry["cages"] if "cages" in entry and key in OF_CAGES else [entry]:
                holder[key] = value
    return parts


OF_CAGES = ("equalises", "module_power_w", "split_protocols")
SWITCHES = ("large", "lean", "small")
CABLED = ("dr4-hot", "dr4-nic")
# name: keys of products, and which module then is at the switch (None: there is no design)
DECISIONS: dict[str, tuple[tuple[tuple[tuple[str, ...], Json], ...], str | None]] = {
    "nothing said": ((), "dr4-hot"),
    "coding that is not accepted": (
        ((SWITCHES, {"accepts_coding": ["Acme"]}), (("dr4-hot",), {"coded_for": ["Zeta"]})),
        "dr4",
    ),
    "coding that is accepted": (
        ((SWITCHES, {"accepts_coding": ["Acme", "Zeta"]}), (("dr4-hot",), {"coded_for": ["Zeta"]})),
        "dr4-hot",
    ),
    "coding that nothing is asked of": (((("dr4-hot",), {"coded_for": ["Zeta"]}),), "dr4-hot"),
    "more power than the cage gives": (
        ((SWITCHES, {"module_power_w": 12}), (("dr4-hot",), {"power_max_w": 14.5})),
        "dr4",
    ),
    "more typical power than the cage gives": (((SWITCHES, {"module_power_w": 12}),), "dr4"),
    "power that the cage gives": (
        ((SWITCHES, {"module_power_w": 14.5}), (("dr4-hot",), {"power_max_w": 14.5})),
        "dr4-hot",
    ),
    "linear optics in cages that say nothing": (((("dr4-hot",), {"retiming": "none"}),), "dr4"),
    "linear optics where one end equalises": (
        ((SWITCHES, {"equalises": True}), (("dr4-hot",), {"retiming": "none"})),
        "dr4",
    ),
    "linear optics where both ends equalise copper": (
        (((*SWITCHES, "nic-400"), {"equalises": "copper"}), (("dr4-hot",), {"retiming": "none"})),
        "dr4",
    ),
    "half-retimed optics where both ends equalise": (
        (((*SWITCHES, "nic-400"), {"equalises": True}), (("dr4-hot",), {"retiming": "half"})),
        "dr4-hot",
    ),
    "a split of another protocol": (
        (((*SWITCHES,), {"split_protocols": {"1x400": ["infiniband"]}}),),
        None,
    ),
    "a module whose split is of another protocol": (
        (((("dr4-hot",), {"split_protocols": {"1x400": ["infiniband"]}})),),
        "dr4",
    ),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_one_key_decides_what_joins(name: str) -> None:
    changes, module = DECISIONS[name]
    parts = _optics_only()
    for ids, keys in changes:
        _put(parts, ids, **keys)
    design = solved(_wanted(), parts)
    modules = {one for one in bought(design) if one in ("dr4", "dr4-hot")}
    assert modules == ({module} if module else set())
    assert solved(_wanted(), parts, prune=False).totals == design.totals


@pytest.mark.parametrize("name", [name for name, (changes, module) in DECISIONS.items() if changes and module == "dr4"])
def test_the_verifier_sees_what_does_not_join(name: str) -> None:
    """The design of a catalog without the keys, with the keys put into its parts, is refused for what the keys say."""
    document = document_of(solved(_wanted(), _optics_only()))
    for ids, keys in DECISIONS[name][0]:
        for entry in (document["parts"][id_] for id_ in ids if id_ in document["parts"]):
            _put({"all": [entry]}, (entry["id"],), **keys)
    doctored = Design.model_validate_json(json.dumps(rehashed(document)))
    failed = {check.name for check in verify(doctored) if not check.ok}
    assert "parts_fit_cages" in failed


def test_active_copper_without_a_retimer_needs_cages_that_equalise() -> None:
    parts = catalog()
    parts["transceivers"] = []
    product(parts, "dac")["retiming"] = "none"
    assert solved(_wanted(), parts).status == "infeasible"
    assert "dac" in bought(solved(_wanted(), _put(parts, (*SWITCHES, "nic-400"), equalises=True)))


def test_cages_that_equalise_copper_take_active_copper_and_no_linear_optics() -> None:
    parts = _put(catalog(), (*SWITCHES, "nic-400"), equalises="copper")
    parts["transceivers"] = []
    product(parts, "dac").update(retiming="none", medium="ACC")
    assert "dac" in bought(solved(_wanted(), parts))
    assert solved(_wanted(), _put(parts, ("nic-400",), equalises=False)).status == "infeasible"


def test_a_missing_protocol_is_noted_once_where_the_catalog_has_both() -> None:
    parts = catalog()
    assert not [note for note in solved(_wanted(), parts).notes if "`protocols`" in note]
    parts["switches"].append({**product(parts, "small"), "id": "other", "protocol": "infiniband"})
    assert [note for note in solved(_wanted(), parts).notes if "`protocols`" in note] == [
        "1 part without `protocols` in the catalog, taken to run any: dac"
    ]


def test_a_coded_part_in_a_device_that_names_no_coding_is_noted() -> None:
    """Not where the switch is of that maker, where it says what it takes, or without default rules."""
    parts = catalog()
    parts["cables"] = []
    for id_ in ("dr4", "dr4-hot"):
        product(parts, id_)["coded_for"] = ["Zeta"]
    said = (
        "dr4-hot is coded for Zeta and goes into small (Acme), of which no source says whose coding it takes: order it "
        "with the coding that they need, or say so in the catalog (`accepts_coding`)"
    )

    def notes(**keys: object) -> list[str]:
        return [note for note in solved(_wanted(), _put(parts, SWITCHES, **keys)).notes if "coded for" in note]

    assert notes(vendor="Acme") == [said]
    assert notes(vendor="Zeta") == notes(vendor="Acme", accepts_coding=["Zeta"]) == []


def test_a_port_over_two_connectors_takes_a_fibre_with_both() -> None:
    """A 1x400 module with two MPO-12 is joined by a pair of fibres only."""
    parts = _optics_only()
    for module in ("dr4-hot", "dr4-nic"):
        product(parts, module)["connectors"] = 2
    parts["transceivers"] = [product(parts, "dr4-hot"), product(parts, "dr4-nic")]
    assert solved(_wanted(), parts).status == "infeasible"
    pair = {**product(parts, "mpo"), "id": "pair", "connectors": ["2x MPO-12-APC", "2x MPO-12-APC"]}
    parts["fibres"].append(pair)
    design = solved(_wanted(), parts)
    assert bought(design)["pair"] == 6 and "mpo" not in bought(design)
    assert all(check.ok for check in design.checks)
    document = document_of(design)
    document["parts"]["pair"]["connectors"] = ["MPO-12-APC", "MPO-12-APC"]
    doctored = Design.model_validate_json(json.dumps(rehashed(document)))
    assert "optics_speak_alike" in {check.name for check in verify(doctored) if not check.ok}
