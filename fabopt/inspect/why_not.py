"""Why products are not in the answer to a case: what keeps each out, or how much dearer the designs with it are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import floor

from fabopt.design.bill import bill
from fabopt.errors import NoAnswerError
from fabopt.explain.conflicts import inquiry_of
from fabopt.explain.demands import changed
from fabopt.explain.why_not import Lack, Obstacles, lacking_only, obstacles_to
from fabopt.io.case import Inputs
from fabopt.parts.offering import offering_of
from fabopt.parts.price_books import KIND_OF_WORD
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.separation import first_combination
from fabopt.program.orders import all_uses
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.case import Case
from fabopt.schema.model import Model
from fabopt.schema.prediction import WorkloadNeeds
from fabopt.schema.product import Product
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.price_ends import STEPS, priced_design
from fabopt.search.rules_kept import best_answer
from fabopt.solution.trunked_ends import ends_of
from fabopt.study.sensitivity.ranges import unanswerable
from fabopt.units import CENTS_PER_USD, exact, usd

TIERS = ("leaf", "spine", "core")


@dataclass(frozen=True)
class WhyNot:
    """A product, and why it is not in the answer.

    ``verdict``: `in the answer`, `not chosen` of a candidate, `left out` of another product, `not a choice` of a
    server, `no answer` of a candidate for a case without a design. ``dearer``: the objective of the best design that is
    met with it in one of its places, less the answer's, in ``metric``. ``below_usd``: the price below which it is
    chosen, where it has one ``price_usd``; ``is_never``: not even free. None: not known.
    """

    id: str
    kind: str
    verdict: str
    obstacles: Obstacles = field(default_factory=Obstacles)
    dearer: float | None = None
    metric: str = ""
    price_usd: float | None = None
    below_usd: float | None = None
    is_never: bool = False


def needs_of_case(inputs: Inputs) -> tuple[str, WorkloadNeeds] | None:
    """The name of a case's model, and its needs of the network; None without one."""
    case, catalog = inputs.case, inputs.catalog
    wanted = case.workload
    if wanted is None or not isinstance(wanted.model, Model) or not isinstance(case.server, str):
        return None
    needs = problem_of(first_combination(case, catalog), catalog).needs
    return None if needs is None else ("the job that needs most" if wanted.jobs else wanted.model.name, needs)


def why_not(inputs: Inputs, ids: Sequence[str], settings: Settings, clock: Clock) -> Iterator[WhyNot]:
    """Why each of some products of the catalog is not in the answer."""
    offering = offering_of(inputs.case, inputs.catalog, settings.prune, whole=True)
    problem = problem_of(inputs.case, inputs.catalog, settings.prune, offering)
    inquiry = inquiry_of(problem_of(inputs.case, inputs.catalog, prune=False), settings, clock, Context())
    settings.progress("finding the answer")
    answer: Answer | None = None
    with suppress(NoAnswerError, StoppedError):
        answer = best_answer(problem, settings, clock, Context())
    finder = _Finder(inputs, settings, clock, answer) if answer is not None and answer.has_design else None
    known = {product.id: (word, product) for word, product in _sold(inputs)}
    for id_ in ids:
        settings.progress(f"looking at {id_}")
        word, product = known[id_]
        if word == "server":
            yield WhyNot(id_, word, "not a choice")
        elif finder is not None and id_ in finder.used:
            yield WhyNot(id_, word, "in the answer")
        else:
            obstacles = obstacles_to(inquiry, product)
            if obstacles != Obstacles():
                yield WhyNot(id_, word, "left out", obstacles)
            elif finder is None:
                yield WhyNot(id_, word, "no answer")
            else:
                yield finder.told(word, product)


def products_lacking(inputs: Inputs, settings: Settings, clock: Clock) -> Iterator[tuple[str, tuple[Lack, ...]]]:
    """Listed products that would be candidates but for a price, a power figure, a split or a matching part."""
    problem = problem_of(inputs.case, inputs.catalog, prune=False)
    return lacking_only(inquiry_of(problem, settings, clock, Context()))


def _sold(inputs: Inputs) -> Iterator[tuple[str, Product]]:
    return ((word, product) for word, kind in KIND_OF_WORD.items() for product in getattr(inputs.catalog, kind))


class _Finder:
    """Looks at designs with a product that the answer does not have."""

    def __init__(self, inputs: Inputs, settings: Settings, clock: Clock, answer: Answer) -> None:
        self.inputs, self.settings, self.clock, self.answer = inputs, settings.quiet, clock, answer
        self.used = {row.id for row in bill(answer.problem, answer.picked)}

    def told(self, word: str, product: Product) -> WhyNot:
        """How much dearer designs with a product are, and the price at which it would be chosen."""
        price, (below, is_never) = getattr(product, "price_usd", None), self._below(product)
        known = price if isinstance(price, float) else None
        return WhyNot(
            product.id,
            word,
            "not chosen",
            dearer=self._dearer(product) if word in ("switch", "nic") else None,
            metric=self.inputs.case.objective,
            price_usd=known,
            below_usd=usd(floor(exact(known) * CENTS_PER_USD * below / STEPS)) if known and below else None,
            is_never=is_never,
        )

    def _dearer(self, product: Product) -> float | None:
        """The best objective of a fabric with a product in some place, less the answer's; None: no such design."""
        best: float | None = None
        for case in {case.model_dump_json(): case for case in self._with(product)}.values():
            with suppress(StoppedError, NoAnswerError), self.clock.bounded():
                problem = problem_of(case, self.inputs.catalog, self.settings.prune)
                optimum = search_of(problem, self.settings, self.clock).run(ties=False)
                used = {item.id for _, item in all_uses(problem, optimum.picked)} if optimum.picked else set()
                if optimum.value is not None and product.id in used:
                    objective = float(problem.weights.in_metric(optimum.value))
                    best = objective if best is None else min(best, objective)
        own = self.answer.optimum.value
        return None if best is None or own is None else best - float(self.answer.problem.weights.in_metric(own))

    def _with(self, product: Product) -> Iterable[Case]:
        """The case with a product as the only one in each place that it may have."""
        problem: Problem = self.answer.problem
        for fabric in self.inputs.case.fabrics:
            meant = next((one for one in problem.fabrics if one.name == fabric.name), None)
            for protocol in meant.protocols if meant is not None else ():
                assert meant is not None
                if any(nic.nic_id == product.id for nic in meant.nics.get(protocol, ())):
                    yield changed(self.inputs.case, fabric, nics=(product.id,))
                for tier in TIERS[: max(meant.shapes.tiers, default=1)]:
                    if any(switch.id == product.id for switch in meant.switches[protocol][tier]):
                        switches = fabric.switches.model_copy(update={tier: (product.id,)})
                        yield changed(self.inputs.case, fabric, switches=switches)

    def _below(self, product: Product) -> tuple[int, bool]:
        """The step of its price at which a product would be chosen (0: not known), and whether it would not be free."""
        problem = self.answer.problem
        if self.inputs.case.objective == "power_w" or unanswerable(self.inputs):
            return 0, False
        indices = frozenset(item.index for item in problem.item_table.items if item.id == product.id)
        ends = ends_of(problem, priced_design(problem, problem, self.answer.picked), False, self.settings, self.clock)
        with suppress(StoppedError, NoAnswerError), self.clock.bounded():
            end = ends.find(indices, -1, product.id)
            return (end.beyond.step, False) if end.beyond is not None else (0, True)
        return 0, False
