"""A case that limits how many lengths of cables and fibres are ordered: which lengths are kept is chosen exactly.

Without a length every cable that would have it takes the next longer one that is kept, as if no other were on sale. So
the answer is the best of all ways to leave lengths out. Where an answer has more lengths than allowed, one that it uses
has to go: each in turn, those before it being kept. Where longer ones cost no less, what is left out only raises the
cost, so a branch is left once its answer is no cheaper than the best one met. Else, as with breaks of prices or spares
of each length, all sets are solved if they are few, and nothing is proven if they are not. See
docs/formulation/procurement.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, pairwise, product as each_with_each
from typing import NamedTuple

from fabopt.design.bill import bill
from fabopt.io.case import Inputs
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.schema.catalog import Cable, Catalog, Fibre
from fabopt.schema.design import Conflict
from fabopt.search.answer import Answer
from fabopt.solution.question import Answers, Question
from fabopt.units import grouped, some, summed

Settle = Callable[[Question], tuple[Question, Answers]]
KEY = "max_lengths"
# Where fewer lengths may cost less, so many sets of them are all solved.
MOST_SETS = 200


class _Length(NamedTuple):
    """A length in metres of a product, or of all where ``product`` is empty."""

    product: str
    m: float


class _Excess(NamedTuple):
    """More lengths than ``most`` of a product, or of the site: cables and fibres by length."""

    cables: Counter[_Length]
    most: int


def with_few_lengths(asked: Question, settle: Settle) -> tuple[Question, Answers]:
    """The question without the lengths that are left out, and its answers; the same question where nothing is limited.

    Rule ``lengths_are_few``. Without a design the question has the conflict of the limit. A point of a
    study is taken as it is.
    """
    limits = asked.inputs.case.length_limits
    if not limits.are_set or asked.problem is not None or asked.answer is not None:
        return settle(asked)
    # nothing that was met before knows of lengths that are left out
    alone = replace(asked, known=None, lower_than=None, tried=())
    tree = _LengthTree(alone, settle)
    question, answers = tree.root
    if answers.best is None or tree.excess(answers.best, 0) is None:
        return question, answers
    tree.search()
    if tree.best is not None:
        question, answers = tree.best
        return replace(question, notes=(*question.notes, *tree.note(answers))), answers
    if not tree.is_done:
        return question, Answers(tuple(_without_design(one, "unknown") for one in answers.tried), complete=False)
    none = Answers(tuple(_without_design(one, "infeasible") for one in answers.tried))
    return replace(question, conflicts=(tree.conflict(),)), none


def _without_design(answer: Answer, verdict: str) -> Answer:
    return replace(answer, optimum=Optimum(verdict, sized=answer.optimum.sized))


@dataclass(eq=False)
class _LengthTree:
    """The ways to leave lengths out. ``more``: lengths beyond the limits that are allowed all the same."""

    asked: Question
    settle: Settle
    more: int = 0
    best: tuple[Question, Answers] | None = None
    is_done: bool = True
    root: tuple[Question, Answers] = field(init=False)

    def __post_init__(self) -> None:
        self.root = self.settle(self.asked)

    def search(self) -> None:
        """Look at every way that may be the best, as far as time allows."""
        assert self.root[1].best is not None
        if self.excess(self.root[1].best, self.more) is None:
            self.best = self.root
            return
        rises = _costs_rise(self.root[1].best.problem)
        # where fewer lengths may cost less, the answer with all of them bounds nothing
        bound = self.root[1].optimum.bound if rises else None
        try:
            if rises:
                self._branch(self.root, frozenset(), frozenset())
            elif (sets := list(islice(self._sets(), MOST_SETS + 1))) and len(sets) <= MOST_SETS:
                for kept in sets:
                    self._take(self._settled(frozenset(map(_Length._make, _on_sale(self.asked.inputs))) - kept))
            else:
                self._branch(self.root, frozenset(), frozenset())
                self.is_done = False
        except StoppedError:
            self.is_done = False
        if self.best is not None and not self.is_done:
            question, answers = self.best
            self.best = question, replace(answers, complete=False, bound=bound)

    def _sets(self) -> Iterator[frozenset[_Length]]:
        """Every set of lengths of products that the limits allow."""
        limits, sold = self.asked.inputs.case.length_limits, _on_sale(self.asked.inputs)
        metres = sorted({m for _, m in sold})
        for number in range(min(_with_more(limits.site, self.more) or len(metres), len(metres)) + 1):
            for chosen in combinations(metres, number):
                lengths = [_Length(id_, m) for id_, m in sold if m in chosen]
                own = [list(of_product) for of_product in grouped((one.product, one) for one in lengths).values()]
                yield from map(frozenset, self._of_products(own, chosen))

    def _of_products(self, own: list[list[_Length]], chosen: tuple[float, ...]) -> Iterator[list[_Length]]:
        """The sets with exactly these metres in which no product has too many."""
        most = _with_more(self.asked.inputs.case.length_limits.product, self.more)
        if most is None:
            yield [one for of_product in own for one in of_product]
            return
        ways = [[way for number in range(most + 1) for way in combinations(lengths, number)] for lengths in own]
        for way in each_with_each(*ways):
            self.asked.clock.look()
            kept = [one for of_product in way for one in of_product]
            if {one.m for one in kept} == set(chosen):
                yield kept

    def _settled(self, dropped: frozenset[_Length]) -> tuple[Question, Answers]:
        """The answers without some lengths."""
        self.asked.clock.look()
        self.asked.settings.progress(f"without {some(len({one.m for one in dropped}), 'length')} of cables and fibres")
        return self.settle(replace(self.asked, inputs=_without(self.asked.inputs, dropped)))

    def _take(self, node: tuple[Question, Answers]) -> None:
        self.is_done &= node[1].is_decided
        if node[1].best is not None and self._is_better(node[1].best):
            self.best = node

    def _branch(self, node: tuple[Question, Answers], dropped: frozenset[_Length], kept: frozenset[_Length]) -> None:
        """Look at all ways in which ``dropped`` are not there, as of ``node``, and ``kept`` are in use."""
        self.is_done &= node[1].is_decided
        best = node[1].best
        if best is None or not self._is_better(best):
            return
        excess = self.excess(best, self.more)
        if excess is None:
            self.best = node
            return
        known = kept & excess.cables.keys()
        free = sorted(excess.cables.keys() - kept, key=lambda length: (excess.cables[length], length))
        for place, length in enumerate(free[: excess.most - len(known) + 1]):
            stay = known | set(free[:place])
            gone = dropped | ({length} if len(stay) < excess.most else set(self._others(length, stay)))
            self._branch(self._settled(gone), gone, kept | stay)

    def _is_better(self, answer: Answer) -> bool:
        met = None if self.best is None else self.best[1].best
        value, least = answer.optimum.value, None if met is None else met.optimum.value
        return value is not None and (least is None or value < least)

    def _others(self, length: _Length, stay: frozenset[_Length]) -> Iterator[_Length]:
        """All lengths that are on sale, of the same product or of the site, but for those that stay."""
        for product, m in _on_sale(self.asked.inputs):
            other = _Length(product if length.product else "", m)
            if other.product == length.product and other not in stay:
                yield other

    def excess(self, answer: Answer, more: int) -> _Excess | None:
        """The first limit that an answer exceeds by more than ``more`` lengths; None if it exceeds none."""
        limits = self.asked.inputs.case.length_limits
        products = {product.id: product.base_id for product in laid(answer.problem.catalog)}
        used = summed(
            ((products[row.id], row.length_m), row.in_use)
            for row in bill(answer.problem, answer.picked)
            if row.id in products and row.length_m is not None and (row.in_use or row.quantity)
        )
        if limits.site is not None:
            in_all = summed((_Length("", m), cables) for (_, m), cables in used.items())
            if len(in_all) > limits.site + more:
                return _Excess(in_all, limits.site + more)
        for product in sorted({product for product, _ in used} if limits.product is not None else ()):
            own = Counter({_Length(*key): cables for key, cables in used.items() if key[0] == product})
            if limits.product is not None and len(own) > limits.product + more:
                return _Excess(own, limits.product + more)
        return None

    def note(self, answers: Answers) -> Iterator[str]:
        """What fewer lengths cost."""
        best, free = answers.best, self.root[1].best
        if best is None or free is None or best.optimum.value is None or free.optimum.value is None:
            return
        weights = best.problem.weights
        more = weights.in_metric(best.optimum.value) - weights.in_metric(free.optimum.value)
        lengths = [sorted({row.length_m for row in bill(one.problem, one.picked) if row.length_m is not None
                           and (row.in_use or row.quantity)}) for one in (best, free)]  # fmt: skip
        kept = ", ".join(f"{m:g}" for m in lengths[0])
        yield (
            f"`{KEY}`: cables and fibres come in {some(len(lengths[0]), 'length')} ({kept} m), not in "
            f"{len(lengths[1])}; {best.problem.case.objective} is {more:,.12g} more for it"
        )

    def conflict(self) -> Conflict:
        """How many more lengths would do: one more, and so on."""
        limits = self.asked.inputs.case.length_limits
        site, product = limits.site, limits.product
        key, value = (KEY, site) if site is not None and product is None else (f"{KEY}.product", product)
        if site is not None and product is not None:
            key, value = f"{KEY}.site", site
        assert value is not None
        while self.best is None:
            self.more += 1
            self.search()
        detail = "so many lengths of cables and fibres reach every run" + (
            "; `site` and `product` each as many more" if site is not None and product is not None else ""
        )
        return Conflict(
            limit=key, value=value, needed=value + self.more, direction="up", minimal=self.is_done, detail=detail
        )


def _with_more(limit: int | None, more: int) -> int | None:
    return None if limit is None else limit + more


def _costs_rise(problem: Problem) -> bool:
    """Whether a longer length of a product is no cheaper than a shorter one, whatever the quantity, and comes as soon.

    Then a design without a length costs no less than the same one with it, so that answers bound what is without more.
    """
    of_products = (problem.item_table.lengths(product.id) for product in laid(problem.catalog))
    return not any(
        longer.is_ordered or shorter.is_ordered or longer.lead.weeks != shorter.lead.weeks
        or any(cost < less for cost, less in zip(longer.unit_costs, shorter.unit_costs, strict=True))
        for lengths in of_products for shorter, longer in pairwise(lengths)
    )  # fmt: skip


def laid(catalog: Catalog) -> tuple[Cable | Fibre, ...]:
    """What is laid between places: cables with their ends on, and fibres."""
    return (*catalog.cables, *catalog.fibres)


def _on_sale(inputs: Inputs) -> list[tuple[str, float]]:
    """Every length of every product, whoever sells it, each once."""
    lengths = ((product.base_id, length) for product in laid(inputs.catalog) for length in product.lengths)
    return sorted({(id_, length.m) for id_, length in lengths if length.price_usd is not None})


def _without(inputs: Inputs, dropped: frozenset[_Length]) -> Inputs:
    """The inputs without some lengths on sale: they are listed, for the shortest of them tells what a jumper is; a
    product without any is not.
    """

    def kept(product: Cable | Fibre) -> Cable | Fibre:
        left = tuple(
            length.model_copy(update={"price_usd": None})
            if {_Length("", length.m), _Length(product.base_id, length.m)} & dropped else length
            for length in product.lengths
        )  # fmt: skip
        return product.model_copy(update={"lengths": left})

    catalog = inputs.catalog
    left = {
        kind: tuple(
            product
            for product in map(kept, getattr(catalog, kind))
            if any(length.price_usd is not None for length in product.lengths)
        )
        for kind in ("cables", "fibres")
    }
    return replace(inputs, catalog=catalog.model_copy(update=left))
