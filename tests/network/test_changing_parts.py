"""Parts that change link by link are those that all links make at once."""

from __future__ import annotations

import numpy as np
import pytest

from fabopt.network.changing_parts import ChangingParts
from fabopt.network.components import first_joined
from tests.samples.random_cases import Dice


@pytest.mark.parametrize("seed", range(6))
def test_parts_after_every_change_are_those_of_all_links(seed: int) -> None:
    dice, parts, links = Dice(f"parts-{seed}"), ChangingParts[int](), list[tuple[int, ...]]()
    number = dice.one([2, 5, 12, 30])
    of = {thing: parts.part_of(thing) for thing in range(number)}
    for _ in range(200):
        if links and dice.one([True, True, False] if len(links) > number else [True, False, False]):
            links.remove(link := dice.one(links))
            change = parts.cut(*link)
        else:
            links.append(link := tuple(dice.some(range(number), 2, 2)))
            change = parts.join(*link)
        if change is not None:
            assert {of[thing] for thing in change.things} == {change.before}
            of |= dict.fromkeys(change.things, change.now)
        a, b = np.array(links, dtype=np.int64).reshape(-1, 2).T
        first = first_joined(number, a, b).tolist()
        assert of == {thing: parts.part_of(thing) for thing in range(number)}
        assert [of[thing] for thing in range(number)] == [of[one] for one in first]
        assert len(set(of.values())) == len(set(first))
