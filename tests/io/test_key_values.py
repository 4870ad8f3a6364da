"""Values at dotted keys of a case."""

from __future__ import annotations

from fabopt.io.keys import value_at


def test_names_may_have_dots() -> None:
    content = {"stages": [{"name": "v1.2", "limits": {"budget_usd": 5}}], "limits": {"budget_usd": 7}}
    keys = ("stages.v1.2.limits.budget_usd", "limits.budget_usd", "limits.nope")
    assert [value_at(content, key) for key in keys] == [5, 7, None]
