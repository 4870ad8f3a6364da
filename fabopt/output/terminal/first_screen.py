"""The first screen of a design: what it is, what it costs, what it survives and why nothing is cheaper.

``first_rows`` are known as soon as the answer is; ``compared_rows`` need the look at what else there is. All else about
a design is in ``summary``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from fabopt.output.bought import beside, bought_words, usd_per_gpu
from fabopt.output.slots import slot_limit
from fabopt.output.space import space_line
from fabopt.output.terminal.answer import chosen_words, gap_share, metric_name, metric_value
from fabopt.output.terminal.comparison import flip_line, named, price_of_rules, worth_a_look
from fabopt.output.terminal.families import made_of, switch_noun
from fabopt.output.terminal.serving import served_words
from fabopt.output.terminal.workload import steps_words
from fabopt.output.terminal.worst_loss import COMPUTE, loss_lines
from fabopt.output.words import (
    KIND_NAMES,
    dollar_shares,
    dollars,
    gpus_in_servers,
    kept_with,
    listed,
    money,
    plain,
    power,
    printable,
    share_of_cluster,
    switched_off,
)
from fabopt.parts.names import name_in
from fabopt.parts.price_basis import IN_DOUBT, PRICES, RESTS_ON
from fabopt.rules.defaults import DEFAULT_RULES, WHOLE_SERVERS
from fabopt.schema.design import Design, FabricDesign, StageDesign
from fabopt.schema.left_out import NO_DESIGN, NOT_OF_THE_CASE
from fabopt.schema.resilience import CABLES_OF_PEER_LINK
from fabopt.schema.roles import COULD_GIVE, SHARED_PORTS
from fabopt.schema.subnet_manager import HOSTS
from fabopt.schema.topologies import EQUAL_PLANES, FINER, SAVED_TIER
from fabopt.units import cents, grouped, some, summed
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.migration import MIGRATION

LEFT_OUT, LOST, OFF = "yellow", "red", "bright_black"
# Rows of a kind that are shown; the rest is counted.
MOST_STAGES = 6
MOST_LEFT_OUT = 3
MOST_NOTES = 2
MOST_LIMITS = 4
# Fabrics with the names of their products; of more than these each has one line.
MOST_NAMED = 4
LABEL_WIDTH = len("Worst loss")
# Letters of a line of words at 100 columns, and of one of several, which end between words.
LINE = 100 - LABEL_WIDTH - 2
LETTERS = LINE - 6
_LIMITS = (
    ("budget_usd", "budget", "capex_usd", dollars, dollars),
    ("power_w", "power", "power_w", power, power),
    ("rack_units", "rack units", "rack_units", plain, plain),
)


class ScreenRow(NamedTuple):
    """A line of the screen: its label, empty where it goes on with the one above, its words, and their colour."""

    label: str
    words: str
    style: str = ""


def labelled(label: str, lines: Iterable[str], style: str = "") -> Iterator[ScreenRow]:
    """Lines of one subject, the first of which has the label."""
    for line in lines:
        yield ScreenRow(label, line, style)
        label = ""


def first_rows(design: Design) -> list[ScreenRow]:
    """All that is known with the answer."""
    return [*_network(design), *_left_out(design), *_money(design), *_survived(design), *_proof(design)]


def compared_rows(design: Design) -> list[ScreenRow]:
    """One or two alternatives with what each loses, what would flip the choice, and the price of rules turned off."""
    looks = list(worth_a_look(design))
    return [
        *labelled("Instead", (look.words for look in looks if not look.asks_less)),
        *labelled("Ask less", (look.words for look in looks if look.asks_less)),
        *labelled("Flips", flip_line(design)),
        *labelled("If kept", price_of_rules(design), OFF),
    ]


def short(text: str, most: int = 3 * LETTERS) -> str:
    """Text without its last parts, where it is longer than ``most`` letters."""
    while len(text) > most and "; " in text:
        text = text.rpartition("; ")[0]
    return text


def grid(rows: Iterable[ScreenRow]) -> Table:
    """Rows as two columns: labels, and words that are wrapped between words alone."""
    result = Table.grid(padding=(0, 2, 0, 0))
    result.add_column(no_wrap=True, min_width=LABEL_WIDTH)
    result.add_column(overflow="fold")
    for row in rows:
        result.add_row(Text(row.label, style="bold"), Text(printable(row.words), style=row.style))
    return result


# -- what it is -----------------------------------------------------------------------------------------------------


def _network(design: Design) -> Iterator[ScreenRow]:
    """The servers, and a row for each fabric."""
    stage, id_ = design.stages[-1], str(design.case.content.get("server"))
    joined = f"{gpus_in_servers(stage)} ({name_in(design.parts, id_)})"
    if design.workload is not None and design.workload.gpus < stage.gpus:
        joined += f", {some(design.workload.gpus, 'GPU')} at work"
    yield ScreenRow("Cluster", f"{design.case.name}: {joined}")
    if NOT_OF_THE_CASE in design.notes:
        yield ScreenRow("", NOT_OF_THE_CASE, LEFT_OUT)
    yield from labelled("Network", network_words(design))
    if design.workload is not None:
        yield ScreenRow("Model", steps_words(design.workload))
    if design.serving is not None:
        yield ScreenRow("Model", served_words(design.serving))


def network_words(design: Design, most_named: int = MOST_NAMED) -> Iterator[str]:
    """Each fabric in one sentence, by its name where there are several; products are named of so many at most."""
    for fabric in design.fabrics:
        words = fabric_words(design, fabric, len(design.fabrics) <= most_named)
        yield f"{fabric.name}: " * (len(design.fabrics) > 1) + words


def fabric_words(design: Design, fabric: FabricDesign, is_named: bool) -> str:
    """A fabric in one sentence: its family, switches, speed of servers and oversubscription."""
    nic, metrics = fabric.nic, fabric.metrics
    card = f" {name_in(design.parts, nic.id)}" if is_named and not nic.built_in else ""
    limit = slot_limit(design, nic, metrics.injection_gbps_per_gpu) if is_named else None
    speed = f"{nic.per_server * nic.ports_per_nic} x {plain(nic.gbps)}G{card} a server"
    if limit is not None:
        cards = f"{some(nic.per_server, 'NIC')} of {nic.ports_per_nic} x {plain(nic.gbps)}G{card} a server"
        speed = f"{cards}, each held to {plain(float(limit.passed))}G by its PCIe {limit.run} slot"
    if fabric.role == COMPUTE:
        speed = f"{plain(metrics.injection_gbps_per_gpu)}G to every GPU{f' ({speed})' if is_named else ''}"
        could = f"{fabric.name}: {nic.id}, {COULD_GIVE} "
        for note in design.notes:
            if note.startswith(could):
                able = note.removeprefix(could).partition(" ")[0]
                speed += f", of {able}G that its NICs could give (`min_gbps_per_gpu`)"
    protocol = {"infiniband": "InfiniBand", "ethernet": "Ethernet"}.get(fabric.protocol, fabric.protocol)
    parts = [f"{protocol} {made_of(design, fabric, is_named)}", speed, *_ratios(fabric)]
    if fabric.homing == "pair" and is_named:
        peers = fabric.peer_links
        joined = "" if peers is None else f" joined by {CABLES_OF_PEER_LINK} x {plain(peers.gbps)}G"
        parts.append(f"servers on pairs of leaves{joined}")
    parts += [f"carries {other.name} too" for other in fabric.logical]
    return ", ".join(parts)


def _ratios(fabric: FabricDesign) -> Iterator[str]:
    """The oversubscription, once where it is the same everywhere; of networks that are no Clos the bisection."""
    if fabric.structure.is_direct:
        yield f"bisection {plain(fabric.metrics.bisection_gbps_per_gpu)}G a GPU"
        return
    ratios = {role: f"{plain(ratio)}:1" for role, ratio in fabric.oversubscription.items()}
    if len(set(ratios.values())) == 1:
        yield next(iter(ratios.values()))
    elif ratios:
        yield listed([f"{ratio} at the {'leaves' if role == 'leaf' else f'{role}s'}" for role, ratio in ratios.items()])


# -- rules ----------------------------------------------------------------------------------------------------------


def _left_out(design: Design) -> Iterator[ScreenRow]:
    """Default rules that no design keeps, in amber; those that the case turns off, in grey."""
    rows = design.rules_left_out
    whys = (row.why.removesuffix(f"; {NO_DESIGN}") for row in rows)
    lines = [f"{row.name}: {why}; to keep it: {kept_with(row.rule)}" for row, why in zip(rows, whys, strict=True)]
    rest = [f"and {listed([row.name for row in rows[MOST_LEFT_OUT:]])}"] if len(rows) > MOST_LEFT_OUT else []
    yield from labelled("Left out", (named(design, line) for line in [*lines[:MOST_LEFT_OUT], *rest]), LEFT_OUT)
    off = switched_off(design)
    if off:
        yield ScreenRow("Off", f"switched off by the case: {listed(off)}", OFF)


# -- money, power, space and limits ---------------------------------------------------------------------------------


def _money(design: Design) -> Iterator[ScreenRow]:
    """Cost in all, by fabric or kind and by stage; power; space; and what limits leave."""
    totals = design.sums
    yield ScreenRow("Parts", bought_words(design))
    yield ScreenRow("Cost", "; ".join(_cost(design)))
    yield from _stages(design)
    stated = beside(design)
    yield from labelled("In service", map(str, stated.said if stated is not None else ()))
    watts = ", ".join(filter(None, (power(totals.power_w), share_of_cluster(totals))))
    racks = f"; {some(totals.racks, 'rack')} in use with the servers" if totals.racks is not None else ""
    yield ScreenRow("Power", f"{watts}{racks}")
    yield from _limits(design)


def _stages(design: Design) -> Iterator[ScreenRow]:
    """Money, servers and switches that each stage adds, where there are several; they add up to the whole. And the
    rates at which prices fall, which make later stages cheaper.
    """
    stages, before, words = design.stages, None, list[str]()
    for stage in stages[:MOST_STAGES]:
        servers = some(stage.servers, "server")
        if before is not None:
            servers = f"{stage.servers - before.servers:,} more, {stage.servers:,} in all"
        words.append(f"{stage.name} (month {stage.month}: {servers}{_installed(design, stage, before)})")
        before = stage
    amounts = [cents(stage.capex_usd) for stage in stages]
    if len(stages) > MOST_STAGES:
        words.append(some(len(stages) - MOST_STAGES, "later stage"))
        amounts[MOST_STAGES:] = [sum(amounts[MOST_STAGES:])]
    if len(stages) > 1:
        told = (f"{what} {amount}" for what, amount in zip(words, dollar_shares(amounts), strict=True))
        yield ScreenRow("By stage", "; ".join(told))
        falls = (design.case.content.get("finance") or {}).get("price_decline") or {}
        by_rate = grouped((float(rate), KIND_NAMES.get(kind, kind)) for kind, rate in falls.items())
        rates = [f"{plain(100 * rate)} % a year ({listed(kinds)})" for rate, kinds in by_rate.items() if rate]
        if rates:
            yield ScreenRow("", f"the case assumes that prices fall by {listed(rates)}")


def _installed(design: Design, stage: StageDesign, before: StageDesign | None) -> str:
    """The switches that a stage adds: by tier of a fabric alone, else of all together."""
    added = Counter[str]()
    for fabric in design.fabrics:
        earlier = before.fabrics.get(fabric.name, {}) if before is not None else {}
        for role, number in stage.fabrics.get(fabric.name, {}).items():
            noun = switch_noun(fabric, role) if len(design.fabrics) == 1 else "switch"
            added[noun] += number - earlier.get(role, 0)
    told = [some(number, noun) for noun, number in added.items() if number > 0]
    return f"; {' + '.join(told)}" if told else ""


def _limits(design: Design) -> Iterator[ScreenRow]:
    """What limits leave, red where one is exceeded."""
    left = list(_limits_left(design))
    if left:
        more = f"; {some(len(left) - MOST_LIMITS, 'more limit')} kept" if len(left) > MOST_LIMITS else ""
        said = "; ".join(text for text, _ in left[:MOST_LIMITS])
        yield ScreenRow("Limits", said + more, LOST if any(is_over for _, is_over in left) else "")


def _cost(design: Design) -> Iterator[str]:
    totals = design.sums
    per_gpu = usd_per_gpu(design)
    gpus = f", {money(round(per_gpu[0]))} a {per_gpu[1]}" if per_gpu is not None else ""
    yield f"{dollars(totals.capex_usd)}{gpus}"
    shares = cost_shares(design)
    if len(shares) > 1:
        yield ", ".join(map(" ".join, zip(shares, dollar_shares(list(shares.values())), strict=True)))
    yearly = sum(row.yearly_usd or 0 for row in design.bom)
    if yearly:
        yield f"charges of {dollars(yearly)} a year"
    metric, value = design.objective.metric, design.objective.value
    if metric not in ("capex_usd", "power_w") and value is not None:
        yield f"{metric_name(metric)} {dollars(value)}"


def cost_shares(design: Design) -> dict[str, int]:
    """Cents of each fabric where there are several; else of switches, NICs, and cables with their optics."""
    kinds = {"switch": "switches", "nic": "NICs", "transceiver": "optics and cables", "cable": "optics and cables",
             "fibre": "optics and cables", "trunk": "optics and cables", "panel": "optics and cables",
             "server": "servers"}  # fmt: skip
    several = len(design.fabrics) > 1
    shares = summed(
        (row.fabric if several and row.fabric else kinds.get(row.kind, "charges and work"), cents(row.total_usd))
        for row in design.bom
    )
    return {name: amount for name, amount in shares.items() if amount}


def _limits_left(design: Design) -> Iterator[tuple[str, bool]]:
    """Each limit of the case and its stages, with what is left of it, and whether it is exceeded."""
    totals = design.totals
    places: list[tuple[str, dict[str, float | None], object]] = [("", design.case.content.get("limits") or {}, totals)]
    limits_of = {row["name"]: row.get("limits") or {} for row in design.case.content.get("stages") or ()}
    places += [(f"{stage.name} ", limits_of.get(stage.name, {}), stage) for stage in design.stages]
    for where, limits, spent in places:
        for key, name, field, shown, left in _LIMITS:
            most, used = limits.get(key), getattr(spent, field)
            if most is not None and field == "power_w" and design.case.content.get("include_servers"):
                used += _servers_w(design, spent)
            if most is None or used is None:
                continue
            rest = round(most - used, 2)
            unit = f"{shown(most)} {name}" if key == "rack_units" else f"{name} {shown(most)}"
            yield f"{where}{unit}: {left(abs(rest))} {'left' if rest >= 0 else 'over'}", rest < 0


def _servers_w(design: Design, installed: object) -> float:
    """Power of the servers of a stage, or of all, in watts, which a limit covers where servers count."""
    stage = installed if isinstance(installed, StageDesign) else design.stages[-1]
    server = Embedded(design).server
    return server.sold_for(stage.servers) * (server.power_w or 0)


# -- failures -------------------------------------------------------------------------------------------------------


def _survived(design: Design) -> Iterator[ScreenRow]:
    """The worst failures, the worst first, red where servers or attachments are cut off."""
    label = "Worst loss"
    for line in loss_lines(design, MOST_NAMED):
        yield ScreenRow(label, line.words, LOST if line.cuts_off else "")
        label = ""


# -- prices and proof -----------------------------------------------------------------------------------------------


def _proof(design: Design) -> Iterator[ScreenRow]:
    """Sources of prices, what a reader must know, and what is proven."""
    for note in design.notes:
        if note.startswith(PRICES):
            shares = note.removeprefix(f"{PRICES} the bill is ").partition(";")[0]
            yield ScreenRow("Prices", shares.replace("derived prices", "derived from like parts"))
        if note.startswith(RESTS_ON):
            yield ScreenRow("", named(design, note.partition(";")[0]))
    doubts = (named(design, note.removeprefix(IN_DOUBT)) for note in design.notes if note.startswith(IN_DOUBT))
    firsts = (short(doubt, LINE) for doubt in doubts)
    lines = (first if len(first) <= LINE else first.partition(" (")[0] for first in firsts)
    yield from labelled("In doubt", lines, LEFT_OUT)
    moves = (note.removeprefix(f"{MIGRATION} ") for note in design.notes if note.startswith(MIGRATION))
    yield from labelled("Migration", moves, LEFT_OUT)
    shown = (SHARED_PORTS, HOSTS)
    notes = [
        note
        for note in design.notes
        if note.startswith(shown) or any(words in note for words in (EQUAL_PLANES, SAVED_TIER, FINER))
    ]
    rule = DEFAULT_RULES[WHOLE_SERVERS]
    unused = (note.partition(f"{rule.sentence}: ")[2].removesuffix(f" ({rule.anchor})") for note in design.notes)
    notes = [*filter(None, unused), *notes[:MOST_NOTES]]
    yield from labelled("Note", (named(design, note.partition(" (rule ")[0]) for note in notes))
    yield ScreenRow("Proof", _claim(design))
    if design.failed:
        names = listed([check.name for check in design.failed])
        yield ScreenRow("", f"{some(len(design.failed), 'check')} FAILED: {names}", LOST)


def _claim(design: Design) -> str:
    """What is proven of which space, or how far it is from proven."""
    objective = design.objective
    nouns, space = _space(design)
    if design.servers_compared:
        nouns += f", with any of {some(len(design.servers_compared), 'server')},"
    if design.status == "optimal" and objective.decision is not None:
        return f"proven: the {chosen_words(design, objective.decision)}{space}"
    if design.status == "optimal":
        does = {"capex_usd": "costs less", "power_w": "takes less power"}
        less = does.get(objective.metric, f"has a lower {metric_name(objective.metric)}")
        return f"proven: no {nouns} {less}{space}"
    best = "not proven: the best that was found"
    if objective.bound is None:
        return f"{best}; no bound is known"
    return f"{best}; none is below {metric_value(objective.metric, objective.bound)} ({gap_share(design)} less){space}"


def _space(design: Design) -> tuple[str, str]:
    """``Clos of these parts``, and the choices that its space leaves; of fabrics whose spaces differ no choices."""
    space = space_line(design)
    if not space or ";" in space:
        return "design of these parts", "; `--full` has the space of each fabric" if space else ""
    family, _, choices = space.partition(" with ")
    return f"{family} {'network ' * (family == 'rail-only')}of these parts", f"; space: {choices}" if choices else ""
