"""The fewest keys of a case that have to change together where no single change gives a design; the fabric at fault.

Keys are left open in the order in which people pull levers. From a set of open keys with a design dispensable keys are
restored, the last one pulled first. Then smaller sets are asked for, as hitting sets: each holds a key of every set
whose restoring left no design. So the reported set is least. Its numbers are minimized one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, combinations
from typing import NamedTuple

from fabopt.explain.deliveries import quota_levers
from fabopt.explain.demands import (
    MOST_RATIO,
    bandwidth_conflict,
    bandwidth_key,
    boundaries,
    largest_levers,
    rate_conflict,
    ratio_conflict,
    ratio_key,
    with_any_bandwidth,
    with_any_ratio,
    with_key,
)
from fabopt.explain.freedoms import ANY_GBPS, RUNS, SHORTEST_RUN_M, ruled, unruled, value_of
from fabopt.explain.gaps import gap_of, gap_sentences
from fabopt.explain.latency import latency_levers
from fabopt.explain.levers import Lever, limit_levers, move_each_alone as lever_conflicts
from fabopt.explain.runs import run_conflict
from fabopt.explain.structures import OpenKey, open_keys
from fabopt.explain.supply import listed, part_number_conflicts, vendor_conflicts
from fabopt.explain.what_if import NO_SINGLE_CHANGE, Inquiry, with_needed
from fabopt.program.settings import StoppedError
from fabopt.rules.buying import COUNTED, LISTS
from fabopt.rules.demands import RATES
from fabopt.schema.case import Case, Fabric
from fabopt.schema.design import Conflict, Needed, Number
from fabopt.schema.resilience import NO_RULE
from fabopt.schema.site import Distances

# So few changes are the fewest, once none of them alone does.
FEWEST = 2
LEAST_SET = "these together do, and no fewer"
UNSETTLED_SET = "these together do; whether fewer, or smaller ones, would was not settled"
Value = Number | str | tuple[str, ...] | None


class Change(NamedTuple):
    """A key that can be left open: its value, the value of the open key, and the case with it open.

    ``nearest``: for a number, the questions that find its nearest value with a design.
    """

    key: str
    value: Number | str | None
    needed: Value
    of: Callable[[Case], Case]
    nearest: Callable[[Inquiry], Iterator[Conflict]] | None = None


def clashes(inquiry: Inquiry) -> list[str]:
    """Sentences: each fabric without a design of its own, and its gaps with every key open, as far as time allows."""
    told: list[str] = []
    with suppress(StoppedError), inquiry.clock.bounded():
        failing = without_own_design(inquiry)
        if len(inquiry.case.fabrics) > 1 and failing == [inquiry]:
            told.append("each fabric has a design of its own, but not all of them together")
        for asked in failing:
            if asked is not inquiry:
                told.append(f"fabric {asked.case.fabrics[0].name} has no design even alone")
            if not any(gap_of(asked.problem, fabric) for fabric in asked.problem.fabrics):
                sentences = gap_sentences(asked.about(_opened(asked.case, changes_of(asked))))
                told += [f"with every key of the case left open {sentence}" for sentence in sentences]
    return told


def prescribed(inquiry: Inquiry) -> str:
    """A sentence with all keys that restrict a case, where the clashing ones are not known."""
    keys = [f"`{change.key}`" for change in changes_of(inquiry)]
    return f"what clashes is among {', '.join(keys)} and the number of servers"


def without_own_design(inquiry: Inquiry) -> list[Inquiry]:
    """Inquiries about each fabric without a design of its own; the inquiry about the whole case if all have one."""
    fabrics = inquiry.case.fabrics
    if len(fabrics) == 1 or any(fabric.separation != "physical" for fabric in fabrics):
        return [inquiry]
    failing: list[Inquiry] = []
    for fabric in fabrics:
        case = inquiry.case.model_copy(update={"fabrics": (fabric,), "stages": _of_fabric(inquiry.case, fabric)})
        asked = inquiry.about(case)
        inquiry.tell(f"fabrics.{fabric.name} alone")
        if asked.design_of(asked.problem) is None:
            failing.append(asked)
    return failing or [inquiry]


def _of_fabric(case: Case, fabric: Fabric) -> object:
    """Stages without the demands of other fabrics."""
    stages = case.stages or ()
    return (
        tuple(
            stage.model_copy(
                update={"fabrics": {name: one for name, one in stage.fabrics.items() if name == fabric.name}}
            )
            for stage in stages
        )
        or None
    )


# -- the fewest changes --------------------------------------------------------------------------------------------


def joint_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The fewest changes that together give a design where no single one does, each minimized."""
    inquiry.tell("several keys together")
    changes = list(changes_of(inquiry))
    if not inquiry.settles(_opened(inquiry.case, changes)):
        return
    needed, is_least = _none_to_spare(inquiry, changes)
    if len(needed) > FEWEST:
        needed, is_least = _fewest(inquiry, changes, needed)
    yield from _as_small(inquiry, needed, is_least)


def _opened(case: Case, changes: Iterable[Change]) -> Case:
    for change in changes:
        case = change.of(case)
    return case


def _none_to_spare(inquiry: Inquiry, changes: Sequence[Change]) -> tuple[list[Change], bool]:
    """A subset of changes that still gives a design, and whether each of its changes is proven to be needed."""
    needed, settled = list(changes), True
    with suppress(StoppedError):
        for change in reversed(changes):
            fewer = [other for other in needed if other is not change]
            answer = inquiry.settles(_opened(inquiry.case, fewer)) if fewer else False
            needed, settled = fewer if answer else needed, settled and answer is not None
        return needed, settled
    return needed, False


def _fewest(inquiry: Inquiry, changes: Sequence[Change], enough: list[Change]) -> tuple[list[Change], bool]:
    """The fewest changes that together give a design, the first in order among equals, and whether this is settled."""
    places, settled = range(len(changes)), True
    # of each of these sets of keys one has to change, whatever else does
    needs = [frozenset(places)]

    def works(chosen: Collection[int]) -> bool | None:
        return inquiry.settles(_opened(inquiry.case, (changes[place] for place in sorted(chosen))))

    with suppress(StoppedError):
        while True:
            fewer = chain.from_iterable(combinations(places, size) for size in range(1, len(enough)))
            chosen = next((chosen for chosen in fewer if all(need.intersection(chosen) for need in needs)), None)
            if chosen is None:
                return enough, settled
            answer = works(chosen)
            if answer:
                return [changes[place] for place in chosen], settled
            settled &= answer is not None
            failing = set(chosen)
            for place in places:
                if answer is not None and place not in failing and works({*failing, place}) is False:
                    failing.add(place)
            needs.append(frozenset(places) - failing)
    return enough, False


def _as_small(inquiry: Inquiry, needed: Sequence[Change], is_least: bool) -> Iterator[Conflict]:
    """Changes that are needed together as one conflict, each number as near to its value in the case as possible."""
    case, told, written = inquiry.case, list[Conflict](), list[Needed]()
    for place, change in enumerate(needed):
        conflict = _nearest(inquiry.about(_opened(case, needed[place + 1 :])), change)
        if conflict is None:
            is_least, conflict = False, Conflict(limit=change.key, value=change.value, needed=change.needed)
        is_least &= conflict.minimal is not False
        changes = conflict.together or (Needed(limit=conflict.limit, needed=conflict.needed),)
        is_number = conflict.direction is not None
        case = with_needed(inquiry, case, changes) if is_number else change.of(case)
        told.append(conflict)
        written += changes
    try:
        works = inquiry.design(case) is not None
    except StoppedError:
        works, is_least = True, False  # by the last answer, with those behind left open
        inquiry.met.clear()
    if works:
        together = tuple(written) if len(written) > 1 else ()
        detail = f"{NO_SINGLE_CHANGE}; {LEAST_SET if is_least else UNSETTLED_SET}"
        yield told[0].model_copy(update={"together": together, "minimal": is_least, "detail": detail})


def _nearest(asked: Inquiry, change: Change) -> Conflict | None:
    """The nearest value of a change in a case with earlier changes made; None if it is not known."""
    if change.nearest is None:
        return Conflict(limit=change.key, value=change.value, needed=change.needed)
    with suppress(StoppedError):
        conflict = next(change.nearest(asked), None)
        return None if conflict is None or conflict.needed is None else conflict
    return None


# -- keys ----------------------------------------------------------------------------------------------------------


def changes_of(inquiry: Inquiry) -> Iterator[Change]:
    """Every key of a case that can be left open, in the order in which people pull levers."""
    fabrics = list(inquiry.fabrics)
    for index, fabric, meant in fabrics:
        for tier in boundaries(meant):
            nearest = partial(ratio_conflict, index=index, tier=tier)
            of = partial(with_any_ratio, inquiry, index, tier)
            yield Change(ratio_key(fabric, tier), None, MOST_RATIO, of, nearest)
    for index, fabric, _ in fabrics:
        yield from _shape(inquiry, index, fabric)
    for index, fabric, _ in fabrics:
        yield from _speeds(inquiry, index, fabric)
    for _, fabric, _ in fabrics:
        yield from (_open_key(key) for key in open_keys(inquiry, fabric) if key.choice.of_products)
    yield from _buying(inquiry)
    if inquiry.problem.site.runs_are_alike:
        for kind in RUNS:
            nearest = partial(run_conflict, kind=kind)
            yield Change(f"site.distances_m.{kind}", None, SHORTEST_RUN_M, partial(_shorter, kind=kind), nearest)
    yield from (_of_lever(inquiry, lever) for lever in limit_levers(inquiry))


def _open_key(open_key: OpenKey) -> Change:
    conflict = open_key.conflict
    return Change(conflict.limit, conflict.value, conflict.needed, open_key.of)


def _of_lever(inquiry: Inquiry, lever: Lever) -> Change:
    def of(case: Case) -> Case:
        return lever.applied(inquiry.asked._replace(case=case), None).case

    return Change(lever.limit, lever.value, None, of, lambda asked: lever_conflicts(asked, [lever]))


def _shape(inquiry: Inquiry, index: int, fabric: Fabric) -> Iterator[Change]:
    levers = (*largest_levers(inquiry, index), *latency_levers(inquiry, index))
    yield from (_of_lever(inquiry, lever) for lever in levers)
    yield from (_open_key(key) for key in open_keys(inquiry, fabric) if not key.choice.of_products)


def _speeds(inquiry: Inquiry, index: int, fabric: Fabric) -> Iterator[Change]:
    of = partial(with_any_bandwidth, inquiry, fabric)
    yield Change(bandwidth_key(fabric), None, ANY_GBPS, of, partial(bandwidth_conflict, index=index))
    for demand in RATES:
        if (wanted := getattr(fabric, demand.key)) is not None:
            nearest = partial(rate_conflict, index=index, demand=demand)
            of_rate = with_key(fabric, demand.key, None)
            yield Change(f"fabrics.{fabric.name}.{demand.key}", wanted, None, of_rate, nearest)
    if fabric.survived:
        survived = ", ".join(demand.survive for demand in fabric.survived)
        of_losses = with_key(fabric, "resilience", NO_RULE)
        yield Change(f"fabrics.{fabric.name}.resilience", survived, NO_RULE, of_losses)


def _buying(inquiry: Inquiry) -> Iterator[Change]:
    rules = inquiry.case.procurement
    for rule in LISTS:
        if (value := value_of(inquiry.case, rule)) is not None:
            yield Change(rule.path, listed(value), "any", partial(unruled, rule))
    for rule in COUNTED:
        for place, value in value_of(inquiry.case, rule).items():
            nearest = partial(vendor_conflicts, key=rule.key, place=place)
            yield Change(f"{rule.path}.{place}", value, "any", partial(_uncounted, rule.key, place), nearest)
    for kind, most in rules.max_part_numbers.items():
        nearest = partial(part_number_conflicts, kind=kind, most=most)
        of = partial(_uncounted, "max_part_numbers", kind)
        yield Change(f"procurement.max_part_numbers.{kind}", most, None, of, nearest)
    yield from (_of_lever(inquiry, lever) for lever in quota_levers(inquiry))


def _uncounted(rule: str, place: str, case: Case) -> Case:
    """The case without a procurement rule's count at one place."""
    given = getattr(case.procurement, rule)
    return ruled(case, **{rule: {other: number for other, number in given.items() if other != place}})


def _shorter(case: Case, kind: str) -> Case:
    distances = (case.site.distances_m or Distances()).model_copy(update={kind.replace("-", "_"): SHORTEST_RUN_M})
    return case.model_copy(update={"site": case.site.model_copy(update={"distances_m": distances})})
