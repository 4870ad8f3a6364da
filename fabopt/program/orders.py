"""Orders for a design by stage, and the sums that follow.

Uses are read off a design; the orders for them are worked out here again, whatever the program's own solution was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from fabopt.parts.items import CABLE_KINDS, Item, order_at_once
from fabopt.parts.lookup import Lookup
from fabopt.problem.problem import Problem, future_energy
from fabopt.program.formulation import Program
from fabopt.program.levels import Level, value_of
from fabopt.program.libraries import pulp
from fabopt.program.purchases import is_ordered
from fabopt.program.solvers import solve
from fabopt.schema.design import MOVED_CABLE
from fabopt.topology.candidate import Candidate, Option, Uses
from fabopt.units import summed

Picked = tuple[Candidate, Sequence[tuple[Option, int]]]


def stage_uses(picked: Picked) -> dict[tuple[int, Item], int]:
    """Units of each item that each stage adds in one fabric."""
    candidate, units = picked
    counts = dict(candidate.devices)
    for option, number in units:
        for key, of_unit in option.uses.items():
            counts[key] = counts.get(key, 0) + of_unit * number
    return {key: count for key, count in counts.items() if count}


def booked_uses(problem: Problem, fabric: str, picked: Picked) -> dict[str, dict[tuple[int, Item], int]]:
    """Units that each stage adds in a fabric and in the logical ones on it, by their names.

    NICs, and the parts of links of all their attachments, are the logical fabrics'; switches and the links above the
    fabric's.
    """
    candidate, units = picked
    booked = {fabric: stage_uses(picked)}
    for logical in candidate.equipment:
        assert logical.nic is not None
        booked[logical.name] = {}
        if logical.nic.item is not None:
            servers = logical.ports // logical.nic.ports_per_server
            booked[logical.name][0, logical.nic.item] = servers * logical.nic.nics_per_server
    networks = {demand.name: demand.network for demand in candidate.logical_fabrics if demand.network is not None}
    for option, number in units:
        for row in option.rows:
            if row.attachment in networks:
                uses = booked[networks[row.attachment]]
                for part in row.parts:
                    key = (row.stage, part.item)
                    uses[key] = uses.get(key, 0) + part.quantity * number
    for logical in candidate.equipment:
        for key, count in booked[logical.name].items():
            booked[fabric][key] -= count
    return {name: _with_work(problem, name, uses) for name, uses in booked.items()}


def _with_work(problem: Problem, fabric: str, uses: Uses) -> dict[tuple[int, Item], int]:
    """Uses of a fabric with the labour on what of them is installed, without those of no unit."""
    labour = (
        ((stage, work), count)
        for (stage, item), count in problem.labour.installed(fabric, uses).items()
        if (work := item.labour.unit or item.labour.beyond) is not None
    )
    return {key: count for key, count in summed((*uses.items(), *labour)).items() if count}


def common_uses(problem: Problem, picked: Sequence[Picked]) -> dict[tuple[int, Item], int]:
    """Units that are no fabric's, by stage: servers, if they count, the labour on them, and visits."""
    common = dict(problem.labour.standing)
    installed = (problem.labour.installed(of_fabric[0].fabric, stage_uses(of_fabric)) for of_fabric in picked)
    busy = {stage for of_fabric in installed for (stage, _), count in of_fabric.items() if count}
    common |= {(stage, visit): 1 for stage, visit in problem.labour.open_visits.items() if stage in busy}
    if problem.server_item is not None:
        common |= {(stage, problem.server_item): count for stage, count in enumerate(problem.server_adds) if count}
    return common


def all_uses(problem: Problem, picked: Sequence[Picked]) -> dict[tuple[int, Item], int]:
    """Units of each item that each stage adds over all fabrics, with labour, and servers if they count."""
    worked_on = (_with_work(problem, of_fabric[0].fabric, stage_uses(of_fabric)) for of_fabric in picked)
    counts = summed((key, count) for uses in worked_on for key, count in uses.items())
    return counts | common_uses(problem, picked)


# -- orders -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Order:
    """Units bought at every stage, and the spares that each stage adds."""

    bought: Uses
    spares: Uses

    def cents(self, stage: int | None = None, present: bool = False) -> int:
        """Cents of the orders of a stage (None: of all); ``present``: present values as in the objective."""
        return sum(
            item.cost(at, units, present) for (at, item), units in self.bought.items() if stage is None or at == stage
        )

    def worth_cents(self, stage: int | None = None) -> int:
        """Present value of the orders of a stage (None: of all), if growth comes to it."""
        return sum(
            item.worth_cents(at, units) for (at, item), units in self.bought.items() if stage is None or at == stage
        )


def order_of(problem: Problem, picked: Sequence[Picked]) -> Order:
    """The cheapest orders for a design's uses: least objective, then least capex, then fewest units, the latest.

    Items whose units all cost the same are bought when they are used. One stage's orders follow by arithmetic; else a
    program of the orders alone is solved.
    """
    key = tuple((candidate, tuple(units)) for candidate, units in picked)
    return _ORDERS.of(problem, key, _ordered, problem, picked)


_ORDERS: Lookup[Problem, tuple[tuple[Candidate, tuple[tuple[Option, int], ...]], ...], Order] = Lookup()


def _ordered(problem: Problem, picked: Sequence[Picked]) -> Order:
    uses = all_uses(problem, picked)
    special = {item for _, item in uses if is_ordered(problem, item)}
    bought = {key: count for key, count in uses.items() if key[1] not in special}
    if not special:
        return Order(bought, {})
    if (
        len(problem.stages) > 1
        or problem.limits.periods
        or any(item.supply.rationed or (item.spares and item.spares.per == "site") for item in special)
    ):
        ordered, spares = _solved(problem, picked)
        return Order({**bought, **ordered}, spares)
    spares = {(0, item): item.spares_for(uses[0, item]) for item in special}
    at_once = {(0, item): order_at_once(item, uses[0, item] + spares[0, item]) for item in special}
    return Order(bought | at_once, {key: count for key, count in spares.items() if count})


def _solved(problem: Problem, picked: Sequence[Picked]) -> tuple[Uses, Uses]:
    """Orders and spares from a program whose candidates are fixed."""
    used = [replace(of_fabric[0], devices=stage_uses(of_fabric), choices=()) for of_fabric in picked]
    program = Program(problem, used)
    values: Mapping[str, int] = {}
    for number, level in enumerate(_order_levels(program)):
        if not level.expression:
            continue
        program.lp.setObjective(level.expression)
        solution = solve(program.lp, "cp-sat", None, values)
        if not solution.values:
            raise AssertionError("a design that was found cannot be bought")
        values = solution.values
        program.lp += level.expression <= value_of(level.expression, values), f"level_{number}"
    held = program.purchases.spares(values)
    spares = {(stage, item): count - held.get((stage - 1, item), 0) for (stage, item), count in held.items()}
    return program.purchases.units(values), {key: count for key, count in spares.items() if count}


def _order_levels(program: Program) -> Iterator[Level]:
    """Objective and capex, then spares, units, how early they are bought, and their item numbers."""
    last = len(program.problem.stages) - 1
    yield program.objective()
    yield from islice(program.ties(), 1 if program.regrets is None else 2)
    buy, spare = program.purchases.buy, program.purchases.spare
    weights: tuple[tuple[str, Callable[[Item, int], int]], ...] = (
        ("units", lambda item, stage: 1),
        ("early", lambda item, stage: last - stage),
        ("parts", lambda item, stage: item.index),
    )
    for name, weight in weights:
        kept = [(var, weight(item, stage)) for (item, stage), var in spare.items()]
        if kept:
            yield Level(f"spare_{name}", pulp.LpAffineExpression([term for term in kept if term[1]]), 0)
        terms = [(var, item.orders.pack * weight(item, stage)) for (item, stage, _), var in buy.items()]
        yield Level(name, pulp.LpAffineExpression([term for term in terms if term[1]]), 0)


# -- sums -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sums:
    """Exact totals of a set of picked candidates; the power is the network's, the objective without servers' energy."""

    cents: int
    power_mw: int
    rack_milliunits: int
    switches: int
    cables: int
    objective: int = 0
    moved_cables: int = 0


def sums_of(problem: Problem, picked: Sequence[Picked]) -> Sums:
    """Exact totals over fabrics (servers included if the case counts them)."""
    order, weights = order_of(problem, picked), problem.weights
    used = {key: count for key, count in all_uses(problem, picked).items() if key[1].kind != "server"}
    power = sum(item.power_mw * count for (_, item), count in used.items())
    units = sum(item.rack_milliunits * count for (_, item), count in used.items())
    cents = order.cents()
    return Sums(
        cents,
        power,
        units,
        sum(count for (_, item), count in used.items() if item.kind == "switch"),
        sum(count for (_, item), count in used.items() if item.kind in CABLE_KINDS),
        weights.per_cent * (order.cents(None, True) if weights.energy else cents)
        + sum(weights.of_mw(stage) * item.power_mw * count for (stage, item), count in used.items())
        + weights.per_unit * units,
        sum(count for (_, item), count in used.items() if item.id == MOVED_CABLE),
    )


def paid_in_periods(problem: Problem, picked: Sequence[Picked], months: int) -> dict[int, Fraction]:
    """Payments for orders in each period of ``months`` months, in cents."""
    terms = problem.instalments
    return summed(
        (period, Fraction(item.orders.cost_at(terms.prices_in(item, stage, months, period), units), terms.scale))
        for (stage, item), units in order_of(problem, picked).bought.items()
        for period in terms.shares_in(item, stage, months)
    )


def stage_power_mw(problem: Problem, picked: Sequence[Picked], stage: int, servers: bool = False) -> int:
    """Power in use from a stage on, in mW: the network's, and with ``servers`` the servers' if they count."""
    return sum(
        item.power_mw * count
        for (at, item), count in all_uses(problem, picked).items()
        if at <= stage and (servers or item.kind != "server")
    )


def weighed_cents(problem: Problem, picked: Sequence[Picked]) -> Fraction:
    """Present value of orders and energy, in cents, each stage times the probability that it comes."""
    unit = problem.offering.terms.chance_unit
    energy = sum(
        (
            problem.energy_weighed[stage] * item.power_mw * count
            for (stage, item), count in all_uses(problem, picked).items()
        ),
        Fraction(0),
    )
    return (order_of(problem, picked).cents(None, True) + energy) / unit


def spent_in_futures(problem: Problem, picked: Sequence[Picked]) -> list[Fraction]:
    """The total cost of ownership in each future, in cents."""
    bought, uses, terms = order_of(problem, picked).bought, all_uses(problem, picked), problem.offering.terms
    spent = []
    for number, future in enumerate(terms.futures):
        worth = future_energy(terms, future)
        orders = sum(item.future_cents(number, stage, units, present=True) for (stage, item), units in bought.items())
        energy = sum((item.power_mw * count * worth[stage] for (stage, item), count in uses.items()), Fraction(0))
        spent.append(orders + energy)
    return spent


def energy_of(problem: Problem, picked: Sequence[Picked], first: int = 0, until: int | None = None) -> Fraction:
    """Present value of the energy from a stage on (``until``: up to another), in cents, servers' too if they count."""
    worth = (*problem.energy_cents_per_mw, Fraction(0))
    total = Fraction(0)
    for stage in range(first, len(problem.stages) if until is None else until):
        total += stage_power_mw(problem, picked, stage, servers=True) * (worth[stage] - worth[stage + 1])
    return total
