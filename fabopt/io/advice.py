"""Advice on unknown keys and refused values of a case: their likely meaning.

Unambiguous spellings are understood (``fabopt.io.spellings``); this module advises on ambiguous and misplaced ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel

from fabopt.errors import bare, did_you_mean, misspelt
from fabopt.io.schema_types import Steps, branches
from fabopt.schema.case import Case, Fabric

_SPEED: Final = "what every GPU gets is `min_gbps_per_gpu: 400`; port speeds follow from it, from `nics` and `switches`"
_SWITCHES: Final = "say for which tier, as `switches: {leaf: [nvidia-qm9700], spine: [nvidia-qm9700]}`"
_MANAGEMENT: Final = "`in-band` carries login, provisioning and the way out, `oob` the controllers of devices"
_RESILIENCE: Final = (
    "`default` keeps two of each tier above the leaves; ask for more as `{survive: 1 spine, min_gbps_per_gpu: 300}`"
)
_INFINIBAND: Final = "it is a speed of InfiniBand: `protocol: infiniband` and `min_gbps_per_gpu: {}`"
_RACKS: Final = (
    "racks follow from the servers and `site.servers_per_rack: 4`; a hall is `site.floor: {rows: 2, racks_per_row: 8}`"
)
_STAGES: Final = (
    "servers that come later are stages, in place of `servers` and `gpus`: "
    "`stages: [{name: day-1, month: 0, servers: 32}, {name: later, month: 12, servers: 128}]`"
)
# Of keys that are not where they stand: what to write instead, by the key in small letters and digits, after that of
# the mapping it is in where it means that only there.
KEYS: Final[dict[str, str]] = {
    **dict.fromkeys(("speed", "speedgbps", "gbps", "bandwidth", "linkspeed", "portspeed", "rate"), _SPEED),
    **dict.fromkeys(("leaf", "spine", "core", "switch", "leafswitch", "spineswitch"), _SWITCHES),
    **dict.fromkeys(("nodes", "nodecount", "numservers", "servercount", "hosts"), "did you mean `servers`?"),
    **dict.fromkeys(("numgpus", "gpucount", "accelerators"), "did you mean `gpus`?"),
    **dict.fromkeys(("firewall", "firewalls", "gateway", "gateways", "border", "doors"),
                    "devices beside the servers are `attachments` of a fabric"),
    **dict.fromkeys(("vendor", "maker", "manufacturer"), "did you mean `procurement.approved_vendors`?"),
    **dict.fromkeys(("redundancy", "survive", "ha"), "did you mean `resilience`?"),
    **dict.fromkeys(("racks", "numracks", "rackcount", "rows", "site.racks"), _RACKS),
    **dict.fromkeys(("growth.servers", "growth.gpus", "growth.month", "growth.months", "month", "months", "phases",
                     "expansion", "serverslater"),
                    _STAGES),
    **dict.fromkeys(("rackpowerw", "rackpower", "rackpowerkw", "kwperrack", "powerperrack"),
                    "power of a rack is one of its floor's: "
                    "`site.floor: {rows: 1, racks_per_row: 8, rack_power_w: 45 kW}`"),
    **dict.fromkeys(("oversubscription", "oversub", "ratio", "blocking"),
                    "did you mean `fabrics[0].max_oversubscription`?"),
}  # fmt: skip
# By a key, or the key of the mapping that it is in and its own: what to write instead of words that are not taken, in
# small letters and digits; "" for all.
VALUES: Final[dict[str, dict[str, str]]] = {
    "growth": {"": _STAGES},
    "fabrics": {"": "a list with a name each, as `fabrics: [{name: compute}]`"},
    "fabrics.switches": {"": _SWITCHES},
    "role": dict.fromkeys(("frontend", "management", "mgmt", "campus", "northsouth"), _MANAGEMENT),
    "protocol": {
        "hdr": _INFINIBAND.format(200), "ndr": _INFINIBAND.format(400), "xdr": _INFINIBAND.format(800),
        **dict.fromkeys(("nvlink", "ualink"), "the scale-up domain is the server's; a fabric joins servers"),
    },
    "workload": {"": "as `{profile: pretraining}` or `{model: llama3-70b}`"},
    "distances_m": {"": "as `{server-leaf: 3, leaf-spine: 30}`; those left out follow from the groups"},
    "resilience": {"": _RESILIENCE},
    "rails": {"": "rails are as many as a server has NICs: `nics_per_server: 8`"},
    "group_by": {"": "groups are of whole racks, as `{racks: 8}`, with `site.servers_per_rack`"},
    "rules": {"": "`none` turns all default rules off, `{lengths: false}` one"},
    "limits": {"": "as `{budget_usd: 2000000}`"},
    "stages": {"": "a list, as `[{name: day-1, servers: 32}, {name: year-2, month: 12, servers: 128}]`"},
    "attachments": {"": "a list, as `[{name: gateways, ports: 4, boxes: 2, buys: none}]`"},
    "floor": {"": "as `{rows: 2, racks_per_row: 8}`"},
}  # fmt: skip
_NUMBER_WORDS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "eight": 8}
_THOUSANDS = re.compile(r"\s*[0-9][0-9.]*\s*k", re.IGNORECASE)
# Shorter words are in too many keys.
_SHORTEST: Final = 4
_MOST_NAMED: Final = 3


def advice_on_key(key: str, here: Sequence[str], steps: Steps) -> str:
    """Advice on a key of a case that is not among those ``here``, at ``steps``.

    What is known to be meant, a key of this place with more words, one of another place of this name, a misspelt one of
    this place, one of another place with more words; empty where none is clear.
    """
    place = next((step for step in reversed(steps) if isinstance(step, str)), "")
    known = KEYS.get(f"{place}.{bare(key)}") or KEYS.get(bare(key), "")
    longer = _with(key, {name: name for name in here})
    if len(longer) == 1 and not known:
        return f"did you mean `{longer[0]}`?"
    paths = {".".join((*at, name)): name for at, name in _places() if at != steps}
    same = [path for path, name in paths.items() if bare(name) == bare(key)]
    here_or_there = [did_you_mean(key, here), _of_places(same)]
    # at the top people write what has a section of its own
    first, second = here_or_there if steps else reversed(here_or_there)
    like = misspelt(key, paths.values())
    there = _with(key, paths) or [path for path, name in paths.items() if name in like]
    return known or first or second or _of_places(there)


def _of_places(paths: Sequence[str]) -> str:
    """A hint with those of the keys that are the least deep, if they are few; those of a fabric first."""
    nearest = [path for path in paths if path.count(".") == min(other.count(".") for other in paths)]
    nearest.sort(key=lambda path: not path.startswith("fabrics"))
    if not 0 < len(nearest) <= _MOST_NAMED:
        return ""
    named = [f"`{path}`" if "." in path else f"`{path}` at the top of the case" for path in nearest]
    return f"did you mean {' or '.join(named)}?"


def _with(key: str, names: dict[str, str]) -> list[str]:
    """Names that begin or end with the words of a key."""
    part = bare(key)
    if len(part) < _SHORTEST:
        return []
    return [path for path, name in names.items() if bare(name).startswith(part) or bare(name).endswith(part)]


@cache
def _places() -> tuple[tuple[tuple[str, ...], str], ...]:
    """Every key of a case with the keys that lead to it."""
    return tuple(_keys(Case, ()))


def _keys(model: type[BaseModel], place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in ("carries", "plan", "stages"):
            continue
        yield place, key
        for inner in _models(field.annotation):
            step = f"{key}[0]" if inner is Fabric else key
            yield from _keys(inner, (*place, step))


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    for branch in branches(kind):
        if isinstance(branch, type) and issubclass(branch, BaseModel):
            yield branch
        elif get_origin(branch) is tuple:
            yield from _models(get_args(branch)[0])


def advice_on_value(value: object, steps: Steps, takes_text: bool, takes_number: bool) -> str:
    """Advice on a value that a key does not take."""
    keys = [step for step in steps if isinstance(step, str)]
    words = VALUES.get(".".join(keys[-2:])) or VALUES.get("".join(keys[-1:]), {})
    if isinstance(value, str) and bare(value) in words:
        return words[bare(value)]
    if "" in words:
        return words[""]
    if takes_text and isinstance(value, list) and len(value) == 1:
        return f"write it without brackets, as {value[0]}"
    if takes_number and isinstance(value, str):
        return _number(value)
    if takes_number and isinstance(value, float) and value.is_integer():
        return f"write it without a point, as {value:.0f}"
    return ""


def _number(text: str) -> str:
    if text.lower() in _NUMBER_WORDS:
        return f"write {_NUMBER_WORDS[text.lower()]}"
    return "write all digits, as 1024: 1k may be 1000 or 1024" if _THOUSANDS.fullmatch(text) else ""
