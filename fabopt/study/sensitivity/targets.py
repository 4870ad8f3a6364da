"""Prices to move: kinds and parts of the answer, or those asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse
from fabopt.parts.price_books import KIND_OF_WORD, products
from fabopt.problem.certain import uncertain_stages
from fabopt.problem.problem import Problem
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import BomRow
from fabopt.schema.front import BUDGET_KEY


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
    if faults:
        raise refuse(faults)


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
