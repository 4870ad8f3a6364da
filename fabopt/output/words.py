"""Numbers as people read them.

Default rules that a design leaves out, in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from fabopt.rules.defaults import DEFAULT_RULES, NO_RULES
from fabopt.schema.base import NO_SINGLE_LIMIT
from fabopt.schema.design import Design, FabricDesign, LinkRow, StageDesign, Totals
from fabopt.schema.left_out import RuleLeftOut
from fabopt.schema.resilience import NO_RULE
from fabopt.units import CENTS_PER_USD, exact, plural, rounded, some, usd, whole_shares

Number = int | float
_THOUSAND = 1000
NO_CENTS_USD = 10_000
ALMOST_NOTHING = "<0.01 %"
# Kinds of parts on a bill, in its order.
KIND_NAMES = {
    "switch": "switches",
    "nic": "NICs",
    "transceiver": "transceivers",
    "cable": "cables",
    "fibre": "fibres",
    "trunk": "trunks",
    "panel": "panels",
    "server": "servers",
    "other": "charges and work",
}


def limit_name(limit: str) -> str:
    """The name of a conflict's limit, as shown."""
    return "no single limit" if limit == NO_SINGLE_LIMIT else limit


def count(number: int) -> str:
    """A number with commas: ``12,288``."""
    return f"{number:,}"


def joined(row: LinkRow) -> str:
    """The ends of the links of a row: ``server - leaf``; with the kind where there are several: ``leaf - leaf,
    global``.
    """
    near = f"{row.from_} {row.attachment}" if row.attachment else row.from_
    return f"{near} - {row.to}{f', {row.scope}' if row.scope else ''}"


def run(fabric: FabricDesign, row: LinkRow) -> str:
    """The length of the links of a row: ``7 m``; on a floor, where runs differ, ``up to 7 m``, the length on sale that
    covers them, or ``up to 5 and 7 m`` where those of a cage differ.
    """
    is_covered = bool(fabric.places.policy) and row.attachment is None
    lengths = dict.fromkeys(sorted({*(row.runs_m or ()), row.length_m}))
    return f"{'up to ' * is_covered}{listed([plain(length) for length in lengths])} m"


def money(usd: Number) -> str:
    """``$1,250``, ``-$10`` or ``$1,250.50``: cents only where there are any."""
    whole, sign = round(usd * 100) % 100 == 0, "-" if usd < 0 else ""
    return f"{sign}${abs(usd):,.0f}" if whole else f"{sign}${abs(usd):,.2f}"


def dollars(usd: Number) -> str:
    """``$2,057``, ``$950.50``: money on the first screen, without cents from $10,000 on."""
    return money(rounded(exact(usd)) if abs(usd) >= NO_CENTS_USD else usd)


def dollar_shares(amounts: Sequence[int]) -> list[str]:
    """Amounts in cents as money that adds up, as it is shown, to ``dollars`` of their sum."""
    if abs(sum(amounts)) < NO_CENTS_USD * CENTS_PER_USD:
        return [money(usd(amount)) for amount in amounts]
    return [money(whole) for whole in whole_shares(amounts, CENTS_PER_USD)]


def signed_money(usd: Number) -> str:
    """``+$1,250``, ``-$10`` or ``same``."""
    return "same" if usd == 0 else ("+" if usd > 0 else "-") + money(abs(usd))


def power(watts: Number) -> str:
    """``950 W``, ``81.6 kW``, ``1.41 MW``: three digits."""
    for unit, size in (("MW", _THOUSAND**2), ("kW", _THOUSAND)):
        if abs(watts) >= size:
            return f"{_three_digits(watts / size)} {unit}"
    return f"{_three_digits(watts)} W"


def has_three_digits(number: Number) -> bool:
    """Whether a number is exact in three digits."""
    return float(f"{number:.3g}") == number


def signed_power(watts: Number) -> str:
    """``+1.2 kW``, ``-30 W`` or ``same``."""
    return "same" if watts == 0 else ("+" if watts > 0 else "-") + power(abs(watts))


def _three_digits(value: Number) -> str:
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def plain(number: Number) -> str:
    """``400``, ``1.5``, ``66.67``: at most two decimals, none without need."""
    text = f"{number:,.2f}"
    return text.rstrip("0").rstrip(".")


def measured(number: Number, noun: str) -> str:
    """``1 rack unit``, ``2.5 hours``."""
    return f"{plain(number)} {noun if number == 1 else plural(noun)}"


def value_text(metric: str, value: int | float | str | None, to_the_watt: bool = False) -> str:
    """A figure of a design in words; ``to_the_watt``: power in full, so that points of a front are told apart."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if metric.endswith("_usd"):
        return money(value)
    if metric.endswith("_w"):
        return f"{plain(value)} W" if to_the_watt else power(value)
    return plain(value)


def percent(share: float) -> str:
    """``7.3 %`` of a share of one; ``<0.01 %`` for a share that would be rounded to 0."""
    value = share * 100
    if 0 < value < 0.01:
        return ALMOST_NOTHING
    return f"{value:.2f} %" if value < 1 else f"{value:.1f} %"


def begins_at_zero(low: float, high: float) -> bool:
    """Whether the axis of a chart begins at 0: where the least value is about half of the largest, or less."""
    return 0 <= low <= 0.55 * high


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words as a list in a sentence: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def gpus_in_servers(stage: StageDesign) -> str:
    """``1,024 GPUs in 128 servers``."""
    return f"{some(stage.gpus, 'GPU')} in {some(stage.servers, 'server')}"


def share_of_cluster(totals: Totals) -> str:
    """``7.3 % of the cluster's 1.41 MW``: the network's power; empty where that of the servers is not known."""
    if not totals.cluster_power_w:
        return ""
    return f"{percent(totals.power_w / totals.cluster_power_w)} of the cluster's {power(totals.cluster_power_w)}"


def sentence(text: str) -> str:
    """``Text that begins large and ends in a full stop.``"""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def printable(text: str) -> str:
    """Return text without control characters, which could steer a terminal."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)


# The words for rules that a file is not asked.
AN_EARLIER_FILE = "rules of defaults that are newer than the file are not asked"


def verdict_on(held: int, spared: int) -> str:
    """``all 89 checks hold``; of a file of an earlier version ``76 checks hold, 9 not asked``."""
    return f"{some(held, 'check')} hold, {spared} not asked" if spared else f"all {some(held, 'check')} hold"


def json_bytes(content: object) -> bytes:
    """JSON for people to read, too: letters that cannot be printed, or turn the direction of text, are escaped."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    if not text.replace("\n", "").isprintable():
        text = "".join(
            letter if letter == "\n" or letter.isprintable() else json.dumps(letter)[1:-1] for letter in text
        )
    return text.encode() + b"\n"


TITLE = "Default rules left out"
COLUMN = "rules left out"
# Rules switched off that are named; the rest is counted.
MOST_RULES = 6


def left_out_claim(rows: Iterable[RuleLeftOut]) -> str:
    """Count of the parts of default rules left out, as the end of a sentence; empty where there are none."""
    number = len(tuple(rows))
    return f", {some(number, 'rule')} left out" if number else ""


def left_out_lines(rows: Iterable[RuleLeftOut]) -> list[str]:
    """Each part of a rule left out, by the key that turns it off, and why."""
    return [f"{row.name}: {row.why}" for row in rows]


def left_out_cell(rows: Iterable[RuleLeftOut]) -> str:
    """Names of the rules left out, in a cell of a table."""
    return "; ".join(row.name for row in rows)


def kept_with(rule: str) -> str:
    """What would have to change so that a default rule can be kept."""
    known = DEFAULT_RULES.get(rule)
    return (known and known.kept_with) or "racks with more room"


def switched_off(design: Design) -> list[str]:
    """What a case turns off of the default rules, by the keys that do."""
    content = design.case.content
    rules = content.get("rules") or {}
    if rules == NO_RULES:
        words = ["all default rules but those of redundancy"]
    else:
        names = [name for name in DEFAULT_RULES if rules.get(name) is False]
        more = [f"{len(names) - MOST_RULES} more"] if len(names) > MOST_RULES else []
        words = [*names[:MOST_RULES], *more]
        words[:1] = [f"{'rule' if len(names) == 1 else 'rules'} {name}" for name in words[:1]]
    if content.get("resilience") == NO_RULE:
        return [*words, "redundancy"]
    bare = [str(fabric["name"]) for fabric in content.get("fabrics", ()) if fabric.get("resilience") == NO_RULE]
    return [*words, f"redundancy of {listed(bare)}"] if bare else words
