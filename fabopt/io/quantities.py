"""Numbers with units as people write them: ``400G``, ``$2,000,000``, ``20 kW``, ``3 m``, ``2:1``, ``20 %``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from fabopt.units import exact

_NUMBER = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,9})?")
_PLAIN_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_RATIO = re.compile(rf"({_NUMBER.pattern})\s*:\s*1")
_NON_BLOCKING = re.compile(r"non[\s-]?blocking", re.IGNORECASE)
_UNIT = re.compile(rf"({_NUMBER.pattern})\s*([^0-9\s].*)?")
_DOLLARS = re.compile(r"(?:US)?\$\s*|USD\s+")
_DOLLARS_AFTER = re.compile(r"\s*(?:\$|USD)")
SHARES = (
    "reserve_ports",
    "other_jobs",
    "weight",
    "spare_fraction",
    "tray_fill",
    "manager_fill",
    "spare_legs",
    "fraction",
    "discount_rate",
    "price_decline",
    "gpu_utilization",
    "max_exposed_communication",
    "probability",
    "on_order",
    "on_delivery",
    "on_acceptance",
    "residual",
    "price_change",
    "energy_change",
    "utilization_change",
)


class MeasuredText(NamedTuple):
    """How text is read as a number in the unit of its key (None: it is no such quantity), and how it may be written."""

    read: Callable[[str], Fraction | None]
    form: str

    def number(self, text: str) -> int | float | None:
        """The number that text with a unit or with separators stands for; None: it is bare, or no number."""
        number = None if _PLAIN_NUMBER.fullmatch(text.strip()) else self.read(text)
        if number is None:
            return None
        return int(number) if number.denominator == 1 else float(number)


def _measured(text: str, units: Mapping[str, Fraction]) -> Fraction | None:
    match = _UNIT.fullmatch(text.strip())
    if match is None:
        return None
    factor = units.get((match.group(2) or "").strip())
    return None if factor is None else exact(match.group(1).replace(",", "")) * factor


def _units(*names: tuple[str, Fraction]) -> dict[str, Fraction]:
    """Factors by unit; a number with separators of thousands needs none."""
    return {"": Fraction(1)} | {unit: factor for units, factor in names for unit in units.split(", ")}


# A capital B is a byte, and no speed of a port is given in bytes.
_SPEEDS = _units(
    ("G, g, Gb/s, gb/s, Gbps, gbps, Gbit/s, gbit/s, Gb, GbE, GE", Fraction(1)),
    ("T, Tb/s, Tbps, Tbit/s, Tb", Fraction(1000)),
    ("M, Mb/s, Mbps, Mbit/s, Mb", Fraction(1, 1000)),
)
_MONEY = _units(
    ("k, K, thousand", Fraction(1000)),
    ("m, M, million", Fraction(10**6)),
    ("B, bn, billion", Fraction(10**9)),
)
# A small m before W is a thousandth, and nobody means that.
_POWERS = _units(("W, w, watt, watts", Fraction(1)), ("kW, KW, kw", Fraction(1000)), ("MW", Fraction(10**6)))
_LENGTHS = _units(
    ("m, metre, metres, meter, meters", Fraction(1)),
    ("cm", Fraction(1, 100)),
    ("mm", Fraction(1, 1000)),
    ("km", Fraction(1000)),
)
_TIMES = _units(
    ("s, sec, second, seconds", Fraction(1)),
    ("m, min, minute, minutes", Fraction(60)),
    ("h, hour, hours", Fraction(3600)),
)
_SHARES = {"%": Fraction(1, 100), "percent": Fraction(1, 100)}


def speed_gbps(text: str) -> Fraction | None:
    """``400G``, ``400 Gb/s``, ``400Gbps``, ``1.6T`` in Gb/s; None: not a speed, as ``400 GB/s``."""
    return _measured(text, _SPEEDS)


def money_usd(text: str) -> Fraction | None:
    """``2M``, ``$2,000,000``, ``500k``, ``1.5 million USD`` in dollars; None: not money, or another currency's."""
    text = text.strip()
    before = _DOLLARS.match(text)
    text = text[before.end() :] if before else _DOLLARS_AFTER.sub("", text, count=1)
    return _measured(text, _MONEY)


def power_w(text: str) -> Fraction | None:
    """``20 kW`` in watts."""
    return _measured(text, _POWERS)


def length_m(text: str) -> Fraction | None:
    """``3 m``, ``50 cm`` in metres."""
    return _measured(text, _LENGTHS)


def length_mm(text: str) -> Fraction | None:
    """``300 mm``, ``30 cm`` in millimetres; a number without a unit is no such text."""
    metres = _measured(text, {unit: factor for unit, factor in _LENGTHS.items() if unit})
    return None if metres is None else metres * 1000


def time_s(text: str) -> Fraction | None:
    """``90s``, ``2m``, ``1 h`` in seconds."""
    return _measured(text, _TIMES)


def ratio(text: str) -> Fraction | None:
    """The value of a written ratio, ``2:1`` as 2, ``non-blocking`` as 1; None for other text."""
    if _NON_BLOCKING.fullmatch(text.strip()):
        return Fraction(1)
    match = _RATIO.fullmatch(text.strip())
    return None if match is None else exact(match.group(1).replace(",", ""))


def share(text: str) -> Fraction | None:
    """``20 %`` as 0.2; a number without the sign is not read as percent."""
    return _measured(text, _SHARES)


SPEED = MeasuredText(speed_gbps, "in Gb/s (bits), as 400, 400G or 400 Gb/s")
MONEY = MeasuredText(money_usd, "in US dollars, as 2000000, 2M or $2,000,000")
POWER = MeasuredText(power_w, "in watts, as 20000 or 20 kW")
LENGTH = MeasuredText(length_m, "in metres, as 3 or 3 m")
MILLIMETRES = MeasuredText(length_mm, "in millimetres, as 300 or 30 cm")
RATIO = MeasuredText(ratio, "as 2 or 2:1")
SHARE = MeasuredText(share, "as 0.2 or 20%")


def quantity_under(key: str) -> MeasuredText | None:
    """How a number below a key is measured, by the key's name; None: it is a plain number."""
    if "gbps" in key:
        return SPEED
    if "usd" in key:
        return MONEY
    if key.endswith("_w"):
        return POWER
    if key == "m" or key.endswith("_m"):
        return LENGTH
    if key.endswith("_mm"):
        return MILLIMETRES
    if key == "max_oversubscription":
        return RATIO
    return SHARE if key in SHARES else None
