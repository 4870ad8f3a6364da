"""Cases of tests that are about something else want no redundancy, so that what is derived by hand stays: one place."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def without_redundancy(case: Json) -> Json:
    """A case that asks for none of the default rule of resilience, unless it says something of it."""
    return {"resilience": "none", **case}
