"""Codes to order by: one for each length, by the maker's rule where that is known; else none, with the reason."""

from __future__ import annotations

import pytest

from fabopt.parts.names import family_code, metres_of, order_code, wanted_airflow


@pytest.mark.parametrize(
    ("family", "length_m", "code"),
    [
        ("MFP7E10-Nxxx", 7, "MFP7E10-N007"),
        ("MFP7E10-Nxxx", 50, "MFP7E10-N050"),
        ("MCP4Y10-Nxxx", 0.5, "MCP4Y10-N00A"),
        ("MCP4Y10-Nxxx", 1.5, "MCP4Y10-N01A"),
        ("MCP4Y10-Nxxx-FLT", 2, "MCP4Y10-N002-FLT"),
        ("MCP7H50-H0xx", 1.5, "MCP7H50-H01A"),
        ("MFP7E10-Nxxx", 0.3, None),
        ("MFP7E10-Nxxx", 1000, None),
        ("MCP1650-H0xxEyy", 1, None),
        ("MCA4K00", 1, None),
    ],
)
def test_families_of_nvidia(family: str, length_m: float, code: str | None) -> None:
    assert family_code(family, "NVIDIA", length_m) == code
    assert family_code(family, "FS", length_m) is None


@pytest.mark.parametrize(("digits", "length_m"), [("007", 7), ("00A", 0.5), ("1a", 1.5), ("000", None)])
def test_digits_say_metres(digits: str, length_m: float | None) -> None:
    assert metres_of(digits) == length_m


def test_what_a_part_is_ordered_by() -> None:
    lengths = [{"m": 5, "part_number": "68017"}, {"m": 10}]
    trunk = {"kind": "fibre", "vendor": "FS", "part_number": "30962", "lengths": lengths}
    assert order_code(trunk, 5) == ("68017", "")
    assert order_code(trunk, 10) == ("", "the code of 10 m, of the family 30962 is not known")
    assert order_code({**trunk, "lengths": [{"m": 10}]}, 10) == ("30962", "")
    jumper = {"kind": "fibre", "vendor": "NVIDIA", "part_number": "MFP7E10-Nxxx", "lengths": [{"m": 7}]}
    assert order_code(jumper, 7) == ("MFP7E10-N007", "")
    assert order_code({"kind": "switch", "part_number": "SN5600"}, None) == ("SN5600", "")
    assert order_code({"kind": "transceiver", "part_number": "MMA4Z00-NS"}, 3) == ("MMA4Z00-NS", "")
    assert order_code(trunk, None) == ("30962", "")
    assert order_code({"kind": "switch"}, None) == ("", "its part number is not known")
    assert order_code({"kind": "cable", "lengths": lengths}, 10) == ("", "the code of 10 m is not known")


AIRFLOWS = {"port-side-exhaust": "MQM9700-NS2F", "port-side-intake": "MQM9700-NS2R"}


@pytest.mark.parametrize(
    ("body", "airflow", "code", "remark"),
    [
        ({"part_number": "MQM9700-NS2F", "airflows": AIRFLOWS}, "port-side-intake", "MQM9700-NS2R", ""),
        ({"part_number": "MQM9700-NS2F", "airflows": AIRFLOWS}, "port-side-exhaust", "MQM9700-NS2F", ""),
        (
            {"part_number": "MQM9700-NS2F", "airflows": AIRFLOWS},
            None,
            "MQM9700-NS2F",
            "this is the code for port-side-exhaust; `site.rack_rules.airflow` says which is wanted",
        ),
        (
            {"part_number": "SN5600", "airflows": {"port-side-intake": None}},
            "port-side-intake",
            "",
            "the code for port-side-intake, of SN5600 is not known",
        ),
        ({"part_number": "T4-64"}, "port-side-exhaust", "", "the code for port-side-exhaust, of T4-64 is not known"),
        ({"part_number": "T4-64"}, None, "T4-64", ""),
        ({"part_number": "SN5600", "airflows": AIRFLOWS}, None, "SN5600", ""),
        ({}, "port-side-exhaust", "", "the code for port-side-exhaust is not known"),
    ],
)
def test_a_switch_is_ordered_with_the_airflow_that_is_wanted(
    body: dict[str, object], airflow: str | None, code: str, remark: str
) -> None:
    assert order_code({"kind": "switch", **body}, None, airflow) == (code, remark)
    assert order_code({"kind": "nic", "part_number": "N1"}, None, airflow) == ("N1", "")


@pytest.mark.parametrize(
    "site", [{"floor": {"rows": 1}}, {"halls": [{"name": "a"}]}, {"halls": [], "floor": None}, None]
)
@pytest.mark.parametrize("side", ["rear", None])
def test_a_switch_sold_one_way_only_sets_the_airflow_of_floors_and_of_halls(side: str | None, site: object) -> None:
    """Without a floor that of the servers' ports, whatever switches are sold with."""
    only = {"kind": "switch", "airflows": {"port-side-intake": "S-R"}}
    parts = {"s": {"kind": "server", "ports_side": side}, "only": only}
    wanted = wanted_airflow({"server": "s", "site": site}, parts)
    on_floor = isinstance(site, dict) and any(site.values())
    assert wanted.beside == ("port-side-intake" if on_floor else "port-side-exhaust" if side else None)
    assert wanted_airflow({"server": "s", "site": site, "rules": {"airflow": False}}, parts) == (None, None)
