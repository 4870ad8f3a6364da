"""The first screen of a design: what it is, what it costs, what it survives and why nothing is cheaper.

``first_part`` is known as soon as the answer is; ``compared_part`` needs the look at what else there is. All else about
a design is in ``summary``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fabopt.output.left_out import kept_with
from fabopt.output.space import space_line
from fabopt.output.terminal.answer import chosen_words, gap_share, metric_name, metric_value
from fabopt.output.terminal.comparison import flip_line, named, worth_a_look
from fabopt.output.terminal.families import made_of
from fabopt.output.terminal.workload import duration
from fabopt.output.terminal.worst_loss import WorstLoss, rack_loss
from fabopt.output.words import dollars, listed, measured, money, percent, plain, power, printable
from fabopt.parts.names import product_name
from fabopt.parts.price_basis import IN_DOUBT, PRICES
from fabopt.rules.defaults import DEFAULT_RULES, NO_RULES
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.left_out import NO_DESIGN, NOT_OF_THE_CASE
from fabopt.schema.resilience import NO_RULE
from fabopt.schema.roles import SHARED_PORTS
from fabopt.schema.subnet_manager import HOSTS
from fabopt.schema.topologies import EQUAL_PLANES, FINER, SAVED_TIER
from fabopt.units import cents, some, usd

LEFT_OUT, LOST, OFF = "yellow", "red", "bright_black"
# Rows of a kind that are shown; the rest is counted.
MOST_STAGES = 6
MOST_LEFT_OUT = 3
MOST_NOTES = 2
MOST_LIMITS = 4
MOST_RULES = 6
# Fabrics with the names of their products; of more than these each has one line.
MOST_NAMED = 4
COMPUTE = "compute"
LABEL_WIDTH = len("Worst loss")
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


def first_part(design: Design) -> RenderableType:
    """All that is known with the answer."""
    return grid(first_rows(design))


def first_rows(design: Design) -> list[ScreenRow]:
    """The rows of the first part."""
    return [*_network(design), *_left_out(design), *_money(design), *_survived(design), *_proof(design)]


def compared_part(design: Design) -> RenderableType | None:
    """The rows of what was compared; None where nothing was."""
    rows = compared_rows(design)
    return grid(rows) if rows else None


def compared_rows(design: Design) -> list[ScreenRow]:
    """One or two alternatives with what each loses, and what would flip the choice."""
    instead = [ScreenRow("" if number else "Instead", words) for number, words in enumerate(worth_a_look(design))]
    return [*instead, *(ScreenRow("Flips", words) for words in flip_line(design))]


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
    server = product_name(design.parts.get(id_, {}), id_)
    joined = f"{some(stage.gpus, 'GPU')} in {some(stage.servers, 'server')} ({server})"
    yield ScreenRow("Cluster", f"{design.case.name}: {joined}")
    if NOT_OF_THE_CASE in design.notes:
        yield ScreenRow("", NOT_OF_THE_CASE, LEFT_OUT)
    for number, fabric in enumerate(design.fabrics):
        name = f"{fabric.name}: " if len(design.fabrics) > 1 else ""
        yield ScreenRow("" if number else "Network", name + fabric_words(design, fabric))
    if design.workload is not None:
        use = design.workload
        yield ScreenRow("Model", f"a step of {use.model} takes about {duration(use.step_s)}")


def fabric_words(design: Design, fabric: FabricDesign) -> str:
    """A fabric in one sentence: its family, switches, speed of servers and oversubscription."""
    nic, metrics = fabric.nic, fabric.metrics
    is_named = len(design.fabrics) <= MOST_NAMED
    card = f" {product_name(design.parts.get(nic.id, {}), nic.id)}" if is_named and not nic.built_in else ""
    speed = f"{nic.per_server * nic.ports_per_nic} x {plain(nic.gbps)}G{card} a server"
    if fabric.role == COMPUTE:
        speed = f"{plain(metrics.injection_gbps_per_gpu)}G to every GPU{f' ({speed})' if is_named else ''}"
    protocol = {"infiniband": "InfiniBand", "ethernet": "Ethernet"}.get(fabric.protocol, fabric.protocol)
    parts = [f"{protocol} {made_of(design, fabric, is_named)}", speed, *_ratios(fabric)]
    if fabric.homing == "pair" and is_named:
        parts.append("servers on pairs of leaves" if fabric.peer_links is None else "servers on pairs of linked leaves")
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
    for number, row in enumerate(rows[:MOST_LEFT_OUT]):
        label = "" if number else "Left out"
        why = row.why.removesuffix(f"; {NO_DESIGN}")
        yield ScreenRow(label, f"{row.name}: {why}; to keep it: {kept_with(row.rule)}", LEFT_OUT)
    if len(rows) > MOST_LEFT_OUT:
        rest = listed([row.name for row in rows[MOST_LEFT_OUT:]])
        yield ScreenRow("", f"and {rest}", LEFT_OUT)
    off = switched_off(design)
    if off:
        yield ScreenRow("Off", f"switched off by the case: {listed(off)}", OFF)


def switched_off(design: Design) -> list[str]:
    """What a case turns off of the default rules, by the keys that do."""
    content = design.case.content
    rules = content.get("rules") or {}
    if rules == NO_RULES:
        words = ["all default rules but those of redundancy"]
    else:
        names = [name for name in DEFAULT_RULES if rules.get(name) is False]
        more = [f"{len(names) - MOST_RULES} more"] if len(names) > MOST_RULES else []
        words = [f"{'rule' if len(names) == 1 else 'rules'} {listed([*names[:MOST_RULES], *more])}"] if names else []
    if content.get("resilience") == NO_RULE:
        return [*words, "redundancy"]
    bare = [str(fabric["name"]) for fabric in content.get("fabrics", ()) if fabric.get("resilience") == NO_RULE]
    return [*words, f"redundancy of {listed(bare)}"] if bare else words


# -- money, power, space and limits ---------------------------------------------------------------------------------


def _money(design: Design) -> Iterator[ScreenRow]:
    """Cost in all, by fabric or kind and by stage; power; space; and what limits leave."""
    totals = design.totals
    assert totals is not None
    yield ScreenRow("Parts", _parts(design))
    yield ScreenRow("Cost", "; ".join(_cost(design)))
    yield from _stages(design)
    watts = power(totals.power_w)
    if totals.cluster_power_w:
        watts += (
            f", {percent(totals.power_w / totals.cluster_power_w)} of the cluster's {power(totals.cluster_power_w)}"
        )
    racks = f"; {some(totals.racks, 'rack')} in use with the servers" if totals.racks is not None else ""
    yield ScreenRow("Power", f"{watts}{racks}")
    yield from _limits(design)


def _stages(design: Design) -> Iterator[ScreenRow]:
    """Money of each stage, where there are several."""
    if len(design.stages) > 1:
        stages = [
            f"{stage.name} (month {stage.month}, {some(stage.servers, 'server')}) {dollars(stage.capex_usd)}"
            for stage in design.stages
        ]
        rest = [cents(stage.capex_usd) for stage in design.stages[MOST_STAGES:]]
        later = [f"{some(len(rest), 'later stage')} {dollars(usd(sum(rest)))}"] if rest else []
        yield ScreenRow("By stage", ", ".join([*stages[:MOST_STAGES], *later]))


def _limits(design: Design) -> Iterator[ScreenRow]:
    """What limits leave, red where one is exceeded."""
    left = list(_limits_left(design))
    if left:
        more = f"; {some(len(left) - MOST_LIMITS, 'more limit')} kept" if len(left) > MOST_LIMITS else ""
        said = "; ".join(text for text, _ in left[:MOST_LIMITS])
        yield ScreenRow("Limits", said + more, LOST if any(is_over for _, is_over in left) else "")


def _parts(design: Design) -> str:
    """Counts of what is bought, by kind, and the rack units of switches."""
    bought: dict[str, int] = {}
    for row in design.bom:
        bought[row.kind] = bought.get(row.kind, 0) + row.quantity
    nouns = {"switch": "switch", "nic": "NIC", "transceiver": "transceiver", "cable": "cable", "fibre": "jumper"}
    told = [some(bought[kind], noun) for kind, noun in nouns.items() if bought.get(kind)]
    units = design.totals.rack_units if design.totals is not None else 0
    if units and told:
        told[0] += f" ({measured(units, 'rack unit')})"
    return ", ".join(told) or "nothing is bought"


def _cost(design: Design) -> Iterator[str]:
    totals = design.totals
    assert totals is not None
    gpus = f", {money(round(totals.capex_usd_per_gpu))} a GPU" if totals.capex_usd_per_gpu is not None else ""
    yield f"{dollars(totals.capex_usd)}{gpus}"
    shares = cost_shares(design)
    if len(shares) > 1:
        yield ", ".join(f"{name} {dollars(usd(amount))}" for name, amount in shares.items())
    yearly = sum(row.yearly_usd or 0 for row in design.bom)
    if yearly:
        yield f"charges of {dollars(yearly)} a year"
    metric, value = design.objective.metric, design.objective.value
    if metric not in ("capex_usd", "power_w") and value is not None:
        yield f"{metric_name(metric)} {dollars(value)}"


def cost_shares(design: Design) -> dict[str, int]:
    """Cents of each fabric where there are several; else of switches, NICs, and cables with their optics."""
    kinds = {"switch": "switches", "nic": "NICs", "transceiver": "optics and cables", "cable": "optics and cables",
             "fibre": "optics and cables", "server": "servers"}  # fmt: skip
    shares: dict[str, int] = {}
    for row in design.bom:
        name = row.fabric if len(design.fabrics) > 1 and row.fabric else kinds.get(row.kind, "charges and work")
        shares[name] = shares.get(name, 0) + cents(row.total_usd)
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
            if most is None or used is None:
                continue
            rest = round(most - used, 2)
            unit = f"{shown(most)} {name}" if key == "rack_units" else f"{name} {shown(most)}"
            yield f"{where}{unit}: {left(abs(rest))} {'left' if rest >= 0 else 'over'}", rest < 0


# -- failures -------------------------------------------------------------------------------------------------------


def _survived(design: Design) -> Iterator[ScreenRow]:
    """The worst failure of one device in each fabric, red where servers or attachments are cut off."""
    losses = [WorstLoss(fabric, design.single_points_of_failure or ()) for fabric in design.fabrics]
    told = [loss for loss in losses if loss.devices]
    if len(told) > MOST_NAMED:
        told = [loss for loss in told if loss.cut_off] or told[:MOST_NAMED]
    is_alone = len(losses) == 1
    rows = [(f"{loss.fabric.name}: " * (not is_alone) + loss.words(is_alone), bool(loss.cut_off)) for loss in told]
    if len(told) < len(losses):
        rows.append(("other fabrics: nothing is cut off", False))
    rows += [(f"{loss.fabric.name}: " * (not is_alone) + words, False) for loss in losses for words in loss.of_planes()]
    rows += rack_loss(design.single_points_of_failure or (), not is_alone)
    for number, (words, is_cut_off) in enumerate(rows):
        yield ScreenRow("" if number else "Worst loss", words, LOST if is_cut_off else "")


# -- prices and proof -----------------------------------------------------------------------------------------------


def _proof(design: Design) -> Iterator[ScreenRow]:
    """Sources of prices, what a reader must know, and what is proven."""
    for note in design.notes:
        if note.startswith(PRICES):
            shares = note.removeprefix(PRICES).partition(";")[0].strip()
            words = shares.removeprefix("the bill is ").replace("derived prices", "derived from like parts")
            yield ScreenRow("Prices", words)
    doubts = sum(note.startswith(IN_DOUBT) for note in design.notes)
    if doubts:
        yield ScreenRow("", f"{some(doubts, 'price')} of quotes in doubt", LEFT_OUT)
    notes = [note for note in design.notes if note.startswith((SHARED_PORTS, HOSTS)) or _is_of_planes(note)]
    yield from (
        ScreenRow("" if number else "Note", named(design, note)) for number, note in enumerate(notes[:MOST_NOTES])
    )
    yield ScreenRow("Proof", _claim(design))
    failed = [check.name for check in design.checks if not check.ok]
    if failed:
        yield ScreenRow("", f"{some(len(failed), 'check')} FAILED: {listed(failed)}", LOST)


def _is_of_planes(note: str) -> bool:
    return any(words in note for words in (EQUAL_PLANES, SAVED_TIER, FINER))


def _claim(design: Design) -> str:
    """What is proven of which space, or how far it is from proven."""
    objective = design.objective
    nouns, space = _space(design)
    if design.status == "optimal" and objective.decision is not None:
        return f"proven: the {chosen_words(design, objective.decision)}{space}"
    if design.status == "optimal":
        does = {"capex_usd": "costs less", "power_w": "takes less power"}
        less = does.get(objective.metric, f"has a lower {metric_name(objective.metric)}")
        return f"proven: no {nouns} {less}{space}"
    best = "not proven: the best found before the search stopped"
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
