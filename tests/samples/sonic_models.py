"""Faults of a ``config_db`` by what SONiC's models demand of it, as ``tests/operate/sonic_models.yaml`` has it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from ipaddress import ip_address, ip_interface
from typing import Any

import yaml

from tests.paths import ROOT

Config = Mapping[str, Mapping[str, Mapping[str, Any]]]


@cache
def models() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "tests" / "operate" / "sonic_models.yaml").read_text())
    return content


def fits(value: str, kinds: str, config: Config) -> bool:
    """Whether a value is of one of some types."""
    return any(_fits(value, *kind.partition(" ")[::2], config) for kind in kinds.split(" or "))


def _fits(value: str, kind: str, about: str, config: Config) -> bool:
    if kind in ("int", "text"):
        low, high = map(int, about.split(".."))
        number = len(value) if kind == "text" else int(value) if re.fullmatch(r"-?\d+", value) else low - 1
        return low <= number <= high
    if kind == "word":
        return value in about.split("|")
    if kind == "match":
        return re.fullmatch(about.strip('"'), value) is not None
    if kind == "row":
        return value in config.get(about, {})
    try:
        (ip_address if kind == "address" else ip_interface)(value)
    except ValueError:
        return False
    return kind == "address" or "/" in value


def refused(config: Config) -> Iterator[str]:
    """Yield what SONiC's models refuse, with its place."""
    for table, rows in config.items():
        if table not in models():
            yield f"{table}: no such table"
            continue
        for key, row in rows.items():
            yield from (f"{table}|{key}: {problem}" for problem in _row(table, key, row, config))
    yield from _conditions(config)


def _row(table: str, key: str, row: Mapping[str, Any], config: Config) -> Iterator[str]:
    model, parts = models()[table], key.split("|")
    forms = [form for form in model["keys"] if len(form) == len(parts)]
    if not any(all(fits(part, kind, config) for part, kind in zip(parts, form, strict=True)) for form in forms):
        yield "no key"
    if "map" in model:
        of_key, of_value = model["map"]
        wrong = [(name, value) for name, value in row.items()
                 if not (fits(name, of_key, config) and fits(str(value), of_value, config))]  # fmt: skip
        yield from (f"{name} {value}" for name, value in wrong)
        return
    yield from (f"no {field}" for field in model.get("must", ()) if field not in row)
    for field, value in row.items():
        values = value if isinstance(value, list) else [value]
        if field not in model["fields"]:
            yield f"no field {field}"
        elif not all(fits(str(item), model["fields"][field], config) for item in values):
            yield f"{field} {value}"


def _conditions(config: Config) -> Iterator[str]:
    """What models demand of several values at once."""
    for name, row in config.get("VLAN", {}).items():
        if name != f"Vlan{row['vlanid']}":
            yield f"VLAN|{name}: its number is {row['vlanid']}"
    untagged = [key.partition("|")[2] for key, row in config.get("VLAN_MEMBER", {}).items()
                if row["tagging_mode"] == "untagged"]  # fmt: skip
    for port in untagged:
        if port in config.get("INTERFACE", {}) or untagged.count(port) > 1:
            yield f"VLAN_MEMBER: {port} is an interface of its own, or untagged in two VLANs"
    poll = int(config.get("PFC_WD", {}).get("GLOBAL", {}).get("POLL_INTERVAL", 0))
    for name, row in config.get("PFC_WD", {}).items():
        own = {"POLL_INTERVAL"} if name == "GLOBAL" else {"action", "detection_time", "restoration_time"}
        if not row.keys() <= own or any(
            int(row.get(f"{key}_time", poll)) < poll for key in ("detection", "restoration")
        ):
            yield f"PFC_WD|{name}: a time below the interval of polls, or a field of the other kind"
    for name, row in config.get("WRED_PROFILE", {}).items():
        for colour in ("green", "yellow", "red"):
            if int(row[f"{colour}_max_threshold"]) < int(row[f"{colour}_min_threshold"]):
                yield f"WRED_PROFILE|{name}: {colour} ends before it begins"
    for key in config.get("BGP_NEIGHBOR_AF", {}):
        if key.rpartition("|")[0] not in config.get("BGP_NEIGHBOR", {}):
            yield f"BGP_NEIGHBOR_AF|{key}: no such neighbour"
