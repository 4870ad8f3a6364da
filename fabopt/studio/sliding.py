"""Sliders: values of a key that have a design, where they end to the unit, and what stops them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

from fabopt.errors import InputError, refusal
from fabopt.explain.relaxation import halfway, nearest
from fabopt.io.case import Inputs
from fabopt.io.keys import content_of, key_path, value_at, with_change
from fabopt.output.terminal.answer import conflict_quantity
from fabopt.output.terminal.no_screen import no_rows, ordered
from fabopt.program.settings import Settings, StoppedError
from fabopt.rules.limits import SPENDING_LIMITS, SpendingLimit
from fabopt.schema.design import Conflict, Design
from fabopt.solution import optimize
from fabopt.solution.designs import build
from fabopt.solution.question import Question
from fabopt.studio.edit import inputs_of, steps_of
from fabopt.studio.worker import Bench, Message
from fabopt.units import cents, milliwatts

# By a word in a key: values that are usual; of other keys even steps of a ratio, three of which are twice as much.
USUAL_VALUES: dict[str, list[float]] = {
    "gbps": [10, 25, 50, 100, 200, 400, 800, 1600],
    "oversubscription": [1, 1.5, 2, 3, 4, 6, 8],
}
RATIOS = [2 ** (number / 3) for number in range(-9, 10)]
# Changes of the prices of a kind in percent; its key.
PRICES = "prices."
CHANGES: list[float] = [-75, -50, -40, -30, -20, -10, 0, 10, 20, 30, 40, 50, 75, 100, 150, 200]
# Parts of a unit of speeds and ratios that are told apart.
FINE = 1000
# Seconds for both ends, and for what stops one.
ENDS_S, REASON_S = 16.0, 6.0
UNSETTLED = "whether there are designs beyond was not settled in time"


@dataclass(frozen=True)
class Slider:
    """A key that takes other values. ``start``: the one that it has, or what the answer takes; ``parts``: of a unit.

    ``every``: the whole numbers that it takes are multiples; ``usual``: values to go by; ``inputs``: with one.
    """

    bench: Bench
    key: str
    start: float
    inputs: Callable[[float], Inputs]
    usual: Sequence[float]
    parts: int = 1
    every: int = 1

    def values(self, low: float | None, high: float | None) -> list[float]:
        """Values to either side of the start, this among them."""
        kept = {self.value(self.number(value)) for value in (*self.usual, self.start)}
        least, most = -inf if low is None else low, inf if high is None else high
        return sorted(value for value in kept if least <= value <= most) or [self.start]

    def number(self, value: float) -> int:
        """The whole number of steps of a value."""
        return round(value * self.parts / self.every)

    def value(self, number: int) -> float:
        """The value of a number of steps."""
        value = number * self.every / self.parts
        return int(value) if value == int(value) else value

    @property
    def limit(self) -> SpendingLimit | None:
        """The limit on spending that it is."""
        return next((limit for limit in SPENDING_LIMITS if self.key == f"limits.{limit.key}"), None)

    def taken(self, number: int) -> int | None:
        """The steps of the key that a design takes; None: there is no design."""
        self.bench.clock.look()
        try:
            inputs = self.inputs(self.value(number))
            question, answers = optimize.settled(Question(inputs, Settings(), self.bench.clock))
        except InputError:
            return None
        if answers.best is None:
            if not answers.is_decided:
                raise StoppedError
            return None
        has = _taken_of(build(question, answers), self.key) if self.limit is not None or self.parts > 1 else None
        return number if has is None else self.number(has)

    def end(self, works: int, numbers: Sequence[int]) -> Message:
        """Return the last value that has a design, from a working one on towards the last of some, and what stops it.

        Asked for are the last one, the one next to what a design takes, those between by halving, and then all whole
        numbers of steps.
        """
        outer = numbers[-1] if numbers else works
        sign, known, asked = (1 if outer > works else -1), outer, outer

        def between(works: int, fails: int) -> int | None:
            nonlocal asked, known
            # a design took more than was asked: it may be the last
            is_jump, known = works not in (known, asked), works
            inside = [number for number in numbers if min(works, fails) < number < max(works, fails)]
            value = works + sign if is_jump else inside[len(inside) // 2] if inside else halfway(works, fails)
            asked = works if value is None else value
            return None if value == fails else value

        def beyond(number: int) -> int | None:
            taken = self.taken(number)
            return taken if taken is None or (taken - number) * sign > 0 else number

        try:
            if outer == works or beyond(outer) is not None:
                return {"value": self.value(outer), "rule": ""}
            known = nearest(works, outer, beyond, between)
        except StoppedError:
            return {"value": self.value(known), "rule": UNSETTLED}
        return {"value": self.value(known), "rule": self.reason(known + sign, known)}

    def reason(self, fails: int, works: int | None = None) -> str:
        """Name and say the rule that leaves no design at a number of steps, next to one that works."""
        if self.limit is not None and works is not None:
            return f"{self.key}: {self.limit.least} {_said(self.limit, works)}"
        try:
            with self.bench.clock.shortened(REASON_S):
                inputs = self.inputs(self.value(fails))
                return self._over(inputs) or _rule(
                    optimize.solve(inputs, clock=self.bench.clock, alternatives_s=0), self.key
                )
        except InputError as error:
            return f"{error.faults[0].path or error.faults[0].file}: {error.faults[0].problem}"
        except StoppedError:
            return UNSETTLED

    def _over(self, inputs: Inputs) -> str:
        """Say by how much the best design is over a limit on spending, without which there is one; empty for none."""
        for limit in SPENDING_LIMITS:
            key = f"limits.{limit.key}"
            most = value_at(content_of(inputs.case), key)
            if isinstance(most, int | float):
                question = Question(with_change(inputs, {key: None}), Settings(), self.bench.clock)
                question, answers = optimize.settled(question)
                if answers.best is not None:
                    takes = _taken_of(build(question, answers), key)
                    over = f"{_said(limit, takes)}, {_said(limit, takes - most)} more"
                    return f"{key}: allows {_said(limit, most)}; the best design beyond this end takes {over}"
        return ""


def _said(limit: SpendingLimit, value: float) -> str:
    return limit.said(cents(value) if limit.unit == "$" else milliwatts(value))


def _rule(design: Design, key: str) -> str:
    """Name the limit that leaves no design, another one than the key that slides where there is one, and say why."""
    content = design.case.content
    conflicts = [*ordered(design), *design.conflicts]
    others = [conflict for conflict in conflicts if key_path(conflict.limit, content) != key_path(key, content)]
    for conflict in others[:1]:
        return f"{conflict.limit}: asks {conflict_quantity(conflict.limit, conflict.value)}{_needed(conflict)}"
    said = {row.label: row.words for row in no_rows(design)}
    why = said.get("Why") or said.get("Not met") or design.status
    return f"{conflicts[0].limit if conflicts else key}: {why}"


def _needed(conflict: Conflict) -> str:
    """Say what a limit would have to be beyond the end of a slider, and by how much it misses that."""
    now, needed = conflict.value, conflict.needed
    if needed is None:
        return ""
    missing = ""
    if isinstance(now, int | float) and isinstance(needed, int | float):
        missing = f", {conflict_quantity(conflict.limit, abs(needed - now))} {'more' if needed > now else 'less'}"
    return f"; beyond this end it would take {conflict_quantity(conflict.limit, needed)}{missing}"


def slider(
    bench: Bench,
    text: str,
    key: str,
    path: str | None = None,
    low: float | None = None,
    high: float | None = None,
    prices: Mapping[str, float] | None = None,
) -> Message:
    """Return values of a key that have a design, and both ends with what stops them: found by solving.

    ``key``: of the case, or `prices.KIND` in percent; ``prices``: changes of prices that hold, by kind, in percent.
    """
    own = _slider(bench, text, path, prices or {}, key)
    values = own.values(low, high)
    with bench.clock.shortened(ENDS_S):
        numbers = [own.number(value) for value in values]
        start = own.number(own.start)
        tried = ((number, own.taken(number)) for number in (start, numbers[-1], numbers[0]))
        try:
            works = next(((number, taken) for number, taken in tried if taken is not None), None)
            why = own.reason(start) if works is None else ""
        except StoppedError:
            works, why = None, UNSETTLED
        if works is None:
            end = {"value": own.start, "rule": why}
            return {"values": [own.start], "low": end, "high": end}
        least = own.end(min(works), [number for number in reversed(numbers) if number < min(works)])
        most = own.end(max(works), [number for number in numbers if number > max(works)])
    inside = {value for value in values if least["value"] < value < most["value"]}
    return {"values": sorted({least["value"], *inside, most["value"]}), "low": least, "high": most}


def _slider(bench: Bench, text: str, path: str | None, prices: Mapping[str, float], key: str) -> Slider:
    """Return a key as a slider; ``InputError`` for one that leads to no number."""
    if key.startswith(PRICES):
        kind = key.removeprefix(PRICES)
        inputs_of(bench, text, path, {kind: 1})
        start = prices.get(kind, 0)
        return Slider(bench, key, start, lambda value: inputs_of(bench, text, path, {**prices, kind: value}), CHANGES)
    inputs = inputs_of(bench, text, path, prices)
    content = content_of(inputs.case)
    dotted = ".".join(map(str, steps_of(key, content)))
    now, name = value_at(content, dotted), dotted.rpartition(".")[2]
    if isinstance(now, str | bool):
        raise refusal(key, "", "this is no number that slides", now)
    start = _taken_of(optimize.solve(inputs, clock=bench.clock, alternatives_s=0), dotted) if now is None else now
    with_change(inputs, {dotted: start})
    usual = next((numbers for word, numbers in USUAL_VALUES.items() if word in name), None)
    servers = [server.gpus for server in inputs.catalog.servers if name == "gpus" and server.id == inputs.case.server]
    return Slider(
        bench,
        dotted,
        start,
        lambda value: with_change(inputs, {dotted: value}),
        usual or [max(1, start * ratio) for ratio in RATIOS],
        1 if usual is None else FINE,
        next(iter(servers), 1),
    )


def _taken_of(design: Design, key: str) -> float:
    """Return what the answer takes of a limit without a value; 1 where that is not known."""
    name = key.rpartition(".")[2]
    spent = next((limit.metric for limit in SPENDING_LIMITS if limit.key == name), None)
    if spent is not None and design.totals is not None:
        return ceil(getattr(design.totals, spent) or 0)
    place = key_path(key, design.case.content)
    if "gbps" in name and design.fabrics and isinstance(place, tuple) and place[0] == "fabrics":
        return float(design.fabrics[int(place[1])].metrics.injection_gbps_per_gpu)
    return 1
