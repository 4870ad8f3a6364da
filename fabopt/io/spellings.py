"""Plain spellings at the door: ``RoCE``, ``400G``, ``$2M``, ``20 kW``, ``DGX H200``, each turned into the schema's own.

The schema stays the one truth: what it takes is never touched, and what has more than one meaning is left to it to
refuse. Which products and vendors are meant is looked up in the catalog, by ``fabopt.io.recognition``; here their names
only become words that can be ids. The table of all spellings is in docs/cases.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from fabopt.io.faults import key_path
from fabopt.io.quantities import MeasuredText, quantity_under
from fabopt.io.schema_types import Steps, branches, inside
from fabopt.schema.base import ID_PATTERN
from fabopt.schema.server import Role

# By key: other words of the field for its own. Each in small letters, without spaces and hyphens.
PROTOCOLS = {
    **dict.fromkeys(("roce", "rocev2", "eth", "ethernet(roce)", "ethernet(rocev2)"), "ethernet"),
    "ib": "infiniband",
}
PRODUCT_KINDS = {"optic": "transceiver", "optics": "transceiver", "transceivers": "transceiver", "nics": "nic",
                 "switches": "switch", "cables": "cable", "fibres": "fibre", "fiber": "fibre", "fibers": "fibre",
                 "servers": "server"}  # fmt: skip
OTHER_WORDS: dict[str, dict[str, str]] = {
    "protocol": PROTOCOLS,
    "role": {"outofband": "oob", "backend": "compute", "eastwest": "compute"},
    "topologies": {
        "dragonflyplus": "dragonfly+",
        **dict.fromkeys(("fattree", "leafspine", "spineleaf", "foldedclos", "railoptimized"), "clos"),
    },
    "kind": {
        **dict.fromkeys(("firewall", "gateway", "router", "campus"), "endpoint"),
        **dict.fromkeys(("ufm", "subnetmanager", "opensm"), "management"),
    },
    "rules": {"off": "none"},
    "airflow": {"p2c": "port-side-exhaust", "c2p": "port-side-intake"},
    "objective": {
        "capex": "capex_usd",
        "tco": "tco_usd",
        "power": "power_w",
        "cost": "capex_usd",
        "cheapest": "capex_usd",
        "price": "capex_usd",
    },
    "price_decline": PRODUCT_KINDS,
    "spares": PRODUCT_KINDS,
    "max_part_numbers": PRODUCT_KINDS,
}
RACKS = re.compile(r"\s*([0-9]{1,4})\s*racks?\s*", re.IGNORECASE)
_NO_ID = re.compile(r"[^a-z0-9.+_-]+")
VENDORS = ("approved_vendors", "forbidden_vendors")
# Lists of words, of which a single one may be written without brackets.
LISTS = ("topologies", "catalog", "prices")
IDS = ("server", "nics", "approved_parts", "forbidden_parts")


@dataclass
class Spelled:
    """Respelled words. ``notes``: on each; ``written``: products' names, by the id made of each."""

    notes: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)

    def take(self, path: str, written: str, meant: str) -> None:
        """Note that a word was taken for another one, where more than capitals and hyphens differ."""
        if loose(written) != loose(meant):
            self.notes.append(f"{path}: `{written}` is taken as {meant}")


def loose(text: str) -> str:
    """A word in small letters without spaces and hyphens, equal for two spellings of it."""
    return re.sub(r"[\s_-]+", "", text.lower())


def understood(model: type[BaseModel], content: object, spelled: Spelled) -> Any:
    """Content in the schema's own spelling, where unambiguous."""
    try:
        return _Reader(spelled).value([model], content, (), None)
    except RecursionError:
        return content


# -- along the schema -------------------------------------------------------------------------------------------------


@dataclass
class _Reader:
    """Walks content along the types that may stand at each place."""

    spelled: Spelled

    def value(self, kinds: list[Any], value: object, steps: Steps, quantity: MeasuredText | None) -> object:
        if isinstance(value, str):
            return self.text(kinds, value, steps, quantity)
        if isinstance(value, list):
            inner = [below for kind in kinds for below in inside(kind, 0)]
            return [self.value(inner, entry, (*steps, index), quantity) for index, entry in enumerate(value)]
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            return value
        content = {
            key: self.value(_below(kinds, key), entry, (*steps, key), quantity_under(key) or quantity)
            for key, entry in zip(self.keys(kinds, value, steps), value.values(), strict=True)
        }
        return self.fabric(content, steps) if steps[:-1] == ("fabrics",) else content

    def fabric(self, content: dict[str, Any], steps: Steps) -> dict[str, Any]:
        """A fabric that has no role and is named for one, with that role."""
        role = None if "role" in content else self.word(list(get_args(Role)), str(content.get("name")), "role")
        if role in (None, "compute"):
            return content
        self.spelled.notes.append(f"{key_path(steps)}.role: `{role}`, as the fabric is named `{content['name']}`")
        return {**content, "role": role}

    def keys(self, kinds: list[Any], content: dict[str, Any], steps: Steps) -> list[str]:
        """Keys as the schema has them, where these are words of a list and none is there twice."""
        words = [word for kind in kinds for branch in branches(kind) for word in _words_of_keys(branch)]
        meant = [self.word(words, key, _last_key(steps)) or key for key in content]
        return [word if meant.count(word) == 1 else key for word, key in zip(meant, content, strict=True)]

    def text(self, kinds: list[Any], text: str, steps: Steps, quantity: MeasuredText | None) -> object:
        alternatives = [branch for kind in kinds for branch in branches(kind)]
        words = [word for branch in alternatives for word in _words(branch)]
        if text in words:
            return text
        word = self.word(words, text, _last_key(steps))
        if word is not None:
            self.spelled.take(key_path(steps), text, word)
            return word
        lists = [branch for branch in alternatives if get_origin(branch) is tuple]
        if lists and str not in alternatives and (_names_things(steps) or _last_key(steps) in LISTS):
            return [self.text([inside(lists[0], 0)[0]], text, (*steps, 0), quantity)]
        if quantity is not None and float in alternatives:
            number = quantity.number(text)
            return text if number is None else number
        racks = RACKS.fullmatch(text)
        if steps[-1:] == ("group_by",) and racks is not None:
            self.spelled.notes.append(f"{key_path(steps)}: `{text}` is taken as {{racks: {int(racks[1])}}}")
            return {"racks": int(racks[1])}
        if steps[-1:] == ("survive",):
            return " ".join(text.lower().split())
        return self.product(text) if _names_things(steps) and _last_key(steps) not in VENDORS else text

    def word(self, words: list[str], text: str, key: str) -> str | None:
        """The one word of a list that is meant; None where none or several could be."""
        if text in words or not words:
            return text if text in words else None
        alike = [word for word in words if loose(word) == loose(text)]
        other = OTHER_WORDS.get(key, {}).get(loose(text))
        meant = alike or [word for word in words if word == other]
        return meant[0] if len(meant) == 1 else None

    def product(self, text: str) -> str:
        """A product's name as a word that can be an id, for the catalog to say which product it is."""
        if re.fullmatch(ID_PATTERN, text):
            return text
        id_ = _NO_ID.sub("-", text.lower()).strip("-._+")
        if not re.fullmatch(ID_PATTERN, id_):
            return text
        self.spelled.written[id_] = text
        return id_


def _below(kinds: list[Any], key: str) -> list[Any]:
    return [below for kind in kinds for below in inside(kind, key)]


def _words(branch: Any) -> list[str]:
    return [word for word in get_args(branch) if isinstance(word, str)] if get_origin(branch) is Literal else []


def _words_of_keys(branch: Any) -> list[str]:
    return _words(branches(get_args(branch)[0])[0]) if get_origin(branch) is dict else []


def _last_key(steps: Steps) -> str:
    return next((step for step in reversed(steps) if isinstance(step, str)), "")


def _names_things(steps: Steps) -> bool:
    """Whether products or vendors stand at a place of a case; ``operate`` has templates of names under such keys."""
    keys = [step for step in steps if isinstance(step, str)]
    return bool(keys) and keys[0] != "operate" and (keys[-1] in (*IDS, *VENDORS) or keys[-2:-1] == ["switches"])
