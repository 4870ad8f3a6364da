"""The sensitivity of an answer: for each kind and part, the prices between which it stays, and the design beyond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

from fabopt.design.bill import bill
from fabopt.design.build import case_record, fabric_design
from fabopt.errors import Fault, NoAnswerError, did_you_mean, fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse_any
from fabopt.parts.offering import offering_of
from fabopt.parts.price_books import KIND_OF_WORD, products
from fabopt.problem.certain import uncertain_stages
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.orders import Picked, all_uses
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import BUDGET_KEY, BomRow, FabricDesign, LinkRow, Objective
from fabopt.schema.sensitivity import PriceRange, Sensitivity, Takeover
from fabopt.schema.version import VERSION
from fabopt.search.answer import Answer
from fabopt.search.context import Context
from fabopt.search.price_ends import (
    DIRECTIONS,
    MOST_STEPS,
    STEPS,
    Direction,
    EndFinder,
    Probe,
    RangeEnd,
    priced_design,
)
from fabopt.search.rules_kept import best_answer
from fabopt.solution.optimize import answered, proven
from fabopt.solution.question import Question, finishing_s
from fabopt.solution.summaries import summaries_of
from fabopt.solution.trunked_ends import ends_of, with_room_for_panels
from fabopt.solution.trunks import NoRoomError
from fabopt.study.sweep.sweep import catalog_hash
from fabopt.topology.candidate import over_stages
from fabopt.units import CENTS_PER_USD, exact, plain, rounded, usd

# -- prices to move: kinds and parts of the answer, or those asked for ------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """Kinds and ids of the command line; without any: all of the answer."""

    kinds: Sequence[str] = ()
    parts: Sequence[str] = ()


@dataclass(frozen=True)
class Target:
    """Prices that move together: of a kind or of one product (all its lengths).

    ``unit_price_usd``: None if it has none.
    """

    form: Literal["kind", "part"]
    name: str
    indices: frozenset[int]
    unit_price_usd: int | float | None = None


def check_asked(asked: Asked, inputs: Inputs) -> None:
    """Raise ``InputError`` with all words that are neither a kind nor a product with a price."""
    ids = [product.id for product in products(inputs.catalog)]
    unknown = [_unknown("--kind", word, list(KIND_OF_WORD), "kind of product") for word in asked.kinds]
    unknown += [_unknown("--part", word, ids, "product of the catalog") for word in asked.parts]
    faults = [*(fault for fault in unknown if fault is not None), *unanswerable(inputs)]
    refuse_any(faults)


def _unknown(option: str, word: str, known: list[str], what: str) -> Fault | None:
    if word in known:
        return None
    allowed = ", ".join(known) if option == "--kind" else "an id of the catalog: see `fabopt catalog list`"
    return fault(option, "", f"no such {what}", word, allowed=allowed, hint=did_you_mean(word, known))


def unanswerable(inputs: Inputs) -> list[Fault]:
    """Faults of limits on money that prices would lift or break while another metric is minimized."""
    case, file = inputs.case, inputs.case_file
    what = "price ranges are not worked out under this limit"
    hint = "leave it out, or use `fabopt solve --price-change`"
    if case.objective == EFFECTIVE:
        what = "price ranges of a ratio are not worked out"
        hint = "minimize capex_usd, or use `fabopt solve --price-change`"
        return [fault(file, "objective", what, EFFECTIVE, hint=hint)]
    budgets = [
        (f"stages.{number}.limits.budget_usd", stage.limits.budget_usd)
        for number, stage in enumerate(case.stages or ())
    ]
    budgets += [(f"limits.{key}", amounts[0]) for key, amounts in case.limits.by_period.items()]
    if case.objective != "capex_usd":
        budgets.append((BUDGET_KEY, case.limits.budget_usd))
    limited = [fault(file, path, what, value, hint=hint) for path, value in budgets if value is not None]
    return [*limited, *uncertain_stages(case, file, "price ranges are not worked out")]


def targets_of(problem: Problem, rows: Sequence[BomRow], asked: Asked) -> list[Target]:
    """Kinds, then parts, in the order of the bill; those asked for in theirs, whether the answer uses them or not."""
    kinds, ids = asked.kinds, asked.parts
    if not kinds and not ids:
        kinds = [row.kind for row in rows if row.kind in KIND_OF_WORD]
        ids = [row.id for row in rows if row.kind in KIND_OF_WORD]
    targets = [Target("kind", kind, _of(problem, "kind", kind)) for kind in dict.fromkeys(kinds)]
    return [*targets, *(_part(problem, rows, part) for part in dict.fromkeys(ids))]


def _of(problem: Problem, key: str, value: str) -> frozenset[int]:
    return frozenset(item.index for item in problem.item_table.items if getattr(item, key) == value)


def _part(problem: Problem, rows: Sequence[BomRow], part: str) -> Target:
    prices = {row.unit_price_usd for row in rows if row.id == part}
    return Target("part", part, _of(problem, "id", part), prices.pop() if len(prices) == 1 else None)


NOTHING_FITS = "no design is within the budget"
POWER_NOTE = "objective power_w: no price decides, except between designs that draw the same"
# What is certain of an end that was not found: the answer is one at today's prices.
UNKNOWN = RangeEnd(STEPS, None, False)
FLOOR_NOTE = "large floor: the likeliest designs were compared at each price, so no end of a range is proven"


def sensitivity(inputs: Inputs, asked: Asked, settings: Settings, clock: Clock) -> Sensitivity:
    """Price ranges of the answer to a case; ``check_asked`` has passed.

    Ranges that a stopped clock leaves out are missing.
    """
    offering = offering_of(inputs.case, inputs.catalog, settings.prune, whole=True)
    problem = problem_of(inputs.case, inputs.catalog, settings.prune, offering)
    empty = _empty(inputs, problem, settings)
    clock.reserve(finishing_s(problem))
    settings.progress("finding the answer at today's prices")
    try:
        answer = best_answer(problem, settings, clock, Context())
        base, answer = answer.problem, with_room_for_panels(answer, settings, clock)
    except NoAnswerError as error:
        return empty.model_copy(update={"notes": (*inputs.notes, str(error))})
    except NoRoomError as error:
        return empty.model_copy(update={"conflicts": (error.conflict,)})
    problem = answer.problem
    question = Question(inputs, settings, clock, problem=problem, answer=answer)
    if not answer.has_design:
        design = answered(question)
        why = {"status": design.status, "conflicts": design.conflicts, "complete": design.status == "infeasible"}
        return empty.model_copy(update=why)
    finder = _Ranges(base, answer, settings, clock)
    ranges = tuple(finder.ranges(targets_of(problem, bill(problem, answer.picked), asked)))
    design = proven(question)
    return empty.model_copy(
        update={
            "status": design.status,
            "objective": design.objective,
            "summary": summaries_of(problem, answer.picked),
            "complete": finder.complete,
            "notes": (*inputs.notes, *_notes(problem, ranges)),
            "ranges": ranges,
        }
    )


def _empty(inputs: Inputs, problem: Problem, settings: Settings) -> Sensitivity:
    """The file before there is an answer."""
    return Sensitivity(
        fabopt=VERSION,
        case=case_record(problem),
        catalog_sha256=catalog_hash(inputs),
        status="unknown",
        objective=Objective(metric=problem.case.objective, engine=settings.engine),
        complete=False,
        step=1 / STEPS,
        most_factor=MOST_STEPS // STEPS,
        notes=inputs.notes,
    )


def _notes(problem: Problem, ranges: Sequence[PriceRange]) -> Iterator[str]:
    if problem.case.objective == "power_w":
        yield POWER_NOTE
    if problem.site.method == "estimates" and not any(span.proven for span in ranges):
        yield FLOOR_NOTE


@dataclass
class _Ranges:
    """The ranges of one answer to a problem, one after the other. ``complete``: False once the clock has stopped them.

    ``base``: the problem of all designs that the answer is compared with.
    """

    base: Problem
    answer: Answer
    settings: Settings
    clock: Clock
    complete: bool = True

    def ranges(self, targets: Sequence[Target]) -> Iterator[PriceRange]:
        """A range for each target."""
        problem, proven = self.answer.problem, self.answer.optimum.verdict == "optimal"
        own = priced_design(self.base, problem, self.answer.picked)
        ends = ends_of(self.base, own, proven, self.settings, self.clock)
        for number, target in enumerate(targets):
            if problem.case.objective == "power_w":
                yield self._range(target, ends, RangeEnd(0, None, proven), RangeEnd(MOST_STEPS, None, proven))
                continue
            told = f"prices of {target.name} ({number + 1} of {len(targets)})"
            low, high = (self._end(ends, target, direction, told) for direction in DIRECTIONS)
            if low is not None or high is not None:
                yield self._range(target, ends, low or UNKNOWN, high or UNKNOWN)
            if not self.complete:
                return

    def _end(self, ends: EndFinder, target: Target, direction: Direction, told: str) -> RangeEnd | None:
        """An end of a range; None if the work was stopped before it was found."""
        try:
            with self.clock.bounded():
                return ends.find(target.indices, direction, told)
        except StoppedError:
            self.complete = False
            return None

    def _range(self, target: Target, ends: EndFinder, low: RangeEnd, high: RangeEnd) -> PriceRange:
        stays = high.beyond is None and high is not UNKNOWN
        price = None if target.unit_price_usd is None else exact(target.unit_price_usd) * CENTS_PER_USD / STEPS
        return PriceRange(
            kind=target.name if target.form == "kind" else None,
            part=target.name if target.form == "part" else None,
            unit_price_usd=target.unit_price_usd,
            factor_low=plain(low.step, STEPS),
            factor_high=None if stays else plain(high.step, STEPS),
            price_low_usd=None if price is None else usd(ceil(price * low.step)),
            price_high_usd=None if price is None or stays else usd(floor(price * high.step)),
            low=None if low.beyond is None else self._takeover(target, ends, low.beyond),
            high=None if high.beyond is None else self._takeover(target, ends, high.beyond),
            proven=low.is_proven and high.is_proven,
            low_known=low is not UNKNOWN,
            high_known=high is not UNKNOWN,
        )

    def _takeover(self, target: Target, ends: EndFinder, probe: Probe) -> Takeover:
        factor, cost = plain(probe.step, STEPS), ends.answer.line(target.indices).at(probe.factor)
        priced = probe.priced
        if priced is None or probe.problem is None or probe.cents is None:
            return Takeover(factor=factor, summary=NOTHING_FITS, answer_objective=usd(rounded(cost)))
        return Takeover(
            factor=factor,
            summary=summaries_of(probe.problem, priced.picked),
            changes=changes_between(self.answer.problem, self.answer.picked, priced.picked, probe.problem),
            objective=usd(rounded(probe.cents)),
            answer_objective=usd(rounded(cost)),
        )


# -- the differences between two designs of a case, in words ----------------------------------------------------------


ROLES = ("leaf", "spine", "core")
# So many parts whose numbers alone are different are told.
MOST_PARTS_TOLD = 3


def changes_between(
    problem: Problem, picked: Sequence[Picked], other_picked: Sequence[Picked], other_problem: Problem
) -> tuple[str, ...]:
    """A line for each difference: protocol, NICs, switches, parts of links; else numbers of parts."""
    changes: list[str] = []
    for index, fabric in enumerate(problem.fabrics):
        prefix = f"{fabric.name} " if len(problem.fabrics) > 1 else ""
        before = fabric_design(problem, fabric, picked[index])
        after = fabric_design(other_problem, other_problem.fabrics[index], other_picked[index])
        changes += [f"{prefix}{line}" for line in _hardware(before, after)]
    changes = changes or _numbers(problem, picked, other_picked, other_problem)
    return tuple(changes or ["the same parts, ordered otherwise"])


def _hardware(before: FabricDesign, after: FabricDesign) -> Iterator[str]:
    old, new = _described(before), _described(after)
    for purpose in dict.fromkeys([*old, *new]):
        part, other_part = old.get(purpose, "none"), new.get(purpose, "none")
        if part != other_part:
            yield f"{purpose}: {part} -> {other_part}"


def _described(fabric: FabricDesign) -> dict[str, str]:
    """Parts of a fabric in words, by their place: protocol, NICs, tiers, ends of links."""
    nic = fabric.nic
    words = {"protocol": fabric.protocol, "NICs": f"{nic.per_server} x {nic.id} at {nic.gbps:g}G"}
    words |= {tier.role: " and ".join(f"{row.count:,} x {row.id}" for row in tier.types) for tier in fabric.tiers}
    for ends in dict.fromkeys(_ends(row) for row in fabric.links):
        ways = dict.fromkeys(_way(row) for row in fabric.links if _ends(row) == ends)
        words[ends] = " and ".join(ways)
    return words


def _ends(row: LinkRow) -> str:
    return f"{row.attachment or row.from_} - {row.to}"


def _way(row: LinkRow) -> str:
    """The parts of links: the medium and its parts."""
    parts = " + ".join(dict.fromkeys(part.id for part in row.parts))
    return f"{row.medium} {parts}" if parts else row.medium


def _numbers(
    problem: Problem, picked: Sequence[Picked], other_picked: Sequence[Picked], other_problem: Problem
) -> list[str]:
    """Lines on parts used in other numbers."""
    before, after = (
        {item.key: count for item, count in over_stages(all_uses(*design)).items()}
        for design in ((problem, picked), (other_problem, other_picked))
    )
    changes = []
    for key in dict.fromkeys([*before, *after]):
        counts = before.get(key, 0), after.get(key, 0)
        if counts[0] != counts[1]:
            length = f" {key[1]:g} m" if key[1] else ""
            changes.append(f"{key[0]}{length}: {counts[0]:,} -> {counts[1]:,}")
    more = len(changes) - MOST_PARTS_TOLD
    return [*changes[:MOST_PARTS_TOLD], *([f"{more} more parts in other numbers"] if more > 0 else [])]
