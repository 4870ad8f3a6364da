"""Values at dotted keys of a case."""

from __future__ import annotations

import pytest

from fabopt.io.keys import value_at, with_values
from fabopt.schema.site import Site
from fabopt.schema.stages import Oversubscription


def test_names_may_have_dots() -> None:
    content = {"stages": [{"name": "v1.2", "limits": {"budget_usd": 5}}], "limits": {"budget_usd": 7}}
    keys = ("stages.v1.2.limits.budget_usd", "limits.budget_usd", "limits.nope")
    assert [value_at(content, key) for key in keys] == [5, 7, None]


@pytest.mark.parametrize(
    ("boundary", "value", "changed"),
    [
        ("leaf", 1, {"leaf": 1, "spine": 3}),
        ("hall", 4, {"leaf": 3, "spine": 3, "hall": 4}),
    ],
)
def test_one_ratio_is_of_leaves_and_spines_alone(boundary: str, value: int, changed: dict[str, int]) -> None:
    path, content = ("fabrics", 0, "max_oversubscription", boundary), {"fabrics": [{"max_oversubscription": 3}]}
    given = with_values(content, {path: value})["fabrics"][0]["max_oversubscription"]
    assert given == changed and Oversubscription.model_validate(given)


def test_one_word_of_cabling_is_of_links_between_switches() -> None:
    """What has trunks stays as it was where one more key is set below the word."""
    content = {"site": {"cabling": "structured"}}
    given = with_values(content, {("site", "cabling", "spare_legs"): 0.1})["site"]["cabling"]
    assert given == {"leaf-spine": "structured", "spine-core": "structured", "spare_legs": 0.1}
    word, said = (Site.model_validate({"cabling": cabling}) for cabling in ("structured", given))
    assert said.trunked == word.trunked
