"""Large content in batches, so that faults are known before all of it is validated.

Every fault that validation meets takes memory, whatever becomes of it: a small file of wrong entries would fill that of
the machine. So entries of lists and mappings are validated some thousand values at a time, each in its place in the
content, of which the rest is cut short; that ends where more is wrong than is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Steps = tuple[str | int, ...]
Entries = list[tuple[Any, Any]]
# Values that are validated at once, and entries that are left of other large lists and mappings meanwhile.
MOST_VALUES = 20_000
LEFT = 2
# Of a large mapping with no more small entries than these, all are left: a model's own keys.
FEW = 200


class EntryBatch(NamedTuple):
    """Some entries of a list or a mapping in their content. ``place``: the steps to it in ``content``.

    ``numbers``: by the place of a list that was cut, the places that its entries have in the whole one; ``cut``: places
    of lists and mappings of which entries are left out.
    """

    place: Steps
    content: Any
    numbers: dict[Steps, list[int]]
    cut: set[Steps]

    def holds(self, steps: Steps) -> bool:
        """Whether steps lead to an entry of the batch, or into it."""
        return len(steps) > len(self.place) and steps[: len(self.place)] == self.place

    def has_all_beside(self, steps: Steps) -> bool:
        """Whether all siblings of an entry are present, so that a fault of its key is one of the whole."""
        return not any(steps[:end] in self.cut for end in range(len(steps)))

    def whole(self, steps: Steps) -> Steps:
        """Steps through the batch's content as steps through the whole."""
        real: list[str | int] = []
        for end, step in enumerate(steps):
            known = self.numbers.get(steps[:end])
            real.append(known[step] if known is not None and isinstance(step, int) and step < len(known) else step)
        return tuple(real)


def batches(content: Any) -> Iterator[EntryBatch]:
    """Batches of all large lists and mappings of a content; none for small content."""
    large = _Large()
    if large.size(content) > MOST_VALUES:
        for place, picked in large.picks(content, ()):
            yield large.batch(content, place, picked)


def values_in(content: Any) -> int:
    """Values below and with a content."""
    return _Large().size(content)


class _Large:
    """Lists and mappings of more than ``MOST_VALUES`` values, with what is left of each beside a batch."""

    def __init__(self) -> None:
        self._left: dict[int, Entries] = {}

    def size(self, value: Any) -> int:
        """Values below and with a value."""
        if not isinstance(value, dict | list):
            return 1
        total = 1 + sum(map(self.size, value.values() if isinstance(value, dict) else value))
        if total > MOST_VALUES:
            small = sum(not self._is_large(child) for _, child in _entries(value))
            self._left[id(value)] = list(self._cut(value, small if small <= FEW else LEFT))
        return total

    def _is_large(self, value: Any) -> bool:
        return id(value) in self._left

    def _cut(self, value: Any, left: int) -> Iterator[tuple[Any, Any]]:
        """The large entries, and ``left`` of the small ones."""
        for step, child in _entries(value):
            if self._is_large(child):
                yield step, child
            elif left:
                left -= 1
                yield step, child

    def picks(self, value: Any, place: Steps) -> Iterator[tuple[Steps, Entries]]:
        """The places of large lists and mappings, in the whole, with the small entries of each batch."""
        for step, child in self._left[id(value)]:
            if self._is_large(child):
                yield from self.picks(child, (*place, step))
        picked: Entries = []
        values = 0
        for step, child in _entries(value):
            if not self._is_large(child):
                picked.append((step, child))
                values += _Large().size(child)
                if values >= MOST_VALUES:
                    yield place, picked
                    picked, values = [], 0
        if picked:
            yield place, picked

    def batch(self, content: Any, place: Steps, picked: Entries) -> EntryBatch:
        """The content with these entries at a place, and cut short elsewhere."""
        numbers: dict[Steps, list[int]] = {}
        of_batch: list[Steps] = []
        cut: set[Steps] = set()

        def built(value: Any, real: Steps, steps: Steps) -> Any:
            if not self._is_large(value):
                return value
            kept = self._left[id(value)]
            if real == place:
                of_batch.append(steps)
                kept = [*(entry for entry in kept if self._is_large(entry[1])), *picked]
            if len(kept) < len(value):
                cut.add(steps)
            if isinstance(value, dict):
                return {step: built(child, (*real, step), (*steps, step)) for step, child in kept}
            numbers[steps] = [step for step, _ in kept]
            return [built(child, (*real, step), (*steps, number)) for number, (step, child) in enumerate(kept)]

        whole = built(content, (), ())
        return EntryBatch(of_batch[0], whole, numbers, cut)


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    return iter(value.items()) if isinstance(value, dict) else iter(enumerate(value))
